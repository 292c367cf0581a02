//! Threads, messages, attachments, contacts, raw bytes.

use bytes::Bytes;
use postroom_app::{
    Actor, Reply,
    operation::{Surface, find},
};
use postroom_types::ErrorCode;
use serde_json::{Value, json};

use crate::world::{MAILBOX, World, mail, on_both, subjects};

async fn talk(world: World) -> World {
    let mails: Vec<String> = (0..12)
        .map(|n| {
            let refers = match n {
                0 => String::new(),
                _ => format!(
                    "References: <m0@shore.example> <m{}@shore.example>\r\n",
                    n - 1
                ),
            };
            mail(n, "Moorings", &format!("Point {n}."), &refers)
        })
        .rev()
        .chain([mail(99, "Apart", "Alone.", "")])
        .collect();
    world.import(&mails).await;
    world
}

#[test]
fn a_thread_is_one_whatever_the_order_and_reads_oldest_first() {
    on_both(async |world| {
        let world = talk(world).await;
        let list = world.call("mail_list_threads", json!({})).await;
        let threads = list["data"].as_array().expect("threads");
        assert_eq!(threads.len(), 2, "{list:#}");
        let thread = threads
            .iter()
            .find(|t| t["message_count"] == 12)
            .expect("the talk");
        let mut texts: Vec<String> = Vec::new();
        let mut arguments = json!({"thread_id": thread["id"], "messages_limit": 5});
        loop {
            let page = world.call("mail_get_thread", arguments.clone()).await;
            let messages = page["messages"].as_array().expect("messages");
            texts.extend(
                messages
                    .iter()
                    .map(|m| m["extracted_text"].as_str().expect("text").to_owned()),
            );
            let Some(cursor) = page["next_cursor"].as_str() else {
                break;
            };
            arguments["cursor"] = json!(cursor);
        }
        let wanted: Vec<String> = (0..12).map(|n| format!("Point {n}.")).collect();
        let texts: Vec<&str> = texts.iter().map(|text| text.trim()).collect();
        assert_eq!(texts, wanted);
        world.room.close().await;
    });
}

#[test]
fn lists_page_and_filter() {
    on_both(async |world| {
        let world = talk(world).await;
        let first = world.call("mail_list_threads", json!({"limit": 1})).await;
        let cursor = first["next_cursor"].as_str().expect("another page");
        let second = world
            .call("mail_list_threads", json!({"limit": 1, "cursor": cursor}))
            .await;
        assert_ne!(first["data"][0]["id"], second["data"][0]["id"]);
        assert!(second["next_cursor"].is_null());
        let thread = second["data"][0]["id"].clone();
        world
            .call(
                "mail_update_labels",
                json!({"thread_id": thread, "labels_add": ["done"], "read": true}),
            )
            .await;
        let labelled = world
            .call("mail_list_threads", json!({"label": "done"}))
            .await;
        assert_eq!(labelled["data"].as_array().map(Vec::len), Some(1));
        let unread = world
            .call("mail_list_threads", json!({"is_unread": true}))
            .await;
        assert_eq!(unread["data"].as_array().map(Vec::len), Some(1));
        let failure = world
            .try_call("mail_list_threads", json!({"category": "billing"}))
            .await;
        assert_eq!(
            failure.expect_err("no engine").code,
            ErrorCode::InvalidRequest
        );
        world.room.close().await;
    });
}

#[test]
fn long_texts_are_cut_for_an_agent_and_whole_for_rest() {
    on_both(async |world| {
        let line = "All about the harbour and its boats. ";
        world
            .import(&[mail(1, "Long", &line.repeat(2_000), "")])
            .await;
        let id = world.search("subject:long").await["hits"][0]["message_id"].clone();
        let cut = world
            .call("mail_get_message", json!({"message_id": id}))
            .await;
        assert_eq!(cut["extracted_text_truncated"], true);
        assert_eq!(cut["truncated"], true);
        let text = cut["extracted_text"].as_str().expect("text");
        assert!(text.chars().count() == 16_000 && text.ends_with('…'));
        assert!(cut["text"].is_null());
        let rest = world.context(Surface::Rest);
        let whole = world
            .call_in(
                "mail_get_message",
                json!({"message_id": id, "include_quoted": true}),
                &rest,
            )
            .await
            .expect("a message");
        assert!(whole["text"].as_str().expect("text").len() > 70_000);
        assert!(whole.get("truncated").is_none());
        world.room.close().await;
    });
}

#[test]
fn an_attachment_is_read_by_pages_and_others_are_not_found() {
    on_both(async |world| {
        let body = "--b\r\nContent-Type: text/plain\r\n\r\nHello.\r\n--b\r\nContent-Type: text/plain; name=a.txt\r\n\
                    Content-Disposition: attachment; filename=a.txt\r\n\r\nThe keel is oak.\r\n--b\r\n\
                    Content-Type: image/png; name=b.png\r\nContent-Disposition: attachment; filename=b.png\r\n\
                    Content-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--b--\r\n";
        let more = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n";
        world.import(&[mail(1, "Plans", body, more)]).await;
        let id = world.search("").await["hits"][0]["message_id"].clone();
        let message = world
            .call("mail_get_message", json!({"message_id": id}))
            .await;
        let attachments = message["attachments"].as_array().expect("attachments");
        assert_eq!(attachments.len(), 2);
        assert_eq!(attachments[0]["text_status"], "ready");
        let text = async |attachment: &Value| {
            let arguments = json!({"message_id": id, "attachment_id": attachment});
            world.try_call("mail_get_attachment_text", arguments).await
        };
        let ready = text(&attachments[0]["id"]).await.expect("text");
        assert_eq!(ready["status"], "ready");
        assert!(
            ready["pages"][0]["text"]
                .as_str()
                .expect("text")
                .contains("oak")
        );
        let skipped = text(&attachments[1]["id"]).await.expect("a status");
        assert_eq!(skipped["status"], "skipped");
        let none = postroom_types::AttachmentId::from_parts(1, 1).to_string();
        assert_eq!(
            text(&json!(none)).await.expect_err("none").code,
            ErrorCode::AttachmentNotFound
        );
        world.room.close().await;
    });
}

#[test]
fn raw_bytes_go_in_and_come_back_the_same() {
    on_both(async |world| {
        let raw = mail(1, "Raw", "caf\u{e9}", "");
        let actor = Actor::local_tenant(world.tenant());
        let context = world.context(Surface::Rest);
        let put = async |arguments: Value| {
            let operation = find("inbound_raw").expect("an operation");
            let body = Bytes::from(raw.clone());
            let reply = world
                .room
                .call_with_body(&actor, operation, arguments, body, &context)
                .await;
            let Ok(Reply::Json(answer)) = reply else {
                panic!("{reply:?}")
            };
            answer
        };
        let first = put(json!({"identity": MAILBOX})).await;
        assert_eq!(first["duplicate"], false);
        let again = put(json!({"identity": MAILBOX, "archive": true})).await;
        assert_eq!(again["duplicate"], true);
        assert_eq!(first["event_id"], again["event_id"]);
        let waited = world
            .call("mail_wait", json!({"since": "2000-01-01T00:00:00Z"}))
            .await;
        let operation = find("message_raw").expect("an operation");
        let arguments = json!({"identity": MAILBOX, "message_id": waited["message"]["id"]});
        let reply = world
            .room
            .call(&actor, operation, arguments, &context)
            .await;
        let Ok(Reply::Bytes(body)) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(body.bytes, raw.as_bytes());
        world.room.close().await;
    });
}

#[test]
fn contacts_are_found_by_name_address_and_domain() {
    on_both(async |world| {
        let world = talk(world).await;
        for q in ["ann", "Lee", "ann@shore.example", "shore.example"] {
            let answer = world.call("mail_search_contacts", json!({"q": q})).await;
            assert_eq!(answer["data"][0]["address"], "ann@shore.example", "{q}");
            assert_eq!(answer["data"][0]["inbound_count"], 13);
        }
        let none = world
            .call("mail_search_contacts", json!({"q": "nobody"}))
            .await;
        assert_eq!(none["data"], json!([]));
        world.room.close().await;
    });
}

#[test]
fn labels_need_one_target_and_one_change() {
    on_both(async |world| {
        let world = talk(world).await;
        let path = async |arguments: Value| {
            let failure = world
                .try_call("mail_update_labels", arguments)
                .await
                .expect_err("refused");
            assert_eq!(failure.code, ErrorCode::InvalidRequest);
            failure.details["errors"][0]["path"]
                .as_str()
                .expect("a path")
                .to_owned()
        };
        let message = world.search("").await["hits"][0]["message_id"].clone();
        let thread = world.search("").await["hits"][0]["thread_id"].clone();
        assert_eq!(
            path(json!({"message_id": message, "thread_id": thread, "read": true})).await,
            "thread_id"
        );
        assert_eq!(path(json!({"read": true})).await, "message_id");
        assert_eq!(path(json!({"message_id": message})).await, "labels_add");
        assert!(!subjects(&world.search("").await).is_empty());
        world.room.close().await;
    });
}

#[test]
fn a_foreign_and_a_missing_message_are_the_same() {
    on_both(async |world| {
        let world = talk(world).await;
        let missing = postroom_types::MessageId::from_parts(1, 1).to_string();
        let failure = world
            .try_call("mail_get_message", json!({"message_id": missing}))
            .await;
        let missing = failure.expect_err("missing");
        let other = postroom_types::Address::parse("other@harbour.example").expect("an address");
        let other = world
            .room
            .mailbox(world.tenant(), &other)
            .await
            .expect("a mailbox");
        let message = world.search("").await["hits"][0]["message_id"].clone();
        let actor = Actor::local_tenant(world.tenant());
        let operation = find("mail_get_message").expect("an operation");
        let arguments = json!({"message_id": message, "identity": other.to_string()});
        let context = world.context(Surface::Tool);
        let foreign = world
            .room
            .call(&actor, operation, arguments, &context)
            .await;
        assert_eq!(foreign.expect_err("foreign"), missing);
        world.room.close().await;
    });
}
