//! Archives.

use std::fs;

use postroom_app::import::{self, ImportCounts, ImportOptions};
use postroom_types::limit::RAW_MAIL_BYTES;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{mail, on_both, subjects};

fn many(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| mail(n, &format!("Notice {n}"), "Body.", ""))
        .collect()
}

#[test]
fn second_import_stores_nothing() {
    on_both(async |world| {
        let mails = many(40);
        let first = world.import(&mails).await;
        assert_eq!(
            first.counts,
            ImportCounts {
                read: 40,
                stored: 40,
                duplicate: 0,
                failed: 0
            }
        );
        assert!(first.searchable);
        let second = world.import(&mails).await;
        assert_eq!(
            second.counts,
            ImportCounts {
                read: 40,
                stored: 0,
                duplicate: 40,
                failed: 0
            }
        );
        let world = world.reopened().await;
        let third = world.import(&mails).await;
        assert_eq!(third.counts.duplicate, 40);
        assert_eq!(world.search("").await["facets"]["month"]["2026-11"], 40);
        world.room.close().await;
    });
}

#[test]
fn the_same_mail_twice_in_one_source_is_stored_once() {
    on_both(async |world| {
        let twice = vec![
            mail(1, "One", "x", ""),
            mail(1, "One", "x", ""),
            mail(2, "Two", "x", ""),
        ];
        let report = world.import(&twice).await;
        assert_eq!(
            report.counts,
            ImportCounts {
                read: 3,
                stored: 2,
                duplicate: 1,
                failed: 0
            }
        );
        world.room.close().await;
    });
}

#[test]
fn an_import_dropped_midway_goes_on_where_it_was() {
    on_both(async |world| {
        let path = world.folder.path().join("all.mbox");
        let mbox: String = many(1_500)
            .iter()
            .map(|mail| format!("From a Mon Nov 30 12:00:00 2026\n{mail}\n"))
            .collect();
        fs::write(&path, mbox).expect("a file");
        let cut = CancellationToken::new();
        {
            let room = &world.room;
            let first_batch = cut.clone();
            let run = import::run(room, vec![path.clone()], world.options(), move |_| {
                first_batch.cancel()
            });
            tokio::select! {
                biased;
                () = cut.cancelled() => {}
                _ = run => {}
            }
        }
        let world = world.reopened().await;
        let rest = import::run(&world.room, vec![path], world.options(), |_| {}).await;
        assert_eq!(rest.counts.read, 1_500);
        assert_eq!(rest.counts.stored + rest.counts.duplicate, 1_500);
        assert!(
            rest.counts.duplicate >= 1,
            "the first batch was stored: {rest:?}"
        );
        world.indexed().await;
        assert_eq!(world.search("").await["facets"]["month"]["2026-11"], 1_500);
        world.room.close().await;
    });
}

#[test]
fn a_cancelled_import_adds_up_and_says_so() {
    on_both(async |world| {
        let path = world.folder.path().join("all.mbox");
        let mbox: String = many(2_000)
            .iter()
            .map(|mail| format!("From a Mon Nov 30 12:00:00 2026\n{mail}\n"))
            .collect();
        fs::write(&path, mbox).expect("a file");
        let cancel = CancellationToken::new();
        let options = ImportOptions {
            cancel: cancel.clone(),
            ..world.options()
        };
        let report = import::run(&world.room, vec![path], options, |_| cancel.cancel()).await;
        assert!(report.cancelled);
        let counts = report.counts;
        assert_eq!(
            counts.read,
            counts.stored + counts.duplicate + counts.failed
        );
        world.room.close().await;
    });
}

#[test]
fn what_cannot_be_taken_in_is_counted_and_listed() {
    on_both(async |world| {
        let folder = world.folder.path().join("source");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("good.eml"), mail(1, "Good", "x", "")).expect("a file");
        fs::write(folder.join("empty.eml"), "").expect("a file");
        fs::write(folder.join("largest.eml"), sized(RAW_MAIL_BYTES)).expect("a file");
        fs::write(folder.join("too_large.eml"), sized(RAW_MAIL_BYTES + 1)).expect("a file");
        let report = import::run(&world.room, vec![folder], world.options(), |_| {}).await;
        assert_eq!(
            report.counts,
            ImportCounts {
                read: 4,
                stored: 2,
                duplicate: 0,
                failed: 2
            }
        );
        let scope = world.room.worker_scope().tenant(world.tenant());
        let listed = postroom_store::read::import_failures(world.room.store(), &scope, None, 10)
            .await
            .expect("a list");
        assert_eq!(listed.len(), 2);
        assert!(
            listed
                .iter()
                .any(|row| row.sha256.is_some() && row.size == RAW_MAIL_BYTES as u64 + 1)
        );
        world.room.close().await;
    });
}

fn sized(bytes: usize) -> Vec<u8> {
    let mut raw = mail(2, "Large", "", "").into_bytes();
    raw.resize(bytes, b'x');
    raw
}

#[test]
fn old_mail_keeps_its_own_dates_and_read_state() {
    on_both(async |world| {
        let old = "From: a@b.example\r\nDate: Mon, 3 Jan 2000 10:00:00 +0000\r\nSubject: Old\r\nStatus: RO\r\n\r\nx\r\n";
        let handed = "Received: from a by b; Tue, 4 Jan 2000 10:00:00 +0000\r\nFrom: a@b.example\r\n\
                      Date: Mon, 3 Jan 2000 10:00:00 +0000\r\nSubject: Handed\r\n\r\nx\r\n";
        world.import(&[old.to_owned(), handed.to_owned()]).await;
        let unread = world.search("is:unread").await;
        assert_eq!(subjects(&unread), ["Handed"]);
        let id = |answer: &serde_json::Value| answer["hits"][0]["message_id"].clone();
        let handed = world
            .call("mail_get_message", json!({"message_id": id(&unread)}))
            .await;
        assert_eq!(handed["received_at"], "2000-01-04T10:00:00.000Z");
        assert_eq!(handed["sent_at"], "2000-01-03T10:00:00.000Z");
        assert_eq!(handed["trust"]["verdict"], "unverified");
        let old = world.search("subject:old").await;
        let old = world
            .call("mail_get_message", json!({"message_id": id(&old)}))
            .await;
        assert_eq!(old["received_at"], "2000-01-03T10:00:00.000Z");
        world.room.close().await;
    });
}

/// Real mail, when a folder of it is named.
#[test]
fn real_corpora_come_in_whole() {
    on_both(async |world| {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test may be pointed at a folder"
        )]
        let Some(corpora) = std::env::var_os("POSTROOM_CORPORA") else {
            return;
        };
        let paths = vec![std::path::PathBuf::from(corpora)];
        let there = import::walk(paths.clone()).count() as u64;
        let report = import::run(&world.room, paths.clone(), world.options(), |_| {}).await;
        let counts = report.counts;
        assert!(report.stopped.is_none(), "{report:?}");
        assert_eq!(counts.read, there);
        assert_eq!(
            counts.read,
            counts.stored + counts.duplicate + counts.failed
        );
        let again = import::run(&world.room, paths, world.options(), |_| {}).await;
        assert_eq!(again.counts.stored, 0);
        world.indexed().await;
        let months = world.search("").await["facets"]["month"]
            .as_object()
            .map(serde_json::Map::len);
        assert!(months.is_some_and(|months| months > 0));
        world.room.close().await;
    });
}
