//! How many mails of an archive one second of the writer's CPU takes in (Linux).
//!
//! `cargo run --release -p postroom-store --example import_rate -- 20000 512`: mails, mails per
//! call. Mails are parsed before the measurement; packing runs on threads that are not counted.

#![allow(
    clippy::exit,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures"
)]

use postroom_core::{
    Command, CreateIdentity, CreateTenant, Draft, Import, Mode, NewAddress, Outcome, RawMail,
    Recipient,
};
use postroom_store::{Store, StoreOptions};
use postroom_types::{Address, Timestamp};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

/// CPU seconds of this process's threads whose name begins with one of `names`.
fn cpu_of(names: &[&str]) -> f64 {
    let mut ticks = 0;
    for task in std::fs::read_dir("/proc/self/task").expect("Linux") {
        let path = task.expect("a thread").path().join("stat");
        let Ok(stat) = std::fs::read_to_string(path) else {
            continue;
        };
        let (head, tail) = stat.rsplit_once(')').expect("a stat line");
        let name = head.split_once('(').map_or("", |(_, name)| name);
        if names.iter().any(|prefix| name.starts_with(prefix)) {
            let fields: Vec<&str> = tail.split_whitespace().collect();
            let field = |place: usize| fields.get(place).and_then(|f| f.parse().ok()).unwrap_or(0);
            ticks += field(11) + field(12);
        }
    }
    f64::from(ticks) / 100.0
}

fn mail(n: usize) -> String {
    // Some words of no meaning, different in each mail, about 5 KB.
    let mut state = n as u64 + 1;
    let mut word = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        format!("w{:x}", (state >> 33) % 5_000)
    };
    let body: Vec<String> = (0..120)
        .map(|_| (0..8).map(|_| word()).collect::<Vec<_>>().join(" "))
        .collect();
    let refs = if n.is_multiple_of(3) {
        String::new()
    } else {
        format!("References: <m{}@x.example>\r\n", n - n % 3)
    };
    format!(
        "Received: from mx.example by in.example; Mon, 30 Nov 2026 10:00:00 +0000\r\n\
         From: Person {} <p{}@y.example>\r\nTo: agent@acme.example\r\nSubject: About {}\r\n\
         Date: Mon, 30 Nov 2026 09:{:02}:00 +0000\r\nMessage-ID: <m{n}@x.example>\r\n{refs}\r\n{}\r\n",
        n % 500,
        n % 500,
        n / 3,
        n % 60,
        body.join("\r\n")
    )
}

async fn open(dir: &std::path::Path) -> (Store, Recipient) {
    let store = Store::open(StoreOptions {
        data_dir: dir.to_owned(),
        database_url: None,
        secret: None,
        clock: Arc::new(|| Timestamp::from_ms(1_796_040_000_000)),
        readers: 1,
    })
    .await
    .expect("opens");
    let tenant = Command::CreateTenant(CreateTenant {
        slug: "acme".to_owned(),
        name: String::new(),
        mode: Mode::Live,
        timezone: "UTC".to_owned(),
        address_suffix: None,
    });
    let Ok(Outcome::Tenant(tenant)) = store.transact(tenant).await else {
        panic!("not created");
    };
    let identity = Command::CreateIdentity(CreateIdentity {
        tenant: tenant.id,
        address: NewAddress::Address(Address::parse("agent@acme.example").expect("valid")),
        display_name: String::new(),
        purpose: None,
        owner: None,
        metadata: BTreeMap::new(),
        client_id: None,
    });
    let Ok(Outcome::Identity { row, .. }) = store.transact(identity).await else {
        panic!("not created");
    };
    let recipient = Recipient {
        tenant: tenant.id,
        identity: row.id,
        delivered_to: None,
    };
    (store, recipient)
}

fn runtime(name: &str) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name(name)
        .enable_all()
        .build()
        .expect("runtime")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (count, batch): (usize, usize) = (number(20_000), number(512));
    let dir = tempfile::tempdir().expect("dir");
    // The writer's task lives on the first runtime, its callers on the second.
    let writing = runtime("writer");
    let calling = runtime("caller");
    let folder = dir.path().to_owned();
    let (store, recipient) = writing
        .block_on(writing.spawn(async move { open(&folder).await }))
        .expect("opened");
    let calls: Vec<Vec<Command>> = (0..count)
        .map(|n| {
            let raw = mail(n).into_bytes();
            Command::Import(Box::new(Import {
                recipient: recipient.clone(),
                draft: Draft::read(&raw, None),
                raw: RawMail::new(raw),
                provider: "import".to_owned(),
                file_time: None,
                unread: false,
                labels: Vec::new(),
            }))
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold(vec![Vec::new()], |mut calls: Vec<Vec<Command>>, command| {
            if calls.last().is_some_and(|call| call.len() == batch) {
                calls.push(Vec::new());
            }
            if let Some(call) = calls.last_mut() {
                call.push(command);
            }
            calls
        });
    let (begin, cpu) = (Instant::now(), cpu_of(&["postroom-writer"]));
    calling.block_on(async {
        let mut waiting = std::collections::VecDeque::new();
        for call in calls {
            let store = store.clone();
            waiting.push_back(tokio::spawn(async move { store.transact_all(call).await }));
            if waiting.len() >= 3 {
                let done = waiting.pop_front().expect("one").await.expect("runs");
                assert!(done.expect("commits").iter().all(Result::is_ok));
            }
        }
        for call in waiting {
            assert!(call.await.expect("runs").is_ok());
        }
    });
    let wall = begin.elapsed().as_secs_f64();
    let cpu = cpu_of(&["postroom-writer"]) - cpu;
    let size = std::fs::metadata(dir.path().join("postroom.sqlite")).map_or(0, |m| m.len());
    println!(
        "{count} mails in {wall:.2} s wall, {cpu:.2} s CPU of the writer: {:.0} mails/s, {:.0} mails per CPU second, {} bytes on disk per mail",
        count as f64 / wall,
        count as f64 / cpu,
        size / count as u64
    );
    calling.block_on(store.close());
}
