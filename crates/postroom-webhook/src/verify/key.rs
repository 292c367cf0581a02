//! Secrets and public keys in the forms that providers hand them out in.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rsa::{pkcs8::DecodePublicKey as _, traits::PublicKeyParts as _};
use serde_json::Value;
use x509_cert::{
    Certificate,
    der::{Decode as _, Encode as _},
};

use super::{host, jwt::url_safe, reading::Reading};
use crate::{
    Candidate, KeyKind, KeyNeeded, Reason, Rejection,
    scheme::{Check, KeyForm, Scheme},
};

/// The smallest RSA key that counts, bits.
const RSA_BITS_LEAST: usize = 2048;

/// A key in the form that a check takes.
pub(crate) enum Key {
    /// The bytes of a shared secret.
    Shared(Vec<u8>),
    /// An Ed25519 public key.
    Ed25519(ed25519_dalek::VerifyingKey),
    /// A P-256 public key.
    P256(p256::ecdsa::VerifyingKey),
    /// An RSA public key.
    Rsa(rsa::PublicKey),
}

/// A key and the candidate that it came from; none for a fetched one.
pub(super) struct Keyed {
    pub(super) key: Key,
    pub(super) candidate: Option<usize>,
}

/// The keys of a scheme: what the candidates hold, or what stands behind a URL.
pub(super) fn keys(
    reading: &Reading<'_>,
    scheme: &Scheme,
    candidates: &[Candidate],
) -> Result<Vec<Keyed>, Rejection> {
    match scheme.key {
        KeyForm::None => return Ok(Vec::new()),
        KeyForm::Certificate { url, rule } => {
            let url = reading.required(url)?;
            host::check(&url, rule)?;
            return certificate_keys(reading, candidates, url);
        }
        KeyForm::Jwks => return jwks_keys(reading, scheme, candidates),
        _ => {}
    }
    let usable: Vec<Keyed> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            Some(Keyed {
                key: parse(candidate.secret.expose(), scheme.key)?,
                candidate: Some(index),
            })
        })
        .collect();
    if !usable.is_empty() {
        return Ok(usable);
    }
    let blank = candidates
        .iter()
        .all(|candidate| candidate.secret.expose().is_empty());
    Err(if blank {
        Rejection::new(
            Reason::NotConfigured,
            "no_secret",
            "The source has no secret.",
        )
    } else {
        Rejection::new(
            Reason::NotConfigured,
            "unusable_secret",
            format!(
                "No secret has the form that this scheme needs: {}.",
                wanted(scheme.key)
            ),
        )
    })
}

/// What a key form looks like, for a person.
pub(crate) fn wanted(form: KeyForm) -> &'static str {
    match form {
        KeyForm::Verbatim => "text",
        KeyForm::Base64 { .. } => "Base64, behind its prefix",
        KeyForm::Hex => "hexadecimal",
        KeyForm::Ed25519Hex => "an Ed25519 public key in hexadecimal",
        KeyForm::Ed25519Base64 { .. } => "an Ed25519 public key in Base64",
        KeyForm::P256Spki => "a P-256 public key in Base64 or PEM",
        KeyForm::Certificate { .. } | KeyForm::Jwks => "a certificate or public key in PEM",
        KeyForm::None => "none",
    }
}

/// A key out of a candidate; none when it has another form.
pub(crate) fn parse(secret: &[u8], form: KeyForm) -> Option<Key> {
    if secret.is_empty() {
        return None;
    }
    match form {
        KeyForm::Verbatim => Some(Key::Shared(secret.to_vec())),
        KeyForm::Base64 { prefix } => {
            let text = std::str::from_utf8(secret).ok()?;
            let bytes = STANDARD
                .decode(padded(text.strip_prefix(prefix).unwrap_or(text)))
                .ok()?;
            (!bytes.is_empty()).then_some(Key::Shared(bytes))
        }
        KeyForm::Hex => hex::decode(secret)
            .ok()
            .filter(|bytes| !bytes.is_empty())
            .map(Key::Shared),
        KeyForm::Ed25519Hex => ed25519(&hex::decode(secret).ok()?),
        KeyForm::Ed25519Base64 { prefix } => {
            let text = std::str::from_utf8(secret).ok()?.strip_prefix(prefix)?;
            ed25519(&STANDARD.decode(padded(text)).ok()?)
        }
        KeyForm::P256Spki => {
            let der = pem(secret, "PUBLIC KEY").or_else(|| STANDARD.decode(secret).ok())?;
            p256::ecdsa::VerifyingKey::from_public_key_der(&der)
                .ok()
                .map(Key::P256)
        }
        KeyForm::Certificate { .. } | KeyForm::Jwks => rsa_pem(secret).map(Key::Rsa),
        KeyForm::None => None,
    }
}

/// Base64 with its padding; senders of secrets sometimes drop it.
fn padded(text: &str) -> String {
    let text = text.trim_end_matches('=');
    let padding = (4 - text.len() % 4) % 4;
    format!("{text}{}", "=".repeat(padding))
}

fn ed25519(bytes: &[u8]) -> Option<Key> {
    let bytes: &[u8; 32] = bytes.try_into().ok()?;
    let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).ok()?;
    // Under a key of small order anybody can make a signature.
    (!key.is_weak()).then_some(Key::Ed25519(key))
}

/// The content of the first PEM block of a label (RFC 7468).
fn pem(text: &[u8], label: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (content, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let content: String = content.split_ascii_whitespace().collect();
    STANDARD.decode(content).ok()
}

/// The RSA key of a certificate or public key in PEM.
fn rsa_pem(text: &[u8]) -> Option<rsa::PublicKey> {
    let spki = match pem(text, "CERTIFICATE") {
        Some(der) => Certificate::from_der(&der)
            .ok()?
            .tbs_certificate()
            .subject_public_key_info()
            .to_der()
            .ok()?,
        None => pem(text, "PUBLIC KEY")?,
    };
    strong(rsa::PublicKey::from_public_key_der(&spki).ok()?)
}

fn strong(key: rsa::PublicKey) -> Option<rsa::PublicKey> {
    (key.size() * 8 >= RSA_BITS_LEAST).then_some(key)
}

/// Candidates that are PEM; they stand for a fetched key.
pub(super) fn pinned(candidates: &[Candidate]) -> Vec<Keyed> {
    let keys = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            Some(Keyed {
                key: Key::Rsa(rsa_pem(candidate.secret.expose())?),
                candidate: Some(index),
            })
        });
    keys.collect()
}

fn fetched<'r>(reading: &Reading<'r>, url: &str) -> Option<&'r [u8]> {
    let key = reading.options.keys.iter().find(|key| key.url == url)?;
    Some(&key.content)
}

fn certificate_keys(
    reading: &Reading<'_>,
    candidates: &[Candidate],
    url: String,
) -> Result<Vec<Keyed>, Rejection> {
    let pinned = pinned(candidates);
    if !pinned.is_empty() {
        return Ok(pinned);
    }
    let Some(content) = fetched(reading, &url) else {
        return Err(needed(url, KeyKind::Certificate));
    };
    match rsa_pem(content) {
        Some(key) => Ok(vec![Keyed {
            key: Key::Rsa(key),
            candidate: None,
        }]),
        None => Err(unreadable()),
    }
}

fn jwks_keys(
    reading: &Reading<'_>,
    scheme: &Scheme,
    candidates: &[Candidate],
) -> Result<Vec<Keyed>, Rejection> {
    let pinned = pinned(candidates);
    if !pinned.is_empty() {
        return Ok(pinned);
    }
    let Check::Jwt(rule) = scheme.check else {
        return Ok(Vec::new());
    };
    let token = reading.required(scheme.signature)?;
    jwks(reading, rule.jwks_url.unwrap_or_default(), &token)
}

/// The keys of a fetched set that a token may have been signed with.
pub(super) fn jwks(reading: &Reading<'_>, url: &str, token: &str) -> Result<Vec<Keyed>, Rejection> {
    let Some(content) = fetched(reading, url) else {
        return Err(needed(url.to_owned(), KeyKind::Jwks));
    };
    let kid = super::jwt::kid(token);
    let set: Value = serde_json::from_slice(content).map_err(|_| unreadable())?;
    let keys: Vec<Keyed> = set
        .get("keys")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|key| kid.is_none() || key.get("kid").and_then(Value::as_str) == kid.as_deref())
        .filter_map(|key| {
            Some(Keyed {
                key: Key::Rsa(jwk(key)?),
                candidate: None,
            })
        })
        .collect();
    if keys.is_empty() {
        return Err(Rejection::new(
            Reason::BadSignature,
            "unknown_key",
            "The token names a key that is not in the issuer's key set.",
        ));
    }
    Ok(keys)
}

/// An RSA key of a set (RFC 7518 section 6.3).
fn jwk(key: &Value) -> Option<rsa::PublicKey> {
    let part = |name: &str| {
        let text = key.get(name)?.as_str()?;
        Some(rsa::BoxedUint::from_be_slice_vartime(&url_safe(text)?))
    };
    if key.get("kty")?.as_str()? != "RSA" {
        return None;
    }
    strong(rsa::PublicKey::new(part("n")?, part("e")?).ok()?)
}

fn needed(url: String, kind: KeyKind) -> Rejection {
    let mut rejection = Rejection::new(
        Reason::KeyNeeded,
        "key_needed",
        match kind {
            KeyKind::Certificate => {
                "The signing certificate must be fetched first, or given as the secret in PEM."
            }
            KeyKind::Jwks => {
                "The issuer's key set must be fetched first, or a key given as the secret in PEM."
            }
        },
    );
    rejection.needs = Some(KeyNeeded { url, kind });
    rejection
}

fn unreadable() -> Rejection {
    Rejection::new(
        Reason::NotConfigured,
        "unreadable_key",
        "The fetched key cannot be read.",
    )
}
