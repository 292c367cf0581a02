//! `event forward`: new events posted to a program on this machine, as they arrived.
//!
//! The command itself dials, where the person who runs it says; the server's guard over outgoing
//! requests has no part in it and stays as it is.

use std::{process::ExitCode, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use postroom_webhook::REDACTED;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::Done;
use crate::{
    cli::{
        alias::used,
        terminal::{Terminal, cut, plain},
        trouble::{PROBLEMS, Trouble},
    },
    client::Client,
    config::Config,
    connection::Connection,
};

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// How long the program may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Events per look.
const PAGE: u64 = 200;
/// Headers that belong to one connection or would speak for somebody else.
const DROPPED: &[&str] = &[
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "authorization",
    "cookie",
    "set-cookie",
];

/// What goes where.
#[derive(Debug, Clone, Args)]
pub(crate) struct Forward {
    /// Where to post: http://localhost:3000/hook
    #[arg(long = "to", value_name = "URL")]
    target: String,
    /// Only what comes through this source
    #[arg(long, value_name = "SOURCE_ID")]
    source: Option<String>,
    /// Only from this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Begin with what came after this event id, or at this time (RFC 3339) [default: now]
    #[arg(long, value_name = "ID|TIME")]
    since: Option<String>,
    /// Mail too, as raw messages
    #[arg(long)]
    mail: bool,
    /// End after the first event: 0 when it was answered with 2xx, else 1
    #[arg(long)]
    once: bool,
}

pub(super) async fn run(asked: &Forward, config: &Config, terminal: Terminal) -> Done {
    let target = reqwest::Url::parse(&asked.target)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            Trouble::usage(
                format!("{} is no address to post to.", plain(&asked.target)),
                "Give a URL such as http://localhost:3000/hook.",
            )
        })?;
    let connection = Connection::open(config, false).await?;
    let done = follow(asked, &connection, &Poster::new(target)?, terminal).await;
    connection.close().await;
    done
}

async fn follow(
    asked: &Forward,
    connection: &Connection,
    poster: &Poster,
    terminal: Terminal,
) -> Done {
    if !connection.is_server() && asked.since.is_none() {
        return Err(Trouble::io(
            "No server runs over this folder, so nothing new can arrive.",
            "Start `postroom serve`, or name the events with --since.",
        ));
    }
    let mut since = match &asked.since {
        Some(since) => since.clone(),
        None => newest(connection).await?,
    };
    if !terminal.json {
        terminal.note(&format!(
            "Forwarding {} to {}; Ctrl-C ends it.",
            match asked.mail {
                true => "events and mail",
                false => "events (mail too with --mail)",
            },
            poster.shown()
        ));
    }
    loop {
        let events = events_after(asked, connection, &since).await?;
        for event in &events {
            if let Some(id) = event.get("id").and_then(Value::as_u64) {
                since = id.to_string();
            }
            let wanted = asked.mail || event.get("family") != Some(&json!("mail"));
            if !wanted {
                continue;
            }
            let sent = forward(connection, poster, event).await?;
            sent.say(terminal, event);
            if asked.once {
                return Ok(ExitCode::from(if sent.is_taken() { 0 } else { PROBLEMS }));
            }
        }
        if !connection.is_server() && events.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        if events.is_empty() {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// The id of the newest event, or one before the first.
async fn newest(connection: &Connection) -> Result<String, Trouble> {
    let given = Map::from_iter([("limit".to_owned(), 1.into())]);
    let listed = connection.call_json(used::LIST_EVENTS, given).await?;
    let id = listed.pointer("/events/0/id").and_then(Value::as_u64);
    Ok(id.unwrap_or(0).to_string())
}

/// Every event after an edge, oldest first. The list comes newest first, so all of it is read before
/// the first one goes.
async fn events_after(
    asked: &Forward,
    connection: &Connection,
    since: &str,
) -> Result<Vec<Value>, Trouble> {
    let mut events = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut given = Map::from_iter([
            ("since".to_owned(), since.into()),
            ("limit".to_owned(), PAGE.into()),
            ("source_id".to_owned(), asked.source.as_deref().into()),
            ("provider".to_owned(), asked.provider.as_deref().into()),
            ("cursor".to_owned(), cursor),
        ]);
        given.retain(|_, value| !value.is_null());
        let mut page = connection.call_json(used::LIST_EVENTS, given).await?;
        cursor = page.get("next_cursor").cloned().unwrap_or_default();
        if let Some(Value::Array(list)) = page.get_mut("events").map(Value::take) {
            events.extend(list);
        }
        if cursor.is_null() {
            events.reverse();
            return Ok(events);
        }
    }
}

async fn forward(connection: &Connection, poster: &Poster, event: &Value) -> Result<Sent, Trouble> {
    let id = event.get("id").cloned().unwrap_or_default();
    let given = Map::from_iter([("id".to_owned(), id)]);
    let whole = match connection.call_json(used::SHOW_EVENT, given).await {
        Ok(whole) => whole,
        // Retention took it meanwhile.
        Err(trouble) if &*trouble.code == "not_found" => return Ok(Sent::skipped("it is gone")),
        Err(trouble) => return Err(trouble),
    };
    if let Some(permission) = whole.get("payload_withheld").and_then(Value::as_str) {
        return Ok(Sent::skipped(&format!("its payload needs {permission}")));
    }
    let Some(body) = body(&whole) else {
        return Ok(Sent::skipped("it has no payload"));
    };
    Ok(poster.post(headers(&whole), body).await)
}

/// The bytes as they arrived.
fn body(event: &Value) -> Option<Vec<u8>> {
    let text = event.get("payload")?.as_str()?;
    match event.get("payload_encoding").and_then(Value::as_str) {
        Some("base64") => STANDARD.decode(text).ok(),
        _ => Some(text.as_bytes().to_vec()),
    }
}

/// The headers that were kept, without those of the first connection and without what was a secret.
fn headers(event: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let kept = event.get("headers").and_then(Value::as_object);
    for (name, value) in kept.into_iter().flatten() {
        let Some(value) = value.as_str().filter(|value| !value.contains(REDACTED)) else {
            continue;
        };
        let name = name.to_ascii_lowercase();
        if DROPPED.contains(&name.as_str()) {
            continue;
        }
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            headers.insert(name, value);
        }
    }
    let content_type = event.get("content_type").and_then(Value::as_str);
    if let Some(value) = content_type.and_then(|text| HeaderValue::from_str(text).ok()) {
        headers.insert(reqwest::header::CONTENT_TYPE, value);
    }
    for (name, field) in [
        ("postroom-event-id", "id"),
        ("postroom-trust-mode", "trust_mode"),
        ("postroom-verified", "verified"),
    ] {
        let value = event.get(field).map(|value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        if let Some(value) = value.and_then(|text| HeaderValue::from_str(&text).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

/// Posts to one address.
struct Poster {
    http: reqwest::Client,
    target: reqwest::Url,
}

impl Poster {
    fn new(target: reqwest::Url) -> Result<Self, Trouble> {
        let http = Client::builder()
            .timeout(ANSWER_TIME)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| {
                Trouble::io(
                    format!("No HTTP client can be made: {error}."),
                    "Report this.",
                )
            })?;
        Ok(Self { http, target })
    }

    /// The address without what may be a secret in it.
    fn shown(&self) -> String {
        let mut shown = self.target.clone();
        shown.set_query(None);
        let _ = shown.set_password(None);
        let _ = shown.set_username("");
        plain(shown.as_str())
    }

    async fn post(&self, headers: HeaderMap, body: Vec<u8>) -> Sent {
        let begun = Instant::now();
        let posted = self
            .http
            .post(self.target.clone())
            .headers(headers)
            .body(body)
            .send()
            .await;
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match posted {
            Ok(answer) => Sent {
                status: Some(answer.status().as_u16()),
                took_ms,
                trouble: None,
            },
            Err(error) => Sent {
                status: None,
                took_ms,
                trouble: Some(
                    if error.is_timeout() {
                        "no answer in time"
                    } else if error.is_connect() {
                        "nothing listens there"
                    } else {
                        "the answer could not be read"
                    }
                    .to_owned(),
                ),
            },
        }
    }
}

/// What became of one event.
#[derive(Debug)]
struct Sent {
    status: Option<u16>,
    took_ms: u64,
    trouble: Option<String>,
}

impl Sent {
    fn skipped(why: &str) -> Self {
        Self {
            status: None,
            took_ms: 0,
            trouble: Some(format!("skipped: {why}")),
        }
    }

    fn is_taken(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    fn say(&self, terminal: Terminal, event: &Value) {
        if terminal.json {
            terminal.value(&json!({
                "id": event.get("id"),
                "provider": event.get("provider"),
                "event_type": event.get("event_type"),
                "status": self.status,
                "took_ms": self.took_ms,
                "error": self.trouble,
            }));
            return;
        }
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or("-");
        let outcome = match (&self.status, &self.trouble) {
            (Some(status), _) => format!("{status} in {} ms", self.took_ms),
            (None, Some(trouble)) => trouble.clone(),
            (None, None) => "-".to_owned(),
        };
        let id = event.get("id").and_then(Value::as_u64).unwrap_or_default();
        terminal.line(&format!(
            "{id:>8}  {:<12} {:<28} {outcome}",
            cut(&plain(text("provider")), 12),
            cut(&plain(text("event_type")), 28),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_and_secrets_stay_behind() {
        let event = json!({
            "id": 7, "trust_mode": "signed", "verified": true,
            "content_type": "application/json",
            "headers": {
                "x-github-event": "push", "X-Hub-Signature-256": REDACTED, "host": "a.example",
                "content-length": "9", "authorization": "Bearer x", "x-bad": "a\nb",
            },
        });
        let sent = headers(&event);
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(
            names,
            [
                "x-github-event",
                "content-type",
                "postroom-event-id",
                "postroom-trust-mode",
                "postroom-verified"
            ]
        );
    }

    #[test]
    fn bytes_that_are_no_text_go_as_they_came() {
        let event = json!({"payload": "/wD+", "payload_encoding": "base64"});
        assert_eq!(body(&event), Some(vec![0xff, 0x00, 0xfe]));
        assert_eq!(body(&json!({"payload": null})), None);
    }
}
