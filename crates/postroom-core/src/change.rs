//! What a decision writes, as a closed list.

use crate::{
    Outcome, Sha256Bytes,
    row::{
        AddressHash, AddressRow, AttemptRow, ContactRow, DeliveryRow, DocumentSessionRow,
        DocumentStateRow, DomainRow, DraftRow, EarlyReportRow, EventRow, FeedRow, IdempotencyRow,
        IdentityRow, ImportFailureRow, KeyRow, KeySecretRow, LabelRow, ListEntryRow, MessageRow,
        MessageStatus, OwnerLinkRow, PolicyRow, QueueRow, ResultSetRow, SendRow, SessionRow,
        SourceRow, SuppressionRow, TenantRow, ThreadKeyRow, ThreadRow, TodoRow, UploadRow,
        UsageRow,
    },
};
use postroom_types::{DraftId, IdentityId, KeyId, SourceId, TenantId, ThreadId, Timestamp, TodoId};

/// What a command comes to: what to write, and what to answer once it is written.
#[derive(Debug)]
pub struct Decision {
    /// In order.
    pub changes: Vec<Change>,
    /// The answer.
    pub outcome: Outcome,
}

impl Decision {
    /// An answer that changes nothing.
    pub fn unchanged(outcome: Outcome) -> Self {
        Self {
            changes: Vec::new(),
            outcome,
        }
    }
}

/// One thing to write. `Put` writes the whole row, new or known.
#[derive(Debug, Clone)]
pub enum Change {
    /// A tenant.
    PutTenant(TenantRow),
    /// A domain.
    PutDomain(DomainRow),
    /// An identity.
    PutIdentity(IdentityRow),
    /// An address.
    PutAddress(AddressRow),
    /// A key.
    PutKey(KeyRow),
    /// A secret of a key.
    PutSecret(KeySecretRow),
    /// A secret that ended early.
    RemoveSecret {
        /// The key.
        key_id: KeyId,
        /// The secret.
        lookup: String,
    },
    /// An owner link.
    PutOwnerLink(OwnerLinkRow),
    /// Owner links that nobody used end.
    EndUnusedOwnerLinks(Timestamp),
    /// A session.
    PutSession(SessionRow),
    /// A session that was closed.
    RemoveSession([u8; 32]),
    /// An event, new or with another state.
    PutEvent(Box<EventRow>),
    /// The bytes of the command that decided this, under their digest; nothing when they are kept
    /// already.
    AddBlob {
        /// The tenant.
        tenant_id: TenantId,
        /// Their digest.
        sha256: Sha256Bytes,
        /// Their number.
        size: u64,
    },
    /// A new message with the words of the command that decided this.
    AddMessage(MessageRow),
    /// Another read state of a message.
    SetUnread {
        /// The tenant.
        tenant_id: TenantId,
        /// The message's number.
        num: u64,
        /// Whether nobody read it yet.
        unread: bool,
    },
    /// Another message of the mailbox has the same Message-ID and other content.
    MarkConflict {
        /// The tenant.
        tenant_id: TenantId,
        /// The message's number.
        num: u64,
    },
    /// A label on.
    AddLabel(LabelRow, ThreadId),
    /// A label off.
    RemoveLabel(LabelRow),
    /// A thread.
    PutThread(ThreadRow),
    /// All of `from` moves to `into`, and `from` becomes an alias of it.
    MergeThread {
        /// The tenant.
        tenant_id: TenantId,
        /// The mailbox.
        identity_id: IdentityId,
        /// The younger thread.
        from: ThreadId,
        /// The older thread.
        into: ThreadId,
    },
    /// A key of a thread.
    PutThreadKey(ThreadKeyRow),
    /// A contact.
    PutContact(ContactRow),
    /// Kept results.
    PutResultSet(ResultSetRow),
    /// Kept results that ended by then.
    PruneResultSets(Timestamp),
    /// A failed import.
    PutImportFailure(ImportFailureRow),
    /// A source.
    PutSource(Box<SourceRow>),
    /// A source that was deleted.
    RemoveSource {
        /// The tenant.
        tenant_id: TenantId,
        /// The source.
        id: SourceId,
    },
    /// A delivery came through a source.
    CountDelivery {
        /// The tenant.
        tenant_id: TenantId,
        /// The source.
        source_id: SourceId,
        /// When.
        at: Timestamp,
        /// Whether its event was there already.
        repeated: bool,
    },
    /// A key of a source that opens no second todo.
    AddOnce {
        /// The tenant.
        tenant_id: TenantId,
        /// The source.
        source_id: SourceId,
        /// The key, hashed.
        key: [u8; 16],
        /// The event that used it.
        event_id: u64,
    },
    /// A new todo.
    AddTodo {
        /// The todo.
        row: Box<TodoRow>,
        /// Its own payload, JSON.
        payload: Option<String>,
    },
    /// A known todo as it becomes; what never changes of it is not written again.
    PutTodo {
        /// The todo.
        row: Box<TodoRow>,
        /// What came of it, JSON; `None` leaves what is there.
        result: Option<String>,
    },
    /// An attempt that ended.
    PutAttempt(Box<AttemptRow>),
    /// Attempts of a todo up to this one are dropped.
    PruneAttempts {
        /// The tenant.
        tenant_id: TenantId,
        /// The todo.
        todo_id: TodoId,
        /// The last one that is dropped.
        through_seq: u64,
    },
    /// A todo goes, with its payload and its attempts.
    RemoveTodo {
        /// The tenant.
        tenant_id: TenantId,
        /// The todo.
        id: TodoId,
    },
    /// An event goes, unless a todo was opened for it meanwhile.
    RemoveEvent {
        /// The tenant.
        tenant_id: TenantId,
        /// The event.
        id: u64,
        /// The digest of its bytes, which go too when nothing was seen to name them before the feed
        /// position and nothing names them since.
        bytes: Option<(Sha256Bytes, u64)>,
        /// When.
        at: Timestamp,
    },
    /// Settings of a queue.
    PutQueue(QueueRow),
    /// Another status of a message.
    SetStatus {
        /// The tenant.
        tenant_id: TenantId,
        /// The message's number.
        num: u64,
        /// The status.
        status: MessageStatus,
    },
    /// A new send.
    AddSend(Box<SendRow>),
    /// A known send as it becomes; what never changes of it is not written again.
    PutSend(Box<SendRow>),
    /// A recipient of a send, new or as it becomes.
    PutDelivery(Box<DeliveryRow>),
    /// A key against doubles.
    PutIdempotency(IdempotencyRow),
    /// Counters of a day.
    PutUsage(UsageRow),
    /// A report on a mail that is not known by its provider's name yet.
    PutEarlyReport(Box<EarlyReportRow>),
    /// The reports on a mail that is known now.
    RemoveEarlyReports {
        /// The tenant.
        tenant_id: TenantId,
        /// The provider's name for the mail.
        provider_message_id: String,
    },
    /// An address that is not written to.
    PutSuppression(SuppressionRow),
    /// An address that is written to again.
    RemoveSuppression {
        /// The tenant.
        tenant_id: TenantId,
        /// Keyed hash of the address.
        hash: AddressHash,
    },
    /// An entry of a list.
    PutListEntry(ListEntryRow),
    /// An entry that was taken out.
    RemoveListEntry(ListEntryRow),
    /// A tenant's policy.
    PutPolicy(Box<PolicyRow>),
    /// A draft.
    PutDraft(Box<DraftRow>),
    /// A document that is worked on, with its newest state; states past the limit go.
    PutDocument(Box<DocumentSessionRow>, Box<DocumentStateRow>),
    /// A draft that was dropped or sent.
    RemoveDraft {
        /// The tenant.
        tenant_id: TenantId,
        /// The draft.
        id: DraftId,
    },
    /// A file to attach, with the bytes of the command that decided this.
    AddUpload(Box<UploadRow>),
    /// Keys against doubles, uploads and reports whose time is over go.
    PruneSending {
        /// Keys used at this instant or earlier.
        keys_through: Timestamp,
        /// Uploads that ended by then.
        uploads_ended: Timestamp,
        /// Reports that came by then and whose mail never became known.
        reports_through: Timestamp,
    },
    /// A position of the feed.
    Feed(FeedRow),
}
