//! Imports an archive into a fresh room and searches it: `room_speed PATH [QUERY...]`.
//!
//! Prints mails per second until stored and until all can be found, and the time of each search
//! inside the room, the first page with facets and snippets.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program that measures"
)]

use std::{path::PathBuf, time::Duration};

use postroom_app::{
    Actor, CallContext, Room,
    clock::monotonic,
    import::{self, ImportOptions},
    operation::{Surface, find},
    room::RoomOptions,
};
use postroom_types::{Address, RequestId};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 200;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().expect("a path"));
    let queries: Vec<String> = arguments.collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let room = Room::open(RoomOptions::new(folder.path()))
        .await
        .expect("a room");
    let tenant = room.default_tenant();
    let address = Address::parse("speed@harbour.example").expect("an address");
    let identity = room.mailbox(tenant, &address).await.expect("a mailbox");
    let options = ImportOptions {
        tenant,
        identity,
        cancel: CancellationToken::new(),
    };
    let began = monotonic();
    let report = import::run(&room, vec![path], options, |_| {}).await;
    let stored = began.elapsed();
    let found = room
        .indexed(tenant, Duration::from_secs(600))
        .await
        .expect("a position");
    let searchable = began.elapsed();
    let rate = |took: Duration| report.counts.read as f64 / took.as_secs_f64();
    println!("{:?}", report.counts);
    println!(
        "stored {:.0}/s, searchable {:.0}/s (complete: {found})",
        rate(stored),
        rate(searchable)
    );
    let actor = Actor::local_tenant(tenant);
    let operation = find("mail_search").expect("an operation");
    for query in queries {
        let arguments = json!({"q": query, "identity": identity.to_string()});
        let mut times = Vec::with_capacity(ROUNDS);
        let mut hits = 0;
        for _ in 0..ROUNDS {
            let context = CallContext::new(Surface::Tool, RequestId::from_parts(1, 1), room.now());
            let began = monotonic();
            let reply = room
                .call(&actor, operation, arguments.clone(), &context)
                .await;
            times.push(began.elapsed());
            if let Ok(postroom_app::Reply::Json(answer)) = reply {
                hits = answer["hits"].as_array().map_or(0, Vec::len);
            }
        }
        times.sort_unstable();
        let at = |share: usize| times.get(ROUNDS * share / 100).copied().unwrap_or_default();
        println!("{query:?}: {hits} hits, p50 {:?}, p99 {:?}", at(50), at(99));
    }
    room.close().await;
}
