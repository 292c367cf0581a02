//! Work as the work toolset shows it.

use postroom_core::{AttemptRow, QueueRow, TodoRow};
use postroom_store::read::QueueCounts;
use postroom_types::{IdentityId, KeyId, MessageId, SourceId, Timestamp, TodoId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::visible;

/// A todo without its payload.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Todo {
    /// Its id.
    pub id: TodoId,
    /// Its queue.
    pub queue: String,
    /// The provider of the event it was opened for, or what its creator called its origin.
    pub source: Option<String>,
    /// What kind of work it is.
    pub kind: Option<String>,
    /// One line.
    pub title: String,
    /// `pending`, `claimed`, `done` or `failed`.
    #[schemars(extend("enum" = ["pending", "claimed", "done", "failed"]))]
    pub state: String,
    /// Who has it: `key:` and a key's id, or `person`.
    pub owner: Option<String>,
    /// The name that the claimant gave itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimant: Option<String>,
    /// The only key that may claim it.
    pub assignee: Option<KeyId>,
    /// Tries spent; each claim spends one.
    pub attempt: u64,
    /// Tries it has.
    pub max_attempts: u64,
    /// When the lease ends.
    pub lease_expires_at: Option<Timestamp>,
    /// When a failed one is tried again.
    pub next_retry_at: Option<Timestamp>,
    /// Whether it failed for good.
    pub dead_letter: bool,
    /// Why: `attempts_exhausted` or `lease_expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_reason: Option<String>,
    /// Why it waits for a reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantine_reason: Option<String>,
    /// Larger goes first.
    pub priority: i64,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The mailbox it belongs to; null for one of the whole tenant.
    pub identity_id: Option<IdentityId>,
    /// The source whose event it was opened for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    /// The event it was opened for.
    pub event_id: Option<u64>,
    /// The newest event that joined it while nobody worked on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<u64>,
    /// How many events it stands for.
    pub event_count: u64,
    /// Bytes of the payload, which a claim gives.
    pub payload_size: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was done, or failed for good.
    pub completed_at: Option<Timestamp>,
}

/// How the channel of a todo's event was checked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct TodoTrust {
    /// How the channel was checked.
    #[schemars(extend("enum" = ["signed", "token", "open", "queue", "smtp", "operator"]))]
    pub trust_mode: String,
    /// True only when a signature over the body was checked.
    pub verified: bool,
}

/// A todo with its payload, as a claim gives it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ClaimedTodo {
    /// The todo.
    #[serde(flatten)]
    pub todo: Todo,
    /// How the channel of its event was checked; null without an event.
    pub trust: Option<TodoTrust>,
    /// The message that was made from its event: read it with mail_get_message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// The payload: JSON where it is JSON, else text. Null when there is none, or when this key may
    /// not read it.
    pub payload: Value,
    /// How `payload` is written; null without one.
    #[schemars(extend("enum" = ["json", "utf8", "base64", null]))]
    pub payload_encoding: Option<String>,
    /// Present and true when `payload` was cut; get_webhook_event has more of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_truncated: Option<bool>,
    /// The permission that this key lacks to read the payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_withheld: Option<String>,
    /// What the rules decided, and why it is in this queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Value>,
}

/// One attempt at a todo that has ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Attempt {
    /// Its number in the todo, never used again.
    pub seq: u64,
    /// Which try it was.
    pub attempt: u64,
    /// `key` or `person`.
    #[schemars(extend("enum" = ["key", "person"]))]
    pub claimer_kind: String,
    /// The key that had it.
    pub key_id: Option<KeyId>,
    /// The name that the claimant gave itself.
    pub claimant: Option<String>,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// When the claimant was last heard of.
    pub last_heartbeat_at: Option<Timestamp>,
    /// When its lease ended or would have ended.
    pub lease_expires_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How it ended: `completed`, `failed`, `released`, `lease_expired` or `reaped`.
    pub outcome: String,
    /// What became of the todo: `done`, `retry_scheduled`, `dead_lettered` or `requeued`.
    pub disposition: String,
    /// What the claimant says of it.
    pub summary: Option<String>,
    /// Present and true when the summary was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_truncated: Option<bool>,
    /// Where what came of it is kept.
    pub artifact: Option<String>,
    /// The last note of a heartbeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// When the claimant spoke although its lease had ended; that changed nothing of the todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_at: Option<Timestamp>,
    /// What it wanted then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_outcome: Option<String>,
    /// The result it brought then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_result: Option<Value>,
}

/// A queue: its settings, and how much is in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Queue {
    /// Its name.
    pub queue: String,
    /// Whether it gives out no work.
    pub paused: bool,
    /// How much of it may be worked on at once; null for any amount.
    pub max_in_flight: Option<u64>,
    /// Todos that wait.
    pub pending: u64,
    /// Todos under a lease.
    pub claimed: u64,
    /// Failed todos that are tried again.
    pub parked: u64,
    /// Todos that failed for good.
    pub dead_letters: u64,
    /// Todos that are done.
    pub done: u64,
    /// When the oldest waiting one was created.
    pub oldest_pending_at: Option<Timestamp>,
}

impl From<&TodoRow> for Todo {
    fn from(row: &TodoRow) -> Self {
        let lease = row.lease.as_ref();
        Self {
            id: row.id,
            queue: row.queue.clone(),
            source: row.source.as_deref().map(visible),
            kind: row.kind.as_deref().map(visible),
            title: visible(&row.title),
            state: row.state.as_str().to_owned(),
            owner: lease.map(|lease| match lease.key_id {
                Some(key) => format!("key:{key}"),
                None => "person".to_owned(),
            }),
            claimant: lease.and_then(|lease| lease.claimant.as_deref().map(visible)),
            assignee: row.assignee,
            attempt: row.attempt,
            max_attempts: row.max_attempts,
            lease_expires_at: lease.map(|lease| lease.expires_at),
            next_retry_at: row.next_retry_at,
            dead_letter: row.is_dead_letter(),
            dead_reason: row.dead_reason.map(|reason| reason.as_str().to_owned()),
            quarantine_reason: row
                .quarantine_reason
                .map(|reason| reason.as_str().to_owned()),
            priority: row.priority,
            tags: row.tags.clone(),
            identity_id: row.identity_id,
            source_id: row.source_id,
            event_id: row.event_id,
            last_event_id: row.last_event_id.filter(|id| Some(*id) != row.event_id),
            event_count: row.event_count,
            payload_size: row.payload_size,
            created_at: row.created_at,
            updated_at: row.updated_at,
            completed_at: row.completed_at,
        }
    }
}

impl From<&AttemptRow> for Attempt {
    fn from(row: &AttemptRow) -> Self {
        Self {
            seq: row.seq,
            attempt: row.attempt,
            claimer_kind: row.claimer_kind().as_str().to_owned(),
            key_id: row.key_id,
            claimant: row.claimant.as_deref().map(visible),
            claimed_at: row.claimed_at,
            last_heartbeat_at: row.last_heartbeat_at,
            lease_expires_at: row.lease_expires_at,
            ended_at: row.ended_at,
            outcome: row.outcome.as_str().to_owned(),
            disposition: row.disposition.as_str().to_owned(),
            summary: row.summary.as_deref().map(visible),
            summary_truncated: row.summary_truncated.then_some(true),
            artifact: row.artifact.clone(),
            note: row.note.as_deref().map(visible),
            late_at: row.late_at,
            late_outcome: row.late_outcome.map(|outcome| outcome.as_str().to_owned()),
            late_result: row.late_result.as_deref().map(json_or_text),
        }
    }
}

impl Queue {
    /// A queue of that name with what is known of it.
    pub fn new(name: &str, settings: Option<&QueueRow>, counts: Option<&QueueCounts>) -> Self {
        let counts = counts.cloned().unwrap_or_default();
        Self {
            queue: name.to_owned(),
            paused: settings.is_some_and(|row| row.paused),
            max_in_flight: settings.and_then(|row| row.max_in_flight),
            pending: counts.pending,
            claimed: counts.claimed,
            parked: counts.parked,
            dead_letters: counts.dead_letters,
            done: counts.done,
            oldest_pending_at: counts.oldest_pending_at,
        }
    }
}

/// JSON that was kept as text.
pub(crate) fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
