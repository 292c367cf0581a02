//! What commands on sources, deliveries and todos name.

use super::{ClaimSpec, Needs};
use crate::{
    Arrive, Command, CreateTodo, Ingest, Lease, Routing, State, Worker, lease_token_hash,
    subject_key_hash, todo_key_hash,
};
use postroom_types::{IdentityId, Reach, TenantId, TenantScope, TodoId};

/// The hash under which a source keeps a key that opens no second todo.
pub(crate) fn once_hash(key: &str) -> [u8; 16] {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(key.as_bytes()).into();
    digest.first_chunk::<16>().copied().unwrap_or_default()
}

impl Command {
    pub(super) fn needs_of_work(&self, needs: &mut Needs) {
        match self {
            Self::CreateSource(create) => {
                needs.tenant(create.tenant);
                needs.identities.extend(create.identity);
                needs.source_counts.insert(create.tenant);
            }
            Self::RotateSource(rotate) => needs.source(rotate.scope, rotate.source),
            Self::DeleteSource { scope, source }
            | Self::SetSourceState { scope, source, .. }
            | Self::UpdateSource { scope, source, .. } => needs.source(*scope, *source),
            Self::SetSourceSecret(set) => needs.source(set.scope, set.source),
            Self::SetSourceRules(set) => needs.source(set.scope, set.source),
            Self::NoteHandshake { tenant, source } => {
                needs.tenant(*tenant);
                needs.sources.insert(*source);
            }
            Self::Arrive(arrive) => {
                needs.tenant(arrive.tenant);
                needs
                    .event_keys
                    .insert((arrive.source, arrive.external_key.clone()));
                needs.judged(arrive.source, &arrive.routing);
            }
            Self::SettleEvent(settle) => {
                needs.tenant(settle.tenant);
                needs.events.insert((settle.tenant, settle.event_id));
            }
            Self::PostponeEvent(postpone) => {
                needs.tenant(postpone.tenant);
                needs.events.insert((postpone.tenant, postpone.event_id));
            }
            Self::CreateTodo(create) => needs.new_todo(create),
            Self::ClaimTodo(claim) => {
                needs.todo(&claim.worker, claim.todo);
                needs.queues.insert(claim.worker.scope.tenant());
            }
            Self::ClaimNextTodo(claim) => {
                needs.tenant(claim.worker.scope.tenant());
                needs.queues.insert(claim.worker.scope.tenant());
            }
            Self::HeartbeatTodo(beat) => needs.todo(&beat.worker, beat.todo),
            Self::CompleteTodo(end) | Self::FailTodo(end) | Self::ReleaseTodo(end) => {
                needs.todo(&end.worker, end.todo);
            }
            Self::UndoClaim(undo) => {
                needs.tenant(undo.scope.tenant());
                needs.todos.insert((undo.scope.tenant(), undo.todo));
            }
            Self::RetryTodo(retry) => needs.todo(&retry.worker, retry.todo),
            Self::SweepTodos { tenant, limit } => {
                needs.tenant(*tenant);
                let most = needs.sweeps.entry(*tenant).or_default();
                *most = (*most).max((*limit).min(postroom_types::limit::TODO_SWEEP));
            }
            Self::PruneTodos { tenant, todos, .. } => {
                needs.tenant(*tenant);
                let some = todos.iter().take(postroom_types::limit::TODO_SWEEP);
                needs.todos.extend(some.map(|id| (*tenant, *id)));
            }
            Self::PruneEvents { tenant, events, .. } => {
                needs.tenant(*tenant);
                let some = events.iter().take(postroom_types::limit::EVENT_SWEEP);
                needs.events.extend(some.map(|old| (*tenant, old.id)));
            }
            Self::SetQueue(set) => {
                needs.tenant(set.scope.tenant());
                needs.queues.insert(set.scope.tenant());
            }
            _ => {}
        }
    }

    pub(super) fn needs_of_work_after(&self, state: &State, needs: &mut Needs) {
        match self {
            Self::Arrive(arrive) => needs.arrival(arrive, state),
            Self::ClaimTodo(claim) => needs.claimants(claim.worker.scope.tenant()),
            Self::ClaimNextTodo(claim) => {
                let tenant = claim.worker.scope.tenant();
                needs.claimants(tenant);
                if let Some(spec) = ClaimSpec::new(&claim.worker, claim.queues.as_deref(), state) {
                    needs.claims.insert(spec);
                }
            }
            Self::CompleteTodo(end) | Self::FailTodo(end) | Self::ReleaseTodo(end) => {
                // Whoever speaks of a claim that is over is looked for among the attempts.
                let key = (end.worker.scope.tenant(), end.todo);
                let token = end.lease_token.as_deref().map(lease_token_hash);
                let holds = |lease: &Lease| {
                    lease.key_id == end.worker.key
                        && token.is_none_or(|hash| hash == lease.token_hash)
                };
                let known = state.todos.get(&key.1);
                let over = known.is_some_and(|todo| {
                    todo.attempts_total > 0 && !todo.lease.as_ref().is_some_and(holds)
                });
                if over {
                    needs.attempts.insert(key);
                }
            }
            Self::PruneEvents { tenant, events, .. } => {
                let some = events.iter().take(postroom_types::limit::EVENT_SWEEP);
                let todos = some
                    .filter_map(|old| state.events.get(&(*tenant, old.id)))
                    .filter_map(|event| event.todo_id);
                needs.todos.extend(todos.map(|id| (*tenant, id)));
            }
            Self::RetryTodo(retry) => {
                if let Some(todo) = state.todos.get(&retry.todo)
                    && let Some(key) = &todo.idempotency_key
                {
                    let hash = todo_key_hash(todo.identity_id, key);
                    needs.todo_keys.insert((todo.tenant_id, hash));
                }
            }
            _ => {}
        }
    }
}

impl Needs {
    fn source(&mut self, scope: TenantScope, source: postroom_types::SourceId) {
        self.tenant(scope.tenant());
        self.sources.insert(source);
    }

    /// The source that judged something, and its key that opens no second todo.
    pub(super) fn judged(&mut self, source: postroom_types::SourceId, routing: &Routing) {
        self.sources.insert(source);
        if let Some(once) = &routing.once {
            self.once_keys.insert((source, once_hash(once)));
        }
    }

    /// The todos that a mail's work may join.
    pub(super) fn mail_work(&mut self, ingest: &Ingest, state: &State) {
        let Some(judged) = &ingest.work else { return };
        let source = state.sources.get(&judged.source);
        if let (Some(source), Some(work)) = (source, &judged.routing.work) {
            let queue = work.queue.as_deref().unwrap_or(&source.queue);
            self.work_keys(ingest.tenant, Some(ingest.identity), work, queue);
        }
    }

    fn todo(&mut self, worker: &Worker, todo: TodoId) {
        let tenant = worker.scope.tenant();
        self.tenant(tenant);
        self.todos.insert((tenant, todo));
    }

    fn claimants(&mut self, tenant: TenantId) {
        *self.claimants.entry(tenant).or_default() += 1;
    }

    fn work_keys(
        &mut self,
        tenant: TenantId,
        identity: Option<IdentityId>,
        work: &crate::Work,
        queue: &str,
    ) {
        if let Some(key) = &work.idempotency_key {
            self.todo_keys
                .insert((tenant, todo_key_hash(identity, key)));
        }
        if let Some(key) = &work.subject_key {
            self.subjects
                .insert((tenant, subject_key_hash(identity, queue, key)));
        }
    }

    fn new_todo(&mut self, create: &CreateTodo) {
        let tenant = create.worker.scope.tenant();
        self.tenant(tenant);
        let identity = owner_of(create);
        self.identities.extend(identity);
        if let Some(id) = create.event_id {
            self.events.insert((tenant, id));
        }
        let queue = create.work.queue.as_deref().unwrap_or_default();
        self.work_keys(tenant, identity, &create.work, queue);
    }

    fn arrival(&mut self, arrive: &Arrive, state: &State) {
        let Some(source) = state.sources.get(&arrive.source) else {
            return;
        };
        self.identities.extend(source.identity_id);
        let known = state
            .event_keys
            .get(&(arrive.source, arrive.external_key.clone()))
            .and_then(|key| state.events.get(key));
        match (known, &arrive.routing.work) {
            (Some(event), _) => {
                self.todos
                    .extend(event.todo_id.map(|id| (event.tenant_id, id)));
            }
            (None, Some(work)) => {
                let queue = work.queue.as_deref().unwrap_or(&source.queue);
                self.work_keys(arrive.tenant, source.identity_id, work, queue);
            }
            (None, None) => {}
        }
    }
}

/// The identity that a new todo belongs to.
pub(crate) fn owner_of(create: &CreateTodo) -> Option<IdentityId> {
    match create.worker.scope.reach() {
        Reach::Tenant => create.identity,
        Reach::Identity(own) => Some(own),
    }
}

impl ClaimSpec {
    /// What a claimant would take of the work that is given out now; `None` for nothing at all.
    pub(crate) fn new(worker: &Worker, queues: Option<&[String]>, state: &State) -> Option<Self> {
        let tenant = worker.scope.tenant();
        let closed = state.closed_queues(tenant);
        let wanted = match (queues, &worker.queues) {
            (Some(queues), _) => Some(queues),
            (None, granted) => granted.as_deref(),
        };
        let only = wanted.map(|names| {
            let mut only: Vec<String> = names
                .iter()
                .filter(|name| worker.sees_queue(name) && !closed.contains(*name))
                // The reserved queue is only looked into for who names it.
                .filter(|name| queues.is_some() || name.as_str() != crate::QUARANTINE_QUEUE)
                .cloned()
                .collect();
            only.sort_unstable();
            only.dedup();
            only
        });
        if only.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let mut except = Vec::new();
        if only.is_none() {
            except = closed.into_iter().collect();
            if !except.iter().any(|name| name == crate::QUARANTINE_QUEUE) {
                except.push(crate::QUARANTINE_QUEUE.to_owned());
            }
        }
        Some(Self {
            tenant,
            identity: match worker.scope.reach() {
                Reach::Tenant => None,
                Reach::Identity(own) => Some(own),
            },
            only,
            except,
            key: worker.key,
        })
    }

    /// Whether it would take work of a queue.
    pub fn takes_queue(&self, queue: &str) -> bool {
        match &self.only {
            Some(only) => only.iter().any(|name| name == queue),
            None => !self.except.iter().any(|name| name == queue),
        }
    }
}
