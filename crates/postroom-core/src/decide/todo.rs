//! Todos opened, claimed and ended, and settings of queues.
//!
//! The states and what leads from one to another: a new todo is pending; a claim makes it claimed
//! and spends a try; its last word makes it done, parked with a growing pause, a dead letter once
//! its tries are spent, or pending again; a lease that ends without a word makes it pending, or a
//! dead letter.

mod attempt;
mod claim;

pub(super) use attempt::{End, end, heartbeat, sweep, undo};
pub(super) use claim::{claim, claim_next};

use super::{Context, Tick, active_tenant, known_identity, source::check_queue};
use crate::{
    Change, CreateTodo, Decision, Outcome, QueueRow, Refusal, RetryTodo, SetQueue, State, Work,
    Worker,
    needs::owner_of,
    row::{FeedKind, QUARANTINE_QUEUE, TodoRow, TodoState},
    subject_key_hash, todo_key_hash,
};
use postroom_types::{ErrorCode, IdentityId, SourceId, TenantId, Timestamp, TodoId, limit};

/// Work with what its todo is opened for.
pub(super) struct Opening<'a> {
    pub(super) tenant: TenantId,
    pub(super) identity: Option<IdentityId>,
    pub(super) queue: &'a str,
    pub(super) work: &'a Work,
    pub(super) source_id: Option<SourceId>,
    pub(super) source: Option<&'a str>,
    pub(super) event_id: Option<u64>,
    pub(super) payload_size: u64,
    pub(super) trace: Option<&'a str>,
}

/// The todo that stands for some work.
pub(super) struct Opened {
    pub(super) row: Box<TodoRow>,
    pub(super) created: bool,
    pub(super) changes: Vec<Change>,
}

/// Opens a todo; or finds the live one with the same key; or joins the waiting one on the same
/// subject.
pub(super) fn open(
    opening: &Opening<'_>,
    payload: Option<&String>,
    state: &State,
    tick: &mut Tick,
    context: &mut Context<'_>,
) -> Result<Opened, Refusal> {
    let work = opening.work;
    check_work(work)?;
    let queue = match work.quarantine_reason {
        Some(_) => QUARANTINE_QUEUE,
        None => {
            check_queue(opening.queue)?;
            opening.queue
        }
    };
    let (tenant, identity) = (opening.tenant, opening.identity);
    let by_key = work.idempotency_key.as_ref().and_then(|key| {
        let hash = todo_key_hash(identity, key);
        state.todo_keys.get(&(tenant, hash))
    });
    if let Some(known) = by_key.and_then(|id| state.todos.get(id)) {
        return Ok(Opened {
            row: Box::new(known.clone()),
            created: false,
            changes: Vec::new(),
        });
    }
    let by_subject = work.subject_key.as_ref().and_then(|key| {
        let hash = subject_key_hash(identity, queue, key);
        state.subjects.get(&(tenant, hash))
    });
    if let Some(known) = by_subject.and_then(|id| state.todos.get(id)) {
        return Ok(join(known, opening, tick, context));
    }
    let at = tick.at;
    let id = TodoId::from_parts(at.ulid_ms(), context.bits());
    let feed = tick.next_numbered(FeedKind::TodoCreated, identity, Some(id.bits()));
    let row = Box::new(TodoRow {
        id,
        tenant_id: tenant,
        identity_id: identity,
        num: feed.position,
        queue: queue.to_owned(),
        source_id: opening.source_id,
        source: opening.source.map(ToOwned::to_owned),
        kind: work.kind.clone(),
        title: title(&work.title),
        event_id: opening.event_id,
        last_event_id: opening.event_id,
        event_count: u64::from(opening.event_id.is_some()),
        payload_size: opening.payload_size,
        idempotency_key: work.idempotency_key.clone(),
        subject_key: work.subject_key.clone(),
        priority: work.priority,
        tags: work.tags.clone(),
        assignee: work.assignee,
        quarantine_reason: work.quarantine_reason,
        routing_trace: opening.trace.map(ToOwned::to_owned),
        state: TodoState::Pending,
        lease: None,
        attempt: 0,
        max_attempts: work.max_attempts.unwrap_or(limit::TODO_ATTEMPTS),
        attempts_total: 0,
        next_retry_at: None,
        dead_reason: None,
        created_at: at,
        updated_at: at,
        completed_at: None,
    });
    let changes = vec![
        Change::AddTodo {
            row: row.clone(),
            payload: payload.cloned(),
        },
        Change::Feed(feed),
    ];
    Ok(Opened {
        row,
        created: true,
        changes,
    })
}

fn check_work(work: &Work) -> Result<(), Refusal> {
    let keys = [
        ("idempotency_key", &work.idempotency_key),
        ("subject_key", &work.subject_key),
        ("kind", &work.kind),
    ];
    for (path, key) in keys {
        let size = key.as_ref().map_or(1, String::len);
        if size == 0 || size > limit::TODO_KEY_BYTES {
            return Err(Refusal::argument(path, "1 to 512 bytes"));
        }
    }
    if !(-limit::TODO_PRIORITY..=limit::TODO_PRIORITY).contains(&work.priority) {
        return Err(Refusal::argument("priority", "-100 to 100"));
    }
    let is_tag = |tag: &String| crate::is_label(tag);
    if work.tags.len() > limit::TODO_TAGS || !work.tags.iter().all(is_tag) {
        return Err(Refusal::argument(
            "tags",
            "at most 16, each 1 to 64 of a-z, 0-9, _, : and -",
        ));
    }
    let attempts = work.max_attempts.unwrap_or(limit::TODO_ATTEMPTS);
    if !(1..=limit::TODO_ATTEMPTS_MOST).contains(&attempts) {
        return Err(Refusal::argument("max_attempts", "1 to 100"));
    }
    Ok(())
}

/// One line of at most 200 characters.
fn title(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(limit::TODO_TITLE_CHARS)
        .collect();
    line.trim().to_owned()
}

fn join(
    known: &TodoRow,
    opening: &Opening<'_>,
    tick: &mut Tick,
    context: &mut Context<'_>,
) -> Opened {
    let row = TodoRow {
        event_count: known.event_count + u64::from(opening.event_id.is_some()),
        last_event_id: opening.event_id.or(known.last_event_id),
        priority: known.priority.max(opening.work.priority),
        updated_at: context.now,
        ..known.clone()
    };
    let mut changes = Vec::new();
    let row = put(row, None, tick, &mut changes);
    Opened {
        row,
        created: false,
        changes,
    }
}

/// Writes a todo as it becomes, told by the feed.
fn put(
    row: TodoRow,
    result: Option<String>,
    tick: &mut Tick,
    changes: &mut Vec<Change>,
) -> Box<TodoRow> {
    let mut feed = tick.next(FeedKind::TodoChanged, row.identity_id, Some(row.id.bits()));
    feed.num = Some(row.num);
    let row = Box::new(row);
    changes.push(Change::PutTodo {
        row: row.clone(),
        result,
    });
    changes.push(Change::Feed(feed));
    row
}

/// A todo that the worker sees; others do not exist for it.
fn known<'a>(worker: &Worker, todo: TodoId, state: &'a State) -> Result<&'a TodoRow, Refusal> {
    state
        .todos
        .get(&todo)
        .filter(|row| worker.sees(row))
        .ok_or(Refusal::new(ErrorCode::NotFound))
}

fn conflict(reason: &'static str) -> Refusal {
    Refusal::because(ErrorCode::Conflict, reason)
}

pub(super) fn create(
    create: &CreateTodo,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let tenant = create.worker.scope.tenant();
    active_tenant(state, tenant)?;
    let identity = owner_of(create);
    if let Some(identity) = identity {
        known_identity(state, tenant, identity)?;
    }
    let queue = create.work.queue.as_deref().unwrap_or_default();
    if create.work.quarantine_reason.is_none() {
        check_queue(queue)?;
    }
    if !create.worker.sees_queue(queue) {
        return Err(Refusal::because(
            ErrorCode::Forbidden,
            "the key was not granted this queue",
        ));
    }
    let payload_size = create.payload.as_ref().map_or(0, String::len);
    if payload_size > limit::TODO_PAYLOAD_BYTES {
        return Err(Refusal::argument("payload", "at most 64 KiB of JSON"));
    }
    let event = create.event_id.map(|id| state.events.get(&(tenant, id)));
    let event = match event {
        Some(Some(event)) if reaches(create, event.identity_id) => Some(event),
        Some(_) => return Err(ErrorCode::NotFound.into()),
        None => None,
    };
    let mut tick = Tick::new(state, tenant, context.now);
    let opening = Opening {
        tenant,
        identity,
        queue,
        work: &create.work,
        source_id: event.and_then(|event| event.source_id),
        source: create
            .source
            .as_deref()
            .or(event.map(|event| event.provider.as_str())),
        event_id: create.event_id,
        payload_size: match (payload_size, event) {
            (0, Some(event)) => event.payload_size,
            (size, _) => size as u64,
        },
        trace: None,
    };
    let opened = open(&opening, create.payload.as_ref(), state, &mut tick, context)?;
    Ok(Decision {
        changes: opened.changes,
        outcome: Outcome::Todo {
            row: opened.row,
            created: opened.created,
        },
    })
}

pub(super) fn retry(
    retry: &RetryTodo,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(&retry.worker, retry.todo, state)?;
    if known.state != TodoState::Failed {
        return Err(conflict("only a failed todo can be tried again"));
    }
    let row = TodoRow {
        state: TodoState::Pending,
        attempt: 0,
        next_retry_at: None,
        dead_reason: None,
        completed_at: None,
        updated_at: context.now,
        ..known.clone()
    };
    let other = row
        .dedup()
        .and_then(|key| state.todo_keys.get(&(row.tenant_id, key)));
    if other.is_some_and(|id| *id != row.id) {
        return Err(conflict("another todo with the same key is live"));
    }
    let mut tick = Tick::new(state, row.tenant_id, context.now);
    let mut changes = Vec::new();
    let row = put(row, None, &mut tick, &mut changes);
    Ok(Decision {
        changes,
        outcome: Outcome::Todo {
            row,
            created: false,
        },
    })
}

/// Removes what ended before an instant.
pub(super) fn remove_ended(
    tenant: TenantId,
    todos: &[TodoId],
    before: Timestamp,
    state: &State,
) -> Decision {
    let ended = |row: &&TodoRow| {
        row.tenant_id == tenant && !row.is_live() && row.completed_at.is_some_and(|at| at < before)
    };
    let found = todos.iter().take(limit::TODO_SWEEP);
    let changes: Vec<Change> = found
        .filter_map(|id| state.todos.get(id))
        .filter(ended)
        .map(|row| Change::RemoveTodo {
            tenant_id: row.tenant_id,
            id: row.id,
        })
        .collect();
    // No row of the feed: what is gone is nothing that anybody waits for.
    Decision {
        outcome: Outcome::Pruned(changes.len() as u64),
        changes,
    }
}

pub(super) fn set_queue(
    set: &SetQueue,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let tenant = set.scope.tenant();
    active_tenant(state, tenant)?;
    if set.queue != QUARANTINE_QUEUE {
        check_queue(&set.queue)?;
    }
    let bound = set.max_in_flight.flatten();
    if bound.is_some_and(|most| !(1..=limit::QUEUE_IN_FLIGHT).contains(&most)) {
        return Err(Refusal::argument("max_in_flight", "1 to 100000"));
    }
    let known = state.queues.get(&(tenant, set.queue.clone()));
    let count = state
        .queues
        .range((tenant, String::new())..)
        .take_while(|((owner, _), _)| *owner == tenant)
        .count();
    if known.is_none() && count >= limit::QUEUES_PER_TENANT {
        return Err(ErrorCode::CeilingExceeded.into());
    }
    let row = QueueRow {
        tenant_id: tenant,
        name: set.queue.clone(),
        paused: set
            .paused
            .unwrap_or_else(|| known.is_some_and(|row| row.paused)),
        max_in_flight: match set.max_in_flight {
            Some(bound) => bound,
            None => known.and_then(|row| row.max_in_flight),
        },
        updated_at: context.now,
    };
    let mut tick = Tick::new(state, tenant, context.now);
    Ok(Decision {
        changes: vec![
            Change::PutQueue(row.clone()),
            Change::Feed(tick.next(FeedKind::QueueChanged, None, None)),
        ],
        outcome: Outcome::Queue(row),
    })
}

/// Whether the creator may see what belongs to `identity`.
fn reaches(create: &CreateTodo, identity: Option<IdentityId>) -> bool {
    match create.worker.scope.reach() {
        postroom_types::Reach::Tenant => true,
        postroom_types::Reach::Identity(own) => identity == Some(own),
    }
}
