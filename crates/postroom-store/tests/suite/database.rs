//! Opening, closing, callers that go away, batches with a bad command.

use super::world::{NOON, World, create_tenant, mail, on_both, options, refused};
use postroom_core::{Command, ImportOutcome, Outcome, Target, UpdateLabels};
use postroom_store::{DatabaseKind, Store, StoreError, StoreOptions, read};
use postroom_types::{ErrorCode, Secret, limit};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, UNIX_EPOCH},
};

#[test]
fn what_was_answered_is_there_after_opening_again() {
    on_both(|world: World| async move {
        assert!(world.store.is_new());
        let raw = mail("a@x.example", &[], "ann@shop.example", "One");
        let outcomes = world.import(std::slice::from_ref(&raw)).await;
        let ImportOutcome::Stored { message_id, .. } = outcomes[0] else {
            panic!("stored");
        };
        let position = read::position(&world.store, &world.tenant_scope())
            .await
            .expect("reads");
        let world = world.reopen().await;
        assert!(!world.store.is_new());
        let bytes = read::raw(&world.store, &world.scope(), message_id)
            .await
            .expect("reads");
        assert_eq!(bytes.as_deref(), Some(raw.as_bytes()));
        let again = world.import(&[raw]).await;
        assert!(matches!(again[0], ImportOutcome::Duplicate { .. }));
        let after = read::position(&world.store, &world.tenant_scope())
            .await
            .expect("reads");
        assert_eq!(after, position);
    });
}

/// Of many that read the same at once one reads for the others, and none gets what is older than
/// its call.
#[test]
fn a_read_holds_what_was_answered_before_it_however_many_read_the_same() {
    on_both(|world: World| async move {
        let scope = world.tenant_scope();
        let over = Arc::new(AtomicBool::new(false));
        let others: Vec<_> = (0..8)
            .map(|_| {
                let (store, over) = (world.store.clone(), Arc::clone(&over));
                tokio::spawn(async move {
                    let mut last = 0;
                    while !over.load(Ordering::Relaxed) {
                        let position = read::position(&store, &scope).await.expect("reads");
                        assert!(position >= last, "{position} after {last}");
                        last = position;
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        let mut last = read::position(&world.store, &scope).await.expect("reads");
        for n in 0..30 {
            let id = format!("{n}@x.example");
            world
                .import(&[mail(&id, &[], "ann@shop.example", "One")])
                .await;
            let position = read::position(&world.store, &scope).await.expect("reads");
            assert!(position > last, "{position} after {last}");
            last = position;
        }
        over.store(true, Ordering::Relaxed);
        for other in others {
            other.await.expect("reads to its end");
        }
    });
}

/// Letters that compress to no less than three quarters.
fn noise(len: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let mut state: u32 = 1;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(LETTERS[(state >> 26) as usize])
    };
    let line = |_| (0..76).map(|_| letter()).chain("\r\n".chars()).collect();
    (0..len / 78).map(line).collect::<Vec<String>>().concat()
}

#[test]
fn a_start_removes_old_files_that_no_row_names() {
    on_both(|world: World| async move {
        if world.store.database().kind == DatabaseKind::Postgres {
            return;
        }
        let raw = mail("a@x.example", &[], "ann@shop.example", "One")
            + &noise(2 * limit::BLOB_INLINE_BYTES);
        let outcomes = world.import(std::slice::from_ref(&raw)).await;
        let ImportOutcome::Stored { message_id, .. } = outcomes[0] else {
            panic!("stored");
        };
        let now = UNIX_EPOCH + Duration::from_millis(world.now().ms().cast_unsigned());
        let hour = Duration::from_millis(limit::BLOB_UNNAMED_MS);
        let place = world.folder().join("blobs").join("ab");
        std::fs::create_dir_all(&place).expect("made");
        let unnamed = |last: &str, age| {
            let path = place.join(format!("ab{}{last}.zst", "0".repeat(61)));
            let file = std::fs::File::create(&path).expect("made");
            file.set_modified(now - age).expect("dated");
            path
        };
        let old = unnamed("1", hour + Duration::from_millis(1));
        let young = unnamed("2", hour);
        let named = named_files(&world.folder().join("blobs"));
        assert_eq!(named.len(), 3, "the mail is in a file");
        for path in named {
            if path != young {
                let file = std::fs::File::options().write(true).open(path);
                let dated = file.expect("there").set_modified(now - 2 * hour);
                dated.expect("dated");
            }
        }
        let world = world.reopen().await;
        assert!(!old.exists() && young.exists());
        let bytes = read::raw(&world.store, &world.scope(), message_id).await;
        assert!(bytes.expect("reads").as_deref() == Some(raw.as_bytes()));
    });
}

fn named_files(blobs: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("listed");
        entries.map(|entry| entry.expect("entry").path()).collect()
    };
    list(blobs).iter().flat_map(|folder| list(folder)).collect()
}

#[test]
fn the_database_says_what_it_is_and_how_durable() {
    on_both(|world: World| async move {
        let info = world.store.database();
        match info.kind {
            DatabaseKind::Sqlite => assert!(info.durability.contains("synchronous=FULL")),
            DatabaseKind::Postgres => assert!(info.durability.contains("synchronous_commit=on")),
        }
        assert!(!info.version.is_empty());
    });
}

#[test]
fn a_caller_that_goes_away_does_not_stop_its_commit() {
    on_both(|world: World| async move {
        let mails: Vec<String> = (0..50)
            .map(|n| mail(&format!("{n}@x.example"), &[], "ann@shop.example", "S"))
            .collect();
        for raw in &mails {
            let future = world.store.transact(world.import_command(raw));
            let mut future = std::pin::pin!(future);
            // One poll queues it; then the caller is gone.
            let polled = futures_util::poll!(future.as_mut());
            assert!(polled.is_pending());
        }
        // The writer answers in order, so what is asked now is answered after them.
        let again = world.import(&mails).await;
        assert!(
            again
                .iter()
                .all(|outcome| matches!(outcome, ImportOutcome::Duplicate { .. }))
        );
    });
}

#[test]
fn one_bad_command_in_a_batch_is_refused_alone() {
    on_both(|world: World| async move {
        let missing = Command::UpdateLabels(UpdateLabels {
            tenant: world.tenant,
            identity: world.identity,
            target: Target::Message(postroom_types::MessageId::from_parts(1, 1)),
            add: vec!["x".to_owned()],
            remove: vec![],
            read: None,
        });
        let answers = world
            .store
            .transact_all(vec![
                world.import_command(&mail("a@x.example", &[], "ann@shop.example", "One")),
                missing,
                world.import_command(&mail("b@x.example", &[], "ann@shop.example", "Two")),
            ])
            .await
            .expect("commits");
        assert!(answers[0].is_ok());
        assert_eq!(refused(&answers[1]), ErrorCode::MessageNotFound);
        assert!(answers[2].is_ok());
    });
}

#[test]
fn a_row_that_the_database_refuses_stops_its_own_command_only() {
    on_both(|world: World| async move {
        let minted = world
            .store
            .mint_key(postroom_core::Mode::Live)
            .expect("minted");
        let key = || {
            Command::CreateKey(postroom_core::CreateKey {
                name: "k".to_owned(),
                level: postroom_types::Level::Tenant,
                mode: postroom_core::Mode::Live,
                tenant: Some(world.tenant),
                identity: None,
                permissions: vec![postroom_types::Permission::SearchRead],
                grants: Default::default(),
                expires_at: None,
                credential: minted.credential.clone(),
            })
        };
        // Two keys of one secret are stopped by no rule but the table's own.
        world.store.transact(key()).await.expect("made");
        let answers = world
            .store
            .transact_all(vec![
                world.import_command(&mail("a@x.example", &[], "ann@shop.example", "One")),
                key(),
                world.import_command(&mail("b@x.example", &[], "ann@shop.example", "Two")),
            ])
            .await
            .expect("commits");
        assert!(answers[0].is_ok());
        assert!(answers[2].is_ok());
        let keys = read::keys(&world.store, &world.tenant_scope(), None, 10)
            .await
            .expect("reads");
        assert!(keys.len() <= 2);
    });
}

#[test]
fn a_labelled_thread_that_grows_in_the_same_batch_is_labelled_whole() {
    on_both(|world: World| async move {
        let first = world
            .import(&[
                mail("a@x.example", &[], "ann@shop.example", "One"),
                mail("b@x.example", &[], "ann@shop.example", "Two"),
            ])
            .await;
        let ImportOutcome::Stored { thread_id, .. } = first[0] else {
            panic!("stored");
        };
        let link = mail(
            "c@x.example",
            &["a@x.example", "b@x.example"],
            "ann@shop.example",
            "Three",
        );
        let answers = world
            .store
            .transact_all(vec![
                world.import_command(&link),
                Command::UpdateLabels(UpdateLabels {
                    tenant: world.tenant,
                    identity: world.identity,
                    target: Target::Thread(thread_id),
                    add: vec!["x".to_owned()],
                    remove: vec![],
                    read: None,
                }),
            ])
            .await
            .expect("commits");
        assert!(matches!(answers[1], Ok(Outcome::Labels(_))), "{answers:?}");
        let nums = read::nums_with_label(&world.store, &world.scope(), "x")
            .await
            .expect("reads");
        assert_eq!(nums.len(), 3);
    });
}

#[test]
fn more_commands_than_one_commit_takes_are_all_answered() {
    on_both(|world: World| async move {
        let mails: Vec<String> = (0..limit::COMMIT_BATCH + 1)
            .map(|n| mail(&format!("{n}@x.example"), &[], "ann@shop.example", "S"))
            .collect();
        let outcomes = world.import(&mails).await;
        assert_eq!(outcomes.len(), limit::COMMIT_BATCH + 1);
        let counts = read::counts(&world.store, &world.scope())
            .await
            .expect("reads");
        assert_eq!(counts.messages, limit::COMMIT_BATCH as u64 + 1);
        assert_eq!(counts.threads, limit::COMMIT_BATCH as u64 + 1);
        let all = read::deployment_counts(&world.store, &world.worker.platform())
            .await
            .expect("reads");
        assert_eq!((all.tenants, all.messages), (1, counts.messages));
    });
}

#[test]
fn a_closed_store_takes_nothing() {
    on_both(|world: World| async move {
        world.store.close().await;
        let result = world
            .store
            .transact(world.import_command(&mail("a@x.example", &[], "a@b.example", "S")))
            .await;
        assert!(matches!(result, Err(StoreError::Unavailable)));
    });
}

#[test]
fn a_data_folder_has_one_owner() {
    on_both(|world: World| async move {
        let second = Store::open(world.options.clone()).await;
        assert!(matches!(second.err(), Some(StoreError::Locked(path)) if path == world.folder()));
    });
}

#[test]
fn another_secret_key_does_not_open_the_database() {
    on_both(|world: World| async move {
        let options = world.options.clone();
        let store = world.store.clone();
        store.close().await;
        drop(store);
        let World { store, .. } = &world;
        let _ = store;
        let elsewhere = tempfile::tempdir().expect("dir");
        if options.database_url.is_none() {
            let from = world.folder().join("postroom.sqlite");
            std::fs::copy(from, elsewhere.path().join("postroom.sqlite")).expect("copied");
        }
        let wrong = Store::open(StoreOptions {
            data_dir: elsewhere.path().to_owned(),
            secret: Some(Secret::new([9; 32])),
            ..options
        })
        .await;
        assert!(matches!(wrong.err(), Some(StoreError::SecretMismatch)));
    });
}

#[test]
fn two_nodes_on_one_server_see_each_others_commits() {
    on_both(|world: World| async move {
        if world.store.database().kind == DatabaseKind::Sqlite {
            return;
        }
        let key = std::fs::read(world.folder().join("secret.key")).expect("a key");
        let dir = tempfile::tempdir().expect("dir");
        std::fs::write(dir.path().join("secret.key"), key).expect("written");
        let other = Store::open(StoreOptions {
            data_dir: dir.path().to_owned(),
            ..world.options.clone()
        })
        .await
        .expect("a second node");
        assert!(!other.is_new());
        let mut feed = other.feed(world.tenant);
        let send = async |store: &Store, name: &str| {
            for n in 0..40 {
                let raw = mail(
                    &format!("{name}{n}@x.example"),
                    &["root@x.example"],
                    "a@b.example",
                    "S",
                );
                store
                    .transact(world.import_command(&raw))
                    .await
                    .expect("in");
            }
        };
        tokio::join!(send(&world.store, "one"), send(&other, "two"));
        let counts = read::counts(&other, &world.scope()).await.expect("reads");
        assert_eq!((counts.messages, counts.threads), (80, 1));
        let changes = read::changes(&other, &world.tenant_scope(), 0, 1_000)
            .await
            .expect("reads");
        let positions: Vec<u64> = changes.iter().map(|row| row.position).collect();
        let expected: Vec<u64> = (1..=positions.len() as u64).collect();
        assert_eq!(positions, expected, "no gap and no repeat");
        let last = expected.len() as u64;
        feed.wait_for(|position| position.last >= last)
            .await
            .expect("told");
        other.close().await;
    });
}

#[tokio::test]
async fn a_newer_database_and_a_foreign_url_are_refused_in_words() {
    let dir = tempfile::tempdir().expect("dir");
    let clock = Arc::new(AtomicI64::new(NOON));
    let options = options(dir.path(), None, &clock);
    let store = Store::open(options.clone()).await.expect("opens");
    create_tenant(&store, "acme").await;
    store.close().await;
    drop(store);
    let path = dir.path().join("postroom.sqlite");
    let conn = rusqlite::Connection::open(&path).expect("opens");
    conn.execute_batch(
        "INSERT INTO schema_migrations (number, name, applied_at) VALUES (999, 'x', 0)",
    )
    .expect("written");
    drop(conn);
    let newer = Store::open(options.clone()).await;
    assert!(matches!(
        newer.err(),
        Some(StoreError::NewerSchema { found: 999, known }) if known < 999
    ));
    let url = Some(Secret::new("mysql://user:secret@host/db".to_owned()));
    let foreign = Store::open(StoreOptions {
        database_url: url,
        ..options
    })
    .await;
    let Err(StoreError::Configuration(text)) = foreign else {
        panic!("refused");
    };
    assert!(text.contains("postgres://") && !text.contains("secret"));
}

/// `POSTROOM_TEST_SMALL_DIR` names an empty folder on a file system of its own, 24 to 256 MB large.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_acknowledges_nothing_and_the_store_goes_on_once_there_is_room() {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told of a small disk this way"
    )]
    let Ok(small) = std::env::var("POSTROOM_TEST_SMALL_DIR") else {
        return;
    };
    let dir = tempfile::tempdir_in(small).expect("a small disk");
    let filler = dir.path().join("filler");
    std::fs::write(&filler, vec![1; 12 * 1024 * 1024]).expect("there is room at first");
    let clock = Arc::new(AtomicI64::new(NOON));
    let options = options(&dir.path().join("data"), None, &clock);
    let store = Store::open(options.clone()).await.expect("opens");
    let tenant = create_tenant(&store, "acme").await;
    let identity = super::world::create_identity(&store, tenant, "agent@acme.example").await;
    let recipient = postroom_core::Recipient {
        tenant,
        identity,
        delivered_to: None,
    };
    let mut state: u32 = 3;
    let mut next = |n: usize, len: usize| {
        let body: String = (0..len)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b' ' + (state >> 24) as u8 % 90)
            })
            .collect();
        mail(&format!("{n}@x.example"), &[], "ann@shop.example", &body)
    };
    let mut acknowledged = Vec::new();
    let mut refusals = 0;
    for n in 0..4_000 {
        // Inline bytes and files in turn: both ways of keeping them must fail well.
        let raw = next(n, if n % 2 == 0 { 60_000 } else { 700_000 });
        let digest = postroom_core::RawMail::new(raw.clone().into_bytes()).sha256;
        let command = super::world::import_command(recipient.clone(), &raw);
        match store.transact(command).await {
            Ok(_) => acknowledged.push(digest),
            Err(StoreError::Unavailable) => refusals += 1,
            Err(other) => panic!("{other:?}"),
        }
        if refusals == 20 {
            break;
        }
    }
    assert_eq!(refusals, 20, "the disk did not fill");
    let scope = postroom_types::TenantScope::granted(tenant, postroom_types::Reach::Tenant);
    std::fs::remove_file(&filler).expect("removed");
    let raw = next(9_999, 60_000);
    let command = super::world::import_command(recipient.clone(), &raw);
    store
        .transact(command)
        .await
        .expect("there is room again, without a restart");
    store.close().await;
    drop(store);
    let store = Store::open(options).await.expect("opens again");
    let known = read::known_digests(&store, &scope, identity, &acknowledged)
        .await
        .expect("reads");
    assert_eq!(
        known.len(),
        acknowledged.len(),
        "what was acknowledged is there"
    );
    for id in read::changes(&store, &scope, 0, 10_000)
        .await
        .expect("reads")
    {
        if let Some(message) = id.message_id() {
            let bytes = read::raw(&store, &scope, message).await.expect("whole");
            assert!(bytes.is_some());
        }
    }
    store.close().await;
}
