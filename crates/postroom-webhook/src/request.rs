//! What is verified, and with what.

use std::fmt;

use bytes::Bytes;
use postroom_types::{Secret, Timestamp};
use sha2::{Digest as _, Sha256};

/// One HTTP request as it was received.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// The public URL that the provider called, as configured there, with the query as received.
    pub url: &'a str,
    /// Every header line in order; names in any case.
    pub headers: &'a [(String, Vec<u8>)],
    /// The body's raw bytes.
    pub body: Bytes,
}

/// One secret that may have signed the delivery. During a rotation there are several.
#[derive(Clone)]
pub struct Candidate {
    /// What to call it in a verdict: `current`, `previous`.
    pub label: String,
    /// The secret as the provider shows it, or a public key.
    pub secret: Secret<Vec<u8>>,
}

impl Candidate {
    /// A secret under a name; white space around it is not part of it.
    pub fn new(label: impl Into<String>, secret: impl AsRef<[u8]>) -> Self {
        Self {
            label: label.into(),
            secret: Secret::new(secret.as_ref().trim_ascii().to_vec()),
        }
    }

    /// First 12 hex digits of the secret's SHA-256: tells secrets apart and gives none away.
    pub fn fingerprint(&self) -> String {
        let mut digest = hex::encode(Sha256::digest(self.secret.expose()));
        digest.truncate(12);
        digest
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Candidate({})", self.label)
    }
}

/// A key that the caller fetched.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The URL of [`crate::KeyNeeded`].
    pub url: String,
    /// What was there: a PEM certificate or a JSON Web Key Set.
    pub content: Vec<u8>,
}

/// The clock and what a source has settled with its provider.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The time of receipt.
    pub now: Timestamp,
    /// Seconds of freshness both ways instead of the row's own; for rows without one it turns a
    /// known signed time into a checked one.
    pub tolerance_s: Option<u32>,
    /// The audience that a token must name (OIDC `aud`).
    pub audience: Option<String>,
    /// The service account that a token must name (OIDC `email`).
    pub email: Option<String>,
    /// The only topic that is accepted (SNS).
    pub topic_arn: Option<String>,
    /// The webhook's id at the provider (PayPal).
    pub webhook_id: Option<String>,
    /// The token that a GET challenge must carry (Meta); a secret may stand for it.
    pub verify_token: Option<String>,
    /// The only scheme of the row that is accepted; none accepts all that do not count by name only.
    pub scheme: Option<String>,
    /// Whether a recorded delivery is explained instead of received: every scheme of the row is tried,
    /// and no freshness is asked for that the provider does not promise.
    pub recorded: bool,
    /// The header that carries the secret or signature, where the sender chooses it.
    pub header: Option<String>,
    /// The largest body instead of the row's own, bytes: for one that came compressed.
    pub body_limit: Option<usize>,
    /// Keys fetched so far.
    pub keys: Vec<Fetched>,
}

impl<'a> Request<'a> {
    /// The values of a header, one per line.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.headers
            .iter()
            .filter(move |(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_ascii())
    }

    /// The value of a header that stands there once and is text.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        let mut values = self.values(name);
        let value = values.next()?;
        match values.next() {
            None => std::str::from_utf8(value).ok(),
            Some(_) => None,
        }
    }

    /// The media type without parameters, lower case.
    pub(crate) fn media_type(&self) -> Option<String> {
        let value = self.text("content-type")?;
        let media = value.split(';').next()?.trim().to_ascii_lowercase();
        (!media.is_empty()).then_some(media)
    }

    /// The query of the URL as it was sent, without `?` and fragment.
    pub(crate) fn query(&self) -> Option<&'a str> {
        let url = self.url.split('#').next()?;
        url.split_once('?').map(|(_, query)| query)
    }

    /// The first value of a query parameter.
    pub(crate) fn query_value(&self, name: &str) -> Option<String> {
        let query = self.query()?;
        form_urlencoded::parse(query.as_bytes())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
    }
}
