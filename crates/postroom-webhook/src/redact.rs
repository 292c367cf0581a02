//! Headers without their secrets.

use std::collections::BTreeMap;

use crate::{
    Provider,
    scheme::{Check, Place},
    verify::unnamed,
};

/// What stands where a secret was.
pub const REDACTED: &str = "«redacted»";

/// Headers that always hold a secret.
const ALWAYS: &[&str] = &[
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
];

/// Parts of a name that mean a secret.
const PARTS: &[&str] = &[
    "api-key",
    "apikey",
    "hmac",
    "password",
    "secret",
    "signature",
    "token",
];

/// Endings of a name that mean a secret.
const ENDINGS: &[&str] = &["-auth", "-sig"];

/// Endings of a name that is about a signature and holds none.
const HARMLESS: &[&str] = &[
    "-algo",
    "-algorithm",
    "-idempotency-token",
    "-nonce",
    "-timestamp",
    "-version",
];

/// Headers by lower-case name, several values joined by `, `, with every signature, token and
/// cookie replaced by [`REDACTED`]. `extra` is a header that the source chose for its secret.
pub fn redact(
    provider: Option<&Provider>,
    extra: Option<&str>,
    headers: &[(String, Vec<u8>)],
) -> BTreeMap<String, String> {
    let mut safe: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let name = name.to_ascii_lowercase();
        let secret = is_secret(&name)
            || extra.is_some_and(|extra| extra.eq_ignore_ascii_case(&name))
            || provider.is_some_and(|provider| row_says(provider, &name, value));
        let shown = if secret {
            REDACTED.to_owned()
        } else {
            without_url_secrets(&String::from_utf8_lossy(value.trim_ascii()))
        };
        match safe.get_mut(&name) {
            // One marker says enough.
            Some(line) if secret || line == REDACTED => REDACTED.clone_into(line),
            Some(line) => {
                line.push_str(", ");
                line.push_str(&shown);
            }
            None => {
                safe.insert(name, shown);
            }
        }
    }
    safe
}

fn is_secret(name: &str) -> bool {
    if ALWAYS.contains(&name) {
        return true;
    }
    if HARMLESS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    PARTS.iter().any(|part| name.contains(part))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether a row looks for its signature in this header.
fn row_says(provider: &Provider, name: &str, value: &[u8]) -> bool {
    provider.secret_headers.contains(&name)
        || provider
            .schemes
            .iter()
            .any(|scheme| match scheme.signature {
                Place::Header(header) | Place::ChosenHeader(header) => header == name,
                Place::Pair { header, .. } => header == name,
                Place::AnyHeader => matches!(scheme.check, Check::Hmac(_)) && may_sign(value),
                _ => false,
            })
}

/// A value of the length and letters of a signature.
fn may_sign(value: &[u8]) -> bool {
    let Ok(value) = std::str::from_utf8(value.trim_ascii()) else {
        return false;
    };
    let value = unnamed(value);
    value.len() >= 40
        && value.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
        })
}

/// Proxies repeat the URL in headers of their own: the ingest token in its path and a `token` in its
/// query are as secret there, whatever of the URL is percent-encoded (RFC 3986 section 2.1), and
/// once more where it stands in the query of another.
fn without_url_secrets(value: &str) -> String {
    let value = cut(value, &[b"/", b"in", b"/"], b"/?# \",");
    cut(&value, &[b"?&", b"token", b"="], b"&# \",")
}

/// Replaces what stands between a start and the next end. A start is one of some marks, a word, one
/// of some marks again.
fn cut(value: &str, [first, word, last]: &[&[u8]; 3], ends: &[u8]) -> String {
    let bytes = value.as_bytes();
    let mut shown = String::with_capacity(value.len());
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        let start = mark(bytes, at, first)
            .and_then(|next| word_at(bytes, next, word))
            .and_then(|next| mark(bytes, next, last));
        let Some(start) = start else {
            at += 1;
            continue;
        };
        let end = (start..bytes.len())
            .find(|at| mark(bytes, *at, ends).is_some())
            .unwrap_or(bytes.len());
        // A word's place is between ASCII characters, so both cuts are between characters.
        shown.push_str(value.get(kept..start).unwrap_or_default());
        shown.push_str(REDACTED);
        (kept, at) = (end, end.max(at + 1));
    }
    shown.push_str(value.get(kept..).unwrap_or_default());
    shown
}

/// The place behind one of some marks at `at`, plain or percent-encoded up to twice.
fn mark(bytes: &[u8], at: usize, marks: &[u8]) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if marks.contains(rest.first()?) {
        return Some(at + 1);
    }
    let mut code = rest.strip_prefix(b"%")?;
    let mut next = at + 1;
    if let Some(again) = code.strip_prefix(b"25") {
        (code, next) = (again, next + 2);
    }
    let digit = |place: usize| {
        code.get(place)
            .and_then(|byte| (*byte as char).to_digit(16))
    };
    let byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    marks.contains(&byte).then_some(next + 2)
}

/// The place behind a word at `at`, whatever its case, letters of it percent-encoded or not.
fn word_at(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    word.iter().try_fold(at, |at, letter| {
        mark(bytes, at, &[*letter, letter.to_ascii_uppercase()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[track_caller]
    fn check(provider: &str, name: &str, value: &str, expected: &str) {
        let headers = [(name.to_owned(), value.as_bytes().to_vec())];
        let safe = redact(provider::find(provider), None, &headers);
        assert_eq!(
            safe.get(&name.to_ascii_lowercase()).map(String::as_str),
            Some(expected)
        );
    }

    #[test]
    fn what_every_row_signs_with_is_not_kept() {
        for row in provider::all() {
            for scheme in row.schemes {
                if let Place::Header(name) | Place::ChosenHeader(name) = scheme.signature {
                    check(row.name, name, "abc", REDACTED);
                }
            }
        }
    }

    #[test]
    fn the_contract_names_these() {
        for name in [
            "X-Hub-Signature",
            "X-Hub-Signature-256",
            "X-Gitea-Signature",
            "Stripe-Signature",
            "X-Slack-Signature",
            "Authorization",
            "Cookie",
            "X-Api-Key",
            "svix-signature",
            "webhook-signature",
            "X-Cairn-Signature",
            "Linear-Signature",
            "Plain-Request-Signature",
            "X-Vercel-Signature",
            "X-Gitlab-Token",
            "PAYPAL-TRANSMISSION-SIG",
            "X-Shopify-Hmac-Sha256",
            "cf-webhook-auth",
            "X-Telegram-Bot-Api-Secret-Token",
        ] {
            check("url-token", name, "abc", REDACTED);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for name in [
            "X-Slack-Retry-Num",
            "X-Slack-Retry-Reason",
            "X-Slack-Request-Timestamp",
            "X-Zendesk-Webhook-Signature-Timestamp",
            "X-GitHub-Event",
            "webhook-id",
            "Content-Type",
        ] {
            check("slack", name, "1", "1");
        }
    }

    #[test]
    fn a_url_in_a_header_loses_its_token() {
        check(
            "github",
            "X-Original-URL",
            "/in/abcdef?x=1",
            "/in/«redacted»?x=1",
        );
        check(
            "github",
            "Referer",
            "https://a.example/?token=abc&b=c",
            "https://a.example/?token=«redacted»&b=c",
        );
        for (value, expected) in [
            ("/in/%61bcdef", "/in/«redacted»"),
            ("%2Fin%2Fabcdef%3Fx=1", "%2Fin%2F«redacted»%3Fx=1"),
            ("/%69N/abcdef/x", "/%69N/«redacted»/x"),
            (
                "https://a.example/?next=https%253A%252F%252Fb%252Fin%252Fabc%2526x, é/in/d",
                "https://a.example/?next=https%253A%252F%252Fb%252Fin%252F«redacted», é/in/«redacted»",
            ),
            (
                "a%3Ftoken%3Dabc%26b=c&%74oken=d",
                "a%3Ftoken%3D«redacted»%26b=c&%74oken=«redacted»",
            ),
            ("/inner/abc /in%", "/inner/abc /in%"),
        ] {
            check("github", "X-Original-URL", value, expected);
        }
    }

    #[test]
    fn a_signature_in_a_header_of_the_senders_choice_is_not_kept() {
        check("generic", "X-Mine", &"ab".repeat(64), REDACTED);
        check("generic", "X-Mine", "ab", "ab");
    }

    #[test]
    fn lines_of_one_name_are_joined() {
        let headers = [
            ("Via".to_owned(), b"a".to_vec()),
            ("via".to_owned(), b"b".to_vec()),
        ];
        assert_eq!(
            redact(None, None, &headers).get("via").map(String::as_str),
            Some("a, b")
        );
    }
}
