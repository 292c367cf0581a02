//! The protocol over HTTP and standard input and output, over the operation table.

use std::io::Write as _;

use postroom_app::operation::TABLE;
use serde_json::{Map, Value, json};

use crate::served::{Served, on_both, on_both_told, postroom};

const META: &str = "io.modelcontextprotocol";

/// One modern request; gives status and the message.
pub(crate) async fn modern(
    served: &Served,
    key: &str,
    query: &str,
    method: &str,
    mut params: Value,
) -> (u16, Value) {
    params["_meta"] = json!({
        (format!("{META}/protocolVersion")): "2026-07-28",
        (format!("{META}/clientCapabilities")): {},
    });
    let mut request = served
        .http
        .post(format!("{}{query}", served.text("mcp_url")))
        .bearer_auth(key)
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = params
        .get("name")
        .or_else(|| params.get("uri"))
        .and_then(Value::as_str)
    {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = request
        .body(body.to_string())
        .send()
        .await
        .expect("an answer");
    let status = response.status().as_u16();
    let text = response.text().await.expect("a body");
    (
        status,
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

pub(crate) async fn call(served: &Served, key: &str, tool: &str, arguments: Value) -> Value {
    let (_, message) = modern(
        served,
        key,
        "?tools=mail,events,work,sources,compose,admin",
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
    .await;
    message
}

/// What the samples name: the first mailbox with a message of it.
struct Sample {
    identity: String,
    message: String,
    thread: String,
    attachment: (String, String),
}

impl Sample {
    async fn of(served: &Served) -> Self {
        let listed = call(served, served.key(), "mail_list_identities", json!({})).await;
        let hits = call(
            served,
            served.key(),
            "mail_search",
            json!({"q": "has:attachment voucher", "limit": 1}),
        )
        .await;
        let hit = &hits["result"]["structuredContent"]["hits"][0];
        let text = |value: &Value| {
            value
                .as_str()
                .unwrap_or_else(|| panic!("{hits}"))
                .to_owned()
        };
        let message = text(&hit["message_id"]);
        let read = call(
            served,
            served.key(),
            "mail_get_message",
            json!({"message_id": message}),
        )
        .await;
        let attachment = text(&read["result"]["structuredContent"]["attachments"][0]["id"]);
        Self {
            identity: text(&listed["result"]["structuredContent"]["data"][0]["id"]),
            thread: text(&hit["thread_id"]),
            attachment: (message.clone(), attachment),
            message,
        }
    }

    /// Arguments with which each tool answers; `None` for a tool that has no sample.
    fn arguments(&self, tool: &str) -> Option<Vec<Value>> {
        let mailbox = &self.identity;
        Some(match tool {
            "mail_list_identities" => vec![json!({}), json!({"limit": 1})],
            "mail_list_threads" => vec![
                json!({"identity": mailbox}),
                json!({"identity": mailbox, "limit": 50, "is_unread": true}),
            ],
            "mail_search" => vec![
                json!({"q": "deposit", "identity": mailbox, "limit": 25, "snippet_chars": 500}),
                json!({"q": "minibus", "scope": "tenant", "group_by": "thread"}),
                json!({"q": "nothing-that-is-there", "identity": mailbox, "mode": "keyword"}),
            ],
            "mail_get_thread" => {
                vec![json!({"identity": mailbox, "thread_id": self.thread, "include_quoted": true})]
            }
            "mail_get_message" => vec![
                json!({"identity": mailbox, "message_id": self.message, "include_headers": true, "include_quoted": true}),
            ],
            "mail_get_attachment_text" => {
                vec![
                    json!({"identity": mailbox, "message_id": self.attachment.0, "attachment_id": self.attachment.1}),
                ]
            }
            "mail_find_related" => vec![json!({"identity": mailbox, "message_id": self.message})],
            "mail_search_contacts" => vec![json!({"identity": mailbox, "q": "a"})],
            "mail_wait" => vec![json!({"identity": mailbox, "timeout_seconds": 1})],
            "describe_blocks" => vec![
                json!({}),
                json!({"names": ["button"], "verbosity": "examples"}),
            ],
            "check_ir" | "repair_ir" => {
                vec![
                    json!({"document": letter()}),
                    json!({"document": {"version": 2}}),
                ]
            }
            "compile_ir" => vec![
                json!({"document": letter(), "variables": "liquid"}),
                json!({"document": letter(), "target": "eml", "from": "a@example.com"}),
                json!({"document": {"version": 2}}),
            ],
            "lint_html" => vec![json!({"html": "<p>Hi", "clients": ["all"], "kind": "marketing"})],
            "patch_ir" => vec![
                json!({"document": letter(), "ops": [{"op": "set", "part": "meta", "set": {"subject": "Keys"}}]}),
                json!({"document": letter(), "ops": [{"op": "remove", "id": "nowhere"}]}),
            ],
            "diff_ir" => vec![json!({"before": letter(), "after": {"version": 2}})],
            "document_reference" => vec![json!({"topic": "rules"}), json!({"example": "welcome"})],
            "session_put" => vec![json!({"document": letter(), "name": "Keys"})],
            "session_list" => vec![json!({})],
            // Names a document that another sample saved; the tests of documents do.
            "session_get" => vec![],
            "send_test" => vec![json!({"identity": mailbox, "document": letter()})],
            "mail_get_usage"
            | "policy_get"
            | "suppression_list"
            | "list_entry_list"
            | "import_failure_list" => {
                vec![json!({})]
            }
            "mail_send" => vec![
                json!({
                    "identity": mailbox, "to": ["pia@outside.example", {"address": "ada@larkspur.example", "name": "Ada"}],
                    "bcc": ["claims@larkspur.example"], "subject": "Keys", "html": "<p>Where are <b>they</b>?</p>",
                    "attachments": [{"filename": "a.txt", "content_type": "text/plain", "content_base64": "aGk="}],
                    "headers": {"Importance": "high", "X-Ticket": "7"}, "metadata": {"ticket": "7"}, "labels": ["keys"],
                    "idempotency_key": "sample",
                }),
                json!({
                    "identity": mailbox, "to": ["pia@outside.example"], "subject": "Onward", "text": "More.",
                    "thread_id": self.thread, "idempotency_key": "sample in a thread",
                }),
            ],
            "mail_reply" => vec![
                json!({"identity": mailbox, "message_id": self.message, "text": "Yes.", "reply_all": true, "idempotency_key": "sample reply"}),
            ],
            "mail_forward" => vec![
                json!({"identity": mailbox, "message_id": self.message, "to": ["ada@larkspur.example"], "idempotency_key": "sample forward"}),
            ],
            "outbox_list" => vec![json!({}), json!({"state": "uncertain", "limit": 1})],
            "draft_create" => {
                vec![json!({"identity": mailbox, "kind": "send", "mail": {"subject": "Not yet"}})]
            }
            "draft_list" => vec![json!({"identity": mailbox})],
            "policy_update" => vec![
                json!({"max_recipients": 9, "ai_disclosure": {"mode": "footer"}}),
                json!({"reset": ["max_recipients", "ai_disclosure"]}),
            ],
            "suppression_add" | "suppression_remove" => {
                vec![json!({"address": "gone@outside.example"})]
            }
            "list_entry_add" | "list_entry_remove" => {
                vec![json!({"kind": "block", "entry": "@blocked.example"})]
            }
            // Each names a mail or draft of its own; the tests of sending do.
            "delivery_list" | "send_cancel" | "send_resolve" | "draft_get" | "draft_update"
            | "draft_delete" | "draft_send" => vec![],
            "mail_update_labels" => vec![
                json!({"identity": mailbox, "message_id": self.message, "labels_add": ["seen"], "read": true}),
            ],
            "thread_update" => vec![
                json!({"identity": mailbox, "thread_id": self.thread, "archived": true}),
                json!({"identity": mailbox, "thread_id": self.thread, "archived": false, "read": true}),
            ],
            "list_webhook_events" => vec![json!({}), json!({"limit": 200})],
            // A target needs the operator's allowance; the tests of webhooks have one.
            "replay_webhook_event" => vec![],
            "source_create" => vec![
                json!({"source_type": "github", "target_queue": "triage", "trusted_actors": {"logins": ["mia"]}}),
                json!({"source_type": "stripe", "target_queue": "money"}),
            ],
            "source_list" => vec![json!({})],
            // Each names a source; the tests of webhooks do.
            "source_rotate" | "source_delete" | "source_set_secret" | "source_set_rules"
            | "source_test_rules" | "source_update" => vec![],
            "get_webhook_event" => vec![json!({"id": 20})],
            "todo_list" => vec![
                json!({}),
                json!({"queue": "work", "state": "pending", "limit": 1}),
            ],
            "todo_claim_next" => vec![json!({}), json!({"queue": "nothing", "wait_seconds": 1})],
            "todo_create" => vec![json!({"queue": "work", "title": "Look", "payload": {"n": 1}})],
            "queue_list" => vec![json!({})],
            "queue_update" => vec![json!({"queue": "work", "paused": false})],
            "tenant_get" | "key_list" => vec![json!({})],
            "deployment_get" | "tenant_list" | "tenant_create" | "tenant_update"
            | "owner_link_create" => vec![],
            "identity_create" => vec![json!({"address": "new@larkspur.example"})],
            "identity_get" => vec![json!({"identity": mailbox})],
            "identity_update" => vec![json!({"identity": mailbox, "purpose": "bookings"})],
            "address_add" => {
                vec![json!({"identity": mailbox, "address": "second@larkspur.example"})]
            }
            "key_create" => {
                vec![json!({"name": "sample", "level": "identity", "identity": mailbox})]
            }
            // These name what another sample made.
            "address_retire" | "key_get" | "key_rotate" | "key_revoke" => vec![],
            // Each is a step of a life; the tests of todos walk through it.
            "todo_get" | "todo_claim" | "todo_heartbeat" | "todo_complete" | "todo_fail"
            | "todo_release" | "todo_retry" => vec![],
            _ => return None,
        })
    }
}

/// An e-mail document without a fault.
fn letter() -> Value {
    json!({
        "version": 2,
        "meta": {
            "subject": "Your keys",
            "preheader": "They wait for you at the desk until eight in the evening.",
            "lang": "en",
        },
        "root": {"type": "body", "children": [{"type": "section", "children": [
            {"type": "column", "children": [{"type": "text", "text": "Here they are."}]},
        ]}]},
    })
}

#[test]
fn every_tool_answers_what_its_output_schema_says() {
    on_both("demo", async |served| {
        let sample = Sample::of(&served).await;
        let (_, listed) = modern(
            &served,
            served.admin(),
            "?tools=mail,events,work,sources,compose,admin",
            "tools/list",
            json!({}),
        )
        .await;
        let tools = listed["result"]["tools"].as_array().expect("tools").clone();
        for tool in tools {
            let name = tool["name"].as_str().expect("a name");
            let arguments = sample
                .arguments(name)
                .unwrap_or_else(|| panic!("{name} has no sample"));
            let schema = jsonschema::validator_for(&tool["outputSchema"]).expect("a schema");
            for arguments in arguments {
                let answer = call(&served, served.admin(), name, arguments.clone()).await;
                let result = &answer["result"];
                assert_ne!(
                    result["isError"],
                    json!(true),
                    "{name} {arguments}: {answer}"
                );
                let content = &result["structuredContent"];
                let wrong: Vec<String> = schema
                    .iter_errors(content)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(wrong.is_empty(), "{name} {arguments}: {wrong:?}");
                let text = result["content"][0]["text"].as_str().expect("text");
                assert_eq!(
                    &serde_json::from_str::<Value>(text).expect("json"),
                    content,
                    "{name}"
                );
                assert!(
                    text.len() <= postroom_types::limit::TOOL_RESULT_BYTES,
                    "{name}: {}",
                    text.len()
                );
            }
        }
    });
}

#[test]
fn a_tool_that_the_key_may_not_use_is_one_that_does_not_exist() {
    on_both("serve", async |served| {
        let (_, listed) = modern(
            &served,
            served.key(),
            "?tools=mail,events,work,sources,compose,admin",
            "tools/list",
            json!({}),
        )
        .await;
        let names: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let in_table: Vec<&str> = TABLE
            .iter()
            .map(|row| row.name)
            .filter(|name| names.contains(name))
            .collect();
        assert_eq!(names, in_table, "the order of the table");
        assert!(names.contains(&"mail_search") && !names.contains(&"key_create"));
        for row in TABLE.iter().filter(|row| !names.contains(&row.name)) {
            let hidden = call(&served, served.key(), row.name, json!({})).await;
            let none = call(&served, served.key(), "no_such_tool", json!({})).await;
            assert_eq!(
                hidden.to_string().replace(row.name, "no_such_tool"),
                none.to_string()
            );
        }
        let (_, default) = modern(&served, served.admin(), "", "tools/list", json!({})).await;
        assert!(
            !default.to_string().contains("key_create"),
            "admin is listed when it is asked for only"
        );
    });
}

#[test]
fn resources_prompts_and_completion_answer_for_the_key() {
    on_both("demo", async |served| {
        for uri in [
            "postroom://events/recent",
            "switchboard://events/recent",
            "postroom://mail/bookings@larkspur.example",
        ] {
            let (_, read) = modern(
                &served,
                served.key(),
                "",
                "resources/read",
                json!({"uri": uri}),
            )
            .await;
            let text = read["result"]["contents"][0]["text"]
                .as_str()
                .unwrap_or_else(|| panic!("{uri}: {read}"));
            let read: Map<String, Value> = serde_json::from_str(text).expect("an object");
            if uri.ends_with("events/recent") {
                let names: Vec<&String> = read.keys().collect();
                assert_eq!(names, ["events"]);
            }
        }
        // Another mailbox of the tenant and one that is not there.
        let mut refusals = Vec::new();
        for uri in [
            "postroom://mail/claims@larkspur.example",
            "postroom://mail/nobody@larkspur.example",
        ] {
            let (status, refused) = modern(
                &served,
                served.key(),
                "",
                "resources/read",
                json!({"uri": uri}),
            )
            .await;
            refusals.push((status, refused.to_string().replace(uri, "")));
        }
        assert_eq!(refusals.first(), refusals.last());
        let reference = json!({"ref": {"type": "ref/resource", "uri": "postroom://mail/{identity}"}, "argument": {"name": "identity", "value": "cl"}});
        let (_, completed) = modern(
            &served,
            served.admin(),
            "",
            "completion/complete",
            reference,
        )
        .await;
        assert_eq!(
            completed["result"]["completion"]["values"],
            json!(["claims@larkspur.example"])
        );
        let prompt =
            json!({"name": "mail_search_strategy", "arguments": {"goal": "find the deposit"}});
        let (_, prompt) = modern(&served, served.key(), "", "prompts/get", prompt).await;
        assert!(
            prompt["result"]["messages"][0]["content"]["text"]
                .as_str()
                .is_some_and(|text| text.ends_with("find the deposit"))
        );
    });
}

#[test]
fn every_answer_of_the_protocol_has_its_id() {
    on_both("serve", async |served| {
        let ask = async |key: &str, body: String| {
            let request = served
                .http
                .post(served.text("mcp_url"))
                .bearer_auth(key)
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2025-11-25")
                .body(body);
            let response = request.send().await.expect("an answer");
            let id = response.headers().get("request-id").cloned();
            let id = id.expect("an id").to_str().expect("text").to_owned();
            (id, response.text().await.expect("a body"))
        };
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "mail_get_message", "arguments": {"message_id": "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV"}}});
        let (first, _) = ask(served.key(), hello.to_string()).await;
        let (second, refused) = ask(served.key(), call.to_string()).await;
        let (third, denied) = ask("prk_live_nobody", hello.to_string()).await;
        let (fourth, _) = ask(served.key(), "no JSON".to_owned()).await;
        for id in [&first, &second, &third, &fourth] {
            assert!(id.starts_with("req_"), "{id}");
        }
        assert_ne!(first, second);
        assert!(refused.contains(&second), "{second}: {refused}");
        assert!(denied.contains(&third), "{third}: {denied}");
    });
}

#[test]
fn a_subscription_hears_of_new_mail() {
    on_both("serve", async |served| {
        let uri = "postroom://mail/agent@localhost";
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": {
            "_meta": {(format!("{META}/protocolVersion")): "2026-07-28", (format!("{META}/clientCapabilities")): {}},
            "notifications": {"resourceSubscriptions": [uri, "postroom://mail/nobody@localhost"]},
        }});
        let mut stream = served
            .http
            .post(served.text("mcp_url"))
            .bearer_auth(served.key())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen")
            .body(body.to_string())
            .send()
            .await
            .expect("a stream");
        let mut heard = String::new();
        let mut sent = false;
        while let Some(chunk) = stream.chunk().await.expect("a chunk") {
            heard.push_str(&String::from_utf8_lossy(&chunk));
            if heard.contains("acknowledged") && !sent {
                assert!(heard.contains(uri) && !heard.contains("nobody"), "{heard}");
                sent = true;
                crate::mail::deliver(served.text("smtp"), "agent@localhost", "For the subscriber");
            }
            if heard.contains("resources/updated") {
                return;
            }
        }
        panic!("the stream ended: {heard}");
    });
}

/// Lines into `postroom mcp`, messages by id out of it.
fn spoken(served: &Served, words: &[&str], lines: &[Value]) -> Vec<Value> {
    let mut command = postroom(served.folder());
    command
        .arg("mcp")
        .args(words)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the executable runs");
    let mut input = child.stdin.take().expect("standard input");
    for line in lines {
        writeln!(input, "{line}").expect("written");
    }
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let mut messages: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("nothing but the protocol"))
        .collect();
    messages.sort_by_key(|message| message["id"].as_i64());
    messages
}

fn conversation() -> Vec<Value> {
    vec![
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "mail_list_identities", "arguments": {}}}),
    ]
}

#[test]
fn standard_input_and_output_speak_the_same_as_http() {
    on_both("demo", async |mut served| {
        let url = served.text("url").to_owned();
        let key = served.admin().to_owned();
        let over_http = spoken(&served, &["--url", &url, "--key", &key], &conversation());
        let by_server = spoken(&served, &["--data", "postroom-data"], &conversation());
        assert_eq!(over_http, by_server);
        let sqlite = served.text("database") == "sqlite";
        assert!(served.stop());
        if sqlite {
            assert_eq!(
                spoken(&served, &["--data", "postroom-data"], &conversation()),
                by_server
            );
            let one = spoken(
                &served,
                &["--data", "postroom-data", "--as", "claims@larkspur.example"],
                &conversation(),
            );
            let listed = one.last().expect("an answer").to_string();
            assert!(
                listed.contains("claims@") && !listed.contains("bookings@"),
                "{listed}"
            );
        }
    });
}

#[test]
fn a_session_that_is_given_a_mailbox_is_an_agent_of_that_mailbox() {
    on_both("demo", async |mut served| {
        let ask = |id: u32, tool: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
        let mut lines = conversation();
        lines.extend([
            ask(4, "mail_list_threads", json!({"identity": "bookings@larkspur.example"})),
            ask(5, "mail_search", json!({"q": "claim"})),
            ask(
                6,
                "mail_send",
                json!({"to": ["stranger@outside.example"], "subject": "S", "text": "T", "idempotency_key": "k"}),
            ),
            ask(7, "mail_get_usage", json!({})),
        ]);
        let words = ["--data", "postroom-data", "--as", "claims@larkspur.example"];
        let by_server = spoken(&served, &words, &lines);
        let check = |answers: &[Value]| {
            let of = |id: i64| {
                let found = answers.iter().find(|answer| answer["id"] == id);
                found
                    .unwrap_or_else(|| panic!("{id}: {answers:?}"))
                    .to_string()
            };
            let listed = of(3);
            assert!(
                listed.contains("claims@") && !listed.contains("bookings@"),
                "{listed}"
            );
            assert!(of(4).contains("identity_not_found"), "{}", of(4));
            assert!(of(5).contains("hits"), "{}", of(5));
            let refused = of(6);
            assert!(
                refused.contains("policy_denied") && !refused.contains("key"),
                "{refused}"
            );
            assert!(of(7).contains("caps"), "{}", of(7));
        };
        check(&by_server);
        let unknown = served.command(&[
            "mcp",
            "--data",
            "postroom-data",
            "--as",
            "no@larkspur.example",
        ]);
        assert_eq!(unknown.exit, 1, "{unknown:?}");
        assert!(unknown.err.contains("identity_not_found"), "{unknown:?}");
        // The mailboxes that there are.
        assert!(
            unknown.err.contains("claims@larkspur.example"),
            "{unknown:?}"
        );
        let sqlite = served.text("database") == "sqlite";
        assert!(served.stop());
        if sqlite {
            check(&spoken(&served, &words, &lines));
            let words = ["--data", "postroom-data", "--as", "no@larkspur.example"];
            let answers = spoken(&served, &words, &lines);
            let told = answers.last().expect("an answer").to_string();
            assert!(
                told.contains("There is no mailbox no@larkspur.example.")
                    && told.contains("claims@larkspur.example"),
                "{told}"
            );
        }
        let help = served.command(&["mcp", "--help"]);
        assert!(help.out.contains("--as ADDRESS binds it"), "{help:?}");
    });
}

#[test]
fn a_server_that_is_no_endpoint_becomes_errors_of_the_protocol() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let served = Served::start("serve", None);
        // Below this path there is REST's own not-found and nothing of the protocol.
        let url = format!("{}/v1/nowhere", served.text("url"));
        let words = ["--url", &url, "--key", served.key()];
        let lines = spoken(&served, &words, &conversation());
        let requests: Vec<Value> = conversation()
            .iter()
            .filter_map(|line| line.get("id").cloned())
            .collect();
        let answered: Vec<Value> = lines.iter().map(|line| line["id"].clone()).collect();
        assert_eq!(answered.len(), requests.len(), "{lines:?}");
        for line in &lines {
            assert_eq!(line["jsonrpc"], json!("2.0"), "{line}");
            assert!(requests.contains(&line["id"]), "{line}");
            let message = line["error"]["message"].as_str().expect("a message");
            assert!(message.contains("no MCP endpoint"), "{message}");
        }
    });
}

#[test]
fn a_wait_whose_key_is_revoked_says_so() {
    // The keys are listed as fast as they can be until the wait is among their uses.
    let rates = "rate_key = 1000000\nrate_tenant = 1000000\n";
    on_both_told("serve", rates, async |served| {
        let made = served
            .command(&[
                "key",
                "create",
                "short",
                "--as",
                "agent@localhost",
                "--json",
            ])
            .json();
        let secret = made["secret"].as_str().expect("a secret").to_owned();
        let id = made["id"].as_str().expect("an id").to_owned();
        let waiting = call(
            &served,
            &secret,
            "mail_wait",
            json!({"timeout_seconds": 60}),
        );
        let revoking = async {
            // The wait counts as a use of its key once it has begun.
            loop {
                let listed = served
                    .ask("GET", "/v1/keys?limit=100", served.admin(), None)
                    .await;
                let used = listed.json()["data"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|key| key["id"] == json!(id) && !key["last_used_at"].is_null());
                if used {
                    break;
                }
            }
            served.command(&["key", "revoke", &id, "--json"])
        };
        let (answer, revoked) = tokio::join!(waiting, revoking);
        assert_eq!(revoked.exit, 0, "{revoked:?}");
        let said = answer.to_string();
        assert!(said.contains("key_revoked"), "{said}");
        assert!(!said.contains("timed_out"), "{said}");
    });
}
