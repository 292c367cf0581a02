//! Rows: what the store keeps, as plain values shared by every room above.

mod arrival;
mod document;
mod mail;
mod person;
mod policy;
mod report;
mod send;
mod source;
mod todo;

pub use arrival::{
    Disposition, EventRow, EventState, Family, FeedKind, FeedRow, ImportFailureRow, Sha256Bytes,
    TrustMode,
};
pub use document::{DocumentSessionRow, DocumentStateRow};
pub use mail::{
    ContactRow, Direction, KeyHash, LabelRow, MessageRow, MessageStatus, Participant, ResultSetRow,
    ThreadHold, ThreadKeyRow, ThreadRow, key_hash,
};
pub use person::{
    AddressRole, AddressRow, AddressStatus, DomainRow, DomainState, IdentityRow, IdentityStatus,
    KeyRow, KeySecretRow, Mode, Owner, OwnerLinkRow, PauseReason, SessionRow, TenantRow,
    TenantStatus,
};
pub use policy::{
    AutoReply, AutoReplyPatch, Disclosure, DisclosurePatch, Policy, PolicyPatch, PolicyRow,
};
pub use report::EarlyReportRow;
pub(crate) use send::without_detail;
pub use send::{
    AddressHash, AutoReplyRule, BounceType, CapKind, DeliveryRow, DeliveryStatus, DisclosureMode,
    DraftRow, IdempotencyRow, LargeAttachments, ListDirection, ListEntryRow, ListKind,
    RecipientField, SendClaim, SendKind, SendOperation, SendPolicy, SendRow, SendScope, SendState,
    Signature, SuppressionReason, SuppressionRow, UploadRow, UsageRow, masked, roll_up,
};
pub use source::{
    KeyGrants, Sealed, SecretOrigin, SourceRow, SourceSecret, SourceState, SourceStats,
};
pub use todo::{
    AttemptDisposition, AttemptOutcome, AttemptRow, ClaimerKind, DeadReason, Lease,
    QUARANTINE_QUEUE, QuarantineReason, QueueRow, TodoRow, TodoState, Worker, is_queue_name,
    lease_token_hash, subject_key_hash, todo_key_hash,
};
