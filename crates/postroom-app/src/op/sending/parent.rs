//! What a mail goes on from: the message that is answered or passed on, or the thread that it joins.

use postroom_core::{Direction, SendStep};
use postroom_mail::compose::Parent;
use postroom_store::read::{self, Message as Stored, Thread};
use postroom_types::{Address, ErrorCode, MessageId, ThreadId};

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

    /// Whether those whom the message names count as named by it.
    pub(super) fn vouches(&self) -> bool {
        !self.stored.doc.unvouched
    }

    /// Whether the message is to or from an address, as far as it vouches for anybody.
    pub(super) fn is_on(&self, address: &Address) -> bool {
        let facts = &self.facts;
        let mut people = facts
            .from
            .iter()
            .chain(&facts.reply_to)
            .chain(&facts.to)
            .chain(&facts.cc);
        let full = super::full(address);
        let is_them = |named: &str| named == full || named == address.base();
        self.vouches() && people.any(|mailbox| is_them(&mailbox.address))
    }

    /// How many mails in a row answered each other, one that goes on from the message counted.
    pub(super) fn next_hop(&self) -> u64 {
        let told = u64::from(self.facts.hop);
        let source = match (self.is_own(), self.vouches()) {
            (true, _) => Source::Own,
            (false, true) => Source::Outside,
            (false, false) => Source::Agent,
        };
        next_hop(source, told, self.thread.row.message_count)
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

/// Who wrote a hop into a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// We did, when it was sent.
    Own,
    /// Whoever sent it.
    Outside,
    /// An agent that put it in.
    Agent,
}

/// The hop of a mail that goes on from one whose hop is `told`, in a thread of so many messages.
///
/// Only what came in was answered: a mail that follows one of our own goes round no further than that one
/// did, however many follow each other. And mails that answered each other are in the thread, so that a mail
/// from outside is believed to be no further round than there are messages: otherwise the first one of a
/// stranger could silence a thread by its header alone.
fn next_hop(source: Source, told: u64, messages: u64) -> u64 {
    match source {
        Source::Own => told.max(1),
        Source::Outside => told.min(messages).saturating_add(1),
        Source::Agent => 1,
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

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_types::limit;

    #[test]
    fn a_hop_counts_answers_and_nothing_that_was_only_said() {
        for (source, told, messages, expected) in [
            (Source::Outside, 0, 1, 1),
            (Source::Outside, 1, 2, 2),
            (Source::Outside, 4, 20, 5),
            // A stranger's first mail says that it is the last of many.
            (Source::Outside, limit::SENT_HOPS - 1, 1, 2),
            (Source::Outside, u64::MAX, u64::MAX, u64::MAX),
            // A row of our own mails is no row of answers.
            (Source::Own, 0, 9, 1),
            (Source::Own, 1, 9, 1),
            (Source::Own, 4, 9, 4),
            (Source::Agent, 9, 9, 1),
        ] {
            assert_eq!(
                next_hop(source, told, messages),
                expected,
                "{source:?} {told} {messages}"
            );
        }
    }

    #[test]
    fn mails_that_answer_each_other_reach_the_bound_whoever_sends_two_at_a_time() {
        let (mut messages, mut hop) = (0, 1);
        for _ in 0..limit::SENT_HOPS {
            // The answer and one that follows it, then theirs.
            let follows = next_hop(Source::Own, hop, messages + 1);
            assert_eq!(follows, hop);
            messages += 2;
            let theirs = next_hop(Source::Outside, follows, messages);
            messages += 1;
            hop = next_hop(Source::Outside, theirs, messages);
            if hop >= limit::SENT_HOPS {
                return;
            }
        }
        panic!("{hop}");
    }
}
