//! An arrival as the events toolset shows it.

use std::collections::BTreeMap;

use postroom_core::EventRow;
use postroom_types::Timestamp;
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
    /// How the channel was checked: `signed`, `token`, `open`, `queue`, `smtp`.
    #[schemars(extend("enum" = ["signed", "token", "open", "queue", "smtp", "operator"]))]
    pub trust_mode: String,
    /// True only when a signature over the body was checked.
    pub verified: bool,
    /// Bytes of the payload.
    pub payload_size: u64,
    /// When it came in.
    pub received_at: Timestamp,
    /// What became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<String>,
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
    /// The payload as received; null when this key may not read it.
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
            disposition: Some(row.disposition.as_str().to_owned()),
            message_id: row.message_id,
        }
    }
}
