//! Workers killed at random while they work off todos, and the server with them: no todo is completed
//! twice, none is lost, and none stays with a dead worker longer than one lease.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{Database, deliveries, next};
use crate::{bench::Http, process::Running, server};

const WORKERS: usize = 16;
const WORKER: &str = include_str!("worker.py");
/// The lease that workers ask for.
const LEASE: Duration = Duration::from_secs(2);
/// What a loaded machine may need beyond a lease to hand a todo on and work it off.
const SLACK: Duration = Duration::from_secs(20);

/// Opens `count` todos and has them worked off under `kills` kills.
pub(crate) fn run(
    folder: &Path,
    database: &Database,
    count: usize,
    kills: usize,
    seed: u64,
) -> Result<()> {
    let data = folder.join("data");
    let (ready, mut running) = deliveries::start(&data, "127.0.0.1:0", database)?;
    let key = server::text(&ready, "admin_key")?.to_owned();
    let url = server::text(&ready, "url")?.to_owned();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    open(&url, &key, count)?;
    let script = folder.join("worker.py");
    std::fs::write(&script, WORKER)?;
    let (log, stop) = (folder.join("accepted"), folder.join("stop"));
    let mut random = seed;
    let mut worker = || -> Result<Running> {
        let mut command = Command::new("python3");
        command
            .arg(&script)
            .args([address, &key])
            .arg(&log)
            .arg(&stop);
        Ok(Running(begin(command.arg(next(&mut random).to_string()))?))
    };
    let mut workers = (0..WORKERS).map(|_| worker()).collect::<Result<Vec<_>>>()?;
    let mut random = seed ^ 1;
    let mut server_kills = 0;
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(20 + next(&mut random) % 300));
        // Now and then the server goes too, and comes back at the same place.
        if kill % 8 == 5 {
            running.kill()?;
            (_, running) = deliveries::start(&data, address, database)?;
            server_kills += 1;
        } else {
            let place = next(&mut random) as usize % workers.len();
            std::mem::replace(workers.get_mut(place).context("a worker")?, worker()?).kill()?;
        }
    }
    let began = Instant::now();
    while database.todos_left()? > 0 {
        let waited = began.elapsed();
        ensure!(
            waited < SLACK + LEASE * (count as u32).div_ceil(WORKERS as u32),
            "{} todos are stuck {waited:?} after the last kill",
            database.todos_left()?
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    let drained_s = began.elapsed().as_secs_f64();
    std::fs::write(&stop, "")?;
    drop(workers);
    let accepted = accepted(&log)?;
    let twice = accepted.values().filter(|seqs| seqs.len() > 1).count();
    let completions = database.completions()?;
    let wrong = completions.iter().filter(|(_, count)| **count != 1).count();
    let stuck = database.longest_stuck_ms()?;
    println!(
        "todos {}: {} kills of workers, {server_kills} of the server; {count} opened, {} done, {} completions heard, \
         {twice} accepted twice, {wrong} not completed exactly once; the last {drained_s:.1} s after the last kill, none \
         longer than {stuck} ms past its lease",
        database.kind(),
        kills - server_kills,
        completions.len(),
        accepted.len(),
    );
    ensure!(
        twice == 0 && wrong == 0 && completions.len() == count,
        "todos were completed twice or not at all"
    );
    ensure!(
        u128::try_from(stuck).unwrap_or(0) < SLACK.as_millis(),
        "a todo stayed with a dead worker for {stuck} ms past its lease"
    );
    ensure!(!accepted.is_empty(), "no worker heard of a completion");
    drop(running);
    Ok(())
}

fn begin(command: &mut Command) -> Result<Child> {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("the workers need python3")
}

fn open(url: &str, key: &str, count: usize) -> Result<()> {
    let mut client = Http::connect(url, key)?;
    for n in 0..count {
        let todo = json!({"queue": "kills", "title": "Kills", "payload": n, "max_attempts": 100});
        client.call("POST", "/v1/todos", &todo.to_string())?;
    }
    Ok(())
}

/// The attempts of each todo whose completion a worker was told of.
fn accepted(log: &Path) -> Result<BTreeMap<String, Vec<String>>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in std::fs::read_to_string(log)?.lines() {
        // A killed worker may leave half a line.
        if let Some((todo, seq)) = line.split_once(' ') {
            let seqs = all.entry(todo.to_owned()).or_default();
            if !seqs.iter().any(|known| known == seq) {
                seqs.push(seq.to_owned());
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_second_completion_is_found_and_a_repeated_word_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("accepted");
        std::fs::write(&log, "tod_a 1\ntod_a 1\ntod_b 1\ntod_b 2\ntod_c").expect("written");
        let accepted = accepted(&log).expect("read");
        assert_eq!(accepted.get("tod_a").map(Vec::len), Some(1));
        assert_eq!(accepted.get("tod_b").map(Vec::len), Some(2));
        assert!(!accepted.contains_key("tod_c"), "half a line");
    }
}
