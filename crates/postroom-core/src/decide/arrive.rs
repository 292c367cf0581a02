//! Verified deliveries, and events whose work goes on after their commit.

use super::{
    Context, Tick, active_tenant,
    arrival::{blob, check_size},
    known_identity,
    todo::{Opening, open},
};
use crate::{
    Arrive, ArriveOutcome, Change, Decision, Disposition, EventRow, EventState, Family, OldEvent,
    OpenedTodo, Outcome, PostponeEvent, Refusal, SettleEvent, SourceRow, SourceState, State,
    needs::once_hash,
    row::{FeedKind, FeedRow},
};
use postroom_types::{ErrorCode, TenantId, Timestamp, limit};

pub(super) fn arrive(
    arrive: &Arrive,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    check_size(&arrive.raw)?;
    active_tenant(state, arrive.tenant)?;
    let source = source(arrive, state)?;
    if let Some(identity) = source.identity_id {
        known_identity(state, arrive.tenant, identity)?;
    }
    let known = state
        .event_keys
        .get(&(source.id, arrive.external_key.clone()))
        .and_then(|key| state.events.get(key));
    if let Some(known) = known {
        return Ok(again(known, source, state, context));
    }
    let trace = arrive.routing.trace.as_ref();
    if trace.is_some_and(|trace| trace.len() > limit::ROUTING_TRACE_BYTES) {
        return Err(Refusal::argument("routing", "the trace is too long"));
    }
    let mut tick = Tick::new(state, arrive.tenant, context.now);
    let feed = tick.next_numbered(FeedKind::EventReceived, source.identity_id, None);
    let mut row = event(arrive, source, &feed);
    let mut changes = vec![blob(arrive.tenant, &arrive.raw)];
    let mut outcome = ArriveOutcome {
        event_id: row.id,
        received_at: row.received_at,
        disposition: row.disposition,
        duplicate: false,
        once_repeat: false,
        todo: None,
    };
    changes.push(Change::Feed(feed));
    let once = arrive.routing.once.as_deref().map(once_hash);
    outcome.once_repeat = once.is_some_and(|key| state.once_keys.contains(&(source.id, key)));
    let wanted = row.disposition != Disposition::Dropped && !outcome.once_repeat;
    if let Some(work) = arrive.routing.work.as_ref().filter(|_| wanted) {
        let opening = Opening {
            tenant: arrive.tenant,
            identity: source.identity_id,
            queue: work.queue.as_deref().unwrap_or(&source.queue),
            work,
            source_id: Some(source.id),
            source: Some(&source.provider),
            event_id: Some(row.id),
            payload_size: arrive.raw.size,
            trace: row.routing_trace.as_deref(),
        };
        let opened = open(&opening, None, state, &mut tick, context)?;
        row.todo_id = Some(opened.row.id);
        outcome.todo = Some(OpenedTodo {
            id: opened.row.id,
            queue: opened.row.queue.clone(),
            created: opened.created,
        });
        changes.extend(opened.changes);
        if let Some(key) = once {
            changes.push(Change::AddOnce {
                tenant_id: arrive.tenant,
                source_id: source.id,
                key,
                event_id: row.id,
            });
        }
    }
    if outcome.once_repeat {
        row.routing_trace = row.routing_trace.map(|trace| with_repeat(&trace));
    }
    changes.push(Change::PutEvent(Box::new(row)));
    changes.push(Change::CountDelivery {
        tenant_id: arrive.tenant,
        source_id: source.id,
        at: context.now,
        repeated: false,
    });
    Ok(Decision {
        changes,
        outcome: Outcome::Arrived(outcome),
    })
}

/// The source, if the delivery was judged by what it is now and it takes deliveries.
fn source<'a>(arrive: &Arrive, state: &'a State) -> Result<&'a SourceRow, Refusal> {
    let source = state
        .sources
        .get(&arrive.source)
        .filter(|row| row.tenant_id == arrive.tenant)
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    if source.version != arrive.source_version {
        return Err(Refusal::SourceChanged);
    }
    match source.state {
        SourceState::Active => Ok(source),
        SourceState::AwaitingSecret => Err(ErrorCode::AwaitingSecret.into()),
        SourceState::Disabled => Err(ErrorCode::NotFound.into()),
    }
}

/// The same delivery again: counted, and nothing else. What was dropped stays dropped.
fn again(
    known: &EventRow,
    source: &SourceRow,
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let todo = known.todo_id.and_then(|id| state.todos.get(&id));
    let outcome = ArriveOutcome {
        event_id: known.id,
        received_at: known.received_at,
        disposition: known.disposition,
        duplicate: true,
        once_repeat: false,
        todo: todo.map(|todo| OpenedTodo {
            id: todo.id,
            queue: todo.queue.clone(),
            created: false,
        }),
    };
    let row = EventRow {
        redeliveries: known.redeliveries + 1,
        last_redelivered_at: Some(context.now),
        ..known.clone()
    };
    // No row of the feed: nothing became readable that was not.
    Decision {
        changes: vec![
            Change::PutEvent(Box::new(row)),
            Change::CountDelivery {
                tenant_id: known.tenant_id,
                source_id: source.id,
                at: context.now,
                repeated: true,
            },
        ],
        outcome: Outcome::Arrived(outcome),
    }
}

fn event(arrive: &Arrive, source: &SourceRow, feed: &FeedRow) -> EventRow {
    let disposition = arrive.routing.disposition;
    let pending = arrive.carries_mail && disposition == Disposition::Routed;
    EventRow {
        tenant_id: arrive.tenant,
        id: feed.position,
        identity_id: source.identity_id,
        provider: source.provider.clone(),
        family: arrive.family,
        event_type: arrive.event_type.clone(),
        external_key: Some(arrive.external_key.clone()),
        trust_mode: arrive.trust_mode,
        verified: arrive.verified,
        verify_detail: arrive.verify_detail.clone(),
        content_type: arrive.content_type.clone(),
        headers: arrive.headers.clone(),
        sha256: arrive.raw.sha256,
        payload_size: arrive.raw.size,
        source_ip: arrive.source_ip.clone(),
        mail_from: None,
        delivered_to: None,
        received_at: feed.at,
        occurred_at: arrive.occurred_at,
        disposition,
        state: if pending {
            EventState::Pending
        } else {
            EventState::Done
        },
        message_id: None,
        detail: None,
        source_id: Some(source.id),
        carries_mail: arrive.carries_mail,
        redeliveries: 0,
        last_redelivered_at: None,
        routing_trace: arrive.routing.trace.clone(),
        todo_id: None,
        tries: 0,
        next_try_at: None,
    }
}

/// The trace of a decision whose rule had opened its one todo before.
fn with_repeat(trace: &str) -> String {
    match serde_json::from_str(trace) {
        Ok(serde_json::Value::Object(mut map)) => {
            map.insert("once".to_owned(), "repeat".into());
            serde_json::Value::Object(map).to_string()
        }
        _ => trace.to_owned(),
    }
}

pub(super) fn settle(
    settle: &SettleEvent,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = state
        .events
        .get(&(settle.tenant, settle.event_id))
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    if known.state == EventState::Done {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let row = EventRow {
        state: EventState::Done,
        message_id: settle.message_id.or(known.message_id),
        detail: settle.detail.clone(),
        next_try_at: None,
        ..known.clone()
    };
    Ok(changed(row, state, context))
}

pub(super) fn postpone(
    postpone: &PostponeEvent,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = state
        .events
        .get(&(postpone.tenant, postpone.event_id))
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    if known.state != EventState::Pending {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let row = EventRow {
        tries: known.tries + 1,
        next_try_at: Some(postpone.next_try_at),
        detail: postpone.detail.clone(),
        ..known.clone()
    };
    Ok(changed(row, state, context))
}

/// Removes deliveries received before an instant; `seen` is the position at which their bytes were
/// looked for elsewhere.
pub(super) fn remove_old(
    tenant: TenantId,
    events: &[OldEvent],
    (before, seen): (Timestamp, u64),
    state: &State,
    context: &Context<'_>,
) -> Decision {
    // A todo's payload is its event's; one that this batch opened may name an event of long ago.
    let has_todo = |row: &EventRow| {
        row.todo_id.is_some_and(|id| state.todos.contains_key(&id))
            || state
                .todos
                .values()
                .any(|todo| todo.event_id == Some(row.id) || todo.last_event_id == Some(row.id))
    };
    let may_go = |row: &EventRow| {
        row.family != Family::Mail
            && !row.carries_mail
            && row.message_id.is_none()
            && row.state != EventState::Pending
            && row.received_at < before
            && row.last_redelivered_at.is_none_or(|at| at < before)
            && !has_todo(row)
    };
    let found = events.iter().take(limit::EVENT_SWEEP);
    let changes: Vec<Change> = found
        .filter_map(|old| Some((old, state.events.get(&(tenant, old.id))?)))
        .filter(|(_, row)| may_go(row))
        .map(|(old, row)| Change::RemoveEvent {
            tenant_id: tenant,
            id: row.id,
            bytes: old.alone.then_some((row.sha256, seen)),
            at: context.now,
        })
        .collect();
    // No row of the feed: what is gone is nothing that anybody waits for.
    Decision {
        outcome: Outcome::Pruned(changes.len() as u64),
        changes,
    }
}

fn changed(row: EventRow, state: &State, context: &Context<'_>) -> Decision {
    let mut tick = Tick::new(state, row.tenant_id, context.now);
    let mut feed = tick.next(FeedKind::EventChanged, row.identity_id, None);
    feed.num = Some(row.id);
    Decision {
        changes: vec![Change::PutEvent(Box::new(row)), Change::Feed(feed)],
        outcome: Outcome::Done,
    }
}
