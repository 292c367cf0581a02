//! Mail that a relay takes at the second try, and what is told of the relay.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
};

use postroom_app::{
    Actor, CallContext, Reply, Room,
    clock::{Clock, SystemClock},
    operation::{Surface, find},
    room::RoomOptions,
    transport::TransportOptions,
};
use postroom_net::{
    egress::{Egress, EgressPolicy},
    smtp::send::{RelayOptions, Security},
};
use postroom_types::{Address, RequestId, Timestamp};
use serde_json::{Value, json};

use crate::world::{MAILBOX, PATIENCE};

/// The system's clock, put forward.
#[derive(Default)]
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_ms(self.0.load(Ordering::Relaxed))
    }
}

/// A relay that puts off the first try of each recipient `later…`, and keeps the recipients that it took.
fn relay() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let taken = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&taken);
    std::thread::spawn(move || {
        let mut put_off = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            // One connection after the other: the sender closes or keeps it as it likes.
            let _ = session(stream, &kept, &mut put_off);
        }
    });
    (port, taken)
}

fn session(
    mut stream: TcpStream,
    kept: &Mutex<Vec<String>>,
    put_off: &mut Vec<String>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    stream.write_all(b"220 relay.example ready\r\n")?;
    let (mut line, mut recipients) = (String::new(), Vec::new());
    while lines.read_line(&mut line)? > 0 {
        let command = line.trim_end().to_ascii_lowercase();
        let answer = if command.starts_with("rcpt") {
            let path = command.split(['<', '>']).nth(1).unwrap_or_default();
            if path.starts_with("later") && !put_off.iter().any(|known| known == path) {
                put_off.push(path.to_owned());
                "451 4.7.1 come back later\r\n"
            } else {
                recipients.push(path.to_owned());
                "250 2.1.5 ok\r\n"
            }
        } else if command == "data" && recipients.is_empty() {
            "554 5.5.1 no valid recipients\r\n"
        } else if command == "data" {
            stream.write_all(b"354 go on\r\n")?;
            let mut text = String::new();
            while lines.read_line(&mut text)? > 0 && text != ".\r\n" {
                text.clear();
            }
            kept.lock().expect("lock").append(&mut recipients);
            "250 2.0.0 taken\r\n"
        } else if command == "quit" {
            return stream.write_all(b"221 2.0.0 bye\r\n");
        } else {
            "250 2.0.0 ok\r\n"
        };
        stream.write_all(answer.as_bytes())?;
        line.clear();
    }
    Ok(())
}

async fn call(room: &Room, name: &str, arguments: Value) -> Value {
    let context = CallContext::new(Surface::Rest, RequestId::from_parts(1, 1), room.now());
    let actor = Actor::local_tenant(room.default_tenant());
    let operation = find(name).expect("an operation");
    match room.call(&actor, operation, arguments, &context).await {
        Ok(Reply::Json(answer)) => answer,
        Ok(Reply::Bytes(_)) => panic!("{name} answers JSON"),
        Err(failure) => panic!("{name}: {failure} {:?}", failure.details),
    }
}

/// The delivery of a mail's only recipient, once it is as wanted.
async fn until(room: &Room, sent: &Value, wanted: impl Fn(&Value) -> bool) -> Value {
    let asked = json!({"identity": MAILBOX, "message_id": sent["id"]});
    let reached = tokio::time::timeout(PATIENCE, async {
        loop {
            let told = call(room, "mail_get_message", asked.clone()).await;
            if wanted(&told["deliveries"][0]) {
                return told["deliveries"][0].clone();
            }
            tokio::task::yield_now().await;
        }
    });
    reached.await.expect("it comes to that")
}

#[test]
fn what_a_relay_puts_off_is_handed_over_again_and_once() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let (port, taken) = relay();
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(Ahead::default());
        let policy = EgressPolicy {
            allow_ports: vec![port.to_string().parse().expect("a port")],
            ..EgressPolicy::default()
        };
        let mut relay = RelayOptions::new("127.0.0.1", port, "localhost");
        relay.security = Security::Plain;
        let options = RoomOptions {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            egress: Some(Arc::new(Egress::new(policy).expect("a policy"))),
            transport: TransportOptions::Relay {
                relay,
                domains: vec!["harbour.example".to_owned()],
            },
            ..RoomOptions::new(folder.path().join("data"))
        };
        let room = Room::open(options).await.expect("the room opens");
        let address = Address::parse(MAILBOX).expect("an address");
        room.mailbox(room.default_tenant(), &address)
            .await
            .expect("a mailbox");
        let owner = json!({"name": "Olga Owner", "email": "olga@owner.example"});
        call(
            &room,
            "identity_update",
            json!({"identity": MAILBOX, "owner": owner}),
        )
        .await;
        let mail = |to: &str| json!({"identity": MAILBOX, "to": [to], "subject": "S", "text": "T", "idempotency_key": to});

        let sent = call(&room, "mail_send", mail("later@outside.example")).await;
        let waits = until(&room, &sent, |told| told["smtp_code"] == 451).await;
        assert_eq!(waits["status"], "queued", "{waits}");
        // Before its time it is left alone, whatever else leaves.
        let other = call(&room, "mail_send", mail("now@outside.example")).await;
        until(&room, &other, |told| told["status"] == "submitted").await;
        assert_eq!(*taken.lock().expect("lock"), ["now@outside.example"]);
        clock.0.store(61_000, Ordering::Relaxed);
        // Whoever waits on a clock that was put forward looks again when something happens.
        let third = call(&room, "mail_send", mail("too@outside.example")).await;
        until(&room, &third, |told| told["status"] == "submitted").await;
        let taken_at_last = until(&room, &sent, |told| told["status"] == "submitted").await;
        assert_eq!(taken_at_last["smtp_code"], 250, "{taken_at_last}");
        let mut all = taken.lock().expect("lock").clone();
        all.sort_unstable();
        assert_eq!(
            all,
            ["later@outside.example", "now@outside.example", "too@outside.example"]
        );

        let outbox = room.status().await.expect("a status").outbox;
        assert_eq!(outbox.host, Some(format!("127.0.0.1:{port}")));
        assert_eq!(outbox.domains, ["harbour.example"]);
        assert_eq!(outbox.paused_until, None);
        room.close().await;
    });
}
