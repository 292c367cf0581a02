//! Send: how long a caller waits for a send that is committed, at a steady rate; and how many mails a
//! second are composed and handed to a relay on this host, with Postfix and Exim beside, which pass mails of
//! the same size on to the same sink.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
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
        &[
            "what",
            "mails",
            "mails/s",
            "CPU ms each",
            "p50 ms",
            "p99 ms",
            "max ms",
        ],
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
    let sync = sync_ms()?;
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
         shares the cores. A sync of 4 KiB took {sync:.1} ms (median) between the runs.",
        postroom_types::limit::RELAY_CONNECTIONS
    ));
    Ok(report)
}

/// A server of ours with its sink.
struct Ours {
    sink: Sink,
    mailboxes: Mailboxes,
    url: String,
    running: Running,
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
            running,
            _folder: folder,
        })
    }

    /// Calls at a steady rate, each timed from when it was due: a server that stops for a moment makes all
    /// wait that come meanwhile.
    fn steady(&self, count: usize) -> Result<Vec<String>> {
        let (began, used) = (Instant::now(), self.cpu_seconds()?);
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
            seconds,
            Some((self.cpu_seconds()? - used, &mut times)),
        ))
    }

    /// Calls as fast as they are answered; timed until the relay has everything.
    fn flood(&self, first: usize, count: usize) -> Result<Vec<String>> {
        let before = self.sink.entries()?;
        let (began, used) = (Instant::now(), self.cpu_seconds()?);
        let mut times = self.call(first, count, |_| Instant::now())?;
        wait_for(&self.sink, before + count)?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(row(
            "postroom, composed and handed to the sink".to_owned(),
            count,
            seconds,
            Some((self.cpu_seconds()? - used, &mut times)),
        ))
    }

    fn cpu_seconds(&self) -> Result<f64> {
        process::cpu_seconds(self.running.0.id())
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
    Ok(row(name, count, seconds, None))
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

/// A line of the table; with the CPU seconds of the server and the time of each call, milliseconds.
fn row(
    name: String,
    count: usize,
    seconds: f64,
    ours: Option<(f64, &mut Vec<f64>)>,
) -> Vec<String> {
    let rate = count as f64 / seconds;
    let mut cells = vec![name, count.to_string(), format!("{rate:.0}")];
    match ours {
        Some((cpu, times)) => {
            cells.push(format!("{:.2}", cpu * 1e3 / count as f64));
            times.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let index = (times.len() as f64 * share) as usize;
                let index = index.min(times.len().saturating_sub(1));
                times.get(index).copied().unwrap_or_default()
            };
            for share in [0.5, 0.99, 1.0] {
                cells.push(format!("{:.1}", at(share)));
            }
        }
        None => cells.extend(["-", "-", "-", "-"].map(str::to_owned)),
    }
    cells
}

/// How long a sync of 4 KiB takes here and now: the median of some, milliseconds.
fn sync_ms() -> Result<f64> {
    let mut file = tempfile::tempfile()?;
    let mut times = Vec::new();
    for _ in 0..101 {
        file.write_all(&[0; 4096])?;
        let began = Instant::now();
        file.sync_data()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().context("no times")
}
