//! `doctor` and `reindex`: how the deployment stands, and making the index anew.

use std::{path::Path, process::ExitCode, sync::Arc};

use serde_json::{Map, Value, json};

use postroom_net::tls;

use super::{
    Done, progress,
    serve::{tls_fix, with_cause},
};
use crate::{
    cli::{
        alias::used,
        terminal::{Terminal, plain},
        trouble::{PROBLEMS, Trouble},
    },
    config::{self, Config},
    connection::{Connection, running_server},
};

/// Less free disk than this is a problem, bytes.
const DISK_LOW_BYTES: u64 = 1024 * 1024 * 1024;
/// Mail that has been due for longer waits for its transport, milliseconds.
const LONG_WAIT_MS: i64 = 10 * 60 * 1_000;

/// Looks for problems; exit 1 when there are any.
pub(super) async fn run(config: &Config, terminal: Terminal) -> Done {
    let connection = Connection::open(config, false).await?;
    let held_by = match &connection {
        Connection::Server(client, _) => Some(client.url().to_owned()),
        Connection::Folder(_) => None,
    };
    let status = connection.call_json(used::SHOW_STATE, Map::new()).await;
    // A server that holds the folder is asked nothing that reads all of it.
    let damage = match &connection {
        Connection::Folder(room) => Some(room.damage().await),
        Connection::Server(..) => None,
    };
    connection.close().await;
    let status = status?;
    let damage = damage.transpose()?.unwrap_or_default();
    // The disk of a server elsewhere is not ours to look at.
    let free = config
        .url
        .is_none()
        .then(|| free_bytes(&config.data))
        .flatten();
    let mut problems = problems(&status, free);
    problems.extend(damage.first().map(|first| {
        format!(
            "The database file is damaged ({}, {} in all); stop, copy the data folder, and restore a backup.",
            plain(first),
            damage.len()
        )
    }));
    if config.url.is_none() {
        problems.extend(certificate_problem(config));
    }
    if terminal.json {
        let mut report = status.as_object().cloned().unwrap_or_default();
        let values = config::rows(config)
            .into_iter()
            .map(|(name, value, _)| (name.to_owned(), Value::from(value)));
        report.insert("server".to_owned(), held_by.into());
        report.insert("data".to_owned(), config.data.display().to_string().into());
        report.insert("disk_free_bytes".to_owned(), free.into());
        report.insert("config".to_owned(), Value::Object(values.collect()));
        report.insert("problems".to_owned(), problems.clone().into());
        terminal.value(&Value::Object(report));
    } else {
        show(terminal, &status, free, held_by.as_deref(), config);
        for problem in &problems {
            terminal.line(&format!("problem: {problem}"));
        }
        if problems.is_empty() {
            terminal.line("No problems found.");
        }
    }
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(PROBLEMS)
    })
}

fn number(status: &Value, pointer: &str) -> u64 {
    status.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn backlog(status: &Value) -> u64 {
    let indexes = status
        .get("indexes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    indexes.map(|index| number(index, "/backlog")).sum()
}

fn problems(status: &Value, free: Option<u64>) -> Vec<String> {
    let mut problems = Vec::new();
    let failed = number(status, "/counts/failed_events");
    if failed > 0 {
        problems.push(format!(
            "{failed} arrivals could not be read; `postroom event list` shows them."
        ));
    }
    if waits_long(status) {
        problems.push(
            "Mail waits for its transport; `postroom outbox --state queued` shows it, and the server's log says why."
                .to_owned(),
        );
    }
    let put_off = number(status, "/outbox/put_off");
    if put_off > 0 {
        problems.push(format!(
            "{put_off} mails wait because a try to hand them over failed; `postroom outbox --state queued` shows them with the reason."
        ));
    }
    let paused = number(status, "/outbox/paused_for_abuse");
    if paused > 0 {
        problems.push(format!(
            "{paused} mailboxes send nothing more, because too much of their mail came back or was called spam; look at `postroom outbox --state bounced`, then let one go on with `postroom identity update --as ADDRESS --status active`."
        ));
    }
    if let Some(until) = status
        .pointer("/outbox/paused_until")
        .and_then(Value::as_str)
    {
        problems.push(format!(
            "The transport did not say what became of mail and is left alone until {}; `postroom outbox --state uncertain` shows that mail.",
            plain(until)
        ));
    }
    if free.is_some_and(|free| free < DISK_LOW_BYTES) {
        problems.push("The disk is nearly full; make room before mail is refused.".to_owned());
    }
    problems
}

/// By which way mail leaves.
fn transport(status: &Value) -> String {
    let name = status.pointer("/outbox/transport").and_then(Value::as_str);
    let leaves = status.pointer("/outbox/leaves") == Some(&Value::Bool(true));
    match (name, leaves) {
        (Some(name), true) => {
            let host = status.pointer("/outbox/host").and_then(Value::as_str);
            let via = host.map_or_else(String::new, |host| format!(" by {}", plain(host)));
            let domains: Vec<String> = status
                .pointer("/outbox/domains")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(plain)
                .collect();
            let from = match domains.is_empty() {
                true => ", from no domain yet".to_owned(),
                false => format!(", from {}", domains.join(", ")),
            };
            format!("{}{via}{from}", plain(name))
        }
        (Some(name), false) => format!("{}: nothing leaves", plain(name)),
        (None, _) => "-".to_owned(),
    }
}

/// Whether a mail has waited long past its time.
fn waits_long(status: &Value) -> bool {
    let due = status
        .pointer("/outbox/next_due_at")
        .and_then(Value::as_str);
    let due = due.and_then(|due| due.parse::<postroom_types::Timestamp>().ok());
    let now = postroom_app::clock::Clock::now(&postroom_app::clock::SystemClock);
    due.is_some_and(|due| now.ms() - due.ms() > LONG_WAIT_MS)
}

/// What keeps the certificate of STARTTLS from being used at the next start. A pair that the server
/// is yet to make is no problem.
fn certificate_problem(config: &Config) -> Option<String> {
    let loaded = match (&config.tls_certificate, &config.tls_key) {
        (Some(certificate), Some(key)) => tls::from_pem(certificate, key),
        _ => {
            let [certificate, key] = tls::self_made_files(&config.data);
            if !certificate.exists() {
                return None;
            }
            tls::from_pem(&certificate, &key)
        }
    };
    let error = loaded.err()?;
    Some(format!("{} {}", with_cause(&error), tls_fix(config)))
}

fn show(
    terminal: Terminal,
    status: &Value,
    free: Option<u64>,
    held_by: Option<&str>,
    config: &Config,
) {
    let text = |pointer: &str| {
        plain(
            status
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or("-"),
        )
    };
    let count = |name: &str| number(status, &format!("/counts/{name}"));
    let index = match backlog(status) {
        0 => "complete".to_owned(),
        // After an import it has much to do, which is no fault.
        behind if held_by.is_some() => format!("{behind} changes behind; it is catching up"),
        behind => format!("{behind} changes behind; it catches up while a server runs"),
    };
    let lines = [
        ("version", text("/version")),
        ("data", config.data.display().to_string()),
        ("held by", held_by.unwrap_or("nobody").to_owned()),
        (
            "database",
            format!(
                "{} {}, {}",
                text("/database/kind"),
                text("/database/version"),
                text("/database/durability")
            ),
        ),
        ("tenants", count("tenants").to_string()),
        ("mailboxes", count("identities").to_string()),
        (
            "messages",
            format!(
                "{} in {} threads, {} unread",
                count("messages"),
                count("threads"),
                count("unread")
            ),
        ),
        (
            "arrivals",
            format!(
                "{}, {} waiting, {} failed",
                count("events"),
                count("pending_events"),
                count("failed_events")
            ),
        ),
        ("not imported", not_imported(count("import_failures"))),
        ("index", index),
        ("transport", transport(status)),
        (
            "disk free",
            free.map_or_else(
                || "unknown".to_owned(),
                |free| format!("{} MiB", free / 1024 / 1024),
            ),
        ),
    ];
    for (name, value) in lines {
        terminal.line(&format!("{} {value}", terminal.dim(&format!("{name:<13}"))));
    }
    let changed = config::changed(config);
    if !changed.is_empty() {
        terminal.line(&format!(
            "{} {}",
            terminal.dim(&format!("{:<13}", "configured")),
            changed.join(", ")
        ));
    }
}

fn not_imported(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        count => format!("{count}; `postroom import-failure list` names them"),
    }
}

/// Free bytes of the disk that holds the folder, as `df` says.
fn free_bytes(path: &Path) -> Option<u64> {
    let output = std::process::Command::new("df")
        .arg("-Pk")
        .arg(path)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let kilobytes: u64 = text
        .lines()
        .nth(1)?
        .split_whitespace()
        .nth(3)?
        .parse()
        .ok()?;
    Some(kilobytes * 1024)
}

/// Empties the search index and fills it again.
pub(super) async fn reindex(config: &Config, terminal: Terminal) -> Done {
    if config.url.is_some() || running_server(&config.data).await.is_ok() {
        return Err(Trouble::usage(
            "A server holds the data folder.",
            "Stop it, then run `postroom reindex`.",
        ));
    }
    let connection = Connection::open(config, false).await?;
    let Connection::Folder(room) = &connection else {
        return Err(Trouble::usage(
            "`reindex` needs the data folder.",
            "Leave --url out.",
        ));
    };
    let done = rebuild(room, terminal).await;
    connection.close().await;
    let done = done?;
    if terminal.json {
        terminal.value(&json!({ "indexes": done }));
    } else {
        terminal.line("The index is complete.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn rebuild(
    room: &Arc<postroom_app::Room>,
    terminal: Terminal,
) -> Result<Vec<Value>, Trouble> {
    let mut done = Vec::new();
    for index in room.status().await?.indexes {
        let bar = progress::over_steps(terminal, index.feed_position);
        let watching = bar.clone();
        let end = room
            .reindex(index.tenant_id, move |step| {
                watching.set_length(step.target);
                watching.set_position(step.position);
            })
            .await;
        bar.finish_and_clear();
        let end = end.map_err(postroom_app::Failure::from)?;
        done.push(json!({"tenant_id": index.tenant_id, "position": end.position}));
    }
    Ok(done)
}
