//! What is removed because it is old, and what never is.

use postroom_app::room::{Removed, Retention, WebhookRequest};
use serde_json::json;

use crate::world::World;

/// Delivers one body through a source without a signature, and says what became of it.
async fn deliver(world: &World, address: &str, body: &'static str) -> u16 {
    let token = address.rsplit('/').next().expect("a token");
    let door = world.room.knock(token).await.expect("a source");
    let delivery = WebhookRequest {
        method: "POST".to_owned(),
        url: address.to_owned(),
        headers: vec![("content-type".to_owned(), b"application/json".to_vec())],
        body: body.into(),
        source_ip: None,
    };
    world.room.arrive(door, delivery).await.status
}

#[tokio::test]
async fn deliveries_nobody_needs_go_and_mail_and_work_keep_theirs() {
    let none = Retention {
        event_days: None,
        events: Some(0),
    };
    let world = World::keeping(none).await;
    let wanted = json!({"source_type": "url-token", "target_queue": "pings"});
    let made = world.ok(&world.tenant, "source_create", wanted).await;
    let source = made["source_id"].clone();
    let rules = json!({
        "source_id": source,
        "rules": [{"id": "pings", "expr": "payload.ping == true", "action": {"drop": true}}],
    });
    world.ok(&world.tenant, "source_set_rules", rules).await;
    let address = made["ingest_url"].as_str().expect("an address");
    for body in [
        r#"{"ping": true}"#,
        r#"{"ping": true, "n": 2}"#,
        r#"{"ping": false}"#,
    ] {
        assert_eq!(deliver(&world, address, body).await / 100, 2);
    }
    let here = async || {
        let all = json!({"limit": 200});
        let listed = world.ok(&world.tenant, "list_webhook_events", all).await;
        listed["events"].as_array().expect("events").len()
    };
    let before = here().await;
    let removed = world.room.remove_old().await.expect("removed");
    assert_eq!(
        removed,
        Removed {
            todos: 0,
            events: 2
        }
    );
    assert_eq!(here().await, before - 2);
    for event in [world.own.event, world.own.delivery] {
        let event = json!({"id": event});
        let event = world.ok(&world.tenant, "get_webhook_event", event).await;
        assert!(event["payload"].is_string());
    }
    let mail = json!({"identity": world.own.address, "message_id": world.own.message});
    world.ok(&world.tenant, "message_raw", mail).await;
    // Nothing is left to remove.
    let again = world.room.remove_old().await.expect("removed");
    assert_eq!(again, Removed::default());
}

#[tokio::test]
async fn a_todo_is_for_a_key_that_is_there() {
    let world = World::new().await;
    let create = async |assignee: &str| {
        let todo = json!({"queue": "work", "title": "Look", "assignee": assignee});
        let surface = postroom_app::operation::Surface::Rest;
        world
            .call(&world.tenant, "todo_create", todo, surface)
            .await
    };
    assert!(create(&world.own.key).await.is_ok());
    let missing = create("key_01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .await
        .expect_err("missing");
    let foreign = create(&world.foreign.key).await.expect_err("foreign");
    assert_eq!(missing.code, postroom_types::ErrorCode::NotFound);
    assert_eq!(missing.to_string(), foreign.to_string());
    assert_eq!(missing.details, foreign.details);
    let revoked = json!({"key_id": world.sibling.key});
    world.ok(&world.tenant, "key_revoke", revoked).await;
    assert!(create(&world.sibling.key).await.is_err());
}
