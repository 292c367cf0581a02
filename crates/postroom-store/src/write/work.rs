//! Sources, todos, their attempts and queues: gathered and written.

use super::statements::flat;
use crate::{
    load::LoadError,
    rows,
    sql::{Conn, Rows, Value},
};
use postroom_core::{AttemptRow, Change, QueueRow, SourceRow, TodoRow, TodoState};
use postroom_types::{SourceId, TenantId, Timestamp, TodoId};
use std::collections::{BTreeMap, BTreeSet};

/// What was decided about work.
#[derive(Default)]
pub(super) struct Writes {
    /// `None` for a source that was deleted.
    sources: BTreeMap<SourceId, Option<Box<SourceRow>>>,
    deliveries: BTreeMap<SourceId, Delivered>,
    once: BTreeMap<(SourceId, [u8; 16]), (TenantId, u64)>,
    added: BTreeMap<(TenantId, TodoId), Todo>,
    payloads: BTreeMap<(TenantId, TodoId), String>,
    changed: BTreeMap<(TenantId, TodoId), Todo>,
    attempts: BTreeMap<(TenantId, TodoId, u64), Box<AttemptRow>>,
    pruned: BTreeMap<(TenantId, TodoId), u64>,
    removed: BTreeSet<(TenantId, TodoId)>,
    queues: BTreeMap<(TenantId, String), QueueRow>,
}

/// Deliveries of one source.
#[derive(Default)]
struct Delivered {
    first: u64,
    again: u64,
    last_at: Timestamp,
}

struct Todo {
    row: Box<TodoRow>,
    result: Option<String>,
}

impl Writes {
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            sources,
            deliveries,
            once,
            added,
            payloads,
            changed,
            attempts,
            pruned,
            removed,
            queues,
        } = self;
        sources.is_empty()
            && deliveries.is_empty()
            && once.is_empty()
            && added.is_empty()
            && payloads.is_empty()
            && changed.is_empty()
            && attempts.is_empty()
            && pruned.is_empty()
            && removed.is_empty()
            && queues.is_empty()
    }

    pub(super) fn absorb(&mut self, change: Change) {
        match change {
            Change::PutSource(row) => {
                self.sources.insert(row.id, Some(row));
            }
            Change::RemoveSource { id, .. } => {
                self.sources.insert(id, None);
                self.deliveries.remove(&id);
            }
            Change::CountDelivery {
                source_id,
                at,
                repeated,
                ..
            } => {
                let delivered = self.deliveries.entry(source_id).or_default();
                if repeated {
                    delivered.again += 1;
                } else {
                    delivered.first += 1;
                }
                delivered.last_at = delivered.last_at.max(at);
            }
            Change::AddOnce {
                tenant_id,
                source_id,
                key,
                event_id,
            } => {
                self.once.insert((source_id, key), (tenant_id, event_id));
            }
            Change::AddTodo { row, payload } => {
                let key = (row.tenant_id, row.id);
                if let Some(payload) = payload {
                    self.payloads.insert(key, payload);
                }
                self.added.insert(key, Todo { row, result: None });
            }
            Change::PutTodo { row, result } => self.put_todo(row, result),
            Change::PutAttempt(row) => {
                self.attempts
                    .insert((row.tenant_id, row.todo_id, row.seq), row);
            }
            Change::PruneAttempts {
                tenant_id,
                todo_id,
                through_seq,
            } => {
                self.pruned.insert((tenant_id, todo_id), through_seq);
            }
            Change::RemoveTodo { tenant_id, id } => {
                self.removed.insert((tenant_id, id));
            }
            Change::PutQueue(row) => {
                self.queues.insert((row.tenant_id, row.name.clone()), row);
            }
            _ => {}
        }
    }

    fn put_todo(&mut self, row: Box<TodoRow>, result: Option<String>) {
        let key = (row.tenant_id, row.id);
        let known = match self.added.get_mut(&key) {
            Some(known) => Some(known),
            None => self.changed.get_mut(&key),
        };
        match known {
            Some(known) => {
                known.row = row;
                known.result = result.or(known.result.take());
            }
            None => {
                self.changed.insert(key, Todo { row, result });
            }
        }
    }

    /// Writes what must be written in order, and gives the rest.
    pub(super) async fn write(mut self, conn: &Conn) -> Result<Vec<Rows>, LoadError> {
        self.forget_removed();
        write_sources(conn, &self.sources).await?;
        prune_attempts(conn, &self.pruned).await?;
        remove_todos(conn, &self.removed).await?;
        // A key is free before another todo of this batch takes it.
        let is_done = |todo: &&Todo| todo.row.state == TodoState::Done;
        let done = self.changed.values().filter(is_done);
        conn.insert(
            "DELETE FROM open_todos WHERE (tenant_id, id) IN (SELECT * FROM (VALUES {}) AS new)",
            2,
            flat(done.map(|todo| [todo.row.tenant_id.bits().into(), todo.row.id.bits().into()])),
        )
        .await?;
        Ok(self.rest())
    }

    /// Nothing is written of a todo that goes in the same batch, nor of an attempt.
    fn forget_removed(&mut self) {
        for key in &self.removed {
            self.added.remove(key);
            self.changed.remove(key);
            self.payloads.remove(key);
        }
        let (removed, pruned) = (&self.removed, &self.pruned);
        self.attempts.retain(|(tenant, todo, seq), _| {
            let key = (*tenant, *todo);
            !removed.contains(&key) && pruned.get(&key).is_none_or(|through| seq > through)
        });
    }

    fn rest(self) -> Vec<Rows> {
        let open = open_rows(&self.changed, &self.added);
        vec![
            delivery_rows(&self.deliveries),
            once_rows(&self.once),
            changed_rows(self.changed),
            added_rows(self.added),
            open,
            payload_rows(self.payloads),
            attempt_rows(&self.attempts),
            queue_rows(&self.queues),
        ]
    }
}

fn delivery_rows(deliveries: &BTreeMap<SourceId, Delivered>) -> Rows {
    Rows {
        sql: "INSERT INTO source_stats (source_id, deliveries, redeliveries, last_delivery_at) \
              VALUES {} ON CONFLICT (source_id) DO UPDATE SET \
              deliveries = source_stats.deliveries + excluded.deliveries, \
              redeliveries = source_stats.redeliveries + excluded.redeliveries, \
              last_delivery_at = excluded.last_delivery_at",
        width: 4,
        values: flat(deliveries.iter().map(|(source, delivered)| {
            [
                source.bits().into(),
                delivered.first.into(),
                delivered.again.into(),
                delivered.last_at.ms().into(),
            ]
        })),
    }
}

fn once_rows(once: &BTreeMap<(SourceId, [u8; 16]), (TenantId, u64)>) -> Rows {
    Rows {
        sql: "INSERT INTO source_once (source_id, hash, tenant_id, event_id) VALUES {} \
              ON CONFLICT (source_id, hash) DO NOTHING",
        width: 4,
        values: flat(once.iter().map(|((source, key), (tenant, event))| {
            [
                source.bits().into(),
                key.as_slice().into(),
                tenant.bits().into(),
                (*event).into(),
            ]
        })),
    }
}

fn queue_rows(queues: &BTreeMap<(TenantId, String), QueueRow>) -> Rows {
    Rows {
        sql: "INSERT INTO queues (tenant_id, name, paused, max_in_flight, updated_at) VALUES {} \
              ON CONFLICT (tenant_id, name) DO UPDATE SET paused = excluded.paused, \
              max_in_flight = excluded.max_in_flight, updated_at = excluded.updated_at",
        width: 5,
        values: flat(queues.values().map(rows::queue_values)),
    }
}

async fn write_sources(
    conn: &Conn,
    sources: &BTreeMap<SourceId, Option<Box<SourceRow>>>,
) -> Result<(), LoadError> {
    for (id, _) in sources.iter().filter(|(_, row)| row.is_none()) {
        for sql in [
            "DELETE FROM source_once WHERE source_id = $1",
            "DELETE FROM source_stats WHERE source_id = $1",
            "DELETE FROM sources WHERE id = $1",
        ] {
            conn.execute(sql, vec![id.bits().into()]).await?;
        }
    }
    conn.insert(
        "INSERT INTO sources (id, tenant_id, identity_id, provider, name, token_hash, \
         sealed_token, state, trust_mode, secret_origin, secrets, queue, rules, rules_version, \
         options, trusted_actors, version, created_at, rotated_at, handshake_at) VALUES {} \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, token_hash = excluded.token_hash, \
         sealed_token = excluded.sealed_token, state = excluded.state, \
         trust_mode = excluded.trust_mode, \
         secrets = excluded.secrets, queue = excluded.queue, rules = excluded.rules, \
         rules_version = excluded.rules_version, options = excluded.options, \
         trusted_actors = excluded.trusted_actors, version = excluded.version, \
         rotated_at = excluded.rotated_at, handshake_at = excluded.handshake_at",
        20,
        sources
            .values()
            .flatten()
            .flat_map(|row| rows::source_values(row))
            .collect(),
    )
    .await?;
    Ok(())
}

fn changed_rows(changed: BTreeMap<(TenantId, TodoId), Todo>) -> Rows {
    Rows {
        sql: "UPDATE todos SET last_event_id = new.column3, event_count = new.column4, \
              rank = new.column5, state = new.column6, lease_seq = new.column7, \
              lease_key = new.column8, claimant = new.column9, claimed_at = new.column10, \
              heartbeat_at = new.column11, lease_expires_at = new.column12, \
              lease_seconds = new.column13, lease_hash = new.column14, fenced = new.column15, \
              note = new.column16, attempt = new.column17, attempts_total = new.column18, \
              next_retry_at = new.column19, dead_reason = new.column20, \
              updated_at = new.column21, completed_at = new.column22, \
              result = COALESCE(new.column23, todos.result) \
              FROM (VALUES {}) AS new \
              WHERE todos.tenant_id = new.column1 AND todos.id = new.column2",
        width: 23,
        values: flat(
            changed
                .into_values()
                .map(|todo| rows::todo_change_values(&todo.row, todo.result)),
        ),
    }
}

fn added_rows(added: BTreeMap<(TenantId, TodoId), Todo>) -> Rows {
    Rows {
        sql: "INSERT INTO todos (tenant_id, id, last_event_id, event_count, rank, state, lease_seq, \
              lease_key, claimant, claimed_at, heartbeat_at, lease_expires_at, lease_seconds, \
              lease_hash, fenced, note, attempt, attempts_total, next_retry_at, dead_reason, \
              updated_at, completed_at, result, identity_id, num, queue, source_id, source, kind, \
              title, event_id, payload_size, idempotency_key, subject_key, tags, assignee, \
              quarantine_reason, routing_trace, max_attempts, created_at) VALUES {}",
        width: 40,
        values: added
            .into_values()
            .flat_map(|todo| rows::todo_values(&todo.row, todo.result))
            .collect(),
    }
}

/// By what todos are found while they are not done. Those whose key no longer counts come first, so
/// that another of this batch may have it.
fn open_rows(
    changed: &BTreeMap<(TenantId, TodoId), Todo>,
    added: &BTreeMap<(TenantId, TodoId), Todo>,
) -> Rows {
    let is_open = |todo: &&Todo| todo.row.state != TodoState::Done;
    let (live, ended): (Vec<&Todo>, Vec<&Todo>) = changed
        .values()
        .filter(is_open)
        .partition(|todo| todo.row.dedup().is_some());
    let added = added.values().filter(is_open);
    Rows {
        sql: "INSERT INTO open_todos (tenant_id, id, identity_id, num, queue, rank, assignee, \
              state, due_at, dedup, subject) VALUES {} ON CONFLICT (tenant_id, id) DO UPDATE SET \
              rank = excluded.rank, state = excluded.state, due_at = excluded.due_at, \
              dedup = excluded.dedup, subject = excluded.subject",
        width: 11,
        values: flat(
            ended
                .into_iter()
                .chain(live)
                .chain(added)
                .map(|todo| rows::open_todo_values(&todo.row)),
        ),
    }
}

fn payload_rows(payloads: BTreeMap<(TenantId, TodoId), String>) -> Rows {
    Rows {
        sql: "INSERT INTO todo_payloads (tenant_id, todo_id, payload) VALUES {}",
        width: 3,
        values: flat(payloads.into_iter().map(|((tenant, todo), payload)| {
            [
                tenant.bits().into(),
                todo.bits().into(),
                Value::Text(payload),
            ]
        })),
    }
}

/// Todos that go, with what hangs on them.
async fn remove_todos(
    conn: &Conn,
    removed: &BTreeSet<(TenantId, TodoId)>,
) -> Result<(), LoadError> {
    for (tenant, todo) in removed {
        for sql in [
            "DELETE FROM todo_payloads WHERE tenant_id = $1 AND todo_id = $2",
            "DELETE FROM todo_attempts WHERE tenant_id = $1 AND todo_id = $2",
            "DELETE FROM open_todos WHERE tenant_id = $1 AND id = $2",
            "DELETE FROM todos WHERE tenant_id = $1 AND id = $2",
        ] {
            conn.execute(sql, vec![tenant.bits().into(), todo.bits().into()])
                .await?;
        }
    }
    Ok(())
}

fn attempt_rows(attempts: &BTreeMap<(TenantId, TodoId, u64), Box<AttemptRow>>) -> Rows {
    Rows {
        sql: "INSERT INTO todo_attempts (tenant_id, todo_id, seq, attempt, key_id, claimant, \
              claimed_at, last_heartbeat_at, lease_expires_at, token_hash, ended_at, outcome, \
              disposition, summary, summary_truncated, artifact, note, late_at, late_outcome, \
              late_result) VALUES {} ON CONFLICT (tenant_id, todo_id, seq) DO UPDATE SET \
              summary = excluded.summary, summary_truncated = excluded.summary_truncated, \
              artifact = excluded.artifact, late_at = excluded.late_at, \
              late_outcome = excluded.late_outcome, late_result = excluded.late_result",
        width: 20,
        values: flat(attempts.values().map(|row| rows::attempt_values(row))),
    }
}

async fn prune_attempts(
    conn: &Conn,
    pruned: &BTreeMap<(TenantId, TodoId), u64>,
) -> Result<(), LoadError> {
    for ((tenant, todo), seq) in pruned {
        conn.execute(
            "DELETE FROM todo_attempts WHERE tenant_id = $1 AND todo_id = $2 AND seq <= $3",
            vec![tenant.bits().into(), todo.bits().into(), (*seq).into()],
        )
        .await?;
    }
    Ok(())
}
