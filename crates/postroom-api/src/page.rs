//! The page: how the deployment stands and what to paste into a client.
//!
//! Rendered here, without script and without a request to anybody else. What counts mail is shown
//! to a signed-in owner only.

pub(crate) mod board;
pub(crate) mod outbox;

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{COOKIE, LOCATION, SET_COOKIE},
};
use postroom_app::{
    Actor, CallContext, Failure, Reply,
    operation::{self, Surface},
    status::Status,
};
use postroom_types::{ErrorCode, RequestId};
use serde_json::{Value, json};

use crate::{Surfaces, answer};

const SESSION_COOKIE: &str = "postroom_session";
/// Seconds that a browser keeps the cookie; the session itself ends on the server.
const COOKIE_SECONDS: u32 = 30 * 24 * 60 * 60;
const STYLE: &str = include_str!("page/style.css");

type Shared = State<Arc<Surfaces>>;

/// The page at `/`.
pub(crate) async fn home(State(surfaces): Shared, headers: HeaderMap) -> Response {
    let signed_in = is_owner(&surfaces, &headers).await;
    let status = match signed_in {
        true => surfaces.room.status().await.ok(),
        false => None,
    };
    answer::page(
        StatusCode::OK,
        document(
            "Postroom",
            &home_body(&surfaces, signed_in, status.as_ref()),
        ),
    )
}

/// The one-time owner link: opens a session and goes to the page.
pub(crate) async fn enter(
    State(surfaces): Shared,
    Path(token): Path<String>,
    method: Method,
) -> Response {
    if method == Method::HEAD {
        // Previews of links ask so; the link is for the person who follows it.
        return StatusCode::OK.into_response();
    }
    match surfaces.room.use_owner_link(&token).await {
        Ok(Some(session)) => {
            let secure = if surfaces.config.url.starts_with("https://") {
                "; Secure"
            } else {
                ""
            };
            let cookie = format!(
                "{SESSION_COOKIE}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={COOKIE_SECONDS}{secure}",
                session.expose()
            );
            home_with_cookie(&cookie)
        }
        Ok(None) => {
            let body = "<h1>This link does not work any more</h1><p>A link works once and for seven days. \
                As long as nobody has signed in, a restart of the server prints a new one.</p>";
            answer::page(StatusCode::NOT_FOUND, document("Postroom", body))
        }
        Err(failure) => trouble("Postroom", &failure),
    }
}

/// Ends the session.
pub(crate) async fn leave(State(surfaces): Shared, headers: HeaderMap) -> Response {
    if let Some(token) = session(&headers)
        && let Err(failure) = surfaces.room.close_session(token).await
    {
        return trouble("Postroom", &failure);
    }
    home_with_cookie(&format!(
        "{SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
    ))
}

fn home_with_cookie(cookie: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response
        .headers_mut()
        .insert(LOCATION, HeaderValue::from_static("/"));
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(SET_COOKIE, value);
    }
    response
}

/// The session's token out of the cookies.
fn session(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == SESSION_COOKIE).then_some(value))
}

async fn is_owner(surfaces: &Surfaces, headers: &HeaderMap) -> bool {
    match session(headers) {
        Some(token) => surfaces.room.is_session(token).await,
        None => false,
    }
}

/// What a visitor who is nobody sees in place of a page that shows `what`.
fn sign_in(title: &str, what: &str) -> Response {
    let body = format!(
        "<h1>{title}</h1><p>Open the owner link that the server printed at its first start, or one of <code>postroom owner-link</code>; then this page shows {what}.</p>"
    );
    answer::page(StatusCode::FORBIDDEN, document(title, &body))
}

/// Why a page or a word of its visitor came to nothing, for a person.
fn trouble(title: &str, failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.code.http_status());
    let body = format!(
        "<p><a href=\"/\">Postroom</a></p><h1>That did not work</h1><p>{}</p><p>{}</p>",
        escape(&failure.message),
        escape(&failure.fix),
    );
    answer::page(
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        document(title, &body),
    )
}

/// Calls an operation as the owner of the first tenant.
async fn call(
    surfaces: &Surfaces,
    request_id: RequestId,
    name: &'static str,
    arguments: Value,
    include: &[&str],
) -> Result<Value, Failure> {
    let room = &surfaces.room;
    let row = operation::find(name).ok_or(ErrorCode::InternalError)?;
    let actor = Actor::local_tenant(room.default_tenant());
    let mut context = CallContext::new(Surface::Rest, request_id, room.now());
    context.include = include.iter().map(|value| (*value).to_owned()).collect();
    match room.call(&actor, row, arguments, &context).await? {
        Reply::Json(value) => Ok(value),
        Reply::Bytes(_) => Err(ErrorCode::InternalError.into()),
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn home_body(surfaces: &Surfaces, signed_in: bool, status: Option<&Status>) -> String {
    let url = &surfaces.config.url;
    let http = json!({"mcpServers": {"postroom": {
        "type": "http",
        "url": format!("{url}/mcp"),
        "headers": {"Authorization": "Bearer YOUR_KEY"},
    }}});
    let stdio = json!({"mcpServers": {"postroom": {
        "command": "postroom",
        "args": ["mcp", "--url", url],
        "env": {"POSTROOM_KEY": "YOUR_KEY"},
    }}});
    let state = match (signed_in, status) {
        (true, Some(status)) => format!(
            "{}<p><a href=\"/board\">Work</a> · <a href=\"/outbox\">Sent mail</a></p>",
            state_table(status)
        ),
        (true, None) => "<p>The state cannot be read now. Reload in a moment.</p>".to_owned(),
        (false, _) => "<p>The server is running. Open the owner link that it printed at its first start to see how much mail there is; <code>postroom owner-link</code> makes a new one.</p>".to_owned(),
    };
    let leave = if signed_in {
        "<form method=\"post\" action=\"/leave\"><button>Sign out</button></form>"
    } else {
        ""
    };
    format!(
        "<h1>Postroom</h1><p>Mail and events for agents, in one place.</p>{leave}\
         <section><h2>State</h2>{state}</section>\
         <section><h2>Connect an agent</h2><p>Paste one of these into the configuration of an MCP client, with a key in place of <code>YOUR_KEY</code>. \
         The first start printed one; <code>postroom key create</code> makes more.</p>\
         <h3>Over HTTP</h3><pre tabindex=\"0\">{}</pre><h3>As a command</h3><pre tabindex=\"0\">{}</pre></section>\
         <section><h2>Other ways in</h2><ul><li>REST: <a href=\"/openapi.json\">{}/openapi.json</a></li>\
         <li>Command line: <code>postroom search WORDS</code></li></ul></section>",
        escape(&pretty(&http)),
        escape(&pretty(&stdio)),
        escape(url),
    )
}

fn state_table(status: &Status) -> String {
    let counts = &status.counts;
    let backlog: u64 = status.indexes.iter().map(|index| index.backlog).sum();
    let position: u64 = status
        .indexes
        .iter()
        .map(|index| index.index_position)
        .sum();
    let index = if backlog == 0 {
        format!("complete, position {position}")
    } else {
        format!("position {position}, {backlog} to go")
    };
    let rows = [
        (
            "Database",
            format!("{} {}", status.database.kind, status.database.version),
        ),
        ("Workspaces", counts.tenants.to_string()),
        ("Mailboxes", counts.identities.to_string()),
        (
            "Messages",
            format!("{} ({} unread)", counts.messages, counts.unread),
        ),
        ("Threads", counts.threads.to_string()),
        (
            "Arrivals",
            format!(
                "{} ({} waiting, {} failed)",
                counts.events, counts.pending_events, counts.failed_events
            ),
        ),
        ("Mails not imported", counts.import_failures.to_string()),
        ("Search index", index),
        ("Version", status.version.to_owned()),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value)| {
            format!(
                "<tr><th scope=\"row\">{name}</th><td>{}</td></tr>",
                escape(value)
            )
        })
        .collect();
    format!("<table>{rows}</table>")
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <style>{STYLE}</style></head><body><main>{body}</main></body></html>"
    )
}

/// A time as people read it: to the minute, in UTC as everywhere.
fn moment(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => escape(&format!("{day} {minute} UTC")),
        _ => escape(time),
    }
}

/// Text inside an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let mut headers = HeaderMap::new();
        headers.append(
            COOKIE,
            HeaderValue::from_static("a=b; postroom_session=abc; c=d"),
        );
        assert_eq!(session(&headers), Some("abc"));
        assert_eq!(session(&HeaderMap::new()), None);
    }

    #[test]
    fn times_are_told_to_the_minute() {
        assert_eq!(moment("2026-12-01T03:24:29.961Z"), "2026-12-01 03:24 UTC");
        assert_eq!(moment("<"), "&lt;");
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
    }
}
