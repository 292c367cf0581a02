//! Ingest: signed deliveries of 2 KB, each verified, stored with its event and its todo and synced before
//! the 202, against Debian's `webhook`, which verifies and keeps nothing, and a bare axum handler, which
//! reads the body and does nothing with it.

use std::{
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use serde_json::json;

use super::{accept::free_port, postroom, report::Report};
use crate::{
    crash::{Database, Source},
    packages,
    process::{self, Running},
    server,
};

/// The secret of the peer that verifies.
const SECRET: &str = "it-is-only-a-benchmark";

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "ingest",
        format!("cargo xtask bench ingest --count {count}"),
        &["server", "what the load client saw"],
    );
    process::run(
        "cargo",
        &[
            "build",
            "--release",
            "--locked",
            "-p",
            "postroom-webhook",
            "--example",
            "webhook_load",
        ],
    )?;
    let work = tempfile::tempdir()?;
    let data = work.path().join("data");
    let (ready, running) = server::start(Source::unlimited(server::serve(
        &mut Command::new(postroom()),
        &data,
    )))?;
    let source = Source::create(&ready)?;
    let database = Database::Sqlite(data.join("postroom.sqlite"));
    for connections in [8, 32, 1] {
        let deliveries = if connections == 1 { count / 8 } else { count };
        report.row(vec![
            format!("postroom, event and todo synced before the 202, {connections} connections"),
            load(
                &source.url,
                &source.secret,
                deliveries,
                connections,
                connections * count,
            )?,
        ]);
    }
    let (deliveries, todos) = (database.deliveries()?.len(), database.todos()?);
    ensure!(
        deliveries == 2 * count + count / 8 && todos == deliveries,
        "{todos} todos for {deliveries} deliveries"
    );
    drop(running);
    if peers {
        against_webhook(&mut report, work.path(), count)?;
        against_axum(&mut report, count)?;
    }
    report.note(format!("{deliveries} deliveries, each with one todo; the rate of a source was raised for the measurement (rate_source)."));
    Ok(report)
}

fn load(url: &str, secret: &str, count: usize, connections: usize, first: usize) -> Result<String> {
    let program = postroom().with_file_name("examples").join("webhook_load");
    let said = process::output(Command::new(program).args([
        "--url",
        url,
        "--secret",
        secret,
        "--connections",
        &connections.to_string(),
        "--count",
        &count.to_string(),
        "--first",
        &first.to_string(),
        "--size",
        "2048",
    ]))?;
    Ok(said.lines().last().unwrap_or_default().to_owned())
}

/// Debian's `webhook`: the signature is checked, and a second condition that never holds keeps it from
/// starting a program for each delivery.
fn against_webhook(report: &mut Report, folder: &std::path::Path, count: usize) -> Result<()> {
    packages::apt(&["webhook"])?;
    let hooks = folder.join("hooks.json");
    let never = json!({"match": {"type": "value", "value": "never", "parameter": {"source": "payload", "name": "action"}}});
    let signed = json!({"match": {"type": "payload-hmac-sha256", "secret": SECRET, "parameter": {"source": "header", "name": "X-Hub-Signature-256"}}});
    let hook = json!([{"id": "bench", "execute-command": "/bin/true", "trigger-rule": {"and": [signed, never]}}]);
    std::fs::write(&hooks, hook.to_string())?;
    let port = free_port()?;
    let child = Command::new("webhook")
        .args(["-ip", "127.0.0.1", "-port", &port.to_string(), "-hooks"])
        .arg(&hooks)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let _running = listening(child, port)?;
    report.row(vec![
        "Debian webhook, verifies and keeps nothing, 8 connections".to_owned(),
        load(
            &format!("http://127.0.0.1:{port}/hooks/bench"),
            SECRET,
            count,
            8,
            0,
        )?,
    ]);
    Ok(())
}

fn against_axum(report: &mut Report, count: usize) -> Result<()> {
    let target = process::root().join("target").join("peers");
    process::check(
        Command::new("cargo")
            .args(["build", "--release", "--quiet"])
            .current_dir(process::root().join("benches").join("peers"))
            .env("CARGO_TARGET_DIR", &target),
    )?;
    let (ready, _running) = server::start(&mut Command::new(
        target.join("release").join("postroom-bench-peers"),
    ))?;
    let url = server::text(&ready, "url")?.replace("/mcp", "/in/bench");
    report.row(vec![
        "bare axum handler, reads the body, 8 connections".to_owned(),
        load(&url, SECRET, count, 8, 0)?,
    ]);
    Ok(())
}

fn listening(child: Child, port: u16) -> Result<Running> {
    let running = Running(child);
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            bail!("the peer does not listen");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(running)
}
