//! `cargo xtask crash`: kills the server with SIGKILL at random points while mail comes in, starts it
//! again, and counts from outside (straight from the database) what was acknowledged and lost, or
//! stored twice. `crash send` kills it while mail leaves, and counts at the relay. `--sync-order` watches
//! the system calls instead: a sync between the end of a mail's data and its acknowledgement.

mod database;
mod deliveries;
mod send;
mod server;
mod smtp;
mod source;
mod sync_order;
mod todos;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use crate::{corpus, postgres, test};
pub(crate) use database::Database;
use server::Server;
pub(crate) use source::Source;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to kill the server at; mail that comes in and imports when left out.
    #[arg(value_enum)]
    name: Option<Name>,
    /// Kills of each kind on each database.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// Mails that are sent, with `send`.
    #[arg(long, default_value_t = 1_000)]
    count: usize,
    /// Hand the relay one mail twice, with `send`: the command has to fail.
    #[arg(long)]
    planted: bool,
    /// Leave PostgreSQL out.
    #[arg(long)]
    sqlite_only: bool,
    /// Watch the system calls of this many acknowledgements instead (needs strace).
    #[arg(long, value_name = "ACKNOWLEDGEMENTS")]
    sync_order: Option<usize>,
    /// Publish this many signed deliveries under kills instead, on each database.
    #[arg(long, value_name = "DELIVERIES")]
    deliveries: Option<usize>,
    /// Have this many todos worked off by workers that are killed instead, on each database.
    #[arg(long, value_name = "TODOS")]
    todos: Option<usize>,
    /// Seed of the random points.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    /// Mail that is sent: each reaches the relay once, or its row says that nobody knows.
    Send,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if let Some(count) = options.sync_order {
        return sync_order::run(count);
    }
    let sending = |postgres_url: Option<&str>| {
        let run = send::Run {
            count: options.count,
            kills: options.rounds,
            seed: options.seed,
            settle: true,
            planted: options.planted,
        };
        sent(&run, postgres_url)
    };
    if let (Some(Name::Send), true) = (options.name, options.sqlite_only) {
        return sending(None);
    }
    let cluster = postgres::Cluster::start()?;
    if let Some(Name::Send) = options.name {
        return sending(Some(&cluster.url));
    }
    if let Some(count) = options.deliveries {
        return delivered(count, options.rounds, options.seed, &cluster.url);
    }
    if let Some(count) = options.todos {
        return worked_off(count, options.rounds, options.seed, &cluster.url);
    }
    kills(options.rounds, options.seed, &cluster.url)
}

/// The short form that the test command runs.
pub(crate) fn short(postgres_url: &str) -> Result<()> {
    kills(3, 7, postgres_url)?;
    delivered(1_000, 3, 7, postgres_url)?;
    worked_off(200, 24, 7, postgres_url)?;
    let sends = send::Run {
        count: 300,
        kills: 12,
        seed: 7,
        settle: false,
        planted: false,
    };
    sent(&sends, Some(postgres_url))?;
    sync_order::run(300)
}

fn delivered(count: usize, kills: usize, seed: u64, postgres_url: &str) -> Result<()> {
    for postgres in [None, Some(postgres_url)] {
        let folder = tempfile::tempdir()?;
        let database = Database::new(folder.path(), postgres)?;
        deliveries::run(folder.path(), &database, count, kills, seed)?;
    }
    Ok(())
}

/// On SQLite, and on PostgreSQL where there is one.
fn sent(run: &send::Run, postgres_url: Option<&str>) -> Result<()> {
    for postgres in [None, postgres_url]
        .into_iter()
        .take(1 + usize::from(postgres_url.is_some()))
    {
        let folder = tempfile::tempdir()?;
        let database = Database::new(folder.path(), postgres)?;
        send::run(folder.path(), &database, run)?;
    }
    Ok(())
}

fn worked_off(count: usize, kills: usize, seed: u64, postgres_url: &str) -> Result<()> {
    for postgres in [None, Some(postgres_url)] {
        let folder = tempfile::tempdir()?;
        let database = Database::new(folder.path(), postgres)?;
        todos::run(folder.path(), &database, count, kills, seed)?;
    }
    Ok(())
}

fn kills(rounds: usize, seed: u64, postgres_url: &str) -> Result<()> {
    for postgres in [None, Some(postgres_url)] {
        let folder = tempfile::tempdir()?;
        let database = Database::new(folder.path(), postgres)?;
        smtp_kills(folder.path(), &database, rounds, seed)?;
        let folder = tempfile::tempdir()?;
        let database = Database::new(folder.path(), postgres)?;
        import_kills(folder.path(), &database, rounds, seed)?;
    }
    Ok(())
}

/// Sends on four connections, kills at a random time, starts again; at the end every acknowledged mail
/// is there once.
fn smtp_kills(folder: &Path, database: &Database, rounds: usize, seed: u64) -> Result<()> {
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let mut random = seed;
    for round in 0..rounds {
        let server = Server::start(folder, database)?;
        server.make_identity()?;
        let stop = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = (0..4)
            .map(|sender| {
                let (address, stop, acknowledged) =
                    (server.smtp.clone(), stop.clone(), acknowledged.clone());
                std::thread::spawn(move || {
                    smtp::send_until_stopped(
                        &address,
                        &format!("{round}-{sender}"),
                        &stop,
                        &acknowledged,
                    )
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(50 + next(&mut random) % 700));
        server.kill()?;
        stop.store(true, Ordering::SeqCst);
        for sender in senders {
            let _ = sender.join();
        }
    }
    let server = Server::start(folder, database)?;
    wait_until_read(database)?;
    drop(server);
    let acknowledged = acknowledged
        .lock()
        .map_err(|_| anyhow::anyhow!("a sender panicked"))?
        .clone();
    let stored = database.contents()?;
    let lost = acknowledged
        .iter()
        .filter(|digest| !stored.contains_key(*digest))
        .count();
    let doubled = stored.values().filter(|count| **count != 1).count();
    println!(
        "smtp {}: {rounds} kills, {} acknowledged, {} stored, {lost} lost, {doubled} doubled",
        database.kind(),
        acknowledged.len(),
        stored.len()
    );
    ensure!(
        !acknowledged.is_empty(),
        "nothing was acknowledged: the harness does not reach the server"
    );
    ensure!(
        lost == 0 && doubled == 0,
        "acknowledged mail was lost or doubled"
    );
    ensure!(
        database.messages()? == stored.len(),
        "{} messages for {} arrivals",
        database.messages()?,
        stored.len()
    );
    Ok(())
}

/// Kills an import at random times, every other time once it has stored something, runs it to the
/// end, and counts.
fn import_kills(folder: &Path, database: &Database, rounds: usize, seed: u64) -> Result<()> {
    let mails = 3_000.max(rounds * 500);
    let archive = folder.join("archive");
    corpus::maildir(&archive, mails)?;
    let data = folder.join("data");
    let mut random = seed;
    let import = || {
        let mut command = test::binary("postroom");
        command
            .args([
                "import",
                "--json",
                "--identity",
                "archive@import.example",
                "--data",
            ])
            .arg(&data)
            .arg(&archive);
        database.configure(&mut command);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        command
    };
    // Before the first import there is no table to count.
    let stored = || database.messages().unwrap_or(0);
    let mut midway = 0;
    for round in 0..rounds {
        let before = stored();
        let mut child = import().spawn()?;
        if round % 2 == 0 {
            while stored() == before && child.try_wait()?.is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(next(&mut random) % 60));
        } else {
            std::thread::sleep(Duration::from_millis(30 + next(&mut random) % 900));
        }
        let _ = child.kill();
        let _ = child.wait();
        midway += usize::from((before + 1..mails).contains(&stored()));
    }
    let output = import().output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let totals: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or_default())
        .with_context(|| format!("import printed {text:?}"))?;
    let count = |name: &str| totals[name].as_u64().unwrap_or(u64::MAX) as usize;
    let stored = database.contents()?;
    let doubled = stored.values().filter(|count| **count != 1).count();
    println!(
        "import {}: {rounds} kills, {midway} of them midway, then {totals}; {} stored, {doubled} doubled",
        database.kind(),
        stored.len()
    );
    ensure!(
        midway > 0,
        "no kill met an import that was storing: the harness shows nothing"
    );
    ensure!(
        count("read") == mails
            && count("stored") + count("duplicate") == mails
            && count("failed") == 0,
        "the totals do not add up"
    );
    ensure!(
        stored.len() == mails && doubled == 0 && database.messages()? == mails,
        "mails were lost or doubled"
    );
    Ok(())
}

/// Waits until no arrival is left to be read.
fn wait_until_read(database: &Database) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while database.pending()? > 0 {
        ensure!(
            Instant::now() < deadline,
            "arrivals are still pending after a minute"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
