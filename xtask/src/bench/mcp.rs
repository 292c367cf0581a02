//! MCP: CPU per `tools/call` with the same small tool, memory idle and per open stream, against the
//! official Rust SDK (benches/peers).

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result, ensure};

use super::{postroom, report::Report, search::Http};
use crate::{
    process::{self, cpu_seconds, memory_kib},
    server,
};

/// Subscriptions opened to see what one costs.
const STREAMS: usize = 1_000;

pub(crate) fn run(count: usize, peers: bool) -> Result<Report> {
    let mut report = Report::new(
        "mcp",
        format!("cargo xtask bench mcp --count {count}"),
        &[
            "server",
            "CPU µs per tools/call",
            "calls/s",
            "idle MB",
            "kB per open stream",
        ],
    );
    process::run(
        "cargo",
        &["build", "--release", "--locked", "-p", "postroom-testkit"],
    )?;
    let ours = postroom().with_file_name("postroom-conformance");
    report.row(one(
        "postroom-conformance",
        Command::new(ours).args(["--listen", "127.0.0.1:0", "--json"]),
        count,
        true,
    )?);
    if peers {
        let target: PathBuf = process::root().join("target").join("peers");
        process::check(
            Command::new("cargo")
                .args(["build", "--release", "--quiet"])
                .current_dir(process::root().join("benches").join("peers"))
                .env("CARGO_TARGET_DIR", &target),
        )?;
        report.row(one(
            "official Rust SDK",
            &mut Command::new(target.join("release").join("postroom-bench-peers")),
            count,
            false,
        )?);
    }
    report.note(format!("Eight connections, protocol revision 2026-07-28, tool `test_simple_text`; {STREAMS} open `subscriptions/listen` streams."));
    Ok(report)
}

fn one(name: &str, command: &mut Command, count: usize, streams: bool) -> Result<Vec<String>> {
    let (ready, running) = server::start(command).context(name.to_owned())?;
    let pid = running.0.id();
    let url = ready["mcp_url"]
        .as_str()
        .or(ready["url"].as_str())
        .context("no url")?
        .to_owned();
    let host = url
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let idle = memory_kib(pid)?.0;
    calls(&host, 200)?;
    let (cpu, start) = (cpu_seconds(pid)?, Instant::now());
    calls(&host, count)?;
    let (cpu, wall) = (cpu_seconds(pid)? - cpu, start.elapsed().as_secs_f64());
    let per_stream = if streams {
        format!("{:.1}", stream_kb(&host, pid)?)
    } else {
        "-".to_owned()
    };
    Ok(vec![
        name.to_owned(),
        format!("{:.1}", cpu * 1e6 / count as f64),
        format!("{:.0}", count as f64 / wall),
        format!("{:.1}", idle as f64 / 1024.0),
        per_stream,
    ])
}

fn calls(host: &str, count: usize) -> Result<()> {
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let host = host.to_owned();
            std::thread::spawn(move || -> Result<()> {
                let mut client = Http::connect(&format!("http://{host}"), "none")?;
                let body = request("tools/call", r#""name":"test_simple_text","arguments":{},"#);
                for _ in 0..count / 8 {
                    let answer = client.call_with("POST", "/mcp", "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: test_simple_text\r\nAccept: application/json, text/event-stream\r\n", &body)?;
                    ensure!(answer["result"]["content"].is_array(), "no content in {answer}");
                }
                Ok(())
            })
        })
        .collect();
    workers.into_iter().try_for_each(|worker| {
        worker
            .join()
            .map_err(|_| anyhow::anyhow!("a caller panicked"))?
    })
}

fn request(method: &str, parameters: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{parameters}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

/// Opens subscriptions and keeps them; what the server's memory grew by, per stream.
fn stream_kb(host: &str, pid: u32) -> Result<f64> {
    let before = memory_kib(pid)?.0;
    let body = request(
        "subscriptions/listen",
        r#""notifications":{"resourcesListChanged":true},"#,
    );
    let mut open = Vec::new();
    for _ in 0..STREAMS {
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut first = [0; 512];
        let read = stream.read(&mut first)?;
        let text = String::from_utf8_lossy(first.get(..read).unwrap_or_default()).into_owned();
        ensure!(text.contains(" 200 "), "a stream was not opened: {text}");
        open.push(stream);
    }
    let after = memory_kib(pid)?.0;
    Ok(after.saturating_sub(before) as f64 * 1.024 / open.len() as f64)
}
