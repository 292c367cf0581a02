//! The way back to a client, as a bounded queue.

use std::sync::Arc;

use postroom_mcp::{End, Latch, Link, LocalFuture, Reply};
use tokio::sync::mpsc;
use tokio::time::Instant;

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
    /// Only to see whether somebody still reads; does not keep the queue open.
    client: mpsc::WeakSender<Parcel>,
    end: Latch<End>,
    since: Instant,
}

impl QueueLink {
    /// A link over `queue`; a client that takes messages before the reply gets them.
    pub(crate) fn new(queue: &mpsc::Sender<Parcel>, streams: bool, since: Instant) -> Arc<Self> {
        Arc::new(Self {
            sender: streams.then(|| queue.clone()),
            client: queue.downgrade(),
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

    fn is_gone(&self) -> bool {
        self.end.value() == Some(End::Cancelled)
            || self.client.upgrade().is_none_or(|queue| queue.is_closed())
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

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_types::limit::STREAM_QUEUE;

    fn link() -> (Arc<QueueLink>, mpsc::Receiver<Parcel>) {
        let (sender, receiver) = mpsc::channel(STREAM_QUEUE);
        (QueueLink::new(&sender, true, Instant::now()), receiver)
    }

    #[tokio::test]
    async fn a_full_queue_drops_messages_and_is_ready_again_when_read() {
        let (link, mut receiver) = link();
        for _ in 0..STREAM_QUEUE {
            assert!(link.send("x".to_owned()));
        }
        assert!(!link.send("one more".to_owned()));
        assert!(receiver.recv().await.is_some());
        assert!(link.ready().await);
        assert!(link.send("y".to_owned()));
        drop(receiver);
        assert!(!link.ready().await);
    }

    #[test]
    fn nothing_is_said_after_a_cancellation() {
        let (link, _receiver) = link();
        link.end().set(End::Cancelled);
        assert!(!link.send("x".to_owned()));
    }

    #[test]
    fn ids_are_never_alike() {
        let ids: std::collections::HashSet<_> = (0..1_000).map(|_| fresh_id()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.len() == 32));
    }
}
