//! What a registry answers.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// An answer, or the wish for more input first.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The answer.
    Complete(T),
    /// Modern era only: the client is asked for input and repeats the call with it.
    InputRequired(InputRequired),
}

impl<T> From<T> for Outcome<T> {
    fn from(value: T) -> Self {
        Self::Complete(value)
    }
}

/// A wish for more input (`InputRequiredResult`). At least one of the two fields is set.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputRequired {
    /// What is asked, by keys that the client's answers repeat.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub input_requests: BTreeMap<String, InputRequest>,
    /// Opaque state that comes back with the repeated call. It passes through the client: the
    /// registry must seal it and bind it to the caller, the call and an expiry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
}

/// One thing asked of the client.
#[derive(Debug, Clone, Serialize)]
pub struct InputRequest {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: &'static str,
    /// Parameters of that method.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub params: serde_json::Value,
}

/// The result of a tool.
#[derive(Debug, Default)]
pub struct ToolResult {
    /// What the model reads.
    pub content: Vec<Content>,
    /// The structured result, an object that validates against the tool's output schema.
    pub structured: Option<Box<RawValue>>,
    /// Whether the tool failed in a way the model can act on.
    pub is_error: bool,
}

impl ToolResult {
    /// A structured result, repeated as text for clients that read only text.
    pub fn structured(json: Box<RawValue>) -> Self {
        Self {
            content: vec![Content::text(json.get())],
            structured: Some(json),
            is_error: false,
        }
    }

    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            ..Self::default()
        }
    }

    /// A failure as text.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("CallToolResult", 3)?;
        object.serialize_field("content", &self.content)?;
        if let Some(structured) = &self.structured {
            object.serialize_field("structuredContent", structured)?;
        }
        if self.is_error {
            object.serialize_field("isError", &true)?;
        }
        object.end()
    }
}

/// One block of content.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64.
        data: String,
        /// Media type.
        mime_type: String,
    },
    /// Sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// Base64.
        data: String,
        /// Media type.
        mime_type: String,
    },
    /// A resource's contents.
    Resource {
        /// The contents.
        resource: ResourceContents,
    },
    /// A resource that can be read.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// URI.
        uri: String,
        /// Name.
        name: String,
        /// Media type.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// Contents of a resource: text or bytes.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// URI.
    pub uri: String,
    /// Media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The body; exactly one of `text` and `blob` on the wire.
    #[serde(flatten)]
    pub body: ResourceBody,
}

/// The body of a resource.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Base64.
    Blob(String),
}

impl ResourceContents {
    /// Text of a media type.
    pub fn text(uri: &str, mime_type: &str, text: impl Into<String>) -> Self {
        Self {
            uri: uri.to_owned(),
            mime_type: Some(mime_type.to_owned()),
            body: ResourceBody::Text(text.into()),
        }
    }

    /// Base64 of a media type.
    pub fn blob(uri: &str, mime_type: &str, base64: impl Into<String>) -> Self {
        Self {
            uri: uri.to_owned(),
            mime_type: Some(mime_type.to_owned()),
            body: ResourceBody::Blob(base64.into()),
        }
    }
}

/// A resource that was read.
#[derive(Debug, Clone)]
pub struct ReadResult {
    /// The contents, never empty.
    pub contents: Vec<ResourceContents>,
    /// How long the client may keep it, milliseconds.
    pub ttl_ms: u64,
    /// Who may share it.
    pub cache_scope: CacheScope,
}

impl ReadResult {
    /// Contents that only this caller may keep, and not for long.
    pub fn fresh(contents: ResourceContents) -> Self {
        Self {
            contents: vec![contents],
            ttl_ms: 0,
            cache_scope: CacheScope::Private,
        }
    }
}

/// Who may share a cached answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheScope {
    /// Anybody.
    Public,
    /// The same credential only.
    Private,
}

/// A prompt, filled in.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PromptResult {
    /// What the prompt does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
}

/// One message of a prompt.
#[derive(Debug, Clone, Serialize)]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

/// Who speaks in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A wish to complete an argument.
#[derive(Debug, Clone, Deserialize)]
pub struct CompletionRequest {
    /// What the argument belongs to.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// The argument and what was typed so far.
    pub argument: CompletionArgument,
    /// Arguments already chosen.
    #[serde(default)]
    pub context: CompletionContext,
}

/// An argument and what was typed of it.
#[derive(Debug, Clone, Deserialize)]
pub struct CompletionArgument {
    /// Name.
    pub name: String,
    /// What was typed.
    pub value: String,
}

/// Arguments already chosen.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct CompletionContext {
    /// By name.
    #[serde(default)]
    pub arguments: BTreeMap<String, String>,
}

/// What an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type")]
pub enum Reference {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template.
    #[serde(rename = "ref/resource")]
    Resource {
        /// Its URI template.
        uri: String,
    },
}

/// Suggestions, at most 100.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// The suggestions; more than 100 are cut and `hasMore` is set.
    pub values: Vec<String>,
}
