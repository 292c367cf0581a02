//! What can be asked about todos and queues.

use crate::{Worker, row::QuarantineReason};
use postroom_types::{IdentityId, KeyId, TenantScope, TodoId};

/// Work to open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    /// The queue; the source's own when `None`.
    pub queue: Option<String>,
    /// What kind of work it is.
    pub kind: Option<String>,
    /// One line for people; control characters go, and it is cut at 200 characters.
    pub title: String,
    /// No second todo is opened while one of the same owner with this key is live.
    pub idempotency_key: Option<String>,
    /// What it is about: while a todo of the same queue on it waits for somebody, this joins it.
    pub subject_key: Option<String>,
    /// Larger goes first, -100 to 100.
    pub priority: i64,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The only key that may claim it.
    pub assignee: Option<KeyId>,
    /// Tries it has; 5 when `None`.
    pub max_attempts: Option<u64>,
    /// Why it goes to the reserved queue; only then that queue may be named.
    pub quarantine_reason: Option<QuarantineReason>,
}

/// See [`crate::Command::CreateTodo`].
#[derive(Debug, Clone)]
pub struct CreateTodo {
    /// Who asks; the queue must be one it sees.
    pub worker: Worker,
    /// The identity it belongs to; that of the scope when the scope is an identity's.
    pub identity: Option<IdentityId>,
    /// The work; its queue must be named.
    pub work: Work,
    /// What its creator calls its origin.
    pub source: Option<String>,
    /// Its payload, JSON, when it is not that of an event.
    pub payload: Option<String>,
    /// The event it is for.
    pub event_id: Option<u64>,
}

/// How a claim holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaseTerms {
    /// How long, 1 to 86,400 seconds; 300 when `None`.
    pub seconds: Option<u64>,
    /// Whether every later word needs the token.
    pub require_fence: bool,
    /// The name that the claimant gives itself, at most 128 bytes.
    pub claimant: Option<String>,
}

/// See [`crate::Command::ClaimTodo`].
#[derive(Debug, Clone)]
pub struct ClaimTodo {
    /// Who asks.
    pub worker: Worker,
    /// The todo.
    pub todo: TodoId,
    /// How it holds.
    pub terms: LeaseTerms,
}

/// See [`crate::Command::ClaimNextTodo`].
#[derive(Debug, Clone)]
pub struct ClaimNextTodo {
    /// Who asks.
    pub worker: Worker,
    /// Only from these queues; without, from all that it sees but the reserved one.
    pub queues: Option<Vec<String>>,
    /// How it holds.
    pub terms: LeaseTerms,
}

/// See [`crate::Command::HeartbeatTodo`].
#[derive(Debug, Clone)]
pub struct HeartbeatTodo {
    /// Who asks.
    pub worker: Worker,
    /// The todo.
    pub todo: TodoId,
    /// The token of its claim.
    pub lease_token: Option<String>,
    /// How long from now, 1 to 86,400 seconds; 300 when `None`.
    pub seconds: Option<u64>,
    /// A word on how it goes, at most 512 bytes.
    pub note: Option<String>,
}

/// The last word on an attempt: see [`crate::Command::CompleteTodo`], [`crate::Command::FailTodo`],
/// [`crate::Command::ReleaseTodo`].
#[derive(Debug, Clone)]
pub struct EndAttempt {
    /// Who asks.
    pub worker: Worker,
    /// The todo.
    pub todo: TodoId,
    /// The token of its claim.
    pub lease_token: Option<String>,
    /// What came of it, JSON; not with a release.
    pub result: Option<String>,
    /// What is to be said of it; cut at 2,048 bytes.
    pub summary: Option<String>,
    /// Where what came of it is kept: `mcp://` or an https address, at most 512 bytes.
    pub artifact: Option<String>,
}

/// See [`crate::Command::UndoClaim`].
#[derive(Debug, Clone)]
pub struct UndoClaim {
    /// The tenant.
    pub scope: TenantScope,
    /// The todo.
    pub todo: TodoId,
    /// Number of the attempt that was begun.
    pub seq: u64,
}

/// See [`crate::Command::RetryTodo`].
#[derive(Debug, Clone)]
pub struct RetryTodo {
    /// Who asks.
    pub worker: Worker,
    /// The failed todo.
    pub todo: TodoId,
}

/// See [`crate::Command::SetQueue`].
#[derive(Debug, Clone)]
pub struct SetQueue {
    /// Who asks.
    pub scope: TenantScope,
    /// The queue.
    pub queue: String,
    /// Whether it gives out no work; `None` leaves it.
    pub paused: Option<bool>,
    /// How much may be worked on at once; `None` leaves it, `Some(None)` lifts the bound.
    pub max_in_flight: Option<Option<u64>>,
}
