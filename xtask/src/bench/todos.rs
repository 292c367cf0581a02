//! Todos: pairs of claim and completion per second through the real server on SQLite and PostgreSQL,
//! against graphile-worker and pg-boss (npm) and PgQueuer (PyPI) on the same PostgreSQL with the same
//! settings; and how long a claim takes with many finished todos behind it.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Http, postroom, report::Report};
use crate::{
    postgres::Cluster,
    process::{self, Running},
    server,
};

/// Who claims at once, here and at the peers.
const CLAIMANTS: usize = 16;
/// What a peer that can takes in one go, in the rows that say so.
const BATCH: usize = 50;
/// Finished todos for each one of the run, up to a million.
const FINISHED_EACH: usize = 50;
const FINISHED_MOST: usize = 1_000_000;

const GRAPHILE: &str = include_str!("todos/graphile.cjs");
const PGBOSS: &str = include_str!("todos/pgboss.cjs");
const PGQUEUER: &str = include_str!("todos/queuer.py");

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "todos",
        format!("cargo xtask bench todos --count {count}"),
        &[
            "queue",
            "claim and complete, pairs/s",
            "claim p50 ms",
            "claim p99 ms",
        ],
    );
    let cluster = Cluster::start()?;
    let finished = (count * FINISHED_EACH).min(FINISHED_MOST);
    for url in [None, Some(database(&cluster, "ours")?)] {
        let bench = Ours::start(url)?;
        let name = format!("postroom, {}", bench.database);
        report.row(bench.measure(&name, count)?);
        let bench = bench.with_finished(finished)?;
        let name = format!("{name}, {finished} finished ones behind");
        report.row(bench.measure(&name, count)?);
    }
    if peers {
        let peers = Peers::install(&cluster)?;
        for batch in [0, BATCH] {
            report.row(peers.node("graphile-worker", GRAPHILE, count, batch)?);
        }
        for batch in [1, BATCH] {
            report.row(peers.node("pg-boss", PGBOSS, count, batch)?);
        }
        for batch in [CLAIMANTS, BATCH] {
            report.row(peers.python("PgQueuer", PGQUEUER, count, batch)?);
        }
        report.note(peers.versions()?);
    }
    report.note(format!(
        "{count} todos with a small payload, {CLAIMANTS} claimants at once. Postroom's take one at a time over HTTP, each with \
         its lease, its token, its payload and its attempt kept, and both answers after the commit that holds them; the peers' \
         are library calls in one process beside the database, one at a time or in batches as the row says. One PostgreSQL with \
         its default settings (fsync and synchronous_commit on), a database for each. A finished todo stays in Postroom's table; \
         the peers delete theirs or move them away."
    ));
    Ok(report)
}

/// A fresh database of the cluster.
fn database(cluster: &Cluster, name: &str) -> Result<String> {
    let sql = format!("CREATE DATABASE {name}");
    process::check(Command::new("psql").args(["-q", &cluster.url, "-c", &sql]))?;
    let (server, _) = cluster
        .url
        .rsplit_once('/')
        .context("a URL with a database")?;
    Ok(format!("{server}/{name}"))
}

/// A server of ours with its data.
struct Ours {
    folder: tempfile::TempDir,
    url: Option<String>,
    database: &'static str,
    address: String,
    key: String,
    running: Running,
}

impl Ours {
    fn start(url: Option<String>) -> Result<Self> {
        Self::start_in(tempfile::tempdir()?, url)
    }

    fn start_in(folder: tempfile::TempDir, url: Option<String>) -> Result<Self> {
        let data = folder.path().join("data");
        let mut command = Command::new(postroom());
        command.stderr(Stdio::null());
        if let Some(url) = &url {
            command.env("POSTROOM_DATABASE_URL", url);
        }
        let (ready, running) = server::start(server::serve(&mut command, &data))?;
        let local = std::fs::read_to_string(data.join("server.json"))?;
        let local: Value = serde_json::from_str(&local)?;
        Ok(Self {
            database: if url.is_some() {
                "PostgreSQL"
            } else {
                "SQLite"
            },
            address: server::text(&ready, "url")?.to_owned(),
            key: server::text(&local, "key")?.to_owned(),
            folder,
            url,
            running,
        })
    }

    /// The same with so many finished todos, written past the server.
    fn with_finished(self, count: usize) -> Result<Self> {
        let Self {
            folder,
            url,
            running,
            ..
        } = self;
        drop(running);
        match &url {
            Some(url) => finished_in_postgres(url, count)?,
            None => finished_in_sqlite(&folder.path().join("data"), count)?,
        }
        Self::start_in(folder, url)
    }

    fn measure(&self, name: &str, count: usize) -> Result<Vec<String>> {
        self.each(|number| {
            let mut client = Http::connect(&self.address, &self.key)?;
            for n in (number..count).step_by(CLAIMANTS) {
                let todo = json!({"queue": "bench", "title": "Bench", "payload": {"n": n}});
                client.call("POST", "/v1/todos", &todo.to_string())?;
            }
            Ok(())
        })?;
        let began = Instant::now();
        let drained = self.each(|_| drain(&self.address, &self.key))?;
        let wall_s = began.elapsed().as_secs_f64();
        let mut claims: Vec<Duration> = drained.into_iter().flatten().collect();
        ensure!(
            claims.len() == count,
            "{} of {count} todos were claimed",
            claims.len()
        );
        claims.sort_unstable();
        let at = |part: f64| {
            let place = ((claims.len() as f64 * part) as usize).min(claims.len() - 1);
            claims
                .get(place)
                .map_or(0.0, |claim| claim.as_secs_f64() * 1e3)
        };
        Ok(vec![
            name.to_owned(),
            format!("{:.0}", count as f64 / wall_s),
            format!("{:.1}", at(0.5)),
            format!("{:.1}", at(0.99)),
        ])
    }

    /// Runs as many threads as there are claimants.
    fn each<T: Send>(&self, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = (0..CLAIMANTS)
                .map(|number| scope.spawn(move || work(number)))
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread
                        .join()
                        .map_err(|_| anyhow::anyhow!("a claimant panicked"))?
                })
                .collect()
        })
    }
}

/// Claims and completes until nothing waits; gives how long each claim took.
fn drain(address: &str, key: &str) -> Result<Vec<Duration>> {
    let mut client = Http::connect(address, key)?;
    let claim = json!({"queue": "bench", "require_fence": true}).to_string();
    let mut claims = Vec::new();
    loop {
        let asked = Instant::now();
        let claimed = client.call("POST", "/v1/todos/claim-next", &claim)?;
        let took = asked.elapsed();
        let Some(id) = claimed["todo"]["id"].as_str() else {
            return Ok(claims);
        };
        claims.push(took);
        let done = json!({"lease_token": claimed["lease_token"]}).to_string();
        client.call("POST", &format!("/v1/todos/{id}/complete"), &done)?;
    }
}

fn finished_in_postgres(url: &str, count: usize) -> Result<()> {
    let sql = format!(
        "INSERT INTO todos (tenant_id, id, num, queue, title, event_count, payload_size, rank, max_attempts, created_at, state, \
         attempt, attempts_total, updated_at, completed_at, result) \
         SELECT (SELECT id FROM tenants LIMIT 1), decode(lpad(to_hex(n), 32, '0'), 'hex'), n, 'bench', 'Finished', 0, 0, 0, 5, \
         now.ms, 'done', 1, 1, now.ms, now.ms, 'null' FROM generate_series(1, {count}) AS n, \
         (SELECT (extract(epoch FROM now()) * 1000)::bigint AS ms) AS now; ANALYZE todos"
    );
    process::check(Command::new("psql").args(["-q", url, "-c", &sql]))
}

fn finished_in_sqlite(data: &Path, count: usize) -> Result<()> {
    const SCRIPT: &str = "
import sqlite3, sys, time
now = int(time.time() * 1000)
db = sqlite3.connect(sys.argv[1])
tenant = db.execute('SELECT id FROM tenants LIMIT 1').fetchone()[0]
rows = ((tenant, n.to_bytes(16, 'big'), n, now, now, now) for n in range(1, int(sys.argv[2]) + 1))
db.executemany('''INSERT INTO todos (tenant_id, id, num, queue, title, event_count, payload_size, rank, max_attempts, created_at,
    state, attempt, attempts_total, updated_at, completed_at, result)
    VALUES (?, ?, ?, 'bench', 'Finished', 0, 0, 0, 5, ?, 'done', 1, 1, ?, ?, 'null')''', rows)
db.commit()
";
    process::check(
        Command::new("python3")
            .args(["-c", SCRIPT])
            .arg(data.join("postroom.sqlite"))
            .arg(count.to_string()),
    )
}

/// The peers, installed in a folder of their own.
struct Peers<'a> {
    cluster: &'a Cluster,
    folder: tempfile::TempDir,
}

impl<'a> Peers<'a> {
    fn install(cluster: &'a Cluster) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // The newest that run on the Node.js of Debian 12.
        process::check(
            Command::new("npm")
                .args([
                    "install",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                    "graphile-worker@0.17",
                    "pg-boss@10",
                ])
                .current_dir(folder.path()),
        )?;
        let venv = folder.path().join("venv");
        process::check(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        process::check(Command::new(venv.join("bin/python")).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "pgqueuer==1.6.*",
            "asyncpg",
        ]))?;
        Ok(Self { cluster, folder })
    }

    fn node(&self, name: &str, script: &str, count: usize, batch: usize) -> Result<Vec<String>> {
        let file = self.folder.path().join("peer.cjs");
        std::fs::write(&file, script)?;
        let mut command = Command::new("node");
        command.arg(file);
        self.measure(name, &mut command, count, batch)
    }

    fn python(&self, name: &str, script: &str, count: usize, batch: usize) -> Result<Vec<String>> {
        let file = self.folder.path().join("peer.py");
        std::fs::write(&file, script)?;
        let mut command = Command::new(self.folder.path().join("venv/bin/python"));
        command.arg(file);
        self.measure(name, &mut command, count, batch)
    }

    /// Runs a peer on a fresh database and reads the line of JSON that it ends with.
    fn measure(
        &self,
        name: &str,
        command: &mut Command,
        count: usize,
        batch: usize,
    ) -> Result<Vec<String>> {
        let words: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let fresh = format!("peer_{}_{batch}", words.to_lowercase());
        let url = database(self.cluster, &fresh)?;
        let numbers = [count, CLAIMANTS, batch].map(|number| number.to_string());
        let said = process::output(command.arg(url).args(numbers))?;
        let said: Value = serde_json::from_str(said.lines().last().unwrap_or_default())
            .with_context(|| format!("{name} said {said:?}"))?;
        ensure!(said["left"] == 0, "{name} left work behind: {said}");
        let seconds = said["seconds"].as_f64().context("no time")?;
        let ms = |name: &str| match said[name].as_f64() {
            Some(ms) => format!("{ms:.1}"),
            None => "-".to_owned(),
        };
        let how = match batch {
            0 | 1 => "one at a time".to_owned(),
            batch => format!("batches of {batch}"),
        };
        Ok(vec![
            format!("{name}, {how}"),
            format!("{:.0}", count as f64 / seconds),
            ms("p50_ms"),
            ms("p99_ms"),
        ])
    }

    /// Which versions ran.
    fn versions(&self) -> Result<String> {
        let mut versions = Vec::new();
        for name in ["graphile-worker", "pg-boss"] {
            let package = self.folder.path().join("node_modules").join(name);
            let package = std::fs::read_to_string(package.join("package.json"))?;
            let package: Value = serde_json::from_str(&package)?;
            let version = package["version"].as_str().unwrap_or_default().to_owned();
            versions.push(format!("{name} {version}"));
        }
        let python = self.folder.path().join("venv/bin/python");
        let script = "import importlib.metadata as m; print(m.version('pgqueuer'))";
        let said = process::output(Command::new(python).args(["-c", script]))?;
        versions.push(format!("PgQueuer {}", said.trim()));
        let node = process::output(Command::new("node").arg("--version"))?;
        versions.push(format!("Node.js {}", node.trim()));
        let sql = [
            "-At",
            self.cluster.url.as_str(),
            "-c",
            "SHOW server_version",
        ];
        let server = process::output(Command::new("psql").args(sql))?;
        versions.push(format!("PostgreSQL {}", server.trim()));
        Ok(format!("Versions: {}.", versions.join(", ")))
    }
}
