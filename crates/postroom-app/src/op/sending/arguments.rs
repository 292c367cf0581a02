//! Arguments that the sending operations share; their shapes are the contract's.

use std::{borrow::Cow, collections::BTreeMap};

use postroom_types::limit;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One recipient: an address, or an address with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Recipient {
    /// The address alone.
    Address(String),
    /// With the name to show.
    Named(NamedRecipient),
}

/// See [`Recipient::Named`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedRecipient {
    /// The address.
    pub address: String,
    /// The name to show.
    #[serde(default)]
    pub name: String,
}

impl Recipient {
    /// The address as it was given.
    pub fn address(&self) -> &str {
        match self {
            Self::Address(address) => address,
            Self::Named(named) => &named.address,
        }
    }

    /// The name as it was given; empty without one.
    pub fn name(&self) -> &str {
        match self {
            Self::Address(_) => "",
            Self::Named(named) => &named.name,
        }
    }
}

impl JsonSchema for Recipient {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Recipient".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                {"type": "string", "maxLength": 254},
                {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["address"],
                    "properties": {
                        "address": {"type": "string", "maxLength": 254},
                        "name": {"type": "string", "maxLength": 78},
                    },
                },
            ],
        })
    }
}

/// One file to send along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Attachment {
    /// File name to show; empty keeps the name of what an id names.
    #[schemars(length(max = 255))]
    pub filename: String,
    /// Media type; empty keeps the type of what an id names.
    #[schemars(length(max = 127))]
    pub content_type: String,
    /// The bytes as base64. Or, for files of up to 20 MB, an id in their place: `upl_…` of an upload, or
    /// `att_…` of an attachment in this mailbox.
    pub content_base64: String,
    /// `inline` for a picture that the HTML shows by `content_id`.
    #[serde(default)]
    pub disposition: Disposition,
    /// The name by which the HTML refers to it as `cid:NAME`.
    #[schemars(length(max = 255))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
}

/// How a file is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Disposition {
    /// As a file beside the text.
    #[default]
    Attachment,
    /// Inside the HTML.
    Inline,
}

/// What kind of mail is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Kind {
    /// Written for these recipients.
    #[default]
    Transactional,
    /// Bulk mail that was agreed to.
    Marketing,
    /// An answer that no person decided on.
    AutoReply,
}

/// What kind of answer is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ReplyKind {
    /// Written for these recipients.
    #[default]
    Transactional,
    /// An answer that no person decided on.
    AutoReply,
}

impl From<ReplyKind> for Kind {
    fn from(kind: ReplyKind) -> Self {
        match kind {
            ReplyKind::Transactional => Self::Transactional,
            ReplyKind::AutoReply => Self::AutoReply,
        }
    }
}

/// Header fields of the caller's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Headers(pub BTreeMap<String, String>);

impl JsonSchema for Headers {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Headers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 2048},
            "properties": {
                "Importance": {"description": "How important.", "type": "string", "enum": ["high", "normal", "low"]},
                "Priority": {"description": "How urgent.", "type": "string", "enum": ["normal", "non-urgent", "urgent"]},
                "Sensitivity": {
                    "description": "How confidential.",
                    "type": "string",
                    "enum": ["personal", "private", "company-confidential"],
                },
            },
        })
    }
}

/// Values of the caller's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metadata(pub BTreeMap<String, String>);

impl JsonSchema for Metadata {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Metadata".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": {"type": "string", "maxLength": 512},
        })
    }
}

/// An object whose inside the operation reads itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Open(pub serde_json::Map<String, Value>);

impl JsonSchema for Open {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Open".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

/// Makes a call repeatable: see the argument `idempotency_key`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(pub String);

impl JsonSchema for IdempotencyKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "IdempotencyKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": limit::IDEMPOTENCY_KEY_BYTES,
            "pattern": r"^[\x20-\x7E]{1,255}$",
        })
    }
}
