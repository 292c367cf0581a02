//! From a request to a verdict.

mod check;
mod describe;
mod host;
mod items;
mod jwt;
mod key;
mod params;
mod reading;
mod signature;
mod signed;
mod time;

use postroom_types::limit::WEBHOOK_SECRETS;
use serde_json::Value;

use self::{
    check::matching,
    key::{Key, Keyed, keys},
    signed::{Chunk, readings},
};
pub(crate) use self::{
    host::check as check_url,
    key::{parse as parse_key, wanted as wanted_key},
    reading::Reading,
    signature::unnamed,
};
use crate::{
    Candidate, Delivery, Handshake, Options, Provider, Reason, Rejection, Request, Verified,
    handshake,
    scheme::{Check, Covers, Hash, KeyForm, Piece, Place, Scheme, When},
};

/// What a request turned out to be.
#[derive(Debug)]
pub enum Received {
    /// A delivery that passed.
    Delivery(Box<Verified<Delivery>>),
    /// A request that sets the webhook up.
    Handshake(Box<Handshake>),
}

/// Reads one request: a delivery, a handshake, or a refusal.
pub fn receive(
    provider: &'static Provider,
    candidates: &[Candidate],
    request: &Request<'_>,
    options: &Options,
) -> Result<Received, Rejection> {
    let body_limit = options.body_limit.unwrap_or(provider.body_limit);
    if request.body.len() > body_limit {
        return Err(Rejection::new(
            Reason::TooLarge,
            "too_large",
            format!(
                "The body is larger than {} bytes, the most of this provider.",
                body_limit
            ),
        ));
    }
    let candidates = candidates.get(..WEBHOOK_SECRETS).unwrap_or(candidates);
    let reading = Reading::new(request, options);
    if let Some(handshake) = handshake::unsigned(provider, candidates, &reading)? {
        return Ok(Received::Handshake(Box::new(handshake)));
    }
    if !provider.methods.contains(&request.method)
        || (request.method == "GET" && !request.body.is_empty())
    {
        return Err(Rejection::new(
            Reason::Unsupported,
            "method",
            "The provider does not deliver with this method.",
        ));
    }
    let matched = verdict(provider, candidates, &reading)?;
    if let Some(handshake) = handshake::signed(provider, candidates, &reading)? {
        return Ok(Received::Handshake(Box::new(handshake)));
    }
    let delivery = describe::delivery(provider, candidates, &matched, &reading)?;
    Ok(Received::Delivery(Box::new(Verified::new(delivery))))
}

/// Verifies a delivery; a handshake is refused as [`Reason::Unsupported`].
pub fn verify(
    provider: &'static Provider,
    candidates: &[Candidate],
    request: &Request<'_>,
    options: &Options,
) -> Result<Verified<Delivery>, Rejection> {
    match receive(provider, candidates, request, options)? {
        Received::Delivery(delivery) => Ok(*delivery),
        Received::Handshake(_) => Err(Rejection::new(
            Reason::Unsupported,
            "handshake",
            "This request sets the webhook up; it carries no event.",
        )),
    }
}

/// A scheme that held.
pub(crate) struct Match {
    pub(crate) scheme: &'static Scheme,
    /// The candidate that matched; none for a fetched key.
    pub(crate) candidate: Option<usize>,
    pub(crate) skew_s: Option<i64>,
    pub(crate) covers: Covers,
    /// The signature's bytes; empty for tokens.
    pub(crate) signature: Vec<u8>,
}

/// The refusal when everything could be read and nothing matched.
fn no_match() -> Rejection {
    Rejection::new(
        Reason::BadSignature,
        "no_matching_signature",
        "No secret of this source made this signature over the bytes that arrived: the secret is another one, \
         or the body, the URL or a header was changed on the way.",
    )
}

/// The first scheme whose signature is there decides, with those that look at the same place.
fn verdict(
    provider: &'static Provider,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Match, Rejection> {
    let wanted = reading.options.scheme.as_deref();
    let pool: Vec<&'static Scheme> = provider
        .schemes
        .iter()
        .filter(|scheme| match wanted {
            Some(name) => scheme.name == name,
            None => !scheme.by_name || reading.options.recorded,
        })
        .collect();
    let Some(best) = pool.first() else {
        return Err(Rejection::new(
            Reason::NotConfigured,
            "no_scheme",
            "The provider has no scheme of this name.",
        ));
    };
    let blank = candidates
        .iter()
        .all(|candidate| candidate.secret.expose().is_empty());
    if blank && pool.iter().all(|scheme| needs_candidate(scheme)) {
        // Fail closed: without a secret nothing is verified, and so nothing is taken.
        return Err(Rejection::new(
            Reason::NotConfigured,
            "no_secret",
            "The source has no secret.",
        )
        .in_scheme(best.name));
    }
    let found = pool
        .iter()
        .find(|scheme| applies(reading, scheme) && signature::present(reading, scheme));
    let Some(found) = found else {
        let mut missing = reading.missing(best.signature).in_scheme(best.name);
        let weaker = by_name_only(provider, reading);
        if wanted.is_none() && !weaker.is_empty() {
            missing.detail.push_str(&format!(
                " A signature of {} is there, which counts only where the source's settings name the scheme.",
                weaker.join(" or ")
            ));
        }
        return Err(missing);
    };
    let mut refusal: Option<Rejection> = None;
    for scheme in pool
        .iter()
        .filter(|scheme| scheme.signature == found.signature && applies(reading, scheme))
    {
        match attempt(provider, scheme, candidates, reading) {
            Ok(matched) => return Ok(matched),
            Err(rejection) => {
                let rejection = rejection.in_scheme(scheme.name);
                if refusal
                    .as_ref()
                    .is_none_or(|kept| weight(rejection.reason) > weight(kept.reason))
                {
                    refusal = Some(rejection);
                }
            }
        }
    }
    Err(refusal.unwrap_or_else(|| reading.missing(best.signature).in_scheme(best.name)))
}

/// The schemes that the source did not name and whose signature is there.
fn by_name_only(provider: &'static Provider, reading: &Reading<'_>) -> Vec<&'static str> {
    let there = |scheme: &&Scheme| {
        scheme.by_name && applies(reading, scheme) && signature::present(reading, scheme)
    };
    let schemes = provider.schemes.iter().filter(there);
    schemes.map(|scheme| scheme.name).collect()
}

/// Of several schemes' refusals, the one that says most.
fn weight(reason: Reason) -> u8 {
    match reason {
        Reason::StaleTimestamp => 6,
        Reason::KeyNeeded => 5,
        Reason::BadSignature | Reason::EventIdMismatch => 4,
        Reason::Malformed | Reason::TooLarge => 3,
        // A value beside the signature was looked for only where the signature itself could be read.
        Reason::MissingSignature => 2,
        Reason::MalformedSignature => 1,
        Reason::NotConfigured | Reason::Unsupported => 0,
    }
}

fn needs_candidate(scheme: &Scheme) -> bool {
    !matches!(
        scheme.key,
        KeyForm::None | KeyForm::Certificate { .. } | KeyForm::Jwks
    )
}

fn applies(reading: &Reading<'_>, scheme: &Scheme) -> bool {
    match scheme.when {
        When::Always => true,
        When::Is(place, text) => {
            matches!(reading.value(place), Ok(Some(value)) if value == text)
        }
    }
}

/// One scheme: signature, then time.
fn attempt(
    provider: &'static Provider,
    scheme: &'static Scheme,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Match, Rejection> {
    let mut matched = match scheme.check {
        Check::Url => Match {
            scheme,
            candidate: None,
            skew_s: None,
            covers: scheme.covers,
            signature: Vec::new(),
        },
        Check::Jwt(rule) => {
            let token = reading.required(scheme.signature)?;
            if token.len() > postroom_types::limit::WEBHOOK_TOKEN_BYTES {
                return Err(Rejection::new(
                    Reason::MalformedSignature,
                    "signature_too_long",
                    "The token is too long.",
                ));
            }
            let keys = keys(reading, scheme, candidates)?;
            let token = jwt::check(reading, rule, &keys, &token)?;
            reading.keep_claims(token.claims);
            Match {
                scheme,
                candidate: origin(&keys, token.key),
                skew_s: token.skew_s,
                covers: token.covers.unwrap_or(scheme.covers),
                signature: token.signature,
            }
        }
        Check::AdyenItems => {
            let keys = keys(reading, scheme, candidates)?;
            let hit = items::adyen(reading, &keys)?;
            by_item(scheme, &keys, hit)
        }
        Check::GraphItems(rule) => {
            let keys = keys(reading, scheme, candidates)?;
            let hit = items::graph(reading, rule, &keys, candidates)?;
            by_item(scheme, &keys, hit)
        }
        _ => compared(scheme, candidates, reading)?,
    };
    if let Some(rule) = &scheme.time
        && let Some(skew_s) = time::check(reading, rule, provider.fresh_within_s)?
    {
        matched.skew_s = Some(skew_s);
    }
    topic(reading, scheme)?;
    Ok(matched)
}

fn compared(
    scheme: &'static Scheme,
    candidates: &[Candidate],
    reading: &Reading<'_>,
) -> Result<Match, Rejection> {
    let signatures = signature::candidates(reading, scheme)?;
    let keys = keys(reading, scheme, candidates)?;
    let readings = readings(reading, scheme)?;
    let hit = matching(scheme.check, &keys, &readings, &signatures).ok_or_else(|| match scheme
        .check
    {
        Check::Token => Rejection::new(
            Reason::BadSignature,
            "token_mismatch",
            "The secret that the caller shows is not one of this source.",
        ),
        _ => no_match(),
    })?;
    let signature = match scheme.check {
        Check::Token => Vec::new(),
        _ => signatures.get(hit.signature).cloned().unwrap_or_default(),
    };
    Ok(Match {
        scheme,
        candidate: origin(&keys, hit.key),
        skew_s: None,
        covers: scheme.covers,
        signature,
    })
}

fn by_item(scheme: &'static Scheme, keys: &[Keyed], hit: usize) -> Match {
    Match {
        scheme,
        candidate: origin(keys, hit),
        skew_s: None,
        covers: scheme.covers,
        signature: Vec::new(),
    }
}

fn origin(keys: &[Keyed], index: usize) -> Option<usize> {
    keys.get(index).and_then(|keyed| keyed.candidate)
}

/// Any account can have SNS sign its messages, so a source pins its topic.
fn topic(reading: &Reading<'_>, scheme: &Scheme) -> Result<(), Rejection> {
    let Some(pinned) = reading.options.topic_arn.as_deref() else {
        return Ok(());
    };
    if !scheme.signed.contains(&Piece::SnsFields)
        || reading.value(Place::Json(&["TopicArn"]))?.as_deref() == Some(pinned)
    {
        return Ok(());
    }
    Err(Rejection::new(
        Reason::BadSignature,
        "bad_topic",
        "The message is signed, and comes from another topic than the source's.",
    ))
}

/// HMAC-SHA256 in hex of a text under the first secret that has the scheme's form.
pub(crate) fn answer_hmac(
    provider: &Provider,
    candidates: &[Candidate],
    text: &str,
) -> Option<String> {
    let form = provider.schemes.first()?.key;
    let key = candidates
        .iter()
        .find_map(|candidate| parse_key(candidate.secret.expose(), form))?;
    let Key::Shared(secret) = key else {
        return None;
    };
    let signed = vec![Chunk::Bytes(std::borrow::Cow::Borrowed(text.as_bytes()))];
    check::hmac(Hash::Sha256, &secret, &signed).map(hex::encode)
}

/// Whether a text is one of the candidates' secrets, in constant time.
pub(crate) fn is_candidate(candidates: &[Candidate], text: &str) -> bool {
    let mut found = false;
    for candidate in candidates {
        let secret = candidate.secret.expose();
        found |= !secret.is_empty() & check::same_token(secret, text.as_bytes());
    }
    found
}

/// Whether two texts are the same, in constant time.
pub(crate) fn same_text(first: &str, second: &str) -> bool {
    check::same_token(first.as_bytes(), second.as_bytes())
}

/// A text of the JSON body.
pub(crate) fn json_text<'r>(reading: &'r Reading<'_>, path: &[&str]) -> Option<&'r str> {
    reading::at(reading.json()?, path).and_then(Value::as_str)
}
