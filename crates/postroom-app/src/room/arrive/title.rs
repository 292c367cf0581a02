//! The one line that a person reads of a delivery's todo.

use postroom_core::routing::Envelope;
use postroom_webhook::Provider;
use serde_json::Value;

use super::judge::{Item, Mail};

/// A line out of what the payload is about, else out of its type and the name that people gave the
/// source. Whoever may not read messages is shown another line for a mail.
pub(super) fn of(
    name: &str,
    provider: &Provider,
    item: &Item<'_>,
    envelope: Option<&Envelope>,
) -> String {
    if let Some(mail) = item.mail {
        return match mail {
            Mail::Read(message) => format!("Mail from {}: {}", message.from, message.subject),
            Mail::Unreadable => format!("Mail by {}", provider.title),
        };
    }
    let issue = envelope.and_then(|envelope| envelope.json().get("issue"));
    if let Some(line) = issue.and_then(|issue| about_issue(item, issue)) {
        return line;
    }
    // A source that nobody named is called as its provider.
    let title = match name {
        "" => provider.title,
        name if name == provider.name => provider.title,
        name => name,
    };
    let words = [Some(title), item.event_type, item.action];
    let line: Vec<&str> = words.into_iter().flatten().collect();
    let repo = envelope
        .and_then(|envelope| {
            let payload = envelope.json().pointer("/event/payload")?;
            payload.pointer("/repository/full_name")
        })
        .and_then(Value::as_str);
    match repo {
        Some(repo) => format!("{} in {repo}", line.join(" ")),
        None => line.join(" "),
    }
}

/// `PR #7 opened in acme/van - Fix the brakes`.
fn about_issue(item: &Item<'_>, issue: &Value) -> Option<String> {
    let text = |name: &str| issue.get(name).and_then(Value::as_str);
    let number = issue.get("number").and_then(Value::as_i64)?;
    let repo = text("repo")?;
    let is_request = item
        .event_type
        .is_some_and(|kind| kind.contains("pull_request") || kind.contains("Merge Request"));
    let what = if is_request { "PR" } else { "Issue" };
    let action = text("action").unwrap_or("changed");
    let mut line = format!("{what} #{number} {action} in {repo}");
    if let Some(title) = text("title") {
        line.push_str(" - ");
        line.push_str(title);
    }
    Some(line)
}
