//! Tokens in reply addresses: an answer that lost every reference still finds its thread.

use postroom_core::EventRow;
use postroom_mail::thread_token::{self, Token, TokenKey};
use postroom_store::{StoreError, read};
use postroom_types::{Address, IdentityId, Reach, TenantScope, ThreadId};

use super::Room;

/// Names the one key that there is.
const KEY: char = '1';

impl Room {
    /// The address to which answers to a mail in a thread go, when the operator wants tokens there:
    /// the server that takes mail for the domain has to take `local+tag` too.
    pub(crate) fn reply_address(
        &self,
        identity: IdentityId,
        from: &str,
        message_num: u64,
    ) -> Option<String> {
        if !self.reply_tokens {
            return None;
        }
        let secret = self.store.keys().thread_tokens();
        let key = TokenKey {
            name: KEY,
            secret: secret.expose(),
        };
        let token = thread_token::make(key, &identity.to_string(), message_num);
        thread_token::address(from, &token)
    }
}

/// The threads that verified tokens in the envelope name, event by event. What is no token, or is
/// signed for nobody here, files nothing.
pub(super) async fn threads(
    room: &Room,
    events: &[EventRow],
) -> Result<Vec<Option<ThreadId>>, StoreError> {
    let mut out = Vec::with_capacity(events.len());
    for event in events {
        let thread = match (event.identity_id, number(room, event)) {
            (Some(identity), Some(number)) => {
                let scope = TenantScope::granted(event.tenant_id, Reach::Identity(identity));
                let found = read::thread_ids_of_nums(&room.store, &scope, &[number]).await?;
                found.get(&number).copied()
            }
            _ => None,
        };
        out.push(thread);
    }
    Ok(out)
}

fn number(room: &Room, event: &EventRow) -> Option<u64> {
    let delivered = Address::parse(event.delivered_to.as_deref()?).ok()?;
    let identity = event.identity_id?.to_string();
    let secret = room.store.keys().thread_tokens();
    let key = TokenKey {
        name: KEY,
        secret: secret.expose(),
    };
    match thread_token::verify(&[key], &identity, delivered.detail()?) {
        Token::Verified { number } => Some(number),
        Token::Forged | Token::NoToken => None,
    }
}
