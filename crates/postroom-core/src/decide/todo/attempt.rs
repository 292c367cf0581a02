//! What is said of an attempt after its claim, and what is done when nothing is said.

use super::{
    claim::{lease_end, seconds},
    conflict, known, put,
};
use crate::{
    AttemptDisposition, AttemptOutcome, AttemptRow, Change, DeadReason, Decision, EndAttempt,
    HeartbeatTodo, Lease, Outcome, Refusal, State, SweepOutcome, TodoRow, TodoState, UndoClaim,
    Worker,
    decide::{Context, Tick, active_tenant},
    lease_token_hash,
};
use postroom_types::{ErrorCode, TenantId, Timestamp, TodoId, limit};

/// The last words that an attempt may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::decide) enum End {
    /// Done.
    Complete,
    /// It did not work.
    Fail,
    /// Given back.
    Release,
}

impl End {
    fn outcome(self) -> AttemptOutcome {
        match self {
            Self::Complete => AttemptOutcome::Completed,
            Self::Fail => AttemptOutcome::Failed,
            Self::Release => AttemptOutcome::Released,
        }
    }
}

/// An attempt as it ends.
pub(super) fn closed(
    todo: &TodoRow,
    lease: &Lease,
    outcome: AttemptOutcome,
    disposition: AttemptDisposition,
    now: Timestamp,
) -> AttemptRow {
    AttemptRow {
        tenant_id: todo.tenant_id,
        todo_id: todo.id,
        seq: lease.seq,
        attempt: todo.attempt,
        key_id: lease.key_id,
        claimant: lease.claimant.clone(),
        claimed_at: lease.claimed_at,
        last_heartbeat_at: lease.heartbeat_at,
        lease_expires_at: lease.expires_at,
        token_hash: lease.token_hash,
        ended_at: now,
        outcome,
        disposition,
        summary: None,
        summary_truncated: false,
        artifact: None,
        note: lease.note.clone(),
        late_at: None,
        late_outcome: None,
        late_result: None,
    }
}

/// Attempts that are dropped when attempt `seq` begins, so that at most 50 are kept with it.
pub(super) fn prune(todo: &TodoRow, seq: u64) -> Option<Change> {
    let through_seq = seq.checked_sub(limit::TODO_ATTEMPTS_KEPT)?;
    (through_seq > 0).then_some(Change::PruneAttempts {
        tenant_id: todo.tenant_id,
        todo_id: todo.id,
        through_seq,
    })
}

/// The todo after an attempt that came to nothing, by its own word or without one.
fn after_failure(todo: &TodoRow, lapsed: bool, now: Timestamp) -> (TodoRow, AttemptDisposition) {
    let mut row = TodoRow {
        lease: None,
        updated_at: now,
        ..todo.clone()
    };
    if todo.attempt >= todo.max_attempts {
        row.state = TodoState::Failed;
        row.dead_reason = Some(if lapsed {
            DeadReason::LeaseExpired
        } else {
            DeadReason::AttemptsExhausted
        });
        row.completed_at = Some(now);
        (row, AttemptDisposition::DeadLettered)
    } else if lapsed {
        row.state = TodoState::Pending;
        (row, AttemptDisposition::Requeued)
    } else {
        row.state = TodoState::Failed;
        row.next_retry_at = Some(now.plus_ms(backoff_ms(todo.attempt)));
        (row, AttemptDisposition::RetryScheduled)
    }
}

/// 30 seconds after the first failure, doubled by each one after, up to 15 minutes.
fn backoff_ms(attempt: u64) -> i64 {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    let pause = limit::TODO_BACKOFF_MS
        .saturating_mul(2_u64.saturating_pow(doublings))
        .min(limit::TODO_BACKOFF_MOST_MS);
    i64::try_from(pause).unwrap_or(0)
}

/// Why a word on a claim is not taken.
enum Unheld {
    /// As it is.
    Refused(Refusal),
    /// It comes too late: the lease ended, and nobody spoke for it yet.
    Lapsed,
    /// It is about a claim that is over.
    Over(Refusal),
}

/// Why there is no claim to speak of.
fn unclaimed(todo: &TodoRow) -> &'static str {
    match todo.state {
        TodoState::Done => "it is done already",
        TodoState::Failed if todo.is_dead_letter() => "it is a dead letter",
        TodoState::Failed => "its last attempt failed, and it waits for the next",
        _ => "nobody has claimed it",
    }
}

/// The lease that the worker speaks of, if it holds.
fn held<'a>(
    worker: &Worker,
    todo: &'a TodoRow,
    token: Option<&str>,
    now: Timestamp,
) -> Result<&'a Lease, Unheld> {
    let lease = match (&todo.lease, todo.state) {
        (Some(lease), TodoState::Claimed) => lease,
        _ => return Err(Unheld::Over(conflict(unclaimed(todo)))),
    };
    if worker.key.is_none() && token.is_none() {
        // A person at the board ends what a claimant does not; one who shows a token speaks of that
        // claim and no other.
        return Ok(lease);
    }
    if worker.key.is_some() && lease.key_id != worker.key {
        return Err(Unheld::Over(conflict("somebody else works on it")));
    }
    match token {
        Some(token) if lease_token_hash(token) != lease.token_hash => {
            return Err(Unheld::Over(conflict(
                "the lease token is of another claim",
            )));
        }
        None if lease.fenced => {
            return Err(Unheld::Refused(conflict("the claim needs its lease token")));
        }
        _ => {}
    }
    if lease.expires_at <= now {
        return Err(Unheld::Lapsed);
    }
    Ok(lease)
}

const LATE: &str = "the lease had ended";

pub(in crate::decide) fn heartbeat(
    beat: &HeartbeatTodo,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, beat.worker.scope.tenant())?;
    let todo = known(&beat.worker, beat.todo, state)?;
    let seconds = seconds(beat.seconds)?;
    let note = beat.note.as_ref();
    if note.is_some_and(|note| note.is_empty() || note.len() > limit::TODO_NOTE_BYTES) {
        return Err(Refusal::argument("note", "1 to 512 bytes"));
    }
    let now = context.now;
    let lease = match held(&beat.worker, todo, beat.lease_token.as_deref(), now) {
        Ok(lease) => lease,
        Err(Unheld::Lapsed) => return Err(conflict(LATE)),
        Err(Unheld::Refused(refusal) | Unheld::Over(refusal)) => return Err(refusal),
    };
    let row = Box::new(TodoRow {
        lease: Some(Lease {
            heartbeat_at: Some(now),
            expires_at: lease_end(now, seconds),
            seconds,
            note: beat.note.clone().or_else(|| lease.note.clone()),
            ..lease.clone()
        }),
        updated_at: now,
        ..todo.clone()
    });
    // No row of the feed: nobody waits for it, and it would wake every claimant each time.
    Ok(Decision {
        changes: vec![Change::PutTodo {
            row: row.clone(),
            result: None,
        }],
        outcome: Outcome::Todo {
            row,
            created: false,
        },
    })
}

/// What a claimant says at the end, checked and cut.
struct Words {
    summary: Option<String>,
    truncated: bool,
    artifact: Option<String>,
}

impl Words {
    fn read(end: &EndAttempt) -> Result<Self, Refusal> {
        let size = end.result.as_ref().map_or(0, String::len);
        if size > limit::TODO_RESULT_BYTES {
            return Err(Refusal::argument("result", "at most 64 KiB of JSON"));
        }
        let is_artifact = |text: &String| {
            (text.starts_with("mcp://") || text.starts_with("https://"))
                && text.len() <= limit::TODO_ARTIFACT_BYTES
                && !text.contains(|c: char| c.is_control() || c.is_whitespace())
        };
        if end.artifact.as_ref().is_some_and(|text| !is_artifact(text)) {
            return Err(Refusal::argument(
                "artifact",
                "an mcp:// or https address of at most 512 bytes",
            ));
        }
        let mut summary = end.summary.clone();
        let mut truncated = false;
        if let Some(text) = &mut summary
            && text.len() > limit::TODO_SUMMARY_BYTES
        {
            truncated = true;
            text.truncate(text.floor_char_boundary(limit::TODO_SUMMARY_BYTES));
        }
        Ok(Self {
            summary,
            truncated,
            artifact: end.artifact.clone(),
        })
    }

    fn into_attempt(self, attempt: AttemptRow) -> AttemptRow {
        AttemptRow {
            summary: self.summary,
            summary_truncated: self.truncated,
            artifact: self.artifact,
            ..attempt
        }
    }
}

pub(in crate::decide) fn end(
    word: End,
    end: &EndAttempt,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, end.worker.scope.tenant())?;
    let todo = known(&end.worker, end.todo, state)?;
    let words = Words::read(end)?;
    let now = context.now;
    let lease = match held(&end.worker, todo, end.lease_token.as_deref(), now) {
        Ok(lease) => lease,
        Err(Unheld::Refused(refusal)) => return Err(refusal),
        Err(Unheld::Lapsed) => return Ok(too_late(word, end, words, todo, state, context)),
        Err(Unheld::Over(refusal)) => {
            return over(word, end, words, todo, refusal, state, context);
        }
    };
    let (row, disposition) = match word {
        End::Complete => (
            TodoRow {
                state: TodoState::Done,
                lease: None,
                updated_at: now,
                completed_at: Some(now),
                ..todo.clone()
            },
            AttemptDisposition::Done,
        ),
        End::Fail => after_failure(todo, false, now),
        End::Release => (
            TodoRow {
                state: TodoState::Pending,
                lease: None,
                updated_at: now,
                ..todo.clone()
            },
            AttemptDisposition::Requeued,
        ),
    };
    let attempt = closed(todo, lease, word.outcome(), disposition, now);
    let mut changes = vec![Change::PutAttempt(Box::new(words.into_attempt(attempt)))];
    let mut tick = Tick::new(state, todo.tenant_id, now);
    let result = end.result.clone().filter(|_| word != End::Release);
    let row = put(row, result, &mut tick, &mut changes);
    Ok(Decision {
        changes,
        outcome: Outcome::Todo {
            row,
            created: false,
        },
    })
}

/// The claimant speaks after its lease ended, and nobody has taken the todo since. What it says is
/// kept beside the attempt and changes nothing of the todo.
fn too_late(
    word: End,
    end: &EndAttempt,
    words: Words,
    todo: &TodoRow,
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let now = context.now;
    let mut tick = Tick::new(state, todo.tenant_id, now);
    let mut changes = Vec::new();
    if let Some(lease) = &todo.lease {
        let (row, disposition) = after_failure(todo, true, now);
        let attempt = closed(todo, lease, AttemptOutcome::LeaseExpired, disposition, now);
        let attempt = late(word, end, words, attempt, now);
        changes.push(Change::PutAttempt(Box::new(attempt)));
        put(row, None, &mut tick, &mut changes);
    }
    Decision {
        changes,
        outcome: Outcome::Recorded(conflict(LATE)),
    }
}

fn late(
    word: End,
    end: &EndAttempt,
    words: Words,
    attempt: AttemptRow,
    now: Timestamp,
) -> AttemptRow {
    if word == End::Release {
        return attempt;
    }
    AttemptRow {
        late_at: Some(now),
        late_outcome: Some(word.outcome()),
        late_result: end.result.clone(),
        ..words.into_attempt(attempt)
    }
}

/// The claimant speaks of a claim that is over: the same word again is answered as the first time;
/// one that comes after the lease was swept or taken over is kept beside its attempt.
fn over(
    word: End,
    end: &EndAttempt,
    words: Words,
    todo: &TodoRow,
    refusal: Refusal,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let hash = end.lease_token.as_deref().map(lease_token_hash);
    let attempts = state.attempts.get(&todo.id);
    let spoken_of = attempts.and_then(|attempts| {
        attempts.values().rev().find(|attempt| match hash {
            Some(hash) => attempt.token_hash == hash,
            None => attempt.key_id.is_some() && attempt.key_id == end.worker.key,
        })
    });
    let Some(attempt) = spoken_of.filter(|attempt| {
        // A person is believed by the token.
        end.worker.key.is_none() || attempt.key_id == end.worker.key
    }) else {
        return Err(refusal);
    };
    if hash.is_some() && attempt.outcome == word.outcome() {
        return Ok(Decision::unchanged(Outcome::Todo {
            row: Box::new(todo.clone()),
            created: false,
        }));
    }
    let lapsed = matches!(
        attempt.outcome,
        AttemptOutcome::LeaseExpired | AttemptOutcome::Reaped
    );
    if !lapsed || attempt.late_at.is_some() || word == End::Release {
        return Err(refusal);
    }
    let attempt = late(word, end, words, attempt.clone(), context.now);
    Ok(Decision {
        changes: vec![Change::PutAttempt(Box::new(attempt))],
        outcome: Outcome::Recorded(conflict(LATE)),
    })
}

/// The claim never reached its claimant: the todo waits as if it had not been claimed. A claim that
/// is over already stays as it is.
pub(in crate::decide) fn undo(
    undo: &UndoClaim,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let todo = state
        .todos
        .get(&undo.todo)
        .filter(|row| row.tenant_id == undo.scope.tenant())
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    let same = todo
        .lease
        .as_ref()
        .is_some_and(|lease| lease.seq == undo.seq);
    if !same {
        return Ok(Decision::unchanged(Outcome::Todo {
            row: Box::new(todo.clone()),
            created: false,
        }));
    }
    let row = TodoRow {
        state: TodoState::Pending,
        lease: None,
        attempt: todo.attempt.saturating_sub(1),
        updated_at: context.now,
        ..todo.clone()
    };
    let mut tick = Tick::new(state, todo.tenant_id, context.now);
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

/// Puts back, or gives up, what is overdue and loaded.
pub(in crate::decide) fn sweep(
    tenant: TenantId,
    most: usize,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let now = context.now;
    let most = most.min(limit::TODO_SWEEP);
    let mut due: Vec<(Option<Timestamp>, TodoId)> = state
        .todos
        .values()
        .filter(|todo| todo.tenant_id == tenant && todo.is_due(now))
        .map(|todo| (todo.due_at(), todo.id))
        .collect();
    due.sort_unstable();
    let mut swept = SweepOutcome {
        more: due.len() >= most,
        ..SweepOutcome::default()
    };
    let mut tick = Tick::new(state, tenant, now);
    let mut changes = Vec::new();
    let found = due.iter().take(most);
    for todo in found.filter_map(|(_, id)| state.todos.get(id)) {
        let row = match &todo.lease {
            Some(lease) => {
                let (row, disposition) = after_failure(todo, true, now);
                let attempt = closed(todo, lease, AttemptOutcome::Reaped, disposition, now);
                changes.push(Change::PutAttempt(Box::new(attempt)));
                row
            }
            None => TodoRow {
                state: TodoState::Pending,
                next_retry_at: None,
                updated_at: now,
                ..todo.clone()
            },
        };
        match (row.state, &todo.lease) {
            (TodoState::Failed, _) => swept.dead_lettered += 1,
            (_, Some(_)) => swept.reaped += 1,
            (_, None) => swept.retried += 1,
        }
        put(row, None, &mut tick, &mut changes);
    }
    Ok(Decision {
        changes,
        outcome: Outcome::Swept(swept),
    })
}
