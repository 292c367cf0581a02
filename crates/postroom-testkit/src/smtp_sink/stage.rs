//! Stops on a message's way, for whoever wants to end a sender at a chosen step.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::sleep,
};

/// A step of a message's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// MAIL came and is not answered.
    Sender,
    /// RCPT came and is not answered.
    Recipient,
    /// DATA came and is not answered.
    Data,
    /// The header of the message came.
    Body,
    /// The message is taken, and not answered.
    Taken,
    /// The message is answered.
    Answered,
}

const ALL: [Stage; 6] = [
    Stage::Sender,
    Stage::Recipient,
    Stage::Data,
    Stage::Body,
    Stage::Taken,
    Stage::Answered,
];

impl Stage {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Recipient => "recipient",
            Self::Data => "data",
            Self::Body => "body",
            Self::Taken => "taken",
            Self::Answered => "answered",
        }
    }
}

/// Which messages are stopped, at each step in turn.
#[derive(Debug)]
pub struct Stops {
    every: u64,
    hold: Duration,
    begun: AtomicU64,
    told: UnboundedSender<Stage>,
}

impl Stops {
    /// Stops every message of this number for so long; the steps at which one stands come out of the
    /// receiver.
    pub fn new(every: u64, hold: Duration) -> (Self, UnboundedReceiver<Stage>) {
        let (told, stages) = mpsc::unbounded_channel();
        let stops = Self {
            every: every.max(1),
            hold,
            begun: AtomicU64::new(0),
            told,
        };
        (stops, stages)
    }

    /// Where the message that begins now is stopped.
    pub(super) fn next(&self) -> Option<Stage> {
        let begun = self.begun.fetch_add(1, Ordering::Relaxed);
        let (turn, rest) = (begun / self.every, begun % self.every);
        let index = usize::try_from(turn).unwrap_or_default() % ALL.len();
        ALL.get(index).copied().filter(|_| rest == self.every - 1)
    }

    /// Says where a message stands, and stays there.
    pub(super) async fn hold(&self, stage: Stage) {
        let _ = self.told.send(stage);
        sleep(self.hold).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_message_stops_at_the_next_step() {
        let (stops, _stages) = Stops::new(2, Duration::ZERO);
        let seen: Vec<Option<Stage>> = (0..14).map(|_| stops.next()).collect();
        for (at, stage) in seen.iter().enumerate() {
            let expected = (at % 2 == 1).then(|| ALL[at / 2 % ALL.len()]);
            assert_eq!(*stage, expected, "{at}");
        }
    }
}
