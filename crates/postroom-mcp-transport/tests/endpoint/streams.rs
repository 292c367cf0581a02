//! Answers that take their time: progress, keep-alives, cancellation, subscriptions, ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use http::Response;
use http_body_util::BodyExt;
use postroom_mcp::{
    Call, Capabilities, End, Fault, Latch, Outcome, Registry, Revision, ServerInfo, ToolResult,
    Visitor,
};
use postroom_mcp_transport::Gate;
use postroom_testkit::conformance::{KeyGate, Visiting};
use postroom_types::limit::{STREAM_LIFE_MS, STREAMS_PER_KEY};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::world::{Ask, MODERN, NOVEMBER, World, events, validate};

/// A stream that is read piece by piece.
struct Stream(Body);

impl Stream {
    async fn open(world: &World, ask: Ask) -> Self {
        let response = world.open_answer(ask).await;
        Self::of(response)
    }

    fn of(response: Response<Body>) -> Self {
        assert_eq!(response.status(), 200);
        let headers = response.headers();
        assert_eq!(headers["content-type"], "text/event-stream; charset=utf-8");
        assert_eq!(headers["cache-control"], "no-store");
        assert_eq!(headers["x-accel-buffering"], "no");
        Self(response.into_body())
    }

    /// The next piece as text; `None` at the end.
    async fn piece(&mut self) -> Option<String> {
        let frame = self.0.frame().await?.unwrap();
        Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
    }

    /// The next message, validated.
    async fn message(&mut self, revision: Revision) -> Option<Value> {
        loop {
            let piece = self.piece().await?;
            if let Some(message) = events(&piece).pop() {
                validate(revision, &message);
                return Some(message);
            }
        }
    }
}

fn listen(filter: Value) -> Ask {
    Ask::modern("subscriptions/listen", json!({ "notifications": filter }))
}

fn call(name: &str) -> Ask {
    Ask::modern("tools/call", json!({ "name": name }))
}

#[tokio::test(start_paused = true)]
async fn progress_strictly_increases_and_ends_with_the_reply() {
    let world = World::open();
    let meta = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p" } });
    for ask in [
        Ask::modern("tools/call", meta.clone()),
        Ask::legacy(NOVEMBER, "tools/call", meta.clone()),
    ] {
        let answer = world.ask(ask).await;
        assert!(answer.streamed);
        let progress: Vec<_> = answer
            .messages
            .iter()
            .filter_map(|message| {
                assert!(
                    message["params"]["progressToken"] == "p" || message.get("result").is_some()
                );
                message["params"]["progress"].as_f64()
            })
            .collect();
        assert_eq!(progress, [0.0, 50.0, 100.0]);
        assert!(answer.result()["content"].is_array());
    }
    let plain = world.ask(call("test_tool_with_progress")).await;
    assert!(!plain.streamed, "nothing is said without a token");
    let deaf = Ask::modern("tools/call", meta).with("accept", "application/json");
    let deaf = world.ask(deaf).await;
    assert!(!deaf.streamed && deaf.messages.len() == 1);
}

#[tokio::test]
async fn json_is_served_to_whoever_does_not_name_events() {
    let world = World::open();
    for accept in ["application/json", "*/*", "text/html", "text/*"] {
        let answer = world
            .ask(call("test_simple_text").with("accept", accept))
            .await;
        assert!(!answer.streamed && answer.status == 200, "{accept}");
    }
    let answer = world.ask(call("test_simple_text").without("accept")).await;
    assert!(!answer.streamed && answer.status == 200);
    let refused = world
        .ask(listen(json!({})).with("accept", "application/json"))
        .await;
    assert_eq!((refused.status.as_u16(), refused.code()), (406, Some(4060)));
}

#[tokio::test(start_paused = true)]
async fn messages_are_logged_only_for_those_who_asked() {
    let world = World::open();
    let level = |level: &str| {
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        let params = json!({ "name": "test_tool_with_logging", "_meta": meta });
        Ask::modern("tools/call", params)
    };
    assert_eq!(world.ask(level("info")).await.messages.len(), 4);
    assert_eq!(world.ask(level("error")).await.messages.len(), 1);
    assert_eq!(
        world
            .ask(call("test_tool_with_logging"))
            .await
            .messages
            .len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn silence_is_kept_alive_every_ten_seconds() {
    let world = World::open();
    let wait = json!({ "name": "test_wait", "arguments": { "ms": 35_000 } });
    let start = tokio::time::Instant::now();
    let mut stream = Stream::open(&world, Ask::modern("tools/call", wait)).await;
    let mut comments = 0;
    let reply = loop {
        let piece = stream.piece().await.unwrap();
        if piece == ": keep-alive\n\n" {
            comments += 1;
        } else {
            break piece;
        }
    };
    assert!(reply.contains("Waited."), "{reply}");
    assert_eq!(comments, 3);
    assert_eq!(start.elapsed().as_secs(), 35);
    assert!(
        stream.piece().await.is_none(),
        "the reply is the last event"
    );
}

/// Tells how a call was ended.
struct Probe {
    info: ServerInfo,
    began: Latch<()>,
    ended: Latch<End>,
    finish: Latch<()>,
    finished: Latch<()>,
}

/// Shares a probe with the endpoint.
#[derive(Clone)]
struct Shared(Arc<Probe>);

impl Shared {
    fn new() -> Self {
        Self(Arc::new(Probe {
            info: ServerInfo {
                name: "probe".into(),
                title: None,
                version: "1".into(),
            },
            began: Latch::default(),
            ended: Latch::default(),
            finish: Latch::default(),
            finished: Latch::default(),
        }))
    }
}

impl Registry for Shared {
    type Caller = Visiting;

    fn server_info(&self) -> &ServerInfo {
        &self.0.info
    }

    fn capabilities(&self, _revision: Revision) -> Capabilities {
        Capabilities {
            tools: Some(false),
            ..Capabilities::default()
        }
    }

    fn principal<'a>(&self, caller: &'a Visiting) -> &'a str {
        &caller.0
    }

    fn list_tools<'a>(&'a self, _visitor: &Visitor<Visiting>) -> Vec<&'a RawValue> {
        Vec::new()
    }

    async fn call_tool(
        &self,
        call: &Call<Visiting>,
        _name: &str,
        _arguments: &RawValue,
    ) -> Result<Outcome<ToolResult>, Fault> {
        self.0.began.set(());
        tokio::select! {
            end = call.ended() => { self.0.ended.set(end); }
            () = self.0.finish.wait() => {}
        }
        self.0.finished.set(());
        Ok(ToolResult::text("done").into())
    }
}

#[tokio::test]
async fn a_modern_client_that_leaves_has_cancelled() {
    let probe = Shared::new();
    let world = Arc::new(World::serving(probe.clone(), KeyGate::new(None)));
    let asking = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.open_answer(call("any")).await }
    });
    probe.0.began.wait().await;
    asking.abort();
    assert_eq!(probe.0.ended.wait().await, End::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_modern_client_that_closes_the_stream_has_cancelled() {
    let probe = Shared::new();
    let world = World::serving(probe.clone(), KeyGate::new(None));
    let stream = Stream::open(&world, call("any")).await;
    drop(stream);
    assert_eq!(probe.0.ended.wait().await, End::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_that_leaves_has_not_cancelled() {
    let probe = Shared::new();
    let world = World::serving(probe.clone(), KeyGate::new(None));
    let ask = Ask::legacy(NOVEMBER, "tools/call", json!({ "name": "any" }));
    let stream = Stream::open(&world, ask).await;
    drop(stream);
    tokio::task::yield_now().await;
    assert_eq!(probe.0.ended.value(), None);
    probe.0.finish.set(());
    probe.0.finished.wait().await;
    assert_eq!(probe.0.ended.value(), None);
}

#[tokio::test]
async fn subscriptions_acknowledge_what_they_serve_and_serve_nothing_else() {
    let world = World::open();
    let filter = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["test://watched-resource", "test://nothing"],
    });
    let mut stream = Stream::open(&world, listen(filter)).await;
    let first = stream.message(Revision::July2026).await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let served = json!({
        "toolsListChanged": true, "resourceSubscriptions": ["test://watched-resource"],
    });
    assert_eq!(first["params"]["notifications"], served);

    for tool in [
        "test_trigger_prompt_change",
        "test_trigger_resource_change",
        "test_trigger_tool_change",
    ] {
        world.ask(call(tool)).await;
    }
    let second = stream.message(Revision::July2026).await.unwrap();
    assert_eq!(second["params"]["uri"], "test://watched-resource");
    let third = stream.message(Revision::July2026).await.unwrap();
    assert_eq!(third["method"], "notifications/tools/list_changed");
    for message in [&first, &second, &third] {
        assert_eq!(
            message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            7
        );
    }

    world.shutdown.cancel();
    let last = stream.message(Revision::July2026).await.unwrap();
    assert_eq!(last["id"], 7);
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(
        last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        7
    );
    assert!(stream.piece().await.is_none());
}

#[tokio::test]
async fn a_filter_that_is_none_is_refused() {
    let world = World::open();
    for params in [
        json!({}),
        json!({ "notifications": 5 }),
        json!({ "notifications": { "resourceSubscriptions": 1 } }),
    ] {
        let answer = world.ask(Ask::modern("subscriptions/listen", params)).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (200, Some(-32602)));
    }
}

#[tokio::test]
async fn a_principal_opens_its_streams_and_not_one_more() {
    let world = World::open();
    let mut open = Vec::new();
    for _ in 0..STREAMS_PER_KEY {
        open.push(Stream::open(&world, listen(json!({ "toolsListChanged": true }))).await);
    }
    for ask in [listen(json!({})), call("test_wait")] {
        let refused = world.ask(ask).await;
        assert_eq!((refused.status.as_u16(), refused.code()), (429, Some(4290)));
        assert!(refused.headers.contains_key("retry-after"));
        assert_eq!(refused.message()["id"], 7);
    }
    assert_eq!(
        world.ask(call("test_simple_text")).await.status,
        200,
        "short calls go on"
    );
    drop(open);
    while world.streams.count() > 0 {
        tokio::task::yield_now().await;
    }
    Stream::open(&world, listen(json!({}))).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_lives_an_hour() {
    let world = World::open();
    let start = tokio::time::Instant::now();
    let mut stream = Stream::open(&world, listen(json!({ "toolsListChanged": true }))).await;
    stream.message(Revision::July2026).await.unwrap();
    let last = stream.message(Revision::July2026).await.unwrap();
    assert!(last.get("result").is_some());
    let lived = start.elapsed();
    assert!(lived >= Duration::from_millis(STREAM_LIFE_MS));
    assert!(lived < Duration::from_millis(STREAM_LIFE_MS) + Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_when_its_key_no_longer_holds() {
    let gate = Arc::new(KeyGate::new(Some("k".to_owned())));
    let world = World::serving(
        postroom_testkit::conformance::Fixtures::default(),
        SharedGate(Arc::clone(&gate)),
    );
    let ask = || listen(json!({ "toolsListChanged": true })).with("authorization", "Bearer k");
    let mut stream = Stream::open(&world, ask()).await;
    stream.message(Revision::July2026).await.unwrap();
    gate.revoke();
    let start = tokio::time::Instant::now();
    let last = stream.message(Revision::July2026).await.unwrap();
    assert!(last.get("result").is_some());
    assert!(start.elapsed() <= Duration::from_secs(10));
    let refused = world.ask(ask()).await;
    assert_eq!(
        refused.message()["error"]["data"]["error"]["code"],
        "key_revoked"
    );
}

struct SharedGate(Arc<KeyGate>);

impl Gate for SharedGate {
    type Caller = Visiting;

    async fn admit(
        &self,
        credential: Option<&str>,
    ) -> Result<Visiting, postroom_mcp_transport::Denial> {
        self.0.admit(credential).await
    }

    async fn still_holds(&self, caller: &Visiting) -> bool {
        self.0.still_holds(caller).await
    }

    fn request_id(&self) -> String {
        self.0.request_id()
    }
}

/// Admits any credential under its own name.
struct AnyName(Mutex<u32>);

impl Gate for AnyName {
    type Caller = Visiting;

    async fn admit(
        &self,
        credential: Option<&str>,
    ) -> Result<Visiting, postroom_mcp_transport::Denial> {
        Ok(Visiting(credential.unwrap_or_default().to_owned()))
    }

    fn request_id(&self) -> String {
        let mut number = self.0.lock().unwrap();
        *number += 1;
        format!("req_{number}")
    }
}

#[tokio::test]
async fn a_legacy_client_is_asked_on_its_stream_and_only_its_key_can_answer() {
    let fixtures = postroom_testkit::conformance::Fixtures::default();
    let world = World::serving(fixtures, AnyName(Mutex::new(0)));
    let params = json!({ "name": "test_sampling", "arguments": { "prompt": "What?" } });
    let ask = Ask::legacy(NOVEMBER, "tools/call", params).with("authorization", "Bearer anna");
    let mut stream = Stream::open(&world, ask).await;
    let question = stream.message(Revision::November2025).await.unwrap();
    assert_eq!(question["method"], "sampling/createMessage");
    let id = question["id"].as_str().unwrap();
    assert!(id.len() >= 32, "128 bits nobody can guess");

    let answer = |text: &str, key: &str| {
        let content = json!({ "type": "text", "text": text });
        let result = json!({ "role": "assistant", "content": content, "model": "m" });
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        Ask::post(body)
            .with("mcp-protocol-version", NOVEMBER)
            .with("authorization", &format!("Bearer {key}"))
    };
    assert_eq!(world.ask(answer("forged", "mallory")).await.status, 202);
    assert_eq!(world.ask(answer("true", "anna")).await.status, 202);
    let reply = stream.message(Revision::November2025).await.unwrap();
    assert_eq!(reply["result"]["content"][0]["text"], "LLM response: true");
}

#[tokio::test]
async fn who_cannot_be_asked_is_told_so() {
    let world = World::open();
    let params = json!({ "name": "test_sampling", "arguments": { "prompt": "What?" } });
    let deaf =
        Ask::legacy(NOVEMBER, "tools/call", params.clone()).with("accept", "application/json");
    assert_eq!(world.ask(deaf).await.result()["isError"], true);
    let modern = Ask::modern("tools/call", params);
    assert_eq!(world.ask(modern).await.result()["isError"], true);
    assert_eq!(MODERN, Revision::July2026.as_str());
}
