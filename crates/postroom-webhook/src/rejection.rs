//! Why a delivery was refused.

use std::fmt;

/// The reason in one word, as metrics count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A header or field that the scheme needs is not there.
    MissingSignature,
    /// The signature, its time or its envelope cannot be read.
    MalformedSignature,
    /// The signed time is outside the tolerance, before or after.
    StaleTimestamp,
    /// Everything could be read and no secret made this signature.
    BadSignature,
    /// The signature holds, what it covers cannot be read.
    Malformed,
    /// An id in a header is not the signed one.
    EventIdMismatch,
    /// The body is larger than the row allows.
    TooLarge,
    /// The source has no usable secret or lacks a setting that the scheme needs.
    NotConfigured,
    /// A key must be fetched first; see [`Rejection::needs`].
    KeyNeeded,
    /// The request is not one this provider makes.
    Unsupported,
}

impl Reason {
    /// Every reason.
    pub const ALL: &'static [Self] = &[
        Self::MissingSignature,
        Self::MalformedSignature,
        Self::StaleTimestamp,
        Self::BadSignature,
        Self::Malformed,
        Self::EventIdMismatch,
        Self::TooLarge,
        Self::NotConfigured,
        Self::KeyNeeded,
        Self::Unsupported,
    ];

    /// The word in metrics, logs and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingSignature => "missing_signature",
            Self::MalformedSignature => "malformed_signature",
            Self::StaleTimestamp => "stale_timestamp",
            Self::BadSignature => "bad_signature",
            Self::Malformed => "malformed",
            Self::EventIdMismatch => "event_id_mismatch",
            Self::TooLarge => "too_large",
            Self::NotConfigured => "not_configured",
            Self::KeyNeeded => "key_needed",
            Self::Unsupported => "unsupported_source",
        }
    }

    /// The HTTP status of the refusal: 401 for what a sender did, 503 for what we lack, so that the
    /// provider tries again.
    pub fn http_status(self) -> u16 {
        match self {
            Self::MissingSignature
            | Self::MalformedSignature
            | Self::StaleTimestamp
            | Self::BadSignature
            | Self::EventIdMismatch => 401,
            Self::Malformed => 400,
            Self::TooLarge => 413,
            Self::NotConfigured | Self::KeyNeeded => 503,
            Self::Unsupported => 405,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a key behind a URL is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An X.509 certificate in PEM.
    Certificate,
    /// A JSON Web Key Set (RFC 7517).
    Jwks,
}

/// A key that the caller fetches and hands in as [`crate::Fetched`] under the same URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyNeeded {
    /// Where it is; it has passed the provider's host rule.
    pub url: String,
    /// What it is.
    pub kind: KeyKind,
}

/// A refused delivery. Nothing in it repeats what a sender wrote, and nothing tells a signature
/// that would have been right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Rejection {
    /// The reason as metrics count it.
    pub reason: Reason,
    /// The finer cause: `timestamp_too_old`, `missing_header:x-hub-signature-256`, `body_hash_mismatch`.
    pub code: String,
    /// One sentence for a person.
    pub detail: String,
    /// The scheme that was tried.
    pub scheme: Option<&'static str>,
    /// Clock minus signed time, seconds.
    pub skew_s: Option<i64>,
    /// The key to fetch, for [`Reason::KeyNeeded`].
    pub needs: Option<KeyNeeded>,
}

impl Rejection {
    pub(crate) fn new(reason: Reason, code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            reason,
            code: code.into(),
            detail: detail.into(),
            scheme: None,
            skew_s: None,
            needs: None,
        }
    }

    pub(crate) fn in_scheme(mut self, scheme: &'static str) -> Self {
        self.scheme.get_or_insert(scheme);
        self
    }

    /// One line for a log: scheme, code, skew.
    pub fn verify_detail(&self) -> String {
        let mut line = format!("{} {}", self.scheme.unwrap_or("no scheme"), self.code);
        if let Some(skew_s) = self.skew_s {
            line.push_str(&format!(", skew {skew_s} s"));
        }
        line
    }
}
