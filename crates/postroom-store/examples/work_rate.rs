//! How many verified deliveries a second become event and todo, and how many todos a second are
//! claimed and completed, synced.
//!
//! `cargo run --release -p postroom-store --example work_rate -- 20000 64 1000000`: deliveries,
//! callers at once, finished todos that lie behind. On SQLite in a temporary folder; on the
//! PostgreSQL of `POSTROOM_TEST_DATABASE_URL` (a database of its own) when that is set.

#![allow(
    clippy::exit,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that measures"
)]

use postroom_core::{
    Arrive, ClaimNextTodo, Command, CreateSource, CreateTenant, Disposition, EndAttempt, Family,
    LeaseTerms, Mode, Outcome, RawMail, Routing, SecretOrigin, SourceRow, TrustMode, Work, Worker,
};
use postroom_store::{Store, StoreOptions};
use postroom_types::{KeyId, Reach, Secret, TenantId, TenantScope, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970");
    Timestamp::from_ms(i64::try_from(since.as_millis()).expect("fits"))
}

async fn source(store: &Store) -> SourceRow {
    let tenant = match store
        .transact(Command::CreateTenant(CreateTenant {
            slug: format!("bench-{}", std::process::id()),
            name: String::new(),
            mode: Mode::Live,
            timezone: "UTC".to_owned(),
            address_suffix: None,
        }))
        .await
        .expect("created")
    {
        Outcome::Tenant(row) => row.id,
        other => panic!("{other:?}"),
    };
    let token = store.mint_token().expect("minted");
    let secret = Secret::new("whsec_0123456789abcdef".to_owned());
    let create = CreateSource {
        tenant,
        identity: None,
        provider: "github".to_owned(),
        name: String::new(),
        token: store.seal_token(tenant, &token).expect("sealed"),
        trust_mode: TrustMode::Signed,
        secret_origin: SecretOrigin::Minted,
        secret: Some(store.seal_secret(tenant, &secret).expect("sealed")),
        queue: "triage".to_owned(),
        rules: None,
        options: None,
        trusted_actors: None,
    };
    match store
        .transact(Command::CreateSource(Box::new(create)))
        .await
        .expect("created")
    {
        Outcome::Source(row) => *row,
        other => panic!("{other:?}"),
    }
}

fn delivery(source: &SourceRow, n: usize) -> Command {
    // Two kilobytes that do not compress to nothing.
    let mut state = n as u64 + 1;
    let mut body = format!("{{\"id\":\"d{n}\",\"words\":\"");
    while body.len() < 2_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        body.push_str(&format!("{:x} ", state >> 40));
    }
    body.push_str("\"}");
    let headers = ["accept", "user-agent", "x-github-event", "x-github-hook-id"];
    Command::Arrive(Box::new(Arrive {
        tenant: source.tenant_id,
        source: source.id,
        source_version: source.version,
        raw: RawMail::new(body.into_bytes()),
        family: Family::Webhook,
        event_type: Some("push".to_owned()),
        external_key: format!("delivery-{n}"),
        trust_mode: TrustMode::Signed,
        verified: true,
        verify_detail: Some("hmac-sha256 ok".to_owned()),
        content_type: Some("application/json".to_owned()),
        headers: headers
            .iter()
            .map(|name| ((*name).to_owned(), "a value of some length".to_owned()))
            .collect::<BTreeMap<_, _>>(),
        source_ip: Some("192.0.2.9".to_owned()),
        occurred_at: None,
        carries_mail: false,
        routing: Routing {
            disposition: Disposition::Routed,
            work: Some(Work {
                title: format!("A push to main, number {n}"),
                kind: Some("push".to_owned()),
                ..Work::default()
            }),
            once: None,
            trace: Some(r#"{"stage":"default","cause":"no_match_default"}"#.to_owned()),
        },
    }))
}

fn report(what: &str, count: usize, took: Duration, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| {
        let place = times.len().saturating_sub(1) * part / 1_000;
        times.get(place).copied().unwrap_or_default().as_secs_f64() * 1_000.0
    };
    println!(
        "{what}: {:.0}/s, p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms ({count} in {:.2} s)",
        count as f64 / took.as_secs_f64(),
        at(500),
        at(990),
        at(999),
        took.as_secs_f64()
    );
}

async fn arrivals(store: &Store, source: &SourceRow, count: usize, callers: usize) {
    let taken = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let (store, source, taken) = (store.clone(), source.clone(), Arc::clone(&taken));
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            loop {
                let n = taken.fetch_add(1, Ordering::Relaxed);
                if n >= count {
                    return times;
                }
                let began = Instant::now();
                store.transact(delivery(&source, n)).await.expect("in");
                times.push(began.elapsed());
            }
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("ends"));
    }
    report("deliveries", count, began.elapsed(), times);
}

/// Claims and completes until nothing waits; the times are those of the claims.
async fn drain(store: &Store, tenant: TenantId, callers: usize, most: usize, what: &str) {
    let began = Instant::now();
    let taken = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for n in 0..callers {
        let (store, taken) = (store.clone(), Arc::clone(&taken));
        let worker = Worker {
            scope: TenantScope::granted(tenant, Reach::Tenant),
            key: Some(KeyId::from_parts(1, n as u128)),
            queues: None,
            reviews_quarantine: false,
        };
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while taken.fetch_add(1, Ordering::Relaxed) < most {
                let began = Instant::now();
                let claim = Command::ClaimNextTodo(ClaimNextTodo {
                    worker: worker.clone(),
                    queues: Some(vec!["triage".to_owned()]),
                    terms: LeaseTerms::default(),
                });
                let Outcome::Claimed(claimed) = store.transact(claim).await.expect("answered")
                else {
                    return times;
                };
                times.push(began.elapsed());
                let end = EndAttempt {
                    worker: worker.clone(),
                    todo: claimed.row.id,
                    lease_token: Some(claimed.lease_token.0.clone()),
                    result: Some("{\"ok\":true}".to_owned()),
                    summary: None,
                    artifact: None,
                };
                store
                    .transact(Command::CompleteTodo(end))
                    .await
                    .expect("done");
            }
            times
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("ends"));
    }
    report(what, times.len(), began.elapsed(), times);
}

/// Puts finished todos behind, past the store: a million would take minutes.
async fn finished(dir: &std::path::Path, url: Option<&str>, tenant: TenantId, count: usize) {
    let columns = "tenant_id, id, num, queue, title, event_count, payload_size, rank, max_attempts, \
         created_at, state, attempt, attempts_total, updated_at, completed_at";
    let tenant = tenant.bits();
    match url {
        None => {
            let conn = rusqlite::Connection::open(dir.join("postroom.sqlite")).expect("opens");
            conn.busy_timeout(Duration::from_secs(60)).expect("waits");
            let sql = format!(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) \
                 INSERT INTO todos ({columns}) SELECT x'{tenant:032x}', \
                 CAST(printf('%016d', n) AS BLOB), 1, 'triage', 'finished', 0, 0, 0, 5, 1, 'done', \
                 1, 1, 1, 1 FROM n"
            );
            conn.execute_batch(&sql).expect("inserted");
        }
        Some(url) => {
            let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("opens");
            tokio::spawn(connection);
            let sql = format!(
                "INSERT INTO todos ({columns}) SELECT decode('{tenant:032x}', 'hex'), \
                 convert_to(lpad(n::text, 16, '0'), 'UTF8'), 1, 'triage', 'finished', 0, 0, 0, 5, \
                 1, 'done', 1, 1, 1, 1 FROM generate_series(1, {count}) AS n"
            );
            for sql in [sql, "VACUUM ANALYZE todos".to_owned()] {
                client.batch_execute(&sql).await.expect("inserted");
            }
        }
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a number"))
        .collect();
    let number = |place: usize, other: usize| numbers.get(place).copied().unwrap_or(other);
    let (count, callers, behind) = (number(0, 20_000), number(1, 64), number(2, 0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("runtime");
    runtime.block_on(async {
        let dir = tempfile::tempdir().expect("dir");
        let url = std::env::var("POSTROOM_TEST_DATABASE_URL").ok();
        let store = Store::open(StoreOptions {
            data_dir: dir.path().to_owned(),
            database_url: url.clone().map(Secret::new),
            secret: None,
            clock: Arc::new(now),
            readers: 2,
        })
        .await
        .expect("opens");
        let source = source(&store).await;
        let tenant = source.tenant_id;
        arrivals(&store, &source, count, callers).await;
        drain(&store, tenant, callers, count / 2, "claim and complete").await;
        if behind > 0 {
            finished(dir.path(), url.as_deref(), tenant, behind).await;
            let what = format!("claim and complete with {behind} finished behind");
            drain(&store, tenant, callers, count / 4, &what).await;
            let what = format!("one caller with {behind} finished behind");
            drain(&store, tenant, 1, 1_000, &what).await;
        }
        store.close().await;
    });
}
