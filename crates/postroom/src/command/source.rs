//! `source`: ways in, for the person who connects them.

mod add;
mod advice;
mod rules;
mod secret;
mod watch;

use clap::Subcommand;
use postroom_webhook::{Provider, provider};
use serde_json::{Map, Value};

use super::{Done, source_verify};
use crate::{
    cli::{
        Global,
        terminal::{Terminal, plain},
        trouble::Trouble,
    },
    config::Config,
    connection::Connection,
};

/// What of a source is more than one operation; the verbs that are one stand beside it.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Source {
    /// Connect a provider: makes the source, says where its URL and secret go, waits for the first
    /// delivery
    #[command(
        after_help = "Exit status: 0 the source is made (and its first delivery came, when it was waited for), 1 no delivery came in time or the source was refused, 2 wrong usage or input and output failed."
    )]
    Add(Box<add::Add>),
    /// Give a source the secret that its provider issued
    SetSecret(secret::SetSecret),
    /// Show a source's rules, or replace them with those of a file
    Rules(rules::Rules),
    /// Say what rules would do with a delivery; saves nothing
    #[command(
        after_help = "Exit status: 0 the rules decide, 1 they fault or cannot be used, 2 wrong usage or input and output failed."
    )]
    TestRules(rules::TestRules),
    /// Explain what a source would make of a recorded delivery, offline
    #[command(
        after_help = "Exit status: 0 the delivery is accepted, 1 it is refused, 2 the input cannot be used."
    )]
    Verify(Box<source_verify::Verify>),
}

pub(super) async fn run(
    asked: &Source,
    global: &Global,
    config: impl FnOnce() -> Result<Config, Trouble>,
    terminal: Terminal,
) -> Done {
    if let Source::Verify(verify) = asked {
        return source_verify::run(verify, terminal);
    }
    let config = config()?;
    let connection = Connection::open(&config, false).await?;
    let done = match asked {
        Source::Add(add) => {
            let mailbox = global.identity.clone().or_else(|| config.identity.clone());
            add::run(add, mailbox, &connection, terminal).await
        }
        Source::SetSecret(set) => secret::run(set, &connection, terminal).await,
        Source::Rules(rules) => rules::run(rules, &connection, terminal).await,
        Source::TestRules(test) => rules::test(test, &connection, terminal).await,
        // Answered above, without a data folder.
        Source::Verify(verify) => source_verify::run(verify, terminal),
    };
    connection.close().await;
    done
}

/// What the source of a mailbox's own mail is called; no provider sends to it.
const MAIL: &str = "mail";

/// The row of a provider; an unknown name lists them all.
pub(super) fn provider_row(name: &str) -> Result<&'static Provider, Trouble> {
    provider::find(name).ok_or_else(|| {
        if name == MAIL {
            return Trouble::usage(
                "Mail that comes in needs no address to be given to anybody.",
                "`postroom call source_create --source-type mail --as ADDRESS --target-queue QUEUE` opens a todo for each mail.",
            );
        }
        let mut names: Vec<&str> = provider::all().map(|row| row.name).collect();
        names.sort_unstable();
        Trouble::usage(
            format!("There is no provider {}.", plain(name)),
            format!(
                "Take one of {}; `generic` is any sender with an HMAC of the body, `token` any with a shared secret.",
                names.join(", ")
            ),
        )
    })
}

/// Arguments of an operation out of pairs; what is null is left out.
fn arguments<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    let given = pairs.into_iter().filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
