//! Raw mail in, events, the feed.

use super::world::{World, code, create_identity, draft, mail, on_both};
use postroom_core::{
    Arrival, ArrivalOutcome, Command, EventState, FailEvent, FeedKind, ImportOutcome, Ingest,
    Outcome, RawMail, Receive, Recipient, RecordImportFailure, TrustMode,
};
use postroom_store::{
    FeedPosition, Wake,
    read::{self, EventFilter, Since, WaitFilter},
};
use postroom_types::{ErrorCode, Timestamp, limit};
use std::collections::BTreeMap;

fn arrival() -> Arrival {
    Arrival {
        provider: "smtp".to_owned(),
        trust_mode: TrustMode::Smtp,
        verify_detail: None,
        source_ip: Some("192.0.2.7".to_owned()),
        mail_from: Some("bounce@shop.example".to_owned()),
        headers: BTreeMap::from([("helo".to_owned(), "mx.shop.example".to_owned())]),
    }
}

fn receive(raw: Vec<u8>, recipients: Vec<Recipient>) -> Command {
    Command::Receive(Receive {
        raw: RawMail::new(raw),
        recipients,
        arrival: arrival(),
    })
}

async fn received(world: &World, raw: &str) -> ArrivalOutcome {
    let command = receive(raw.as_bytes().to_vec(), vec![world.recipient()]);
    match world.store.transact(command).await.expect("received") {
        Outcome::Received(mut outcomes) => outcomes.pop().expect("one"),
        other => panic!("{other:?}"),
    }
}

fn ingest(world: &World, event_id: u64, raw: &str) -> Command {
    Command::Ingest(Box::new(Ingest {
        tenant: world.tenant,
        event_id,
        identity: world.identity,
        draft: draft(raw),
        work: None,
    }))
}

#[test]
fn a_mail_is_an_event_first_and_becomes_a_message_with_the_very_bytes() {
    on_both(|world: World| async move {
        let store = &world.store;
        let raw = mail("a@x.example", &[], "Ann <ann@shop.example>", "Hello");
        let outcome = received(&world, &raw).await;
        let pending = read::pending_events(store, &world.worker, None, 10)
            .await
            .expect("reads");
        assert_eq!(pending.len(), 1);
        let event = &pending[0];
        assert_eq!(event.id, outcome.event_id);
        assert_eq!(event.state, EventState::Pending);
        assert_eq!(event.headers, arrival().headers);
        assert!(
            event
                .external_id()
                .is_some_and(|id| id.starts_with("sha256:"))
        );
        let payload = read::event_payload(store, &world.scope(), event.id)
            .await
            .expect("reads");
        assert_eq!(payload.as_deref(), Some(raw.as_bytes()));

        world.advance(500);
        let made = store
            .transact(ingest(&world, event.id, &raw))
            .await
            .expect("made");
        let Outcome::Ingested {
            message_id,
            thread_id,
            repeated: false,
        } = made
        else {
            panic!("{made:?}");
        };
        let again = store
            .transact(ingest(&world, event.id, &raw))
            .await
            .expect("same");
        assert_eq!(
            again,
            Outcome::Ingested {
                message_id,
                thread_id,
                repeated: true
            }
        );
        let message = read::message(store, &world.scope(), message_id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(message.row.received_at, event.received_at);
        assert_eq!(message.row.event_id, Some(event.id));
        assert!(message.row.unread);
        assert_eq!(message.doc.subject.as_deref(), Some("Hello"));
        let bytes = read::raw(store, &world.scope(), message_id)
            .await
            .expect("reads");
        assert_eq!(bytes.as_deref(), Some(raw.as_bytes()));
        assert!(
            read::pending_events(store, &world.worker, None, 10)
                .await
                .expect("reads")
                .is_empty()
        );
        let event = read::event(store, &world.scope(), event.id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(
            (event.state, event.message_id),
            (EventState::Done, Some(message_id))
        );
    });
}

#[test]
fn the_same_bytes_again_store_nothing() {
    on_both(|world: World| async move {
        let raw = mail("a@x.example", &[], "ann@shop.example", "Hello");
        let first = received(&world, &raw).await;
        let scope = world.tenant_scope();
        let before = read::position(&world.store, &scope).await.expect("reads");
        let second = received(&world, &raw).await;
        assert!(second.duplicate);
        assert_eq!(second.event_id, first.event_id);
        let import = world.import(std::slice::from_ref(&raw)).await;
        assert_eq!(
            import,
            [ImportOutcome::Duplicate {
                event_id: first.event_id
            }]
        );
        assert_eq!(
            read::position(&world.store, &scope).await.expect("reads"),
            before
        );
        let counts = read::counts(&world.store, &scope).await.expect("reads");
        assert_eq!((counts.events, counts.pending_events), (1, 1));
    });
}

#[test]
fn one_mail_for_two_mailboxes_is_two_events_in_one_commit() {
    on_both(|world: World| async move {
        let second = create_identity(&world.store, world.tenant, "second@acme.example").await;
        let recipients = vec![
            world.recipient(),
            Recipient {
                identity: second,
                ..world.recipient()
            },
            world.recipient(),
        ];
        let raw = mail("a@x.example", &[], "ann@shop.example", "Hello");
        let command = receive(raw.into_bytes(), recipients);
        let Outcome::Received(outcomes) = world.store.transact(command).await.expect("in") else {
            panic!("received");
        };
        assert_eq!(outcomes.len(), 3);
        assert_eq!(outcomes[0], outcomes[2]);
        assert_eq!(outcomes[1].event_id, outcomes[0].event_id + 1);
        assert_eq!(outcomes[1].identity_id, second);
    });
}

#[test]
fn what_is_too_large_is_refused_and_what_just_fits_is_kept_in_a_file() {
    on_both(|world: World| async move {
        let mut state: u32 = 7;
        let mut noise = |len: usize| -> Vec<u8> {
            (0..len)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 24) as u8
                })
                .collect()
        };
        let over = receive(noise(limit::RAW_MAIL_BYTES + 1), vec![world.recipient()]);
        assert_eq!(
            code(world.store.transact(over).await),
            ErrorCode::MessageTooLarge
        );
        let bytes = noise(limit::RAW_MAIL_BYTES);
        let fits = receive(bytes.clone(), vec![world.recipient()]);
        let Outcome::Received(outcomes) = world.store.transact(fits).await.expect("in") else {
            panic!("received");
        };
        let world = world.reopen().await;
        let back = read::event_payload(&world.store, &world.scope(), outcomes[0].event_id)
            .await
            .expect("reads");
        assert!(back == Some(bytes));
    });
}

#[test]
fn a_failed_event_keeps_its_bytes_and_can_be_worked_off_later() {
    on_both(|world: World| async move {
        let store = &world.store;
        let raw = mail("a@x.example", &[], "ann@shop.example", "Hello");
        let event_id = received(&world, &raw).await.event_id;
        let fail = Command::FailEvent(FailEvent {
            tenant: world.tenant,
            event_id,
            detail: "the parser gave up".to_owned(),
        });
        store.transact(fail).await.expect("failed");
        let event = read::event(store, &world.scope(), event_id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(event.state, EventState::Failed);
        assert!(
            read::event_payload(store, &world.scope(), event_id)
                .await
                .expect("reads")
                .is_some()
        );
        store
            .transact(ingest(&world, event_id, &raw))
            .await
            .expect("made after all");
        let counts = read::counts(store, &world.tenant_scope())
            .await
            .expect("reads");
        assert_eq!(
            (counts.failed_events, counts.messages, counts.unread),
            (0, 1, 1)
        );
    });
}

#[test]
fn events_are_listed_newest_first_and_a_page_goes_on_where_it_ended() {
    on_both(|world: World| async move {
        let store = &world.store;
        let mut ids = Vec::new();
        for n in 0..5 {
            let raw = mail(&format!("{n}@x.example"), &[], "ann@shop.example", "Hello");
            ids.push(received(&world, &raw).await.event_id);
            world.advance(1_000);
        }
        let list = async |filter: EventFilter| -> Vec<u64> {
            let found = read::events(store, &world.scope(), &filter)
                .await
                .expect("reads");
            found.iter().map(|event| event.id).collect()
        };
        let filter = |limit| EventFilter {
            limit,
            ..EventFilter::default()
        };
        assert_eq!(list(filter(2)).await, [ids[4], ids[3]]);
        assert_eq!(
            list(EventFilter {
                below: Some(ids[3]),
                ..filter(2)
            })
            .await,
            [ids[2], ids[1]]
        );
        let third = Timestamp::from_ms(super::world::NOON + 2_000);
        let since = |since| EventFilter {
            since: Some(since),
            ..filter(10)
        };
        assert_eq!(
            list(since(Since::At(third))).await,
            [ids[4], ids[3], ids[2]]
        );
        assert_eq!(
            list(since(Since::At(third.plus_ms(1)))).await,
            [ids[4], ids[3]]
        );
        assert_eq!(list(since(Since::After(ids[3]))).await, [ids[4]]);
        let none = EventFilter {
            provider: Some("github".to_owned()),
            ..filter(10)
        };
        assert!(list(none).await.is_empty());
        let all = EventFilter {
            provider: Some("smtp".to_owned()),
            event_type: Some("message.received".to_owned()),
            ..filter(10)
        };
        assert_eq!(list(all).await.len(), 5);
    });
}

#[test]
fn received_at_never_goes_back_when_the_clock_does() {
    on_both(|world: World| async move {
        let mut before = Timestamp::from_ms(0);
        for (n, step) in [0, -3_600_000, 10, -5].into_iter().enumerate() {
            world.advance(step);
            let raw = mail(&format!("{n}@x.example"), &[], "ann@shop.example", "Hello");
            let id = received(&world, &raw).await.event_id;
            let event = read::event(&world.store, &world.scope(), id)
                .await
                .expect("reads")
                .expect("there");
            assert!(event.received_at >= before);
            before = event.received_at;
        }
    });
}

#[test]
fn positions_grow_by_commit_and_the_feed_tells_each_change_once() {
    on_both(|world: World| async move {
        let store = &world.store;
        let mut feed = store.feed(world.tenant);
        let [reading, index] = [Wake::Mail, Wake::Index].map(|wake| store.wake(wake));
        let scope = world.tenant_scope();
        let begin = read::position(store, &scope).await.expect("reads");
        let raw = mail("a@x.example", &[], "ann@shop.example", "Hello");
        let event_id = received(&world, &raw).await.event_id;
        store
            .transact(ingest(&world, event_id, &raw))
            .await
            .expect("made");
        let other = mail(
            "b@x.example",
            &["a@x.example"],
            "bob@shop.example",
            "Re: Hello",
        );
        world.import(&[other]).await;
        let changes = read::changes(store, &scope, begin, 100)
            .await
            .expect("reads");
        let kinds: Vec<FeedKind> = changes.iter().map(|row| row.kind).collect();
        assert_eq!(
            kinds,
            [
                FeedKind::EventReceived,
                FeedKind::MessageReceived,
                FeedKind::MessageImported
            ]
        );
        let positions: Vec<u64> = changes.iter().map(|row| row.position).collect();
        assert_eq!(positions, [begin + 1, begin + 2, begin + 3]);
        assert_eq!(*feed.borrow_and_update(), FeedPosition::at(begin + 3));
        assert!(reading.has_changed().expect("open") && index.has_changed().expect("open"));
        let all = read::positions(store, &world.worker).await.expect("reads");
        assert_eq!(all, [(world.tenant, begin + 3)]);
        let sibling = create_identity(store, world.tenant, "second@acme.example").await;
        let narrow = postroom_types::TenantScope::granted(
            world.tenant,
            postroom_types::Reach::Identity(sibling),
        );
        let own = read::changes(store, &narrow, begin, 100)
            .await
            .expect("reads");
        assert_eq!(
            own.iter().map(|row| row.kind).collect::<Vec<_>>(),
            [FeedKind::IdentityChanged]
        );
    });
}

#[test]
fn a_wait_sees_arrivals_since_an_instant_and_no_archive() {
    on_both(|world: World| async move {
        let store = &world.store;
        world
            .import(&[mail("old@x.example", &[], "ann@shop.example", "Old")])
            .await;
        let take = async |id: &str| {
            let raw = mail(id, &[], "ann@shop.example", id);
            let event_id = received(&world, &raw).await.event_id;
            store
                .transact(ingest(&world, event_id, &raw))
                .await
                .expect("made");
        };
        take("one@x.example").await;
        world.advance(1_000);
        let since = world.now();
        take("two@x.example").await;
        take("three@x.example").await;
        let filter = WaitFilter {
            since,
            thread: None,
            above: 0,
            limit: 10,
        };
        let found = read::messages_after(store, &world.scope(), &filter)
            .await
            .expect("reads");
        let subjects: Vec<_> = found
            .iter()
            .filter_map(|m| m.doc.subject.as_deref())
            .collect();
        assert_eq!(subjects, ["two@x.example", "three@x.example"]);
        let later = WaitFilter {
            above: found[0].row.num,
            ..filter.clone()
        };
        let rest = read::messages_after(store, &world.scope(), &later)
            .await
            .expect("reads");
        assert_eq!(rest.len(), 1);
        let thread = WaitFilter {
            thread: Some(found[0].row.thread_id),
            ..filter
        };
        let own = read::messages_after(store, &world.scope(), &thread)
            .await
            .expect("reads");
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].row.id, found[0].row.id);
    });
}

#[test]
fn a_failed_import_is_listed_once_with_its_bytes() {
    on_both(|world: World| async move {
        let store = &world.store;
        let fail = || {
            Command::RecordImportFailure(RecordImportFailure {
                tenant: world.tenant,
                identity: world.identity,
                location: "/mail/big.eml".to_owned(),
                reason: "larger than the limit".to_owned(),
                raw: Some(RawMail::new(vec![b'x'; 300_000])),
            })
        };
        store.transact(fail()).await.expect("noted");
        store.transact(fail()).await.expect("known");
        let listed = read::import_failures(store, &world.tenant_scope(), None, 10)
            .await
            .expect("reads");
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].size, 300_000);
        let bytes = read::import_failure_payload(store, &world.scope(), listed[0].id)
            .await
            .expect("reads");
        assert_eq!(bytes.map(|bytes| bytes.len()), Some(300_000));
    });
}

#[test]
fn a_file_that_cannot_be_read_is_listed_once_for_each_reason() {
    on_both(|world: World| async move {
        let store = &world.store;
        let fail = |location: &str, reason: &str| {
            Command::RecordImportFailure(RecordImportFailure {
                tenant: world.tenant,
                identity: world.identity,
                location: location.to_owned(),
                reason: reason.to_owned(),
                raw: None,
            })
        };
        for (location, reason, count) in [
            ("/mail/1", "empty", 1),
            ("/mail/1", "empty", 1),
            ("/mail/1", "unreadable", 2),
            ("/mail/2", "empty", 3),
            ("/mail/1", "empty", 3),
        ] {
            store.transact(fail(location, reason)).await.expect("noted");
            let listed = read::import_failures(store, &world.tenant_scope(), None, 10).await;
            assert_eq!(listed.expect("reads").len(), count, "{location}: {reason}");
        }
    });
}
