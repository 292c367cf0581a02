//! Postroom, the mail and event room for AI agents, in one binary.
//!
//! This room holds no logic: it reads the command line and the configuration, opens the room, and
//! wires it to its surfaces. A verb finds its operation in the one alias table and calls it, in this
//! process or over HTTP in the server that holds the data folder.

mod cli;
mod client;
mod command;
mod config;
mod connection;
mod demo;
mod folder;
mod secret;
mod telemetry;

use std::process::ExitCode;

use cli::{Asked, terminal::Terminal};

/// Mail is many small strings, which this allocator hands out with less work than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let asked = match cli::parse(std::env::args_os()) {
        Ok(asked) => asked,
        Err(error) => {
            // Help and version are no errors: clap writes them to standard output.
            let status = if error.use_stderr() {
                cli::trouble::USAGE
            } else {
                0
            };
            if error.use_stderr() && std::env::args_os().any(|word| word == "--json") {
                cli::trouble::Trouble::of_usage(&error).say(Terminal::new(true, true));
            } else {
                let _ = error.print();
            }
            return ExitCode::from(status);
        }
    };
    let json = match &asked {
        Asked::Verb(_, global, _) => global.json,
        Asked::Command(cli) => cli.global.json,
    };
    let terminal = Terminal::new(json, config::no_color());
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal.note(&format!("error: the runtime cannot start: {error}"));
            return ExitCode::from(cli::trouble::USAGE);
        }
    };
    let done = runtime.block_on(command::run(asked, terminal));
    // A read of standard input that nobody ends must not keep the process.
    runtime.shutdown_background();
    let exit = done.unwrap_or_else(|trouble| {
        trouble.say(terminal);
        ExitCode::from(trouble.exit)
    });
    if terminal.wrote_all() {
        return exit;
    }
    terminal.note("error: standard output could not be written; what it holds is not whole");
    ExitCode::from(cli::trouble::USAGE)
}
