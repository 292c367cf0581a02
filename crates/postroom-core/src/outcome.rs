//! What a command comes to.

use crate::row::{
    AddressRow, CapKind, DeliveryRow, DeliveryStatus, Disposition, DocumentSessionRow, DomainRow,
    DraftRow, IdentityRow, KeyRow, ListEntryRow, MessageStatus, PolicyRow, QueueRow,
    RecipientField, SendRow, SourceRow, SuppressionRow, TenantRow, TodoRow, UploadRow,
};
use crate::{PauseReason, SendRef};
use postroom_types::{ErrorCode, IdentityId, MessageId, ThreadId, Timestamp, TodoId};

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The tenant as it is now.
    Tenant(TenantRow),
    /// The domain as it is now.
    Domain(DomainRow),
    /// The identity as it is now.
    Identity {
        /// The identity.
        row: IdentityRow,
        /// Its addresses, oldest first.
        addresses: Vec<AddressRow>,
        /// Whether this command created it; `false` for a repeated `client_id`.
        created: bool,
    },
    /// The address as it is now.
    Address(AddressRow),
    /// The key as it is now.
    Key(KeyRow),
    /// A raw mail was taken in: one entry per recipient, in order.
    Received(Vec<ArrivalOutcome>),
    /// A message was made of an event; the same again when it had been made before.
    Ingested {
        /// The message.
        message_id: MessageId,
        /// Its thread.
        thread_id: ThreadId,
        /// Whether it had been made before.
        repeated: bool,
    },
    /// A mail of an archive.
    Imported(ImportOutcome),
    /// Labels and read state as they are now.
    Labels(LabelsOutcome),
    /// The source as it is now.
    Source(Box<SourceRow>),
    /// A verified delivery was taken in.
    Arrived(ArriveOutcome),
    /// The todo as it is now.
    Todo {
        /// The todo.
        row: Box<TodoRow>,
        /// Whether this command created it; `false` for one with the same key or subject that was
        /// there.
        created: bool,
    },
    /// A todo was claimed.
    Claimed(Box<Claimed>),
    /// Nothing waits for such a claimant.
    NothingToClaim,
    /// What a sweep did.
    Swept(SweepOutcome),
    /// So many todos, or at most so many events, were removed.
    Pruned(u64),
    /// Settings of a queue as they are now.
    Queue(QueueRow),
    /// A mail was taken in to be sent, or had been.
    Sent(SentOutcome),
    /// What would become of a mail, for each of its recipients.
    WouldSend(Vec<WouldSend>),
    /// Sends that were claimed.
    SendsClaimed(Vec<ClaimedSend>),
    /// What outcomes, expired claims, a cancel or a resolve made of sends.
    SendsUpdated(Vec<SendUpdate>),
    /// What reports made of deliveries, one entry per report.
    DeliveriesRecorded(Vec<DeliveryUpdate>),
    /// The tenant's policy as it is now.
    Policy(Box<PolicyRow>),
    /// The document that is worked on as it is now.
    Document(Box<DocumentSessionRow>),
    /// The draft as it is now.
    Draft(Box<DraftRow>),
    /// The file that was kept.
    Upload(Box<UploadRow>),
    /// The suppression as it is now.
    Suppression(SuppressionRow),
    /// The entry as it is now.
    ListEntry(ListEntryRow),
    /// What was asked for was not done, for this reason, and that it was asked for was written
    /// down. The store answers it as the refusal.
    Recorded(Refusal),
    /// Nothing to say.
    Done,
}

/// A mail that was taken in to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentOutcome {
    /// The message; for a repeated call, that of the first.
    pub message_id: MessageId,
    /// Whether an earlier call with this key had sent it.
    pub deduplicated: bool,
}

/// What would become of a mail for one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WouldSend {
    /// The recipient.
    pub address: String,
    /// Where it is named.
    pub field: RecipientField,
    /// `queued` or `suppressed`.
    pub status: DeliveryStatus,
    /// Why it is suppressed.
    pub reason: Option<String>,
}

/// A send that its claimant, and nobody else, hands over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedSend {
    /// The send; its claim has the token.
    pub row: SendRow,
    /// Whom it is handed over for: never anybody who had it before.
    pub recipients: Vec<DeliveryRow>,
}

/// A send as it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendUpdate {
    /// The send.
    pub send: SendRef,
    /// Its message's status; `None` when there is no such send.
    pub status: Option<MessageStatus>,
    /// Whether the word counted: an outcome of another claim changes nothing.
    pub taken: bool,
}

/// What a report made of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryUpdate {
    /// The message; `None` when no send matched.
    pub message_id: Option<MessageId>,
    /// Whether anything changed.
    pub changed: bool,
}

/// What became of a verified delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArriveOutcome {
    /// The event; for a repeated delivery, the one that was there.
    pub event_id: u64,
    /// When the event was received.
    pub received_at: Timestamp,
    /// Where the event went; a repeated delivery changes nothing of it.
    pub disposition: Disposition,
    /// Whether the event was there already.
    pub duplicate: bool,
    /// Whether its rule opens a todo once and had done so before.
    pub once_repeat: bool,
    /// The todo that was opened, or that the event joined.
    pub todo: Option<OpenedTodo>,
}

/// A todo that stands for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedTodo {
    /// The todo.
    pub id: TodoId,
    /// Its queue.
    pub queue: String,
    /// Whether it was opened by this delivery.
    pub created: bool,
}

/// A token that proves a claim: shown once, kept as a hash.
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseToken(pub String);

impl std::fmt::Debug for LeaseToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LeaseToken(..)")
    }
}

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The todo under its lease.
    pub row: TodoRow,
    /// Proves the claim in later words.
    pub lease_token: LeaseToken,
    /// The payload that the todo carries itself, JSON, where the store read it along with the
    /// commit. `None` says nothing: it may be the payload of an event, or be there and not be read.
    pub payload: Option<String>,
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SweepOutcome {
    /// Todos whose lease had ended and that wait again.
    pub reaped: u64,
    /// Todos whose next try has begun.
    pub retried: u64,
    /// Todos that became dead letters.
    pub dead_lettered: u64,
    /// Whether there may be more that is overdue.
    pub more: bool,
}

/// What became of a mail for one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalOutcome {
    /// The mailbox.
    pub identity_id: IdentityId,
    /// The event; for a duplicate, the one that was there.
    pub event_id: u64,
    /// Whether the mailbox had the very bytes already.
    pub duplicate: bool,
    /// The message of a duplicate that was made already.
    pub message_id: Option<MessageId>,
}

/// What became of a mail of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It is in.
    Stored {
        /// Its event.
        event_id: u64,
        /// Its message.
        message_id: MessageId,
        /// Its thread.
        thread_id: ThreadId,
    },
    /// The mailbox had the very bytes already.
    Duplicate {
        /// The event that was there.
        event_id: u64,
    },
}

/// Labels and read state of a message or thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelsOutcome {
    /// The id asked for; a thread's own id when an alias was asked for.
    pub id: String,
    /// Labels now on it, sorted; a thread's are the union over its messages.
    pub labels: Vec<String>,
    /// Whether all of it is read.
    pub read: bool,
}

/// Why a command was not done. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It broke a rule; the code says which, `reason` says more in our own words.
    #[error("{code}: {reason}")]
    Code {
        /// The stable code.
        code: ErrorCode,
        /// More words, never an outsider's.
        reason: &'static str,
        /// The field at fault, as `path` of the error details.
        path: Option<&'static str>,
    },
    /// It broke a rule of sending; `detail` says more.
    #[error("{code}: {reason}")]
    Send {
        /// The stable code.
        code: ErrorCode,
        /// More words, never an outsider's.
        reason: &'static str,
        /// Facts for the error's details.
        detail: SendDetail,
    },
    /// The source changed after the delivery was verified and routed: read it again, then do both
    /// anew.
    #[error("the source changed")]
    SourceChanged,
    /// The loaded state changed under it in a way that needs loading again; the writer decides it
    /// in the next round and nobody outside sees this.
    #[error("decided in the next round")]
    Deferred,
}

/// Facts about a refused send, for the details of its error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendDetail {
    /// `idempotency_conflict`: the message that the key was used for, `original_message_id`.
    Original(MessageId),
    /// `daily_cap_reached`: which cap, `cap`, and when it is counted anew, `resets_at`.
    Cap {
        /// Which.
        cap: CapKind,
        /// As many recipients as may be written to a day.
        most: u64,
        /// When it is counted anew.
        resets_at: Timestamp,
    },
    /// The recipients at fault, `recipients`: the caller's own words.
    Recipients(Vec<String>),
    /// As many as may be, `most`.
    Most(u64),
    /// Why the identity is paused, `reason`.
    Paused(PauseReason),
    /// The thread says why, `thread_id`.
    Thread(ThreadId),
    /// What would become of each recipient, `recipients`.
    WouldSend(Vec<WouldSend>),
}

impl Refusal {
    /// The code for surfaces.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Code { code, .. } | Self::Send { code, .. } => *code,
            Self::SourceChanged | Self::Deferred => ErrorCode::Unavailable,
        }
    }

    /// More words.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Code { reason, .. } | Self::Send { reason, .. } => reason,
            Self::SourceChanged | Self::Deferred => "",
        }
    }

    pub(crate) fn new(code: ErrorCode) -> Self {
        Self::Code {
            code,
            reason: "",
            path: None,
        }
    }

    /// A code with more words.
    pub(crate) fn because(code: ErrorCode, reason: &'static str) -> Self {
        Self::Code {
            code,
            reason,
            path: None,
        }
    }

    /// A bad argument, in the dialect of events, sources and todos.
    pub(crate) fn argument(path: &'static str, reason: &'static str) -> Self {
        Self::Code {
            code: ErrorCode::InvalidArgument,
            reason,
            path: Some(path),
        }
    }

    pub(crate) fn invalid(path: &'static str, reason: &'static str) -> Self {
        Self::Code {
            code: ErrorCode::InvalidRequest,
            reason,
            path: Some(path),
        }
    }
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}
