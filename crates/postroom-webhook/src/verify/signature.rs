//! Signatures out of a header or field.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use postroom_types::limit::{WEBHOOK_SIGNATURES, WEBHOOK_TOKEN_BYTES};

use super::reading::Reading;
use crate::{
    Reason, Rejection,
    scheme::{Check, Encoding, Hash, Layout, Place, Scheme},
};

/// Whether anything stands where the scheme looks for its signature.
pub(super) fn present(reading: &Reading<'_>, scheme: &Scheme) -> bool {
    match (scheme.check, scheme.signature) {
        (Check::Url, _) => true,
        (_, Place::AnyHeader) => !any_header(reading, scheme).is_empty(),
        (_, Place::Header(name)) => reading.request.values(name).next().is_some(),
        (_, Place::Pair { header, .. }) => reading.request.values(header).next().is_some(),
        (_, place) => !matches!(reading.value(place), Ok(None)),
    }
}

/// Every signature that the request offers, decoded. Entries that are no signature are skipped;
/// none at all is a refusal.
pub(super) fn candidates(
    reading: &Reading<'_>,
    scheme: &Scheme,
) -> Result<Vec<Vec<u8>>, Rejection> {
    if scheme.signature == Place::AnyHeader {
        return Ok(any_header(reading, scheme));
    }
    let value = reading.required(scheme.signature)?;
    if value.len() > WEBHOOK_TOKEN_BYTES {
        return Err(unreadable(
            "signature_too_long",
            "The signature is too long.",
        ));
    }
    let entries: Vec<&str> = match scheme.layout {
        Layout::Whole => vec![value.as_str()],
        Layout::Prefixed(prefix) => match value.strip_prefix(prefix) {
            Some(rest) => vec![rest],
            None => {
                return Err(unreadable(
                    "bad_format",
                    format!("The signature does not begin with {prefix}"),
                ));
            }
        },
        Layout::List { separator, prefix } => value
            .split(separator)
            .filter_map(|entry| entry.trim().strip_prefix(prefix))
            .collect(),
    };
    if entries.len() > WEBHOOK_SIGNATURES {
        return Err(unreadable(
            "too_many_signatures",
            format!("There are more than {WEBHOOK_SIGNATURES} signatures."),
        ));
    }
    let decoded: Vec<Vec<u8>> = entries
        .into_iter()
        .filter_map(|entry| decode(entry, scheme))
        .collect();
    if decoded.is_empty() {
        return Err(unreadable(
            "unreadable_signature",
            match scheme.layout {
                Layout::List { prefix, .. } => {
                    format!("The header holds no signature of the kind {prefix}")
                }
                _ => "The signature cannot be decoded.".to_owned(),
            },
        ));
    }
    Ok(decoded)
}

/// The headers of a request whose value is a signature of the scheme's length.
fn any_header(reading: &Reading<'_>, scheme: &Scheme) -> Vec<Vec<u8>> {
    reading
        .request
        .headers
        .iter()
        .filter_map(|(_, value)| std::str::from_utf8(value.trim_ascii()).ok())
        .filter_map(|value| decode(unnamed(value), scheme))
        .take(WEBHOOK_SIGNATURES)
        .collect()
}

/// A value without the name of its hash.
pub(crate) fn unnamed(value: &str) -> &str {
    ["sha256=", "sha512=", "sha1="]
        .iter()
        .find_map(|name| value.strip_prefix(name))
        .unwrap_or(value)
}

fn decode(entry: &str, scheme: &Scheme) -> Option<Vec<u8>> {
    let bytes = match scheme.encoding {
        Encoding::Hex => hex::decode(entry).ok()?,
        Encoding::Base64 => STANDARD.decode(entry).ok()?,
        Encoding::HexOrBase64 => hex::decode(entry)
            .ok()
            .filter(|bytes| fits(bytes.len(), scheme.check))
            .or_else(|| STANDARD.decode(entry).ok())
            .or_else(|| URL_SAFE_NO_PAD.decode(entry).ok())?,
        Encoding::Plain => entry.as_bytes().to_vec(),
    };
    fits(bytes.len(), scheme.check).then_some(bytes)
}

/// Whether a signature of a check can have this length.
fn fits(length: usize, check: Check) -> bool {
    match check {
        Check::Hmac(hash) | Check::Digest(hash) => length == size(hash),
        Check::Ed25519 => length == 64,
        Check::EcdsaP256 => (8..=72).contains(&length),
        Check::Rsa(_) => (256..=1024).contains(&length),
        Check::Token | Check::Jwt(_) | Check::AdyenItems | Check::GraphItems(_) | Check::Url => {
            length > 0
        }
    }
}

fn size(hash: Hash) -> usize {
    match hash {
        Hash::Md5 => 16,
        Hash::Sha1 => 20,
        Hash::Sha256 => 32,
        Hash::Sha512 => 64,
    }
}

fn unreadable(code: &str, detail: impl Into<String>) -> Rejection {
    Rejection::new(Reason::MalformedSignature, code, detail)
}
