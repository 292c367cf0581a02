//! What is known about a delivery that passed.

use postroom_types::{
    Timestamp,
    limit::{WEBHOOK_ID_BYTES, WEBHOOK_PARTS},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{
    Match,
    reading::{Reading, at, text},
    time,
};
use crate::{
    Candidate, Delivery, Part, Provider, Reason, Rejection, SecretUsed,
    provider::{Batch, IdRule},
    redact,
    scheme::{Covers, Piece, Place, Unit},
};

/// The longest event type or action that is kept, bytes.
const TYPE_BYTES: usize = 256;

pub(super) fn delivery(
    provider: &'static Provider,
    candidates: &[Candidate],
    matched: &Match,
    reading: &Reading<'_>,
) -> Result<Delivery, Rejection> {
    let request = reading.request;
    let (external_id, external_id_signed) = id(provider, matched, reading);
    if let Some(header) = provider.echoed_id
        && let Some(echoed) = reading.header(header)?
        && echoed != external_id
    {
        return Err(Rejection::new(
            Reason::EventIdMismatch,
            "event_id_mismatch",
            format!("The header {header} names another event than the signed body."),
        )
        .in_scheme(matched.scheme.name));
    }
    let secret = matched
        .candidate
        .and_then(|index| Some((index, candidates.get(index)?)))
        .map(|(index, candidate)| SecretUsed {
            index,
            label: candidate.label.clone(),
            fingerprint: candidate.fingerprint(),
        });
    let trust_mode = matched.covers.trust_mode();
    let (parts, whole) = match provider.batch {
        Some(batch) => parts(&batch, reading, &external_id),
        None => (Vec::new(), None),
    };
    let mut verify_detail = detail(matched, secret.as_ref());
    if matched.scheme.by_name && reading.options.scheme.is_none() {
        verify_detail.push_str(", counts only where the source names this scheme");
    }
    if let Some(why) = whole {
        verify_detail.push_str(&format!(", kept as one event ({why})"));
    }
    Ok(Delivery {
        provider: provider.name,
        scheme: matched.scheme.name,
        event_type: provider
            .event_type
            .iter()
            .find_map(|place| word(reading, *place)),
        action: provider.action.and_then(|place| word(reading, place)),
        external_id,
        external_id_signed,
        occurred_at: provider
            .occurred_at
            .iter()
            .find_map(|(place, unit)| instant(&reading.value(*place).ok()??, *unit)),
        trust_mode,
        verified: trust_mode.verified(),
        verify_detail,
        secret,
        skew_s: matched.skew_s,
        signature_sha256: (!matched.signature.is_empty())
            .then(|| hex::encode(Sha256::digest(&matched.signature))),
        content_type: request.text("content-type").map(str::to_owned),
        headers: redact(
            Some(provider),
            reading.options.header.as_deref(),
            request.headers,
        ),
        body: request.body.clone(),
        parts,
    })
}

fn detail(matched: &Match, secret: Option<&SecretUsed>) -> String {
    let mut line = format!("{} ok", matched.scheme.name);
    match matched.covers {
        Covers::Body => line.push_str(", body covered"),
        Covers::NotBody(why) => {
            line.push_str(", body not covered (");
            line.push_str(why);
            line.push(')');
        }
    }
    match secret {
        Some(secret) => {
            line.push_str(&format!(", secret {} {}", secret.label, secret.fingerprint));
        }
        None if matched.signature.is_empty() => {}
        None => line.push_str(", fetched key"),
    }
    if let Some(skew_s) = matched.skew_s {
        line.push_str(&format!(", skew {skew_s} s"));
    }
    line
}

/// The first rule that gives an id, else the body's hash; so there is always one.
fn id(provider: &Provider, matched: &Match, reading: &Reading<'_>) -> (String, bool) {
    for IdRule(places) in provider.ids {
        let values: Option<Vec<String>> = places
            .iter()
            .map(|place| reading.value(*place).ok().flatten())
            .collect();
        let Some(values) = values else { continue };
        let id = values.join(":");
        if fits(&id) {
            let signed = places.iter().all(|place| is_signed(*place, matched));
            return (id, signed);
        }
    }
    let hash = hex::encode(Sha256::digest(&reading.request.body));
    (format!("sha256:{hash}"), matched.covers == Covers::Body)
}

/// An id that can be stored: not empty, not long, nothing that does not print.
fn fits(id: &str) -> bool {
    !id.is_empty() && id.len() <= WEBHOOK_ID_BYTES && !id.chars().any(|letter| letter.is_control())
}

/// Whether the signature covers a place.
fn is_signed(place: Place, matched: &Match) -> bool {
    let signed = matched.scheme.signed;
    match place {
        Place::Fixed(_) | Place::Claim(_) => true,
        Place::Json(_) | Place::Form(_) | Place::Param(_) | Place::MailHeader(_)
            if matched.covers == Covers::Body =>
        {
            true
        }
        _ => signed.contains(&Piece::Value(place)) || signed.contains(&Piece::Id(place)),
    }
}

/// A word of the provider's vocabulary.
fn word(reading: &Reading<'_>, place: Place) -> Option<String> {
    let word = reading.value(place).ok()??;
    let word = word.trim();
    (!word.is_empty()
        && word.len() <= TYPE_BYTES
        && !word.chars().any(|letter| letter.is_control()))
    .then(|| word.to_owned())
}

/// An instant that informs and decides nothing; so a fraction of a second is taken.
fn instant(text: &str, unit: Unit) -> Option<Timestamp> {
    let whole = match unit {
        Unit::Seconds | Unit::Millis => text.split('.').next().unwrap_or(text),
        Unit::Rfc3339 => text,
    };
    time::parse(whole, unit)
}

/// The events of a body that is a list. Past the bound, or when an item is no object, the body
/// stays one event, and why is said: its items have no ids of their own then.
fn parts(batch: &Batch, reading: &Reading<'_>, body_id: &str) -> (Vec<Part>, Option<String>) {
    let items = reading
        .json()
        .and_then(|body| at(body, batch.items))
        .and_then(Value::as_array);
    let Some(items) = items else {
        return (Vec::new(), None);
    };
    if items.len() > WEBHOOK_PARTS {
        let why = format!("{} items, at most {WEBHOOK_PARTS} are split", items.len());
        return (Vec::new(), Some(why));
    }
    if !items.iter().all(Value::is_object) {
        return (Vec::new(), Some("an item is no object".to_owned()));
    }
    let part = |(index, item): (usize, &Value)| {
        let of = |path: &[&str]| at(item, path).and_then(text);
        Part {
            external_id: of(batch.id)
                .filter(|id| !batch.id.is_empty() && fits(id))
                .unwrap_or_else(|| format!("{body_id}#{index}")),
            event_type: of(batch.event_type).filter(|word| word.len() <= TYPE_BYTES),
            occurred_at: batch
                .occurred_at
                .and_then(|(path, unit)| instant(&of(path)?, unit)),
            payload: item.to_string(),
        }
    };
    (items.iter().enumerate().map(part).collect(), None)
}
