//! What was sent: sends, deliveries, keys against doubles, what was counted, and what was written
//! and not sent yet.

use crate::{Kind, MessageStatus, row::Sha256Bytes, word::words};
use postroom_types::{DraftId, IdentityId, KeyId, Level, MessageId, TenantId, Timestamp, UploadId};
use std::collections::BTreeMap;

words! {
    /// What was asked for.
    SendOperation {
        /// A new mail.
        Send = "send",
        /// An answer, to one or to all.
        Reply = "reply",
        /// A mail handed on.
        Forward = "forward",
    }
    /// What kind of mail is sent.
    SendKind {
        /// Written for its recipients.
        Transactional = "transactional",
        /// Bulk mail that its recipients agreed to.
        Marketing = "marketing",
        /// An answer that no person decided on.
        AutoReply = "auto_reply",
    }
    /// How far a send is.
    SendState {
        /// It waits for a transport.
        Queued = "queued",
        /// A transport has it before it: nobody else may take it.
        Claimed = "claimed",
        /// The transport answered for each recipient.
        Done = "done",
        /// Whether it left is not known for some recipient. It is never sent again by itself.
        Uncertain = "uncertain",
        /// Somebody took it back before a transport had it.
        Canceled = "canceled",
    }
    /// Where a recipient was named.
    RecipientField {
        /// In To.
        To = "to",
        /// In Cc.
        Cc = "cc",
        /// Nowhere in the mail.
        Bcc = "bcc",
    }
    /// One recipient's fate.
    DeliveryStatus {
        /// It waits for a transport.
        Queued = "queued",
        /// It is not sent to them, by a rule of ours.
        Suppressed = "suppressed",
        /// The transport took it.
        Submitted = "submitted",
        /// Their server took it.
        Delivered = "delivered",
        /// Their server took it not yet; whoever took it from us tries again.
        Deferred = "deferred",
        /// It came back.
        Bounced = "bounced",
        /// They called it spam.
        Complained = "complained",
        /// The transport refused it.
        Rejected = "rejected",
        /// It was given up.
        Failed = "failed",
        /// Whether it left is not known.
        Uncertain = "uncertain",
    }
    /// Whether writing to an address again makes sense.
    BounceType {
        /// Never.
        Hard = "hard",
        /// Later.
        Soft = "soft",
    }
    /// To whom a key may write.
    SendScope {
        /// In a thread, to those who take part in it.
        Thread = "thread",
        /// Also to people the mailbox has written to before.
        Known = "known",
        /// To anyone.
        Anyone = "anyone",
    }
    /// Why an address is not written to.
    SuppressionReason {
        /// Mail to it came back for good.
        HardBounce = "hard_bounce",
        /// Its owner called a mail spam.
        Complaint = "complaint",
        /// Its owner wants no more.
        Unsubscribe = "unsubscribe",
        /// Somebody here said so.
        Manual = "manual",
        /// The provider said so.
        Provider = "provider",
    }
    /// Which way a list of addresses works.
    ListDirection {
        /// On mail from us.
        Send = "send",
        /// On mail to us.
        Receive = "receive",
    }
    /// What an entry of a list does; block beats allow.
    ListKind {
        /// Lets through.
        Allow = "allow",
        /// Holds back.
        Block = "block",
    }
    /// Which cap was reached.
    CapKind {
        /// That of the mailbox.
        Identity = "identity",
        /// That of the tenant.
        Tenant = "tenant",
    }
    /// Whether a mailbox may answer automatically.
    AutoReplyRule {
        /// It may, as far as the tenant's policy does.
        Allowed = "allowed",
        /// It may not.
        Denied = "denied",
    }
    /// How a mail says that a program wrote it.
    DisclosureMode {
        /// Not at all.
        None = "none",
        /// In its last line.
        Footer = "footer",
        /// In a header field.
        Header = "header",
    }
    /// What becomes of attachments that are too large.
    LargeAttachments {
        /// The send is refused.
        Refuse = "refuse",
    }
}

impl SendKind {
    /// The kind of the message.
    pub fn kind(self) -> Kind {
        match self {
            Self::Transactional => Kind::Transactional,
            Self::Marketing => Kind::Marketing,
            Self::AutoReply => Kind::AutoReply,
        }
    }
}

impl DeliveryStatus {
    /// Whether more can become of it by itself.
    pub fn is_open(self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Submitted | Self::Deferred | Self::Uncertain
        )
    }
}

/// The narrower one is the lesser.
impl SendScope {
    /// What a key of a level has unless told otherwise: an agent's key answers, and no more.
    pub fn of_level(level: Level) -> Self {
        match level {
            Level::Identity => Self::Thread,
            Level::Tenant | Level::Platform => Self::Anyone,
        }
    }
}

/// A keyed hash of an address in a tenant: it tells whether an address is known, and nobody can
/// read the address out of it. The store makes it.
pub type AddressHash = [u8; 16];

/// Who has a send before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendClaim {
    /// Proves the claim when its outcome is recorded.
    pub token: u128,
    /// The process that claimed.
    pub process: u128,
    /// When.
    pub at: Timestamp,
}

/// A message on its way out. Its bytes are those of its message and never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRow {
    /// The message.
    pub message_id: MessageId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// The message's number.
    pub num: u64,
    /// The key that asked; `None` for a person.
    pub key_id: Option<KeyId>,
    /// What was asked for.
    pub operation: SendOperation,
    /// What kind of mail it is.
    pub kind: SendKind,
    /// Name of the transport it was queued for.
    pub transport: String,
    /// Envelope sender (RFC 5321 MAIL FROM).
    pub envelope_from: String,
    /// Normalised Message-ID, fixed when it was queued.
    pub rfc_message_id: String,
    /// Digest of its bytes.
    pub sha256: Sha256Bytes,
    /// Length of its bytes.
    pub size: u64,
    /// The message it answers or hands on.
    pub answers: Option<MessageId>,
    /// How many mails in a row answered each other, this one counted.
    pub hop: u64,
    /// Hash of the caller's key against doubles.
    pub idempotency: Sha256Bytes,
    /// How far it is.
    pub state: SendState,
    /// Attempts that ended.
    pub attempt: u64,
    /// When it may be claimed; set while it is queued.
    pub next_attempt_at: Option<Timestamp>,
    /// Who has it, or had it last: a late outcome of that claim is still believed.
    pub claim: Option<SendClaim>,
    /// The provider's name for it.
    pub provider_message_id: Option<String>,
    /// Why it ended as it did, a word: `transport_timeout`, `quota_exhausted`, ....
    pub reason: Option<String>,
    /// Whether it was uncertain and became known later.
    pub reconciled: bool,
    /// The day whose counters it is in, `YYYY-MM-DD` in the tenant's time zone.
    pub day: String,
    /// The caller's own values.
    pub metadata: BTreeMap<String, String>,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One recipient of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The mailbox that sent.
    pub identity_id: IdentityId,
    /// The message.
    pub message_id: MessageId,
    /// Its place among the recipients, from 0.
    pub seq: u64,
    /// The recipient, `local@domain` with its detail.
    pub address: String,
    /// Keyed hash of the address.
    pub hash: AddressHash,
    /// Keyed hash of the address without its detail, where it has one.
    pub base_hash: Option<AddressHash>,
    /// Where it was named.
    pub field: RecipientField,
    /// What became of it.
    pub status: DeliveryStatus,
    /// The last reply code (RFC 5321).
    pub smtp_code: Option<u64>,
    /// The last enhanced status code (RFC 3463).
    pub enhanced_code: Option<String>,
    /// How it came back.
    pub bounce_type: Option<BounceType>,
    /// Why, a word or a line of the transport.
    pub reason: Option<String>,
    /// Attempts that ended.
    pub attempt: u64,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl DeliveryRow {
    /// What a reason begins with that stands in a mail which any recipient of the sent one may have written.
    pub const UNPROVEN: &'static str = "unproven report";

    /// Whether only such a mail says what became of it.
    pub fn is_unproven(&self) -> bool {
        let reason = self.reason.as_deref();
        reason.is_some_and(|reason| reason.starts_with(Self::UNPROVEN))
    }

    /// Whether its address is one that plays a fate, which says nothing of anybody.
    pub fn is_played(&self) -> bool {
        self.address.ends_with("@simulator.invalid")
    }
}

/// A key against doubles that was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRow {
    /// The mailbox.
    pub identity_id: IdentityId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// SHA-256 of the key.
    pub key: Sha256Bytes,
    /// What was sent with it: see [`crate::fingerprint`].
    pub fingerprint: Sha256Bytes,
    /// The message.
    pub message_id: MessageId,
    /// When.
    pub at: Timestamp,
}

impl IdempotencyRow {
    /// Whether it still counts at `now`.
    pub fn counts(&self, now: Timestamp) -> bool {
        let life = i64::try_from(postroom_types::limit::IDEMPOTENCY_LIFE_MS).unwrap_or(i64::MAX);
        now < self.at.plus_ms(life)
    }
}

/// An address that is not written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppressionRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Keyed hash of the address.
    pub hash: AddressHash,
    /// The address with most of it masked: `j***@example.com`.
    pub hint: String,
    /// Why.
    pub reason: SuppressionReason,
    /// Since when.
    pub at: Timestamp,
}

/// An address with most of its local part masked.
pub fn masked(address: &str) -> String {
    match address.rsplit_once('@') {
        Some((local, domain)) => {
            let head: String = local.chars().take(1).collect();
            format!("{head}***@{domain}")
        }
        None => "***".to_owned(),
    }
}

/// An address without its detail; `None` for one that has none.
pub(crate) fn without_detail(address: &str) -> Option<String> {
    let (local, domain) = address.rsplit_once('@')?;
    let (base, _) = local.split_once('+').filter(|(base, _)| !base.is_empty())?;
    Some(format!("{base}@{domain}"))
}

/// An entry of a tenant's lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListEntryRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Which way it works.
    pub direction: ListDirection,
    /// What it does.
    pub kind: ListKind,
    /// `user@domain` or `@domain`, lower case.
    pub entry: String,
    /// Since when.
    pub at: Timestamp,
}

/// What was sent on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The mailbox; `None` for the tenant's sum.
    pub identity_id: Option<IdentityId>,
    /// `YYYY-MM-DD` in the tenant's time zone.
    pub day: String,
    /// Recipients that a transport took, or may have taken.
    pub sends: u64,
    /// Recipients that wait for a transport.
    pub held: u64,
}

impl UsageRow {
    /// What counts towards a cap.
    pub fn used(&self) -> u64 {
        self.sends.saturating_add(self.held)
    }
}

/// A mail that somebody writes and has not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftRow {
    /// Its id.
    pub id: DraftId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// What it holds, JSON as the caller gave it.
    pub document: String,
    /// How often it was saved; a save names the one it changes.
    pub version: u64,
    /// The key that saved it last; `None` for a person.
    pub saved_by: Option<KeyId>,
    /// To whom it may be sent: the narrowest scope of those who saved it, from the last one on who had
    /// read what was there.
    pub scope: SendScope,
    /// When it was first saved.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
}

/// A file that was put in, to be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadRow {
    /// Its id.
    pub id: UploadId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The mailbox that may attach it.
    pub identity_id: IdentityId,
    /// Its name.
    pub filename: String,
    /// Its media type.
    pub content_type: String,
    /// Digest of its bytes.
    pub sha256: Sha256Bytes,
    /// Length of its bytes.
    pub size: u64,
    /// When it came.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// What a mailbox puts under its mails.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Signature {
    /// As text.
    #[serde(default)]
    pub text: Option<String>,
    /// As HTML.
    #[serde(default)]
    pub html: Option<String>,
}

/// What a mailbox may send, inside what its tenant's policy allows.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SendPolicy {
    /// Recipients per day; `None` for the tenant's cap.
    #[serde(default)]
    pub daily_cap: Option<u64>,
    /// Whether it may answer automatically.
    pub auto_reply: AutoReplyRule,
    /// Whether it writes only to people it has exchanged mail with.
    pub require_known_recipient: bool,
}

impl Default for SendPolicy {
    fn default() -> Self {
        Self {
            daily_cap: None,
            auto_reply: AutoReplyRule::Allowed,
            require_known_recipient: false,
        }
    }
}

/// The message's status as its deliveries give it, and whether somebody took it back.
///
/// The first that matches, over the deliveries that were not suppressed: none left is
/// `suppressed`; any `complained`; any `queued`; any open ones are `uncertain` when all of them
/// are, else `deferred` when any is, else `submitted`; with all closed `bounced`, `failed`,
/// `rejected`, else `delivered`.
pub fn roll_up(
    canceled: bool,
    deliveries: impl IntoIterator<Item = DeliveryStatus>,
) -> MessageStatus {
    if canceled {
        return MessageStatus::Canceled;
    }
    let mut seen = 0u16;
    let bit = |status: DeliveryStatus| 1u16 << (status as u16);
    for status in deliveries {
        seen |= bit(status);
    }
    seen &= !bit(DeliveryStatus::Suppressed);
    let any = |status: DeliveryStatus| seen & bit(status) != 0;
    if seen == 0 {
        MessageStatus::Suppressed
    } else if any(DeliveryStatus::Complained) {
        MessageStatus::Complained
    } else if any(DeliveryStatus::Queued) {
        MessageStatus::Queued
    } else if any(DeliveryStatus::Deferred) {
        MessageStatus::Deferred
    } else if any(DeliveryStatus::Submitted) {
        MessageStatus::Submitted
    } else if any(DeliveryStatus::Uncertain) {
        MessageStatus::Uncertain
    } else if any(DeliveryStatus::Bounced) {
        MessageStatus::Bounced
    } else if any(DeliveryStatus::Failed) {
        MessageStatus::Failed
    } else if any(DeliveryStatus::Rejected) {
        MessageStatus::Rejected
    } else {
        MessageStatus::Delivered
    }
}
