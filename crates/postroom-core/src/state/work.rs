//! Sources and todos in the loaded slice.

use super::State;
use crate::{
    Change,
    row::{AttemptRow, TodoRow, TodoState},
};
use postroom_types::{TenantId, TodoId};
use std::collections::BTreeSet;

impl State {
    /// Takes a stored todo in.
    pub fn load_todo(&mut self, row: TodoRow) {
        // A row can be found by several look-ups; what was decided since is newer than any.
        if !self.todos.contains_key(&row.id) {
            if row.is_live() {
                self.ready.insert(place(&row));
            }
            self.index_todo(&row);
            self.todos.insert(row.id, row);
        }
    }

    /// Takes a stored attempt in.
    pub fn load_attempt(&mut self, row: AttemptRow) {
        self.attempts
            .entry(row.todo_id)
            .or_default()
            .insert(row.seq, row);
    }

    /// Queues of a tenant that give out no work now: paused, or with as much in flight as they may
    /// have.
    pub(crate) fn closed_queues(&self, tenant: TenantId) -> BTreeSet<String> {
        self.queues
            .range((tenant, String::new())..)
            .take_while(|((owner, _), _)| *owner == tenant)
            .filter(|((_, name), _)| self.is_closed(tenant, name))
            .map(|((_, name), _)| name.clone())
            .collect()
    }

    /// Whether a queue gives out no work now.
    pub(crate) fn is_closed(&self, tenant: TenantId, queue: &str) -> bool {
        if self.queues.is_empty() {
            return false;
        }
        let key = (tenant, queue.to_owned());
        let Some(row) = self.queues.get(&key) else {
            return false;
        };
        let in_flight = self.in_flight.get(&key).copied().unwrap_or(0);
        row.paused || row.max_in_flight.is_some_and(|most| in_flight >= most)
    }

    pub(super) fn apply_work(&mut self, change: &Change) {
        match change {
            Change::PutSource(row) => {
                let known = self.sources.insert(row.id, (**row).clone());
                if let (None, Some(count)) = (known, self.source_counts.get_mut(&row.tenant_id)) {
                    *count += 1;
                }
            }
            Change::RemoveSource { tenant_id, id } => {
                self.sources.remove(id);
                if let Some(count) = self.source_counts.get_mut(tenant_id) {
                    *count = count.saturating_sub(1);
                }
            }
            Change::AddOnce { source_id, key, .. } => {
                self.once_keys.insert((*source_id, *key));
            }
            Change::AddTodo { row, .. } | Change::PutTodo { row, .. } => self.put_todo(row),
            Change::RemoveTodo { id, .. } => {
                // What is removed had ended: no index of what is live names it.
                self.todos.remove(id);
                self.attempts.remove(id);
            }
            Change::RemoveEvent { tenant_id, id, .. } => {
                let gone = (*tenant_id, *id);
                self.events.remove(&gone);
                self.event_keys.retain(|_, event| *event != gone);
            }
            Change::PutAttempt(row) => self.load_attempt((**row).clone()),
            Change::PruneAttempts {
                todo_id,
                through_seq,
                ..
            } => {
                if let Some(attempts) = self.attempts.get_mut(todo_id) {
                    attempts.retain(|seq, _| seq > through_seq);
                }
            }
            Change::PutQueue(row) => {
                let key = (row.tenant_id, row.name.clone());
                if row.max_in_flight.is_some() {
                    // What is in flight was not counted for a queue without a bound: nothing is
                    // given out of it before the next round has.
                    self.in_flight.entry(key.clone()).or_insert(u64::MAX / 2);
                }
                self.queues.insert(key, row.clone());
            }
            _ => {}
        }
    }

    fn put_todo(&mut self, row: &TodoRow) {
        let known = self.todos.remove(&row.id);
        if let Some(known) = &known {
            self.ready.remove(&place(known));
            self.unindex_todo(known);
        }
        let was_claimed = known.is_some_and(|known| known.state == TodoState::Claimed);
        let is_claimed = row.state == TodoState::Claimed;
        if was_claimed != is_claimed
            && let Some(count) = self.in_flight.get_mut(&(row.tenant_id, row.queue.clone()))
        {
            *count = if is_claimed {
                *count + 1
            } else {
                count.saturating_sub(1)
            };
        }
        // What was just claimed or parked is not due before this round is over.
        if row.state == TodoState::Pending {
            self.ready.insert(place(row));
        }
        self.index_todo(row);
        self.todos.insert(row.id, row.clone());
    }

    fn index_todo(&mut self, row: &TodoRow) {
        if let Some(key) = row.dedup() {
            self.todo_keys.insert((row.tenant_id, key), row.id);
        }
        if let Some(key) = row.subject() {
            self.subjects.insert((row.tenant_id, key), row.id);
        }
    }

    fn unindex_todo(&mut self, row: &TodoRow) {
        if let Some(key) = row.dedup() {
            self.todo_keys.remove(&(row.tenant_id, key));
        }
        if let Some(key) = row.subject() {
            let key = (row.tenant_id, key);
            if self.subjects.get(&key) == Some(&row.id) {
                self.subjects.remove(&key);
            }
        }
    }
}

/// Where a todo stands among those that may be taken.
fn place(row: &TodoRow) -> (TenantId, i64, u64, TodoId) {
    (row.tenant_id, -row.priority, row.num, row.id)
}
