//! An HTTP answer as a value.

/// What to answer a provider with; the caller writes it to the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Content type of the body; none when the body is empty.
    pub content_type: Option<&'static str>,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body, possibly empty.
    pub body: Vec<u8>,
}

impl Answer {
    /// A status without a body.
    pub fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// 200 with JSON.
    pub fn json(value: &serde_json::Value) -> Self {
        Self {
            status: 200,
            content_type: Some("application/json"),
            headers: Vec::new(),
            body: value.to_string().into_bytes(),
        }
    }

    /// 200 with plain text, marked so that no browser reads it as something else.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: Some("text/plain; charset=utf-8"),
            headers: vec![("x-content-type-options", "nosniff".to_owned())],
            body: body.into(),
        }
    }
}
