//! JSON Web Tokens (RFC 7519) under one algorithm that the row names.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{
    check,
    key::{Key, Keyed},
    reading::Reading,
    signed::Chunk,
};
use crate::{
    Reason, Rejection,
    scheme::{Covers, Hash, JwtRule},
};

/// A token that was checked.
pub(super) struct Token {
    pub(super) claims: Value,
    pub(super) key: usize,
    pub(super) skew_s: Option<i64>,
    pub(super) signature: Vec<u8>,
    /// What the token vouches for, where it depends on the token.
    pub(super) covers: Option<Covers>,
}

/// Base64url without padding.
pub(super) fn url_safe(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The key id of a token's header, before anything is checked.
pub(super) fn kid(token: &str) -> Option<String> {
    let header = parsed(token.split('.').next()?)?;
    header.get("kid")?.as_str().map(str::to_owned)
}

/// Checks signature, then claims.
pub(super) fn check(
    reading: &Reading<'_>,
    rule: &JwtRule,
    keys: &[Keyed],
    token: &str,
) -> Result<Token, Rejection> {
    let mut parts = token.split('.');
    let (Some(header), Some(payload), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(malformed(
            "unreadable_token",
            "The token is not three parts.",
        ));
    };
    let (Some(head), Some(claims), Some(signature)) =
        (parsed(header), parsed(payload), url_safe(signature))
    else {
        return Err(malformed(
            "unreadable_token",
            "The token cannot be decoded.",
        ));
    };
    // The one algorithm of the row: `none`, or a public key used as a secret, never gets further.
    if head.get("alg").and_then(Value::as_str) != Some(rule.algorithm) {
        return Err(malformed(
            "alg_not_allowed",
            format!("The token is not signed with {}.", rule.algorithm),
        ));
    }
    // RFC 7515 section 4.1.11: what is critical and not understood is refused.
    if head.get("crit").is_some() {
        return Err(malformed(
            "crit_not_supported",
            "The token has critical extensions.",
        ));
    }
    let signed = vec![Chunk::Bytes(Cow::Owned(
        format!("{header}.{payload}").into_bytes(),
    ))];
    let mut matched = None;
    for (index, keyed) in keys.iter().enumerate() {
        let same = match &keyed.key {
            Key::Shared(secret) if rule.algorithm == "HS256" => {
                check::hmac(Hash::Sha256, secret, &signed)
                    .is_some_and(|expected| expected.ct_eq(&signature).into())
            }
            Key::Rsa(key) if rule.algorithm == "RS256" => {
                check::rsa(Hash::Sha256, key, &signed, &signature)
            }
            _ => false,
        };
        if same && matched.is_none() {
            matched = Some(index);
        }
    }
    let Some(key) = matched else {
        return Err(super::no_match());
    };
    let skew_s = times(reading, rule, &claims)?;
    parties(reading, rule, &claims)?;
    let covers = body_hash(reading, rule, &claims)?;
    Ok(Token {
        claims,
        key,
        skew_s,
        signature,
        covers,
    })
}

/// Expiry, start and issue time; whole seconds only.
fn times(reading: &Reading<'_>, rule: &JwtRule, claims: &Value) -> Result<Option<i64>, Rejection> {
    let now_s = reading.options.now.ms().div_euclid(1000);
    let leeway_s = i64::from(rule.leeway_s);
    let expires = seconds(claims, "exp")?;
    if let Some(expires) = expires
        && now_s >= expires
    {
        return Err(stale(
            "token_expired",
            "The token has expired.",
            now_s.saturating_sub(expires),
        ));
    }
    if let Some(starts) = seconds(claims, "nbf")?
        && now_s < starts.saturating_sub(leeway_s)
    {
        return Err(stale(
            "token_not_yet_valid",
            "The token is not valid yet.",
            now_s.saturating_sub(starts),
        ));
    }
    let issued = seconds(claims, "iat")?;
    let skew_s = issued.map(|issued| now_s.saturating_sub(issued));
    match rule.issued_within_s {
        None if expires.is_none() => {
            Err(malformed("missing_claim:exp", "The token has no expiry."))
        }
        None => match skew_s {
            Some(skew_s) if skew_s < -leeway_s => Err(stale(
                "timestamp_too_new",
                "The token was issued in the future.",
                skew_s,
            )),
            _ => Ok(skew_s),
        },
        Some(tolerance_s) => {
            let tolerance_s = reading.options.tolerance_s.unwrap_or(tolerance_s);
            match skew_s {
                None => Err(malformed(
                    "missing_claim:iat",
                    "The token has no issue time.",
                )),
                Some(skew_s) if skew_s > i64::from(tolerance_s) => {
                    Err(stale("timestamp_too_old", "The token is too old.", skew_s))
                }
                Some(skew_s) if skew_s < -i64::from(tolerance_s) => Err(stale(
                    "timestamp_too_new",
                    "The token was issued in the future.",
                    skew_s,
                )),
                Some(skew_s) => Ok(Some(skew_s)),
            }
        }
    }
}

/// Issuer, audience, account and calling application.
fn parties(reading: &Reading<'_>, rule: &JwtRule, claims: &Value) -> Result<(), Rejection> {
    let claim = |name: &str| claims.get(name).and_then(Value::as_str);
    if !rule.issuers.is_empty()
        && !claim("iss").is_some_and(|issuer| {
            rule.issuers
                .iter()
                .any(|allowed| match allowed.strip_suffix('*') {
                    Some(start) => issuer.starts_with(start),
                    None => issuer == *allowed,
                })
        })
    {
        return Err(bad("bad_issuer", "The token has another issuer."));
    }
    if rule.audience {
        let wanted = setting(reading.options.audience.as_deref(), "audience")?;
        let named = match claims.get("aud") {
            Some(Value::String(audience)) => audience == wanted,
            Some(Value::Array(list)) => list.iter().any(|item| item.as_str() == Some(wanted)),
            _ => false,
        };
        if !named {
            return Err(bad("bad_audience", "The token is for another audience."));
        }
    }
    if rule.email {
        let wanted = setting(reading.options.email.as_deref(), "email")?;
        let verified = claims.get("email_verified") == Some(&Value::Bool(true));
        if claim("email") != Some(wanted) || !verified {
            return Err(bad(
                "bad_email",
                "The token does not name the account, or not as verified.",
            ));
        }
    }
    if let Some((names, value)) = rule.party
        && !names.split('|').any(|name| claim(name) == Some(value))
    {
        return Err(bad(
            "bad_party",
            "The token was issued to another application.",
        ));
    }
    Ok(())
}

/// A body must be named by its hash; without a body the token covers nothing that arrives.
fn body_hash(
    reading: &Reading<'_>,
    rule: &JwtRule,
    claims: &Value,
) -> Result<Option<Covers>, Rejection> {
    let Some(name) = rule.body_sha256 else {
        return Ok(None);
    };
    let body = &reading.request.body;
    match claims.get(name).and_then(Value::as_str) {
        Some(named) => {
            let actual = hex::encode(Sha256::digest(body));
            let same: bool = actual
                .as_bytes()
                .ct_eq(named.to_ascii_lowercase().as_bytes())
                .into();
            if same {
                Ok(Some(Covers::Body))
            } else {
                Err(bad(
                    "body_hash_mismatch",
                    "The body is not the one that the token names.",
                ))
            }
        }
        None if body.is_empty() => Ok(Some(Covers::NotBody(
            "the token names no body; the query is not covered",
        ))),
        None => Err(bad(
            "body_hash_missing",
            "The token does not name the body by its hash.",
        )),
    }
}

fn setting<'o>(value: Option<&'o str>, name: &str) -> Result<&'o str, Rejection> {
    value.filter(|value| !value.is_empty()).ok_or_else(|| {
        Rejection::new(
            Reason::NotConfigured,
            format!("no_{name}"),
            format!("The source does not say which {name} a token must name."),
        )
    })
}

/// A time claim in whole seconds; anything else is unreadable.
fn seconds(claims: &Value, name: &str) -> Result<Option<i64>, Rejection> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| {
            malformed(
                "unreadable_timestamp",
                format!("The claim {name} is not whole seconds."),
            )
        }),
    }
}

fn parsed(part: &str) -> Option<Value> {
    let value: Value = serde_json::from_slice(&url_safe(part)?).ok()?;
    value.is_object().then_some(value)
}

fn malformed(code: impl Into<String>, detail: impl Into<String>) -> Rejection {
    Rejection::new(Reason::MalformedSignature, code, detail)
}

fn bad(code: &str, detail: &str) -> Rejection {
    Rejection::new(Reason::BadSignature, code, detail)
}

fn stale(code: &str, detail: &str, skew_s: i64) -> Rejection {
    let mut rejection = Rejection::new(Reason::StaleTimestamp, code, detail);
    rejection.skew_s = Some(skew_s);
    rejection
}
