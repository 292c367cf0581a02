//! What arrived, and the feed of changes.

use crate::word::words;
use postroom_types::{IdentityId, MessageId, SourceId, TenantId, Timestamp, TodoId};
use std::collections::BTreeMap;

/// A SHA-256 digest.
pub type Sha256Bytes = [u8; 32];

words! {
    /// Through what kind of channel an event came.
    Family {
        /// Mail.
        Mail = "mail",
        /// A webhook.
        Webhook = "webhook",
        /// A queue message.
        Queue = "queue",
    }
    /// How far the channel vouches for the event; never a word about a mail's sender.
    TrustMode {
        /// The body was signed.
        Signed = "signed",
        /// The caller held a key or token; the body was not verified.
        Token = "token",
        /// Nothing was checked.
        Open = "open",
        /// It came from a queue or an archive.
        Queue = "queue",
        /// It came by SMTP or LMTP.
        Smtp = "smtp",
        /// The key of the mailbox's own agent put it in: it vouches for nobody.
        Agent = "agent",
    }
    /// How far an event was worked off.
    EventState {
        /// A worker has it before it.
        Pending = "pending",
        /// Done.
        Done = "done",
        /// It could not be worked off; the payload stays readable.
        Failed = "failed",
    }
    /// Where an event went.
    Disposition {
        /// To a mailbox or a queue.
        Routed = "routed",
        /// Nowhere, by a rule.
        Dropped = "dropped",
        /// To a place that only reviewers see.
        Quarantined = "quarantined",
        /// Nowhere, by a fault.
        Faulted = "faulted",
    }
    /// What a position of the feed tells.
    FeedKind {
        /// An event arrived; `num` is its id.
        EventReceived = "event.received",
        /// An event was worked off or failed; `num` is its id.
        EventChanged = "event.changed",
        /// A message came in; `subject` is its id, `num` its number.
        MessageReceived = "message.received",
        /// A message came in out of an archive, with its event at the same position.
        MessageImported = "message.imported",
        /// Labels, read state or flags of a message changed; `num` is its number, and `subject`
        /// its id where it was known without another look.
        MessageChanged = "message.changed",
        /// A thread was archived, merged or brought back; `subject` is its id.
        ThreadChanged = "thread.changed",
        /// An identity or its addresses changed; `subject` is its id.
        IdentityChanged = "identity.changed",
        /// A key changed; `subject` is its id.
        KeyChanged = "key.changed",
        /// The tenant or one of its domains changed; `subject` is its id.
        TenantChanged = "tenant.changed",
        /// A mail could not be imported; `num` is the failure's id.
        ImportFailed = "import.failed",
        /// An owner link or a session changed.
        AccessChanged = "access.changed",
        /// A source was created, changed or deleted; `subject` is its id.
        SourceChanged = "source.changed",
        /// A todo was opened; `subject` is its id, `num` its number.
        TodoCreated = "todo.created",
        /// A todo was claimed, ended, given back, or joined by another event; `subject` is its id,
        /// `num` its number.
        TodoChanged = "todo.changed",
        /// Settings of a queue changed.
        QueueChanged = "queue.changed",
        /// A mail of ours was taken in to be sent; `subject` is its id, `num` its number.
        MessageQueued = "message.queued",
        /// A transport took it; `subject` and `num` as above, like those that follow.
        MessageSent = "message.sent",
        /// Its recipients' servers took it.
        MessageDelivered = "message.delivered",
        /// A recipient's server took it not yet.
        MessageDeferred = "message.deferred",
        /// It came back.
        MessageBounced = "message.bounced",
        /// A recipient called it spam.
        MessageComplained = "message.complained",
        /// The transport refused it.
        MessageRejected = "message.rejected",
        /// It was given up.
        MessageFailed = "message.failed",
        /// Whether it left is not known.
        MessageUncertain = "message.uncertain",
        /// It was uncertain and is known now.
        MessageReconciled = "message.reconciled",
        /// It was for nobody who may be written to.
        MessageSuppressed = "message.suppressed",
        /// Somebody took it back.
        MessageCanceled = "message.canceled",
        /// Something of a send changed that its status does not tell: a delivery, an attempt;
        /// `subject` and `num` as above.
        SendChanged = "send.changed",
        /// A policy, a suppression or an entry of a list changed.
        PolicyChanged = "policy.changed",
        /// A document that is worked on was saved.
        DocumentChanged = "document.changed",
        /// A draft was saved or dropped; `subject` is its id.
        DraftChanged = "draft.changed",
    }
}

impl FeedKind {
    /// Whether labels of a message may be others after it: a change of them, or a mail of an archive
    /// or of ours that brings its own.
    pub fn changes_labels(self) -> bool {
        matches!(
            self,
            Self::MessageChanged | Self::MessageImported | Self::MessageQueued
        )
    }

    /// Whether the index has a message to add.
    pub fn adds_message(self) -> bool {
        matches!(
            self,
            Self::MessageReceived | Self::MessageImported | Self::MessageQueued
        )
    }

    /// Whether it tells of a message, so that `subject` is a message's id.
    pub fn is_message(self) -> bool {
        matches!(self, Self::MessageReceived | Self::MessageImported)
            || self.is_of_send()
            || self == Self::MessageChanged
    }

    /// Whether it tells of a mail of ours.
    pub fn is_of_send(self) -> bool {
        matches!(
            self,
            Self::MessageQueued
                | Self::MessageSent
                | Self::MessageDelivered
                | Self::MessageDeferred
                | Self::MessageBounced
                | Self::MessageComplained
                | Self::MessageRejected
                | Self::MessageFailed
                | Self::MessageUncertain
                | Self::MessageReconciled
                | Self::MessageSuppressed
                | Self::MessageCanceled
                | Self::SendChanged
        )
    }
}

impl TrustMode {
    /// Whether those whom a mail names count as named by it. An agent that could put in mail which does
    /// would choose by itself to whom it may write.
    pub fn vouches(self) -> bool {
        self != Self::Agent
    }
}

/// One thing that arrived, as it was received; only its state ever changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Positive, strictly increasing per tenant in commit order (the feed position of its commit).
    pub id: u64,
    /// Whose mailbox it is for; `None` for an event of the tenant.
    pub identity_id: Option<IdentityId>,
    /// What it came from: `smtp`, `lmtp`, `raw`, `import`, a webhook provider.
    pub provider: String,
    /// Kind of channel.
    pub family: Family,
    /// The provider's name for it; `message.received` for mail.
    pub event_type: Option<String>,
    /// What tells a repeated delivery. Mail is told by `sha256` per identity and has none stored;
    /// [`EventRow::external_id`] gives its `sha256:HEX`.
    pub external_key: Option<String>,
    /// How far the channel vouches.
    pub trust_mode: TrustMode,
    /// Whether a signature over the body was checked.
    pub verified: bool,
    /// In words what was checked.
    pub verify_detail: Option<String>,
    /// Media type of the payload.
    pub content_type: Option<String>,
    /// Sanitised headers of the request.
    pub headers: BTreeMap<String, String>,
    /// Digest of the payload, under which its bytes are kept.
    pub sha256: Sha256Bytes,
    /// Length of the payload, bytes.
    pub payload_size: u64,
    /// The peer's address.
    pub source_ip: Option<String>,
    /// Envelope sender (RFC 5321 MAIL FROM); empty for the null sender; `None` without envelope.
    pub mail_from: Option<String>,
    /// Envelope recipient as given, with its detail.
    pub delivered_to: Option<String>,
    /// When it was stored here: never earlier than that of a smaller id.
    pub received_at: Timestamp,
    /// When it happened, as its source says.
    pub occurred_at: Option<Timestamp>,
    /// Where it went.
    pub disposition: Disposition,
    /// How far it was worked off.
    pub state: EventState,
    /// The message made from it.
    pub message_id: Option<MessageId>,
    /// Why it failed, or what it waits for, in our own words.
    pub detail: Option<String>,
    /// The source it came through.
    pub source_id: Option<SourceId>,
    /// Whether its payload carries mail, so that what protects the mail protects the payload.
    pub carries_mail: bool,
    /// How often it was delivered again.
    pub redeliveries: u64,
    /// When it was last delivered again.
    pub last_redelivered_at: Option<Timestamp>,
    /// The trace of the rules that routed it, JSON.
    pub routing_trace: Option<String>,
    /// The todo that was opened for it or that it joined.
    pub todo_id: Option<TodoId>,
    /// How often working it off was put off.
    pub tries: u64,
    /// Until when working it off was put off.
    pub next_try_at: Option<Timestamp>,
}

impl FeedRow {
    /// The todo that a todo kind names.
    pub fn todo_id(&self) -> Option<TodoId> {
        let bits = self.subject?;
        matches!(self.kind, FeedKind::TodoCreated | FeedKind::TodoChanged)
            .then(|| TodoId::from_parts(crate::ulid_ms(bits), bits))
    }

    /// The source that a source kind names.
    pub fn source_id(&self) -> Option<SourceId> {
        let bits = self.subject?;
        (self.kind == FeedKind::SourceChanged)
            .then(|| SourceId::from_parts(crate::ulid_ms(bits), bits))
    }
}

impl EventRow {
    /// The id that tells a repeated delivery, as surfaces show it.
    pub fn external_id(&self) -> Option<String> {
        match (&self.external_key, self.family) {
            (Some(key), _) => Some(key.clone()),
            (None, Family::Mail) => Some(format!("sha256:{}", crate::hex(&self.sha256))),
            (None, _) => None,
        }
    }
}

/// One position of a tenant's feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRow {
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Strictly increasing in commit order; a gap is never filled later.
    pub position: u64,
    /// What changed.
    pub kind: FeedKind,
    /// The identity it belongs to.
    pub identity_id: Option<IdentityId>,
    /// The 128 bits of the id that the kind names.
    pub subject: Option<u128>,
    /// The number that the kind names.
    pub num: Option<u64>,
    /// When it was committed.
    pub at: Timestamp,
}

impl FeedRow {
    /// The message that a message kind names.
    pub fn message_id(&self) -> Option<MessageId> {
        let bits = self.subject?;
        self.kind
            .is_message()
            .then(|| MessageId::from_parts(crate::ulid_ms(bits), bits))
    }
}

/// A mail that an import could not take in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFailureRow {
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The identity it was for.
    pub identity_id: IdentityId,
    /// Position in the feed's counter, which orders the list.
    pub id: u64,
    /// Where it was read from: path, and the offset inside an mbox.
    pub location: String,
    /// Why it failed, in our own words.
    pub reason: String,
    /// Digest of its bytes, when they are kept.
    pub sha256: Option<Sha256Bytes>,
    /// Its length, bytes.
    pub size: u64,
    /// When.
    pub at: Timestamp,
}
