//! Form, multipart and query parameters, and the strings that providers sign out of them.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use postroom_types::limit::WEBHOOK_PARAMS;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::reading::{Reading, text};
use crate::{Reason, Rejection, Request};

/// The longest field of a multipart body that is read as text, bytes.
const FIELD_BYTES: usize = 256 * 1024;

/// Pairs of a query or an urlencoded body, at most one more than [`WEBHOOK_PARAMS`].
pub(crate) fn pairs(encoded: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(encoded)
        .take(WEBHOOK_PARAMS + 1)
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect()
}

/// The fields of a form body: urlencoded, or multipart by its Content-Type.
pub(crate) fn form_fields(request: &Request<'_>) -> Vec<(String, String)> {
    match request.media_type().as_deref() {
        Some("multipart/form-data") => request
            .text("content-type")
            .and_then(boundary)
            .map(|boundary| multipart(&request.body, &boundary))
            .unwrap_or_default(),
        Some("application/json") => Vec::new(),
        _ => pairs(&request.body),
    }
}

/// Every parameter of a request: of a JSON body's top level, or of query and form.
pub(crate) fn all(reading: &Reading<'_>) -> Vec<(String, String)> {
    if let Some(Value::Object(map)) = reading.json() {
        return map
            .iter()
            .take(WEBHOOK_PARAMS + 1)
            .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
            .collect();
    }
    let mut found = pairs(reading.request.query().unwrap_or_default().as_bytes());
    found.extend(reading.form().iter().cloned());
    found.truncate(WEBHOOK_PARAMS + 1);
    found
}

fn boundary(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        // RFC 2046 section 5.1.1: 1 to 70 characters.
        (name.trim().eq_ignore_ascii_case("boundary") && (1..=70).contains(&value.len()))
            .then(|| value.to_owned())
    })
}

/// The text fields of a multipart body (RFC 7578); files are passed over.
fn multipart(body: &[u8], boundary: &str) -> Vec<(String, String)> {
    let delimiter = format!("--{boundary}");
    let finder = memmem::Finder::new(delimiter.as_bytes());
    let starts: Vec<usize> = finder.find_iter(body).take(WEBHOOK_PARAMS + 1).collect();
    let mut fields = Vec::new();
    for pair in starts.windows(2) {
        let &[start, end] = pair else { continue };
        let Some(part) = body.get(start + delimiter.len()..end) else {
            continue;
        };
        let Some(split) = memmem::find(part, b"\r\n\r\n") else {
            continue;
        };
        let (head, content) = part.split_at(split);
        let content = content.get(4..).unwrap_or_default();
        let content = content.strip_suffix(b"\r\n").unwrap_or(content);
        let Ok(head) = std::str::from_utf8(head) else {
            continue;
        };
        if let Some(name) = field_name(head)
            && content.len() <= FIELD_BYTES
        {
            fields.push((name, String::from_utf8_lossy(content).into_owned()));
        }
    }
    fields
}

/// The name of a part that is no file.
fn field_name(head: &str) -> Option<String> {
    let line = head.lines().find(|line| {
        line.get(..20)
            .is_some_and(|start| start.eq_ignore_ascii_case("content-disposition:"))
    })?;
    let mut name = None;
    for parameter in line.split(';').skip(1) {
        let (key, value) = parameter.split_once('=')?;
        match key.trim() {
            "name" => name = Some(value.trim().trim_matches('"').to_owned()),
            "filename" | "filename*" => return None,
            _ => {}
        }
    }
    name
}

/// Twilio: each name with its values as a sorted set; a body that is no form is named by its hash
/// in the URL, else nothing would cover it.
pub(super) fn twilio(reading: &Reading<'_>) -> Result<Vec<u8>, Rejection> {
    let body = &reading.request.body;
    if let Some(named) = reading.request.query_value("bodySHA256") {
        let actual = hex::encode(Sha256::digest(body));
        let same: bool = actual
            .as_bytes()
            .ct_eq(named.to_ascii_lowercase().as_bytes())
            .into();
        return if same {
            Ok(Vec::new())
        } else {
            Err(Rejection::new(
                Reason::BadSignature,
                "body_hash_mismatch",
                "The body is not the one that bodySHA256 in the URL names.",
            ))
        };
    }
    if reading.request.media_type().as_deref() == Some("application/json") && !body.is_empty() {
        return Err(Rejection::new(
            Reason::BadSignature,
            "body_hash_missing",
            "The body is no form and the URL has no bodySHA256: nothing covers it.",
        ));
    }
    let mut sorted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in bounded(pairs(body))? {
        sorted.entry(name).or_default().insert(value);
    }
    let mut signed = String::new();
    for (name, values) in &sorted {
        for value in values {
            signed.push_str(name);
            signed.push_str(value);
        }
    }
    Ok(signed.into_bytes())
}

/// Plivo v3: the URL without query, `?` and the sorted query, `.` and the sorted form.
pub(super) fn plivo(reading: &Reading<'_>) -> Result<Vec<u8>, Rejection> {
    let request = reading.request;
    let query = bounded(pairs(request.query().unwrap_or_default().as_bytes()))?;
    let form = match request.method {
        "GET" => Vec::new(),
        _ => bounded(reading.form().to_vec())?,
    };
    let mut signed = bare(request.url).to_owned();
    if !query.is_empty() || !form.is_empty() {
        signed.push('?');
    }
    signed.push_str(&joined(&query, "=", "&"));
    if !query.is_empty() && !form.is_empty() {
        signed.push('.');
    }
    signed.push_str(&joined(&form, "", ""));
    Ok(signed.into_bytes())
}

/// Pairs sorted by name, then value.
fn joined(pairs: &[(String, String)], equals: &str, and: &str) -> String {
    let mut sorted: Vec<_> = pairs.iter().collect();
    sorted.sort();
    let entries: Vec<String> = sorted
        .iter()
        .map(|(name, value)| format!("{name}{equals}{value}"))
        .collect();
    entries.join(and)
}

/// Vonage SMS: `&name=value` by name without `sig`; what would split a pair is replaced.
pub(super) fn vonage(reading: &Reading<'_>) -> Result<Vec<u8>, Rejection> {
    if let Some(Value::Object(map)) = reading.json()
        && map
            .values()
            .any(|value| matches!(value, Value::Array(_) | Value::Object(_)))
    {
        return Err(Rejection::new(
            Reason::MalformedSignature,
            "nested_parameter",
            "A parameter is a list or an object, which this signature does not cover.",
        ));
    }
    let mut sorted = bounded(all(reading))?;
    sorted.retain(|(name, _)| name != "sig");
    sorted.sort();
    if sorted.windows(2).any(|pair| match pair {
        [(first, _), (second, _)] => first == second,
        _ => false,
    }) {
        return Err(Rejection::new(
            Reason::MalformedSignature,
            "duplicate_parameter",
            "A parameter stands there more than once.",
        ));
    }
    let mut signed = String::new();
    for (name, value) in &sorted {
        signed.push('&');
        signed.push_str(name);
        signed.push('=');
        signed.push_str(&value.replace(['&', '='], "_"));
    }
    Ok(signed.into_bytes())
}

fn bounded(pairs: Vec<(String, String)>) -> Result<Vec<(String, String)>, Rejection> {
    if pairs.len() > WEBHOOK_PARAMS {
        return Err(Rejection::new(
            Reason::MalformedSignature,
            "too_many_parameters",
            format!("There are more than {WEBHOOK_PARAMS} parameters."),
        ));
    }
    Ok(pairs)
}

/// A URL without query and fragment.
pub(super) fn bare(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or(url)
}

/// A URL as given, without its port, and with the default one. Only the authority changes: a
/// provider signed the text that was configured there, so nothing else may be rewritten.
pub(super) fn port_variants(url: &str) -> Vec<String> {
    let mut variants = vec![url.to_owned()];
    let Some((scheme, rest)) = url.split_once("://") else {
        return variants;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let port_at = authority
        .rfind(':')
        .filter(|&colon| !authority.get(colon..).unwrap_or_default().contains(']'));
    let host = match port_at {
        Some(colon) => authority.get(..colon).unwrap_or(authority),
        None => authority,
    };
    let default_port = if scheme.eq_ignore_ascii_case("https") {
        443
    } else {
        80
    };
    for authority in [host.to_owned(), format!("{host}:{default_port}")] {
        let variant = format!("{scheme}://{authority}{tail}");
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    variants
}

/// A URL with the escapes decoded that HubSpot's servers decode before signing.
pub(super) fn hubspot_url(url: &str) -> String {
    const DECODED: [(&str, char); 16] = [
        ("%3A", ':'),
        ("%2F", '/'),
        ("%3F", '?'),
        ("%40", '@'),
        ("%21", '!'),
        ("%24", '$'),
        ("%27", '\''),
        ("%28", '('),
        ("%29", ')'),
        ("%2A", '*'),
        ("%2C", ','),
        ("%3B", ';'),
        ("%3D", '='),
        ("%7E", '~'),
        ("%5B", '['),
        ("%5D", ']'),
    ];
    let mut decoded = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        decoded.push_str(before);
        let known = escape.get(..3).and_then(|given| {
            DECODED
                .iter()
                .find(|(escaped, _)| escaped.eq_ignore_ascii_case(given))
        });
        match known {
            Some((_, plain)) => {
                decoded.push(*plain);
                rest = escape.get(3..).unwrap_or_default();
            }
            None => {
                decoded.push('%');
                rest = escape.get(1..).unwrap_or_default();
            }
        }
    }
    decoded.push_str(rest);
    decoded
}
