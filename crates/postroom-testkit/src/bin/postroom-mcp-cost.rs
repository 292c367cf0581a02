//! What the protocol layer and the mount cost per `tools/call`, without a socket: CPU time of this
//! thread over many calls of a tool that does nothing.
//!
//! `cargo run --release -p postroom-testkit --bin postroom-mcp-cost`

#![allow(clippy::print_stdout, reason = "prints its measurement")]

use std::sync::Arc;

use anyhow::Context;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use postroom_mcp::Server;
use postroom_mcp_transport::{Endpoint, Hosts, Streams, mount};
use postroom_testkit::conformance::{Fixtures, KeyGate};
use tokio_util::sync::CancellationToken;

const CALLS: u32 = 200_000;
const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"cost","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const LEGACY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text","arguments":{}}}"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let endpoint = Endpoint::new(
        Server::new(Fixtures::default()),
        KeyGate::new(None),
        Hosts::Named(Vec::new()),
        Arc::new(Streams::default()),
        CancellationToken::new(),
    );
    let service = TowerToHyperService::new(mount("/mcp", endpoint));
    for (era, version, body) in [
        ("modern", "2026-07-28", MODERN),
        ("legacy", "2025-11-25", LEGACY),
    ] {
        let mut start = 0;
        for round in 0..CALLS + 1_000 {
            if round == 1_000 {
                start = cpu_ns()?;
            }
            let request = Request::post("/mcp")
                .header("host", "127.0.0.1:8025")
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", version)
                .header("mcp-method", "tools/call")
                .header("mcp-name", "test_simple_text")
                .body(Body::from(body))?;
            let response = service.call(request).await?;
            let answer = response.into_body().collect().await?.to_bytes();
            anyhow::ensure!(answer.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\""));
        }
        let each = (cpu_ns()? - start) / u64::from(CALLS);
        println!(
            "{era}: {}.{:03} µs CPU per tools/call",
            each / 1_000,
            each % 1_000
        );
    }
    Ok(())
}

/// Nanoseconds this thread has been on a processor.
fn cpu_ns() -> anyhow::Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let first = text.split(' ').next().context("no schedstat")?;
    Ok(first.parse()?)
}
