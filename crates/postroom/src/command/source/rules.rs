//! `source rules` and `source test-rules`: rules as a file that a person keeps.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use serde_json::{Map, Value};

use super::{
    super::{
        Done,
        source_verify::{bytes_of, read_headers},
    },
    arguments, text,
};
use crate::{
    cli::{
        alias::used,
        terminal::{Terminal, plain, plain_lines},
        trouble::{PROBLEMS, Trouble},
    },
    connection::Connection,
};

/// The largest file of rules or of a payload, bytes.
const FILE_BYTES: u64 = 5 * 1024 * 1024;

/// Which rules.
#[derive(Debug, Clone, Args)]
pub(crate) struct Rules {
    /// The source
    #[arg(value_name = "SOURCE_ID")]
    id: String,
    /// The new rules, or - for standard input: {"rules": […], "default": …, "params": {…}}, or just
    /// the list [default: show those that are saved]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The rules_version that they were made from; a save in between is a conflict
    #[arg(long, value_name = "NUMBER", requires = "file")]
    expected_version: Option<u64>,
}

/// Which rules on which delivery.
#[derive(Debug, Clone, Args)]
pub(crate) struct TestRules {
    /// The source
    #[arg(value_name = "SOURCE_ID")]
    id: String,
    /// Rules to try, or - for standard input [default: those that are saved]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// An event that came through the source
    #[arg(
        long,
        value_name = "EVENT_ID",
        required_unless_present = "payload",
        conflicts_with = "payload"
    )]
    event: Option<u64>,
    /// A made-up payload: a file of JSON
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// Headers of the made-up delivery: `Name: value` lines, or a JSON object
    #[arg(long, value_name = "FILE", requires = "payload")]
    headers: Option<PathBuf>,
    /// The provider's name for what the made-up delivery is
    #[arg(long = "type", value_name = "NAME", requires = "payload")]
    event_type: Option<String>,
    /// Show everything that a rule can see
    #[arg(long)]
    envelope: bool,
}

pub(super) async fn run(asked: &Rules, connection: &Connection, terminal: Terminal) -> Done {
    let Some(file) = &asked.file else {
        let given = arguments([("source_id", asked.id.as_str().into())]);
        let listed = connection.call_json(used::LIST_SOURCES, given).await?;
        let rules = listed.get("rules").cloned().unwrap_or_default();
        if terminal.json {
            terminal.value(&rules);
        } else {
            // As a file, so that it can be changed and given back.
            let shown = serde_json::to_string_pretty(&rules).unwrap_or_default();
            terminal.line(&plain_lines(&shown));
        }
        return Ok(ExitCode::SUCCESS);
    };
    let mut given = rule_file(file)?;
    given.insert("source_id".to_owned(), asked.id.as_str().into());
    if let Some(version) = asked.expected_version {
        given.insert("expected_version".to_owned(), version.into());
    }
    let saved = connection.call_json(used::SET_SOURCE_RULES, given).await?;
    if terminal.json {
        terminal.value(&saved);
    } else {
        let count = saved
            .get("rules")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let number = |name: &str| saved.get(name).and_then(Value::as_u64).unwrap_or_default();
        terminal.line(&format!(
            "{count} rules are saved as version {}, after a try on the last {} events{}",
            number("rules_version"),
            number("tried"),
            outcome(&saved)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn test(asked: &TestRules, connection: &Connection, terminal: Terminal) -> Done {
    let mut given = match &asked.file {
        Some(file) => rule_file(file)?,
        None => Map::new(),
    };
    given.extend(arguments([
        ("source_id", asked.id.as_str().into()),
        ("event_id", asked.event.into()),
        ("event_type", asked.event_type.as_deref().into()),
        ("omit_envelope", (!asked.envelope).then_some(true).into()),
    ]));
    if let Some(path) = &asked.payload {
        given.insert("payload".to_owned(), json_file(path)?);
    }
    if let Some(path) = &asked.headers {
        let headers = read_headers(&bytes_of(path, FILE_BYTES)?)?;
        let headers: Map<String, Value> = headers
            .into_iter()
            .map(|(name, value)| {
                (
                    name.to_ascii_lowercase(),
                    String::from_utf8_lossy(&value).into_owned().into(),
                )
            })
            .collect();
        given.insert("headers".to_owned(), headers.into());
    }
    let tried = connection.call_json(used::TEST_SOURCE_RULES, given).await?;
    if terminal.json {
        terminal.value(&tried);
    } else {
        show(terminal, &tried);
    }
    let faulted = tried.pointer("/decision/disposition") == Some(&Value::from("faulted"));
    Ok(ExitCode::from(if faulted { PROBLEMS } else { 0 }))
}

/// Where the rules would have sent the events that they were tried on.
fn outcome(saved: &Value) -> String {
    let queues = saved.pointer("/outcome/queues").and_then(Value::as_object);
    let queues = queues
        .into_iter()
        .flatten()
        .map(|(name, count)| format!("{count} to queue {}", plain(name)));
    let others = [("quarantined", "held back"), ("dropped", "dropped")];
    let others = others.into_iter().filter_map(|(name, words)| {
        let count = saved.pointer(&format!("/outcome/{name}"))?.as_u64()?;
        (count > 0).then(|| format!("{count} {words}"))
    });
    let parts: Vec<String> = queues.chain(others).collect();
    match parts.is_empty() {
        true => ".".to_owned(),
        false => format!(": {}.", parts.join(", ")),
    }
}

/// A decision in a line, then how it came about.
fn show(terminal: Terminal, tried: &Value) {
    let decision = tried.get("decision").cloned().unwrap_or_default();
    let trace = tried.get("trace").cloned().unwrap_or_default();
    let mut line = terminal.bold(text(&decision, "disposition"));
    if let Some(queue) = decision.get("queue").and_then(Value::as_str) {
        line.push_str(&format!(" to queue {}", plain(queue)));
    }
    match decision.get("priority").and_then(Value::as_i64) {
        None | Some(0) => {}
        Some(priority) => line.push_str(&format!(", priority {priority}")),
    }
    let tags: Vec<&str> = decision
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !tags.is_empty() {
        line.push_str(&format!(", tags {}", plain(&tags.join(" "))));
    }
    terminal.line(&line);
    let by = match (text(&trace, "rule_name"), text(&trace, "rule_id")) {
        ("", "") => "no rule matched: the default".to_owned(),
        ("", id) => format!("rule {}", plain(id)),
        (name, id) => format!("rule {} ({})", plain(id), plain(name)),
    };
    terminal.line(&format!("  by {by}"));
    for fault in trace
        .get("faults")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        terminal.line(&format!("  fault {}", plain(&fault.to_string())));
    }
    if let Some(envelope) = tried.get("envelope") {
        let shown = serde_json::to_string_pretty(envelope).unwrap_or_default();
        terminal.line(&plain_lines(&shown));
    }
}

/// Rules out of a file: the whole set, or just the list.
fn rule_file(path: &Path) -> Result<Map<String, Value>, Trouble> {
    rule_set(json_file(path)?).ok_or_else(|| {
        Trouble::usage(
            format!("{} holds no rules.", path.display()),
            "Write {\"rules\": [{\"expr\": \"…\", \"action\": {\"queue\": \"…\"}}]}, as docs/guide/routing-rules.md shows.",
        )
    })
}

/// The arguments that a file of rules stands for; what `source rules` printed is taken again.
fn rule_set(value: Value) -> Option<Map<String, Value>> {
    let mut set = match value {
        Value::Array(rules) => arguments([("rules", rules.into())]),
        Value::Object(set) => set,
        _ => return None,
    };
    set.remove("rules_version");
    set.retain(|_, value| !value.is_null());
    let known = ["rules", "default", "params"];
    let fits = set.keys().all(|name| known.contains(&name.as_str()));
    (fits && set.contains_key("rules")).then_some(set)
}

fn json_file(path: &Path) -> Result<Value, Trouble> {
    serde_json::from_slice(&bytes_of(path, FILE_BYTES)?).map_err(|error| {
        Trouble::usage(
            format!("{} is no JSON: {error}.", path.display()),
            "Correct the file.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_file_of_rules_is_a_set_or_a_list() {
        let rules = json!([{"expr": "true", "action": {"drop": true}}]);
        for (file, expected) in [
            (rules.clone(), Some(json!({"rules": rules}))),
            (
                json!({"rules": rules, "default": null, "rules_version": 3, "params": {}}),
                Some(json!({"rules": rules, "params": {}})),
            ),
            (json!({"rule": rules}), None),
            (json!({"rules": rules, "else": 1}), None),
            (json!("text"), None),
        ] {
            assert_eq!(rule_set(file).map(Value::Object), expected);
        }
    }
}
