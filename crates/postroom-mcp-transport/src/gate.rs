//! Who may come in, and how often.

use std::future::{Future, ready};

use ::http::HeaderMap;
use postroom_types::ErrorCode;
use serde_json::{Map, Value, json};

/// Authentication and limits of an HTTP endpoint.
pub trait Gate: Send + Sync + 'static {
    /// Who calls.
    type Caller: Clone + Send + Sync + 'static;

    /// Authenticates the bearer credential of a request (`None` when it carries none).
    ///
    /// # Errors
    /// A [`Denial`] with the reason the client may know.
    fn admit(
        &self,
        credential: Option<&str>,
    ) -> impl Future<Output = Result<Self::Caller, Denial>> + Send;

    /// Charges one request to the caller's limits and gives the headers that tell what is left.
    ///
    /// # Errors
    /// A [`Denial`] of [`ErrorCode::RateLimited`].
    fn charge(&self, caller: &Self::Caller) -> Result<HeaderMap, Denial> {
        let _ = caller;
        Ok(HeaderMap::new())
    }

    /// Whether the caller's credential still holds. Asked again and again while a stream
    /// is open.
    fn still_holds(&self, caller: &Self::Caller) -> impl Future<Output = bool> + Send {
        let _ = caller;
        ready(true)
    }

    /// A fresh id under which a refusal can be found in the log.
    fn request_id(&self) -> String;
}

/// A refusal of the [`Gate`], or of the transport itself.
#[derive(Debug, Clone)]
pub struct Denial {
    /// Why; it fixes the HTTP status and the words.
    pub code: ErrorCode,
    /// The id in the log.
    pub request_id: String,
    /// More for the client.
    pub details: Option<Value>,
    /// When to come back, seconds.
    pub retry_after_s: Option<u64>,
    /// The `WWW-Authenticate` header; [`Denial::CHALLENGE`] when there is none and the status is
    /// 401.
    pub challenge: Option<String>,
    /// Further headers.
    pub headers: Box<HeaderMap>,
}

impl Denial {
    /// The challenge of RFC 6750 section 3.
    pub const CHALLENGE: &'static str = r#"Bearer realm="postroom", error="invalid_token""#;

    /// A denial without details.
    pub fn new(code: ErrorCode, request_id: impl Into<String>) -> Self {
        Self {
            code,
            request_id: request_id.into(),
            details: None,
            retry_after_s: None,
            challenge: None,
            headers: Box::default(),
        }
    }

    /// The error envelope of the product, as `data` of the protocol's error.
    pub(crate) fn envelope(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".into(), json!(self.code.as_str()));
        error.insert("message".into(), json!(self.code.message()));
        error.insert("retryable".into(), json!(self.code.retryable()));
        error.insert("fix".into(), json!(self.code.fix()));
        error.insert("request_id".into(), json!(self.request_id));
        if let Some(details) = &self.details {
            error.insert("details".into(), details.clone());
        }
        json!({ "error": error })
    }
}
