//! A server elsewhere as a local process.

#![allow(
    clippy::unwrap_used,
    reason = "what tests share fails by panicking, as tests do"
)]

use std::sync::Arc;

use postroom_mcp::Server;
use postroom_mcp_transport::bridge::Bridge;
use postroom_mcp_transport::{Endpoint, Hosts, Streams, mount, serve_http};
use postroom_testkit::conformance::{Fixtures, KeyGate};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A client's side of a bridge to a served endpoint.
struct Side {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    running: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Side {
    async fn open(key: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let endpoint = Endpoint::new(
            Server::new(Fixtures::default()),
            KeyGate::new(Some("prk_test_k".to_owned())),
            Hosts::Named(Vec::new()),
            Arc::new(Streams::default()),
            shutdown.clone(),
        );
        tokio::spawn(serve_http(listener, mount("/mcp", endpoint), shutdown));
        Self::to(url, key)
    }

    fn to(url: String, key: &str) -> Self {
        // Another test of this process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let bridge = Bridge::new(client, url, Some(key)).unwrap();
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let running = tokio::spawn(bridge.run(input, output));
        let (output, input) = tokio::io::split(ours);
        Self {
            input,
            output: BufReader::new(output),
            running,
        }
    }

    async fn say(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn close(mut self) {
        self.input.shutdown().await.unwrap();
        drop(self.input);
        self.running.await.unwrap().unwrap();
    }
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    meta["progressToken"] = json!(id);
    request(id, method, params)
}

#[tokio::test]
async fn both_eras_cross_the_bridge() {
    let mut side = Side::open("prk_test_k").await;
    side.say(modern(1, "server/discover", json!({}))).await;
    assert!(side.hear().await["result"]["supportedVersions"].is_array());
    side.say(modern(
        2,
        "tools/call",
        json!({ "name": "test_tool_with_progress" }),
    ))
    .await;
    for progress in [0, 50, 100] {
        assert_eq!(side.hear().await["params"]["progress"], progress);
    }
    assert_eq!(side.hear().await["result"]["resultType"], "complete");

    side.say(request(
        3,
        "initialize",
        json!({ "protocolVersion": "2025-06-18" }),
    ))
    .await;
    side.say(request(4, "ping", json!({}))).await;
    assert_eq!(side.hear().await["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(side.hear().await["result"], json!({}));
    let ask = json!({ "name": "test_sampling", "arguments": { "prompt": "What?" } });
    side.say(request(5, "tools/call", ask)).await;
    let question = side.hear().await;
    assert_eq!(question["method"], "sampling/createMessage");
    let content = json!({ "type": "text", "text": "That." });
    let result = json!({ "role": "assistant", "content": content, "model": "m" });
    side.say(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }))
        .await;
    assert_eq!(
        side.hear().await["result"]["content"][0]["text"],
        "LLM response: That."
    );
    side.close().await;
}

#[tokio::test]
async fn a_call_cancelled_on_this_side_ends_on_the_other_and_says_nothing() {
    let mut side = Side::open("prk_test_k").await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    side.say(modern(1, "subscriptions/listen", filter)).await;
    assert_eq!(
        side.hear().await["method"],
        "notifications/subscriptions/acknowledged"
    );
    let params = json!({ "requestId": 1 });
    side.say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    side.say(modern(
        2,
        "tools/call",
        json!({ "name": "test_trigger_tool_change" }),
    ))
    .await;
    assert_eq!(side.hear().await["id"], 2);
    side.close().await;
}

#[tokio::test]
async fn a_wrong_key_and_a_dead_server_are_answers_with_the_id() {
    let mut side = Side::open("wrong").await;
    side.say(modern(1, "tools/list", json!({}))).await;
    let refused = side.hear().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1), &json!(4010))
    );
    side.close().await;

    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let mut side = Side::to(format!("http://{closed}/mcp"), "k");
    side.say(modern(9, "tools/list", json!({}))).await;
    let refused = side.hear().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(9), &json!(5030))
    );
    side.close().await;
}
