//! What operations answer.

use postroom_app::{
    CallContext, Reply,
    operation::{Handler, Surface, TABLE, find},
    room::ArchiveMail,
};
use postroom_core::Recipient;
use postroom_types::{ErrorCode, Level, limit};
use serde_json::{Value, json};

use crate::world::{World, arguments, at_level, letter, request_id};

fn assert_valid(name: &str, answer: &Value) {
    let schema = find(name).expect("a row").output_schema();
    let validator = jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .expect("a schema");
    let faults: Vec<String> = validator
        .iter_errors(answer)
        .map(|error| format!("{}: {}", error.instance_path(), error))
        .collect();
    assert!(faults.is_empty(), "{name}: {faults:?}\n{answer:#}");
}

#[tokio::test]
async fn every_answer_validates_against_its_published_schema() {
    let world = World::new().await;
    // Operations that end things come last.
    let mut rows: Vec<_> = TABLE.iter().collect();
    rows.sort_by_key(|row| matches!(row.name, "address_retire" | "key_rotate" | "key_revoke"));
    for row in rows {
        let level = [Level::Tenant, Level::Platform]
            .into_iter()
            .find(|level| row.levels.contains(level))
            .expect("a level");
        let actor = at_level(&world, level);
        let surfaces = if row.annotations.read_only {
            vec![Surface::Tool, Surface::Rest]
        } else {
            vec![Surface::Tool]
        };
        for surface in surfaces {
            let context = CallContext::new(surface, request_id(), world.room.now());
            let body = bytes::Bytes::from(letter("third@room.example"));
            let arguments = arguments(row.name, &world.own);
            let reply = world
                .room
                .call_with_body(&actor, row, arguments, body, &context)
                .await
                .unwrap_or_else(|failure| panic!("{}: {failure} {:?}", row.name, failure.details));
            match (reply, row.handler) {
                (
                    Reply::Json(answer),
                    Handler::Pure(_) | Handler::Json(_) | Handler::BytesIn(_) | Handler::FileIn(_),
                ) => assert_valid(row.name, &answer),
                (Reply::Bytes(body), Handler::BytesOut(_)) => assert!(!body.bytes.is_empty()),
                (reply, _) => panic!("{} answered {reply:?}", row.name),
            }
        }
    }
}

#[tokio::test]
async fn a_tool_call_and_its_rest_call_answer_the_same() {
    let world = World::new().await;
    for row in TABLE
        .iter()
        .filter(|row| row.is_tool() && row.annotations.read_only)
    {
        if !row.levels.contains(&Level::Tenant) {
            continue;
        }
        let arguments = arguments(row.name, &world.own);
        let mut answers = Vec::new();
        for surface in [Surface::Tool, Surface::Rest] {
            let mut answer = world
                .call(&world.tenant, row.name, arguments.clone(), surface)
                .await
                .unwrap_or_else(|failure| panic!("{}: {failure}", row.name));
            // The instant of the answer and what is sealed differ from call to call.
            for moving in ["as_of", "next_cursor"] {
                if let Some(object) = answer.as_object_mut() {
                    object.remove(moving);
                }
            }
            answers.push(answer);
        }
        assert_eq!(answers[0], answers[1], "{}", row.name);
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_named_in_the_dialect_of_the_toolset() {
    let world = World::new().await;
    for (name, code) in [
        ("mail_list_threads", ErrorCode::InvalidRequest),
        ("list_webhook_events", ErrorCode::InvalidArgument),
    ] {
        for (arguments, path) in [
            (json!({"limit": 0}), "limit"),
            (json!({"limit": 201}), "limit"),
            (json!({"limit": "5"}), "limit"),
            (json!({"nonsense": 1}), "nonsense"),
            (json!({"cursor": "c_made_up"}), "cursor"),
        ] {
            let failure = world
                .call(&world.agent, name, arguments.clone(), Surface::Tool)
                .await
                .expect_err("refused");
            assert_eq!(failure.code, code, "{name} {arguments}");
            assert_eq!(
                failure.details["errors"][0]["path"], path,
                "{name} {arguments}"
            );
        }
    }
    let failure = world
        .call(
            &world.agent,
            "list_webhook_events",
            json!({"since": "yesterday"}),
            Surface::Tool,
        )
        .await
        .expect_err("refused");
    assert_eq!(failure.details["errors"][0]["path"], "since");
    for arguments in [json!([]), json!(null), json!("x")] {
        let failure = world
            .call(&world.agent, "mail_list_threads", arguments, Surface::Tool)
            .await
            .expect_err("refused");
        assert_eq!(failure.code, ErrorCode::InvalidRequest);
    }
}

/// A mail that fits no budget: long text, hundreds of recipients with long names.
fn enormous(to: &str) -> String {
    let many: Vec<String> = (0..200)
        .map(|place| {
            format!(
                "\"{}\" <person{place}@{}.example>",
                "n".repeat(200),
                "d".repeat(60)
            )
        })
        .collect();
    format!(
        "From: Mia <mia@garage.example>\r\nTo: {}\r\nCc: {}\r\nSubject: Enormous\r\nDate: Mon, 02 Nov 2026 10:00:00 +0000\r\n\
         Message-ID: <enormous@garage.example>\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Delivered-To: {to}\r\n\r\n{}\r\n",
        many.join(",\r\n "),
        many.join(",\r\n "),
        "\u{1F600} quoted \"words\" ".repeat(4_000)
    )
}

#[tokio::test]
async fn an_answer_past_every_budget_is_cut_marked_and_still_valid() {
    let world = World::new().await;
    let mail = ArchiveMail {
        raw: enormous(&world.own.address).into_bytes(),
        recipient: Recipient {
            tenant: world.own.tenant.parse().expect("an id"),
            identity: world.own.identity.parse().expect("an id"),
            delivered_to: None,
        },
        read: false,
        file_time: None,
        by_agent: false,
    };
    let received = world.room.take_in(mail).await.expect("taken in");
    let id = received.message_id.expect("a message").to_string();
    let arguments = json!({"message_id": id, "include_quoted": true, "include_headers": true});
    let tool = world
        .call(
            &world.agent,
            "mail_get_message",
            arguments.clone(),
            Surface::Tool,
        )
        .await
        .expect("an answer");
    assert!(tool.to_string().len() <= limit::TOOL_RESULT_BYTES);
    assert_eq!(tool["truncated"], true);
    assert_valid("mail_get_message", &tool);
    let rest = world
        .call(&world.agent, "mail_get_message", arguments, Surface::Rest)
        .await
        .expect("an answer");
    assert_valid("mail_get_message", &rest);
}

#[tokio::test]
async fn pages_of_events_neither_repeat_nor_skip_while_mail_arrives() {
    let world = World::new().await;
    let take_in = async |number: usize| {
        let raw = letter(&world.own.address).replace("<first@", &format!("<more{number}@"));
        let mail = ArchiveMail {
            raw: raw.into_bytes(),
            recipient: Recipient {
                tenant: world.own.tenant.parse().expect("an id"),
                identity: world.own.identity.parse().expect("an id"),
                delivered_to: None,
            },
            read: false,
            file_time: None,
            by_agent: false,
        };
        world.room.take_in(mail).await.expect("taken in");
    };
    for number in 0..8 {
        take_in(number).await;
    }
    let whole = world
        .ok(
            &world.agent,
            "list_webhook_events",
            json!({"provider": "import"}),
        )
        .await;
    let ids = |answer: &Value| -> Vec<u64> {
        let events = answer["events"].as_array().expect("events").iter();
        events
            .map(|event| event["id"].as_u64().expect("an id"))
            .collect()
    };
    let expected = ids(&whole);
    assert_eq!(expected.len(), 10);
    let mut seen = Vec::new();
    let mut arguments = json!({"provider": "import", "limit": 3});
    for number in 100.. {
        let page = world
            .ok(&world.agent, "list_webhook_events", arguments.clone())
            .await;
        seen.extend(ids(&page));
        take_in(number).await;
        let Some(cursor) = page.get("next_cursor") else {
            break;
        };
        arguments["cursor"] = cursor.clone();
    }
    assert_eq!(seen, expected);
    let failure = world
        .call(
            &world.agent,
            "list_webhook_events",
            json!({"provider": "smtp", "cursor": arguments["cursor"]}),
            Surface::Tool,
        )
        .await
        .expect_err("other filters");
    assert_eq!(failure.code, ErrorCode::InvalidArgument);
    let newest = expected[0];
    let later = world
        .ok(
            &world.agent,
            "list_webhook_events",
            json!({"since": newest.to_string()}),
        )
        .await;
    assert!(ids(&later).iter().all(|id| *id > newest) && !ids(&later).is_empty());
}
