//! What a call answers when it does not succeed.

use postroom_types::{ErrorCode, RequestId, json::JsonFault};
use serde_json::{Map, Value, json};

use crate::schema::known;

/// An answer that is no success: a code of the catalogue, our own words, and details.
///
/// It never carries an outsider's text: messages come from the catalogue or from literals, and
/// details hold paths, positions and names of our own.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence for a person.
    pub message: String,
    /// One sentence that tells an agent what to do.
    pub fix: String,
    /// Further facts, by the code.
    pub details: Map<String, Value>,
    /// Seconds to wait before the next try, when that is known.
    pub retry_after_seconds: Option<u64>,
}

impl Failure {
    /// A failure in the catalogue's words.
    pub fn new(code: ErrorCode) -> Self {
        Self {
            code,
            message: code.message().to_owned(),
            fix: code.fix().to_owned(),
            details: Map::new(),
            retry_after_seconds: None,
        }
    }

    /// A bad argument: the dialect's code with `details.errors[{path,message}]`.
    pub fn argument(dialect: postroom_types::Dialect, path: &str, message: &str) -> Self {
        let code = match dialect {
            postroom_types::Dialect::Mail => ErrorCode::InvalidRequest,
            postroom_types::Dialect::Events => ErrorCode::InvalidArgument,
        };
        Self::new(code).with("errors", json!([{"path": path, "message": message}]))
    }

    /// A bad argument in the mail toolset's dialect.
    pub fn invalid(path: &str, message: &str) -> Self {
        Self::argument(postroom_types::Dialect::Mail, path, message)
    }

    /// A mail that is larger than any that is taken here.
    pub fn too_large(max_bytes: u64) -> Self {
        Self::new(ErrorCode::MessageTooLarge)
            .with("max_bytes", max_bytes)
            .advising(format!(
                "Make the message smaller: it may have {max_bytes} bytes, files counted as they are encoded (4 bytes for 3)."
            ))
    }

    /// A body or arguments that are no JSON, or in which a name stands twice.
    pub fn json(dialect: postroom_types::Dialect, fault: &JsonFault) -> Self {
        match fault {
            JsonFault::Malformed => Self::argument(dialect, "", "the body is not valid JSON"),
            JsonFault::Repeated(name) => {
                Self::argument(dialect, &known(name), "stands twice in one object")
            }
        }
    }

    /// The same failure with one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The same failure with another sentence of ours.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same failure with another advice of ours.
    #[must_use]
    pub fn advising(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// The envelope of every surface: `{"error":{code,message,retryable,fix,request_id,details?}}`.
    pub fn envelope(&self, request_id: RequestId) -> Value {
        self.envelope_with(request_id, self.details.clone())
    }

    /// The envelope inside an MCP tool error, which has no status line: `details.http_status` says it.
    pub fn tool_envelope(&self, request_id: RequestId) -> Value {
        let mut details = self.details.clone();
        details.insert("http_status".to_owned(), self.code.http_status().into());
        if let Some(seconds) = self.retry_after_seconds {
            details.insert("retry_after".to_owned(), seconds.into());
        }
        self.envelope_with(request_id, details)
    }

    fn envelope_with(&self, request_id: RequestId, details: Map<String, Value>) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), self.code.as_str().into());
        error.insert("message".to_owned(), self.message.as_str().into());
        error.insert("retryable".to_owned(), self.code.retryable().into());
        error.insert("fix".to_owned(), self.fix.as_str().into());
        error.insert("request_id".to_owned(), request_id.to_string().into());
        if !details.is_empty() {
            error.insert("details".to_owned(), Value::Object(details));
        }
        json!({ "error": error })
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

impl From<ErrorCode> for Failure {
    fn from(code: ErrorCode) -> Self {
        Self::new(code)
    }
}
