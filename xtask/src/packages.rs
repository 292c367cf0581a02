//! System packages that the tests need.

use std::{path::Path, process::Command};

use anyhow::{Result, bail};

use crate::{postgres, process};

/// A system package and how to see that it is there.
struct SystemPackage {
    name: &'static str,
    present: fn() -> bool,
    why: &'static str,
    /// Without it a stage says so and does nothing, instead of failing.
    optional: bool,
}

const SYSTEM: &[SystemPackage] = &[
    SystemPackage {
        name: "postgresql",
        present: || {
            std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut folder| folder.next().is_some())
                || process::exists("initdb")
        },
        why: "the store's tests run on PostgreSQL too",
        optional: false,
    },
    SystemPackage {
        name: "nodejs",
        present: || process::exists("node"),
        why: "MCP clients and conformance suite",
        optional: false,
    },
    SystemPackage {
        name: "npm",
        present: || process::exists("npm"),
        why: "installs the MCP clients",
        optional: false,
    },
    SystemPackage {
        name: "python3-venv",
        present: || python_venv_works(),
        why: "the Python MCP client",
        optional: false,
    },
    SystemPackage {
        name: "ruby",
        present: || process::exists("ruby"),
        why: "renders compiled documents with ERB",
        optional: false,
    },
    SystemPackage {
        name: "golang-go",
        present: || process::output(Command::new("go").arg("version")).is_ok(),
        why: "renders compiled documents with text/template",
        optional: false,
    },
    SystemPackage {
        name: "postfix",
        present: || Path::new("/usr/sbin/postfix").exists(),
        why: "receives what the server sends",
        optional: false,
    },
    SystemPackage {
        name: "openssl",
        present: || process::output(Command::new("openssl").arg("version")).is_ok(),
        why: "makes the receiver's certificate",
        optional: false,
    },
    SystemPackage {
        name: "strace",
        present: || process::exists("strace"),
        why: "shows the sync before each acknowledgement",
        optional: false,
    },
    SystemPackage {
        name: "chromium",
        present: || {
            ["chromium", "chromium-browser", "google-chrome"]
                .into_iter()
                .any(process::exists)
        },
        why: "compares pictures of compiled documents",
        optional: true,
    },
];

fn python_venv_works() -> bool {
    Command::new("python3")
        .args(["-c", "import venv, ensurepip"])
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs what is missing, or lists it and fails when `install` is false.
pub(crate) fn system(install: bool) -> Result<()> {
    let missing: Vec<&SystemPackage> = SYSTEM
        .iter()
        .filter(|package| !(package.present)())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if !install {
        for package in &missing {
            eprintln!("missing: {} ({})", package.name, package.why);
        }
        if missing.iter().all(|package| package.optional) {
            return Ok(());
        }
        bail!("install them with: apt-get install -y {}", names.join(" "));
    }
    apt(&names)
}

/// Installs Debian packages, with sudo when we are not root.
pub(crate) fn apt(names: &[&str]) -> Result<()> {
    if !process::exists("apt-get") {
        bail!(
            "this system has no apt-get; install these by hand: {}",
            names.join(", ")
        );
    }
    let sudo: &[&str] = if postgres::is_root()? { &[] } else { &["sudo"] };
    let run = |arguments: &[&str]| -> Result<()> {
        let words: Vec<&str> = sudo.iter().chain(arguments).copied().collect();
        let (program, rest) = words.split_first().expect("a program is named");
        let mut command = process::command(program, rest);
        // Services are installed to be started here, on ports of our own; none starts by itself.
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("RUNLEVEL", "1");
        process::check(&mut command)
    };
    run(&["apt-get", "update", "-qq"])?;
    let mut install = vec!["apt-get", "install", "-y", "-qq", "--no-install-recommends"];
    install.extend(names);
    run(&install)
}
