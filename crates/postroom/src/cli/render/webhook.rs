//! Arrivals and ways in as a person reads them.

use serde_json::Value;

use super::{cell, instant, text};
use crate::cli::terminal::{Terminal, plain, plain_lines};

/// What is known of an arrival, its headers, its payload.
pub(super) fn event(terminal: Terminal, answer: &Value) {
    let line = |name: &str, value: String| line(terminal, name, &value);
    let kind = match text(answer, "event_type") {
        kind if kind.is_empty() => text(answer, "family"),
        kind => kind,
    };
    terminal.line(&terminal.bold(&format!(
        "Event {}: {} {kind}",
        cell(answer.get("id")),
        text(answer, "provider")
    )));
    line("Received", time(answer, "received_at"));
    line("Occurred", time(answer, "occurred_at"));
    let verified = match answer.get("verified") {
        Some(Value::Bool(true)) => "verified",
        _ => "its body is not verified",
    };
    line(
        "Trust",
        format!("{}, {verified}", text(answer, "trust_mode")),
    );
    line("Verdict", text(answer, "verify_detail"));
    line("Went", text(answer, "disposition"));
    let routing = answer.get("routing").filter(|routing| !routing.is_null());
    line(
        "Rule",
        routing
            .and_then(|routing| routing.get("rule_name").or_else(|| routing.get("rule_id")))
            .and_then(Value::as_str)
            .map(plain)
            .unwrap_or_default(),
    );
    line("Todo", text(answer, "todo_id"));
    line("Message", text(answer, "message_id"));
    line("Source", text(answer, "source_id"));
    line("From", text(answer, "source_ip"));
    line("Delivery", text(answer, "external_id"));
    line("Note", text(answer, "detail"));
    let headers = answer.get("headers").and_then(Value::as_object);
    for (name, value) in headers.into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        terminal.line(&terminal.dim(&plain(&format!("  {name}: {value}"))));
    }
    terminal.line("");
    payload(terminal, answer);
}

fn payload(terminal: Terminal, answer: &Value) {
    match answer.get("payload").and_then(Value::as_str) {
        Some(payload) => {
            let json: Option<Value> = serde_json::from_str(payload).ok();
            let shown = json.and_then(|json| serde_json::to_string_pretty(&json).ok());
            let shown = shown.as_deref().unwrap_or(payload);
            terminal.line(plain_lines(shown).trim_end());
        }
        None => match text(answer, "payload_withheld") {
            permission if permission.is_empty() => terminal.line("(no payload)"),
            permission => terminal.line(&format!("(the payload needs {permission})")),
        },
    }
}

/// A way in, with its rules when the answer has them.
pub(super) fn source(terminal: Terminal, answer: &Value) {
    let source = answer.pointer("/sources/0").unwrap_or(answer);
    let line = |name: &str, value: String| line(terminal, name, &value);
    terminal.line(&terminal.bold(&format!(
        "{} ({})",
        match text(source, "name") {
            name if name.is_empty() => text(source, "source_id"),
            name => name,
        },
        text(source, "source_type")
    )));
    line("Id", text(source, "source_id"));
    line("URL", text(source, "ingest_url"));
    line("State", text(source, "state"));
    line("Trust", text(source, "trust_mode"));
    line("Trusted", trusted(source));
    line("Queue", text(source, "target_queue"));
    line("Mailbox", text(source, "identity_id"));
    let secret = match text(source, "fingerprint") {
        digits if digits.is_empty() => "none".to_owned(),
        digits => format!("SHA-256 {digits}…, since {}", time(source, "secret_set_at")),
    };
    line("Secret", secret);
    line(
        "Events",
        format!(
            "{}, {} delivered again, {} held back, last {}",
            cell(source.get("deliveries")),
            cell(source.get("redeliveries")),
            cell(source.get("quarantined")),
            cell(source.get("last_delivery_at"))
        ),
    );
    line("Greeted", time(source, "handshake_at"));
    for refusal in refusals(source) {
        line(
            "Refused",
            format!(
                "{} {}{}: {}",
                time(refusal, "at"),
                text(refusal, "reason"),
                match text(refusal, "source_ip") {
                    ip if ip.is_empty() => String::new(),
                    ip => format!(" from {ip}"),
                },
                text(refusal, "detail")
            ),
        );
    }
    let rules = answer.pointer("/rules/rules").and_then(Value::as_array);
    for (index, rule) in rules.into_iter().flatten().enumerate() {
        let action = rule.get("action").map(Value::to_string).unwrap_or_default();
        line(
            "Rule",
            format!(
                "{}. {} -> {}",
                index + 1,
                text(rule, "expr"),
                plain(&action)
            ),
        );
    }
    if let Some(action) = answer
        .pointer("/rules/default")
        .filter(|action| !action.is_null())
    {
        line("Else", plain(&action.to_string()));
    }
}

/// Whose deeds open work at once, at a forge; nothing where nobody is named.
pub(super) fn trusted(source: &Value) -> String {
    let Some(actors) = source
        .get("trusted_actors")
        .filter(|value| value.is_object())
    else {
        return String::new();
    };
    if actors.get("allow_all") == Some(&Value::Bool(true)) {
        return "everybody".to_owned();
    }
    let logins = actors.get("logins").and_then(Value::as_array);
    let logins = logins.into_iter().flatten().filter_map(Value::as_str);
    match logins.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "nobody".to_owned(),
        names => plain(&names),
    }
}

/// The refusals that are remembered, newest first.
fn refusals(source: &Value) -> Vec<&Value> {
    match source.get("recent_refusals").and_then(Value::as_array) {
        Some(list) => list.iter().collect(),
        None => source
            .get("last_refusal")
            .filter(|refusal| !refusal.is_null())
            .into_iter()
            .collect(),
    }
}

fn time(value: &Value, name: &str) -> String {
    let at = value.get(name).and_then(Value::as_str);
    at.and_then(instant).unwrap_or_default()
}

fn line(terminal: Terminal, name: &str, value: &str) {
    if !value.is_empty() && value != "-" {
        terminal.line(&format!("{} {value}", terminal.dim(&format!("{name:<8}"))));
    }
}
