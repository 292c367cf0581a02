//! What was signed, put together again from its pieces.

use std::borrow::Cow;

use serde_json::Value;

use super::{params, reading::Reading};
use crate::{
    Reason, Rejection,
    scheme::{Piece, Scheme},
};

/// A run of bytes of the signed content.
#[derive(Clone)]
pub(super) enum Chunk<'r> {
    /// Bytes.
    Bytes(Cow<'r, [u8]>),
    /// The secret under test.
    Secret,
}

/// One reading of what was signed; the body is borrowed, not copied.
pub(super) type Signed<'r> = Vec<Chunk<'r>>;

/// Every reading of what was signed: one, or a few where a proxy may have changed the URL's port.
pub(super) fn readings<'r>(
    reading: &'r Reading<'_>,
    scheme: &Scheme,
) -> Result<Vec<Signed<'r>>, Rejection> {
    let mut all: Vec<Signed<'r>> = vec![Vec::new()];
    for piece in scheme.signed {
        let chunks = piece_chunks(reading, scheme, *piece)?;
        all = all
            .iter()
            .flat_map(|start| {
                chunks.iter().map(|chunk| {
                    let mut signed = start.clone();
                    signed.push(chunk.clone());
                    signed
                })
            })
            .collect();
    }
    Ok(all)
}

fn piece_chunks<'r>(
    reading: &'r Reading<'_>,
    scheme: &Scheme,
    piece: Piece,
) -> Result<Vec<Chunk<'r>>, Rejection> {
    let request = reading.request;
    let owned = |text: String| Chunk::Bytes(Cow::Owned(text.into_bytes()));
    let chunk = match piece {
        Piece::Text(text) => Chunk::Bytes(Cow::Borrowed(text.as_bytes())),
        Piece::Time => match scheme.time {
            Some(rule) => owned(reading.required(rule.from)?),
            None => owned(String::new()),
        },
        Piece::Value(place) => owned(reading.required(place)?),
        Piece::Id(place) => owned(dotless(reading.required(place)?)?),
        Piece::Body => Chunk::Bytes(Cow::Borrowed(&request.body)),
        Piece::BodyCrc32 => owned(crc32fast::hash(&request.body).to_string()),
        Piece::Url => Chunk::Bytes(Cow::Borrowed(request.url.as_bytes())),
        Piece::UrlWithPorts => {
            return Ok(params::port_variants(request.url)
                .into_iter()
                .map(owned)
                .collect());
        }
        Piece::UrlBare => Chunk::Bytes(Cow::Borrowed(params::bare(request.url).as_bytes())),
        Piece::UrlHubSpot => owned(params::hubspot_url(request.url)),
        Piece::Method => Chunk::Bytes(Cow::Borrowed(request.method.as_bytes())),
        Piece::Secret => Chunk::Secret,
        Piece::WebhookId => owned(webhook_id(reading)?),
        Piece::TwilioParams => Chunk::Bytes(Cow::Owned(params::twilio(reading)?)),
        Piece::PlivoV3 => Chunk::Bytes(Cow::Owned(params::plivo(reading)?)),
        Piece::VonageParams => Chunk::Bytes(Cow::Owned(params::vonage(reading)?)),
        Piece::SnsFields => Chunk::Bytes(Cow::Owned(sns_fields(reading)?)),
    };
    Ok(vec![chunk])
}

/// An id with a dot could be read as a shorter id with another time.
fn dotless(id: String) -> Result<String, Rejection> {
    if id.contains('.') {
        return Err(Rejection::new(
            Reason::MalformedSignature,
            "bad_id",
            "The delivery's id has a dot, which stands between the signed pieces.",
        ));
    }
    Ok(id)
}

fn webhook_id(reading: &Reading<'_>) -> Result<String, Rejection> {
    reading.options.webhook_id.clone().ok_or_else(|| {
        Rejection::new(
            Reason::NotConfigured,
            "no_webhook_id",
            "The source does not say the webhook's id at the provider, which is part of what is signed.",
        )
    })
}

/// The fields of an SNS message that its signature covers, each as name and value on lines of
/// their own, sorted by name.
fn sns_fields(reading: &Reading<'_>) -> Result<Vec<u8>, Rejection> {
    const NOTIFICATION: [&str; 6] = [
        "Message",
        "MessageId",
        "Subject",
        "Timestamp",
        "TopicArn",
        "Type",
    ];
    const CONFIRMATION: [&str; 7] = [
        "Message",
        "MessageId",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ];
    let body = reading.json().and_then(Value::as_object);
    let field = |name: &str| body.and_then(|body| body.get(name)).and_then(Value::as_str);
    let names: &[&str] = match field("Type") {
        Some("Notification") => &NOTIFICATION,
        Some("SubscriptionConfirmation" | "UnsubscribeConfirmation") => &CONFIRMATION,
        _ => {
            return Err(Rejection::new(
                Reason::MalformedSignature,
                "unknown_type",
                "The message has no Type that SNS signs.",
            ));
        }
    };
    let mut signed = String::new();
    for name in names {
        match field(name) {
            Some(value) => {
                signed.push_str(name);
                signed.push('\n');
                signed.push_str(value);
                signed.push('\n');
            }
            // Only a notification may come without a subject.
            None if *name == "Subject" => {}
            None => {
                return Err(Rejection::new(
                    Reason::MissingSignature,
                    format!("missing_field:{name}"),
                    format!("The body has no field {name}."),
                ));
            }
        }
    }
    Ok(signed.into_bytes())
}
