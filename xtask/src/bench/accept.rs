//! Accept: mails of 6 KB over SMTP on eight connections, against maildev (npm) and a sink made with
//! aiosmtpd (PyPI), neither of which syncs anything.

use std::{
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use super::{postroom, report::Report};
use crate::{
    process::{self, Running},
    server,
};

const SINK: &str = "
import asyncio, sys
from aiosmtpd.controller import Controller
class Sink:
    async def handle_DATA(self, server, session, envelope): return '250 OK'
Controller(Sink(), hostname='127.0.0.1', port=int(sys.argv[1])).start()
asyncio.new_event_loop().run_forever()
";

const RECIPIENT: &str = "bench@bench.example";

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "accept",
        format!("cargo xtask bench accept --count {count}"),
        &["server", "what the load client saw"],
    );
    process::run(
        "cargo",
        &[
            "build",
            "--release",
            "--locked",
            "-p",
            "postroom-net",
            "--example",
            "smtp_load",
        ],
    )?;
    let work = tempfile::tempdir()?;
    let data = work.path().join("data");
    let (ready, running) = server::start(server::serve(&mut Command::new(postroom()), &data))?;
    process::check(
        Command::new(postroom())
            .args(["identity", "create", "--address", RECIPIENT, "--data"])
            .arg(&data)
            .stdout(Stdio::null()),
    )?;
    let smtp = server::smtp(&ready)?;
    report.row(vec![
        "postroom, each synced before its 250".to_owned(),
        load(&smtp, count, 8)?,
    ]);
    report.row(vec![
        "postroom, one connection (no group commit)".to_owned(),
        load(&smtp, count / 8, 1)?,
    ]);
    drop(running);
    if peers {
        let port = free_port()?;
        let venv = work.path().join("venv");
        process::check(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let python = venv.join("bin").join("python");
        process::check(Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "aiosmtpd",
        ]))?;
        let sink = Command::new(&python)
            .args(["-c", SINK, &port.to_string()])
            .stdout(Stdio::null())
            .spawn()?;
        report.row(vec![
            "aiosmtpd sink (keeps nothing)".to_owned(),
            against(sink, port, count / 4)?,
        ]);

        process::check(
            Command::new("npm")
                .args([
                    "install",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                    "maildev@2",
                ])
                .current_dir(work.path()),
        )?;
        let (port, web) = (free_port()?, free_port()?);
        let maildev = Command::new(work.path().join("node_modules/.bin/maildev"))
            .args([
                "--smtp",
                &port.to_string(),
                "--web",
                &web.to_string(),
                "--ip",
                "127.0.0.1",
                "--silent",
            ])
            .stdout(Stdio::null())
            .spawn()?;
        report.row(vec![
            "maildev (no sync)".to_owned(),
            against(maildev, port, count / 20)?,
        ]);
    }
    Ok(report)
}

fn against(server: Child, port: u16, count: usize) -> Result<String> {
    let _running = Running(server);
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            bail!("the peer does not listen");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    load(&format!("127.0.0.1:{port}"), count, 8)
}

/// Runs the load client and gives its last line.
fn load(address: &str, count: usize, connections: usize) -> Result<String> {
    load_sized(address, count, connections, 6_000)
}

/// As [`load`], with mails of so many bytes.
pub(super) fn load_sized(
    address: &str,
    count: usize,
    connections: usize,
    bytes: usize,
) -> Result<String> {
    let program = postroom().with_file_name("examples").join("smtp_load");
    let said = process::output(Command::new(program).args([
        "--address",
        address,
        "--connections",
        &connections.to_string(),
        "--mails",
        &count.to_string(),
        "--size",
        &bytes.to_string(),
        "--to",
        RECIPIENT,
    ]))?;
    Ok(said.lines().last().unwrap_or_default().to_owned())
}

/// A port that nobody listens on.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
