//! The demo's sources, deliveries and work: made by the operations that anybody calls, delivered
//! through the door that any provider knocks at.

use postroom_app::room::WebhookRequest;
use postroom_types::Timestamp;
use serde_json::{Value, json};

use super::super::serve::Server;
use crate::{
    cli::{alias::used, trouble::Trouble},
    demo::{Mailbox, arrivals::Way},
};

/// Where deliveries come from, as far as the log says.
const SENDER: &str = "192.0.2.80";

/// What the demo tells of its ways in.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Provider and name of each source.
    sources: Vec<(&'static str, &'static str)>,
    /// Events that the sources brought.
    events: u64,
    /// Todos that wait, by queue.
    waiting: Vec<(String, u64)>,
}

/// Connects the sources, lets them deliver, and works a little.
pub(super) async fn load(server: &Server, now: Timestamp) -> Result<Loaded, Trouble> {
    let mut loaded = Loaded::default();
    for way in Way::ALL {
        connect(server, way, now).await?;
        loaded.sources.push((way.provider(), way.name()));
    }
    work(server).await?;
    let listed = server.call(used::LIST_SOURCES, json!({})).await?;
    for source in list(&listed, "sources") {
        loaded.events += number(source, "deliveries");
    }
    let queues = server.call(used::LIST_QUEUES, json!({})).await?;
    for queue in list(&queues, "queues") {
        let waiting = number(queue, "pending");
        if waiting > 0 {
            loaded.waiting.push((text(queue, "queue"), waiting));
        }
    }
    Ok(loaded)
}

async fn connect(server: &Server, way: Way, now: Timestamp) -> Result<(), Trouble> {
    let mut random = [0; 24];
    getrandom::fill(&mut random)
        .map_err(|_| Trouble::io("The system gives no randomness.", "Try again."))?;
    let issued = way.issued_secret(&random);
    let mut wanted = json!({
        "source_type": way.provider(),
        "target_queue": way.queue(),
        "name": way.name(),
    });
    for (name, value) in [
        (
            "identity",
            way.mailbox().map(|mailbox| mailbox.address().into()),
        ),
        ("signing_secret", issued.clone().map(Value::from)),
        ("trusted_actors", way.trusted()),
    ] {
        if let Some(value) = value {
            wanted[name] = value;
        }
    }
    let made = server.call(used::CREATE_SOURCE, wanted).await?;
    if let Some(rules) = way.rules() {
        let wanted = json!({"source_id": made["source_id"], "rules": rules});
        server.call(used::SET_SOURCE_RULES, wanted).await?;
    }
    let secret = issued.unwrap_or_else(|| text(&made, "signing_secret"));
    deliver(server, way, &text(&made, "ingest_url"), &secret, now).await
}

/// Posts every delivery of a source to its address.
async fn deliver(
    server: &Server,
    way: Way,
    url: &str,
    secret: &str,
    now: Timestamp,
) -> Result<(), Trouble> {
    let token = url.rsplit('/').next().unwrap_or_default();
    for delivery in way.deliveries(now) {
        let request = WebhookRequest {
            method: "POST".to_owned(),
            url: url.to_owned(),
            // Signed with the time of now, whenever the world is said to be.
            headers: delivery.headers(way, secret, server.room.now()),
            body: delivery.body().to_owned().into(),
            source_ip: Some(SENDER.to_owned()),
        };
        let answer = match server.room.knock(token).await {
            Ok(door) => server.room.arrive(door, request).await,
            Err(answer) => answer,
        };
        let taken = (200..300).contains(&answer.status);
        if taken == delivery.is_forged() {
            return Err(Trouble::io(
                format!(
                    "A delivery of the demo from {} was answered {}.",
                    way.provider(),
                    answer.status
                ),
                "Report this.",
            ));
        }
    }
    Ok(())
}

/// Todos in every state: one taken, one done, one to be tried again, one given up, one of a person.
async fn work(server: &Server) -> Result<(), Trouble> {
    let bookings = Mailbox::Bookings.address();
    let form = waiting(server, "enquiries").await?;
    if let [first, second, ..] = form.as_slice() {
        claim(server, first, "front-desk", 300).await?;
        let words = json!({
            "id": first, "summary": "Nine-seater is free on both days; offer sent.",
            "result": {"offer": "LK-7310-1", "total_gbp": 214},
        });
        server.call(used::COMPLETE_TODO, words).await?;
        claim(server, second, "front-desk", 300).await?;
        let words = json!({"id": second, "summary": "The calendar did not answer."});
        server.call(used::FAIL_TODO, words).await?;
    }
    if let Some(dispute) = waiting(server, "payments").await?.first() {
        claim(server, dispute, "night-shift", 3_600).await?;
    }
    let insurance = json!({
        "queue": "office", "title": "Renew the insurance of van 7", "identity": bookings, "kind": "reminder",
        "source": "Ada", "priority": 1, "payload": {"policy": "FX-2291", "ends": "next Friday"},
    });
    server.call(used::CREATE_TODO, insurance).await?;
    let letter = json!({
        "queue": "office", "title": "Send the old price list to the printer", "identity": bookings,
        "source": "Ada", "max_attempts": 1,
    });
    let letter = text(&server.call(used::CREATE_TODO, letter).await?, "id");
    claim(server, &letter, "front-desk", 300).await?;
    let words = json!({"id": letter, "summary": "The printer has closed down."});
    server.call(used::FAIL_TODO, words).await?;
    Ok(())
}

/// Ids of what waits in a queue, oldest first.
async fn waiting(server: &Server, queue: &str) -> Result<Vec<String>, Trouble> {
    let wanted = json!({"queue": queue, "state": "pending", "limit": 50});
    let listed = server.call(used::LIST_TODOS, wanted).await?;
    let mut ids: Vec<String> = list(&listed, "todos")
        .map(|todo| text(todo, "id"))
        .collect();
    ids.reverse();
    Ok(ids)
}

async fn claim(server: &Server, id: &str, who: &str, seconds: u32) -> Result<(), Trouble> {
    let wanted = json!({"id": id, "claimant": who, "lease_ttl_seconds": seconds});
    server.call(used::CLAIM_TODO, wanted).await.map(drop)
}

impl Loaded {
    /// Lines for the person who started the demo.
    pub(super) fn hello(&self) -> Vec<String> {
        if self.sources.is_empty() {
            return Vec::new();
        }
        let sources: Vec<&str> = self.sources.iter().map(|(provider, _)| *provider).collect();
        let waiting: Vec<String> = self
            .waiting
            .iter()
            .map(|(queue, count)| format!("{count} in {queue}"))
            .collect();
        vec![
            format!(
                "sources     {} ({} events)",
                sources.join(", "),
                self.events
            ),
            format!("todos       {}", waiting.join(", ")),
        ]
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Value {
        let waiting: serde_json::Map<String, Value> = self
            .waiting
            .iter()
            .map(|(queue, count)| (queue.clone(), (*count).into()))
            .collect();
        json!({
            "sources": self.sources.iter().map(|(provider, _)| *provider).collect::<Vec<_>>(),
            "events": self.events,
            "todos": waiting,
        })
    }
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn number(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}

fn text(value: &Value, name: &str) -> String {
    value
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
