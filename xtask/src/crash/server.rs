//! A server under test: started on free ports, killed without warning.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Result, bail};

use super::database::Database;
use crate::{process::Running, server, test};

/// The address that the harness sends to.
pub(crate) const RECIPIENT: &str = "crash@harness.example";

/// A running server.
pub(crate) struct Server {
    running: Running,
    data: PathBuf,
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
        server::serve(&mut command, &data);
        configure(&mut command);
        let (ready, running) = server::start(command.stderr(Stdio::null()))?;
        Ok(Self {
            smtp: server::smtp(&ready)?,
            running,
            data,
        })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.running.0.id()
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
    pub(crate) fn kill(self) -> Result<()> {
        self.running.kill()
    }
}
