//! A thread in a list.

use postroom_types::{Mailbox, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// One conversation as a list shows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ThreadSummary {
    /// The thread's id.
    pub id: ThreadId,
    /// The subject of its first message.
    pub subject: String,
    /// Who takes part, at most 50.
    pub participants: Vec<Mailbox>,
    /// Visible messages.
    pub message_count: u64,
    /// Unread messages.
    pub unread_count: u64,
    /// Time of the first message.
    pub first_at: Timestamp,
    /// Time of the last message.
    pub last_at: Timestamp,
    /// Time of the last message that came in.
    pub last_inbound_at: Option<Timestamp>,
    /// Direction of the last message.
    #[schemars(extend("enum" = ["inbound", "outbound"]))]
    pub last_direction: String,
    /// The beginning of the last message.
    pub snippet: String,
    /// Labels of all its messages.
    pub labels: Vec<String>,
    /// Triage category.
    pub category: Option<String>,
    /// How likely it wants a reply, 0 to 1.
    pub needs_reply: Option<f64>,
    /// How urgent it is.
    pub urgency: Option<u32>,
    /// Whether it is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Why sending on it is held.
    pub hold: Option<Hold>,
}

/// A hold on sending.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Hold {
    /// Why.
    pub reason: String,
    /// Until when.
    pub until: Option<Timestamp>,
    /// Who set it.
    pub set_by: Option<String>,
    /// When it was set.
    pub set_at: Timestamp,
}
