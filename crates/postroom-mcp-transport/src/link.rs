//! The way back to a client, as a bounded queue.

use std::sync::Arc;

use postroom_mcp::{End, Latch, Link, LocalFuture, Reply};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Messages that may wait for a slow client.
pub(crate) const QUEUE: usize = 16;

impl Parcel {
    /// The message for the wire.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Message(text) => text,
            Self::Reply(reply) => reply.body,
        }
    }
}

/// What travels back: messages first, then the reply.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// A message before the reply.
    Message(String),
    /// The reply.
    Reply(Reply),
}

/// A [`Link`] over a queue.
#[derive(Debug)]
pub(crate) struct QueueLink {
    sender: Option<mpsc::Sender<Parcel>>,
    end: Latch<End>,
    since: Instant,
}

impl QueueLink {
    /// A link whose messages go to `sender`, or nowhere.
    pub(crate) fn new(sender: Option<mpsc::Sender<Parcel>>, since: Instant) -> Arc<Self> {
        Arc::new(Self {
            sender,
            end: Latch::default(),
            since,
        })
    }
}

impl Link for QueueLink {
    fn streams(&self) -> bool {
        self.sender.is_some()
    }

    fn send(&self, message: String) -> bool {
        // After a cancellation nothing may be said any more.
        if self.end.value() == Some(End::Cancelled) {
            return false;
        }
        self.sender
            .as_ref()
            .is_some_and(|sender| sender.try_send(Parcel::Message(message)).is_ok())
    }

    fn ready(&self) -> LocalFuture<'_, bool> {
        Box::pin(async {
            match &self.sender {
                Some(sender) => sender.reserve().await.is_ok(),
                None => false,
            }
        })
    }

    fn end(&self) -> &Latch<End> {
        &self.end
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn fresh_id(&self) -> String {
        fresh_id()
    }
}

/// 128 random bits in hexadecimal; empty when the system has none to give.
pub(crate) fn fresh_id() -> String {
    let mut bytes = [0_u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        return String::new();
    }
    format!("{:032x}", u128::from_be_bytes(bytes))
}
