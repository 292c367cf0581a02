//! A server under test: started on free ports, killed without warning.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::database::Database;
use crate::test;

/// The address that the harness sends to.
pub(crate) const RECIPIENT: &str = "crash@harness.example";

/// A running server.
pub(crate) struct Server {
    child: Child,
    data: std::path::PathBuf,
    /// Its SMTP address.
    pub(crate) smtp: String,
}

impl Server {
    /// Starts the built binary on `folder/data` and waits until it says that it is ready.
    pub(crate) fn start(folder: &Path, database: &Database) -> Result<Self> {
        Self::start_with(test::binary("postroom"), folder, |command| {
            database.configure(command)
        })
    }

    /// Starts `command serve …`, with a last word about its environment.
    pub(crate) fn start_with(
        mut command: Command,
        folder: &Path,
        configure: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let data = folder.join("data");
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
            .arg(&data);
        configure(&mut command);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the server")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let ready: Value =
            serde_json::from_str(&line).with_context(|| format!("the server printed {line:?}"))?;
        let Some(smtp) = ready["smtp"].as_str() else {
            bail!("no SMTP address in {ready}")
        };
        Ok(Self {
            smtp: smtp.trim_start_matches("smtp://").to_owned(),
            child,
            data,
        })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Creates the recipient; a second time changes nothing.
    pub(crate) fn make_identity(&self) -> Result<()> {
        let mut command = test::binary("postroom");
        command
            .args([
                "identity",
                "create",
                "--address",
                RECIPIENT,
                "--json",
                "--data",
            ])
            .arg(&self.data);
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        if !output.status.success() && !said.contains("taken") {
            bail!("identity create: {said}");
        }
        Ok(())
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
