//! Rules over mail that comes in by itself: tried before they are saved, seen afterwards, and only for
//! those who may read what they look at.

use serde_json::{Value, json};

use crate::{
    mail::deliver_raw,
    served::{Served, on_both},
    webhooks::events,
};

const AGENT: &str = "agent@localhost";

/// Delivers a letter and waits until it is a message; gives its event.
async fn arrived(served: &Served, subject: &str) -> Value {
    let letter = format!(
        "From: Mia <mia@garage.example>\r\nTo: {AGENT}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@garage.example>\r\n\r\nHello.\r\n"
    );
    deliver_raw(served.text("smtp"), "mia@garage.example", AGENT, &letter);
    for _ in 0..400 {
        let newest = events(served, "?provider=smtp&limit=1").await.remove(0);
        if newest["message_id"].is_string() {
            let path = format!("/v1/events/{}", newest["id"]);
            return served.ask("GET", &path, served.admin(), None).await.json();
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{subject} became no message");
}

async fn mail_source(served: &Served) -> String {
    let wanted = json!({"source_type": "mail", "identity": AGENT, "target_queue": "inbox"});
    let made = served
        .ask("POST", "/v1/sources", served.admin(), Some(wanted))
        .await;
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["source_id"].as_str().expect("an id").to_owned()
}

async fn post(served: &Served, key: &str, source: &str, path: &str, body: Value) -> (u16, Value) {
    let path = format!("/v1/sources/{source}/{path}");
    let reply = served.ask("POST", &path, key, Some(body)).await;
    (reply.status, reply.json())
}

fn rules(expr: &str, action: &Value) -> Value {
    json!({"rules": [{"id": "one", "expr": expr, "action": action}]})
}

#[test]
fn rules_of_a_mailbox_are_tried_on_the_mails_that_came() {
    on_both("serve", async |served| {
        let before = arrived(&served, "before").await;
        assert_eq!(before["source_id"], Value::Null, "no source yet: {before}");
        let source = mail_source(&served).await;
        let admin = served.admin();
        for expr in ["mail.nothere == 1", "payload.x == 1", "mail.subject > 5"] {
            let wanted = rules(expr, &json!({"drop": true}));
            let (status, refused) = post(&served, admin, &source, "rules", wanted).await;
            let error = &refused["error"];
            assert_eq!(
                (status, &error["code"]),
                (400, &json!("invalid_rule")),
                "{expr}"
            );
            assert_eq!(error["details"]["rule_index"], json!(0), "{refused}");
            assert_eq!(
                error["details"]["event_ids"],
                json!([before["id"]]),
                "{refused}"
            );
        }
        let wanted = rules("mail.subject == 'noise'", &json!({"drop": true}));
        let (status, saved) = post(&served, admin, &source, "rules", wanted).await;
        assert_eq!((status, &saved["tried"]), (200, &json!(1)), "{saved}");
        assert_eq!(saved["outcome"]["queues"], json!({"inbox": 1}), "{saved}");
        let tried = json!({"event_id": before["id"]});
        let (status, tested) = post(&served, admin, &source, "rules/test", tried).await;
        assert_eq!(status, 200, "{tested}");
        assert_eq!(tested["decision"]["queue"], json!("inbox"));
        assert_eq!(tested["envelope"]["mail"]["subject"], json!("before"));
    });
}

#[test]
fn what_a_rule_made_of_a_mail_stands_on_its_event_and_todo() {
    on_both("serve", async |served| {
        let source = mail_source(&served).await;
        let wanted = rules("mail.subject == 'noise'", &json!({"drop": true}));
        let (status, saved) = post(&served, served.admin(), &source, "rules", wanted).await;
        assert_eq!(status, 200, "{saved}");
        let noise = arrived(&served, "noise").await;
        assert_eq!(noise["source_id"], json!(source), "{noise}");
        assert_eq!(noise["disposition"], json!("dropped"), "{noise}");
        assert_eq!(noise["routing"]["rule_id"], json!("one"), "{noise}");
        assert_eq!(noise["todo_id"], Value::Null, "{noise}");
        let ask = arrived(&served, "question").await;
        assert_eq!(ask["disposition"], json!("routed"), "{ask}");
        assert_eq!(ask["routing"]["stage"], json!("default"), "{ask}");
        let path = format!("/v1/todos/{}", ask["todo_id"].as_str().expect("a todo"));
        let todo = served.ask("GET", &path, served.admin(), None).await.json();
        assert!(todo.to_string().contains("no_match_default"), "{todo}");
        let of_source = events(&served, &format!("?source_id={source}")).await;
        assert_eq!(of_source.len(), 2, "{of_source:?}");
    });
}

#[test]
fn who_may_not_read_mail_sorts_none_by_what_it_says() {
    on_both("serve", async |served| {
        let mail = mail_source(&served).await;
        let make = async |kind: &str| {
            let wanted = json!({"source_type": kind, "target_queue": "any"});
            let made = served.ask("POST", "/v1/sources", served.admin(), Some(wanted));
            made.await.json()["source_id"]
                .as_str()
                .expect("an id")
                .to_owned()
        };
        let (postmark, github) = (make("postmark").await, make("github").await);
        let key = async |permissions: &[&str]| {
            let wanted = json!({"name": "sorts", "level": "tenant", "permissions": permissions});
            let made = served
                .ask("POST", "/v1/keys", served.admin(), Some(wanted))
                .await;
            made.json()["secret"].as_str().expect("a key").to_owned()
        };
        let blind = key(&[
            "sources:manage",
            "sources:read",
            "events:read",
            "todos:read",
        ])
        .await;
        let reader = key(&["sources:manage", "sources:read", "messages:read"]).await;
        let to = json!({"queue": "here"});
        for (source, expr, refused) in [
            (
                &mail,
                "mail.subject != null && mail.subject.contains('offer')",
                true,
            ),
            (&mail, "has(event.payload)", true),
            (&mail, "event_type == 'message.received'", false),
            (&postmark, "has(payload.TextBody)", true),
            (&postmark, "event_type == 'Inbound'", false),
            (&github, "has(payload.action)", false),
        ] {
            for path in ["rules", "rules/test"] {
                let mut body = rules(expr, &to);
                if path == "rules/test" {
                    body["payload"] = json!({});
                }
                let (status, said) = post(&served, &blind, source, path, body.clone()).await;
                if refused {
                    assert_eq!(status, 403, "{expr}: {said}");
                    assert_eq!(said["error"]["code"], json!("permission_denied"));
                    assert_eq!(said["error"]["details"]["required"], json!("messages:read"));
                } else {
                    assert_eq!(status, 200, "{expr}: {said}");
                }
                let (status, said) = post(&served, &reader, source, path, body).await;
                assert_eq!(status, 200, "{expr}: {said}");
            }
        }
    });
}
