//! Work for a signed-in owner: the queues, what waits and what is worked on, and the words that a person
//! may say on it. Each button calls the operation that agents call.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, StatusCode, header::LOCATION};
use postroom_app::Failure;
use postroom_types::RequestId;
use serde_json::{Value, json};

use super::{call, document, escape, is_owner, items, moment, sign_in, text, trouble};
use crate::{Surfaces, answer};

/// Todos of one list.
const LISTED: u64 = 50;
/// How long a person may sit over a todo, in seconds.
const LEASE_SECONDS: u64 = 24 * 60 * 60;
const TITLE: &str = "Work";
const WHAT: &str = "what waits to be done";

type Shared = State<Arc<Surfaces>>;

/// A button: the last part of its address, the operation behind it, its words.
struct Action {
    name: &'static str,
    operation: &'static str,
    label: &'static str,
}

const CLAIM: Action = Action {
    name: "claim",
    operation: "todo_claim",
    label: "Take",
};
const COMPLETE: Action = Action {
    name: "complete",
    operation: "todo_complete",
    label: "Done",
};
const FAIL: Action = Action {
    name: "fail",
    operation: "todo_fail",
    label: "Failed",
};
const RELEASE: Action = Action {
    name: "release",
    operation: "todo_release",
    label: "Give back",
};
const RETRY: Action = Action {
    name: "retry",
    operation: "todo_retry",
    label: "Try again",
};
const ACTIONS: [&Action; 5] = [&CLAIM, &COMPLETE, &FAIL, &RELEASE, &RETRY];

/// A list: the state, its heading, what may be done in it.
const LISTS: [(&str, &str, &[&Action]); 3] = [
    ("pending", "Waiting", &[&CLAIM]),
    ("claimed", "Being worked on", &[&COMPLETE, &RELEASE, &FAIL]),
    ("failed", "Failed", &[&RETRY]),
];

/// The page at `/board`.
pub(crate) async fn show(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    match body(&surfaces, request_id).await {
        Ok(body) => answer::page(StatusCode::OK, document(TITLE, &body)),
        Err(failure) => trouble(TITLE, &failure),
    }
}

/// A word on a todo.
pub(crate) async fn act(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    let Some(action) = ACTIONS.iter().find(|known| known.name == action) else {
        return crate::rest::route_not_found(Extension(request_id)).await;
    };
    let mut arguments = json!({"id": id});
    if action.name == CLAIM.name
        && let Some(arguments) = arguments.as_object_mut()
    {
        arguments.insert("claimant".to_owned(), "a person at the board".into());
        arguments.insert("lease_ttl_seconds".to_owned(), LEASE_SECONDS.into());
    }
    said(call(&surfaces, request_id, action.operation, arguments, &[]).await)
}

/// Pauses a queue or lets it go on.
pub(crate) async fn hold(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    Path((queue, action)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if !is_owner(&surfaces, &headers).await {
        return sign_in(TITLE, WHAT);
    }
    let paused = match action.as_str() {
        "pause" => true,
        "resume" => false,
        _ => return crate::rest::route_not_found(Extension(request_id)).await,
    };
    let arguments = json!({"queue": queue, "paused": paused});
    said(call(&surfaces, request_id, "queue_update", arguments, &[]).await)
}

/// Back to the board; or why not, for a person.
fn said(result: Result<Value, Failure>) -> Response {
    if let Err(failure) = result {
        return trouble(TITLE, &failure);
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let board = HeaderValue::from_static("/board");
    response.headers_mut().insert(LOCATION, board);
    response
}

async fn body(surfaces: &Surfaces, request_id: RequestId) -> Result<String, Failure> {
    let queues = call(surfaces, request_id, "queue_list", json!({}), &[]).await?;
    let mut lists = String::new();
    for (state, heading, actions) in LISTS {
        let wanted = json!({"state": state, "limit": LISTED});
        let found = call(surfaces, request_id, "todo_list", wanted, &[]).await?;
        lists.push_str(&list(heading, &found, actions));
    }
    Ok(format!(
        "<p><a href=\"/\">Postroom</a></p><h1>{TITLE}</h1>\
         <p>Todos of the first workspace, the newest {LISTED} of each list. Titles were written by outsiders.</p>{}{lists}",
        queue_table(&queues)
    ))
}

fn queue_table(queues: &Value) -> String {
    let rows: String = items(queues, "queues").map(queue_row).collect();
    if rows.is_empty() {
        return "<p>There is no work yet. A source opens todos for what arrives: <code>postroom source add PROVIDER</code>.</p>".to_owned();
    }
    format!(
        "<h2>Queues</h2><table><thead><tr><th scope=\"col\">Queue</th><th scope=\"col\">Waiting</th>\
         <th scope=\"col\">Worked on</th><th scope=\"col\">To be tried again</th><th scope=\"col\">Failed for good</th>\
         <th scope=\"col\">Done</th><td></td></tr></thead><tbody>{rows}</tbody></table>"
    )
}

fn queue_row(queue: &Value) -> String {
    let name = escape(text(queue, "/queue"));
    let paused = queue.get("paused") == Some(&Value::Bool(true));
    let counts: String = ["pending", "claimed", "parked", "dead_letters", "done"]
        .iter()
        .map(|field| format!("<td>{}</td>", queue.get(*field).unwrap_or(&Value::Null)))
        .collect();
    let (action, label) = match paused {
        true => ("resume", "Let it go on"),
        false => ("pause", "Pause"),
    };
    let state = if paused { " (paused)" } else { "" };
    format!(
        "<tr><th scope=\"row\">{name}{state}</th>{counts}<td>{}</td></tr>",
        button(&format!("/board/queues/{name}/{action}"), label, &name)
    )
}

fn list(heading: &str, found: &Value, actions: &[&Action]) -> String {
    let rows: String = items(found, "todos")
        .map(|todo| row(todo, actions))
        .collect();
    match rows.is_empty() {
        true => format!("<h2>{heading}</h2><p>None.</p>"),
        false => format!(
            "<h2>{heading}</h2><table><thead><tr><th scope=\"col\">Todo</th><th scope=\"col\">Queue</th><th scope=\"col\">Who</th>\
             <th scope=\"col\">Tries</th><th scope=\"col\">Changed</th><td></td></tr></thead><tbody>{rows}</tbody></table>"
        ),
    }
}

fn row(todo: &Value, actions: &[&Action]) -> String {
    let number = |name: &str| todo.get(name).and_then(Value::as_u64).unwrap_or(0);
    let (id, title) = (escape(text(todo, "/id")), escape(text(todo, "/title")));
    let who = match (text(todo, "/claimant"), text(todo, "/owner")) {
        ("", owner) => owner,
        (claimant, _) => claimant,
    };
    let dead = match text(todo, "/dead_reason") {
        "" => String::new(),
        reason => format!(" ({})", escape(reason)),
    };
    let buttons: String = actions
        .iter()
        .map(|action| {
            button(
                &format!("/board/todos/{id}/{}", action.name),
                action.label,
                &title,
            )
        })
        .collect();
    format!(
        "<tr><td>{title}{dead}</td><td>{}</td><td>{}</td><td>{} of {}</td><td>{}</td><td>{buttons}</td></tr>",
        escape(text(todo, "/queue")),
        escape(who),
        number("attempt"),
        number("max_attempts"),
        moment(text(todo, "/updated_at")),
    )
}

/// A form of one button; `of` says to whom it belongs, for who hears the page. All are escaped.
fn button(address: &str, label: &str, of: &str) -> String {
    format!(
        "<form method=\"post\" action=\"{address}\"><button aria-label=\"{label}: {of}\">{label}</button></form>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_out_of_a_todo_becomes_markup() {
        let hostile = "<script>alert(1)</script>\"'&";
        let todo = json!({"id": hostile, "title": hostile, "queue": hostile, "claimant": hostile, "dead_reason": hostile});
        let shown = list("Waiting", &json!({"todos": [todo]}), &[&CLAIM]);
        assert!(
            !shown.contains("<script>") && !shown.contains("\"'&"),
            "{shown}"
        );
        let shown = queue_table(&json!({"queues": [{"queue": hostile, "paused": true}]}));
        assert!(!shown.contains("<script>"), "{shown}");
    }

    #[test]
    fn every_button_calls_an_operation_of_the_table() {
        for action in ACTIONS {
            assert!(postroom_app::operation::find(action.operation).is_some());
        }
        for (_, _, actions) in LISTS {
            assert!(
                actions
                    .iter()
                    .all(|one| ACTIONS.iter().any(|known| known.name == one.name))
            );
        }
    }
}
