//! Project commands, the same on a developer's machine and in continuous integration.
//!
//! `cargo xtask test` is what must pass; the others measure, attack and generate.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a command for developers: it reads the clock and the environment and speaks on the terminal"
)]

mod bench;
mod clients;
mod corpus;
mod crash;
mod engines;
mod exim;
mod fuzz;
mod generate;
mod licences;
mod packages;
mod postfix;
mod postgres;
mod process;
mod receiver;
mod sending;
mod server;
mod stage;
mod test;
#[cfg(test)]
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Project commands of Postroom")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the tests need, then run every check and test.
    Test(test::Options),
    /// Measure against the named peers, side by side, and write docs/benchmarks/.
    Bench(bench::Options),
    /// Kill the server at random points and count what was lost or doubled.
    Crash(crash::Options),
    /// Fuzz the parsers.
    Fuzz(fuzz::Options),
    /// Write docs/reference/ from the operation table, the error catalogue and the limits.
    Gen(generate::Options),
    /// Send mail to a real Postfix and read what arrived.
    Receiver,
    /// Make a Maildir of made-up mails for measurements.
    Corpus(corpus::Options),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Test(options) => test::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Crash(options) => crash::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Gen(options) => generate::run(&options),
        Command::Receiver => receiver::run(),
        Command::Corpus(options) => corpus::run(&options),
    }
}
