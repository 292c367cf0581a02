//! Search: the same queries on the same mails. Postroom is asked over HTTP on one kept connection, with
//! filters, facets and snippets; notmuch and mu run their command line, whose start is shown beside.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{maildir, measure, postroom, report::Report};
use crate::{packages, server};

/// One query in the three languages.
struct Query {
    ours: &'static str,
    notmuch: &'static str,
    mu: &'static str,
}

/// Words of the made-up mails: rare and frequent ones, alone and together. Each finds something.
const QUERIES: &[Query] = &[
    Query {
        ours: "wilperni",
        notmuch: "wilperni",
        mu: "wilperni",
    },
    Query {
        ours: "terlo shalo",
        notmuch: "terlo and shalo",
        mu: "terlo and shalo",
    },
    Query {
        ours: "subject:joryaso",
        notmuch: "subject:joryaso",
        mu: "subject:joryaso",
    },
    Query {
        ours: "\"BK000130\"",
        notmuch: "BK000130",
        mu: "BK000130",
    },
    Query {
        ours: "anzedru OR huyaan",
        notmuch: "anzedru or huyaan",
        mu: "anzedru or huyaan",
    },
    Query {
        ours: "felru has:attachment",
        notmuch: "felru and tag:attachment",
        mu: "felru and flag:attach",
    },
    Query {
        ours: "garter after:2025-01-10 before:2025-01-20",
        notmuch: "garter and date:2025-01-10..2025-01-19",
        mu: "garter and date:20250110..20250119",
    },
    Query {
        ours: "dolo -rulo",
        notmuch: "dolo and not rulo",
        mu: "dolo and not rulo",
    },
    Query {
        ours: "lintuter briterve",
        notmuch: "lintuter and briterve",
        mu: "lintuter and briterve",
    },
    Query {
        ours: "draveter garlo pallo lomi",
        notmuch: "draveter and garlo and pallo and lomi",
        mu: "draveter and garlo and pallo and lomi",
    },
];

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let maildir = maildir(count)?;
    let work = tempfile::tempdir()?;
    let data = work.path().join("postroom");
    measure(
        Command::new(postroom())
            .args([
                "import",
                "--json",
                "--identity",
                "bench@bench.example",
                "--data",
            ])
            .arg(&data)
            .arg(&maildir),
    )?;
    let mut report = Report::new(
        "search",
        format!("cargo xtask bench search --count {count}"),
        &["program", "p50 ms", "p99 ms", "asked"],
    );

    let (mut times, server_note) = ours(&data)?;
    report.row(row(
        "postroom over HTTP: hits, facets, snippets",
        &mut times,
    ));
    report.note(server_note);
    if peers {
        packages::apt(&["notmuch", "maildir-utils", "time"])?;
        let home = work.path().join("mu");
        measure(
            Command::new("mu")
                .args(["init", "--quiet", "--muhome"])
                .arg(&home)
                .arg("--maildir")
                .arg(&maildir),
        )?;
        measure(
            Command::new("mu")
                .args(["index", "--quiet", "--muhome"])
                .arg(&home),
        )?;
        let config = work.path().join("notmuch-config");
        let database = work.path().join("notmuch");
        std::fs::create_dir_all(&database)?;
        std::fs::write(
            &config,
            format!(
                "[database]\npath={}\nmail_root={}\n[user]\nname=Bench\nprimary_email=bench@bench.example\n[new]\ntags=unread\n",
                database.display(),
                maildir.display()
            ),
        )?;
        measure(
            Command::new("notmuch")
                .args(["new", "--quiet"])
                .env("NOTMUCH_CONFIG", &config),
        )?;
        let mut notmuch = peer(|query| {
            let mut command = Command::new("notmuch");
            command
                .args(["search", "--limit=10", query.notmuch])
                .env("NOTMUCH_CONFIG", &config);
            command
        })?;
        report.row(row("notmuch search --limit=10", &mut notmuch));
        let mut floor = peer(|_| {
            let mut command = Command::new("notmuch");
            command
                .args(["count", "id:none"])
                .env("NOTMUCH_CONFIG", &config);
            command
        })?;
        report.row(row("  of it, starting notmuch", &mut floor));
        let mut mu = peer(|query| {
            let mut command = Command::new("mu");
            command
                .args(["find", "--maxnum=10", "--muhome"])
                .arg(&home)
                .args(query.mu.split(' '));
            command
        })?;
        report.row(row("mu find --maxnum=10", &mut mu));
    }
    Ok(report)
}

fn row(program: &str, times: &mut [f64]) -> Vec<String> {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get(((times.len() - 1) as f64 * share) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    vec![
        program.to_owned(),
        format!("{:.2}", at(0.5)),
        format!("{:.2}", at(0.99)),
        times.len().to_string(),
    ]
}

/// Times of each query, asked twenty times after one warm-up.
fn ours(data: &std::path::Path) -> Result<(Vec<f64>, String)> {
    let (ready, _running) = server::start(server::serve(&mut Command::new(postroom()), data))?;
    // The key of this machine: its searches are not counted, so no rate is met.
    let local: Value = serde_json::from_str(&std::fs::read_to_string(data.join("server.json"))?)?;
    let mut client = Http::connect(server::text(&ready, "url")?, server::text(&local, "key")?)?;
    let first = |listed: &Value| server::text(&listed["data"][0], "id").map(str::to_owned);
    let tenant = first(&client.call("GET", "/v1/tenants", "")?)?;
    let identities = format!("/v1/identities?tenant_id={tenant}");
    let identity = first(&client.call("GET", &identities, "")?)?;
    let path = format!("/v1/identities/{identity}/search");
    let mut times = Vec::new();
    let mut hits = 0;
    for round in 0..21 {
        for query in QUERIES {
            let body =
                serde_json::json!({"q": query.ours, "mode": "keyword", "limit": 10}).to_string();
            let start = Instant::now();
            let answer = client.call("POST", &path, &body)?;
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let found = answer["hits"].as_array().context("no hits array")?.len();
            ensure!(found > 0, "{} finds nothing", query.ours);
            hits += found;
        }
    }
    Ok((
        times,
        format!(
            "{} queries, each asked 20 times; {hits} hits in all.",
            QUERIES.len()
        ),
    ))
}

/// Times of each query by a command line, five times each.
fn peer(command: impl Fn(&Query) -> Command) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for round in 0..6 {
        for query in QUERIES {
            let start = Instant::now();
            let output = command(query).output()?;
            // mu exits with 2 or 4 when nothing matches.
            ensure!(output.status.code().is_some(), "a peer was killed");
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    Ok(times)
}

/// A kept HTTP connection.
pub(crate) struct Http {
    reader: BufReader<TcpStream>,
    stream: TcpStream,
    host: String,
    key: String,
}

impl Http {
    /// Connects to `http://host:port`.
    pub(crate) fn connect(url: &str, key: &str) -> Result<Self> {
        let host = url
            .trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream.try_clone()?),
            stream,
            host,
            key: key.to_owned(),
        })
    }

    /// One request; its JSON answer.
    pub(crate) fn call(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        self.call_with(method, path, "", body)
    }

    /// One request with further header lines (each ended by CRLF).
    pub(crate) fn call_with(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> Result<Value> {
        // In one write: a request in many small ones is many packets.
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            self.host,
            self.key,
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        let mut length = 0;
        let mut status = String::new();
        self.reader.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            ensure!(self.reader.read_line(&mut line)? > 0, "connection closed");
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
        let mut answer = vec![0; length];
        self.reader.read_exact(&mut answer)?;
        ensure!(
            status.contains(" 200") || status.contains(" 20"),
            "{method} {path}: {status}{}",
            String::from_utf8_lossy(&answer)
        );
        serde_json::from_slice(&answer).context("an answer that is no JSON")
    }
}
