//! What the log says of calls, at its most talkative.

use std::sync::{Arc, Mutex};

use postroom_app::{
    operation::{Surface, TABLE},
    room::WebhookRequest,
};
use postroom_types::Level;
use serde_json::json;

use crate::world::{CANARY, World, arguments, at_level};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_argument_no_secret_and_nothing_out_of_mail_reaches_the_log() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // With a single subscriber in the process, `tracing` asks the thread that meets a line first
    // whether it wants it, and threads of other tests do not; a second one makes it ask all.
    let _second = tracing::Dispatch::new(
        tracing_subscriber::fmt()
            .with_writer(std::io::sink)
            .finish(),
    );
    let _guard = tracing::subscriber::set_default(subscriber);
    let world = World::new().await;
    for row in TABLE.iter().filter(|row| row.annotations.read_only) {
        for level in [Level::Identity, Level::Tenant] {
            let actor = at_level(&world, level);
            let arguments = arguments(row.name, &world.own);
            let _ = world
                .call(&actor, row.name, arguments, Surface::Tool)
                .await
                .is_ok();
        }
    }
    let refused = json!({"q": "from:((sesame", "labels": ["opensesame"]});
    let _ = world
        .call(&world.agent, "mail_search", refused, Surface::Tool)
        .await
        .is_ok();
    let replayed = json!({"id": world.own.event, "target_url": format!("{}x?token=opensesame", world.own.target)});
    let replayed = world
        .call(
            &world.tenant,
            "replay_webhook_event",
            replayed,
            Surface::Tool,
        )
        .await;
    assert!(replayed.is_ok(), "{replayed:?}");
    let door = world
        .room
        .knock(&world.own.source_token)
        .await
        .expect("a source");
    let delivery = WebhookRequest {
        method: "POST".to_owned(),
        url: format!("http://127.0.0.1/in/{}", world.own.source_token),
        headers: vec![("x-postroom-signature".to_owned(), b"v1=5e5a3e".to_vec())],
        body: bytes::Bytes::from_static(b"opensesame"),
        source_ip: Some("192.0.2.7".to_owned()),
    };
    assert_eq!(world.room.arrive(door, delivery).await.status, 401);
    let log = String::from_utf8(lines.0.lock().expect("lock").clone()).expect("text");
    let secret = world.agent_token.rsplit('_').next().expect("a secret");
    for silent in [
        CANARY,
        "deposit",
        "sesame",
        "terms.txt",
        "Mia Lund",
        "5e5a3e",
        secret,
        &world.own.source_token,
        &world.own.source_secret,
    ] {
        let line = log.lines().find(|line| line.contains(silent));
        assert!(line.is_none(), "{silent}: {line:?}");
    }
    for (line, said) in [
        ("a delivery was refused", "reason=\"malformed_signature\""),
        ("a delivery was refused", "source_ip=\"192.0.2.7\""),
        ("an event was replayed", "target_host=\"127.0.0.1\""),
        ("an event was replayed", "response_status=204"),
    ] {
        let found = log.lines().find(|found| found.contains(line));
        assert!(
            found.is_some_and(|found| found.contains(said)),
            "{said}: {found:?}"
        );
    }
    let search = log
        .lines()
        .find(|line| line.contains("operation=\"mail_search\""))
        .unwrap_or_else(|| panic!("no line in {log}"));
    for said in [
        "method=\"tools/call\"",
        "key=",
        "identity=",
        "query_hash=",
        "duration_ms=",
        "outcome=\"ok\"",
    ] {
        assert!(search.contains(said), "{said} in {search}");
    }
}

#[tokio::test]
async fn nothing_of_a_mail_that_is_sent_reaches_the_log() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _second = tracing::Dispatch::new(
        tracing_subscriber::fmt()
            .with_writer(std::io::sink)
            .finish(),
    );
    let _guard = tracing::subscriber::set_default(subscriber);
    let world = World::new().await;
    let mail = json!({
        "identity": world.own.identity, "to": [{"address": "numbat@outside.example", "name": "Quokka Bilby"}],
        "bcc": ["potoroo@outside.example"], "subject": "Wombat", "text": "Echidna.", "html": "<p>Dingo</p>",
        "attachments": [{"filename": "cassowary.txt", "content_type": "text/plain", "content_base64": "aGk="}],
        "headers": {"X-Taipan": "lorikeet"}, "metadata": {"galah": "brolga"}, "labels": ["kookaburra"],
        "idempotency_key": "thylacine",
    });
    let sent = world
        .call(&world.tenant, "mail_send", mail.clone(), Surface::Tool)
        .await;
    assert!(sent.is_ok(), "{sent:?}");
    // Refused at each of several steps, by words of its own.
    for (name, value) in [
        ("to", json!(["numbat"])),
        ("subject", json!("Wombat\nBcc: potoroo@outside.example")),
        ("headers", json!({"Taipan": "lorikeet"})),
        ("from_address", json!("bandicoot@room.example")),
        ("labels", json!(["Kookaburra!"])),
        ("thread_id", json!("thr_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
        ("text", json!("Another echidna.")),
    ] {
        let mut refused = mail.clone();
        refused[name] = value;
        if name != "text" {
            refused["idempotency_key"] = json!(format!("thylacine {name}"));
        }
        for actor in [&world.tenant, &world.agent] {
            let answer = world
                .call(actor, "mail_send", refused.clone(), Surface::Tool)
                .await;
            assert!(answer.is_err(), "{name}: {answer:?}");
        }
    }
    let draft = json!({"identity": world.own.identity, "kind": "send", "mail": {"subject": "Wombat", "to": ["numbat@outside.example"]}});
    world.ok(&world.tenant, "draft_create", draft).await;
    for address in ["numbat@outside.example", "potoroo@outside.example"] {
        let wanted = json!({"address": address});
        world.ok(&world.tenant, "suppression_add", wanted).await;
        let wanted = json!({"kind": "block", "entry": address});
        world.ok(&world.tenant, "list_entry_add", wanted).await;
    }
    world.room.close().await;
    let log = String::from_utf8(lines.0.lock().expect("lock").clone()).expect("text");
    for silent in [
        "numbat",
        "quokka",
        "potoroo",
        "wombat",
        "echidna",
        "dingo",
        "cassowary",
        "taipan",
        "lorikeet",
        "galah",
        "brolga",
        "kookaburra",
        "thylacine",
        "bandicoot",
        CANARY,
    ] {
        let line = log
            .lines()
            .find(|line| line.to_lowercase().contains(silent));
        assert!(line.is_none(), "{silent}: {line:?}");
    }
    assert!(log.contains("a mail was handed over"), "{log}");
}
