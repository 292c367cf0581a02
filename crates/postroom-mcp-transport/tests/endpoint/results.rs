//! What results carry in each era.

use serde_json::{Value, json};

use crate::world::{Ask, JUNE, NOVEMBER, World};

/// Every method with a result, its parameters, and how long a modern client may keep it.
fn methods() -> Vec<(&'static str, Value, Option<u64>)> {
    let argument = json!({ "name": "arg1", "value": "te" });
    let reference = json!({ "type": "ref/prompt", "name": "test_prompt_with_arguments" });
    vec![
        ("tools/list", json!({}), Some(300_000)),
        (
            "tools/call",
            json!({ "name": "test_multiple_content_types" }),
            None,
        ),
        (
            "tools/call",
            json!({ "name": "test_error_handling", "arguments": {} }),
            None,
        ),
        (
            "tools/call",
            json!({ "name": "test_structured", "arguments": { "a": [1] } }),
            None,
        ),
        ("tools/call", json!({ "name": "test_audio_content" }), None),
        ("prompts/list", json!({}), Some(300_000)),
        (
            "prompts/get",
            json!({ "name": "test_prompt_with_image" }),
            None,
        ),
        ("resources/list", json!({}), Some(300_000)),
        ("resources/templates/list", json!({}), Some(300_000)),
        (
            "resources/read",
            json!({ "uri": "test://static-binary" }),
            Some(0),
        ),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": argument }),
            None,
        ),
    ]
}

#[tokio::test]
async fn modern_results_name_their_server_their_type_and_their_life() {
    let world = World::open();
    let discover = [("server/discover", json!({}), Some(3_600_000))];
    for (method, params, life) in methods().into_iter().chain(discover) {
        let answer = world.ask(Ask::modern(method, params)).await;
        let result = answer.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "postroom-conformance", "{method}");
        assert_eq!(
            result.get("ttlMs").and_then(Value::as_u64),
            life,
            "{method}"
        );
        let scope = life.map(|_| {
            if method == "server/discover" {
                "public"
            } else {
                "private"
            }
        });
        assert_eq!(
            result.get("cacheScope").and_then(Value::as_str),
            scope,
            "{method}"
        );
        assert_eq!(answer.message()["id"], 7);
    }
}

#[tokio::test]
async fn legacy_results_carry_nothing_of_the_modern_era() {
    let world = World::open();
    for version in [JUNE, NOVEMBER] {
        for (method, params, _) in methods() {
            let answer = world.ask(Ask::legacy(version, method, params)).await;
            for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
                assert!(answer.result().get(member).is_none(), "{method} {member}");
            }
            assert_eq!(answer.message()["id"], "a");
        }
    }
}

#[tokio::test]
async fn structured_results_are_repeated_as_text() {
    let world = World::open();
    let params = json!({ "name": "test_structured", "arguments": { "a": "\"\n" } });
    let answer = world.ask(Ask::modern("tools/call", params)).await;
    let result = answer.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap(),
        result["structuredContent"]
    );
    assert!(result.get("isError").is_none());
}

#[tokio::test]
async fn failed_tools_are_results_not_errors() {
    let world = World::open();
    let params = json!({ "name": "test_error_handling" });
    let answer = world.ask(Ask::legacy(NOVEMBER, "tools/call", params)).await;
    assert_eq!(answer.result()["isError"], true);
    assert!(answer.result().get("structuredContent").is_none());
}

#[tokio::test]
async fn input_is_asked_for_and_taken_in_rounds() {
    let world = World::open();
    let tool = |name: &str, more: Value| {
        let mut params = json!({ "name": name });
        for (member, value) in more.as_object().unwrap() {
            params[member] = value.clone();
        }
        Ask::modern("tools/call", params)
    };
    let name = "test_input_required_result_multi_round";
    let first = world.ask(tool(name, json!({}))).await;
    assert_eq!(first.result()["resultType"], "input_required");
    assert!(first.result().get("ttlMs").is_none());
    let answer =
        |key: &str, field: &str| json!({ key: { "action": "accept", "content": { field: "x" } } });
    let second = json!({
        "inputResponses": answer("step1", "name"), "requestState": first.result()["requestState"],
    });
    let second = world.ask(tool(name, second)).await;
    assert_eq!(second.result()["resultType"], "input_required");
    let third = json!({
        "inputResponses": answer("step2", "color"), "requestState": second.result()["requestState"],
    });
    let third = world.ask(tool(name, third)).await;
    assert_eq!(third.result()["resultType"], "complete");

    let forged = tool(name, json!({ "requestState": "2.0000000000000000" }));
    assert_eq!(world.ask(forged).await.code(), Some(-32602));
    let params = json!({ "name": name });
    let legacy = world.ask(Ask::legacy(NOVEMBER, "tools/call", params)).await;
    assert_eq!(legacy.code(), Some(-32603));
}
