//! Claims.

use super::{
    attempt::{closed, prune},
    conflict, known, put,
};
use crate::{
    AttemptDisposition, AttemptOutcome, Change, ClaimNextTodo, ClaimSpec, ClaimTodo, Claimed,
    Decision, Lease, LeaseTerms, LeaseToken, Outcome, Refusal, State, TodoRow, TodoState, Worker,
    decide::{Context, Tick, active_tenant},
    is_queue_name, lease_token_hash,
    row::QUARANTINE_QUEUE,
};
use postroom_types::{ErrorCode, Timestamp, TodoId, limit};

pub(in crate::decide) fn claim(
    claim: &ClaimTodo,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    check_terms(&claim.terms)?;
    active_tenant(state, claim.worker.scope.tenant())?;
    let todo = known(&claim.worker, claim.todo, state)?;
    if !claim.worker.may_take(todo) {
        return Err(conflict("it is assigned to another key"));
    }
    if !can_be_taken(todo, context.now) {
        return Err(conflict(match todo.state {
            TodoState::Claimed => "somebody works on it",
            TodoState::Failed if !todo.is_dead_letter() => "its next try has not begun",
            _ => "it is closed",
        }));
    }
    // Who takes a lapsed lease over leaves as much in flight as there was.
    if todo.state != TodoState::Claimed && state.is_closed(todo.tenant_id, &todo.queue) {
        return Err(Refusal::because(
            ErrorCode::Deferred,
            "the queue is paused or has as much in flight as it may have",
        ));
    }
    Ok(take(todo, &claim.worker, &claim.terms, state, context))
}

pub(in crate::decide) fn claim_next(
    claim: &ClaimNextTodo,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    check_terms(&claim.terms)?;
    let tenant = claim.worker.scope.tenant();
    active_tenant(state, tenant)?;
    let queues = claim.queues.as_deref();
    let named = queues.unwrap_or_default();
    if queues.is_some_and(<[String]>::is_empty)
        || named.len() > limit::QUEUES_PER_KEY
        || !named.iter().all(|name| is_queue_name(name))
    {
        return Err(Refusal::argument("queue", "names of queues, 1 to 64"));
    }
    let first = (tenant, i64::MIN, 0, TodoId::from_parts(0, 0));
    let found = state
        .ready
        .range(first..)
        .take_while(|(owner, ..)| *owner == tenant)
        .filter_map(|(.., id)| state.todos.get(id))
        .find(|todo| {
            takes_from(queues, &todo.queue)
                && claim.worker.may_take(todo)
                && can_be_taken(todo, context.now)
                && !state.is_closed(tenant, &todo.queue)
        });
    if let Some(todo) = found {
        return Ok(take(todo, &claim.worker, &claim.terms, state, context));
    }
    let whole = match ClaimSpec::new(&claim.worker, queues, state) {
        None => true,
        Some(spec) => state.claims.get(&spec).copied().unwrap_or(false),
    };
    if whole {
        Ok(Decision::unchanged(Outcome::NothingToClaim))
    } else {
        // Others of this round took what was loaded; there may be more.
        Err(Refusal::Deferred)
    }
}

/// Whether a claim is for a queue. What waits for a reviewer is taken only by who names its queue: it
/// is not the next work of whoever may see it.
fn takes_from(named: Option<&[String]>, queue: &str) -> bool {
    match named {
        Some(named) => named.iter().any(|name| name == queue),
        None => queue != QUARANTINE_QUEUE,
    }
}

/// Whether a claim may take it: a lease that ended with the last try is a dead letter that the
/// sweep has not written yet.
fn can_be_taken(todo: &TodoRow, now: Timestamp) -> bool {
    let spent = todo.state == TodoState::Claimed && todo.attempt >= todo.max_attempts;
    todo.is_claimable(now) && !spent
}

fn check_terms(terms: &LeaseTerms) -> Result<(), Refusal> {
    seconds(terms.seconds)?;
    let claimant = terms.claimant.as_ref();
    let bad = |name: &String| {
        name.is_empty()
            || name.len() > limit::TODO_CLAIMANT_BYTES
            || name.chars().any(char::is_control)
    };
    if claimant.is_some_and(bad) {
        return Err(Refusal::argument("claimant", "1 to 128 bytes on one line"));
    }
    Ok(())
}

/// The length of a lease; one that is out of range is refused, never cut.
pub(super) fn seconds(asked: Option<u64>) -> Result<u64, Refusal> {
    let seconds = asked.unwrap_or(limit::TODO_LEASE_SECONDS);
    if !(1..=limit::TODO_LEASE_MOST_SECONDS).contains(&seconds) {
        return Err(Refusal::argument("lease_ttl_seconds", "1 to 86400"));
    }
    Ok(seconds)
}

pub(super) fn lease_end(now: Timestamp, seconds: u64) -> Timestamp {
    now.plus_ms(i64::try_from(seconds).unwrap_or(0).saturating_mul(1_000))
}

fn take(
    todo: &TodoRow,
    worker: &Worker,
    terms: &LeaseTerms,
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let now = context.now;
    let mut tick = Tick::new(state, todo.tenant_id, now);
    let mut changes = Vec::new();
    if let Some(lease) = &todo.lease {
        // Nobody spoke for it before its lease ended.
        let ended = closed(
            todo,
            lease,
            AttemptOutcome::LeaseExpired,
            AttemptDisposition::Requeued,
            now,
        );
        changes.push(Change::PutAttempt(Box::new(ended)));
    }
    let seq = todo.attempts_total + 1;
    changes.extend(prune(todo, seq));
    let token = LeaseToken(format!("lease_{:032x}", context.bits()));
    let seconds = terms.seconds.unwrap_or(limit::TODO_LEASE_SECONDS);
    let lease = Lease {
        seq,
        key_id: worker.key,
        claimant: terms.claimant.clone(),
        claimed_at: now,
        heartbeat_at: None,
        expires_at: lease_end(now, seconds),
        seconds,
        token_hash: lease_token_hash(&token.0),
        fenced: terms.require_fence,
        note: None,
    };
    let row = TodoRow {
        state: TodoState::Claimed,
        lease: Some(lease),
        attempt: todo.attempt + 1,
        attempts_total: seq,
        next_retry_at: None,
        updated_at: now,
        ..todo.clone()
    };
    let row = put(row, None, &mut tick, &mut changes);
    Decision {
        changes,
        outcome: Outcome::Claimed(Box::new(Claimed {
            row: *row,
            lease_token: token,
            payload: None,
        })),
    }
}
