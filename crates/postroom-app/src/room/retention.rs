//! The worker that removes what is old: todos that ended long ago, with their payloads and attempts,
//! and deliveries, with their payloads.
//!
//! What waits, is worked on or is tried again is never touched, and neither is the event that a todo
//! was opened for while the todo is there. Mail stays, and so does what carries it.

use std::{sync::Arc, time::Duration};

use postroom_core::{Command, OldEvent, Outcome};
use postroom_store::{StoreError, read};
use postroom_types::{Reach, TenantId, TenantScope, Timestamp, TodoId, limit};

use super::Room;

/// The first look comes this long after the start, when what a start does is over.
const FIRST: Duration = Duration::from_secs(10 * 60);
/// Time between two looks.
const EACH: Duration = Duration::from_secs(60 * 60);
/// Between two batches, so that others get their turn.
const PAUSE: Duration = Duration::from_millis(100);
const DAY_MS: i64 = 24 * 3_600_000;

/// How long deliveries are kept. Mail is kept for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Days since they were received; `None` for ever.
    pub event_days: Option<u64>,
    /// The newest of each tenant; `None` for all.
    pub events: Option<usize>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            event_days: Some(limit::EVENT_KEPT_DAYS),
            events: Some(limit::EVENTS_KEPT),
        }
    }
}

/// What one look removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Removed {
    /// Todos that had ended.
    pub todos: u64,
    /// Deliveries.
    pub events: u64,
}

pub(super) async fn run(room: Arc<Room>) {
    let mut pause = FIRST;
    loop {
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = EACH;
        match room.remove_old().await {
            Ok(Removed {
                todos: 0,
                events: 0,
            }) => {}
            Ok(Removed { todos, events }) => {
                tracing::info!(todos, events, "what was old was removed");
            }
            Err(error) => {
                tracing::error!(%error, "old work could not be removed; trying again later");
            }
        }
    }
}

impl Room {
    /// One look through all tenants for what is old, as the worker has it each hour.
    ///
    /// # Errors
    /// [`StoreError`]; what was removed until then stays removed.
    pub async fn remove_old(&self) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        for (tenant, _) in read::positions(&self.store, &self.workers).await? {
            removed.todos += todos(self, tenant, limit::TODOS_KEPT).await?;
            removed.events += events(self, tenant).await?;
        }
        Ok(removed)
    }
}

/// Whether to go on after giving others their turn.
async fn goes_on(room: &Room) -> bool {
    tokio::select! {
        () = room.stop.cancelled() => false,
        () = tokio::time::sleep(PAUSE) => true,
    }
}

/// Removes the deliveries of a tenant that are past their days or their number.
async fn events(room: &Room, tenant: TenantId) -> Result<u64, StoreError> {
    let Retention { event_days, events } = room.retention;
    let before = match event_days {
        Some(days) => {
            let days = i64::try_from(days).unwrap_or(i64::MAX);
            room.now().plus_ms(days.saturating_mul(-DAY_MS))
        }
        None => Timestamp::from_ms(0),
    };
    let keep = events.unwrap_or(usize::MAX);
    let scope = TenantScope::granted(tenant, Reach::Tenant);
    let (mut removed, mut after) = (0, 0);
    loop {
        // Before the look: what comes during it is looked for once more by who removes.
        let seen = read::position(&room.store, &scope).await?;
        let (old, last) = read::old_deliveries(
            &room.store,
            &room.workers,
            tenant,
            (before, keep),
            (after, limit::EVENT_LOOK),
        )
        .await?;
        for some in old.chunks(limit::EVENT_SWEEP) {
            removed += remove_events(room, tenant, some, seen).await?;
            if !goes_on(room).await {
                return Ok(removed);
            }
        }
        match last {
            Some(last) => after = last,
            None => return Ok(removed),
        }
    }
}

async fn remove_events(
    room: &Room,
    tenant: TenantId,
    events: &[OldEvent],
    seen: u64,
) -> Result<u64, StoreError> {
    let command = Command::PruneEvents {
        tenant,
        events: events.to_vec(),
        // Some of them went for their number, not for their days.
        received_before: room.now(),
        seen,
    };
    match room.store.transact(command).await? {
        Outcome::Pruned(removed) => Ok(removed),
        _ => Ok(0),
    }
}

/// Removes the todos of a tenant that are past their days or their number.
async fn todos(room: &Room, tenant: TenantId, keep: usize) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let batch = batch(room, tenant, keep).await?;
        let some = remove(room, tenant, batch).await?;
        removed += some;
        if some == 0 || !goes_on(room).await {
            return Ok(removed);
        }
    }
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
    let past = now.plus_ms(days.saturating_mul(-DAY_MS));
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
