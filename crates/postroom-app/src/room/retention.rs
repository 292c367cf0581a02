//! The worker that removes todos which ended long ago, with their payloads and attempts.
//!
//! What waits, is worked on or is tried again is never touched, and neither is the event that a todo
//! was opened for.

use std::{sync::Arc, time::Duration};

use postroom_core::{Command, Outcome};
use postroom_store::{StoreError, read};
use postroom_types::{TenantId, Timestamp, TodoId, limit};

use super::Room;

/// The first look comes this long after the start, when what a start does is over.
const FIRST: Duration = Duration::from_secs(10 * 60);
/// Time between two looks.
const EACH: Duration = Duration::from_secs(60 * 60);
/// Between two batches, so that others get their turn.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn run(room: Arc<Room>) {
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = EACH;
        match round(&room, limit::TODOS_KEPT).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "todos that ended long ago were removed"),
            Err(error) => {
                tracing::error!(%error, "old todos could not be removed; trying again later");
            }
        }
    }
}

/// One look through all tenants; says how many todos were removed.
async fn round(room: &Room, keep: usize) -> Result<u64, StoreError> {
    let mut removed = 0;
    for (tenant, _) in read::positions(&room.store, &room.workers).await? {
        loop {
            let batch = batch(room, tenant, keep).await?;
            let some = remove(room, tenant, batch).await?;
            removed += some;
            if some == 0 {
                break;
            }
            tokio::select! {
                () = room.stop.cancelled() => return Ok(removed),
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }
    Ok(removed)
}

/// The oldest that are past their days, or past the number that is kept, and when they ended at the
/// latest.
async fn batch(
    room: &Room,
    tenant: TenantId,
    keep: usize,
) -> Result<(Vec<TodoId>, Timestamp), StoreError> {
    let now = room.now();
    let days = i64::try_from(limit::TODO_KEPT_DAYS).unwrap_or(i64::MAX);
    let past = now.plus_ms(days.saturating_mul(-24 * 3_600_000));
    let (store, workers) = (&room.store, &room.workers);
    let old = read::ended_todos(store, workers, tenant, past, limit::TODO_SWEEP).await?;
    if !old.is_empty() {
        return Ok((old, past));
    }
    let some = limit::TODO_SWEEP;
    let many = read::ended_todos_beyond(store, workers, tenant, keep, some).await?;
    Ok((many, now))
}

async fn remove(
    room: &Room,
    tenant: TenantId,
    (todos, ended_before): (Vec<TodoId>, Timestamp),
) -> Result<u64, StoreError> {
    if todos.is_empty() {
        return Ok(0);
    }
    let command = Command::PruneTodos {
        tenant,
        todos,
        ended_before,
    };
    match room.store.transact(command).await? {
        Outcome::Pruned(removed) => Ok(removed),
        _ => Ok(0),
    }
}
