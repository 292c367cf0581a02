//! What a mail goes on from: the message that is answered or passed on, or the thread that it joins.

use postroom_core::{Direction, SendStep};
use postroom_mail::compose::Parent;
use postroom_store::read::{self, Message as Stored, Thread};
use postroom_types::{ErrorCode, MessageId, ThreadId};

use super::{faults::Faults, intent::Aim};
use crate::{Failure, op::reading, operation::Call};

/// Messages of a thread that are looked at for its latest one and for the addresses that it uses.
const THREAD_LOOKED_AT: usize = 500;

/// What is known of it.
#[derive(Debug)]
pub(super) struct Before {
    /// The message, its bytes and what an answer needs of them.
    pub(super) stored: Stored,
    pub(super) raw: Vec<u8>,
    pub(super) facts: Parent,
    /// Its thread.
    pub(super) thread: Thread,
    /// The messages of the thread, oldest first.
    pub(super) messages: Vec<Stored>,
}

impl Before {
    /// Whether the message is one of our own.
    pub(super) fn is_own(&self) -> bool {
        self.stored.row.direction == Direction::Outbound
    }

    /// Whether the thread has mail to or from an address.
    pub(super) fn uses(&self, address: &str) -> bool {
        self.messages.iter().any(|message| {
            let from = message.row.from_address.as_deref();
            let delivered = message.doc.delivered_to.as_deref().map(without_detail);
            let named = message.doc.to.iter().chain(&message.doc.cc);
            from == Some(address)
                || delivered.as_deref() == Some(address)
                || named.into_iter().any(|named| named.address == address)
        })
    }
}

/// `local@domain` of an address with or without detail.
pub(super) fn without_detail(address: &str) -> String {
    match postroom_types::Address::parse(address) {
        Ok(parsed) => parsed.base().to_owned(),
        Err(_) => address.to_owned(),
    }
}

/// Finds what an intent goes on from; `None` for a new thread, and for what is not there, which is
/// noted as a fault.
pub(super) async fn find(
    call: &Call<'_>,
    aim: &Aim,
    faults: &mut Faults,
) -> Result<Option<Before>, Failure> {
    let found = match aim {
        Aim::New { thread: None, .. } => return Ok(None),
        Aim::New {
            thread: Some(thread),
            ..
        } => of_thread(call, *thread).await?,
        Aim::Reply { message, .. } | Aim::Forward { message, .. } => {
            of_message(call, *message).await?
        }
    };
    if found.is_none() {
        let code = match aim {
            Aim::New { .. } => ErrorCode::ThreadNotFound,
            Aim::Reply { .. } | Aim::Forward { .. } => ErrorCode::MessageNotFound,
        };
        faults.put(SendStep::Target, code);
    }
    Ok(found)
}

async fn of_message(call: &Call<'_>, id: MessageId) -> Result<Option<Before>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let Some(stored) = read::message(store, scope, id).await? else {
        return Ok(None);
    };
    let Some(thread) = read::thread(store, scope, stored.row.thread_id).await? else {
        return Ok(None);
    };
    let messages = messages(call, &thread).await?;
    before(call, stored, thread, messages).await.map(Some)
}

/// The latest message of a thread stands for the thread.
async fn of_thread(call: &Call<'_>, id: ThreadId) -> Result<Option<Before>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let Some(thread) = read::thread(store, scope, id).await? else {
        return Ok(None);
    };
    let messages = messages(call, &thread).await?;
    let latest = messages
        .iter()
        .rev()
        .find(|message| !message.doc.message_id_synthetic)
        .or(messages.last());
    let Some(stored) = latest.cloned() else {
        return Ok(None);
    };
    before(call, stored, thread, messages).await.map(Some)
}

async fn messages(call: &Call<'_>, thread: &Thread) -> Result<Vec<Stored>, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let messages = read::thread_messages(store, scope, thread.row.id, None, THREAD_LOOKED_AT);
    Ok(messages.await?)
}

async fn before(
    call: &Call<'_>,
    stored: Stored,
    thread: Thread,
    messages: Vec<Stored>,
) -> Result<Before, Failure> {
    let raw = reading::raw(call, &stored.row).await?;
    let reading = tokio::task::spawn_blocking(move || {
        let facts = Parent::read(&raw);
        (raw, facts)
    });
    let (raw, facts) = reading
        .await
        .map_err(|_| Failure::new(ErrorCode::InternalError))?;
    Ok(Before {
        stored,
        raw,
        facts,
        thread,
        messages,
    })
}
