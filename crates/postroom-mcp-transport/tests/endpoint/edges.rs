//! The error table: one row per edge.

use http::Method;
use postroom_mcp::Revision;
use postroom_testkit::conformance::KeyGate;
use postroom_types::limit::REQUEST_BODY_BYTES;
use serde_json::{Value, json};

use crate::world::{Ask, JUNE, MODERN, NOVEMBER, World};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Asks and compares status and code (0 for a result).
async fn check(world: &World, claim: &str, ask: Ask, status: u16, code: i64) -> Value {
    let answer = world.ask(ask).await;
    assert_eq!(answer.status, status, "{claim}: {answer:?}");
    assert_eq!(answer.code().unwrap_or(0), code, "{claim}: {answer:?}");
    if status != 202 && status != 204 {
        assert!(!answer.streamed, "{claim}");
        assert_eq!(
            answer.headers["content-type"], "application/json",
            "{claim}"
        );
        assert_eq!(answer.headers["cache-control"], "no-store", "{claim}");
    }
    answer.messages.last().cloned().unwrap_or_default()
}

fn raw(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

#[tokio::test]
async fn what_is_no_message_is_refused_without_an_id() {
    let world = World::open();
    let huge_id = r#"{"jsonrpc":"2.0","id":92233720368547758080,"method":"ping"}"#;
    let invalid: &[(&str, &[u8], i64)] = &[
        ("malformed", b"{\"jsonrpc\":", -32700),
        ("empty", b"", -32700),
        ("not UTF-8", b"{\"jsonrpc\":\"\xff\"}", -32700),
        ("trailing", b"{} {}", -32700),
        (
            "batch",
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
        ),
        ("empty batch", b"[]", -32600),
        ("no object", b"5", -32600),
        ("no jsonrpc", b"{\"id\":1,\"method\":\"ping\"}", -32600),
        (
            "old jsonrpc",
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
        ),
        (
            "id null",
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
            -32600,
        ),
        (
            "id fraction",
            b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
            -32600,
        ),
        (
            "id object",
            b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
            -32600,
        ),
        ("id too large", huge_id.as_bytes(), -32600),
        (
            "id twice",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
            -32600,
        ),
    ];
    for (claim, body, code) in invalid {
        let message = check(&world, claim, Ask::post(*body), 400, *code).await;
        assert!(message.get("id").is_none(), "{claim}: {message}");
    }
}

#[tokio::test]
async fn what_is_almost_a_request_is_refused_with_its_id() {
    let world = World::open();
    for (claim, body) in [
        ("no method", r#"{"jsonrpc":"2.0","id":1}"#),
        (
            "method is a number",
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        ),
        (
            "params is a list",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
        ),
        (
            "request and response",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        ),
    ] {
        let message = check(&world, claim, Ask::post(body), 400, -32600).await;
        assert_eq!(message["id"], 1, "{claim}");
    }
}

#[tokio::test]
async fn only_post_of_json_comes_in() {
    let world = World::open();
    let ping = || Ask::legacy(NOVEMBER, "ping", json!({}));
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH] {
        let answer = world.ask(ping().method(method.clone())).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code()),
            (405, Some(4050)),
            "{method}"
        );
        assert_eq!(answer.headers["allow"], "POST");
    }
    let answer = world.ask(ping().method(Method::OPTIONS)).await;
    assert_eq!(answer.status, 204);
    assert!(
        answer
            .headers
            .keys()
            .all(|name| !name.as_str().starts_with("access-control"))
    );

    for media in [
        "text/plain",
        "application/json-patch+json",
        "multipart/form-data",
    ] {
        check(
            &world,
            media,
            ping().with("content-type", media),
            415,
            -32600,
        )
        .await;
    }
    check(
        &world,
        "no type",
        ping().without("content-type"),
        415,
        -32600,
    )
    .await;
    let media = "Application/JSON; charset=utf-8";
    check(&world, media, ping().with("content-type", media), 200, 0).await;
}

#[tokio::test]
async fn hosts_and_origins_must_be_our_own() {
    let world = World::open();
    let ping = || Ask::legacy(NOVEMBER, "ping", json!({}));
    for (host, origin, status) in [
        ("127.0.0.1:8025", "http://127.0.0.1:8025", 200),
        ("localhost:8025", "http://localhost:8025", 200),
        ("[::1]:8025", "http://[::1]:8025", 200),
        ("mail.example", "https://mail.example", 200),
        ("mail.example", "https://mail.example:443", 200),
        ("127.0.0.1:8025", "http://127.0.0.1:3000", 403),
        ("127.0.0.1:8025", "http://evil.example", 403),
        ("127.0.0.1:8025", "null", 403),
        ("evil.example", "http://evil.example", 403),
        ("mail.example.evil.example", "http://mail.example", 403),
    ] {
        let code = if status == 403 { 4030 } else { 0 };
        let ask = ping().with("host", host).with("origin", origin);
        let message = check(&world, &format!("{host} {origin}"), ask, status, code).await;
        assert_eq!(message.get("id").is_none(), status == 403);
    }
    check(
        &world,
        "foreign host",
        ping().with("host", "evil.example"),
        403,
        4030,
    )
    .await;
}

#[tokio::test]
async fn a_body_at_the_limit_comes_in_and_one_past_it_does_not() {
    let world = World::open();
    let padded = |size: usize| {
        let mut body = raw("ping", "{}").into_bytes();
        body.resize(size, b' ');
        Ask::post(body).with("mcp-protocol-version", NOVEMBER)
    };
    check(&world, "at the limit", padded(REQUEST_BODY_BYTES), 200, 0).await;
    let message = check(&world, "past it", padded(REQUEST_BODY_BYTES + 1), 413, 4130).await;
    assert_eq!(
        message["error"]["data"]["error"]["code"],
        "payload_too_large"
    );
    let announced = Ask::post("{}").with("content-length", "999999999999");
    check(&world, "announced", announced, 413, 4130).await;
}

#[tokio::test]
async fn a_key_is_asked_for_with_a_challenge_and_the_id_is_echoed() {
    let gate = KeyGate::new(Some("prk_test_k".to_owned()));
    let world = World::with_gate(gate);
    let ping = || Ask::legacy(NOVEMBER, "ping", json!({}));
    for credential in [
        None,
        Some("Bearer wrong"),
        Some("Basic prk_test_k"),
        Some("prk_test_k"),
    ] {
        let ask = match credential {
            Some(credential) => ping().with("authorization", credential),
            None => ping(),
        };
        let answer = world.ask(ask).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (401, Some(4010)));
        assert_eq!(answer.message()["id"], "a");
        let envelope = &answer.message()["error"]["data"]["error"];
        assert_eq!(envelope["code"], "unauthenticated");
        assert!(envelope["fix"].is_string() && envelope["request_id"].is_string());
        let challenge = answer.headers["www-authenticate"].to_str().unwrap();
        assert!(
            challenge.starts_with("Bearer realm=\"postroom\""),
            "{challenge}"
        );
    }
    check(
        &world,
        "the key",
        ping().with("authorization", "bearer prk_test_k"),
        200,
        0,
    )
    .await;
}

#[tokio::test]
async fn a_key_past_its_limit_is_told_when_to_come_back() {
    let world = World::with_gate(KeyGate::new(None).with_budget(1));
    let ping = || Ask::legacy(JUNE, "ping", json!({}));
    check(&world, "the first", ping(), 200, 0).await;
    let answer = world.ask(ping()).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (429, Some(4290)));
    assert_eq!(answer.headers["retry-after"], "60");
    assert_eq!(
        answer.message()["error"]["data"]["error"]["code"],
        "rate_limited"
    );
}

#[tokio::test]
async fn eras_are_told_apart_by_the_rule() {
    let world = World::open();
    let plain = |method: &str| Ask::post(raw(method, "{}"));
    let meta = |version: Value| {
        let meta = json!({ "_meta": { VERSION: version, CAPABILITIES: {} } });
        Ask::post(raw("tools/list", &meta.to_string())).with("mcp-method", "tools/list")
    };
    let initialize = |version: &str| {
        raw(
            "initialize",
            &json!({ "protocolVersion": version, "capabilities": {} }).to_string(),
        )
    };
    let modern_initialize = json!({ "_meta": { VERSION: MODERN, CAPABILITIES: {} } }).to_string();
    let modern_initialize = Ask::post(raw("initialize", &modern_initialize))
        .with("mcp-protocol-version", MODERN)
        .with("mcp-method", "initialize");
    let rows = [
        ("no version at all", plain("tools/list"), 400, -32022),
        (
            "an older header",
            plain("tools/list").with("mcp-protocol-version", "2024-11-05"),
            400,
            -32022,
        ),
        (
            "an unknown header",
            plain("tools/list").with("mcp-protocol-version", "v9"),
            400,
            -32022,
        ),
        (
            "a modern header alone",
            plain("tools/list").with("mcp-protocol-version", MODERN),
            400,
            -32602,
        ),
        ("discover alone", plain("server/discover"), 400, -32602),
        (
            "legacy in _meta",
            meta(json!(NOVEMBER)).with("mcp-protocol-version", NOVEMBER),
            400,
            -32022,
        ),
        (
            "unknown in _meta",
            meta(json!("v9")).with("mcp-protocol-version", "v9"),
            400,
            -32022,
        ),
        (
            "header and _meta differ",
            meta(json!("v9")).with("mcp-protocol-version", MODERN),
            400,
            -32020,
        ),
        ("header missing", meta(json!(MODERN)), 400, -32020),
        (
            "version is a number",
            meta(json!(5)).with("mcp-protocol-version", MODERN),
            400,
            -32602,
        ),
        (
            "modern initialize",
            modern_initialize.validating(Revision::July2026),
            404,
            -32601,
        ),
        (
            "initialize without version",
            Ask::post(raw("initialize", "{}")),
            400,
            -32022,
        ),
    ];
    for (claim, ask, status, code) in rows {
        let message = check(&world, claim, ask, status, code).await;
        assert_eq!(message["id"], 1, "{claim}");
        if code == -32022 {
            let data = &message["error"]["data"];
            assert_eq!(
                data["supported"],
                json!([MODERN, NOVEMBER, JUNE]),
                "{claim}"
            );
            assert!(data["requested"].is_string(), "{claim}");
        }
    }
    for (asked, agreed) in [
        (JUNE, JUNE),
        (NOVEMBER, NOVEMBER),
        ("2024-11-05", NOVEMBER),
        (MODERN, NOVEMBER),
    ] {
        let answer = world.ask(Ask::post(initialize(asked))).await;
        assert_eq!(answer.result()["protocolVersion"], agreed, "{asked}");
        assert!(answer.headers.get("mcp-session-id").is_none());
    }
}

#[tokio::test]
async fn the_modern_envelope_must_be_whole() {
    let world = World::open();
    let with = |capabilities: Value| Ask::modern_with("tools/list", json!({}), capabilities);
    check(&world, "an object", with(json!({ "sampling": {} })), 200, 0).await;
    check(&world, "a list", with(json!([])), 400, -32602).await;
    check(&world, "null", with(Value::Null), 400, -32602).await;
    let meta = json!({ "_meta": { "progressToken": 1.5 } });
    check(
        &world,
        "a token that is no integer",
        Ask::modern("tools/list", meta),
        400,
        -32602,
    )
    .await;
    let meta = json!({ "_meta": { "io.modelcontextprotocol/logLevel": "loud" } });
    check(
        &world,
        "no such level",
        Ask::modern("tools/list", meta),
        400,
        -32602,
    )
    .await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":5}}"#;
    let ask = Ask::post(body).with("mcp-protocol-version", MODERN);
    check(&world, "_meta is a number", ask, 400, -32602).await;
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let world = World::open();
    let call = || Ask::modern("tools/call", json!({ "name": "test_simple_text" }));
    let read = || Ask::modern("resources/read", json!({ "uri": "test://static-text" }));
    let encoded = "=?base64?dGVzdF9zaW1wbGVfdGV4dA==?=";
    let rows = [
        ("as it should be", call(), 0),
        (
            "blanks around",
            call().with("mcp-name", "\t test_simple_text "),
            0,
        ),
        ("encoded", call().with("mcp-name", encoded), 0),
        ("no method", call().without("mcp-method"), -32020),
        (
            "another method",
            call().with("mcp-method", "tools/list"),
            -32020,
        ),
        (
            "another case",
            call().with("mcp-method", "TOOLS/CALL"),
            -32020,
        ),
        (
            "method twice",
            call().and("mcp-method", b"tools/call"),
            -32020,
        ),
        ("no name", call().without("mcp-name"), -32020),
        ("another name", call().with("mcp-name", "test_wait"), -32020),
        (
            "bad base64",
            call().with("mcp-name", "=?base64?dGVzdA?="),
            -32020,
        ),
        (
            "another marker",
            call().with("mcp-name", "=?BASE64?dGVzdF9zaW1wbGVfdGV4dA==?="),
            -32020,
        ),
        (
            "bytes past ASCII",
            call().without("mcp-name").and("mcp-name", b"\xe4"),
            -32020,
        ),
        (
            "version twice",
            call().and("mcp-protocol-version", MODERN.as_bytes()),
            -32020,
        ),
        ("no uri", read().without("mcp-name"), -32020),
        (
            "another uri",
            read().with("mcp-name", "test://other"),
            -32020,
        ),
        ("unknown Mcp-Param", call().with("mcp-param-x", "1"), 0),
    ];
    for (claim, ask, code) in rows {
        let status = if code == 0 { 200 } else { 400 };
        check(&world, claim, ask, status, code).await;
    }
}

#[tokio::test]
async fn arguments_that_are_also_headers_must_agree() {
    let world = World::open();
    let call = |arguments: Value| {
        let params = json!({ "name": "test_custom_header", "arguments": arguments });
        Ask::modern("tools/call", params)
    };
    let both = || call(json!({ "region": "eu", "priority": 5 })).with("mcp-param-region", "eu");
    let rows = [
        ("agreeing", both().with("mcp-param-priority", "5"), 0),
        (
            "a number written otherwise",
            both().with("mcp-param-priority", "5.0"),
            0,
        ),
        (
            "another number",
            both().with("mcp-param-priority", "6"),
            -32020,
        ),
        ("missing", both(), -32020),
        ("neither", call(json!({})), 0),
        ("null is absent", call(json!({ "region": null })), 0),
        (
            "in the header only",
            call(json!({})).with("mcp-param-region", "eu"),
            -32020,
        ),
    ];
    for (claim, ask, code) in rows {
        let status = if code == 0 { 200 } else { 400 };
        check(&world, claim, ask, status, code).await;
    }
}

#[tokio::test]
async fn methods_belong_to_eras() {
    let world = World::open();
    for method in [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "nonsense",
    ] {
        check(&world, method, Ask::modern(method, json!({})), 404, -32601).await;
    }
    for version in [JUNE, NOVEMBER] {
        for method in ["server/discover", "subscriptions/listen", "nonsense"] {
            check(
                &world,
                method,
                Ask::legacy(version, method, json!({})),
                200,
                -32601,
            )
            .await;
        }
        check(
            &world,
            "ping",
            Ask::legacy(version, "ping", json!({})),
            200,
            0,
        )
        .await;
        let level =
            |level: &str| Ask::legacy(version, "logging/setLevel", json!({ "level": level }));
        check(&world, "a level", level("warning"), 200, 0).await;
        check(&world, "no level", level("loud"), 200, -32602).await;
    }
}

#[tokio::test]
async fn parameters_are_refused_alike_in_every_era() {
    let world = World::open();
    let uri = json!({ "uri": "test://nothing" });
    let missing = Ask::modern("resources/read", uri.clone());
    check(&world, "no resource, modern", missing, 200, -32602).await;
    check(
        &world,
        "no resource, legacy",
        Ask::legacy(JUNE, "resources/read", uri),
        200,
        -32002,
    )
    .await;
    let rows = [
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 5 })),
        (
            "tools/call",
            json!({ "name": "test_simple_text", "arguments": "text" }),
        ),
        (
            "tools/call",
            json!({ "name": "test_simple_text", "arguments": [] }),
        ),
        (
            "tools/call",
            json!({ "name": "no_such_tool", "arguments": {} }),
        ),
        ("prompts/get", json!({ "name": "no_such_prompt" })),
        (
            "prompts/get",
            json!({ "name": "test_prompt_with_arguments" }),
        ),
        (
            "prompts/get",
            json!({ "name": "test_simple_prompt", "arguments": { "a": 1 } }),
        ),
        ("resources/read", json!({})),
        ("completion/complete", json!({})),
        ("tools/list", json!({ "cursor": "x" })),
        ("resources/list", json!({ "cursor": 5 })),
    ];
    for (method, params) in rows {
        let claim = format!("{method} {params}");
        check(
            &world,
            &claim,
            Ask::modern(method, params.clone()),
            200,
            -32602,
        )
        .await;
        check(
            &world,
            &claim,
            Ask::legacy(NOVEMBER, method, params),
            200,
            -32602,
        )
        .await;
    }
    let unknown = Ask::legacy(JUNE, "tools/call", json!({ "name": "no_such_tool" }));
    let message = check(&world, "unknown tool", unknown, 200, -32602).await;
    assert_eq!(message["error"]["message"], "Unknown tool: no_such_tool");
}

#[tokio::test]
async fn notifications_and_late_answers_are_taken_in_silence() {
    let world = World::open();
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","id":"never asked","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}"#,
    ] {
        let answer = world
            .ask(Ask::post(body).with("mcp-protocol-version", NOVEMBER))
            .await;
        assert_eq!(answer.status, 202, "{body}");
        assert!(answer.messages.is_empty());
    }
    let answer = Ask::post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let answer = answer.with("mcp-protocol-version", MODERN);
    check(&world, "modern clients answer nothing", answer, 400, -32600).await;
}

#[tokio::test]
async fn toolsets_are_chosen_by_the_address() {
    let world = World::open();
    let list = || Ask::modern("tools/list", json!({}));
    let chosen = check(&world, "known", list().query("tools=simple"), 200, 0).await;
    assert_eq!(chosen["result"]["tools"].as_array().unwrap().len(), 1);
    let chosen = check(
        &world,
        "encoded",
        list().query("a=b&tools=simple%2Csimple"),
        200,
        0,
    )
    .await;
    assert_eq!(chosen["result"]["tools"].as_array().unwrap().len(), 1);
    let all = check(&world, "empty", list().query("tools="), 200, 0).await;
    assert!(all["result"]["tools"].as_array().unwrap().len() > 1);
    let refused = check(
        &world,
        "unknown",
        list().query("tools=simple,nonsense"),
        400,
        -32600,
    )
    .await;
    assert_eq!(
        refused["error"]["message"],
        "Unknown toolset in ?tools=: nonsense"
    );
}

#[tokio::test]
async fn a_fault_stays_inside_its_call() {
    let world = World::open();
    let call = Ask::modern("tools/call", json!({ "name": "test_panic" }));
    let message = check(&world, "a panic", call, 500, -32603).await;
    assert!(message["error"]["data"]["request_id"].is_string());
    check(
        &world,
        "the next",
        Ask::legacy(JUNE, "ping", json!({})),
        200,
        0,
    )
    .await;
}

#[tokio::test]
async fn a_missing_capability_is_named() {
    let world = World::open();
    let params = json!({ "name": "test_missing_capability" });
    let call = Ask::modern("tools/call", params.clone());
    let message = check(&world, "undeclared", call, 400, -32021).await;
    assert_eq!(
        message["error"]["data"],
        json!({ "requiredCapabilities": { "sampling": {} } })
    );
    let call = Ask::modern_with("tools/call", params, json!({ "sampling": {} }));
    check(&world, "declared", call, 200, 0).await;
}
