//! A secret that a person hands over: out of a file, from standard input, or typed without an echo.

use std::{io::IsTerminal as _, path::Path, process::ExitCode};

use clap::Args;
use serde_json::Value;

use super::{
    super::{Done, source_verify::bytes_of},
    arguments, text,
};
use crate::{
    cli::{alias::used, terminal::Terminal, trouble::Trouble},
    connection::Connection,
};

/// The largest file of a secret, bytes.
const SECRET_FILE_BYTES: u64 = 64 * 1024;

/// Which source, and where its secret is.
#[derive(Debug, Clone, Args)]
pub(crate) struct SetSecret {
    /// The source
    #[arg(value_name = "SOURCE_ID")]
    id: String,
    /// The secret: @FILE, - for standard input, or itself [default: asked for]
    #[arg(long, value_name = "@FILE", allow_hyphen_values = true)]
    secret: Option<String>,
    /// How long the secret before goes on: 30m, 12h, at most 24h [default: not at all]
    #[arg(long, value_name = "TIME")]
    keep_previous_for: Option<String>,
    /// Take the secret that the provider itself offered at the source's address
    #[arg(long, conflicts_with = "secret")]
    accept_offered: bool,
}

pub(super) async fn run(asked: &SetSecret, connection: &Connection, terminal: Terminal) -> Done {
    let secret = match (&asked.secret, asked.accept_offered) {
        (Some(given), _) => Some(read(given)?),
        (None, true) => None,
        (None, false) => match ask(terminal, "The provider's secret (not shown): ").await? {
            Some(typed) => Some(typed),
            None => return Err(none_given()),
        },
    };
    let given = arguments([
        ("source_id", asked.id.as_str().into()),
        ("signing_secret", secret.into()),
        (
            "keep_previous_for",
            asked.keep_previous_for.as_deref().into(),
        ),
        (
            "accept_offered",
            asked.accept_offered.then_some(true).into(),
        ),
    ]);
    let set = connection.call_json(used::SET_SOURCE_SECRET, given).await?;
    if terminal.json {
        terminal.value(&set);
    } else {
        said(terminal, &set);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says that a secret was taken, by its fingerprint.
pub(super) fn said(terminal: Terminal, set: &Value) {
    let fingerprint = match text(set, "fingerprint") {
        "" => String::new(),
        digits => format!(", SHA-256 {digits}…"),
    };
    terminal.line(&format!(
        "The secret is set{fingerprint}; the source is {}.",
        text(set, "state")
    ));
    if let Some(offered) = set.get("signing_secret").and_then(Value::as_str) {
        terminal.line(&format!(
            "It is {offered} - confirm it at the provider; it is not shown again."
        ));
    }
}

/// A secret as the option names it.
pub(super) fn read(given: &str) -> Result<String, Trouble> {
    let bytes = match given.strip_prefix('@') {
        Some(path) => bytes_of(Path::new(path), SECRET_FILE_BYTES)?,
        None if given == "-" => bytes_of(Path::new("-"), SECRET_FILE_BYTES)?,
        None => given.as_bytes().to_vec(),
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        Trouble::usage("The secret is no text.", "Give the secret as it was shown.")
    })?;
    match text.trim() {
        "" => Err(none_given()),
        secret => Ok(secret.to_owned()),
    }
}

/// Asks a person; `None` where there is none to ask or nothing was typed.
pub(super) async fn ask(terminal: Terminal, question: &str) -> Result<Option<String>, Trouble> {
    let person = console::Term::stderr();
    if terminal.json || !std::io::stdin().is_terminal() || !person.is_term() {
        return Ok(None);
    }
    let question = question.to_owned();
    let typed = tokio::task::spawn_blocking(move || {
        person.write_str(&question)?;
        person.read_secure_line()
    });
    let typed = match typed.await {
        Ok(Ok(typed)) => typed,
        Ok(Err(_)) | Err(_) => return Ok(None),
    };
    Ok(Some(typed.trim().to_owned()).filter(|typed| !typed.is_empty()))
}

fn none_given() -> Trouble {
    Trouble::usage(
        "There is no secret.",
        "Give --secret @FILE, or --secret - and the secret on standard input.",
    )
}
