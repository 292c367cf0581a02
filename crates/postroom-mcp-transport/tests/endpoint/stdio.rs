//! The protocol over lines.

use postroom_mcp::{Revision, Server};
use postroom_mcp_transport::stdio;
use postroom_testkit::conformance::{Fixtures, Visiting};
use postroom_types::limit::{STDIO_CALLS, STDIO_LINE_BYTES};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::world::{MODERN, NOVEMBER, validate};

/// A process in this process.
struct Process {
    input: Option<WriteHalf<DuplexStream>>,
    output: BufReader<ReadHalf<DuplexStream>>,
    running: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Process {
    fn start() -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let server = Server::new(Fixtures::default());
        let caller = Visiting("stdio".to_owned());
        let running = tokio::spawn(stdio::serve(server, caller, None, input, output));
        let (output, input) = tokio::io::split(ours);
        Self {
            input: Some(input),
            output: BufReader::new(output),
            running,
        }
    }

    async fn line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    async fn say(&mut self, message: Value) {
        self.line(message.to_string().as_bytes()).await;
    }

    async fn hear(&mut self, revision: Revision) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        let message = serde_json::from_str(&line).unwrap();
        validate(revision, &message);
        message
    }

    /// Closes the input and gives the lines that were still said.
    async fn close(mut self) -> Vec<String> {
        let mut input = self.input.take().unwrap();
        input.shutdown().await.unwrap();
        drop(input);
        let mut rest = Vec::new();
        let mut lines = self.output.lines();
        while let Ok(Some(line)) = lines.next_line().await {
            rest.push(line);
        }
        self.running.await.unwrap().unwrap();
        rest
    }
}

fn modern(id: u32, method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn legacy(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn each_line_speaks_its_own_era() {
    let mut process = Process::start();
    process.say(modern(1, "server/discover", json!({}))).await;
    assert!(process.hear(Revision::July2026).await["result"]["supportedVersions"].is_array());
    process.say(legacy(2, "tools/list", json!({}))).await;
    assert_eq!(
        process.hear(Revision::November2025).await["error"]["code"],
        -32602
    );
    process
        .say(legacy(
            3,
            "initialize",
            json!({ "protocolVersion": NOVEMBER }),
        ))
        .await;
    assert_eq!(
        process.hear(Revision::November2025).await["result"]["protocolVersion"],
        NOVEMBER
    );
    process
        .say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    process.say(legacy(4, "ping", json!({}))).await;
    assert_eq!(
        process.hear(Revision::November2025).await["result"],
        json!({})
    );
    process
        .say(modern(
            5,
            "tools/call",
            json!({ "name": "test_simple_text" }),
        ))
        .await;
    assert_eq!(
        process.hear(Revision::July2026).await["result"]["resultType"],
        "complete"
    );
    assert!(process.close().await.is_empty());
}

#[tokio::test]
async fn a_cancelled_call_is_never_answered() {
    let mut process = Process::start();
    process
        .say(modern(1, "tools/call", json!({ "name": "test_wait" })))
        .await;
    let params = json!({ "requestId": 1 });
    process
        .say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    process
        .say(modern(
            2,
            "tools/call",
            json!({ "name": "test_simple_text" }),
        ))
        .await;
    assert_eq!(process.hear(Revision::July2026).await["id"], 2);
    assert!(process.close().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_lets_calls_answer_and_ends_subscriptions() {
    let mut process = Process::start();
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    process.say(modern(1, "subscriptions/listen", filter)).await;
    let acknowledged = process.hear(Revision::July2026).await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let wait = json!({ "name": "test_wait", "arguments": { "ms": 1_000 } });
    process.say(modern(2, "tools/call", wait)).await;
    let rest = process.close().await;
    assert_eq!(rest.len(), 2, "{rest:?}");
    assert!(
        rest[0].contains("subscriptionId") && rest[1].contains("Waited."),
        "{rest:?}"
    );
}

#[tokio::test]
async fn bad_lines_are_answered_and_the_next_one_counts() {
    let mut process = Process::start();
    process.line(b"").await;
    process.line(b"{nonsense").await;
    assert_eq!(
        process.hear(Revision::November2025).await["error"]["code"],
        -32700
    );
    let ping = legacy(1, "initialize", json!({ "protocolVersion": NOVEMBER })).to_string();
    let padded = |size: usize| {
        let mut line = ping.clone().into_bytes();
        line.resize(size, b' ');
        line
    };
    process.line(&padded(STDIO_LINE_BYTES + 1)).await;
    assert_eq!(
        process.hear(Revision::November2025).await["error"]["code"],
        -32600
    );
    process.line(&padded(STDIO_LINE_BYTES)).await;
    assert_eq!(process.hear(Revision::November2025).await["id"], 1);
    assert!(process.close().await.is_empty());
}

#[tokio::test]
async fn calls_in_progress_are_bounded_and_have_their_own_ids() {
    let mut process = Process::start();
    let wait = |id| modern(id, "tools/call", json!({ "name": "test_wait" }));
    for id in 0..u32::try_from(STDIO_CALLS).unwrap() {
        process.say(wait(id)).await;
    }
    process.say(wait(1_000)).await;
    let refused = process.hear(Revision::July2026).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1_000), &json!(4290))
    );
    let cancel = json!({ "requestId": 0 });
    process
        .say(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }))
        .await;
    process.running.abort();

    let mut process = Process::start();
    process.say(wait(1)).await;
    process.say(wait(1)).await;
    let refused = process.hear(Revision::July2026).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1), &json!(-32600))
    );
    process.running.abort();
}
