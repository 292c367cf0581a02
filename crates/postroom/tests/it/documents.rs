//! E-mail documents from outside: the pure tools, saved documents, a test mail, the command line.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    mcp,
    served::{Served, on_both, postroom, run},
};

/// What a tool answers, as the agent calls it.
async fn call(served: &Served, tool: &str, arguments: Value) -> Value {
    let message = mcp::call(served, served.key(), tool, arguments).await;
    message["result"]["structuredContent"].clone()
}

/// A letter with what every document needs, and one text.
fn letter(words: &str) -> Value {
    json!({
        "version": 2,
        "kind": "transactional",
        "meta": {
            "subject": "Your table on Friday",
            "preheader": "We look forward to seeing you and your guests at eight.",
            "lang": "en",
        },
        "root": {"type": "body", "children": [
            {"type": "section", "children": [
                {"type": "column", "children": [{"type": "text", "text": words}]},
            ]},
        ]},
    })
}

/// The same with the text where no text may stand.
fn misplaced(words: &str) -> Value {
    let mut draft = letter(words);
    draft["root"]["children"] = json!([{"type": "text", "text": words}]);
    draft
}

#[test]
fn a_draft_is_checked_repaired_and_compiled_by_tool_and_by_rest() {
    on_both("serve", async |served| {
        let draft = misplaced("Dear guest, your table is booked.");
        let checked = call(&served, "check_ir", json!({"document": draft})).await;
        assert_eq!(checked["ok"], false, "{checked}");
        let issue = &checked["issues"][0];
        assert_eq!(issue["severity"], "error");
        assert_eq!(issue["fix"], "repair_ir");
        assert_eq!(issue["path"], "root.children.0");

        let repaired = call(&served, "repair_ir", json!({"document": draft})).await;
        assert_eq!(repaired["ok"], true, "{repaired}");
        let codes: Vec<&str> = repaired["applied"]
            .as_array()
            .expect("changes")
            .iter()
            .filter_map(|change| change["code"].as_str())
            .collect();
        assert!(codes.contains(&"wrap"), "{codes:?}");

        let body =
            json!({"document": repaired["document"], "target": "html", "variables": "liquid"});
        let compiled = call(&served, "compile_ir", body.clone()).await;
        assert_eq!(compiled["ok"], true, "{compiled}");
        assert_eq!(compiled["language"], "html");
        let code = compiled["code"].as_str().expect("code");
        assert!(code.contains("your table is booked"));
        let rest = served
            .ask("POST", "/v1/documents/compile", served.key(), Some(body))
            .await;
        assert_eq!(rest.json()["code"], compiled["code"], "the same bytes");

        for value in [json!([1, 2]), json!("[]"), json!(7)] {
            let put = served
                .ask(
                    "POST",
                    "/v1/document-sessions",
                    served.key(),
                    Some(json!({"document": value})),
                )
                .await;
            assert_eq!(put.status, 400, "{put:?}");
        }
        // What is no JSON at all is the only failure.
        let reply = served
            .ask(
                "POST",
                "/v1/documents/check",
                served.key(),
                Some(json!({"document": "{"})),
            )
            .await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "invalid_argument")
        );
    });
}

#[test]
fn nobody_overwrites_what_somebody_saved_meanwhile() {
    on_both("serve", async |served| {
        let (agent, admin) = (served.key(), served.admin());
        let save = async |key: &str, id: Option<&str>, body: Value| match id {
            None => {
                served
                    .ask("POST", "/v1/document-sessions", key, Some(body))
                    .await
            }
            Some(id) => {
                let path = format!("/v1/document-sessions/{id}");
                served.ask("PATCH", &path, key, Some(body)).await
            }
        };
        let first = save(
            agent,
            None,
            json!({"document": letter("One"), "name": "Invitation"}),
        )
        .await;
        assert_eq!(first.status, 200, "{first:?}");
        let first = first.json();
        let id = first["id"].as_str().expect("an id");

        // A person of the tenant goes on from the state that the agent left.
        let change = json!({"document": letter("Two"), "etag": first["etag"]});
        let second = save(admin, Some(id), change.clone()).await;
        assert_eq!(second.status, 200, "{second:?}");
        let late = save(agent, Some(id), change).await;
        assert_eq!((late.status, late.code().as_str()), (409, "conflict"));
        let blind = save(agent, Some(id), json!({"document": letter("Three")})).await;
        assert_eq!(blind.code(), "invalid_argument");

        let read = async |key: &str, query: &str| {
            let path = format!("/v1/document-sessions/{id}{query}");
            served.ask("GET", &path, key, None).await
        };
        let now = read(agent, "").await.json();
        assert_eq!(now["version"], 2);
        assert!(now["document"].to_string().contains("Two"));
        let older = read(agent, "?state=1").await.json();
        assert!(older["document"].to_string().contains("One"));
        assert_eq!(older["states"].as_array().map(Vec::len), Some(2));

        // What belongs to the whole tenant is not an agent's.
        let whole = save(admin, None, json!({"document": letter("Ours")}))
            .await
            .json();
        let path = format!(
            "/v1/document-sessions/{}",
            whole["id"].as_str().expect("an id")
        );
        let foreign = served.ask("GET", &path, agent, None).await;
        let missing = served
            .ask(
                "GET",
                "/v1/document-sessions/ses_00000000000000000000000000",
                agent,
                None,
            )
            .await;
        assert_eq!(foreign.status, 404);
        assert_eq!(foreign.without_request_id(), missing.without_request_id());
    });
}

#[test]
fn a_test_mail_is_an_ordinary_message_of_the_own_mailbox() {
    on_both("serve", async |served| {
        let path = "/v1/identities/agent@localhost/documents/send-test";
        let refused = served
            .ask(
                "POST",
                path,
                served.key(),
                Some(json!({"document": misplaced("No")})),
            )
            .await
            .json();
        assert_eq!(
            (&refused["ok"], &refused["event_id"]),
            (&json!(false), &Value::Null)
        );

        let sent = served
            .ask(
                "POST",
                path,
                served.key(),
                Some(json!({"document": letter("Until Friday.")})),
            )
            .await
            .json();
        assert_eq!(sent["ok"], true, "{sent}");
        let event = sent["event_id"].as_u64().expect("an event");
        let waited = call(
            &served,
            "mail_wait",
            json!({"timeout_seconds": 20, "since": "2020-01-01T00:00:00Z"}),
        )
        .await;
        let found = waited["message"].clone();
        assert_eq!(found["subject"], "Your table on Friday", "{waited}");
        let message = call(
            &served,
            "mail_get_message",
            json!({"message_id": found["id"]}),
        )
        .await;
        assert_eq!(message["subject"], "Your table on Friday");
        assert!(
            message["extracted_text"]
                .as_str()
                .is_some_and(|text| text.contains("Until Friday."))
        );
        let arrived = call(&served, "get_webhook_event", json!({"id": event})).await;
        assert_eq!(arrived["provider"], "loopback", "{arrived}");
    });
}

#[test]
fn documents_need_no_key_no_folder_and_no_network_on_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = postroom(folder.path())
        .args(["mcp", "--tools", "compose"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the executable runs");
    let mut input = child.stdin.take().expect("standard input");
    let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{message}").expect("written");
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let listed = ask(1, "tools/list", json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in [
        "describe_blocks",
        "check_ir",
        "repair_ir",
        "compile_ir",
        "lint_html",
        "patch_ir",
        "diff_ir",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for name in ["session_put", "send_test", "mail_send"] {
        assert!(!names.contains(&name), "{name} needs a folder: {names:?}");
    }
    let prompts = ask(4, "prompts/list", json!({}));
    let prompts = prompts["result"]["prompts"].as_array().expect("prompts");
    let prompts: Vec<_> = prompts.iter().map(|prompt| &prompt["name"]).collect();
    assert_eq!(prompts, ["design_email"]);
    let compiled = ask(
        2,
        "tools/call",
        json!({"name": "compile_ir", "arguments": {"document": letter("Hello"), "target": "text"}}),
    );
    assert_eq!(
        compiled["result"]["structuredContent"]["ok"], true,
        "{compiled}"
    );
    let schema = ask(
        3,
        "resources/read",
        json!({"uri": "ir://schema/v2/all-required"}),
    );
    assert!(
        schema["result"]["contents"][0]["text"].is_string(),
        "{schema}"
    );
    drop(input);
    assert!(child.wait().expect("an end").success());
    assert!(
        !folder.path().join("postroom-data").exists(),
        "no folder was made"
    );
}

#[test]
fn what_cannot_be_read_or_written_is_told_and_hides_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    file("bad letter ü%20.json", &format!("{:#}", misplaced("Lost"))).expect("written");
    file("good.json", &format!("{:#}", letter("Fine"))).expect("written");
    let names = ["check", "good.json", "none.json", "bad letter ü%20.json"];
    let all = run(folder.path(), &names);
    assert_eq!(all.exit, 2, "{all:?}");
    assert!(all.out.contains("bad letter"), "{all:?}");
    assert!(all.err.contains("none.json cannot be read"), "{all:?}");
    let sarif = run(
        folder.path(),
        &["check", "bad letter ü%20.json", "--format", "sarif"],
    );
    let uri = "/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri";
    let uri = sarif.json().pointer(uri).cloned();
    assert_eq!(uri, Some(json!("bad%20letter%20%C3%BC%2520.json")));
    let own = ["compile", "good.json", "--out", "./good.json"];
    let refused = run(folder.path(), &own);
    assert_eq!(refused.exit, 2, "{refused:?}");
    assert_eq!(
        run(folder.path(), &["check", "good.json"]).exit,
        0,
        "it is as it was"
    );
    let printed = run(folder.path(), &["compile", "good.json", "--out", "-"]);
    assert!(printed.out.contains("<html"), "{printed:?}");
    assert!(!folder.path().join("-").exists());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    if let Ok(full) = full {
        for words in [
            &["compile", "good.json"][..],
            &["schema"],
            &["describe"],
            &["example"],
        ] {
            let done = postroom(folder.path())
                .args(words)
                .stdout(full.try_clone().expect("a file"))
                .output()
                .expect("runs");
            assert_eq!(done.status.code(), Some(2), "{words:?}");
        }
    }
}

#[test]
fn examples_and_calls_on_documents_need_no_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = run(folder.path(), &["example", "--json"]);
    assert_eq!(listed.exit, 0, "{listed:?}");
    let examples = listed.json();
    let names = examples["examples"].as_array().expect("a list").iter();
    let names: Vec<&str> = names.filter_map(|one| one["name"].as_str()).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let printed = run(folder.path(), &["example", name]);
        std::fs::write(folder.path().join("one.email.json"), &printed.out).expect("written");
        let checked = run(
            folder.path(),
            &["check", "one.email.json", "--max-warnings", "0"],
        );
        assert_eq!(checked.exit, 0, "{name}: {checked:?}");
        let words = [
            "call",
            "check_ir",
            "--document",
            "@one.email.json",
            "--json",
        ];
        let called = run(folder.path(), &words);
        assert_eq!(called.json()["ok"], true, "{name}: {called:?}");
    }
    // All arguments out of one file.
    let whole = std::fs::read_to_string(folder.path().join("one.email.json")).expect("written");
    let document: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
    let arguments = serde_json::json!({ "document": document }).to_string();
    std::fs::write(folder.path().join("arguments.json"), arguments).expect("written");
    let called = run(
        folder.path(),
        &["call", "check_ir", "@arguments.json", "--json"],
    );
    assert_eq!(called.json()["ok"], true, "{called:?}");
    let absent = run(folder.path(), &["call", "check_ir", "@none.json"]);
    assert!(
        absent.exit == 2 && absent.err.contains("cannot be read"),
        "{absent:?}"
    );
    assert_eq!(run(folder.path(), &["example", "none"]).exit, 2);
    let absent = run(
        folder.path(),
        &["call", "check_ir", "--document", "@none.json"],
    );
    assert_eq!(absent.exit, 2, "{absent:?}");
    assert!(
        absent.err.contains("--document cannot be read"),
        "{absent:?}"
    );
    assert!(!folder.path().join("postroom-data").exists());
}

#[test]
fn files_are_checked_with_places_in_the_forms_that_tools_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    };
    write("emails/good.email.json", &format!("{:#}", letter("Fine")));
    write(
        "emails/a/bad.email.json",
        &format!("{:#}", misplaced("Lost")),
    );
    write("emails/a/none.txt", "{");

    let good = run(folder.path(), &["check", "emails/good.email.json"]);
    assert_eq!(good.exit, 0, "{good:?}");
    let all = run(
        folder.path(),
        &["check", "emails/**/*.email.json", "--format", "json"],
    );
    assert_eq!(all.exit, 1, "{all:?}");
    let told = all.json();
    assert_eq!(told["files"].as_array().map(Vec::len), Some(2));
    let lines = run(folder.path(), &["check", "emails/a/bad.email.json"]);
    assert!(lines.out.contains("emails/a/bad.email.json:"), "{lines:?}");
    assert!(
        lines.out.contains("(postroom repair mends it)"),
        "{lines:?}"
    );
    let sarif = run(
        folder.path(),
        &["check", "emails/a/bad.email.json", "--format", "sarif"],
    )
    .json();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert!(
        region["startLine"].as_u64().is_some_and(|line| line > 1),
        "{sarif}"
    );
    let github = run(
        folder.path(),
        &["check", "emails/a/bad.email.json", "--format", "github"],
    );
    assert!(
        github
            .out
            .starts_with("::error file=emails/a/bad.email.json,line="),
        "{github:?}"
    );
    assert_eq!(run(folder.path(), &["check", "emails/a/none.txt"]).exit, 2);
    assert_eq!(run(folder.path(), &["check", "emails/*.nothing"]).exit, 2);

    let repaired = run(
        folder.path(),
        &[
            "repair",
            "emails/a/bad.email.json",
            "--out",
            "emails/fixed.email.json",
        ],
    );
    assert_eq!(repaired.exit, 0, "{repaired:?}");
    let html = run(
        folder.path(),
        &[
            "compile",
            "emails/fixed.email.json",
            "--target",
            "html",
            "--variables",
            "jinja2",
            "--out",
            "out.html",
        ],
    );
    assert_eq!(html.exit, 0, "{html:?}");
    let code = std::fs::read_to_string(folder.path().join("out.html")).expect("written");
    assert!(code.contains("Lost"));
    // It is for whomever any other file is.
    std::fs::write(folder.path().join("any"), "").expect("written");
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let about = std::fs::metadata(folder.path().join(name)).expect("there");
        about.permissions().mode()
    };
    assert_eq!(mode("out.html"), mode("any"));
    let words = [
        "compile",
        "emails/fixed.email.json",
        "--target",
        "eml",
        "--out",
        "out.eml",
    ];
    let nameless = run(folder.path(), &words);
    assert!(nameless.err.contains("--from"), "{nameless:?}");
    let named = run(
        folder.path(),
        &[&words[..], &["--from", "ann@room.example"]].concat(),
    );
    assert!(!named.err.contains("--from"), "{named:?}");
    let none = run(
        folder.path(),
        &["compile", "emails/a/bad.email.json", "--out", "none.html"],
    );
    assert_eq!(none.exit, 1);
    assert!(
        !folder.path().join("none.html").exists(),
        "no code while an error stands"
    );
    assert_eq!(run(folder.path(), &["lint", "out.html"]).exit, 0);
    assert_eq!(
        run(
            folder.path(),
            &["diff", "emails/good.email.json", "emails/good.email.json"]
        )
        .exit,
        0
    );
    assert_eq!(
        run(
            folder.path(),
            &["diff", "emails/good.email.json", "emails/fixed.email.json"]
        )
        .exit,
        1
    );
    let described = run(folder.path(), &["describe", "button", "--json"]).json();
    assert!(
        described["blocks"]["button"]["keys"].is_object(),
        "{described}"
    );
    assert_eq!(run(folder.path(), &["describe", "marquee"]).exit, 2);
    let schema = run(folder.path(), &["schema", "ai-flat"]);
    assert!(serde_json::from_str::<Value>(&schema.out).is_ok());
}
