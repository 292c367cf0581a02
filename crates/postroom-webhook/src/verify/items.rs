//! Bodies whose items carry their own proof: Adyen and Microsoft Graph.
//!
//! Every item must hold; one that does not refuses the whole body.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use postroom_types::limit::WEBHOOK_PARTS;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use super::{
    check, jwt,
    key::{self, Key, Keyed},
    reading::{Reading, at, text},
    signed::Chunk,
};
use crate::{
    Candidate, Reason, Rejection,
    scheme::{Hash, JwtRule},
};

/// Adyen: eight fields of each item, joined by colons.
pub(super) fn adyen(reading: &Reading<'_>, keys: &[Keyed]) -> Result<usize, Rejection> {
    let items = list(reading, "notificationItems")?;
    each_matches(keys, items, |key, item| {
        let item = item.get("NotificationRequestItem").unwrap_or(item);
        let Key::Shared(secret) = key else {
            return false;
        };
        let given = at(item, &["additionalData", "hmacSignature"])
            .and_then(Value::as_str)
            .and_then(|signature| STANDARD.decode(signature).ok())
            .unwrap_or_default();
        // Its libraries differ in whether a colon within a field is escaped; both are signed so.
        let mut same = false;
        for escape in [false, true] {
            let signed = vec![Chunk::Bytes(Cow::Owned(adyen_fields(item, escape)))];
            let expected = check::hmac(Hash::Sha256, secret, &signed).unwrap_or_default();
            same |= bool::from(expected.ct_eq(&given)) && !given.is_empty();
        }
        same
    })
}

fn adyen_fields(item: &Value, escape: bool) -> Vec<u8> {
    const FIELDS: [&[&str]; 8] = [
        &["pspReference"],
        &["originalReference"],
        &["merchantAccountCode"],
        &["merchantReference"],
        &["amount", "value"],
        &["amount", "currency"],
        &["eventCode"],
        &["success"],
    ];
    let fields: Vec<String> = FIELDS
        .iter()
        .map(|path| {
            let field = at(item, path).and_then(text).unwrap_or_default();
            if escape {
                field.replace('\\', "\\\\").replace(':', "\\:")
            } else {
                field
            }
        })
        .collect();
    fields.join(":").into_bytes()
}

/// Graph: each item repeats the client state; validation tokens are checked when the source names
/// the application they must be for.
pub(super) fn graph(
    reading: &Reading<'_>,
    rule: &'static JwtRule,
    keys: &[Keyed],
    candidates: &[Candidate],
) -> Result<usize, Rejection> {
    let items = list(reading, "value")?;
    let hit = each_matches(keys, items, |key, item| {
        let Key::Shared(secret) = key else {
            return false;
        };
        item.get("clientState")
            .and_then(Value::as_str)
            .is_some_and(|state| check::same_token(secret, state.as_bytes()))
    })?;
    let tokens = reading.json().and_then(|body| body.get("validationTokens"));
    if let (Some(Value::Array(tokens)), Some(_)) = (tokens, &reading.options.audience) {
        if tokens.is_empty() || tokens.len() > WEBHOOK_PARTS {
            return Err(unreadable("validationTokens"));
        }
        for token in tokens {
            let token = token
                .as_str()
                .ok_or_else(|| unreadable("validationTokens"))?;
            let mut keys = key::pinned(candidates);
            if keys.is_empty() {
                keys = key::jwks(reading, rule.jwks_url.unwrap_or_default(), token)?;
            }
            jwt::check(reading, rule, &keys, token)?;
        }
    }
    Ok(hit)
}

fn list<'r>(reading: &'r Reading<'_>, name: &str) -> Result<&'r [Value], Rejection> {
    let items = reading
        .json()
        .and_then(|body| body.get(name))
        .and_then(Value::as_array)
        .filter(|items| (1..=WEBHOOK_PARTS).contains(&items.len()));
    match items {
        Some(items) => Ok(items),
        None => Err(unreadable(name)),
    }
}

/// The key that every item matches. All keys and all items are looked at.
fn each_matches(
    keys: &[Keyed],
    items: &[Value],
    matches: impl Fn(&Key, &Value) -> bool,
) -> Result<usize, Rejection> {
    let mut hit = None;
    for (index, keyed) in keys.iter().enumerate() {
        let mut all = true;
        for item in items {
            all &= matches(&keyed.key, item);
        }
        if all && hit.is_none() {
            hit = Some(index);
        }
    }
    hit.ok_or_else(super::no_match)
}

fn unreadable(name: &str) -> Rejection {
    Rejection::new(
        Reason::MissingSignature,
        format!("missing_field:{name}"),
        format!("The body has no list {name} of 1 to {WEBHOOK_PARTS} items."),
    )
}
