//! The official MCP conformance suite and clients against built binaries; `tests/clients/README.md` says
//! what each script does.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::{
    process,
    server::{self, text},
    test,
};

/// Installs the pinned npm packages and the pinned Python packages.
pub(crate) fn install() -> Result<()> {
    install_into(&folder())
}

/// Installs what the package.json and requirements.txt of a folder name into it.
pub(crate) fn install_into(folder: &Path) -> Result<()> {
    // Not `npm ci`: it refuses a lock file in which an optional package for another system could not
    // be resolved. `--no-save` keeps the locked versions and leaves the lock file alone.
    process::check(
        Command::new("npm")
            .args([
                "install",
                "--no-save",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .current_dir(folder),
    )?;
    let venv = folder.join(".venv");
    if !venv.join("bin").join("python").exists() {
        process::check(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    }
    process::check(
        Command::new(venv.join("bin").join("python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "-r",
            ])
            .arg(folder.join("requirements.txt")),
    )
}

/// Runs the conformance suite in three revisions, through a proxy that adds the key, and every client
/// against the fixture server.
pub(crate) fn conformance() -> Result<()> {
    const KEY: &str = "prk_test_conformance";
    let fixture = test::binary("postroom-conformance");
    let stdio = fixture.get_program().to_owned();
    let mut serving = Command::new(&stdio);
    serving.args(["--listen", "127.0.0.1:0", "--proxy-listen", "127.0.0.1:0"]);
    serving.args(["--key", KEY, "--json"]).stderr(Stdio::null());
    let (ready, _running) = server::start(&mut serving)?;
    node("conformance.mjs", &["--url", text(&ready, "proxy_url")?])?;
    let mut all = vec![
        "--url",
        text(&ready, "url")?,
        "--key",
        KEY,
        "--tool",
        "test_simple_text",
        "--resource",
        "test://static-text",
    ];
    let stdio = stdio.to_string_lossy().into_owned();
    all.extend(["--prompt", "test_simple_prompt", "--", &stdio, "--stdio"]);
    node("all.mjs", &all)
}

/// Runs each official client in each era against a demo workspace, over HTTP and stdio, and has the
/// libraries of webhook senders sign deliveries for it.
pub(crate) fn postroom() -> Result<()> {
    let binary = test::binary("postroom")
        .get_program()
        .to_string_lossy()
        .into_owned();
    let mut demo = Command::new(&binary);
    demo.args(["demo", "--json", "--listen", "127.0.0.1:0"]);
    demo.args(["--smtp", "127.0.0.1:0"]).stderr(Stdio::null());
    let (ready, _running) = server::start(&mut demo)?;
    let (url, key) = (text(&ready, "mcp_url")?, text(&ready, "key")?);
    let asked = [
        "--tool",
        "mail_search",
        "--arguments",
        r#"{"q":"invoice"}"#,
        "--resource",
        "postroom://events/recent",
        "--prompt",
        "mail_search_strategy",
    ];
    let mut all = vec!["--url", url, "--key", key];
    all.extend(asked);
    all.extend(["--", &binary, "mcp", "--url", url, "--key", key]);
    node("all.mjs", &all)?;
    let (url, key) = (text(&ready, "url")?, text(&ready, "admin_key")?);
    node("senders.mjs", &["--url", url, "--key", key])
}

fn folder() -> PathBuf {
    process::root().join("tests").join("clients")
}

/// Runs a script on the Node that is installed beside the clients.
fn node(script: &str, arguments: &[&str]) -> Result<()> {
    process::check(
        Command::new(folder().join("node_modules/.bin/node"))
            .arg(script)
            .args(arguments)
            .current_dir(folder()),
    )
}
