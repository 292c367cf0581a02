//! Servers under test: started on free ports, ready when they have said so.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process::Running;

/// Adds `serve` on free ports with a data folder to a command, which may begin with another program
/// that runs it.
pub(crate) fn serve<'a>(command: &'a mut Command, data: &Path) -> &'a mut Command {
    command
        .args([
            "serve",
            "--json",
            "--listen",
            "127.0.0.1:0",
            "--smtp",
            "127.0.0.1:0",
            "--data",
        ])
        .arg(data)
}

/// Starts a server and reads the line of JSON that it prints when it is ready.
pub(crate) fn start(command: &mut Command) -> Result<(Value, Running)> {
    let child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    // From here on it is ended whatever it says.
    let mut running = Running(child);
    let output = running.0.stdout.take().context("no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let ready =
        serde_json::from_str(&line).with_context(|| format!("the server printed {line:?}"))?;
    Ok((ready, running))
}

/// A text of the line that a server printed.
pub(crate) fn text<'a>(ready: &'a Value, name: &str) -> Result<&'a str> {
    ready[name]
        .as_str()
        .with_context(|| format!("no {name} in {ready}"))
}

/// `host:port` of the mail listener.
pub(crate) fn smtp(ready: &Value) -> Result<String> {
    let url = text(ready, "smtp")?;
    Ok(url.trim_start_matches("smtp://").to_owned())
}
