//! The lane of one transport: what it has in hand, and the commits around it.
//!
//! A round is one commit: what came of sends that were handed over, and claims of the next ones. As
//! many are claimed ahead as were done since the round before, so that the transport need not wait
//! for a commit, and an end of the process leaves few sends uncertain: none of a slow transport that
//! it had not begun with.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use postroom_core::{
    ClaimSends, ClaimedSend, Command, DeliveryReport, Outcome, Refusal, SendOutcome, SendRef,
    Submission,
};
use postroom_store::{
    StoreError, Wake,
    read::{self, KeptBytes},
};
use postroom_types::{TenantId, limit};
use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::{Outbox, breaker::Trust, handover};
use crate::{room::abuse, transport::LATER};

/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(2);
/// How long a round waits after the store failed.
const RETRY: Duration = Duration::from_secs(1);
/// Rounds that follow each other closely are so far apart: each costs a commit, which those pay for
/// who wait for theirs. A single mail never waits for this.
const PACE: Duration = Duration::from_millis(10);
/// Time for what is being handed over when the room closes.
const CLOSING: Duration = Duration::from_secs(10);
/// Age from which a send is asked again who may be written to.
const ASKED_AGAIN_MS: i64 = limit::SEND_ASKED_AGAIN_MS as i64;
/// Mails that are together no larger than this are unpacked where they are read, bytes.
const UNPACKED_HERE: u64 = 256 * 1024;

/// Hands over what is queued for a transport, at most `at_once` at the same time, until the room
/// closes.
pub(super) async fn run(outbox: Arc<Outbox>, transport: &'static str, at_once: usize) {
    let room = Arc::clone(&outbox.room);
    let mut wake = room.store.wake(Wake::Send);
    let mut lane = Lane::new(outbox, transport, at_once.max(1));
    let mut rounds = Rounds::default();
    // Whether more may be due than is claimed.
    let mut look = true;
    loop {
        if look {
            wake.borrow_and_update();
        }
        rounds.next(Instant::now());
        let pause = match lane.round(look).await {
            Ok(more) => {
                look = more;
                POLL
            }
            Err(error) => {
                tracing::error!(%error, transport, "the outbox cannot go on; trying again");
                look = true;
                RETRY
            }
        };
        tokio::select! {
            () = room.stop.cancelled() => break,
            Some(done) = lane.on_the_way.join_next() => lane.take(done),
            changed = wake.changed() => match changed {
                Ok(()) => look = true,
                Err(_) => break,
            },
            () = tokio::time::sleep(pause) => look = true,
        }
        if let Some(until) = rounds.paced() {
            lane.gather(until).await;
        }
    }
    lane.close().await;
}

/// When the last two rounds began.
#[derive(Debug, Default)]
struct Rounds {
    last: Option<Instant>,
    close: bool,
}

impl Rounds {
    fn next(&mut self, now: Instant) {
        let close = |last: Instant| now.duration_since(last) < 2 * PACE;
        self.close = self.last.is_some_and(close);
        self.last = Some(now);
    }

    /// When the next one may begin, while they follow each other closely.
    fn paced(&self) -> Option<Instant> {
        self.last.filter(|_| self.close).map(|last| last + PACE)
    }
}

/// What came of one send.
struct Done {
    outcome: SendOutcome,
    /// What is reported of its deliveries afterwards.
    reports: Vec<DeliveryReport>,
}

impl Done {
    fn commands(&self) -> impl Iterator<Item = Command> {
        let reported = !self.reports.is_empty();
        let reports = reported.then(|| Command::RecordDeliveries(self.reports.clone()));
        // One command each: a row that is refused costs the others nothing.
        std::iter::once(Command::RecordOutcomes(vec![self.outcome.clone()])).chain(reports)
    }
}

struct Lane {
    outbox: Arc<Outbox>,
    transport: &'static str,
    at_once: usize,
    /// One permit for each mail that may be handed over at once.
    hands: Arc<Semaphore>,
    /// What is claimed and has no outcome; `None` for what had no claim.
    on_the_way: JoinSet<Option<Done>>,
    /// What has an outcome that is in no commit.
    done: Vec<Done>,
    /// When nothing was found that waits for whichever transport the server has.
    looked_behind: Option<Instant>,
}

impl Lane {
    fn new(outbox: Arc<Outbox>, transport: &'static str, at_once: usize) -> Self {
        Self {
            outbox,
            transport,
            at_once,
            hands: Arc::new(Semaphore::new(at_once)),
            on_the_way: JoinSet::new(),
            done: Vec::new(),
            looked_behind: None,
        }
    }

    fn take(&mut self, done: Result<Option<Done>, JoinError>) {
        match done {
            Ok(done) => self.done.extend(done),
            // Its claim stays without an outcome, and is given up as any such.
            Err(_) => tracing::error!("handing a mail over failed inside; its fate is not known"),
        }
    }

    /// Takes what is done until `until`, or until so much is that hands may be empty.
    async fn gather(&mut self, until: Instant) {
        let stop = self.outbox.room.stop.clone();
        while self.done.len() < self.at_once {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(done) = self.on_the_way.join_next() => self.take(done),
                () = tokio::time::sleep_until(until) => return,
            }
        }
    }

    /// One commit: outcomes, and claims when `look` says that something may be due. Gives whether
    /// more may be.
    async fn round(&mut self, look: bool) -> Result<bool, StoreError> {
        while let Some(done) = self.on_the_way.try_join_next() {
            self.take(done);
        }
        let ahead = self.done.len().min(self.at_once);
        let room = (self.at_once + ahead).saturating_sub(self.on_the_way.len());
        // Outcomes are noted whether or not anything can be claimed.
        let due = match look {
            true => self.due(room.min(limit::SEND_BATCH)).await,
            false => Ok(Vec::new()),
        };
        let (due, failed) = match due {
            Ok(due) => (due, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let more = look && due.len() >= room;
        let mut commands: Vec<Command> = self.done.iter().flat_map(Done::commands).collect();
        let claims = !due.is_empty();
        if claims {
            commands.push(Command::ClaimSends(ClaimSends {
                sends: due,
                process: self.outbox.process,
                asked_again_before: self.outbox.room.now().plus_ms(-ASKED_AGAIN_MS),
            }));
        }
        if !commands.is_empty() {
            let store = &self.outbox.room.store;
            let mut answers = store.transact_all(commands).await?;
            let claimed = claims.then(|| answers.pop()).flatten();
            let refused = abuse::refused(self.done.iter().map(|done| &done.outcome));
            self.recorded(answers);
            // A look that failed is made again with the next refusal.
            if let Err(error) = abuse::look_at_senders(&self.outbox.room, refused).await {
                tracing::warn!(code = %error.code(), "whether refused mail is too much could not be said");
            }
            if let Some(Ok(Outcome::SendsClaimed(claimed))) = claimed {
                self.hand_over(claimed).await;
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(more),
        }
    }

    /// Sends that may be claimed now.
    async fn due(&mut self, most: usize) -> Result<Vec<SendRef>, StoreError> {
        let room = &self.outbox.room;
        let now = room.now();
        let most = match self.outbox.room.breakers.trusts(self.transport, now) {
            Trust::Whole => most,
            Trust::OneByOne => most.min(1_usize.saturating_sub(self.on_the_way.len())),
            Trust::None => 0,
        };
        if most == 0 || room.stop.is_cancelled() {
            return Ok(Vec::new());
        }
        let mut due =
            read::due_sends(&room.store, &room.workers, self.transport, now, most).await?;
        // What other processes queued is rare, and waits a little longer.
        let looked = self.looked_behind.is_some_and(|at| at.elapsed() < POLL);
        let is_outside = self.transport == room.transport.name();
        if is_outside && !looked && due.len() < most {
            let left = most - due.len();
            let behind = read::due_sends(&room.store, &room.workers, LATER, now, left).await?;
            self.looked_behind = behind.is_empty().then(Instant::now);
            due.extend(behind);
        }
        Ok(due.into_iter().map(|due| due.send).collect())
    }

    /// Lets go of what is noted; what the writer put off is noted in the next round.
    fn recorded(&mut self, answers: Vec<Result<Outcome, Refusal>>) {
        let mut answers = answers.into_iter();
        self.done.retain(|done| {
            let own: Vec<_> = answers.by_ref().take(done.commands().count()).collect();
            let mut again = false;
            for refusal in own.into_iter().filter_map(Result::err) {
                again |= matches!(refusal, Refusal::Deferred);
                tracing::error!(
                    message_id = %done.outcome.send.message,
                    code = %refusal.code(),
                    "what came of a send was refused"
                );
            }
            again
        });
    }

    /// Begins with what was claimed, each when there is a hand for it.
    async fn hand_over(&mut self, claimed: Vec<ClaimedSend>) {
        for (claimed, raw) in self.with_bytes(claimed).await {
            let (outbox, hands) = (Arc::clone(&self.outbox), Arc::clone(&self.hands));
            let transport = self.transport;
            self.on_the_way.spawn(async move {
                let submitted = send(&outbox, &hands, transport, &claimed, raw).await;
                done(&claimed, submitted)
            });
        }
    }

    /// The very bytes of each send; `None` where they cannot be read back.
    async fn with_bytes(&self, claimed: Vec<ClaimedSend>) -> Vec<(ClaimedSend, Option<Bytes>)> {
        let mut by_tenant: BTreeMap<TenantId, Vec<ClaimedSend>> = BTreeMap::new();
        for claimed in claimed {
            by_tenant
                .entry(claimed.row.tenant_id)
                .or_default()
                .push(claimed);
        }
        let room = &self.outbox.room;
        let mut out = Vec::new();
        for (tenant, claimed) in by_tenant {
            let digests: Vec<_> = claimed.iter().map(|claimed| claimed.row.sha256).collect();
            let kept = read::wire(&room.store, &room.workers, tenant, &digests).await;
            // What was claimed has to be given back, whatever the store says now.
            let kept = kept.unwrap_or_else(|_| digests.iter().map(|_| None).collect());
            let size: u64 = claimed.iter().map(|claimed| claimed.row.size).sum();
            let bytes = match size <= UNPACKED_HERE {
                true => unpack(kept),
                false => tokio::task::spawn_blocking(move || unpack(kept))
                    .await
                    .unwrap_or_else(|_| digests.iter().map(|_| None).collect()),
            };
            out.extend(claimed.into_iter().zip(bytes));
        }
        out
    }

    /// Waits for what is being handed over, for a while, and notes what came of it. What is still on
    /// its way then stays without an outcome, and the next start says uncertain.
    async fn close(mut self) {
        let deadline = Instant::now() + CLOSING;
        loop {
            if let Err(error) = self.round(false).await {
                tracing::error!(%error, "what came of sends could not be noted");
            }
            if self.on_the_way.is_empty() {
                return;
            }
            tokio::select! {
                Some(done) = self.on_the_way.join_next() => self.take(done),
                () = tokio::time::sleep_until(deadline) => return,
            }
        }
    }
}

fn unpack(kept: Vec<Option<KeptBytes>>) -> Vec<Option<Bytes>> {
    let unpacked = kept.into_iter().map(|kept| kept?.unpack().ok());
    unpacked.map(|raw| raw.map(Bytes::from)).collect()
}

fn done(claimed: &ClaimedSend, handed: handover::Handed) -> Option<Done> {
    let claim = claimed.row.claim?;
    Some(Done {
        outcome: SendOutcome {
            send: SendRef {
                tenant: claimed.row.tenant_id,
                message: claimed.row.message_id,
            },
            token: claim.token,
            submission: handed.submission,
        },
        reports: handed.reports,
    })
}

/// Hands one send over when there is a hand for it. Where the room closes or the transport is left
/// alone before that, nothing was tried, and it is given back.
async fn send(
    outbox: &Outbox,
    hands: &Semaphore,
    transport: &str,
    claimed: &ClaimedSend,
    raw: Option<Bytes>,
) -> handover::Handed {
    let room = &outbox.room;
    let hand = tokio::select! {
        biased;
        () = room.stop.cancelled() => None,
        hand = hands.acquire() => hand.ok(),
    };
    let trust = outbox.room.breakers.trusts(transport, room.now());
    if hand.is_none() || trust == Trust::None {
        return handover::Handed::only(Submission::NotTried);
    }
    let handed = match raw {
        Some(raw) => handover::hand_over(room, claimed, raw).await,
        None => {
            tracing::error!(
                message_id = %claimed.row.message_id,
                "the bytes of a sent mail cannot be read back"
            );
            // Tried again for a day: a disk may come back.
            handover::Handed::only(Submission::NotHandedOver {
                reason: "bytes_missing".to_owned(),
                smtp_code: None,
                retry_after_ms: None,
            })
        }
    };
    outbox
        .room
        .breakers
        .note(transport, &handed.submission, room.now());
    tracing::info!(
        target: "postroom::send",
        message_id = %claimed.row.message_id,
        transport,
        recipients = claimed.recipients.len(),
        attempt = claimed.row.attempt + 1,
        outcome = handover::word(&handed.submission),
        "a mail was handed over"
    );
    handed
}
