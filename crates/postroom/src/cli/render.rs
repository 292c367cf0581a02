//! Answers as a person reads them.

mod webhook;

use serde_json::{Map, Value};

use super::{
    alias::View,
    terminal::{Terminal, cut, plain, plain_lines, table},
};

/// The widest column of a table.
const COLUMN: usize = 60;

/// Writes an answer in the way its verb asks for.
pub(crate) fn show(terminal: Terminal, view: View, answer: &Value) {
    if terminal.json {
        terminal.value(answer);
        return;
    }
    match view {
        View::Table(list, columns) => rows(terminal, answer, list, columns),
        View::Hits => hits(terminal, answer),
        View::Message => match answer.get("message") {
            Some(Value::Null) => terminal.line("Nothing arrived in time."),
            Some(inner) => message(terminal, inner),
            None => message(terminal, answer),
        },
        View::Thread if answer.get("messages").is_some() => thread(terminal, answer),
        View::Thread => message(terminal, answer),
        View::Todo => todo(terminal, answer),
        View::Event => webhook::event(terminal, answer),
        View::Source => webhook::source(terminal, answer),
        View::Fields => fields(terminal, answer),
    }
    if let Some(cursor) = answer.get("next_cursor").and_then(Value::as_str) {
        terminal.note(&terminal.dim(&format!("more: --cursor {cursor}")));
    }
}

fn rows(terminal: Terminal, answer: &Value, list: &str, columns: &[(&str, &str)]) {
    let items = answer
        .pointer(list)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if items.is_empty() {
        terminal.line("Nothing here.");
        return;
    }
    let heading: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
    let cells: Vec<Vec<String>> = items
        .iter()
        .map(|item| {
            columns
                .iter()
                .map(|(_, pointer)| cell(item.pointer(pointer)))
                .collect()
        })
        .collect();
    terminal.line(&table(terminal, &heading, &cells, COLUMN));
}

/// A value in one cell; instants lose their seconds.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => instant(text).unwrap_or_else(|| text.clone()),
        Some(Value::Array(items)) if items.iter().any(|item| item.get("address").is_some()) => {
            people(items)
        }
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| cell(Some(item)))
            .collect::<Vec<_>>()
            .join(", "),
        Some(Value::Object(actors)) if actors.contains_key("logins") => trusted(actors),
        Some(other) => other.to_string(),
    }
}

/// The first of some people, and how many more there are.
fn people(list: &[Value]) -> String {
    let first = list.first().map(|one| text(one, "address"));
    let first = first.unwrap_or_default();
    match list.len().saturating_sub(1) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Whom a source trusts: everybody, nobody, or these people.
fn trusted(actors: &Map<String, Value>) -> String {
    if actors.get("allow_all") == Some(&Value::Bool(true)) {
        return "everybody".to_owned();
    }
    let logins = cell(actors.get("logins"));
    match (logins.as_str(), actors.get("match").and_then(Value::as_str)) {
        ("", _) => "nobody".to_owned(),
        (_, None | Some("sender")) => logins,
        (_, Some(matching)) => format!("{logins} ({matching})"),
    }
}

fn instant(text: &str) -> Option<String> {
    text.parse::<postroom_types::Timestamp>().ok()?;
    Some(text.get(..16)?.replace('T', " "))
}

fn mailbox(value: Option<&Value>) -> String {
    let part = |name: &str| {
        value
            .and_then(|value| value.get(name))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match (part("name"), part("address")) {
        ("", "") => "(no sender)".to_owned(),
        ("", address) => plain(address),
        (name, address) => format!("{} <{}>", plain(name), plain(address)),
    }
}

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .and_then(Value::as_str)
        .map(plain)
        .unwrap_or_default()
}

fn hits(terminal: Terminal, answer: &Value) {
    let list = answer
        .get("hits")
        .or_else(|| answer.get("data"))
        .and_then(Value::as_array);
    let list = list.map(Vec::as_slice).unwrap_or_default();
    if list.is_empty() {
        terminal.line("Nothing found.");
    }
    for hit in list {
        let (id, at) = match hit.get("message_id") {
            Some(_) => (text(hit, "message_id"), cell(hit.get("date"))),
            None => (text(hit, "thread_id"), cell(hit.get("last_at"))),
        };
        let from = match hit.get("from") {
            Some(from) => mailbox(Some(from)),
            None => format!("{} messages", cell(hit.get("message_count"))),
        };
        let subject = match text(hit, "subject") {
            subject if subject.is_empty() => "(no subject)".to_owned(),
            subject => subject,
        };
        terminal.line(&format!(
            "{}  {}",
            terminal.bold(&cut(&subject, 72)),
            terminal.dim(&at)
        ));
        terminal.line(&format!("  {from}  {}", terminal.dim(&id)));
        let snippet = text(hit, "snippet");
        if !snippet.is_empty() {
            terminal.line(&format!("  {}", cut(&snippet, 160)));
        }
    }
    if answer.get("index_complete") == Some(&Value::Bool(false)) {
        terminal.note("note: the index is still catching up; a little later there may be more.");
    }
}

fn message(terminal: Terminal, message: &Value) {
    let line = |name: &str, value: String| {
        if !value.is_empty() {
            terminal.line(&format!("{} {value}", terminal.dim(&format!("{name:<8}"))));
        }
    };
    line("From", mailbox(message.get("from")));
    for (name, field) in [("To", "to"), ("Cc", "cc")] {
        let people = message
            .get(field)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        line(
            name,
            people
                .iter()
                .map(|person| mailbox(Some(person)))
                .collect::<Vec<_>>()
                .join(", "),
        );
    }
    line("Subject", text(message, "subject"));
    line(
        "Date",
        cell(
            message
                .get("sent_at")
                .filter(|at| !at.is_null())
                .or_else(|| message.get("received_at")),
        ),
    );
    line("Id", text(message, "id"));
    line("Thread", text(message, "thread_id"));
    if let Some(deliveries) = message.get("deliveries").and_then(Value::as_array) {
        line("Status", text(message, "status"));
        for delivery in deliveries {
            let reason = text(delivery, "reason");
            let told = format!(
                "{} {} {reason}",
                text(delivery, "address"),
                text(delivery, "status")
            );
            line("", told.trim_end().to_owned());
        }
    }
    if let Some(verdict) = message.pointer("/trust/verdict").and_then(Value::as_str) {
        line("Sender", verdict.to_owned());
    }
    for attachment in message
        .get("attachments")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let named = format!(
            "{} ({}, {} bytes)  {}",
            cell(attachment.get("filename")),
            text(attachment, "content_type"),
            cell(attachment.get("size")),
            text(attachment, "id")
        );
        line("File", plain(&named));
    }
    let body = ["text", "extracted_text"]
        .iter()
        .find_map(|name| message.get(*name).and_then(Value::as_str));
    terminal.line("");
    terminal.line(plain_lines(body.unwrap_or("(no text)")).trim_end());
}

fn thread(terminal: Terminal, thread: &Value) {
    terminal.line(&terminal.bold(&text(thread, "subject")));
    for one in thread
        .get("messages")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        terminal.line(&terminal.dim(&"-".repeat(72)));
        message(terminal, one);
    }
}

fn todo(terminal: Terminal, answer: &Value) {
    if answer.get("empty") == Some(&Value::Bool(true)) {
        nothing_waits(terminal, answer);
        return;
    }
    let todo = answer.get("todo").unwrap_or(answer);
    let line = |name: &str, value: String| {
        if !value.is_empty() && value != "-" {
            terminal.line(&format!("{} {value}", terminal.dim(&format!("{name:<8}"))));
        }
    };
    let one = |name: &str| plain(&cell(todo.get(name)));
    terminal.line(&terminal.bold(&text(todo, "title")));
    line("Id", text(todo, "id"));
    line("Queue", text(todo, "queue"));
    let until = |name: &str, words: &str| match one(name).as_str() {
        "-" => String::new(),
        at => format!(" {words} {at}"),
    };
    let dead = match text(todo, "dead_reason") {
        reason if reason.is_empty() => String::new(),
        reason => format!(" for good ({reason})"),
    };
    line(
        "State",
        format!(
            "{}{dead}{}{}",
            text(todo, "state"),
            until("lease_expires_at", "until"),
            until("next_retry_at", "until")
        ),
    );
    line(
        "Tries",
        format!("{} of {}", one("attempt"), one("max_attempts")),
    );
    line("Held", text(todo, "quarantine_reason"));
    line("Owner", one("owner"));
    line("Event", one("event_id"));
    line("Message", one("message_id"));
    line("Token", text(answer, "lease_token"));
    if answer.get("created") == Some(&Value::Bool(false)) {
        line("Note", "it was there already".to_owned());
    }
    for name in ["attempts", "prior_attempts"] {
        attempts(terminal, answer.get(name));
    }
    for (name, value) in [
        ("Result", answer.get("result")),
        ("Payload", todo.get("payload")),
    ] {
        match value {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => line(name, plain_lines(text)),
            Some(json) => {
                let shown = serde_json::to_string_pretty(json).unwrap_or_default();
                line(name, plain_lines(&shown));
            }
        }
    }
    line("Payload", withheld(todo));
}

/// An empty queue and one that gives out nothing now are two things.
fn nothing_waits(terminal: Terminal, answer: &Value) {
    let deferred = answer.get("deferred").and_then(Value::as_array);
    let Some(deferred) = deferred.filter(|list| !list.is_empty()) else {
        terminal.line("Nothing waits.");
        return;
    };
    for one in deferred {
        let why = match text(one, "reason").as_str() {
            "paused" => "is paused",
            _ => "has as much in work at once as it may",
        };
        terminal.line(&format!("The queue {} {why}.", text(one, "queue")));
    }
}

fn withheld(todo: &Value) -> String {
    match text(todo, "payload_withheld") {
        permission if permission.is_empty() => String::new(),
        permission => format!("(needs {permission})"),
    }
}

fn attempts(terminal: Terminal, list: Option<&Value>) {
    for attempt in list.and_then(Value::as_array).into_iter().flatten() {
        let summary = text(attempt, "summary");
        let late = match attempt.get("late_at") {
            Some(_) => " (spoke too late)",
            None => "",
        };
        let shown = format!(
            "{:<8} {} {} {}{late} {}",
            "Attempt",
            cell(attempt.get("seq")),
            cell(attempt.get("ended_at")),
            text(attempt, "outcome"),
            cut(&summary, 100)
        );
        terminal.line(shown.trim_end());
    }
}

fn fields(terminal: Terminal, answer: &Value) {
    let Some(object) = answer.as_object() else {
        terminal.line(&plain(&answer.to_string()));
        return;
    };
    let width = object.keys().map(String::len).max().unwrap_or(0);
    let line = |name: &str, shown: &str| {
        terminal.line(&format!(
            "{}  {}",
            terminal.dim(&format!("{name:<width$}")),
            plain_lines(shown)
        ));
    };
    for (name, value) in object {
        match value {
            Value::String(text) if text.is_empty() => {}
            // What has parts shows one part, or one thing, a line.
            Value::Object(parts) if !parts.is_empty() => {
                let mut name = name.as_str();
                for (part, value) in parts {
                    line(name, &format!("{part}: {}", short(value)));
                    name = "";
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let mut name = name.as_str();
                for item in items {
                    line(name, &short(item));
                    name = "";
                }
            }
            value => line(name, &cell(Some(value))),
        }
    }
}

/// A value in one line: of an object what its keys say, without those that say nothing.
fn short(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let items: Vec<String> = items.iter().map(short).collect();
                items.join("; ")
            }
            value => cell(Some(value)),
        };
    };
    let parts: Vec<String> = object
        .iter()
        .filter(|(_, value)| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(parts) => !parts.is_empty(),
            _ => true,
        })
        .map(|(key, value)| match value {
            Value::Object(_) => format!("{key} ({})", short(value)),
            value => format!("{key} {}", short(value)),
        })
        .collect();
    parts.join(", ")
}
