//! The official MCP conformance suite and clients against built binaries; `tests/clients/README.md` says
//! what each script does.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{process, process::Running, test};

/// Installs the pinned npm packages and the pinned Python packages.
pub(crate) fn install() -> Result<()> {
    let folder = folder();
    // Not `npm ci`: it refuses a lock file in which an optional package for another system could not
    // be resolved. `--no-save` keeps the locked versions and leaves the lock file alone.
    process::check(
        Command::new("npm")
            .args([
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .current_dir(&folder),
    )?;
    let venv = folder.join(".venv");
    if !venv.join("bin").join("python").exists() {
        process::check(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    process::check(
        Command::new(venv.join("bin").join("python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(folder.join("requirements.txt")),
    )
}

/// Runs the conformance suite in three revisions, through a proxy that adds the key, and every client
/// against the fixture server.
pub(crate) fn conformance() -> Result<()> {
    const KEY: &str = "prk_test_conformance";
    let fixture = test::binary("postroom-conformance");
    let stdio = fixture.get_program().to_owned();
    let (ready, _running) = start(Command::new(&stdio).args([
        "--listen",
        "127.0.0.1:0",
        "--proxy-listen",
        "127.0.0.1:0",
        "--key",
        KEY,
        "--json",
    ]))?;
    node("conformance.mjs", &["--url", text(&ready, "proxy_url")?])?;
    let mut all = vec![
        "--url",
        text(&ready, "url")?,
        "--key",
        KEY,
        "--tool",
        "test_simple_text",
        "--resource",
        "test://static-text",
    ];
    let stdio = stdio.to_string_lossy().into_owned();
    all.extend(["--prompt", "test_simple_prompt", "--", &stdio, "--stdio"]);
    node("all.mjs", &all)
}

/// Runs each official client in each era against a demo workspace, over HTTP and stdio.
pub(crate) fn postroom() -> Result<()> {
    let binary = test::binary("postroom")
        .get_program()
        .to_string_lossy()
        .into_owned();
    let (ready, _running) = start(Command::new(&binary).args([
        "demo",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--smtp",
        "127.0.0.1:0",
    ]))?;
    let (url, key) = (text(&ready, "mcp_url")?, text(&ready, "key")?);
    let asked = [
        "--tool",
        "mail_search",
        "--arguments",
        r#"{"q":"invoice"}"#,
        "--resource",
        "postroom://events/recent",
        "--prompt",
        "mail_search_strategy",
    ];
    let mut all = vec!["--url", url, "--key", key];
    all.extend(asked);
    all.extend(["--", &binary, "mcp", "--url", url, "--key", key]);
    node("all.mjs", &all)
}

fn folder() -> PathBuf {
    process::root().join("tests").join("clients")
}

/// Runs a script on the Node that is installed beside the clients.
fn node(script: &str, arguments: &[&str]) -> Result<()> {
    process::check(
        Command::new(folder().join("node_modules/.bin/node"))
            .arg(script)
            .args(arguments)
            .current_dir(folder()),
    )
}

/// Starts a server and reads the line of JSON that it prints when it is ready.
fn start(command: &mut Command) -> Result<(Value, Running)> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
    let running = Running(child);
    Ok((
        serde_json::from_str(&line).with_context(|| format!("the server printed {line:?}"))?,
        running,
    ))
}

fn text<'a>(ready: &'a Value, name: &str) -> Result<&'a str> {
    ready[name]
        .as_str()
        .with_context(|| format!("no {name} in {ready}"))
}
