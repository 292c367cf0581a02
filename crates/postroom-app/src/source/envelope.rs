//! An event that is kept, as the rules of its source would see it again.

use postroom_core::{
    EventRow,
    routing::{Delivered, Envelope, MailFacts, TrustedActors},
};
use postroom_webhook::inbound;
use serde_json::{Map, Value};

/// Lays out a kept event with its payload.
pub(crate) fn of_event(
    row: &EventRow,
    body: &[u8],
    trusted: Option<&TrustedActors>,
    params: &Map<String, Value>,
) -> Envelope {
    let message = row
        .carries_mail
        .then(|| {
            inbound::source(&row.provider)?
                .read(&row.headers, body)
                .ok()?
        })
        .flatten();
    let mail = message.as_ref().map(|message| MailFacts {
        from: Some(&message.from),
        to: if message.received_for.is_empty() {
            &message.to
        } else {
            &message.received_for
        },
        subject: Some(&message.subject),
        verdict: Some("unverified"),
        labels: &[],
        has_attachment: !message.attachments.is_empty(),
    });
    let delivered = Delivered {
        source: &row.provider,
        kind: if row.carries_mail { "mail" } else { "webhook" },
        event_type: row.event_type.as_deref(),
        trust_mode: row.trust_mode.as_str(),
        verified: row.verified,
        content_type: row.content_type.as_deref(),
        headers: Some(&row.headers),
        body,
        mail,
        subject: None,
        trusted_actors: trusted,
        params: Some(params),
    };
    Envelope::of(&delivered)
}
