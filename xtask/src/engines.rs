//! Compiled documents in the template engines, mail compilers, linters and browser that there are;
//! `tests/engines/README.md` says what each script does.

use std::{path::PathBuf, process::Command};

use anyhow::{Context, Result};

use crate::{clients, process, test};

/// Installs the pinned npm packages and the pinned Python packages.
pub(crate) fn install() -> Result<()> {
    clients::install_into(&folder())
}

/// Compiles every document for every target and dialect, and has all engines render the results.
pub(crate) fn run() -> Result<()> {
    let cases = folder().join("out").join("cases.json");
    std::fs::create_dir_all(cases.parent().context("a parent")?)?;
    let compiled = test::example("compile-documents").output()?;
    anyhow::ensure!(
        compiled.status.success(),
        "compile-documents failed: {}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    std::fs::write(&cases, &compiled.stdout)?;
    process::check(
        Command::new("node")
            .arg("check.mjs")
            .arg(&cases)
            .current_dir(folder()),
    )
}

/// Compares pictures of the compiled documents with those of npm mjml; does nothing without Chromium.
pub(crate) fn pictures() -> Result<()> {
    process::check(
        Command::new("node")
            .arg("pictures.mjs")
            .arg(folder().join("out").join("cases.json"))
            .current_dir(folder()),
    )
}

pub(crate) fn folder() -> PathBuf {
    process::root().join("tests").join("engines")
}
