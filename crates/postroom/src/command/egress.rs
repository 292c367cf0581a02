//! `egress check`: what the guard over outgoing requests says to a URL. Nothing is dialled.

use std::process::ExitCode;

use postroom_net::egress::{Egress as Dialler, Purpose};
use serde_json::json;

use super::Done;
use crate::{
    cli::{
        Egress,
        terminal::Terminal,
        trouble::{PROBLEMS, Trouble},
    },
    config::{self, Config},
};

/// The one dialler of this process for URLs that somebody gives it.
pub(crate) fn open(config: &Config) -> Result<Dialler, Trouble> {
    Dialler::new(config::egress::policy(config)).map_err(|error| {
        let mut message = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.contains(&cause_text) {
                message = format!("{message}: {cause_text}");
            }
            source = cause.source();
        }
        Trouble::usage(
            format!("{message}."),
            "Correct the table [egress] of the configuration; `postroom config` shows it.",
        )
    })
}

pub(super) async fn run(options: &Egress, config: &Config, terminal: Terminal) -> Done {
    let Egress::Check { target } = options;
    let verdict = open(config)?.check(target, Purpose::Replay).await;
    let class = verdict.class;
    if terminal.json {
        terminal.value(&json!({
            "allowed": verdict.allowed,
            "class": class.as_str(),
            "message": class.message(),
            "retryable": class.is_retryable(),
        }));
    } else {
        let said = if verdict.allowed {
            "allowed"
        } else {
            "refused"
        };
        terminal.line(&format!("{said} ({}): {}", class.as_str(), class.message()));
    }
    Ok(if verdict.allowed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(PROBLEMS)
    })
}
