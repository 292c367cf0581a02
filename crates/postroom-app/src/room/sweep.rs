//! The worker that puts back what is overdue: leases that ended without a word, tries whose pause is
//! over.
//!
//! Nothing depends on it for being right: a claim takes over what is overdue by itself. It lets
//! those who wait hear of it, and writes dead letters down.

use std::{sync::Arc, time::Duration};

use postroom_core::{Command, Outcome};
use postroom_store::{StoreError, read};
use postroom_types::{TenantId, Timestamp, limit};

use super::Room;

/// A lease lasts at least a second, so nothing is due earlier that a look did not see.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn run(room: Arc<Room>) {
    loop {
        let pause = match round(&room).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::error!(%error, "overdue todos could not be put back; trying again");
                LOOK
            }
        };
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Sweeps each tenant that has something overdue; says how long nothing else is due.
async fn round(room: &Room) -> Result<Duration, StoreError> {
    let due = read::next_due(&room.store, &room.workers).await?;
    let now = room.now();
    let mut pause = LOOK;
    for (tenant, at) in due {
        if room.stop.is_cancelled() {
            break;
        }
        if at <= now {
            sweep(room, tenant).await?;
        } else {
            pause = pause.min(until(now, at));
        }
    }
    Ok(pause)
}

/// Batch after batch until nothing of the tenant is overdue.
async fn sweep(room: &Room, tenant: TenantId) -> Result<(), StoreError> {
    loop {
        let command = Command::SweepTodos {
            tenant,
            limit: limit::TODO_SWEEP,
        };
        match room.store.transact(command).await {
            Ok(Outcome::Swept(swept)) => {
                tracing::debug!(
                    reaped = swept.reaped,
                    retried = swept.retried,
                    dead_lettered = swept.dead_lettered,
                    "overdue todos were put back"
                );
                if !swept.more || room.stop.is_cancelled() {
                    return Ok(());
                }
            }
            // A suspended tenant's work rests.
            Ok(_) | Err(StoreError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// The time to an instant, rounded up to what a clock of milliseconds can tell.
fn until(now: Timestamp, at: Timestamp) -> Duration {
    let ms = at.ms().saturating_sub(now.ms()).max(0);
    Duration::from_millis(u64::try_from(ms).unwrap_or(0).saturating_add(1))
}
