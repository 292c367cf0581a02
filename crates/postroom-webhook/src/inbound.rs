//! Mail that a provider pushes at a webhook.
//!
//! A source verifies first: [`receive_mail`] calls [`InboundMailSource::parse`] with what
//! [`crate::verify`] made and never with anything else. A verified request that carries no mail
//! (a receipt, a ping) is `Ok(None)`.

use std::collections::BTreeMap;

use postroom_types::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Candidate, Delivery, Options, Provider, Request, Verified, verify};

mod cloudflare;
mod postmark;
mod resend;

pub use cloudflare::CloudflareInbound;
pub use postmark::PostmarkInbound;
pub use resend::ResendInbound;

/// A way in for mail.
pub trait InboundMailSource: Send + Sync {
    /// The vendor in one word, for logs and metrics.
    fn kind(&self) -> &'static str;

    /// The row that verifies its deliveries.
    fn verifier(&self) -> &'static Provider;

    /// Reads a verified delivery; pure, no network. `Ok(None)`: verified, and no mail.
    fn parse(
        &self,
        delivery: &Verified<Delivery>,
    ) -> Result<Option<InboundMessage>, InboundMailError> {
        self.read(&delivery.headers, &delivery.body)
    }

    /// What [`InboundMailSource::parse`] reads, out of the headers and body of a delivery that was
    /// kept after it had been verified. Never for anything that has just come in.
    fn read(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
    ) -> Result<Option<InboundMessage>, InboundMailError>;
}

/// Why no mail could be made.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum InboundMailError {
    /// The delivery was refused. Which part failed is not said to the sender.
    #[error("the delivery is not signed by this source")]
    Signature,
    /// Verified, and not what the provider documents. The text may repeat what a sender wrote.
    #[error("the delivery cannot be read")]
    Malformed(String),
}

impl std::fmt::Debug for InboundMailError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Signature => f.write_str("Signature"),
            Self::Malformed(text) => f.debug_tuple("Malformed").field(text).finish(),
        }
    }
}

/// An attachment as the provider lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundAttachment {
    /// The provider's id, to fetch it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// `inline` or `attachment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_disposition: Option<String>,
    /// Content-ID without angle brackets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_id: Option<String>,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The content, when the delivery carries it, as the provider spells it (Base64).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_base64: Option<String>,
}

/// A mail as a provider tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboundMessage {
    /// The provider's id of the message.
    pub id: String,
    /// The sender as the provider spells it.
    pub from: String,
    /// Recipients of the header.
    pub to: Vec<String>,
    /// Copies of the header.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cc: Vec<String>,
    /// Blind copies, where the provider lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bcc: Vec<String>,
    /// The addresses the mail was delivered for (envelope); they choose the mailbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub received_for: Vec<String>,
    /// The envelope sender, where it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope_from: Option<String>,
    /// The subject.
    pub subject: String,
    /// Plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Headers in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Attachments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<InboundAttachment>,
    /// When the provider received it, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<i64>,
    /// The whole mail as RFC 5322 bytes, where the delivery carries it.
    #[serde(skip)]
    pub raw: Option<Vec<u8>>,
    /// True when body and attachments must be fetched by [`Self::id`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_pending: bool,
}

impl InboundMessage {
    /// The key that makes one message of several deliveries.
    pub fn event_key(&self) -> String {
        format!("inbound-mail:{}", self.id)
    }
}

/// Unix seconds of an RFC 3339 or RFC 2822 time.
fn instant_s(text: &str) -> Option<i64> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.ms().div_euclid(1000));
    }
    // RFC 5322 section 3.3, with the comment that some senders put behind it.
    let text = text.split('(').next().unwrap_or(text).trim();
    let zoned = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(zoned.timestamp().as_second())
}

/// The inbound source of a provider, if it sends mail.
pub fn source(provider: &str) -> Option<&'static dyn InboundMailSource> {
    match provider {
        "resend" => Some(&ResendInbound),
        "postmark" => Some(&PostmarkInbound),
        "cloudflare-email" => Some(&CloudflareInbound),
        _ => None,
    }
}

/// Verifies a request, then reads the mail in it.
pub fn receive_mail(
    source: &dyn InboundMailSource,
    candidates: &[Candidate],
    request: &Request<'_>,
    options: &Options,
) -> Result<Option<InboundMessage>, InboundMailError> {
    let delivery = verify(source.verifier(), candidates, request, options)
        .map_err(|_| InboundMailError::Signature)?;
    source.parse(&delivery)
}
