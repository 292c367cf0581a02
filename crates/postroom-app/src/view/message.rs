//! A message and what belongs to it.

use std::collections::BTreeMap;

use postroom_types::{AttachmentId, IdentityId, Mailbox, MessageId, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::ContentNotice;

/// One mail as a caller sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Message {
    /// The message's id.
    pub id: MessageId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The mailbox it is in.
    pub identity_id: IdentityId,
    /// `inbound` or `outbound`.
    #[schemars(extend("enum" = ["inbound", "outbound"]))]
    pub direction: String,
    /// What became of it.
    #[schemars(extend("enum" = ["received", "quarantined", "throttled", "hidden", "queued", "submitted", "delivered", "deferred", "bounced", "complained", "rejected", "failed", "uncertain", "suppressed", "canceled"]))]
    pub status: String,
    /// The author as the mail claims; check `trust` before believing it.
    pub from: Option<Mailbox>,
    /// Recipients.
    pub to: Vec<Mailbox>,
    /// Copies.
    pub cc: Vec<Mailbox>,
    /// Blind copies; always empty for mail that came in.
    pub bcc: Vec<Mailbox>,
    /// Where the author wants replies.
    pub reply_to: Vec<Mailbox>,
    /// The address of ours that it was delivered to.
    pub delivered_to: Option<String>,
    /// Whether this is the mailbox that the mail names first of those here; true when it names none.
    pub is_primary_recipient: Option<bool>,
    /// The subject.
    pub subject: Option<String>,
    /// The Date header's time.
    pub sent_at: Option<Timestamp>,
    /// When it came in.
    pub received_at: Timestamp,
    /// The text without quotes and signature.
    pub extracted_text: Option<String>,
    /// Present and true when `extracted_text` was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extracted_text_truncated: Option<bool>,
    /// The whole text, when quoted text was asked for.
    pub text: Option<String>,
    /// Present and true when `text` was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_truncated: Option<bool>,
    /// Sanitised HTML, when asked for by REST; never by MCP.
    pub html: Option<String>,
    /// Header fields, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<Header>>,
    /// What is attached.
    pub attachments: Vec<Attachment>,
    /// Labels.
    pub labels: Vec<String>,
    /// What kind of mail it is.
    #[schemars(extend("enum" = ["normal", "automated", "dsn", "list", "calendar", "mdn", "transactional", "marketing", "auto_reply"]))]
    pub kind: String,
    /// What is known about the author; null for mail we sent.
    pub trust: Option<Trust>,
    /// Advisory triage; null for mail we sent.
    pub triage: Option<Triage>,
    /// Why it is in quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantine_reason: Option<String>,
    /// Reference numbers found in it.
    pub refs: Vec<Reference>,
    /// The Message-ID header's value.
    pub rfc_message_id: Option<String>,
    /// The In-Reply-To header's first id.
    pub in_reply_to: Option<String>,
    /// The provider's own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_message_id: Option<String>,
    /// What became of it per recipient; null for mail that came in.
    pub deliveries: Option<Vec<Delivery>>,
    /// Remarks such as `parse_degraded`, `encrypted`, `body_truncated`, `bcc`.
    pub flags: Vec<String>,
    /// Values the sender of our mail attached; empty for mail that came in.
    pub metadata: BTreeMap<String, String>,
}

/// One header field as received.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Header {
    /// Field name.
    pub name: String,
    /// Field value, decoded.
    pub value: String,
}

/// One attachment's description.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Attachment {
    /// The attachment's id.
    pub id: AttachmentId,
    /// The file name the mail gives.
    pub filename: Option<String>,
    /// The media type the mail gives.
    pub content_type: String,
    /// Decoded bytes.
    pub size: u64,
    /// `attachment` or `inline`.
    pub disposition: Option<String>,
    /// Whether its text can be read: `ready`, `pending`, `unavailable`, `skipped`.
    #[schemars(extend("enum" = ["pending", "ready", "unavailable", "skipped"]))]
    pub text_status: String,
    /// Pages, when known.
    pub pages: Option<u32>,
    /// Why it may be dangerous.
    pub risk: Option<String>,
}

/// What is known about the author of a mail that came in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Trust {
    /// The verdict over SPF, DKIM, DMARC and ARC.
    #[schemars(extend("enum" = ["pass", "fail", "softfail", "none", "unaligned", "unverified"]))]
    pub verdict: String,
    /// SPF's result.
    pub spf: String,
    /// DKIM's result.
    pub dkim: String,
    /// DMARC's result.
    pub dmarc: String,
    /// ARC's result.
    pub arc: String,
    /// Whether this mailbox has written to the author before.
    pub known_sender: bool,
    /// Whether the mail is in quarantine.
    pub quarantined: bool,
    /// How much it looks like spam, 0 to 1; null when it was not scored.
    pub spam_score: Option<f64>,
    /// Whether a machine sent it.
    pub automated: bool,
    /// Risk flags such as `hidden_text`, `reply_to_differs`.
    pub flags: Vec<String>,
}

/// Advisory triage of a mail that came in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Triage {
    /// `skipped` while no triage engine has looked at it.
    pub status: String,
    /// What it is about.
    pub category: Option<String>,
    /// How likely it wants a reply, 0 to 1.
    pub needs_reply: Option<f64>,
    /// How urgent it is.
    pub urgency: Option<u32>,
    /// A summary.
    pub summary: Option<String>,
    /// Its language.
    pub language: Option<String>,
    /// Risks that triage saw.
    pub risk_flags: Vec<String>,
    /// What made it.
    pub model: Option<String>,
    /// Version of the rules.
    pub version: u32,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Triage {
    /// The honest value while there is no triage engine.
    pub fn skipped() -> Self {
        Self {
            status: "skipped".to_owned(),
            category: None,
            needs_reply: None,
            urgency: None,
            summary: None,
            language: None,
            risk_flags: Vec::new(),
            model: None,
            version: 0,
            reason: Some("not_available".to_owned()),
        }
    }
}

/// A reference number found in a mail.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Reference {
    /// What kind of number.
    pub kind: String,
    /// The number.
    pub value: String,
}

/// What became of a mail we sent, for one recipient.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Delivery {
    /// The recipient.
    pub address: String,
    /// `to`, `cc` or `bcc`.
    pub field: String,
    /// What became of it.
    pub status: String,
    /// The SMTP reply code.
    pub smtp_code: Option<u16>,
    /// The enhanced status code.
    pub enhanced_code: Option<String>,
    /// `hard` or `soft`.
    pub bounce_type: Option<String>,
    /// Why, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When that became known.
    pub updated_at: Timestamp,
}

/// A code or link that a wait released.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Verification {
    /// The code.
    pub code: Option<String>,
    /// The link.
    pub link: Option<String>,
    /// The sender's registrable domain.
    pub sender_domain: String,
}

/// A mail as it was sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Sent {
    /// The mail.
    #[serde(flatten)]
    pub message: Message,
    /// Whether an earlier call with the same idempotency key had sent it; this one sent nothing.
    pub deduplicated: bool,
    /// The permission without which subject, texts, names and files of this mail are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_withheld: Option<String>,
    /// Present and true when a text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Whose words a quoted text holds.
    pub content_notice: ContentNotice,
}
