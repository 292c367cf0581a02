//! `cargo xtask bench NAME`: Postroom and its peers on the same input in one run; prints a table and
//! writes it to docs/benchmarks/ with machine, date and versions. Figures are ratios or CPU time; no
//! test asserts them.

mod accept;
mod compile;
mod import;
mod ingest;
mod mcp;
mod parse;
mod report;
mod search;
mod send;
mod start;
mod todos;

pub(crate) use search::Http;

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::{corpus, process};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to measure.
    #[arg(value_enum)]
    name: Name,
    /// How many mails (import, search, start: a Maildir; accept: mails sent; compile: documents; mcp: calls; todos: todos).
    #[arg(long)]
    count: Option<usize>,
    /// Measure Postroom alone.
    #[arg(long)]
    no_peers: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    Accept,
    Compile,
    Import,
    Ingest,
    Mcp,
    Parse,
    Search,
    Send,
    Start,
    Todos,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    // These measure a crate of their own.
    if !matches!(options.name, Name::Compile) {
        process::run(
            "cargo",
            &["build", "--release", "--locked", "-p", "postroom"],
        )?;
    }
    let peers = !options.no_peers;
    let mut report = match options.name {
        Name::Accept => accept::run(options.count.unwrap_or(20_000), peers)?,
        Name::Compile => compile::run(options.count.unwrap_or(2_000), peers)?,
        Name::Import => import::run(options.count.unwrap_or(20_000), peers)?,
        Name::Ingest => ingest::run(options.count.unwrap_or(50_000), peers)?,
        Name::Mcp => mcp::run(options.count.unwrap_or(100_000), peers)?,
        Name::Parse => parse::run(peers)?,
        Name::Search => search::run(options.count.unwrap_or(100_000), peers)?,
        Name::Send => send::run(options.count.unwrap_or(20_000), peers)?,
        Name::Start => start::run(options.count.unwrap_or(100_000))?,
        Name::Todos => todos::run(options.count.unwrap_or(20_000), peers)?,
    };
    if !peers {
        report.without_peers();
    }
    report.print_and_write()
}

/// The release binary.
fn postroom() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| process::root().join("target"), Into::into);
    target.join("release").join("postroom")
}

/// A Maildir of `count` made-up mails, made once and kept under target/.
fn maildir(count: usize) -> Result<PathBuf> {
    let folder = process::root()
        .join("target")
        .join("bench")
        .join(format!("maildir-{count}"));
    if !folder.exists() {
        std::fs::create_dir_all(folder.parent().context("a parent")?)?;
        corpus::maildir(&folder, count)?;
    }
    Ok(folder)
}

/// What a finished command used.
struct Usage {
    wall_s: f64,
    cpu_s: f64,
    rss_peak_mb: f64,
}

/// Runs a command to its end under `time` and says what it used; its output is dropped.
fn measure(command: &mut Command) -> Result<Usage> {
    let mut timed = Command::new("/usr/bin/time");
    timed
        .args(["-f", "TIMED %e %U %S %M"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            timed.env(name, value);
        }
    }
    let output = timed
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("the `time` program is needed (Debian package time)")?;
    let text = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{command:?} failed: {text}");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("TIMED "))
        .context("no times")?;
    let values: Vec<f64> = line
        .split(' ')
        .filter_map(|value| value.parse().ok())
        .collect();
    let [wall, user, system, rss] = values.as_slice() else {
        anyhow::bail!("times: {line}")
    };
    Ok(Usage {
        wall_s: *wall,
        cpu_s: user + system,
        rss_peak_mb: rss / 1024.0,
    })
}

/// Bytes of all files below a folder.
fn bytes_below(folder: &std::path::Path) -> u64 {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            if entry.path().is_dir() {
                bytes_below(&entry.path())
            } else {
                entry.metadata().map(|meta| meta.len()).unwrap_or(0)
            }
        })
        .sum()
}
