//! Signed deliveries under kills: a patient sender publishes ids while the server is killed and started
//! again on the same port; then every id is in the log once and was offered as work at least once.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Database, Source, next};
use crate::{process::Running, server, test};

/// Connections that offered work is taken over.
const WORKERS: usize = 8;

/// Publishes `count` ids under `kills` kills and audits them.
pub(crate) fn run(
    folder: &Path,
    database: &Database,
    count: usize,
    kills: usize,
    seed: u64,
) -> Result<()> {
    let data = folder.join("data");
    let (mut ready, mut running) = start(&data, "127.0.0.1:0", database)?;
    let source = Source::create(&ready)?;
    let address = server::text(&ready, "url")?
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let log = folder.join("published");
    let mut sender = Running(publish(&source, count, &log)?);
    let (mut random, mut done) = (seed, 0);
    while sender.0.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(100 + next(&mut random) % 900));
        if done < kills {
            running.kill()?;
            (ready, running) = start(&data, &address, database)?;
            done += 1;
        }
    }
    let published = numbers(&log)?;
    ensure!(
        published.len() == count,
        "{} of {count} ids were acknowledged",
        published.len()
    );
    let began = Instant::now();
    let offered = drain(&source, &ready)?;
    let drained_s = began.elapsed().as_secs_f64();
    let stored = database.deliveries()?;
    let lost = published
        .iter()
        .filter(|id| !stored.contains_key(&format!("load-{id}")))
        .count();
    let doubled = stored.values().filter(|count| **count != 1).count();
    let unoffered = published.iter().filter(|id| !offered.contains(id)).count();
    println!(
        "deliveries {}: {done} kills, {} acknowledged, {} stored, {lost} lost, {doubled} doubled, {unoffered} never offered; {} pairs of claim and completion in {drained_s:.1} s",
        database.kind(),
        published.len(),
        stored.len(),
        offered.len(),
    );
    ensure!(
        lost == 0 && doubled == 0 && unoffered == 0,
        "deliveries were lost, doubled or never offered"
    );
    drop(running);
    Ok(())
}

/// Starts the built binary on `listen`; a port that was just left may take a moment.
pub(super) fn start(data: &Path, listen: &str, database: &Database) -> Result<(Value, Running)> {
    start_with(data, listen, database, |_| {})
}

/// As [`start`], with a word about its environment.
pub(super) fn start_with(
    data: &Path,
    listen: &str,
    database: &Database,
    configure: impl Fn(&mut Command),
) -> Result<(Value, Running)> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let mut command = test::binary("postroom");
        command
            .args([
                "serve",
                "--json",
                "--smtp",
                "127.0.0.1:0",
                "--listen",
                listen,
                "--data",
            ])
            .arg(data)
            .env("POSTROOM_RATE_SOURCE", "1000000")
            .env("POSTROOM_RATE_KEY", "1000000")
            .env("POSTROOM_RATE_TENANT", "1000000")
            .stderr(Stdio::null());
        database.configure(&mut command);
        configure(&mut command);
        match server::start(&mut command) {
            Err(_) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(100));
            }
            started => return started,
        }
    }
}

fn publish(source: &Source, count: usize, log: &Path) -> Result<Child> {
    test::example("webhook_load")
        .args(["--url", &source.url, "--secret", &source.secret])
        .args([
            "--connections",
            "16",
            "--size",
            "600",
            "--patient",
            "--count",
        ])
        .arg(count.to_string())
        .stdout(std::fs::File::create(log)?)
        .spawn()
        .context("the sender does not start")
}

/// The ids that a sender wrote down.
fn numbers(log: &Path) -> Result<BTreeSet<u64>> {
    Ok(std::fs::read_to_string(log)?
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect())
}

fn drain(source: &Source, ready: &Value) -> Result<BTreeSet<u64>> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|_| scope.spawn(|| source.drain(ready)))
            .collect();
        let mut all = BTreeSet::new();
        for worker in workers {
            let offered = worker
                .join()
                .map_err(|_| anyhow::anyhow!("a worker panicked"))??;
            all.extend(offered);
        }
        Ok(all)
    })
}
