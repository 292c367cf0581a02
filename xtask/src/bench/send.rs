//! Send: how long a caller waits for a send that is committed, at a steady rate; and how many mails a
//! second are composed and handed to a relay on this host, with Postfix and Exim beside, which pass mails of
//! the same size on to the same sink.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use serde_json::Value;

use super::{Http, accept, postroom, report::Report};
use crate::{
    exim::Exim,
    postfix::Postfix,
    process,
    process::Running,
    sending::{self, Mailboxes, Sink},
    server,
};

/// Sends a second in the steady run.
const RATE: usize = 500;
/// Callers at once.
const CALLERS: usize = 16;
/// Length of a mail's text, bytes.
const TEXT_BYTES: usize = 2_000;
/// How long the relay may take to get everything.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "send",
        format!("cargo xtask bench send --count {count}"),
        &["what", "mails", "mails/s", "p50 ms", "p99 ms", "max ms"],
    );
    for (package, what) in [
        ("postroom-testkit", "--bins"),
        ("postroom-net", "--examples"),
    ] {
        let arguments = ["build", "--release", "--locked", "-p", package, what];
        process::run("cargo", &arguments)?;
    }
    let steady = count.min(RATE * 60);
    let ours = Ours::start(steady + count)?;
    report.row(ours.steady(steady)?);
    report.row(ours.flood(steady, count)?);
    drop(ours);
    if peers {
        report.row(through_postfix(count)?);
        report.row(through_exim(count)?);
    }
    report.note(format!(
        "Steady: {RATE} calls of mail_send a second on {CALLERS} connections, each timed from the moment at which it was due to its 202, \
         after the commit that holds message, deliveries, key against doubles and usage, synced; meanwhile the mails leave. \
         Flood: {CALLERS} callers as fast as they are answered, timed from the first call until the sink has every mail: \
         composed, queued, claimed, handed over on at most {} connections, outcome committed. Postfix and Exim: {CALLERS} SMTP connections \
         hand them mails of the same size, timed until the same sink has them all. The sink keeps a log and does not sync it; everything \
         shares the cores.",
        postroom_types::limit::RELAY_CONNECTIONS
    ));
    Ok(report)
}

/// A server of ours with its sink.
struct Ours {
    sink: Sink,
    mailboxes: Mailboxes,
    url: String,
    _running: Running,
    _folder: tempfile::TempDir,
}

impl Ours {
    fn start(sends: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let sink = sink(folder.path())?;
        let mut command = Command::new(postroom());
        server::serve(&mut command, &folder.path().join("data"));
        sending::relay(&mut command, sink.port()?).stderr(Stdio::null());
        let (ready, running) = server::start(&mut command)?;
        Ok(Self {
            sink,
            mailboxes: Mailboxes::create(&ready, sends)?,
            url: server::text(&ready, "url")?.to_owned(),
            _running: running,
            _folder: folder,
        })
    }

    /// Calls at a steady rate, each timed from when it was due: a server that stops for a moment makes all
    /// wait that come meanwhile.
    fn steady(&self, count: usize) -> Result<Vec<String>> {
        let began = Instant::now();
        let due = |number: usize| began + Duration::from_secs_f64(number as f64 / RATE as f64);
        let mut times = self.call(0, count, |number| {
            std::thread::sleep(due(number).saturating_duration_since(Instant::now()));
            due(number)
        })?;
        let seconds = began.elapsed().as_secs_f64();
        wait_for(&self.sink, count)?;
        Ok(row(
            format!("postroom, accept of a send at {RATE}/s"),
            count,
            count as f64 / seconds,
            Some(&mut times),
        ))
    }

    /// Calls as fast as they are answered; timed until the relay has everything.
    fn flood(&self, first: usize, count: usize) -> Result<Vec<String>> {
        let before = self.sink.entries()?;
        let began = Instant::now();
        let mut times = self.call(first, count, |_| Instant::now())?;
        wait_for(&self.sink, before + count)?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(row(
            "postroom, composed and handed to the sink".to_owned(),
            count,
            count as f64 / seconds,
            Some(&mut times),
        ))
    }

    /// Sends the mails of these numbers from all callers; the time of each call from when it was due, milliseconds.
    fn call(
        &self,
        first: usize,
        count: usize,
        due: impl Fn(usize) -> Instant + Sync,
    ) -> Result<Vec<f64>> {
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS)
                .map(|caller| {
                    let due = &due;
                    scope.spawn(move || -> Result<Vec<f64>> {
                        let mut client = Http::connect(&self.url, &self.mailboxes.key)?;
                        let mut times = Vec::new();
                        for number in (caller..count).step_by(CALLERS) {
                            let mail = made(first + number);
                            let begun = due(number);
                            self.mailboxes.send(&mut client, first + number, &mail)?;
                            times.push(begun.elapsed().as_secs_f64() * 1e3);
                        }
                        Ok(times)
                    })
                })
                .collect();
            let mut all = Vec::new();
            for caller in callers {
                let times = caller
                    .join()
                    .map_err(|_| anyhow::anyhow!("a caller panicked"))?;
                all.extend(times?);
            }
            Ok(all)
        })
    }
}

fn made(number: usize) -> Value {
    let recipient = format!("r{number}@sink.example");
    sending::mail(&format!("key-{number}"), &recipient, TEXT_BYTES)
}

/// Postfix between a load client and the sink.
fn through_postfix(count: usize) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let sink = sink(folder.path())?;
    let peer = Postfix::relay(sink.port()?)?;
    relayed(peer.version()?, peer.port, &sink, count)
}

/// Exim between a load client and the sink.
fn through_exim(count: usize) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let sink = sink(folder.path())?;
    let peer = Exim::relay(accept::free_port()?, sink.port()?)?;
    relayed(peer.version()?, peer.port, &sink, count)
}

fn relayed(name: String, port: u16, sink: &Sink, count: usize) -> Result<Vec<String>> {
    let began = Instant::now();
    let address = format!("127.0.0.1:{port}");
    accept::load_sized(&address, count, CALLERS, TEXT_BYTES + 500)?;
    wait_for(sink, count)?;
    let seconds = began.elapsed().as_secs_f64();
    let name = format!("{name}, taken and passed on to the sink");
    Ok(row(name, count, count as f64 / seconds, None))
}

fn sink(folder: &Path) -> Result<Sink> {
    let program = Command::new(postroom().with_file_name("postroom-smtp-sink"));
    Sink::start(program, folder, &["--no-sync"], None)
}

fn wait_for(sink: &Sink, entries: usize) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let there = sink.entries()?;
        if there >= entries {
            ensure!(
                there == entries,
                "{there} mails left and {entries} were sent"
            );
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{there} of {entries} mails left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn row(name: String, count: usize, rate: f64, times: Option<&mut Vec<f64>>) -> Vec<String> {
    let mut cells = vec![name, count.to_string(), format!("{rate:.0}")];
    match times {
        Some(times) => {
            times.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let index = (times.len() as f64 * share) as usize;
                times.get(index.min(times.len().saturating_sub(1))).copied()
            };
            for share in [0.5, 0.99, 1.0] {
                cells.push(format!("{:.1}", at(share).unwrap_or_default()));
            }
        }
        None => cells.extend(["-", "-", "-"].map(str::to_owned)),
    }
    cells
}
