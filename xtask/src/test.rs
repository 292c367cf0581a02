//! `cargo xtask test`: installs what the tests need, then every check and test, each stage timed.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use crate::{
    clients, crash, engines, generate, licences, packages, postgres, process, receiver,
    stage::Stages,
};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// List what is missing instead of installing it.
    #[arg(long)]
    no_install: bool,
    /// Leave out the MCP clients and the conformance suite.
    #[arg(long)]
    no_clients: bool,
    /// Leave out the template engines.
    #[arg(long)]
    no_engines: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut stages = Stages::default();
    stages.run("system packages", || packages::system(!options.no_install))?;
    stages.run("format", || {
        process::run("cargo", &["fmt", "--all", "--check"])
    })?;
    stages.run("licences and bans", licences::check)?;
    stages.run("lints", || {
        process::run(
            "cargo",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ],
        )
    })?;
    // Programs and tests in one go: features of test dependencies would build everything twice.
    stages.run("build", || {
        process::run(
            "cargo",
            &["build", "--workspace", "--all-targets", "--locked"],
        )
    })?;
    stages.run("reference pages", generate::check)?;
    let cluster = stages.run("start PostgreSQL", postgres::Cluster::start)?;
    stages.run("tests on SQLite and PostgreSQL", || {
        let mut tests = process::command("cargo", &["test", "--workspace", "--locked"]);
        tests.env("POSTROOM_TEST_DATABASE_URL", &cluster.url);
        process::check(&mut tests)
    })?;
    stages.run("kills, short", || crash::short(&cluster.url))?;
    drop(cluster);
    stages.run("mail to Postfix", receiver::run)?;
    if !options.no_clients {
        stages.run("install MCP clients", clients::install)?;
        stages.run("MCP conformance", clients::conformance)?;
        stages.run("MCP clients on a demo workspace", clients::postroom)?;
    }
    if !options.no_engines {
        stages.run("install template engines", engines::install)?;
        stages.run("compiled documents in every engine", engines::run)?;
        stages.run("pictures of compiled documents", engines::pictures)?;
    }
    stages.print();
    Ok(())
}

/// The built binary of a debug build.
pub(crate) fn binary(name: &str) -> Command {
    Command::new(built().join(name))
}

/// An example that the build stage made.
pub(crate) fn example(name: &str) -> Command {
    Command::new(built().join("examples").join(name))
}

fn built() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| process::root().join("target"), PathBuf::from)
        .join("debug")
}
