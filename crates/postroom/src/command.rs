//! What each command does.

mod demo;
mod doctor;
pub(crate) mod document;
pub(crate) mod egress;
pub(crate) mod event_forward;
mod import;
mod inspect;
mod mcp;
mod progress;
mod serve;
pub(crate) mod source;
pub(crate) mod source_verify;
mod tools;
mod verb;

use std::process::ExitCode;

use crate::{
    cli::{Asked, Cli, Command, Event, Global, terminal::Terminal, trouble::Trouble},
    config::{self, Config},
    telemetry,
};

/// What a command ends with: an exit status, or trouble to say.
pub(crate) type Done = Result<ExitCode, Trouble>;

/// Runs what the command line asked for.
pub(crate) async fn run(asked: Asked, terminal: Terminal) -> Done {
    match asked {
        Asked::Verb(verb, global, matches) => {
            let config = configured(&global, "warn")?;
            Box::pin(verb::run(verb, &global, &config, &matches, terminal)).await
        }
        Asked::Command(cli) => Box::pin(run_command(*cli, terminal)).await,
    }
}

async fn run_command(cli: Cli, terminal: Terminal) -> Done {
    let global = cli.global;
    let config = || configured(&global, "warn");
    let serving = || configured(&global, "info");
    match cli.command {
        Command::Serve(options) => {
            serve::run(serve::listening(serving()?, &options)?, terminal).await
        }
        Command::Demo(options) => {
            // A person reads the banner, which lines about each call would push away.
            let level = if terminal.json { "info" } else { "error" };
            demo::run(
                serve::listening(configured(&global, level)?, &options)?,
                global.data.is_some(),
                terminal,
            )
            .await
        }
        Command::Import(options) => import::run(&config()?, &global, options, terminal).await,
        Command::Call(call) => verb::call(call, &global, &config()?, terminal).await,
        Command::Mcp(options) => mcp::run(&serving()?, options).await,
        Command::Inspect(options) => inspect::run(&options, terminal),
        Command::Document(options) => document::run(&options, terminal),
        Command::Egress(options) => egress::run(&options, &config()?, terminal).await,
        Command::Source(options) => source::run(&options, &global, config, terminal).await,
        Command::Event(Event::Forward(options)) => {
            event_forward::run(&options, &config()?, terminal).await
        }
        Command::Reindex => doctor::reindex(&config()?, terminal).await,
        Command::Doctor => doctor::run(&config()?, terminal).await,
        Command::Config => Ok(tools::config(&config()?, terminal)),
        Command::Openapi => Ok(tools::openapi(&config()?, terminal)),
        Command::Tools(options) => tools::list(&options, terminal),
        Command::Completions(options) => Ok(tools::completions(&options, terminal)),
    }
}

/// The configuration with the command line's options over it; starts the log.
fn configured(global: &Global, log_level: &str) -> Result<Config, Trouble> {
    let mut config = config::load(global.config.as_deref())?;
    if let Some(data) = &global.data {
        config.data.clone_from(data);
        // A folder named on the command line is meant, whatever server the environment names.
        config.url = None;
    }
    if global.url.is_some() {
        config.url.clone_from(&global.url);
    }
    if global.key.is_some() {
        config.key.clone_from(&global.key);
    }
    if global.key.is_some() && config.url.is_none() {
        return Err(Trouble::usage(
            "A key is for a server that is named, and none is.",
            "Add --url, or set POSTROOM_URL; a data folder on this machine needs no key.",
        ));
    }
    if global.identity.is_some() {
        config.identity.clone_from(&global.identity);
    }
    telemetry::start(&config, log_level)?;
    Ok(config)
}
