//! Commands on mail that is sent.

use crate::{
    AddressHash, Draft, PolicyPatch, RawMail, Refusal,
    row::{
        BounceType, ListDirection, ListKind, RecipientField, SendKind, SendOperation, SendRow,
        SendScope, Sha256Bytes, SuppressionReason,
    },
};
use postroom_types::{DraftId, IdentityId, KeyId, MessageId, TenantId, ThreadId, Timestamp};
use std::collections::BTreeMap;

/// The steps at which a send can be refused, in their order: the first that fails is answered,
/// and nothing is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SendStep {
    /// The mailbox is there: `identity_not_found`.
    Identity,
    /// The tenant works: `tenant_suspended`.
    Tenant,
    /// The mailbox is not paused: `identity_paused`.
    Paused,
    /// Somebody answers for it: `identity_owner_required`.
    Owner,
    /// What is answered, continued or sent is there, a draft as it was read: `message_not_found`,
    /// `thread_not_found`, `draft_not_found`, `conflict`.
    Target,
    /// Recipients are addresses: `address_invalid`, `address_unsupported`.
    Recipients,
    /// There are not too many: `too_many_recipients`.
    Count,
    /// A test key reaches them: `test_mode_recipient`.
    TestMode,
    /// The key may write to them: `policy_denied`.
    Scope,
    /// Marketing mail has what it needs: `marketing_requirements_missing`.
    Marketing,
    /// An automatic answer is allowed: `auto_reply_not_allowed`.
    AutoReply,
    /// Nobody answers in circles: `loop_detected`.
    Hops,
    /// Header fields are ones that may be set: `header_not_allowed`, `invalid_request`.
    Headers,
    /// Subject, text, attachments, labels and metadata: `invalid_request`.
    Content,
    /// The sender's address is the mailbox's own: `invalid_request`, `from_address`.
    From,
    /// Its domain sends: `domain_not_ready`.
    Domain,
    /// There is a transport: `transport_unavailable`.
    Transport,
    /// Recipients are filtered; only a dry run is refused here.
    Filters,
    /// The mail is not too large: `message_too_large`.
    Size,
    /// There is some left of today's caps: `daily_cap_reached`.
    Allowance,
}

/// A refusal that was found where the mail was composed. It is answered when no earlier step
/// refuses, and not at all when the call repeats one that was accepted.
#[derive(Debug, Clone)]
pub struct SendFault {
    /// At which step.
    pub step: SendStep,
    /// Why.
    pub refusal: Refusal,
}

/// The caller's key against doubles: see [`crate::idempotency_key`] and [`crate::fingerprint`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// SHA-256 of the key.
    pub key: Sha256Bytes,
    /// What is asked for.
    pub fingerprint: Sha256Bytes,
}

/// The thread of a mail that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendThread {
    /// It begins one, with this id.
    New(ThreadId),
    /// It continues this one (its id or an alias).
    Existing(ThreadId),
}

/// Where a recipient is, as far as the deployment knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecipientRoute {
    /// A mailbox of this deployment.
    Local,
    /// An address that plays a fate.
    Simulator,
    /// Anywhere else.
    Outside,
}

/// One recipient of a mail that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRecipient {
    /// `local@domain`, lower case, with its detail.
    pub address: String,
    /// The name shown; empty without one.
    pub name: String,
    /// Where it is named.
    pub field: RecipientField,
    /// Keyed hash of the address.
    pub hash: AddressHash,
    /// Keyed hash of the address without its detail, where it has one.
    pub base_hash: Option<AddressHash>,
    /// Where it is.
    pub route: RecipientRoute,
    /// Whether the answered message asks for its answers there, as far as whoever composed the answer
    /// checked that it may: such a one takes part in the thread.
    pub asked: bool,
    /// Whether the message that is passed on was to them, or from them.
    pub on_forwarded: bool,
}

/// A draft that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentDraft {
    /// Which.
    pub id: DraftId,
    /// The version that the mail was written from.
    pub version: u64,
}

/// The very bytes that are sent, and what was read out of them.
#[derive(Debug)]
pub struct OutgoingMail {
    /// The bytes.
    pub raw: RawMail,
    /// What was read out of them.
    pub draft: Draft,
}

/// The day whose counters a send is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageDay {
    /// `YYYY-MM-DD` in the tenant's time zone.
    pub date: String,
    /// When it ends.
    pub ends_at: Timestamp,
}

/// See [`crate::Command::QueueMessage`].
#[derive(Debug)]
pub struct QueueMessage {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox that sends.
    pub identity: IdentityId,
    /// The key that asks; `None` for a person.
    pub key: Option<KeyId>,
    /// To whom it may write.
    pub scope: SendScope,
    /// Whether it is a test key.
    pub test: bool,
    /// What is asked for.
    pub operation: SendOperation,
    /// What kind of mail it is.
    pub kind: SendKind,
    /// The message's id, made where the mail was composed.
    pub id: MessageId,
    /// Its thread.
    pub thread: SendThread,
    /// The message it answers or hands on.
    pub answers: Option<MessageId>,
    /// Against doubles.
    pub idempotency: Idempotency,
    /// Own address that sends, `local@domain`.
    pub from: String,
    /// Whether the thread uses that address already, so that a retiring one may go on.
    pub thread_uses_from: bool,
    /// Envelope sender; `from` unless told otherwise.
    pub envelope_from: Option<String>,
    /// Recipients in the order To, Cc, Bcc; a repeated address counts once, where it is first.
    pub recipients: Vec<SendRecipient>,
    /// The mail; `None` when it could not be composed, which `faults` says.
    pub mail: Option<OutgoingMail>,
    /// How many mails in a row answered each other, this one counted: 1 for a new one.
    pub hop: u64,
    /// Name of the transport.
    pub transport: String,
    /// Whether that transport reaches people outside of the deployment.
    pub leaves: bool,
    /// Today.
    pub day: UsageDay,
    /// Labels it gets.
    pub labels: Vec<String>,
    /// The caller's own values.
    pub metadata: BTreeMap<String, String>,
    /// The draft it was, which goes.
    pub draft: Option<SentDraft>,
    /// What was found wrong where it was composed.
    pub faults: Vec<SendFault>,
    /// Whether only to say what would become of it.
    pub dry_run: bool,
}

/// Names a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendRef {
    /// The tenant.
    pub tenant: TenantId,
    /// The message.
    pub message: MessageId,
}

/// See [`crate::Command::ClaimSends`].
#[derive(Debug, Clone)]
pub struct ClaimSends {
    /// Sends that are due, at most [`postroom_types::limit::SEND_BATCH`]; of the others, those
    /// that somebody else has or that are not due are left out.
    pub sends: Vec<SendRef>,
    /// The process that claims.
    pub process: u128,
    /// What was queued before this, or was tried before, is asked again of suppressions and lists.
    pub asked_again_before: Timestamp,
}

impl ClaimSends {
    /// Whether suppressions and lists may have changed since they were asked about a send.
    pub(crate) fn asks_again(&self, row: &SendRow) -> bool {
        row.attempt > 0 || row.queued_at < self.asked_again_before
    }
}

/// What a transport answered for one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It was taken.
    Submitted,
    /// It was taken by the recipient's own server.
    Delivered,
    /// It was refused for good.
    Rejected,
    /// It was put off: definitely not taken, to be tried again.
    Retry,
    /// Whether it was taken is not known.
    Uncertain,
}

/// What a transport answered for one recipient, with its codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientOutcome {
    /// The recipient as the claim named it.
    pub address: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Reply code (RFC 5321).
    pub smtp_code: Option<u64>,
    /// Enhanced status code (RFC 3463).
    pub enhanced_code: Option<String>,
    /// Why, a word of ours or a line of the transport.
    pub reason: Option<String>,
}

/// What came of handing a send over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submission {
    /// The transport answered; a recipient of the claim that it does not speak of is uncertain.
    Answered {
        /// The transport's name for the mail.
        provider_message_id: Option<String>,
        /// Its answers.
        recipients: Vec<RecipientOutcome>,
    },
    /// It was definitely not handed over: it is tried again later, for a day.
    NotHandedOver {
        /// Why, a word.
        reason: String,
        /// Reply code, where there was one.
        smtp_code: Option<u64>,
        /// Earliest next try, milliseconds from now; by the schedule without one.
        retry_after_ms: Option<u64>,
    },
    /// It was not even tried: it waits as if it had not been claimed.
    NotTried,
    /// Whether it was taken is not known for any recipient.
    Uncertain {
        /// `transport_timeout`, `transport_connection_lost` or `provider_outcome_unknown`.
        reason: String,
    },
}

/// The outcome of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendOutcome {
    /// The send.
    pub send: SendRef,
    /// The claim's token.
    pub token: u128,
    /// What came of it.
    pub submission: Submission,
}

impl SendOutcome {
    /// The name under which the provider speaks of it from now on.
    pub(crate) fn provider_name(&self) -> Option<(TenantId, String)> {
        match &self.submission {
            Submission::Answered {
                provider_message_id: Some(name),
                ..
            } => Some((self.send.tenant, name.clone())),
            _ => None,
        }
    }
}

/// See [`crate::Command::ExpireClaims`].
#[derive(Debug, Clone)]
pub struct ExpireClaims {
    /// Sends that are claimed, at most [`postroom_types::limit::SEND_BATCH`].
    pub sends: Vec<SendRef>,
    /// Claims as old as this are given up.
    pub claimed_before: Timestamp,
    /// And so are claims of any other process than this one, where only one can run.
    pub only_process: Option<u128>,
}

/// See [`crate::Command::ResolveSend`].
#[derive(Debug, Clone, Copy)]
pub struct ResolveSend {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox.
    pub identity: IdentityId,
    /// The message.
    pub message: MessageId,
    /// Whether it was sent.
    pub sent: bool,
}

/// Which send an event speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliverySubject {
    /// The message.
    Message(MessageId),
    /// The transport's name for it.
    Provider(String),
}

/// What an event says of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryEvent {
    /// The provider took it: an uncertain send did leave.
    Submitted,
    /// The recipient's server took it.
    Delivered,
    /// It takes longer.
    Deferred,
    /// It came back.
    Bounced(BounceType),
    /// The recipient called it spam.
    Complained,
    /// The provider refused it after all.
    Rejected,
    /// The provider does not write to this address.
    SuppressedByProvider,
}

/// What a status notification or a provider's event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryReport {
    /// The tenant.
    pub tenant: TenantId,
    /// Who says it.
    pub reporter: Reporter,
    /// Which send.
    pub subject: DeliverySubject,
    /// Which recipient; all of them without one.
    pub recipient: Option<String>,
    /// What it says.
    pub event: DeliveryEvent,
    /// Reply code.
    pub smtp_code: Option<u64>,
    /// Enhanced status code.
    pub enhanced_code: Option<String>,
    /// Why, in the reporter's words.
    pub reason: Option<String>,
}

/// Who says what became of a delivery, and so how far it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporter {
    /// Whoever handed the mail over, by a verified channel of the tenant.
    Transport,
    /// A verified channel that belongs to one mailbox: it speaks of that mailbox's mail alone.
    TransportOf(IdentityId),
    /// A mail that says it is a report (RFC 3464). Nobody vouches for it; that it names the
    /// Message-ID shows no more than that its writer has seen the mail.
    Mail,
}

/// See [`crate::Command::PutDraft`].
#[derive(Debug, Clone)]
pub struct PutDraft {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox.
    pub identity: IdentityId,
    /// Which; `None` for a new one.
    pub id: Option<DraftId>,
    /// What it holds, JSON.
    pub document: String,
    /// The version it changes; any without one.
    pub version: Option<u64>,
    /// The key that saves it; `None` for a person.
    pub by: Option<KeyId>,
    /// To whom that one may write.
    pub scope: SendScope,
    /// Whether they have read the version that they change, and so stand for all of it.
    pub has_read: bool,
}

/// See [`crate::Command::PutUpload`].
#[derive(Debug)]
pub struct PutUpload {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox that may attach it.
    pub identity: IdentityId,
    /// Its name.
    pub filename: String,
    /// Its media type.
    pub content_type: String,
    /// Its bytes.
    pub raw: RawMail,
}

/// See [`crate::Command::SetPolicy`].
#[derive(Debug, Clone)]
pub struct SetPolicy {
    /// The tenant.
    pub tenant: TenantId,
    /// What changes.
    pub patch: PolicyPatch,
}

/// See [`crate::Command::PutSuppression`].
#[derive(Debug, Clone)]
pub struct PutSuppression {
    /// The tenant.
    pub tenant: TenantId,
    /// Keyed hash of the address.
    pub hash: AddressHash,
    /// The address masked: see [`crate::masked`].
    pub hint: String,
    /// Why.
    pub reason: SuppressionReason,
}

/// See [`crate::Command::RemoveSuppression`].
#[derive(Debug, Clone, Copy)]
pub struct RemoveSuppression {
    /// The tenant.
    pub tenant: TenantId,
    /// Keyed hash of the address.
    pub hash: AddressHash,
    /// Whether it may go although its owner complained.
    pub confirm_complaint: bool,
}

/// See [`crate::Command::PutListEntry`].
#[derive(Debug, Clone)]
pub struct ListEntry {
    /// The tenant.
    pub tenant: TenantId,
    /// Which way it works.
    pub direction: ListDirection,
    /// What it does.
    pub kind: ListKind,
    /// `user@domain` or `@domain`.
    pub entry: String,
}
