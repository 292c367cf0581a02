//! Mail that arrives.

use postroom_app::room::RecipientVerdict;
use postroom_types::Address;
use serde_json::json;

use crate::world::{mail, on_both, subjects};

#[test]
fn a_received_mail_becomes_a_message_that_is_found() {
    on_both(async |world| {
        let received = world
            .receive(&mail(1, "Berth 12", "The berth is free on Friday.", ""))
            .await;
        assert!(!received.duplicate);
        let waited = world
            .call("mail_wait", json!({"since": "2000-01-01T00:00:00Z"}))
            .await;
        assert_eq!(waited["message"]["subject"], "Berth 12");
        assert_eq!(waited["message"]["delivered_to"], crate::world::MAILBOX);
        world.indexed().await;
        assert_eq!(subjects(&world.search("berth").await), ["Berth 12"]);
        world.room.close().await;
    });
}

#[test]
fn a_redelivery_is_the_same_event() {
    on_both(async |world| {
        let text = mail(1, "Once", "x", "");
        let first = world.receive(&text).await;
        let again = world.receive(&text).await;
        assert!(again.duplicate);
        assert_eq!(first.event_id, again.event_id);
        world.room.close().await;
    });
}

#[test]
fn mail_kept_before_the_end_is_read_after_the_next_start() {
    on_both(async |world| {
        for n in 0..50 {
            world.receive(&mail(n, &format!("Kept {n}"), "x", "")).await;
        }
        let world = world.reopened().await;
        let mut seen = 0;
        let mut since = "2000-01-01T00:00:00Z".to_owned();
        while seen < 50 {
            let waited = world
                .call("mail_wait", json!({"since": since, "timeout_seconds": 60}))
                .await;
            assert_eq!(waited["timed_out"], false, "{seen} of 50 came");
            let at: postroom_types::Timestamp = waited["message"]["received_at"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("a time");
            since = at.to_string();
            world.indexed().await;
            let found = world.search("subject:kept").await;
            seen = found["facets"]["month"]["2026-11"].as_u64().unwrap_or(0);
        }
        world.room.close().await;
    });
}

#[test]
fn an_unknown_recipient_is_unknown_and_detail_is_ignored() {
    on_both(async |world| {
        let verdict = async |text: &str| {
            world
                .room
                .recipient(&Address::parse(text).expect("an address"))
                .await
        };
        assert!(matches!(
            verdict("nobody@harbour.example").await,
            RecipientVerdict::Unknown
        ));
        let RecipientVerdict::Accept(recipient) = verdict("desk+boats@harbour.example").await
        else {
            panic!("a detail changes nothing");
        };
        assert_eq!(recipient.identity, world.identity);
        assert_eq!(
            recipient.delivered_to.as_deref(),
            Some("desk+boats@harbour.example")
        );
        world.room.close().await;
    });
}

#[test]
fn bytes_that_are_no_mail_are_kept_and_hold_up_nothing() {
    on_both(async |world| {
        world.receive("\u{0}\u{1}\u{2} not a mail at all").await;
        world.receive(&mail(2, "Behind", "x", "")).await;
        let waited = world
            .call(
                "mail_wait",
                json!({"since": "2000-01-01T00:00:00Z", "subject_contains": "behind"}),
            )
            .await;
        assert_eq!(waited["message"]["subject"], "Behind");
        world.room.close().await;
    });
}
