//! Tokens in reply addresses: an answer that lost every reference still finds its thread.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use postroom_core::{EventRow, key_hash};
use postroom_mail::thread_token::{self, Token, TokenKey};
use postroom_store::{StoreError, read};
use postroom_types::{Address, IdentityId, Reach, TenantScope, ThreadId, Timestamp, limit};

use super::Room;
use crate::{Failure, random};

/// Names the one key that there is.
const KEY: char = '1';
/// From here on a number is no message's: a mail that begins a thread has none before it is in.
const FIRST_OF_NEW: u64 = 1 << 59;

/// The number for the token of a mail that begins a thread.
pub(crate) fn of_new() -> Result<u64, Failure> {
    let noise = u64::from_be_bytes(random::bytes()?);
    Ok(FIRST_OF_NEW | noise >> 5)
}

/// The reference by which the thread of such a mail is found.
pub(crate) fn reference(number: u64) -> String {
    format!("{number}@thread-token.invalid")
}

impl Room {
    /// The address to which answers to a mail in a thread go, when the operator wants tokens there:
    /// the server that takes mail for the domain has to take `local+tag` too.
    pub(crate) fn reply_address(
        &self,
        identity: IdentityId,
        from: &str,
        number: u64,
    ) -> Option<String> {
        if !self.reply_tokens {
            return None;
        }
        let secret = self.store.keys().thread_tokens();
        let key = TokenKey {
            name: KEY,
            secret: secret.expose(),
        };
        let token = thread_token::make(key, &identity.to_string(), number);
        thread_token::address(from, &token)
    }
}

/// Where the address that a mail came to files it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Filing {
    /// The thread that a verified token names.
    pub(super) thread: Option<ThreadId>,
    /// Whether it has the form of a token and was not verified.
    pub(super) unverified: bool,
}

/// Where the envelopes file mail, event by event. What is no token, or is signed for nobody here, files
/// nothing.
pub(super) async fn filings(room: &Room, events: &[EventRow]) -> Result<Vec<Filing>, StoreError> {
    let mut out = Vec::with_capacity(events.len());
    for event in events {
        out.push(match (event.identity_id, verify(room, event)) {
            (Some(identity), Token::Verified { number }) => {
                file(room, event, identity, number).await?
            }
            (_, Token::Forged) => Filing {
                thread: None,
                unverified: true,
            },
            _ => Filing::default(),
        });
    }
    Ok(out)
}

/// Files a mail by its signed token. Where many were forged, only mail in the name of somebody in the
/// thread: who tries signatures would have to know both, and who forges a name takes nothing from its
/// owner.
async fn file(
    room: &Room,
    event: &EventRow,
    identity: IdentityId,
    number: u64,
) -> Result<Filing, StoreError> {
    let thread = thread(room, event, identity, number).await?;
    let sender = event.mail_from.as_deref().unwrap_or_default();
    if !room.token_faults.are_many(identity, sender, room.now()) {
        return Ok(Filing {
            thread,
            unverified: false,
        });
    }
    let scope = TenantScope::granted(event.tenant_id, Reach::Identity(identity));
    let found = match thread {
        Some(thread) => read::thread(&room.store, &scope, thread).await?,
        None => None,
    };
    let takes_part = found.is_some_and(|thread| {
        let mut people = thread.row.participants.iter();
        people.any(|person| person.counts && person.address.eq_ignore_ascii_case(sender))
    });
    Ok(Filing {
        thread: thread.filter(|_| takes_part),
        unverified: !takes_part,
    })
}

async fn thread(
    room: &Room,
    event: &EventRow,
    identity: IdentityId,
    number: u64,
) -> Result<Option<ThreadId>, StoreError> {
    let scope = TenantScope::granted(event.tenant_id, Reach::Identity(identity));
    if number >= FIRST_OF_NEW {
        let key = key_hash(&reference(number));
        return read::thread_of_key(&room.store, &scope, identity, &key).await;
    }
    let found = read::thread_ids_of_nums(&room.store, &scope, &[number]).await?;
    Ok(found.get(&number).copied())
}

fn verify(room: &Room, event: &EventRow) -> Token {
    let delivered = event.delivered_to.as_deref();
    let delivered = delivered.and_then(|text| Address::parse(text).ok());
    let detail = delivered.as_ref().and_then(Address::detail);
    let (Some(identity), Some(detail)) = (event.identity_id, detail) else {
        return Token::NoToken;
    };
    let secret = room.store.keys().thread_tokens();
    let key = TokenKey {
        name: KEY,
        secret: secret.expose(),
    };
    let seen = thread_token::verify(&[key], &identity.to_string(), detail);
    if seen == Token::Forged {
        let sender = event.mail_from.as_deref().unwrap_or_default();
        room.token_faults.count(identity, sender, room.now());
    }
    seen
}

/// Tokens that were not signed, in this hour: with 40 bits of signature nobody may try for long.
#[derive(Debug, Default)]
pub(super) struct TokenFaults(Mutex<Hour>);

#[derive(Debug, Default)]
struct Hour {
    number: i64,
    senders: HashMap<(IdentityId, String), u64>,
    mailboxes: HashMap<IdentityId, u64>,
}

impl TokenFaults {
    fn count(&self, identity: IdentityId, sender: &str, now: Timestamp) {
        self.within(now, |hour| {
            *hour.mailboxes.entry(identity).or_default() += 1;
            let key = (identity, sender.to_ascii_lowercase());
            let has_room = hour.senders.len() < limit::FORGED_TOKEN_SENDERS;
            if has_room || hour.senders.contains_key(&key) {
                *hour.senders.entry(key).or_default() += 1;
            }
        });
    }

    fn are_many(&self, identity: IdentityId, sender: &str, now: Timestamp) -> bool {
        self.within(now, |hour| {
            let of_sender = hour.senders.get(&(identity, sender.to_ascii_lowercase()));
            let of_mailbox = hour.mailboxes.get(&identity);
            of_sender.is_some_and(|count| *count >= limit::FORGED_TOKENS_PER_SENDER)
                || of_mailbox.is_some_and(|count| *count >= limit::FORGED_TOKENS_PER_MAILBOX)
        })
    }

    fn within<T>(&self, now: Timestamp, look: impl FnOnce(&mut Hour) -> T) -> T {
        let number = now.ms().div_euclid(3_600_000);
        let mut hour = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hour.number != number {
            *hour = Hour {
                number,
                ..Hour::default()
            };
        }
        look(&mut hour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forged_tokens_are_counted_for_each_sender_each_mailbox_and_each_hour() {
        let (one, other) = (IdentityId::from_parts(1, 1), IdentityId::from_parts(1, 2));
        let (now, later) = (Timestamp::from_ms(0), Timestamp::from_ms(3_600_000));
        let faults = TokenFaults::default();
        for _ in 1..limit::FORGED_TOKENS_PER_SENDER {
            faults.count(one, "Eve@evil.example", now);
        }
        assert!(!faults.are_many(one, "eve@evil.example", now));
        faults.count(one, "eve@evil.example", now);
        assert!(faults.are_many(one, "EVE@evil.example", now));
        assert!(!faults.are_many(one, "ann@there.example", now));
        assert!(!faults.are_many(other, "eve@evil.example", now));
        assert!(!faults.are_many(one, "eve@evil.example", later));
        for number in 0..limit::FORGED_TOKENS_PER_MAILBOX {
            assert!(!faults.are_many(other, "ann@there.example", later));
            faults.count(other, &format!("{number}@evil.example"), later);
        }
        assert!(faults.are_many(other, "ann@there.example", later));
        assert!(!faults.are_many(one, "ann@there.example", later));
    }

    #[test]
    fn no_more_senders_are_counted_than_the_limit_and_the_mailbox_counts_on() {
        let mailbox = |number: usize| IdentityId::from_parts(1, number as u128);
        let now = Timestamp::from_ms(0);
        let faults = TokenFaults::default();
        for number in 0..=limit::FORGED_TOKEN_SENDERS {
            faults.count(mailbox(number), "eve@evil.example", now);
        }
        let (senders, mailboxes) =
            faults.within(now, |hour| (hour.senders.len(), hour.mailboxes.len()));
        assert_eq!(senders, limit::FORGED_TOKEN_SENDERS);
        assert_eq!(mailboxes, limit::FORGED_TOKEN_SENDERS + 1);
    }

    #[test]
    fn numbers_of_new_mail_are_no_messages_numbers() {
        let number = of_new().expect("a number");
        assert!((FIRST_OF_NEW..2 * FIRST_OF_NEW).contains(&number));
    }
}
