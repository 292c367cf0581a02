//! `source verify`: what a source would make of one recorded delivery, offline.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

use bytes::Bytes;
use clap::Args;
use postroom_app::clock::{Clock as _, SystemClock};
use postroom_types::{Timestamp, limit::WEBHOOK_BODY_MOST_BYTES};
use postroom_webhook::{
    Candidate, Delivery, Handshake, Next, Options, Received, Rejection, Request, provider, receive,
};
use serde_json::{Value, json};

use super::Done;
use crate::cli::{
    terminal::{Terminal, plain},
    trouble::{PROBLEMS, Trouble},
};

/// The largest file of headers or secret, bytes.
const SMALL_FILE_BYTES: u64 = 1024 * 1024;

/// A recorded delivery and what the source has settled with its provider.
#[derive(Debug, Clone, Args)]
pub(crate) struct Verify {
    /// The provider; an unknown name lists them all
    #[arg(long, value_name = "NAME")]
    provider: String,
    /// The secret, or @FILE; several while one is rotated. A certificate or public key in PEM stands
    /// for a key that would be fetched
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true)]
    secret: Vec<String>,
    /// The headers: `Name: value` lines, or a JSON object of strings and lists of strings
    #[arg(long, value_name = "FILE")]
    headers: Option<PathBuf>,
    /// The body's raw bytes; - is standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// The request's method
    #[arg(long, value_name = "METHOD", default_value = "POST")]
    method: String,
    /// The URL that the provider called, for those that sign it
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The time of receipt: Unix seconds or RFC 3339 [default: now]. A freshness that only a running source
    /// asks for, beyond what the provider promises, counts when this is given
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<String>,
    /// The audience that a token must name
    #[arg(long, value_name = "AUDIENCE")]
    audience: Option<String>,
    /// The account that a token must name
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// The only topic that is accepted
    #[arg(long, value_name = "ARN")]
    topic_arn: Option<String>,
    /// The webhook's id at the provider
    #[arg(long, value_name = "ID")]
    webhook_id: Option<String>,
    /// Seconds of freshness both ways [default: the provider's]
    #[arg(long, value_name = "SECONDS")]
    tolerance: Option<u32>,
    /// The token of a GET challenge [default: the secret]
    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true)]
    verify_token: Option<String>,
    /// The header with the secret, where the sender chooses it
    #[arg(long, value_name = "NAME")]
    header: Option<String>,
    /// The only scheme of the provider that counts [default: any, also one that a source takes only when
    /// its settings name it; the verdict says so]
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
}

pub(super) fn run(asked: &Verify, terminal: Terminal) -> Done {
    let Some(row) = provider::find(&asked.provider) else {
        let mut names: Vec<&str> = provider::all().map(|row| row.name).collect();
        names.sort_unstable();
        return Err(Trouble::usage(
            format!("There is no provider {}.", plain(&asked.provider)),
            format!("Take one of {}.", names.join(", ")),
        ));
    };
    let headers = match &asked.headers {
        Some(path) => read_headers(&bytes_of(path, SMALL_FILE_BYTES)?)?,
        None => Vec::new(),
    };
    let body = match &asked.body {
        Some(path) => bytes_of(path, WEBHOOK_BODY_MOST_BYTES as u64)?,
        None => Vec::new(),
    };
    let mut candidates = Vec::new();
    for (index, secret) in asked.secret.iter().enumerate() {
        let secret = match secret.strip_prefix('@') {
            Some(path) => bytes_of(Path::new(path), SMALL_FILE_BYTES)?,
            None => secret.clone().into_bytes(),
        };
        candidates.push(Candidate::new(format!("#{index}"), secret));
    }
    let method = asked.method.to_ascii_uppercase();
    let request = Request {
        method: &method,
        url: asked.url.as_deref().unwrap_or_default(),
        headers: &headers,
        body: Bytes::from(body),
    };
    let received_at = asked.now.as_deref().map(instant).transpose()?;
    // A recording without a clock, or with one that stands at nought, is not called old.
    let is_dated = received_at.is_some_and(|at| at.ms() != 0);
    let options = Options {
        now: received_at.unwrap_or_else(|| SystemClock.now()),
        tolerance_s: asked.tolerance.or(row.fresh_within_s.filter(|_| is_dated)),
        audience: asked.audience.clone(),
        email: asked.email.clone(),
        topic_arn: asked.topic_arn.clone(),
        webhook_id: asked.webhook_id.clone(),
        verify_token: asked.verify_token.clone(),
        scheme: asked.scheme.clone(),
        recorded: true,
        header: asked.header.clone(),
        body_limit: None,
        keys: Vec::new(),
    };
    let received = receive(row, &candidates, &request, &options);
    let accepted = received.is_ok();
    let verdict = match &received {
        Ok(Received::Delivery(delivery)) => of_delivery(delivery),
        Ok(Received::Handshake(handshake)) => of_handshake(row.name, handshake),
        Err(rejection) => of_rejection(row.name, rejection),
    };
    if terminal.json {
        terminal.value(&verdict);
    } else {
        show(terminal, &verdict);
    }
    Ok(if accepted {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(PROBLEMS)
    })
}

fn of_delivery(delivery: &Delivery) -> Value {
    json!({
        "accepted": true,
        "reason": null,
        "code": null,
        "detail": "The delivery is accepted.",
        "verify_detail": delivery.verify_detail,
        "provider": delivery.provider,
        "scheme": delivery.scheme,
        "trust_mode": delivery.trust_mode.as_str(),
        "verified": delivery.verified,
        "event_type": delivery.event_type,
        "action": delivery.action,
        "delivery_id": delivery.external_id,
        "external_id": delivery.external_id,
        "delivery_id_signed": delivery.external_id_signed,
        "occurred_at": delivery.occurred_at,
        "skew_s": delivery.skew_s,
        "secret": delivery.secret.as_ref().map(|secret| json!({
            "index": secret.index,
            "fingerprint": secret.fingerprint,
        })),
        "parts": delivery.parts.len(),
        "handshake": null,
    })
}

fn of_handshake(provider: &str, handshake: &Handshake) -> Value {
    let (confirm_url, offers_secret) = match &handshake.next {
        Next::Nothing => (None, false),
        Next::Confirm { url, .. } => (Some(url.as_str()), false),
        Next::OfferedSecret { .. } => (None, true),
    };
    let answer = &handshake.answer;
    let headers: serde_json::Map<String, Value> = answer
        .headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({
        "accepted": true,
        "reason": null,
        "code": null,
        "detail": "The request sets the webhook up; it is answered and no event is stored.",
        "verify_detail": format!("handshake {}", handshake.kind.as_str()),
        "provider": provider,
        "scheme": null,
        "trust_mode": null,
        "verified": false,
        "event_type": null,
        "action": null,
        "delivery_id": null,
        "external_id": null,
        "delivery_id_signed": false,
        "occurred_at": null,
        "skew_s": null,
        "secret": null,
        "parts": 0,
        "handshake": {
            "kind": handshake.kind.as_str(),
            "authenticated": handshake.authenticated,
            "status": answer.status,
            "content_type": answer.content_type,
            "headers": headers,
            "body": String::from_utf8_lossy(&answer.body),
            "confirm_url": confirm_url,
            "offers_secret": offers_secret,
        },
    })
}

fn of_rejection(provider: &str, rejection: &Rejection) -> Value {
    json!({
        "accepted": false,
        "reason": rejection.reason.as_str(),
        "code": rejection.code,
        "detail": rejection.detail,
        "verify_detail": rejection.verify_detail(),
        "provider": provider,
        "scheme": rejection.scheme,
        "trust_mode": null,
        "verified": false,
        "event_type": null,
        "action": null,
        "delivery_id": null,
        "external_id": null,
        "delivery_id_signed": false,
        "occurred_at": null,
        "skew_s": rejection.skew_s,
        "secret": null,
        "parts": 0,
        "handshake": null,
        "status": rejection.reason.http_status(),
        "key_url": rejection.needs.as_ref().map(|key| key.url.as_str()),
    })
}

/// The verdict for a person: what was decided, then what is known.
fn show(terminal: Terminal, verdict: &Value) {
    let text = |name: &str| match verdict.get(name) {
        Some(Value::String(text)) => Some(plain(text)),
        Some(Value::Null) | None => None,
        Some(value) => Some(value.to_string()),
    };
    let said = match text("reason") {
        Some(reason) => format!("refused ({reason})"),
        None => "accepted".to_owned(),
    };
    terminal.line(&format!(
        "{}: {}",
        terminal.bold(&said),
        text("detail").unwrap_or_default()
    ));
    for (title, name) in [
        ("Verdict", "verify_detail"),
        ("Trust", "trust_mode"),
        ("Type", "event_type"),
        ("Action", "action"),
        ("Delivery id", "delivery_id"),
        ("Occurred at", "occurred_at"),
        ("Key to fetch", "key_url"),
    ] {
        if let Some(value) = text(name) {
            terminal.line(&format!(
                "{} {value}",
                terminal.dim(&format!("{title:<13}"))
            ));
        }
    }
    if let Some(handshake) = verdict.get("handshake").filter(|value| !value.is_null()) {
        for (title, name) in [
            ("Status", "status"),
            ("Answer", "body"),
            ("Call", "confirm_url"),
        ] {
            match handshake.get(name) {
                Some(Value::String(value)) if !value.is_empty() => terminal.line(&format!(
                    "{} {}",
                    terminal.dim(&format!("{title:<13}")),
                    plain(value)
                )),
                Some(Value::Number(value)) => terminal.line(&format!(
                    "{} {value}",
                    terminal.dim(&format!("{title:<13}"))
                )),
                _ => {}
            }
        }
    }
}

/// Unix seconds or RFC 3339.
fn instant(text: &str) -> Result<Timestamp, Trouble> {
    let seconds = text.parse::<i64>().ok().and_then(|s| s.checked_mul(1000));
    let read = seconds
        .map(Timestamp::from_ms)
        .or_else(|| text.parse().ok());
    read.ok_or_else(|| {
        Trouble::usage(
            "The time is neither Unix seconds nor RFC 3339.",
            "Give --now 1780000000 or --now 2026-05-28T20:26:40Z.",
        )
    })
}

/// Header lines out of a file: a JSON object, or `Name: value` lines.
pub(super) fn read_headers(file: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Trouble> {
    if file.trim_ascii_start().starts_with(b"{") {
        return json_headers(file);
    }
    let mut headers = Vec::new();
    for line in file.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = colon
            .and_then(|colon| Some((line.get(..colon)?, line.get(colon + 1..)?)))
            .ok_or_else(|| unusable("has a line that is not `Name: value`"))?;
        let name = std::str::from_utf8(name)
            .ok()
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
            .ok_or_else(|| unusable("has a line that is not `Name: value`"))?;
        headers.push((name.to_owned(), value.trim_ascii().to_vec()));
    }
    Ok(headers)
}

fn json_headers(file: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Trouble> {
    let given: serde_json::Map<String, Value> =
        serde_json::from_slice(file).map_err(|_| unusable("is not a JSON object"))?;
    let mut headers = Vec::new();
    for (name, value) in given {
        let values = match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => return Err(unusable("has a value that is no string")),
            };
            headers.push((name.clone(), text.into_bytes()));
        }
    }
    Ok(headers)
}

fn unusable(what: &str) -> Trouble {
    Trouble::usage(
        format!("The headers file {what}."),
        "Give `Name: value` lines, or a JSON object whose values are strings or lists of strings.",
    )
}

/// A file's bytes, or standard input's for `-`.
pub(super) fn bytes_of(path: &Path, most: u64) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    let done = if path.as_os_str() == "-" {
        std::io::stdin()
            .lock()
            .take(most + 1)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    done.map_err(|error| {
        Trouble::io(
            format!("{} cannot be read: {error}.", path.display()),
            "Name a file of one delivery.",
        )
    })?;
    if bytes.len() as u64 > most {
        return Err(Trouble::io(
            format!("{} is larger than {most} bytes.", path.display()),
            "No provider sends that much.",
        ));
    }
    Ok(bytes)
}
