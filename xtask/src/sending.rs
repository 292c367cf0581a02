//! What a server that sends needs around it: the sink as its relay, and mailboxes that may write to
//! anyone.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::Sender,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{bench::Http, process::Running, server};

/// The domain that mail leaves from.
pub(crate) const DOMAIN: &str = "harness.example";

/// How often the sink took each pair of Message-ID (without brackets) and recipient.
pub(crate) type Taken = BTreeMap<(String, String), usize>;

/// A running `postroom-smtp-sink`.
pub(crate) struct Sink {
    _running: Running,
    /// Where it listens.
    pub(crate) address: String,
    log: PathBuf,
}

impl Sink {
    /// Starts the sink `program` with its log in `folder`; the steps at which it stops are told.
    pub(crate) fn start(
        mut program: Command,
        folder: &Path,
        arguments: &[&str],
        told: Option<Sender<String>>,
    ) -> Result<Self> {
        let log = folder.join("taken");
        program.arg("--log").arg(&log).args(arguments);
        let child = program
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program:?}"))?;
        let mut running = Running(child);
        let output = running.0.stdout.take().context("no output")?;
        let mut lines = BufReader::new(output).lines();
        let ready = lines.next().context("the sink said nothing")??;
        let ready: Value = serde_json::from_str(&ready)?;
        let address = server::text(&ready, "smtp")?.to_owned();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(told) = &told {
                    // Whoever counted on it may have ended.
                    let _ = told.send(line);
                }
            }
        });
        Ok(Self {
            _running: running,
            address,
            log,
        })
    }

    /// What it took so far.
    pub(crate) fn taken(&self) -> Result<Taken> {
        let mut taken = Taken::new();
        for line in std::fs::read_to_string(&self.log)?.lines() {
            let (id, recipient) = line.split_once(' ').context("half a line")?;
            let id = id.trim_matches(['<', '>']).to_owned();
            *taken.entry((id, recipient.to_owned())).or_default() += 1;
        }
        Ok(taken)
    }

    /// How many entries its log has.
    pub(crate) fn entries(&self) -> Result<usize> {
        let log = std::fs::read(&self.log)?;
        Ok(log.iter().filter(|byte| **byte == b'\n').count())
    }

    /// Its port.
    pub(crate) fn port(&self) -> Result<u16> {
        let (_, port) = self.address.rsplit_once(':').context("a port")?;
        Ok(port.parse()?)
    }
}

/// Has a server send through the relay at a port of this host, in the clear, as fast as it can.
pub(crate) fn relay(command: &mut Command, port: u16) -> &mut Command {
    command
        .env("POSTROOM_TRANSPORT_KIND", "smtp")
        .env("POSTROOM_TRANSPORT_HOST", "127.0.0.1")
        .env("POSTROOM_TRANSPORT_PORT", port.to_string())
        .env("POSTROOM_TRANSPORT_SECURITY", "plain")
        .env("POSTROOM_TRANSPORT_DOMAINS", DOMAIN)
        .env("POSTROOM_EGRESS_ALLOW_PORTS", port.to_string())
        .env("POSTROOM_RATE_KEY", "1000000")
        .env("POSTROOM_RATE_TENANT", "1000000")
}

/// Sends of one mailbox: fewer than it may send in a minute, some of them repeated.
const SENDS_EACH: usize = 80;

/// Mailboxes that send, as many as a number of sends needs.
pub(crate) struct Mailboxes {
    /// The paths that sends are posted to.
    paths: Vec<String>,
    /// The key that may do so.
    pub(crate) key: String,
}

impl Mailboxes {
    /// Creates them with an owner, in a tenant whose caps are out of the way.
    pub(crate) fn create(ready: &Value, sends: usize) -> Result<Self> {
        const MANY: u64 = 1_000_000;
        let key = server::text(ready, "admin_key")?.to_owned();
        let mut client = Http::connect(server::text(ready, "url")?, &key)?;
        let caps = json!({"identity_daily_send_cap": MANY, "tenant_daily_send_cap": MANY});
        client.call("PATCH", "/v1/policy", &caps.to_string())?;
        let mut paths = Vec::new();
        for number in 0..sends.div_ceil(SENDS_EACH).max(1) {
            let wanted = json!({
                "address": format!("agent{number}@{DOMAIN}"),
                "display_name": "Agent",
                "owner": {"name": "Owner", "email": format!("owner@{DOMAIN}")},
            });
            let made = client.call("POST", "/v1/identities", &wanted.to_string())?;
            let id = server::text(&made, "id")?;
            paths.push(format!("/v1/identities/{id}/messages"));
        }
        Ok(Self { paths, key })
    }

    /// Sends the mail of a number and gives its answer: 202 and the message, or an error.
    pub(crate) fn send(&self, client: &mut Http, number: usize, mail: &Value) -> Result<Value> {
        let place = number / SENDS_EACH % self.paths.len().max(1);
        let path = self.paths.get(place).context("no mailbox")?;
        client.call("POST", path, &mail.to_string())
    }
}

/// The arguments of a send with a text of so many bytes.
pub(crate) fn mail(key: &str, recipient: &str, text_bytes: usize) -> Value {
    const LINE: &str = "A line that makes the mail as long as mails are.\n";
    json!({
        "idempotency_key": key,
        "to": [recipient],
        "subject": format!("Mail {key}"),
        "text": LINE.repeat(text_bytes.div_ceil(LINE.len())),
    })
}
