//! What can go wrong, and how it is said on the wire: one place for every code and HTTP status.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Revision;

/// Numbers of protocol errors.
///
/// The protocol fixes those below zero. Ours are the HTTP status times ten, outside the range that
/// JSON-RPC reserves.
pub mod code {
    /// Our number for what HTTP says by `status`.
    pub const fn of_status(status: u16) -> i32 {
        status as i32 * 10
    }

    /// The bytes are no JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The JSON is no message.
    pub const INVALID_REQUEST: i32 = -32600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are wrong; also an unknown tool, prompt, and (modern) resource.
    pub const INVALID_PARAMS: i32 = -32602;
    /// Something failed inside.
    pub const INTERNAL: i32 = -32603;
    /// Legacy era only: there is no such resource.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// Modern era: a header is missing, malformed or differs from the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// Modern era: the client did not declare a capability that the call needs.
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// The protocol version is not supported.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// Not allowed here.
    pub const FORBIDDEN: i32 = of_status(403);
    /// The method of HTTP is not POST.
    pub const METHOD_NOT_ALLOWED: i32 = of_status(405);
    /// The client does not take the only form there is.
    pub const NOT_ACCEPTABLE: i32 = of_status(406);
    /// The body is too large.
    pub const TOO_LARGE: i32 = of_status(413);
    /// Too many requests or streams.
    pub const RATE_LIMITED: i32 = of_status(429);
    /// Not able to answer now.
    pub const UNAVAILABLE: i32 = of_status(503);
}

/// What a registry refuses.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// No tool of this name, or not for this caller: the two are indistinguishable.
    #[error("Unknown tool: {0}")]
    UnknownTool(String),
    /// No prompt of this name, or not for this caller.
    #[error("Unknown prompt: {0}")]
    UnknownPrompt(String),
    /// No resource of this URI, or not for this caller.
    #[error("Resource not found: {0}")]
    UnknownResource(String),
    /// Parameters that the protocol level must refuse.
    #[error("{0}")]
    InvalidParams(String),
    /// The client must declare these capabilities (a `ClientCapabilities` object).
    #[error("The client does not declare a capability that this call needs.")]
    MissingCapability(Value),
    /// A limit on calls; the data is the error envelope of the product.
    #[error("Too many requests.")]
    RateLimited(Value),
    /// Something failed inside and was logged under this id.
    #[error("Internal error.")]
    Internal {
        /// The id it was logged under.
        request_id: String,
    },
}

impl Fault {
    /// How the fault is said to a client of a revision.
    pub(crate) fn rejection(&self, revision: Revision) -> Rejection {
        let message = self.to_string();
        match self {
            Self::UnknownTool(_) | Self::UnknownPrompt(_) | Self::InvalidParams(_) => {
                Rejection::new(200, code::INVALID_PARAMS, message)
            }
            Self::UnknownResource(uri) => {
                let number = if revision.is_modern() {
                    code::INVALID_PARAMS
                } else {
                    code::RESOURCE_NOT_FOUND
                };
                Rejection::new(200, number, message).with_data(json!({ "uri": uri }))
            }
            Self::MissingCapability(required) => {
                Rejection::new(400, code::MISSING_CAPABILITY, message)
                    .with_data(json!({ "requiredCapabilities": required }))
            }
            Self::RateLimited(envelope) => {
                Rejection::new(429, code::RATE_LIMITED, message).with_data(envelope.clone())
            }
            Self::Internal { request_id } => Rejection::new(500, code::INTERNAL, message)
                .with_data(json!({ "request_id": request_id })),
        }
    }
}

/// A request that is answered with a protocol error.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Rejection {
    /// The HTTP status.
    pub status: u16,
    /// The number of the error, see [`code`].
    pub code: i32,
    /// One sentence.
    pub message: String,
    /// More for the client.
    pub data: Option<Value>,
    /// The id of the request, when it could be read. Never `null` on the wire.
    pub id: Option<Box<RawValue>>,
}

impl Rejection {
    /// A rejection without data and id.
    pub fn new(status: u16, code: i32, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            data: None,
            id: None,
        }
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Adds the id of the request, when it is one that may be echoed.
    #[must_use]
    pub fn with_id(mut self, id: Option<&RawValue>) -> Self {
        self.id = id.map(RawValue::to_owned);
        self
    }

    /// The bytes are no JSON.
    pub fn parse_error() -> Self {
        Self::new(400, code::PARSE_ERROR, "The body is not valid JSON.")
    }

    /// The JSON is no message.
    pub fn invalid_request(message: &str) -> Self {
        Self::new(400, code::INVALID_REQUEST, message)
    }

    /// The envelope of a modern request is incomplete.
    pub(crate) fn bad_meta(message: &str) -> Self {
        Self::new(400, code::INVALID_PARAMS, message)
    }

    /// A header differs from the body.
    pub(crate) fn header_mismatch(message: String) -> Self {
        Self::new(400, code::HEADER_MISMATCH, message)
    }

    /// The version is not supported.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let supported: Vec<_> = Revision::ALL.iter().map(|known| known.as_str()).collect();
        Self::new(
            400,
            code::UNSUPPORTED_VERSION,
            "The protocol version is not supported.",
        )
        .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// There is no such method: 404 in the modern era, 200 before.
    pub(crate) fn method_not_found(revision: Revision, method: &str) -> Self {
        let status = if revision.is_modern() { 404 } else { 200 };
        let shown: String = method.chars().take(100).collect();
        Self::new(
            status,
            code::METHOD_NOT_FOUND,
            format!("Method not found: {shown}"),
        )
    }

    /// The parameters of a known method are wrong.
    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(200, code::INVALID_PARAMS, message)
    }

    /// The message for the wire.
    pub fn to_message(&self) -> String {
        crate::write::error(self)
    }
}
