//! `doctor` and `reindex`: how the deployment stands, and making the index anew.

use std::process::ExitCode;

use postroom_app::status::Status;
use serde_json::{Value, json};

use super::{Done, progress};
use crate::{
    cli::{
        terminal::Terminal,
        trouble::{PROBLEMS, Trouble},
    },
    config::{self, Config},
    connection::{Connection, running_server},
};

/// Less free disk than this is a problem, bytes.
const DISK_LOW_BYTES: u64 = 1024 * 1024 * 1024;
/// A longer backlog of the index is a problem, positions.
const BACKLOG_HIGH: u64 = 10_000;

/// Looks for problems; exit 1 when there are any.
pub(super) async fn run(config: &Config, terminal: Terminal) -> Done {
    if config.url.is_some() || running_server(&config.data).await?.is_some() {
        return Err(Trouble::usage(
            "A server holds the data folder; `doctor` looks at a folder that nobody holds.",
            "Open the server's page at / for its state, or stop it first.",
        ));
    }
    let connection = Connection::open(config, false).await?;
    let Connection::Folder(room) = &connection else {
        return Err(Trouble::usage(
            "`doctor` needs the data folder.",
            "Leave --url out.",
        ));
    };
    let status = room.status().await;
    let free = free_bytes(&config.data);
    connection.close().await;
    let status = status?;
    let problems = problems(&status, free);
    let report = json!({
        "version": status.version,
        "database": status.database,
        "counts": status.counts,
        "indexes": status.indexes,
        "disk_free_bytes": free,
        "data": config.data,
        "config": config::rows(config).into_iter().map(|(name, value, _)| (name.to_owned(), Value::from(value))).collect::<serde_json::Map<_, _>>(),
        "problems": problems,
    });
    if terminal.json {
        terminal.value(&report);
    } else {
        show(terminal, &status, free, config, &problems);
    }
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(PROBLEMS)
    })
}

fn problems(status: &Status, free: Option<u64>) -> Vec<String> {
    let mut problems = Vec::new();
    let backlog: u64 = status.indexes.iter().map(|index| index.backlog).sum();
    if backlog > BACKLOG_HIGH {
        problems.push(format!("The index is {backlog} changes behind; it catches up while a server runs, or run `postroom reindex`."));
    }
    if status.counts.failed_events > 0 {
        problems.push(format!(
            "{} arrivals could not be read; `postroom event list` shows them.",
            status.counts.failed_events
        ));
    }
    if free.is_some_and(|free| free < DISK_LOW_BYTES) {
        problems.push("The disk is nearly full; make room before mail is refused.".to_owned());
    }
    problems
}

fn show(
    terminal: Terminal,
    status: &Status,
    free: Option<u64>,
    config: &Config,
    problems: &[String],
) {
    let counts = &status.counts;
    let backlog: u64 = status.indexes.iter().map(|index| index.backlog).sum();
    let lines = [
        ("version", status.version.to_owned()),
        ("data", config.data.display().to_string()),
        (
            "database",
            format!(
                "{} {}, {}",
                status.database.kind, status.database.version, status.database.durability
            ),
        ),
        ("mailboxes", counts.identities.to_string()),
        (
            "messages",
            format!(
                "{} in {} threads, {} unread",
                counts.messages, counts.threads, counts.unread
            ),
        ),
        (
            "arrivals",
            format!(
                "{}, {} waiting, {} failed",
                counts.events, counts.pending_events, counts.failed_events
            ),
        ),
        ("not imported", counts.import_failures.to_string()),
        (
            "index",
            if backlog == 0 {
                "complete".to_owned()
            } else {
                format!("{backlog} changes behind")
            },
        ),
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
    for problem in problems {
        terminal.line(&format!("problem: {problem}"));
    }
    if problems.is_empty() {
        terminal.line("No problems found.");
    }
}

/// Free bytes of the disk that holds the folder, as `df` says.
fn free_bytes(path: &std::path::Path) -> Option<u64> {
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
    if config.url.is_some() || running_server(&config.data).await?.is_some() {
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
    let room = std::sync::Arc::clone(room);
    let tenants: Vec<_> = room
        .status()
        .await?
        .indexes
        .into_iter()
        .map(|index| index.tenant_id)
        .collect();
    let mut done = Vec::new();
    for tenant in tenants {
        let bar = progress::over_steps(terminal, 0);
        let watching = bar.clone();
        let end = room
            .reindex(tenant, move |step| {
                watching.set_length(step.target);
                watching.set_position(step.position);
            })
            .await;
        bar.finish_and_clear();
        let end = end.map_err(postroom_app::Failure::from)?;
        done.push(json!({"tenant_id": tenant, "position": end.position}));
    }
    connection.close().await;
    if terminal.json {
        terminal.value(&json!({ "indexes": done }));
    } else {
        terminal.line("The index is complete.");
    }
    Ok(ExitCode::SUCCESS)
}
