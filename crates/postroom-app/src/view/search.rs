//! Search hits, facets and contacts.

use std::collections::BTreeMap;

use postroom_types::{AttachmentId, IdentityId, Mailbox, MessageId, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// How a query was read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SearchQuery {
    /// The query in canonical form.
    pub parsed: String,
    /// The mode asked for.
    #[schemars(extend("enum" = ["keyword", "semantic", "hybrid"]))]
    pub mode: String,
}

/// One message that fits a query.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SearchHit {
    /// The message.
    pub message_id: MessageId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// When it came or was sent.
    pub date: Timestamp,
    /// `inbound` or `outbound`.
    #[schemars(extend("enum" = ["inbound", "outbound"]))]
    pub direction: String,
    /// The author.
    pub from: Option<Mailbox>,
    /// The subject.
    pub subject: Option<String>,
    /// The passage that fits best.
    pub snippet: String,
    /// Rank, three decimals; higher is better, comparable within one answer only.
    pub score: f64,
    /// Why it fits, at most eight reasons.
    pub why: Vec<String>,
    /// Attachments that fit.
    pub attachment_hits: Vec<AttachmentHit>,
    /// What is known about the author.
    pub trust: HitTrust,
}

/// An attachment that fits a query.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AttachmentHit {
    /// The attachment.
    pub attachment_id: AttachmentId,
    /// Its file name.
    pub filename: Option<String>,
    /// The page that fits.
    pub page: Option<u32>,
}

/// What a hit says about its author.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct HitTrust {
    /// The verdict.
    #[schemars(extend("enum" = ["pass", "fail", "softfail", "none", "unaligned", "unverified"]))]
    pub verdict: String,
    /// Whether this mailbox has written to the author before.
    pub known_sender: bool,
    /// Whether the mail is in quarantine.
    pub quarantined: bool,
}

/// One thread that fits a query, by its best message.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ThreadHit {
    /// The thread.
    pub thread_id: ThreadId,
    /// Its mailbox, in a search over several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_id: Option<IdentityId>,
    /// Its subject.
    pub subject: String,
    /// Who takes part.
    pub participants: Vec<Mailbox>,
    /// Visible messages.
    pub message_count: u64,
    /// Time of the last message.
    pub last_at: Timestamp,
    /// The passage that fits best.
    pub snippet: String,
    /// Why it fits.
    pub why: Vec<String>,
    /// The message that fits best.
    pub top_message_id: MessageId,
}

/// Value to count, the ten most frequent each (months: 24).
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Facets {
    /// Authors' addresses.
    pub sender: BTreeMap<String, u64>,
    /// Authors' domains.
    pub sender_domain: BTreeMap<String, u64>,
    /// Months, `2026-11`.
    pub month: BTreeMap<String, u64>,
    /// Labels.
    pub label: BTreeMap<String, u64>,
    /// Kinds of attachment.
    pub attachment_type: BTreeMap<String, u64>,
    /// Triage categories.
    pub category: BTreeMap<String, u64>,
}

/// One correspondent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Contact {
    /// The address.
    pub address: String,
    /// The name last seen with it.
    pub name: Option<String>,
    /// The address's domain.
    pub domain: String,
    /// First mail from or to it.
    pub first_seen_at: Timestamp,
    /// Last mail from or to it.
    pub last_seen_at: Timestamp,
    /// Mails from it.
    pub inbound_count: u64,
    /// Mails to it.
    pub outbound_count: u64,
    /// The last thread with it.
    pub last_thread_id: Option<ThreadId>,
}
