//! What a forge's payload says of an issue or a merge request, in one shape for all forges.

use serde_json::{Value, json};

/// An issue out of a payload of GitHub, Gitea or GitLab; null for everything else.
pub(super) fn of(source: &str, event_type: Option<&str>, payload: &Value) -> Value {
    match source {
        "github" | "gitea" | "forgejo" => hub(source, event_type, payload),
        "gitlab" => lab(event_type, payload),
        _ => None,
    }
    .unwrap_or(Value::Null)
}

/// The sender and author of a forge's payload, whether it is about an issue or not.
pub(super) fn people<'a>(source: &str, payload: &'a Value) -> (Option<&'a str>, Option<&'a str>) {
    match source {
        "github" | "gitea" | "forgejo" => {
            let sender = payload.pointer("/sender/login");
            let author = [
                "/comment/user/login",
                "/review/user/login",
                "/issue/user/login",
                "/pull_request/user/login",
            ];
            let author = author.iter().find_map(|path| payload.pointer(path));
            (
                sender.and_then(Value::as_str),
                author.and_then(Value::as_str),
            )
        }
        "gitlab" => {
            let sender = payload
                .pointer("/user/username")
                .or_else(|| payload.get("user_username"));
            (sender.and_then(Value::as_str), None)
        }
        _ => (None, None),
    }
}

/// GitHub's shape, which Gitea and Forgejo share.
fn hub(source: &str, event_type: Option<&str>, payload: &Value) -> Option<Value> {
    let issue = payload
        .get("issue")
        .or_else(|| payload.get("pull_request"))
        .filter(|issue| issue.is_object())?;
    let labels: Vec<&Value> = issue
        .get("labels")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|label| label.get("name"))
        .collect();
    let action = payload.get("action").and_then(Value::as_str);
    let label_event = action.filter(|action| ["labeled", "unlabeled"].contains(action));
    let repo = payload
        .pointer("/repository/full_name")
        .and_then(Value::as_str);
    let number = issue.get("number").and_then(Value::as_i64);
    Some(json!({
        "provider": source,
        "action": action,
        "event_type": event_type,
        "repo": repo,
        "number": number,
        "title": issue.get("title"),
        "url": issue.get("html_url"),
        "state": issue.get("state"),
        "author": issue.pointer("/user/login"),
        "sender": payload.pointer("/sender/login"),
        "labels": labels,
        "label": payload.pointer("/label/name"),
        "body_size": issue.get("body").and_then(Value::as_str).map_or(0, str::len),
        "label_event": label_event,
        "key": key(source, repo, number),
    }))
}

fn lab(event_type: Option<&str>, payload: &Value) -> Option<Value> {
    let kind = payload.get("object_kind").and_then(Value::as_str)?;
    let attributes = payload
        .get("object_attributes")
        .filter(|_| ["issue", "merge_request", "work_item"].contains(&kind))?;
    let labels: Vec<&Value> = payload
        .get("labels")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|label| label.get("title"))
        .collect();
    let repo = payload
        .pointer("/project/path_with_namespace")
        .and_then(Value::as_str);
    let number = attributes.get("iid").and_then(Value::as_i64);
    let body = attributes.get("description").and_then(Value::as_str);
    Some(json!({
        "provider": "gitlab",
        "action": attributes.get("action"),
        "event_type": event_type,
        "repo": repo,
        "number": number,
        "title": attributes.get("title"),
        "url": attributes.get("url"),
        "state": attributes.get("state"),
        "author": null,
        "sender": payload.pointer("/user/username"),
        "labels": labels,
        "label": null,
        "body_size": body.map_or(0, str::len),
        "label_event": null,
        "key": key("gitlab", repo, number),
    }))
}

/// What names the issue among all of a provider's.
fn key(provider: &str, repo: Option<&str>, number: Option<i64>) -> Option<String> {
    Some(format!("{provider}:{}#{}", repo?, number?))
}
