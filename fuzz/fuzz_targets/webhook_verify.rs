//! Any request to any provider: no panic, and nothing is verified that nobody signed.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use postroom_types::Timestamp;
use postroom_webhook::{Candidate, Fetched, Options, Provider, Received, Request, provider, receive, redact};

/// A text up to the next line end, and the rest.
fn line<'d>(rest: &mut &'d [u8]) -> &'d [u8] {
    let end = rest.iter().position(|byte| *byte == b'\n');
    let (line, after) = match end {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (*rest, &rest[rest.len()..]),
    };
    *rest = after;
    line
}

// First byte the provider, second the method, then lines: URL, fetched key, headers up to an empty
// one; the rest is the body.
fuzz_target!(|data: &[u8]| {
    let [which, method, rest @ ..] = data else {
        return;
    };
    let rows: Vec<&'static Provider> = provider::all().collect();
    let row = rows[usize::from(*which) % rows.len()];
    let mut rest = rest;
    let url = String::from_utf8_lossy(line(&mut rest)).into_owned();
    let key = line(&mut rest).to_vec();
    let mut headers = Vec::new();
    loop {
        let header = line(&mut rest);
        let Some(colon) = header.iter().position(|byte| *byte == b':') else {
            break;
        };
        let name = String::from_utf8_lossy(&header[..colon]).into_owned();
        headers.push((name, header[colon + 1..].to_vec()));
    }
    let request = Request {
        method: ["POST", "GET", "HEAD"][usize::from(*method) % 3],
        url: &url,
        headers: &headers,
        body: Bytes::copy_from_slice(rest),
    };
    let options = Options {
        now: Timestamp::from_ms(1_780_000_000_000),
        audience: Some("audience".to_owned()),
        email: Some("a@a.example".to_owned()),
        webhook_id: Some("id".to_owned()),
        keys: vec![Fetched {
            url: "https://www.googleapis.com/oauth2/v3/certs".to_owned(),
            content: key,
        }],
        ..Options::default()
    };
    let candidates = [
        Candidate::new("current", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        Candidate::new("previous", "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="),
    ];
    if let Ok(Received::Delivery(delivery)) = receive(row, &candidates, &request, &options) {
        assert_eq!(row.name, "url-token");
        assert!(!delivery.verified);
    }
    let _ = redact(Some(row), None, &headers);
});
