//! A verified delivery, and what is known about it.

use std::{collections::BTreeMap, ops::Deref};

use bytes::Bytes;
use postroom_types::Timestamp;

/// How far a channel vouches for what came through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrustMode {
    /// A signature that covers the body.
    Signed,
    /// The caller showed a secret; the body is not covered.
    Token,
}

impl TrustMode {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Token => "token",
        }
    }

    /// True when the body is what the provider sent.
    pub fn verified(self) -> bool {
        self == Self::Signed
    }
}

/// A value that passed verification. Only [`crate::verify`] and [`crate::receive`] make one.
#[derive(Debug, Clone)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    /// The value without its proof.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Which secret matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretUsed {
    /// Its place among the candidates, from zero.
    pub index: usize,
    /// Its label.
    pub label: String,
    /// First 12 hex digits of its SHA-256.
    pub fingerprint: String,
}

/// One event of a body that carries several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The item's own id, or the body's id with `#` and the item's number.
    pub external_id: String,
    /// The item's event type.
    pub event_type: Option<String>,
    /// When the item happened.
    pub occurred_at: Option<Timestamp>,
    /// The item as JSON text.
    pub payload: String,
}

/// What arrived, with the verdict that let it in.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The provider's name.
    pub provider: &'static str,
    /// The scheme that matched.
    pub scheme: &'static str,
    /// The provider's name for what happened.
    pub event_type: Option<String>,
    /// The action within it, where the provider names one apart: `opened`.
    pub action: Option<String>,
    /// The id to deduplicate by: the provider's signed id, else its header id, else
    /// `sha256:HEX` of the body.
    pub external_id: String,
    /// Whether the signature covers that id.
    pub external_id_signed: bool,
    /// When it happened at the provider, where the body says so.
    pub occurred_at: Option<Timestamp>,
    /// How far the channel vouches for it.
    pub trust_mode: TrustMode,
    /// True exactly for [`TrustMode::Signed`].
    pub verified: bool,
    /// The verdict in one line: scheme, what is covered, which secret, skew.
    pub verify_detail: String,
    /// The secret that matched; none when a fetched key did.
    pub secret: Option<SecretUsed>,
    /// Clock minus signed time, seconds; none for schemes without a time.
    pub skew_s: Option<i64>,
    /// SHA-256 in hex of the signature that matched: the same one again inside the tolerance is a
    /// replay of a timed scheme.
    pub signature_sha256: Option<String>,
    /// The request's Content-Type as sent.
    pub content_type: Option<String>,
    /// Headers by lower-case name, several values joined by `, `, secrets replaced.
    pub headers: BTreeMap<String, String>,
    /// The body's raw bytes.
    pub body: Bytes,
    /// The events inside, for providers that send several at once; else empty.
    pub parts: Vec<Part>,
}
