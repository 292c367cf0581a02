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
    /// The highest hop of our own mails in it; looked up only where the message says that it is an answer.
    own_hop: u64,
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

    /// Whether nobody whom the message names may learn that the mailbox has it: it came as a blind copy,
    /// as far as can be told. A mailing list names none of those whom it writes to, and all know that; what
    /// is sent to many by one who names a way out of it is none (RFC 2919, RFC 2369 section 3.4).
    pub(super) fn is_secret(&self, is_own: impl Fn(&str) -> bool) -> bool {
        let mut named = self.facts.to.iter().chain(&self.facts.cc);
        !self.is_own() && !self.is_of_list() && !named.any(|mailbox| is_own(&mailbox.address))
    }

    fn is_of_list(&self) -> bool {
        let mut fields = self.stored.doc.headers.iter();
        fields.any(|field| {
            ["List-Id", "List-Post"]
                .iter()
                .any(|name| field.name.eq_ignore_ascii_case(name))
        })
    }

    /// Whether the message is to or from an address, as far as it vouches for anybody. Where it asks for
    /// answers is neither: its writer may name anybody there.
    pub(super) fn is_on(&self, address: &Address) -> bool {
        let facts = &self.facts;
        let mut people = facts.from.iter().chain(&facts.to).chain(&facts.cc);
        let full = address.with_detail();
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
        next_hop(source, told, self.own_hop)
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

/// The hop of a mail that goes on from one whose hop is `told`, in a thread where our own mails came to
/// `own`.
///
/// Only what came in was answered: a mail that follows one of our own goes round no further than that one
/// did, however many follow each other. And a mail from outside is believed to answer one of ours, no
/// more: mails that go round in a circle pass us each time, so that our own count grows with them, and what
/// strangers write into a header silences nobody, however many of them there are.
fn next_hop(source: Source, told: u64, own: u64) -> u64 {
    match source {
        Source::Own => told.max(1),
        Source::Outside => told.min(own.saturating_add(1)).saturating_add(1),
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
    let own_hop = match facts.hop > 1 {
        true => own_hop(call, &messages).await?,
        false => 0,
    };
    Ok(Before {
        stored,
        raw,
        facts,
        thread,
        messages,
        own_hop,
    })
}

/// How far our own mails among these went round.
async fn own_hop(call: &Call<'_>, messages: &[Stored]) -> Result<u64, Failure> {
    let own: Vec<MessageId> = messages
        .iter()
        .filter(|message| message.row.direction == Direction::Outbound)
        .map(|message| message.row.id)
        .collect();
    let sends = read::sends_of(call.room.store(), call.scope()?, &own).await?;
    Ok(sends.values().map(|send| send.hop).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_types::limit;

    #[test]
    fn a_hop_counts_answers_and_nothing_that_was_only_said() {
        for (source, told, own, expected) in [
            (Source::Outside, 0, 0, 1),
            (Source::Outside, 1, 0, 2),
            (Source::Outside, 4, 3, 5),
            (Source::Outside, 5, 3, 5),
            // Strangers say that theirs is the last of many.
            (Source::Outside, limit::SENT_HOPS - 1, 0, 2),
            (Source::Outside, limit::SENT_HOPS - 1, 1, 3),
            (Source::Outside, u64::MAX, u64::MAX, u64::MAX),
            // A row of our own mails is no row of answers.
            (Source::Own, 0, 9, 1),
            (Source::Own, 1, 9, 1),
            (Source::Own, 4, 9, 4),
            (Source::Agent, 9, 9, 1),
        ] {
            assert_eq!(
                next_hop(source, told, own),
                expected,
                "{source:?} {told} {own}"
            );
        }
    }

    #[test]
    fn mails_that_answer_each_other_reach_the_bound_whoever_sends_two_at_a_time() {
        let mut hop = 1;
        for _ in 0..limit::SENT_HOPS {
            // The answer and one that follows it, then theirs, each side believing its own count.
            let follows = next_hop(Source::Own, hop, hop);
            assert_eq!(follows, hop);
            let theirs = next_hop(Source::Outside, follows, hop.saturating_sub(1));
            hop = next_hop(Source::Outside, theirs, follows);
            if hop >= limit::SENT_HOPS {
                return;
            }
        }
        panic!("{hop}");
    }
}
