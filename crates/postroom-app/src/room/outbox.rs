//! The worker that hands sent mail over.
//!
//! It takes sends that are due, claims them, and hands each to its transport exactly once: nothing
//! leaves that was not claimed in a commit before, and what came of it is a commit again. A claim
//! whose outcome nobody knows, because the process ended or the transport did not answer, becomes
//! `uncertain` and is never handed over again by itself.

mod breaker;
mod handover;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use postroom_core::{
    ClaimSends, ClaimedSend, Command, DeliveryReport, ExpireClaims, Outcome, SendOutcome,
    Submission,
};
use postroom_store::{StoreError, Wake, read};
use postroom_types::{TenantId, limit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Room;
use breaker::Breakers;

/// Sends that are handed over at once.
const IN_FLIGHT: usize = 64;
/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(2);
/// How long a round waits after the store failed.
const RETRY: Duration = Duration::from_secs(1);
/// Time for what is being handed over when the room closes.
const CLOSING: Duration = Duration::from_secs(10);
/// How often claims that nobody speaks for are looked for.
const EXPIRY: Duration = Duration::from_secs(30);

pub(super) async fn run(room: Arc<Room>) {
    let Ok(process) = crate::random::bits() else {
        tracing::error!("no randomness: nothing is sent");
        return;
    };
    let outbox = Arc::new(Outbox {
        process,
        slots: Arc::new(Semaphore::new(IN_FLIGHT)),
        breakers: Breakers::default(),
        room,
    });
    let room = Arc::clone(&outbox.room);
    room.tasks.spawn(expire(Arc::clone(&outbox)));
    let mut wake = room.store.wake(Wake::Send);
    loop {
        wake.borrow_and_update();
        let pause = match outbox.round().await {
            // A full round: there may be more.
            Ok(taken) if taken >= limit::SEND_BATCH.min(IN_FLIGHT) => Duration::ZERO,
            Ok(_) => POLL,
            Err(error) => {
                tracing::error!(%error, "sent mail could not be claimed; trying again");
                RETRY
            }
        };
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
            changed = wake.changed() => if changed.is_err() { return },
        }
    }
}

/// Gives claims up that nobody speaks for: those of a former process at once, where only one can
/// run, and all that are too old.
async fn expire(outbox: Arc<Outbox>) {
    let room = &outbox.room;
    loop {
        if let Err(error) = outbox.expire().await {
            tracing::error!(%error, "old claims of sends could not be given up; trying again");
        }
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(EXPIRY) => {}
        }
    }
}

struct Outbox {
    room: Arc<Room>,
    /// Names this process in its claims.
    process: u128,
    /// One permit for each send that is handed over.
    slots: Arc<Semaphore>,
    breakers: Breakers,
}

impl Outbox {
    /// Claims what is due and hands it over beside; says how many sends were claimed.
    async fn round(self: &Arc<Self>) -> Result<usize, StoreError> {
        let room = &self.room;
        let now = room.now();
        let free = self.slots.available_permits().min(limit::SEND_BATCH);
        if free == 0 || room.stop.is_cancelled() {
            return Ok(0);
        }
        let mut sends = Vec::new();
        for transport in room.transports() {
            let left = free.saturating_sub(sends.len());
            if left > 0 && self.breakers.lets_through(transport, now) {
                let due = read::due_sends(&room.store, &room.workers, transport, now, left);
                sends.extend(due.await?.into_iter().map(|due| due.send));
            }
        }
        if sends.is_empty() {
            return Ok(0);
        }
        let claim = ClaimSends {
            sends,
            process: self.process,
        };
        let claimed = match room.store.transact(Command::ClaimSends(claim)).await? {
            Outcome::SendsClaimed(claimed) => claimed,
            _ => return Err(StoreError::Damaged("a claim of sends has no outcome")),
        };
        let count = claimed.len();
        for (claimed, raw) in self.with_bytes(claimed).await? {
            let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else {
                break;
            };
            let outbox = Arc::clone(self);
            // On the tracker: closing waits for what is being handed over.
            room.tasks
                .spawn(async move { outbox.send(claimed, raw, slot).await });
        }
        Ok(count)
    }

    /// The very bytes of each send; without them it cannot be handed over.
    async fn with_bytes(
        &self,
        claimed: Vec<ClaimedSend>,
    ) -> Result<Vec<(ClaimedSend, Option<Bytes>)>, StoreError> {
        let mut by_tenant: BTreeMap<TenantId, Vec<ClaimedSend>> = BTreeMap::new();
        for claimed in claimed {
            by_tenant
                .entry(claimed.row.tenant_id)
                .or_default()
                .push(claimed);
        }
        let mut out = Vec::new();
        for (tenant, claimed) in by_tenant {
            let digests: Vec<_> = claimed.iter().map(|claimed| claimed.row.sha256).collect();
            let room = &self.room;
            let kept = read::wire(&room.store, &room.workers, tenant, &digests).await;
            // What was claimed has to be given back, whatever the store says now.
            let kept = kept.unwrap_or_else(|_| digests.iter().map(|_| None).collect());
            let unpacking = tokio::task::spawn_blocking(move || {
                let unpacked = kept.into_iter().map(|kept| kept?.unpack().ok());
                unpacked.collect::<Vec<Option<Vec<u8>>>>()
            });
            let unpacked = unpacking.await.map_err(|_| StoreError::Unavailable)?;
            let bytes = unpacked.into_iter().map(|raw| raw.map(Bytes::from));
            out.extend(claimed.into_iter().zip(bytes));
        }
        Ok(out)
    }

    /// Hands one send over and notes what came of it.
    async fn send(&self, claimed: ClaimedSend, raw: Option<Bytes>, slot: OwnedSemaphorePermit) {
        let room = &self.room;
        let handed = match raw {
            Some(raw) => {
                let handing = handover::hand_over(room, &claimed, raw);
                tokio::select! {
                    handed = handing => handed,
                    // The claim stays without an outcome, and the next start says uncertain.
                    () = self.out_of_time() => return,
                }
            }
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
        self.breakers
            .note(&claimed.row.transport, &handed.submission, room.now());
        tracing::info!(
            target: "postroom::send",
            message_id = %claimed.row.message_id,
            transport = claimed.row.transport,
            recipients = claimed.recipients.len(),
            attempt = claimed.row.attempt + 1,
            outcome = handover::word(&handed.submission),
            "a mail was handed over"
        );
        self.record(&claimed, handed).await;
        drop(slot);
    }

    /// Fires some time after the room began to close.
    async fn out_of_time(&self) {
        self.room.stop.cancelled().await;
        tokio::time::sleep(CLOSING).await;
    }

    /// Notes an outcome, for as long as the process runs: what is never noted is uncertain.
    async fn record(&self, claimed: &ClaimedSend, handed: handover::Handed) {
        let room = &self.room;
        let Some(claim) = claimed.row.claim else {
            return;
        };
        let outcome = SendOutcome {
            send: postroom_core::SendRef {
                tenant: claimed.row.tenant_id,
                message: claimed.row.message_id,
            },
            token: claim.token,
            submission: handed.submission,
        };
        loop {
            let command = Command::RecordOutcomes(vec![outcome.clone()]);
            match room.store.transact(command).await {
                Ok(_) => break,
                Err(StoreError::Refused(refusal)) => {
                    tracing::error!(
                        message_id = %claimed.row.message_id,
                        code = %refusal.code(),
                        "what came of a send was refused"
                    );
                    return;
                }
                Err(error) => {
                    tracing::error!(%error, "what came of a send could not be noted; trying again");
                }
            }
            tokio::select! {
                // Once more after the room closes, then the claim tells.
                () = tokio::time::sleep(RETRY) => {}
                () = room.stop.cancelled() => {
                    let last = Command::RecordOutcomes(vec![outcome]);
                    let _ = room.store.transact(last).await;
                    return;
                }
            }
        }
        report(room, handed.reports).await;
    }

    async fn expire(&self) -> Result<(), StoreError> {
        let room = &self.room;
        let claims = read::open_claims(&room.store, &room.workers).await?;
        if claims.is_empty() {
            return Ok(());
        }
        let age = i64::try_from(limit::SEND_CLAIM_MS).unwrap_or(i64::MAX);
        let expire = ExpireClaims {
            sends: claims.into_iter().map(|claim| claim.send).collect(),
            claimed_before: room.now().plus_ms(-age),
            // The data folder has one owner; a database server may have several nodes.
            only_process: room.owns_database_alone().then_some(self.process),
        };
        room.store
            .transact(Command::ExpireClaims(expire))
            .await
            .map(drop)
    }
}

/// Notes what is reported of deliveries.
pub(super) async fn report(room: &Room, reports: Vec<DeliveryReport>) {
    if reports.is_empty() {
        return;
    }
    if let Err(error) = room
        .store
        .transact(Command::RecordDeliveries(reports))
        .await
    {
        tracing::error!(%error, "reports on deliveries could not be noted");
    }
}

impl Room {
    /// The transports that take mail now: the one for what stays here first, which is done soonest.
    fn transports(&self) -> impl Iterator<Item = &'static str> {
        let inside = self.transport_for(true).name();
        let outside = Some(self.transport.name()).filter(|name| *name != inside);
        std::iter::once(inside).chain(outside)
    }

    /// Whether no other process can use the database.
    fn owns_database_alone(&self) -> bool {
        self.database().kind == "sqlite"
    }
}
