//! Decisions: a command and the state it names become changes.
//!
//! For: deciding what a command does. [`decide`] takes a [`Command`] and the slice of [`State`]
//! that the command [names](Command::needs), and gives the [`Change`]s to write with the
//! [`Outcome`] to answer, or a [`Refusal`].
//!
//! Never: no database, sockets, files, clock or randomness. The instant and the random bits are
//! arguments ([`Context`]); the same arguments give the same answer.
//!
//! How data passes through: the store collects what the waiting commands need, loads it as one
//! `State`, and for each command in order decides and applies the changes to that state in
//! memory, so that the next command sees them; then it writes all of them at once. A command
//! whose state cannot be complete in this round is [deferred](Refusal::Deferred) to the next.

mod change;
mod command;
mod decide;
mod doc;
mod fold;
mod idempotency;
mod needs;
mod outcome;
mod raw;
pub mod routing;
pub mod row;
mod state;
mod thread;
mod username;
mod word;

pub use change::{Change, Decision};
pub use command::{
    ArchiveThread, Arrival, Arrive, ClaimNextTodo, ClaimSends, ClaimTodo, Command, CreateDomain,
    CreateIdentity, CreateKey, CreateSource, CreateTenant, CreateTodo, Credential, DeliveryEvent,
    DeliveryReport, DeliverySubject, Draft, EndAttempt, ExpireClaims, FailEvent, HeartbeatTodo,
    Idempotency, IdentityPatch, Import, Ingest, KeepResultSet, LeaseTerms, ListEntry, MailWork,
    NewAddress, OldEvent, OutgoingMail, PostponeEvent, PutDocument, PutDraft, PutSuppression,
    PutUpload, QueueMessage, Receive, Recipient, RecipientOutcome, RecipientRoute,
    RecordImportFailure, RemoveSuppression, Reporter, ResolveSend, RetryTodo, RotateKey,
    RotateSource, Routing, SealedSecret, SealedToken, SendFault, SendOutcome, SendRecipient,
    SendRef, SendStep, SendThread, SentDraft, SetPolicy, SetQueue, SetSourceRules, SetSourceSecret,
    SettleEvent, SourcePatch, Submission, Target, TenantPatch, UndoClaim, UpdateIdentity,
    UpdateLabels, UsageDay, Verdict, Work,
};
pub use decide::{Context, decide};
pub use doc::{MessageDoc, attachment_id};
pub use fold::fold;
pub use idempotency::{fingerprint, idempotency_key};
pub use needs::{ClaimSpec, Needs};
pub use outcome::{
    ArrivalOutcome, ArriveOutcome, Claimed, ClaimedSend, DeliveryUpdate, ImportOutcome,
    LabelsOutcome, LeaseToken, OpenedTodo, Outcome, Refusal, SendDetail, SendUpdate, SentOutcome,
    SweepOutcome, WouldSend,
};
pub use postroom_mail::{Attachment, Calendar, Defect, Flag, HeaderField, Kind};
pub use raw::RawMail;
pub use row::{
    AddressHash, AddressRole, AddressRow, AddressStatus, AttemptDisposition, AttemptOutcome,
    AttemptRow, AutoReply, AutoReplyPatch, AutoReplyRule, BounceType, CapKind, ClaimerKind,
    ContactRow, DeadReason, DeliveryRow, DeliveryStatus, Direction, Disclosure, DisclosureMode,
    DisclosurePatch, Disposition, DocumentSessionRow, DocumentStateRow, DomainRow, DomainState,
    DraftRow, EarlyReportRow, EventRow, EventState, Family, FeedKind, FeedRow, IdempotencyRow,
    IdentityRow, IdentityStatus, ImportFailureRow, KeyGrants, KeyHash, KeyRow, KeySecretRow,
    LabelRow, LargeAttachments, Lease, ListDirection, ListEntryRow, ListKind, MessageRow,
    MessageStatus, Mode, Owner, OwnerLinkRow, Participant, PauseReason, Policy, PolicyPatch,
    PolicyRow, QUARANTINE_QUEUE, QuarantineReason, QueueRow, RecipientField, ResultSetRow, Sealed,
    SecretOrigin, SendClaim, SendKind, SendOperation, SendPolicy, SendRow, SendScope, SendState,
    SessionRow, Sha256Bytes, Signature, SourceRow, SourceSecret, SourceState, SourceStats,
    SuppressionReason, SuppressionRow, TenantRow, TenantStatus, ThreadHold, ThreadKeyRow,
    ThreadRow, TodoRow, TodoState, TrustMode, UploadRow, UsageRow, Worker, is_queue_name, key_hash,
    lease_token_hash, masked, roll_up, subject_key_hash, todo_key_hash,
};
pub use state::{Awaiting, Counter, LoadedMessage, State};
pub use thread::aggregate;
pub use username::{check_username, is_reserved};
pub use word::UnknownWord;

/// The tenant whose counter orders what belongs to no tenant (tenants, platform keys, domains of
/// the deployment). No tenant has this id.
pub fn deployment() -> postroom_types::TenantId {
    postroom_types::TenantId::from_parts(0, 0)
}

/// The milliseconds of a ULID's bits.
pub fn ulid_ms(bits: u128) -> u64 {
    u64::try_from(bits >> 80).unwrap_or(0)
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Whether a string is a label: `^[a-z0-9][a-z0-9_:-]{0,63}$`.
pub fn is_label(text: &str) -> bool {
    let head = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 64
        && text.as_bytes().first().is_some_and(head)
        && text
            .bytes()
            .all(|byte| head(&byte) || b"_:-".contains(&byte))
}
