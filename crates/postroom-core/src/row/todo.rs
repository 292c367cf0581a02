//! Work: todos, their attempts, settings of queues.

use crate::word::words;
use postroom_types::{IdentityId, KeyId, SourceId, TenantId, TenantScope, Timestamp, TodoId};

words! {
    /// How far a todo is.
    TodoState {
        /// It waits for somebody.
        Pending = "pending",
        /// Somebody works on it under a lease.
        Claimed = "claimed",
        /// It is done.
        Done = "done",
        /// It failed: parked until its next try, or for good as a dead letter.
        Failed = "failed",
    }
    /// How an attempt ended.
    AttemptOutcome {
        /// Done.
        Completed = "completed",
        /// Given up by who had it.
        Failed = "failed",
        /// Given back by who had it.
        Released = "released",
        /// Its lease had ended when somebody else took the todo.
        LeaseExpired = "lease_expired",
        /// Its lease had ended when the sweep came by.
        Reaped = "reaped",
    }
    /// What became of the todo after an attempt.
    AttemptDisposition {
        /// It was done.
        Done = "done",
        /// It waits for its next try.
        RetryScheduled = "retry_scheduled",
        /// No try is left.
        DeadLettered = "dead_lettered",
        /// It waits for somebody again.
        Requeued = "requeued",
    }
    /// Why a todo is a dead letter.
    DeadReason {
        /// Its last try failed.
        AttemptsExhausted = "attempts_exhausted",
        /// The lease of its last try ended without a word.
        LeaseExpired = "lease_expired",
    }
    /// Who had an attempt.
    ClaimerKind {
        /// A key.
        Key = "key",
        /// A person at the board.
        Person = "person",
    }
    /// Why work is in the reserved queue.
    QuarantineReason {
        /// Its actor is not trusted.
        UntrustedActor = "untrusted_actor",
        /// A rule could not be evaluated.
        RuleFault = "rule_fault",
        /// A rule sent it there.
        RuleAction = "rule_action",
    }
}

/// The queue that only reviewers see.
pub const QUARANTINE_QUEUE: &str = "quarantine";

/// The lease that a claimed todo is under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Number of the attempt in the todo, never used again.
    pub seq: u64,
    /// Who has it: a key, or a person at the board.
    pub key_id: Option<KeyId>,
    /// The name that the claimant gave itself.
    pub claimant: Option<String>,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// When the claimant was last heard of.
    pub heartbeat_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// How long it lasts from each heartbeat, seconds.
    pub seconds: u64,
    /// SHA-256 of its token.
    pub token_hash: [u8; 32],
    /// Whether every later word needs the token.
    pub fenced: bool,
    /// The last note of a heartbeat.
    pub note: Option<String>,
}

/// A todo without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoRow {
    /// Its id.
    pub id: TodoId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The identity it belongs to; `None` for one of the tenant.
    pub identity_id: Option<IdentityId>,
    /// Its number in the tenant: the feed position at which it was created. Of equal priority the
    /// smallest goes first.
    pub num: u64,
    /// Its queue.
    pub queue: String,
    /// The source whose event it was opened for.
    pub source_id: Option<SourceId>,
    /// The provider of that event, or what its creator called it.
    pub source: Option<String>,
    /// What kind of work it is.
    pub kind: Option<String>,
    /// One line for people.
    pub title: String,
    /// The event it was opened for, whose payload is its payload.
    pub event_id: Option<u64>,
    /// The newest event that joined it while nobody worked on it.
    pub last_event_id: Option<u64>,
    /// How many events it stands for; 0 for one that stands for none.
    pub event_count: u64,
    /// Length of its payload, bytes.
    pub payload_size: u64,
    /// No two live todos of an owner have the same.
    pub idempotency_key: Option<String>,
    /// What it is about; work on the same subject joins it while nobody works on it.
    pub subject_key: Option<String>,
    /// Larger goes first.
    pub priority: i64,
    /// Its creator's words.
    pub tags: Vec<String>,
    /// The only key that may claim it.
    pub assignee: Option<KeyId>,
    /// Why it is in the reserved queue.
    pub quarantine_reason: Option<QuarantineReason>,
    /// The trace of the rules that opened it, JSON.
    pub routing_trace: Option<String>,
    /// How far it is.
    pub state: TodoState,
    /// The lease, while it is claimed.
    pub lease: Option<Lease>,
    /// Tries spent, counted at each claim.
    pub attempt: u64,
    /// Tries it has.
    pub max_attempts: u64,
    /// Number of the latest attempt; goes on after a retry by hand.
    pub attempts_total: u64,
    /// When a failed one is tried again.
    pub next_retry_at: Option<Timestamp>,
    /// Why it is a dead letter.
    pub dead_reason: Option<DeadReason>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was done, or became a dead letter.
    pub completed_at: Option<Timestamp>,
}

impl TodoRow {
    /// Whether it failed for good.
    pub fn is_dead_letter(&self) -> bool {
        self.state == TodoState::Failed && self.next_retry_at.is_none()
    }

    /// Whether something may still become of it: neither done nor a dead letter.
    pub fn is_live(&self) -> bool {
        self.state != TodoState::Done && !self.is_dead_letter()
    }

    /// When something is due although nobody asks: its lease ends or its next try begins.
    pub fn due_at(&self) -> Option<Timestamp> {
        match self.state {
            TodoState::Claimed => self.lease.as_ref().map(|lease| lease.expires_at),
            TodoState::Failed => self.next_retry_at,
            TodoState::Pending | TodoState::Done => None,
        }
    }

    /// Whether it is overdue at `now`: its lease has ended or its next try has begun.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.due_at().is_some_and(|at| at <= now)
    }

    /// Whether somebody may take it at `now`.
    pub fn is_claimable(&self, now: Timestamp) -> bool {
        self.state == TodoState::Pending || self.is_due(now)
    }

    /// The key that no other live todo of its owner may have, hashed.
    pub fn dedup(&self) -> Option<[u8; 16]> {
        let key = self.idempotency_key.as_ref().filter(|_| self.is_live())?;
        Some(todo_key_hash(self.identity_id, key))
    }

    /// What later work on the same subject finds it by, hashed, while nobody works on it.
    pub fn subject(&self) -> Option<[u8; 16]> {
        let key = self
            .subject_key
            .as_ref()
            .filter(|_| self.state == TodoState::Pending)?;
        Some(subject_key_hash(self.identity_id, &self.queue, key))
    }
}

/// The hash under which a lease's token is kept.
pub fn lease_token_hash(token: &str) -> [u8; 32] {
    use sha2::Digest as _;
    sha2::Sha256::digest(token.as_bytes()).into()
}

/// The hash under which an owner's idempotency key is kept.
pub fn todo_key_hash(identity: Option<IdentityId>, key: &str) -> [u8; 16] {
    owned_hash(identity, &["key", key])
}

/// The hash under which an owner's subject in a queue is kept.
pub fn subject_key_hash(identity: Option<IdentityId>, queue: &str, key: &str) -> [u8; 16] {
    owned_hash(identity, &["subject", queue, key])
}

fn owned_hash(identity: Option<IdentityId>, parts: &[&str]) -> [u8; 16] {
    use sha2::Digest as _;
    let mut hash = sha2::Sha256::new();
    hash.update(identity.map_or(0, IdentityId::bits).to_be_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.first_chunk::<16>().copied().unwrap_or_default()
}

/// One attempt at a todo that has ended. The one in progress is the todo's [`Lease`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// The todo's tenant.
    pub tenant_id: TenantId,
    /// The todo.
    pub todo_id: TodoId,
    /// Its number in the todo.
    pub seq: u64,
    /// Which try it was.
    pub attempt: u64,
    /// Who had it: a key, or a person at the board.
    pub key_id: Option<KeyId>,
    /// The name that the claimant gave itself.
    pub claimant: Option<String>,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// When the claimant was last heard of.
    pub last_heartbeat_at: Option<Timestamp>,
    /// When its lease ended or would have ended.
    pub lease_expires_at: Timestamp,
    /// SHA-256 of its token.
    pub token_hash: [u8; 32],
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// What became of the todo.
    pub disposition: AttemptDisposition,
    /// What the claimant says of it. Data, never instructions.
    pub summary: Option<String>,
    /// Whether the summary was cut.
    pub summary_truncated: bool,
    /// Where what came of it is kept.
    pub artifact: Option<String>,
    /// The last note of a heartbeat.
    pub note: Option<String>,
    /// When the claimant spoke although the lease had ended; its words are `summary`, `artifact`
    /// and `late_result`, and changed nothing of the todo.
    pub late_at: Option<Timestamp>,
    /// What it wanted then.
    pub late_outcome: Option<AttemptOutcome>,
    /// The result it brought then, JSON.
    pub late_result: Option<String>,
}

impl AttemptRow {
    /// Who had it.
    pub fn claimer_kind(&self) -> ClaimerKind {
        match self.key_id {
            Some(_) => ClaimerKind::Key,
            None => ClaimerKind::Person,
        }
    }
}

/// Settings of one queue of a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The queue.
    pub name: String,
    /// Whether it gives out no work.
    pub paused: bool,
    /// How much of it may be worked on at once; `None` for any amount.
    pub max_in_flight: Option<u64>,
    /// When the settings were last changed.
    pub updated_at: Timestamp,
}

/// Who reads or works on todos: how far it reaches, and which queues it was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The part of the tenant it reaches.
    pub scope: TenantScope,
    /// The key; `None` for a person at the board, whom leases of others do not bind.
    pub key: Option<KeyId>,
    /// Queues it was granted; `None` for all but the reserved one.
    pub queues: Option<Vec<String>>,
    /// Whether it may see the reserved queue.
    pub reviews_quarantine: bool,
}

impl Worker {
    /// Whether it may see work in a queue.
    pub fn sees_queue(&self, queue: &str) -> bool {
        if queue == QUARANTINE_QUEUE && !self.reviews_quarantine {
            return false;
        }
        self.queues
            .as_ref()
            .is_none_or(|granted| granted.iter().any(|name| name == queue))
    }

    /// Whether it may see a todo at all; others do not exist for it.
    pub fn sees(&self, todo: &TodoRow) -> bool {
        let reaches = match self.scope.reach() {
            postroom_types::Reach::Tenant => true,
            postroom_types::Reach::Identity(own) => todo.identity_id == Some(own),
        };
        todo.tenant_id == self.scope.tenant() && reaches && self.sees_queue(&todo.queue)
    }

    /// Whether it may take a todo that it sees.
    pub fn may_take(&self, todo: &TodoRow) -> bool {
        self.sees(todo)
            && (self.key.is_none() || todo.assignee.is_none() || todo.assignee == self.key)
    }
}

/// Whether a string names a queue: `^[a-z0-9][a-z0-9._-]{0,63}$`.
pub fn is_queue_name(text: &str) -> bool {
    let head = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= postroom_types::limit::QUEUE_NAME_CHARS
        && text.as_bytes().first().is_some_and(head)
        && text
            .bytes()
            .all(|byte| head(&byte) || b"._-".contains(&byte))
}
