//! Which headers may travel, and which never do.

use std::collections::BTreeSet;

/// What stands where a secret header's value was.
pub const REDACTED: &str = "\u{ab}redacted\u{bb}";

/// Headers of one connection (RFC 9110 section 7.6.1) and those that this module writes itself.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that speak for a person or a session.
const SECRET: &[&str] = &["authorization", "cookie", "set-cookie"];

/// The headers of a stored event that a replay carries.
///
/// Dropped: headers of one connection, those that `Connection` names, headers that authenticate
/// somebody, every header that holds [`REDACTED`], and what is no header at all.
pub fn replay_headers<'a>(
    stored: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(String, Vec<u8>)> {
    let stored: Vec<(String, &str)> = stored
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let named: BTreeSet<String> = stored
        .iter()
        .filter(|(name, _)| name == "connection")
        .flat_map(|(_, value)| value.split(','))
        .map(|token| token.trim().to_ascii_lowercase())
        .collect();
    stored
        .into_iter()
        .filter(|(name, value)| {
            !is_own(name)
                && !SECRET.contains(&name.as_str())
                && !named.contains(name)
                && !value.contains(REDACTED)
                && is_header(name, value.as_bytes())
        })
        .map(|(name, value)| (name, value.as_bytes().to_vec()))
        .collect()
}

/// Whether a header is written by this module alone, so that no caller may give it.
pub(super) fn is_own(lower_case_name: &str) -> bool {
    HOP_BY_HOP.contains(&lower_case_name)
}

fn is_header(name: &str, value: &[u8]) -> bool {
    http::HeaderName::from_bytes(name.as_bytes()).is_ok()
        && http::HeaderValue::from_bytes(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stored: &[(&str, &str)], kept: &[&str]) {
        let seen: Vec<String> = replay_headers(stored.iter().copied())
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(seen, kept);
    }

    #[test]
    fn a_replay_carries_neither_the_connection_nor_secrets() {
        check(
            &[
                ("Content-Type", "application/json"),
                ("X-GitHub-Event", "push"),
                ("Host", "old.example"),
                ("Content-Length", "5"),
                ("Connection", "close, X-Hop"),
                ("X-Hop", "1"),
                ("Keep-Alive", "x"),
                ("Proxy-Connection", "x"),
                ("Proxy-Authenticate", "x"),
                ("Proxy-Authorization", "x"),
                ("TE", "trailers"),
                ("Trailer", "x"),
                ("Transfer-Encoding", "chunked"),
                ("Upgrade", "h2c"),
                ("Expect", "100-continue"),
                ("Authorization", "Bearer x"),
                ("Cookie", "a=b"),
                ("Set-Cookie", "a=b"),
                ("X-Hub-Signature-256", "\u{ab}redacted\u{bb}"),
                ("X-Joined", "a, \u{ab}redacted\u{bb}, b"),
                (":authority", "evil.example"),
                ("X Odd", "x"),
                ("X-Odd", "a\r\nHost: evil.example"),
                ("X-Empty", ""),
            ],
            &["content-type", "x-github-event", "x-empty"],
        );
    }
}
