//! What is asked for and what comes back.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method};
use postroom_types::{
    ErrorCode, Secret,
    limit::{
        EGRESS_CONNECT_MS, EGRESS_HOOK_RESPONSE_BYTES, EGRESS_HOOK_TOTAL_MS,
        EGRESS_PROVIDER_RESPONSE_BYTES, EGRESS_RESPONSE_BYTES, EGRESS_TOTAL_MS,
    },
};

use super::Class;

/// What a URL is dialled for; it is logged, and it sets the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An event sent on to a replay target.
    Replay,
    /// An outgoing hook.
    Hook,
    /// A body fetched from a provider's interface.
    Provider,
    /// A signing certificate or public keys.
    Certificate,
    /// A subscription that is confirmed by visiting its URL.
    Confirmation,
}

impl Purpose {
    /// The word in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Hook => "hook",
            Self::Provider => "provider",
            Self::Certificate => "certificate",
            Self::Confirmation => "confirmation",
        }
    }
}

/// Bounds of one exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time to connect.
    pub connect: Duration,
    /// Time for everything, resolution and body included.
    pub total: Duration,
    /// Bytes of the answer's body that are read.
    pub response_bytes: usize,
}

impl Limits {
    /// The limits of a purpose.
    pub fn of(purpose: Purpose) -> Self {
        let (total_ms, response_bytes) = match purpose {
            Purpose::Hook => (EGRESS_HOOK_TOTAL_MS, EGRESS_HOOK_RESPONSE_BYTES),
            Purpose::Provider => (EGRESS_TOTAL_MS, EGRESS_PROVIDER_RESPONSE_BYTES),
            Purpose::Replay | Purpose::Certificate | Purpose::Confirmation => {
                (EGRESS_TOTAL_MS, EGRESS_RESPONSE_BYTES)
            }
        };
        Self {
            connect: Duration::from_millis(EGRESS_CONNECT_MS),
            total: Duration::from_millis(total_ms),
            response_bytes,
        }
    }
}

/// A request to a URL that somebody gave us.
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The URL, as it was given.
    pub url: String,
    /// Names and values. Headers of the connection, `Host` and `Content-Length` are not the
    /// caller's to give: [`EgressError::Header`].
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Bytes,
    /// What it is for.
    pub purpose: Purpose,
    /// Its bounds.
    pub limits: Limits,
}

impl Request {
    /// A `GET` without headers, under the purpose's limits.
    pub fn get(url: impl Into<String>, purpose: Purpose) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            purpose,
            limits: Limits::of(purpose),
        }
    }

    /// A `POST`, under the purpose's limits.
    pub fn post(
        url: impl Into<String>,
        headers: Vec<(String, Vec<u8>)>,
        body: impl Into<Bytes>,
        purpose: Purpose,
    ) -> Self {
        Self {
            method: Method::POST,
            headers,
            body: body.into(),
            ..Self::get(url, purpose)
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds `Authorization: Bearer` with a key of ours.
    #[must_use]
    pub fn bearer(self, token: &Secret<String>) -> Self {
        self.header("authorization", format!("Bearer {}", token.expose()))
    }
}

// Neither the path nor the headers are for a log: both hold secrets.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("purpose", &self.purpose)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status, a redirect's included.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it came, up to the limit.
    pub body: Bytes,
    /// Whether that is the whole body: false past the limit, past the time, or when the connection
    /// broke. The status is good anyway.
    pub complete: bool,
}

/// What the guard says to a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be dialled.
    pub allowed: bool,
    /// As what, or why not.
    pub class: Class,
}

impl Verdict {
    pub(super) fn of(checked: Result<Class, Class>) -> Self {
        let class = checked.unwrap_or_else(|refused| refused);
        Self {
            allowed: class.is_allowed(),
            class,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// The guard refuses. The same URL is refused again.
    #[error("{}", .0.message())]
    Refused(Class),
    /// The host has no addresses now; it may have some later.
    #[error("{}", Class::DnsError.message())]
    NotResolved,
    /// A header that is none, or that is not the caller's to give.
    #[error("a header is not valid, or belongs to the connection")]
    Header,
    /// The exchange failed: connection, TLS, time or protocol.
    #[error("the target could not be reached or did not answer as HTTP in time")]
    Failed {
        /// Whether the request may have left. Not for the caller of a tool.
        sent: bool,
    },
}

impl EgressError {
    pub(super) fn of(class: Class) -> Self {
        match class {
            Class::DnsError => Self::NotResolved,
            refused => Self::Refused(refused),
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::NotResolved | Self::Failed { .. })
    }

    /// The class, when the guard spoke.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Refused(class) => Some(*class),
            Self::NotResolved => Some(Class::DnsError),
            Self::Header | Self::Failed { .. } => None,
        }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(_) | Self::NotResolved | Self::Header => ErrorCode::InvalidArgument,
            Self::Failed { .. } => ErrorCode::Unavailable,
        }
    }
}
