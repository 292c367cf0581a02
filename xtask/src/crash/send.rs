//! Sends under kills: callers that do not give up queue mails, each with its key, while the server is
//! killed at random and at chosen steps between the queue and the outcome, and started again on the
//! same port. Then no mail reached the relay twice, and each is there once or its row says that nobody
//! knows.

mod audit;

use std::{
    collections::BTreeMap,
    path::Path,
    process::Command,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Database, deliveries, next, smtp};
use crate::{
    bench::Http,
    process::Running,
    sending::{self, Mailboxes, Sink},
    server, test,
};

/// Callers at once.
const CALLERS: usize = 8;
/// The relay stops one message of so many at a step, so that the server can be killed there.
const STOP_EVERY: &str = "12";
/// How long it stops, milliseconds.
const HOLD_MS: &str = "400";
/// How long a caller goes on asking for one mail.
const PATIENCE: Duration = Duration::from_secs(120);

/// What to do.
pub(super) struct Run {
    pub(super) count: usize,
    pub(super) kills: usize,
    pub(super) seed: u64,
    /// Wait until claims of killed processes have been given up, which may take minutes.
    pub(super) settle: bool,
    /// Hand the relay one mail a second time behind the server's back: the audit has to see it.
    pub(super) planted: bool,
}

/// How far the callers may go.
struct Pace {
    allowed: AtomicUsize,
    stopped: AtomicBool,
    /// Whether some mails are put off, which takes a minute more.
    put_off: bool,
}

/// Sends `count` mails under `kills` kills and audits them.
pub(super) fn run(folder: &Path, database: &Database, run: &Run) -> Result<()> {
    let (told, steps) = mpsc::channel();
    let sink = Sink::start(
        test::binary("postroom-smtp-sink"),
        folder,
        &["--stop-every", STOP_EVERY, "--hold-ms", HOLD_MS],
        Some(told.clone()),
    )?;
    let port = sink.port()?;
    let data = folder.join("data");
    let start = |listen: &str| {
        deliveries::start_with(&data, listen, database, |command: &mut Command| {
            sending::relay(command, port);
        })
    };
    let (ready, running) = start("127.0.0.1:0")?;
    let mailboxes = Mailboxes::create(&ready, run.count)?;
    let url = server::text(&ready, "url")?.to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let pace = Pace {
        allowed: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        put_off: run.settle,
    };
    let (running, kills) = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (told, mailboxes, url, pace) = (told.clone(), &mailboxes, &url, &pace);
                scope.spawn(move || call(caller, run.count, mailboxes, url, pace, &told))
            })
            .collect();
        let killed = kill(run, running, &steps, &pace, || Ok(start(address)?.1));
        pace.stopped.store(killed.is_err(), Ordering::SeqCst);
        pace.allowed.store(run.count, Ordering::SeqCst);
        for caller in callers {
            caller
                .join()
                .map_err(|_| anyhow::anyhow!("a caller panicked"))??;
        }
        killed
    })?;
    settle(database, run.settle)?;
    if run.planted {
        plant(&sink)?;
    }
    let verdict = audit::of(&database.sends()?, &sink.taken()?);
    println!(
        "send {}: {} kills ({}); {} acknowledged; {verdict}",
        database.kind(),
        run.kills,
        kills
            .iter()
            .map(|(step, count)| format!("{step} {count}"))
            .collect::<Vec<_>>()
            .join(", "),
        run.count,
    );
    drop(running);
    verdict.check(run.count, run.settle)
}

/// Kills and starts again, so often; says at which steps.
fn kill(
    run: &Run,
    mut running: Running,
    steps: &Receiver<String>,
    pace: &Pace,
    start: impl Fn() -> Result<Running>,
) -> Result<(Running, BTreeMap<String, usize>)> {
    let mut random = run.seed;
    let mut kills: BTreeMap<String, usize> = BTreeMap::new();
    for kill in 0..run.kills {
        let share = (kill + 1) * run.count / run.kills;
        pace.allowed.store(share, Ordering::SeqCst);
        let step = wait(&mut random, steps);
        running.kill()?;
        *kills.entry(step).or_default() += 1;
        running = start()?;
    }
    Ok((running, kills))
}

/// Waits for the moment of the next kill and names it: right after an acknowledgement, at a step where
/// the relay stands still, or any.
fn wait(random: &mut u64, steps: &Receiver<String>) -> String {
    let pause = Duration::from_millis(next(random) % 600);
    let wanted = next(random) % 3;
    if wanted == 0 {
        std::thread::sleep(pause);
        return "random".to_owned();
    }
    // What happened before is over.
    while steps.try_recv().is_ok() {}
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match steps.recv_timeout(left) {
            Ok(step) if (step == QUEUED) == (wanted == 1) => return step,
            Ok(_) => {}
            Err(_) => return "random".to_owned(),
        }
    }
}

const QUEUED: &str = "queued";

/// Sends every mail of one caller, as far as the pace allows; each until it is acknowledged.
fn call(
    caller: usize,
    count: usize,
    mailboxes: &Mailboxes,
    url: &str,
    pace: &Pace,
    told: &Sender<String>,
) -> Result<()> {
    let mut client = None;
    for number in (caller..count).step_by(CALLERS) {
        while number >= pace.allowed.load(Ordering::SeqCst) {
            if pace.stopped.load(Ordering::SeqCst) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let key = format!("key-{number}");
        let mail = sending::mail(&key, &recipient(number, pace.put_off), 1_500);
        let first = patiently(&mut client, mailboxes, url, number, &mail)?;
        let _ = told.send(QUEUED.to_owned());
        // Whoever asks again gets the same mail.
        if number % 5 == 0 {
            let again = patiently(&mut client, mailboxes, url, number, &mail)?;
            ensure!(
                again["id"] == first["id"] && again["deduplicated"] == true,
                "a repeated call made another mail: {again}"
            );
        }
    }
    Ok(())
}

fn patiently(
    client: &mut Option<Http>,
    mailboxes: &Mailboxes,
    url: &str,
    number: usize,
    mail: &Value,
) -> Result<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let tried = match client.take() {
            Some(client) => Ok(client),
            None => Http::connect(url, &mailboxes.key),
        };
        let sent = tried.and_then(|mut open| {
            let answer = mailboxes.send(&mut open, number, mail)?;
            *client = Some(open);
            Ok(answer)
        });
        match sent {
            Ok(answer) => return Ok(answer),
            Err(error) if Instant::now() > deadline => {
                return Err(error).context("a mail was not acknowledged in time");
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Whom a mail goes to. Some are put off at first, so that they are tried again a minute later, under kills
/// too; some are taken and never answered.
fn recipient(number: usize, put_off: bool) -> String {
    let manner = match number % 50 {
        7 if put_off => "greylist",
        13 => "cut-answer",
        _ => "r",
    };
    format!("{manner}-{number}@sink.example")
}

/// Waits until nothing is queued, and if told so until no claim is open: on PostgreSQL a claim of a
/// process that was killed is given up after five minutes.
fn settle(database: &Database, claims_too: bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(420);
    loop {
        let rows = database.sends()?;
        let open = |state: &str| rows.iter().filter(|row| row.state == state).count();
        let (queued, claimed) = (open("queued"), open("claimed"));
        if queued == 0 && (claimed == 0 || !claims_too) {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "{queued} mails are queued and {claimed} claimed after seven minutes"
        );
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// Hands the relay a mail that it has, again.
fn plant(sink: &Sink) -> Result<()> {
    let taken = sink.taken()?;
    let ((id, recipient), _) = taken.first_key_value().context("nothing was taken")?;
    let mail = format!("Message-ID: <{id}>\r\nSubject: again\r\n\r\nAgain.\r\n");
    smtp::Client::connect(&sink.address)?.send_to(recipient, &mail)
}
