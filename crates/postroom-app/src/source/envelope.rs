//! An event that is kept, as the rules of its source would see it again.

use postroom_core::{
    Draft, EventRow, Family,
    routing::{Delivered, Envelope, MailFacts, TrustedActors},
};
use postroom_mail::Kind;
use postroom_webhook::inbound;
use serde_json::{Map, Value};

/// Lays out a mail that came in by itself, by SMTP and the like, as the rules of a source of mail see
/// it: what it says of itself, and no payload.
pub(crate) fn of_mail(
    event: &EventRow,
    draft: &Draft,
    params: Option<&Map<String, Value>>,
) -> Envelope {
    let doc = &draft.doc;
    let to: Vec<String> = match &event.delivered_to {
        Some(delivered) => vec![delivered.clone()],
        None => doc.to.iter().map(|to| to.address.clone()).collect(),
    };
    Envelope::of(&Delivered {
        source: super::MAIL,
        kind: "mail",
        event_type: event.event_type.as_deref(),
        trust_mode: event.trust_mode.as_str(),
        verified: event.verified,
        content_type: event.content_type.as_deref(),
        headers: Some(&event.headers),
        body: &[],
        mail: Some(MailFacts {
            from: draft.from_address(),
            to: &to,
            subject: doc.subject.as_deref(),
            verdict: Some("unverified"),
            labels: &[],
            has_attachment: !doc.attachments.is_empty(),
        }),
        subject: None,
        trusted_actors: None,
        params,
    })
}

/// Whether a mail reports on one of ours: it is read for what it says and no rule is asked about it.
pub(crate) fn is_report(draft: &Draft) -> bool {
    matches!(draft.kind, Kind::Dsn | Kind::Mdn)
}

/// Lays out a kept event with its payload; none for a mail that no rule is asked about.
pub(crate) fn of_event(
    row: &EventRow,
    body: &[u8],
    trusted: Option<&TrustedActors>,
    params: &Map<String, Value>,
) -> Option<Envelope> {
    if row.family == Family::Mail {
        let draft = Draft::read(body, row.delivered_to.clone());
        return (!is_report(&draft)).then(|| of_mail(row, &draft, Some(params)));
    }
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
    Some(Envelope::of(&delivered))
}
