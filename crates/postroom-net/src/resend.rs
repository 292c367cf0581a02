//! Sending through Resend's interface, the pattern for providers that take a mail's parts.
//!
//! `POST /emails` takes sender, recipients, texts, files and header fields as JSON, and answers with
//! the id under which the mail is known from then on. The key against doubles is the caller's and
//! goes along, so that the provider itself takes one mail of one key, within its 24 hours.
//!
//! What an answer comes to is decided by status and name alone: taken, refused, or not taken now.
//! An answer that does not say which is uncertain, and so is a request that may have arrived and
//! was not answered.

mod email;
mod verdict;

use std::time::Duration;

use postroom_types::{Secret, limit::RELAY_COMMAND_MS};

use crate::{
    egress::{Egress, Limits, Purpose, Request},
    smtp::send::{Envelope, Fault, Submission},
};

/// The public interface.
const BASE: &str = "https://api.resend.com";

/// The longest key against doubles that the provider takes, bytes.
const KEY_BYTES: usize = 256;

/// Hands over one mail of ours for the recipients of the envelope; those that are in no header field
/// are its blind copies. `idempotency_key` has to be the same for every try of one send.
///
/// The future has to be run to its end: one that is dropped leaves an unknown outcome.
pub async fn submit(
    egress: &Egress,
    api_key: &Secret<String>,
    idempotency_key: &str,
    envelope: &Envelope,
    raw: &[u8],
) -> Submission {
    let recipients = envelope.recipients().len();
    let sendable = (1..=KEY_BYTES).contains(&idempotency_key.len())
        && idempotency_key.bytes().all(|byte| byte.is_ascii_graphic());
    let body = email::of(envelope, raw).filter(|_| sendable);
    let Some(body) = body else {
        return Submission::not_handed_over(recipients, Fault::ExtensionMissing);
    };
    let base = egress.provider_base("resend").unwrap_or(BASE);
    let mut request = Request::post(
        format!("{base}/emails"),
        Vec::new(),
        body.to_string(),
        Purpose::Provider,
    )
    .header("content-type", "application/json")
    .header("idempotency-key", idempotency_key)
    .bearer(api_key);
    request.limits = Limits {
        total: Duration::from_millis(RELAY_COMMAND_MS),
        ..request.limits
    };
    verdict::of(recipients, egress.send(request).await)
}
