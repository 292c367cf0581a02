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
fn the_mailbox_that_a_mail_names_first_has_the_primary_copy() {
    on_both(async |world| {
        let second = Address::parse("books@harbour.example").expect("an address");
        let made = world.room.mailbox(world.tenant(), &second).await;
        made.expect("a mailbox");
        let (desk, books, bob) = (
            "desk+berths@harbour.example",
            "Books <books@harbour.example>",
            "bob@shore.example",
        );
        let rows = [
            (format!("To: {desk}"), true, false),
            (format!("To: {books}, {desk}"), false, false),
            (format!("To: {bob}, {desk}\r\nCc: {books}"), true, false),
            (format!("To: {bob}\r\nCc: {books}, {desk}"), false, false),
            (format!("To: {bob}\r\nCc: {books}"), false, true),
            (format!("To: {bob}"), true, true),
        ];
        for (number, (named, primary, blind)) in rows.into_iter().enumerate() {
            let text = format!(
                "Message-ID: <p{number}@shore.example>\r\nFrom: ann@shore.example\r\n{named}\r\n\
                 Subject: P{number}\r\n\r\nx\r\n"
            );
            world.receive(&text).await;
            let subject = format!("P{number}");
            let wanted = json!({"since": "2000-01-01T00:00:00Z", "subject_contains": subject});
            let waited = world.call("mail_wait", wanted).await;
            let message = &waited["message"];
            assert_eq!(message["is_primary_recipient"], primary, "{named}");
            let flags = message["flags"].to_string();
            assert_eq!(flags.contains("bcc"), blind, "{named}: {flags}");
            let arguments = json!({"thread_id": message["thread_id"]});
            let thread = world.call("mail_get_thread", arguments).await;
            let shown = &thread["messages"][0]["is_primary_recipient"];
            assert_eq!(*shown, primary, "{named}");
        }
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
