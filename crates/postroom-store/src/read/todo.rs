//! Todos, their attempts, queues.
//!
//! Each read asks for a [`Worker`]: what its scope does not reach and its queues do not name reads
//! as missing.

use crate::{
    Store, StoreError, WorkerScope,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{AttemptRow, QUARANTINE_QUEUE, QueueRow, TodoRow, TodoState, Worker};
use postroom_types::{Reach, TenantId, Timestamp, TodoId, limit};
use std::collections::BTreeMap;

/// Which todos to list; newest first.
#[derive(Debug, Clone, Default)]
pub struct TodoFilter {
    /// Only of this queue.
    pub queue: Option<String>,
    /// Only in this state.
    pub state: Option<TodoState>,
    /// Only created before this one (the last one of the page before).
    pub below: Option<TodoId>,
    /// At most so many.
    pub limit: usize,
}

/// A todo with all that is kept of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo {
    /// The todo.
    pub row: TodoRow,
    /// What came of it, JSON.
    pub result: Option<String>,
    /// Attempts that ended, newest first; the one in progress is the row's lease.
    pub attempts: Vec<AttemptRow>,
    /// How many attempts that ended are kept; older ones were dropped.
    pub attempts_kept: u64,
}

/// How many todos a queue has in each state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueCounts {
    /// Waiting.
    pub pending: u64,
    /// Under a lease.
    pub claimed: u64,
    /// Parked until their next try.
    pub parked: u64,
    /// Failed for good.
    pub dead_letters: u64,
    /// Done.
    pub done: u64,
    /// When the oldest waiting one was created.
    pub oldest_pending_at: Option<Timestamp>,
}

/// The words of the index of todos by their queue.
const OF_QUEUE: &str = " AND queue <> ''";

impl Select {
    /// What the worker sees of a table of todos.
    fn seen_by(self, worker: &Worker) -> Self {
        self.scope(&worker.scope).of_queues(worker)
    }

    /// The queues that the worker sees.
    fn of_queues(self, worker: &Worker) -> Self {
        let select = match &worker.queues {
            Some(queues) if queues.is_empty() => self.text(" AND 1 = 0"),
            Some(queues) => self
                .text(" AND queue IN ")
                .list(queues.iter().map(|name| name.as_str().into())),
            None => self,
        };
        if worker.reviews_quarantine {
            select
        } else {
            select.text(" AND queue <> ").value(QUARANTINE_QUEUE)
        }
    }
}

/// Todos without payload and result, newest first.
pub async fn todos(
    store: &Store,
    worker: &Worker,
    filter: &TodoFilter,
) -> Result<Vec<TodoRow>, StoreError> {
    // The ids first, out of an index that has all that is filtered by: whole rows would be read
    // from the table in its own order, past all that is finished.
    let select = Select::new(concat!(
        "SELECT ",
        columns!(todo),
        " FROM todos WHERE tenant_id = "
    ))
    .value(worker.scope.tenant().bits())
    .text(" AND id IN (SELECT id FROM ");
    let of_queue = filter.queue.as_deref();
    let select = match (filter.state, worker.scope.reach()) {
        (Some(state), _) if state != TodoState::Done => select
            .text("open_todos WHERE ")
            .scope(&worker.scope)
            .text(" AND state = ")
            .value(state.as_str()),
        (state, reach) => {
            let select = match (state, reach) {
                (Some(_), _) => select
                    .text("todos WHERE ")
                    .scope(&worker.scope)
                    .text(" AND state = 'done'"),
                (None, Reach::Identity(own)) => select
                    .text("todos WHERE identity_id IS NOT NULL AND identity_id = ")
                    .value(own.bits()),
                (None, Reach::Tenant) => select.text("todos WHERE ").scope(&worker.scope),
            };
            match of_queue {
                Some(_) => select.text(OF_QUEUE),
                None => select,
            }
        }
    };
    select
        .of_queues(worker)
        .filter(" AND queue = ", of_queue)
        .filter(" AND id < ", filter.below.map(TodoId::bits))
        .text(" ORDER BY id DESC LIMIT ")
        .value(select::rows(filter.limit))
        .text(") ORDER BY id DESC")
        .all(store, rows::todo)
        .await
}

/// One todo, with its newest attempts.
pub async fn todo(
    store: &Store,
    worker: &Worker,
    id: TodoId,
    attempts: usize,
) -> Result<Option<Todo>, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(todo),
        ", result FROM todos WHERE "
    ))
    .seen_by(worker)
    .text(" AND id = ")
    .value(id.bits())
    .first(store, |row| Ok((rows::todo(row)?, row.opt_text(39)?)))
    .await?;
    let Some((row, result)) = found else {
        return Ok(None);
    };
    let kept = Select::new("SELECT COUNT(*) FROM todo_attempts WHERE tenant_id = ")
        .value(row.tenant_id.bits())
        .text(" AND todo_id = ")
        .value(id.bits())
        .first(store, |row| rows::unsigned(row, 0))
        .await?;
    let attempts = attempts_of(store, row.tenant_id, id, attempts).await?;
    Ok(Some(Todo {
        row,
        result,
        attempts,
        attempts_kept: kept.unwrap_or(0),
    }))
}

async fn attempts_of(
    store: &Store,
    tenant: TenantId,
    todo: TodoId,
    limit: usize,
) -> Result<Vec<AttemptRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(attempt),
        " FROM todo_attempts WHERE tenant_id = "
    ))
    .value(tenant.bits())
    .text(" AND todo_id = ")
    .value(todo.bits())
    .text(" ORDER BY seq DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::attempt)
    .await
}

/// The newest attempts of a todo that ended, newest first; none of a todo that the worker does not
/// see.
pub async fn todo_attempts(
    store: &Store,
    worker: &Worker,
    todo: TodoId,
    limit: usize,
) -> Result<Vec<AttemptRow>, StoreError> {
    match todo_row(store, worker, todo).await? {
        Some(row) => attempts_of(store, row.tenant_id, todo, limit).await,
        None => Ok(Vec::new()),
    }
}

/// One todo without payload, result and attempts.
pub async fn todo_row(
    store: &Store,
    worker: &Worker,
    id: TodoId,
) -> Result<Option<TodoRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(todo), " FROM todos WHERE "))
        .seen_by(worker)
        .text(" AND id = ")
        .value(id.bits())
        .first(store, rows::todo)
        .await
}

/// The payload that a todo carries itself, JSON; `None` for one whose payload is its event's.
pub async fn todo_payload(
    store: &Store,
    worker: &Worker,
    id: TodoId,
) -> Result<Option<String>, StoreError> {
    Select::new("SELECT payload FROM todo_payloads WHERE tenant_id = ")
        .value(worker.scope.tenant().bits())
        .text(" AND todo_id = (SELECT id FROM todos WHERE ")
        .seen_by(worker)
        .text(" AND id = ")
        .value(id.bits())
        .text(")")
        .first(store, |row| Ok(row.text(0)?))
        .await
}

/// Whether something waits that such a claimant could take; a cheap look before a claim that
/// waits. Says yes now and then when nothing is to be had, never no when there is something in
/// `queues` (or, without, in any queue but the reserved one).
pub async fn work_waits(
    store: &Store,
    worker: &Worker,
    queues: Option<&[String]>,
) -> Result<bool, StoreError> {
    let now = store.now();
    for due in [None, Some(now.ms())] {
        let select = Select::new("SELECT 1 FROM open_todos WHERE ").seen_by(worker);
        let select = match due {
            Some(now) => select
                .text(" AND due_at IS NOT NULL AND due_at <= ")
                .value(now),
            None => select.text(" AND state = 'pending'"),
        };
        let select = match queues {
            Some([]) => return Ok(false),
            Some(queues) => select
                .text(" AND queue IN ")
                .list(queues.iter().map(|name| name.as_str().into())),
            None => select.text(" AND queue <> ").value(QUARANTINE_QUEUE),
        };
        if !select.text(" LIMIT 1").fetch(store).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts per queue that the worker sees, with the age of the oldest waiting one.
pub async fn queue_counts(
    store: &Store,
    worker: &Worker,
) -> Result<BTreeMap<String, QueueCounts>, StoreError> {
    let mut out: BTreeMap<String, QueueCounts> = BTreeMap::new();
    let all = Select::new("SELECT queue, COUNT(*) FROM todos WHERE ")
        .seen_by(worker)
        .text(OF_QUEUE)
        .text(" GROUP BY queue")
        .scans()
        .all(store, |row| Ok((row.text(0)?, rows::unsigned(row, 1)?)))
        .await?;
    for (queue, count) in all {
        out.entry(queue).or_default().done = count;
    }
    // Grouped by an expression, so that no index with the names in order is read past its state.
    for state in [TodoState::Pending, TodoState::Claimed, TodoState::Failed] {
        let open = Select::new("SELECT queue || '', COUNT(*) FROM open_todos WHERE ")
            .seen_by(worker)
            .text(" AND state = ")
            .value(state.as_str())
            .text(" GROUP BY queue || ''")
            .scans()
            .all(store, |row| Ok((row.text(0)?, rows::unsigned(row, 1)?)))
            .await?;
        for (queue, count) in open {
            let counts = out.entry(queue).or_default();
            counts.done = counts.done.saturating_sub(count);
            match state {
                TodoState::Pending => counts.pending = count,
                TodoState::Claimed => counts.claimed = count,
                _ => counts.dead_letters = count,
            }
        }
    }
    let parked = Select::new("SELECT queue || '', COUNT(*) FROM open_todos WHERE ")
        .seen_by(worker)
        .text(" AND due_at IS NOT NULL AND due_at > 0 AND state = 'failed' GROUP BY queue || ''")
        .scans()
        .all(store, |row| Ok((row.text(0)?, rows::unsigned(row, 1)?)))
        .await?;
    for (queue, count) in parked {
        let counts = out.entry(queue).or_default();
        counts.parked = count;
        counts.dead_letters = counts.dead_letters.saturating_sub(count);
    }
    for (queue, counts) in out.iter_mut().filter(|(_, counts)| counts.pending > 0) {
        // Ids begin with their time.
        let oldest = Select::new("SELECT created_at FROM todos WHERE tenant_id = ")
            .value(worker.scope.tenant().bits())
            .text(" AND id = (SELECT id FROM open_todos WHERE ")
            .seen_by(worker)
            .text(" AND state = 'pending' AND queue = ")
            .value(queue.as_str())
            .text(" ORDER BY id LIMIT 1)")
            .first(store, |row| rows::at(row, 0))
            .await?;
        counts.oldest_pending_at = oldest;
    }
    Ok(out)
}

/// Settings of the queues that the worker sees.
pub async fn queues(store: &Store, worker: &Worker) -> Result<Vec<QueueRow>, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(queue),
        " FROM queues WHERE tenant_id = "
    ))
    .value(worker.scope.tenant().bits())
    .text(" ORDER BY name LIMIT ")
    .value(select::rows(limit::QUEUES_PER_TENANT))
    .all(store, rows::queue)
    .await?;
    Ok(found
        .into_iter()
        .filter(|row| worker.sees_queue(&row.name))
        .collect())
}

/// When something is due next in each tenant that has anything due: a lease ends, a try begins.
pub async fn next_due(
    store: &Store,
    scope: &WorkerScope,
) -> Result<Vec<(TenantId, Timestamp)>, StoreError> {
    let WorkerScope(()) = scope;
    let found = Select::new(
        "SELECT tenant_id, (SELECT MIN(due_at) FROM open_todos WHERE open_todos.tenant_id = \
         counters.tenant_id AND due_at IS NOT NULL) FROM counters",
    )
    .all(store, |row| Ok((rows::tenant_id(row, 0)?, row.opt_int(1)?)))
    .await?;
    Ok(found
        .into_iter()
        .filter_map(|(tenant, due)| Some((tenant, Timestamp::from_ms(due?))))
        .collect())
}

/// Todos of a tenant that ended before an instant, oldest first.
pub async fn ended_todos(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
    before: Timestamp,
    limit: usize,
) -> Result<Vec<TodoId>, StoreError> {
    let WorkerScope(()) = scope;
    // Ids begin with the time of creation, which no end comes before: the oldest are at the front
    // of the table, and nothing behind the instant is looked at.
    let newest = TodoId::from_parts(before.ulid_ms(), u128::MAX);
    Select::new("SELECT id FROM todos WHERE tenant_id = ")
        .value(tenant.bits())
        .text(" AND id <= ")
        .value(newest.bits())
        .text(" AND (state = 'done' OR state = 'failed') AND completed_at < ")
        .value(before.ms())
        .scans()
        .text(" ORDER BY id LIMIT ")
        .value(select::rows(limit))
        .all(store, |row| rows::todo_id(row, 0))
        .await
}

/// Todos of a tenant that ended, but for the newest `keep` of them, oldest first.
pub async fn ended_todos_beyond(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
    keep: usize,
    limit: usize,
) -> Result<Vec<TodoId>, StoreError> {
    let WorkerScope(()) = scope;
    let ended = " AND (state = 'done' OR state = 'failed') AND completed_at IS NOT NULL";
    let count = Select::new("SELECT COUNT(*) FROM todos WHERE tenant_id = ")
        .value(tenant.bits())
        .text(ended)
        .scans()
        .first(store, |row| rows::unsigned(row, 0))
        .await?;
    let beyond = count.unwrap_or(0).saturating_sub(keep as u64);
    let some = usize::try_from(beyond).unwrap_or(usize::MAX).min(limit);
    if some == 0 {
        return Ok(Vec::new());
    }
    Select::new("SELECT id FROM todos WHERE tenant_id = ")
        .value(tenant.bits())
        .text(ended)
        .scans()
        .text(" ORDER BY id LIMIT ")
        .value(select::rows(some))
        .all(store, |row| rows::todo_id(row, 0))
        .await
}
