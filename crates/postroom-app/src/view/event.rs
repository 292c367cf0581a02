//! An arrival as the events toolset shows it.

use std::collections::BTreeMap;

use postroom_core::{EventRow, EventState, Family};
use postroom_types::{SourceId, Timestamp, TodoId};
use schemars::JsonSchema;
use serde::Serialize;

/// One arrival in a list: no headers and no payload, ever.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventSummary {
    /// The event's number, rising in order of arrival.
    pub id: u64,
    /// Where it came from: `smtp`, `lmtp`, `import`, `raw` or a webhook provider.
    pub provider: String,
    /// `mail`, `webhook` or `queue`.
    pub family: String,
    /// The provider's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_type: Option<String>,
    /// How the channel was checked: `signed`, `token`, `open`, `queue`, `smtp`; `agent` for mail that an agent's
    /// own key put in, which vouches for nobody it names.
    #[schemars(extend("enum" = ["signed", "token", "open", "queue", "smtp", "agent", "operator"]))]
    pub trust_mode: String,
    /// True only when a signature over the body was checked.
    pub verified: bool,
    /// Bytes of the payload.
    pub payload_size: u64,
    /// When it came in.
    pub received_at: Timestamp,
    /// When it happened, as its sender says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// What became of it.
    #[schemars(extend("enum" = ["routed", "dropped", "quarantined", "faulted"]))]
    pub disposition: String,
    /// The source it came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    /// How often it was delivered again.
    #[serde(skip_serializing_if = "is_zero")]
    pub redeliveries: u64,
    /// How the rules of the source decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub routing: Option<serde_json::Value>,
    /// The todo that was opened for it or that it joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo_id: Option<TodoId>,
    /// Present and true while the mail that it announces is being fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_pending: Option<bool>,
    /// Why no message could be made of it, or what that waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The message that was made from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<postroom_types::MessageId>,
}

/// One arrival whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct EventDetail {
    /// What a list shows.
    #[serde(flatten)]
    pub summary: EventSummary,
    /// What the check of the channel found.
    pub verify_detail: Option<String>,
    /// The id by which a repeated arrival is known.
    pub external_id: Option<String>,
    /// Media type of the payload.
    pub content_type: Option<String>,
    /// The client's address.
    pub source_ip: Option<String>,
    /// Headers, secrets replaced.
    pub headers: BTreeMap<String, String>,
    /// The payload as received; null when this key may not read it. Over REST it is whole, for whoever hands
    /// it on, and as large as its source takes (5 MiB, some providers 25); a tool's answer cuts it.
    pub payload: Option<String>,
    /// Present and true when `payload` was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_truncated: Option<bool>,
    /// How `payload` is written: `utf8` or `base64`; null without a payload.
    pub payload_encoding: Option<String>,
    /// Why there is no payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_withheld: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl From<&EventRow> for EventSummary {
    fn from(row: &EventRow) -> Self {
        Self {
            id: row.id,
            provider: row.provider.clone(),
            family: row.family.as_str().to_owned(),
            event_type: row.event_type.clone(),
            trust_mode: row.trust_mode.as_str().to_owned(),
            verified: row.verified,
            payload_size: row.payload_size,
            received_at: row.received_at,
            occurred_at: row.occurred_at,
            disposition: row.disposition.as_str().to_owned(),
            source_id: row.source_id,
            redeliveries: row.redeliveries,
            routing: row
                .routing_trace
                .as_deref()
                .and_then(|trace| serde_json::from_str(trace).ok()),
            todo_id: row.todo_id,
            body_pending: (row.family != Family::Mail
                && row.carries_mail
                && row.state == EventState::Pending)
                .then_some(true),
            detail: row.detail.clone(),
            message_id: row.message_id,
        }
    }
}
