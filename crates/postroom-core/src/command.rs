//! What can be asked of the store, as a closed list.

mod document;
mod send;
mod source;
mod todo;

pub use document::PutDocument;
pub use send::{
    ClaimSends, DeliveryEvent, DeliveryReport, DeliverySubject, ExpireClaims, Idempotency,
    ListEntry, OutgoingMail, PutDraft, PutSuppression, PutUpload, QueueMessage, RecipientOutcome,
    RecipientRoute, RemoveSuppression, Reporter, ResolveSend, SendFault, SendOutcome,
    SendRecipient, SendRef, SendStep, SendThread, SentDraft, SetPolicy, Submission, UsageDay,
    Verdict,
};
pub use source::{
    Arrive, CreateSource, PostponeEvent, RotateSource, Routing, SealedSecret, SealedToken,
    SetSourceRules, SetSourceSecret, SettleEvent, SourcePatch,
};
pub use todo::{
    ClaimNextTodo, ClaimTodo, CreateTodo, EndAttempt, HeartbeatTodo, LeaseTerms, RetryTodo,
    SetQueue, UndoClaim, Work,
};

use crate::{
    KeyGrants, KeyHash, MessageDoc, Mode, Owner, OwnerLinkRow, RawMail, ResultSetRow, SessionRow,
    TrustMode, key_hash,
    row::{
        AddressRole, DomainState, IdentityStatus, PauseReason, SendPolicy, Signature, TenantStatus,
    },
};
use postroom_mail::{Kind, Parsed};
use postroom_types::{
    Address, AddressId, DraftId, IdentityId, KeyId, Level, MessageId, Permission, SourceId,
    TenantId, TenantScope, ThreadId, Timestamp, TodoId,
};
use std::collections::BTreeMap;

/// An event that may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OldEvent {
    /// Its id.
    pub id: u64,
    /// Whether nothing else was seen to name its bytes.
    pub alone: bool,
}

/// One change that somebody asks for. Each is decided whole or not at all.
#[derive(Debug)]
pub enum Command {
    /// Creates a tenant.
    CreateTenant(CreateTenant),
    /// Changes a tenant.
    UpdateTenant {
        /// The tenant.
        tenant: TenantId,
        /// What changes.
        patch: TenantPatch,
    },
    /// Names a domain of a tenant or of the deployment; a repeated call changes its state.
    CreateDomain(CreateDomain),
    /// Creates an identity with its first address.
    CreateIdentity(CreateIdentity),
    /// Changes an identity.
    UpdateIdentity(UpdateIdentity),
    /// Gives an identity another address.
    AddAddress {
        /// The tenant.
        tenant: TenantId,
        /// The identity.
        identity: IdentityId,
        /// The address.
        address: Address,
        /// As what; a new primary makes the old one an alias.
        role: AddressRole,
    },
    /// Ends an address, at once or after some time of still receiving.
    RetireAddress {
        /// The tenant.
        tenant: TenantId,
        /// The address.
        address: AddressId,
        /// When it stops; `None` for at once.
        at: Option<Timestamp>,
    },
    /// Creates a key.
    CreateKey(CreateKey),
    /// Gives a key a new secret; the old one goes on for a while.
    RotateKey(RotateKey),
    /// Ends a key.
    RevokeKey {
        /// The tenant; `None` for a platform key.
        tenant: Option<TenantId>,
        /// The key.
        key: KeyId,
    },
    /// Notes that a key was used; at most once per minute it becomes a change.
    TouchKey {
        /// The key's tenant; `None` for a platform key.
        tenant: Option<TenantId>,
        /// The key.
        key: KeyId,
    },
    /// Keeps a new owner link; links that were not used end.
    CreateOwnerLink(OwnerLinkRow),
    /// Uses an owner link and opens a session.
    UseOwnerLink {
        /// Keyed hash of the link's token.
        link: [u8; 32],
        /// The session.
        session: SessionRow,
    },
    /// Ends a session.
    CloseSession {
        /// Keyed hash of the session's token.
        session: [u8; 32],
    },
    /// Takes in one raw mail for one or several recipients, unparsed.
    Receive(Receive),
    /// Makes a message of a pending event.
    Ingest(Box<Ingest>),
    /// Takes in one mail of an archive: event, bytes and message at once.
    Import(Box<Import>),
    /// Gives a pending event up; its bytes stay readable.
    FailEvent(FailEvent),
    /// Changes labels and read state.
    UpdateLabels(UpdateLabels),
    /// Puts a thread away, or brings it back.
    ArchiveThread(ArchiveThread),
    /// Keeps ranked ids for later pages, and drops those that ended.
    KeepResultSet(KeepResultSet),
    /// Notes a mail that an import could not take in.
    RecordImportFailure(RecordImportFailure),
    /// Replaces what a key is granted of queues and replay targets.
    SetKeyGrants {
        /// The tenant.
        tenant: TenantId,
        /// The key.
        key: KeyId,
        /// Everything it is granted.
        grants: KeyGrants,
    },
    /// Creates a source.
    CreateSource(Box<CreateSource>),
    /// Gives a source another address, and another secret where we make it.
    RotateSource(RotateSource),
    /// Deletes a source; its events and todos stay.
    DeleteSource {
        /// Who asks.
        scope: TenantScope,
        /// The source.
        source: SourceId,
    },
    /// Gives a source the secret that its provider issued.
    SetSourceSecret(SetSourceSecret),
    /// Replaces a source's rules, if nobody did so since.
    SetSourceRules(SetSourceRules),
    /// Turns a source on or off.
    SetSourceState {
        /// Who asks.
        scope: TenantScope,
        /// The source.
        source: SourceId,
        /// Whether it takes deliveries; one without its secret awaits it.
        enabled: bool,
    },
    /// Changes a source's name, queue, settings or trusted actors.
    UpdateSource {
        /// Who asks.
        scope: TenantScope,
        /// The source.
        source: SourceId,
        /// What changes.
        patch: SourcePatch,
    },
    /// Notes that a provider shook hands.
    NoteHandshake {
        /// The tenant.
        tenant: TenantId,
        /// The source.
        source: SourceId,
    },
    /// Takes in a verified delivery: event, bytes and todo at once.
    Arrive(Box<Arrive>),
    /// Ends the work on a pending event.
    SettleEvent(SettleEvent),
    /// Puts the work on a pending event off.
    PostponeEvent(PostponeEvent),
    /// Opens a todo.
    CreateTodo(Box<CreateTodo>),
    /// Takes a todo under a lease.
    ClaimTodo(ClaimTodo),
    /// Takes the first todo that waits, under a lease.
    ClaimNextTodo(ClaimNextTodo),
    /// Renews a lease.
    HeartbeatTodo(HeartbeatTodo),
    /// Ends a todo well.
    CompleteTodo(EndAttempt),
    /// Ends an attempt badly: the todo is parked until its next try, or becomes a dead letter.
    FailTodo(EndAttempt),
    /// Gives a todo back unfinished; the try stays spent.
    ReleaseTodo(EndAttempt),
    /// Takes a claim back that could not be handed over, and its try with it.
    UndoClaim(UndoClaim),
    /// Gives a failed todo all its tries again.
    RetryTodo(RetryTodo),
    /// Puts back or gives up what is overdue: leases that ended, tries that begin.
    SweepTodos {
        /// The tenant.
        tenant: TenantId,
        /// At most so many, up to the limit of one sweep.
        limit: usize,
    },
    /// Removes todos that ended, with their payloads and attempts; those among them that are live,
    /// or ended later, stay.
    PruneTodos {
        /// The tenant.
        tenant: TenantId,
        /// The todos, up to the limit of one sweep.
        todos: Vec<TodoId>,
        /// Only what ended before.
        ended_before: Timestamp,
    },
    /// Removes deliveries that were received before an instant, with their bytes when nothing else
    /// names them. What carries mail, waits, or has a todo stays.
    PruneEvents {
        /// The tenant.
        tenant: TenantId,
        /// The events, up to the limit of one sweep.
        events: Vec<OldEvent>,
        /// Only what was received, and last delivered again, before.
        received_before: Timestamp,
        /// The feed position before which it was seen whether something else names the bytes.
        seen: u64,
    },
    /// Changes the settings of a queue.
    SetQueue(SetQueue),
    /// Takes a composed mail in to be sent: message, recipients, key against doubles and counters
    /// at once. A repeated one is answered with what the first came to.
    QueueMessage(Box<QueueMessage>),
    /// Takes sends that are due, so that nobody else hands them over. Nothing leaves without it.
    ClaimSends(ClaimSends),
    /// Notes what came of claims.
    RecordOutcomes(Vec<SendOutcome>),
    /// Gives claims up whose outcome nobody will tell: their sends are uncertain.
    ExpireClaims(ExpireClaims),
    /// Takes a send back that no transport has seen.
    CancelSend {
        /// The tenant.
        tenant: TenantId,
        /// The mailbox.
        identity: IdentityId,
        /// The message.
        message: MessageId,
    },
    /// Says what became of a send that was uncertain.
    ResolveSend(ResolveSend),
    /// Notes what status notifications and providers say of deliveries.
    RecordDeliveries(Vec<DeliveryReport>),
    /// Keeps a mail that is not sent yet.
    PutDraft(PutDraft),
    /// Drops it.
    RemoveDraft {
        /// The tenant.
        tenant: TenantId,
        /// The mailbox.
        identity: IdentityId,
        /// The draft.
        draft: DraftId,
    },
    /// Saves a round of work on a document.
    PutDocument(PutDocument),
    /// Keeps a file to attach.
    PutUpload(Box<PutUpload>),
    /// Changes a tenant's policy.
    SetPolicy(SetPolicy),
    /// Writes to an address no more.
    PutSuppression(PutSuppression),
    /// Writes to it again.
    RemoveSuppression(RemoveSuppression),
    /// Adds an entry to a tenant's lists.
    PutListEntry(ListEntry),
    /// Takes it out.
    RemoveListEntry(ListEntry),
    /// Drops keys against doubles and uploaded files that have ended.
    PruneSending,
}

/// What changes of a tenant; `None` leaves as it is.
#[derive(Debug, Clone, Default)]
pub struct TenantPatch {
    /// Suspends or reactivates it.
    pub status: Option<TenantStatus>,
    /// Its name for people.
    pub name: Option<String>,
    /// IANA time zone that dates in searches are read in.
    pub timezone: Option<String>,
}

/// See [`Command::CreateTenant`].
#[derive(Debug, Clone)]
pub struct CreateTenant {
    /// `^[a-z0-9][a-z0-9-]{1,31}$`.
    pub slug: String,
    /// A name for people; the slug when empty.
    pub name: String,
    /// Live or test.
    pub mode: Mode,
    /// IANA time zone, checked by the caller.
    pub timezone: String,
    /// What follows usernames; `.` and the slug when `None`.
    pub address_suffix: Option<String>,
}

/// See [`Command::CreateDomain`].
#[derive(Debug, Clone)]
pub struct CreateDomain {
    /// The tenant; `None` for the deployment.
    pub tenant: Option<TenantId>,
    /// Lower-case A-label.
    pub name: String,
    /// What is known about it.
    pub state: DomainState,
}

/// How the first address of an identity is named.
#[derive(Debug, Clone)]
pub enum NewAddress {
    /// By a username: the address is `username` + the tenant's suffix + `@domain`.
    Username {
        /// The username.
        username: String,
        /// A domain of ours, lower-case A-label.
        domain: String,
    },
    /// By the whole address; rules for usernames bind it only under a domain of ours.
    Address(Address),
}

/// See [`Command::CreateIdentity`].
#[derive(Debug, Clone)]
pub struct CreateIdentity {
    /// The tenant.
    pub tenant: TenantId,
    /// Its first address.
    pub address: NewAddress,
    /// 1 to 78 characters; the username when empty.
    pub display_name: String,
    /// What it is for, at most 64 characters.
    pub purpose: Option<String>,
    /// Who answers for it.
    pub owner: Option<Owner>,
    /// The caller's own values.
    pub metadata: BTreeMap<String, String>,
    /// Makes the call repeatable.
    pub client_id: Option<String>,
}

/// What to change of an identity; `None` leaves a value as it is, `Some(None)` empties it.
#[derive(Debug, Clone, Default)]
pub struct IdentityPatch {
    /// Active or paused.
    pub status: Option<IdentityStatus>,
    /// Why it is paused; by hand when left out. What paused it first stays the reason.
    pub pause_reason: Option<PauseReason>,
    /// The name shown.
    pub display_name: Option<String>,
    /// What it is for.
    pub purpose: Option<Option<String>>,
    /// Who answers for it.
    pub owner: Option<Option<Owner>>,
    /// All of its metadata.
    pub metadata: Option<BTreeMap<String, String>>,
    /// What it puts under its mails.
    pub signature: Option<Option<Signature>>,
    /// What it may send.
    pub send_policy: Option<SendPolicy>,
}

/// See [`Command::UpdateIdentity`].
#[derive(Debug, Clone)]
pub struct UpdateIdentity {
    /// The tenant.
    pub tenant: TenantId,
    /// The identity.
    pub identity: IdentityId,
    /// What changes.
    pub patch: IdentityPatch,
}

/// What is kept of a secret.
#[derive(Debug, Clone)]
pub struct Credential {
    /// The 12 characters that find it.
    pub lookup: String,
    /// Keyed hash of the whole token.
    pub hash: [u8; 32],
}

/// See [`Command::CreateKey`].
#[derive(Debug, Clone)]
pub struct CreateKey {
    /// A name for people.
    pub name: String,
    /// How wide it reaches.
    pub level: Level,
    /// Live or test; a platform key is live.
    pub mode: Mode,
    /// Its tenant, for the levels tenant and identity.
    pub tenant: Option<TenantId>,
    /// Its identity, for level identity.
    pub identity: Option<IdentityId>,
    /// What it may do; never empty.
    pub permissions: Vec<Permission>,
    /// Queues and replay targets it is granted.
    pub grants: KeyGrants,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// What is kept of its secret.
    pub credential: Credential,
}

/// See [`Command::RotateKey`].
#[derive(Debug, Clone)]
pub struct RotateKey {
    /// The key's tenant; `None` for a platform key.
    pub tenant: Option<TenantId>,
    /// The key.
    pub key: KeyId,
    /// How long the old secret goes on, 0 to 168 hours.
    pub overlap_hours: u64,
    /// What is kept of the new secret.
    pub credential: Credential,
}

/// One mailbox that a mail is for.
#[derive(Debug, Clone)]
pub struct Recipient {
    /// Its tenant.
    pub tenant: TenantId,
    /// The identity.
    pub identity: IdentityId,
    /// The address as the envelope gave it, with its detail.
    pub delivered_to: Option<String>,
}

/// How a mail came in.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// `smtp`, `lmtp`, `raw`, `import`, `imap`.
    pub provider: String,
    /// How far the channel vouches.
    pub trust_mode: TrustMode,
    /// In words what was checked about the channel.
    pub verify_detail: Option<String>,
    /// The peer's address.
    pub source_ip: Option<String>,
    /// Envelope sender; empty for the null sender.
    pub mail_from: Option<String>,
    /// Further facts of the session, shown as the event's headers.
    pub headers: BTreeMap<String, String>,
}

impl Arrival {
    /// The provider of mail that comes from a mailbox of this deployment: it may be as large as what is
    /// sent.
    pub const LOOPBACK: &'static str = "loopback";
}

/// See [`Command::Receive`].
#[derive(Debug)]
pub struct Receive {
    /// The bytes as received.
    pub raw: RawMail,
    /// Whom they are for, at least one.
    pub recipients: Vec<Recipient>,
    /// How they came.
    pub arrival: Arrival,
}

/// A parsed mail, ready to become a message: made where it was parsed, so that the writer has
/// nothing left to compute.
#[derive(Debug)]
pub struct Draft {
    /// What kind of mail it is.
    pub kind: Kind,
    /// Normalised Message-ID.
    pub rfc_message_id: String,
    /// Hash of its own Message-ID, first, then of every id it refers to, each once.
    pub keys: Vec<KeyHash>,
    /// The Date header.
    pub date: Option<Timestamp>,
    /// Time of the topmost Received header.
    pub received_at: Option<Timestamp>,
    /// The words.
    pub doc: MessageDoc,
    /// The words as the store keeps them, filled by the store when the command is handed in.
    pub packed: Vec<u8>,
    /// The thread that a verified token in the envelope recipient names: it goes before what the
    /// header says, if it is one of the mailbox.
    pub thread: Option<ThreadId>,
}

impl Draft {
    /// Parses a mail and takes it.
    pub fn read(raw: &[u8], delivered_to: Option<String>) -> Self {
        Self::new(postroom_mail::parse(raw), delivered_to)
    }

    /// Takes a parsed mail; `delivered_to` is the envelope recipient as given.
    pub fn new(parsed: Parsed, delivered_to: Option<String>) -> Self {
        let mut keys = vec![key_hash(&parsed.message_id)];
        for id in parsed.in_reply_to.iter().chain(&parsed.references) {
            let key = key_hash(id);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Self {
            kind: parsed.kind,
            rfc_message_id: parsed.message_id.clone(),
            keys,
            date: parsed.date,
            received_at: parsed.received_at,
            doc: MessageDoc::new(parsed, delivered_to),
            packed: Vec::new(),
            thread: None,
        }
    }

    /// Joins the thread of another mail by its Message-ID, though no header of this one names it.
    pub fn joins(&mut self, message_id: &str) {
        let key = key_hash(message_id);
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
    }

    /// Address of the first author.
    pub fn from_address(&self) -> Option<&str> {
        self.doc
            .from
            .as_ref()
            .map(|from| from.address.as_str())
            .filter(|address| !address.is_empty())
    }
}

/// See [`Command::Ingest`].
#[derive(Debug)]
pub struct Ingest {
    /// The tenant.
    pub tenant: TenantId,
    /// The pending event.
    pub event_id: u64,
    /// Its mailbox.
    pub identity: IdentityId,
    /// What was read out of its bytes.
    pub draft: Draft,
    /// The work that it opens in the same commit, where a source of mail has the mailbox.
    pub work: Option<MailWork>,
}

/// See [`Ingest::work`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailWork {
    /// The source whose rules judged the mail.
    pub source: SourceId,
    /// Its [`crate::SourceRow::version`] then; with another one the mail is judged anew
    /// ([`crate::Refusal::SourceChanged`]).
    pub source_version: u64,
    /// Where the mail's event goes.
    pub routing: Routing,
}

/// See [`Command::Import`].
#[derive(Debug)]
pub struct Import {
    /// The mailbox.
    pub recipient: Recipient,
    /// The bytes.
    pub raw: RawMail,
    /// What was read out of them.
    pub draft: Draft,
    /// `import` or `imap`.
    pub provider: String,
    /// Time of the file, used when the mail has neither a Received nor a Date header.
    pub file_time: Option<Timestamp>,
    /// Whether nobody read it yet.
    pub unread: bool,
    /// Labels it comes with.
    pub labels: Vec<String>,
}

/// See [`Command::FailEvent`].
#[derive(Debug, Clone)]
pub struct FailEvent {
    /// The tenant.
    pub tenant: TenantId,
    /// The event.
    pub event_id: u64,
    /// Why, in our own words.
    pub detail: String,
}

/// A message or all messages of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One message.
    Message(MessageId),
    /// Every visible message of the thread.
    Thread(ThreadId),
}

/// See [`Command::UpdateLabels`].
#[derive(Debug, Clone)]
pub struct UpdateLabels {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox; a target of another is not found.
    pub identity: IdentityId,
    /// What is labelled.
    pub target: Target,
    /// Labels put on.
    pub add: Vec<String>,
    /// Labels taken off; one that is in both lists ends off.
    pub remove: Vec<String>,
    /// Read or unread.
    pub read: Option<bool>,
}

/// See [`Command::ArchiveThread`].
#[derive(Debug, Clone)]
pub struct ArchiveThread {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox.
    pub identity: IdentityId,
    /// The thread.
    pub thread: ThreadId,
    /// Away or back.
    pub archived: bool,
}

/// See [`Command::KeepResultSet`].
#[derive(Debug, Clone)]
pub struct KeepResultSet {
    /// What is kept.
    pub row: ResultSetRow,
}

/// See [`Command::RecordImportFailure`].
#[derive(Debug)]
pub struct RecordImportFailure {
    /// The tenant.
    pub tenant: TenantId,
    /// The identity.
    pub identity: IdentityId,
    /// Where it was read from.
    pub location: String,
    /// Why, in our own words.
    pub reason: String,
    /// Its bytes, when they could be read.
    pub raw: Option<RawMail>,
}

impl RecordImportFailure {
    /// What tells a repeated failure when there are no bytes to tell it by.
    pub(crate) fn place(&self) -> (IdentityId, String, String) {
        (self.identity, self.location.clone(), self.reason.clone())
    }
}
