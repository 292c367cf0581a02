//! Messages, threads, labels, contacts, kept results.

use super::world::{World, code, create_identity, create_tenant, mail, on_both, refused};
use postroom_core::{
    ArchiveThread, Command, ImportOutcome, KeepResultSet, LabelsOutcome, Outcome, ResultSetRow,
    Target, UpdateLabels,
};
use postroom_store::{
    Store,
    read::{self, ContactFilter, Thread, ThreadFilter},
};
use postroom_types::{ErrorCode, MessageId, Reach, TenantScope, ThreadId};

fn stored(outcome: &ImportOutcome) -> (MessageId, ThreadId) {
    match outcome {
        ImportOutcome::Stored {
            message_id,
            thread_id,
            ..
        } => (*message_id, *thread_id),
        other => panic!("{other:?}"),
    }
}

fn filter(limit: usize) -> ThreadFilter {
    ThreadFilter {
        limit,
        ..ThreadFilter::default()
    }
}

async fn threads(world: &World) -> Vec<Thread> {
    read::threads(&world.store, &world.scope(), &filter(100))
        .await
        .expect("reads")
}

fn labels(
    world: &World,
    target: Target,
    add: &[&str],
    remove: &[&str],
    read: Option<bool>,
) -> Command {
    let own = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
    Command::UpdateLabels(UpdateLabels {
        tenant: world.tenant,
        identity: world.identity,
        target,
        add: own(add),
        remove: own(remove),
        read,
    })
}

async fn labelled(store: &Store, command: Command) -> LabelsOutcome {
    match store.transact(command).await.expect("labelled") {
        Outcome::Labels(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_mail_that_links_two_threads_merges_them_and_the_old_id_still_works() {
    on_both(|world: World| async move {
        let store = &world.store;
        let first = world
            .import(&[mail("a@x.example", &[], "ann@shop.example", "One")])
            .await;
        let second = world
            .import(&[mail("b@x.example", &[], "bob@shop.example", "Two")])
            .await;
        let (_, older) = stored(&first[0]);
        let (message, younger) = stored(&second[0]);
        let label = labels(&world, Target::Thread(younger), &["kept"], &[], None);
        labelled(store, label).await;
        assert_eq!(threads(&world).await.len(), 2);
        let link = mail(
            "c@x.example",
            &["a@x.example", "b@x.example"],
            "cy@shop.example",
            "Three",
        );
        let third = world.import(&[link]).await;
        assert_eq!(stored(&third[0]).1, older.min(younger));
        let all = threads(&world).await;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].row.message_count, 3);
        assert_eq!(all[0].row.unread_count, 3);
        assert_eq!(all[0].row.participants.len(), 3);
        assert_eq!(all[0].labels, ["kept"]);
        for id in [older, younger] {
            let found = read::thread(store, &world.scope(), id)
                .await
                .expect("reads");
            assert_eq!(found.as_ref(), Some(&all[0]));
            let nums = read::nums_in_thread(store, &world.scope(), id)
                .await
                .expect("reads");
            assert_eq!(nums.len(), 3);
        }
        let moved = read::message(store, &world.scope(), message)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(moved.row.thread_id, all[0].row.id);
        assert_eq!(moved.labels, ["kept"]);
        let by_alias = labels(
            &world,
            Target::Thread(older.max(younger)),
            &["all"],
            &[],
            Some(true),
        );
        let outcome = labelled(store, by_alias).await;
        assert_eq!(outcome.labels, ["all", "kept"]);
        assert!(outcome.read);
        assert_eq!(outcome.id, all[0].row.id.to_string());
        assert_eq!(threads(&world).await[0].row.unread_count, 0);
    });
}

#[test]
fn merges_within_one_batch_come_to_the_same() {
    on_both(|world: World| async move {
        let mails = [
            mail("a@x.example", &[], "ann@shop.example", "One"),
            mail("b@x.example", &[], "bob@shop.example", "Two"),
            mail("d@x.example", &["z@x.example"], "dan@shop.example", "Four"),
            mail(
                "c@x.example",
                &["a@x.example", "b@x.example"],
                "cy@shop.example",
                "Three",
            ),
            mail(
                "e@x.example",
                &["b@x.example", "z@x.example"],
                "eve@shop.example",
                "Five",
            ),
        ];
        let outcomes = world.import(&mails).await;
        let all = threads(&world).await;
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].row.message_count, 5);
        for outcome in &outcomes {
            let (message, thread) = stored(outcome);
            let found = read::message(&world.store, &world.scope(), message)
                .await
                .expect("reads")
                .expect("there");
            assert_eq!(found.row.thread_id, all[0].row.id);
            let thread = read::thread(&world.store, &world.scope(), thread)
                .await
                .expect("reads");
            assert_eq!(thread.expect("an alias").row.id, all[0].row.id);
        }
        // A later batch joins through keys whose rows name threads that are aliases by now.
        world
            .import(&[mail(
                "f@x.example",
                &["z@x.example"],
                "fay@shop.example",
                "Six",
            )])
            .await;
        assert_eq!(threads(&world).await[0].row.message_count, 6);
    });
}

#[test]
fn threads_never_cross_mailboxes() {
    on_both(|world: World| async move {
        let second = create_identity(&world.store, world.tenant, "second@acme.example").await;
        world
            .import(&[mail("a@x.example", &[], "ann@shop.example", "One")])
            .await;
        let recipient = postroom_core::Recipient {
            identity: second,
            ..world.recipient()
        };
        let raw = mail("b@x.example", &["a@x.example"], "ann@shop.example", "One");
        let command = super::world::import_command(recipient, &raw);
        world.store.transact(command).await.expect("in");
        let mine = threads(&world).await;
        assert_eq!(mine.len(), 1);
        assert_eq!(mine[0].row.message_count, 1);
    });
}

#[test]
fn one_message_id_with_other_content_keeps_both_and_marks_both() {
    on_both(|world: World| async move {
        let outcomes = world
            .import(&[
                mail("a@x.example", &[], "ann@shop.example", "One"),
                mail("a@x.example", &[], "ann@shop.example", "Another"),
            ])
            .await;
        for outcome in &outcomes {
            let (id, _) = stored(outcome);
            let found = read::message(&world.store, &world.scope(), id)
                .await
                .expect("reads")
                .expect("there");
            assert_eq!(found.flags(), ["message_id_conflict"]);
        }
        assert_eq!(threads(&world).await.len(), 1);
    });
}

#[test]
fn labels_and_read_state_change_together_and_are_found_by_number() {
    on_both(|world: World| async move {
        let store = &world.store;
        let scope = world.scope();
        let outcomes = world
            .import(&[
                mail("a@x.example", &[], "ann@shop.example", "One"),
                mail("b@x.example", &["a@x.example"], "ann@shop.example", "Two"),
            ])
            .await;
        let (first, thread) = stored(&outcomes[0]);
        let (second, _) = stored(&outcomes[1]);
        let done = labelled(
            store,
            labels(
                &world,
                Target::Message(first),
                &["b", "a"],
                &["b"],
                Some(true),
            ),
        )
        .await;
        assert_eq!(
            (done.labels.as_slice(), done.read),
            (["a".to_owned()].as_slice(), true)
        );
        let done = labelled(
            store,
            labels(&world, Target::Thread(thread), &["t"], &[], None),
        )
        .await;
        assert_eq!(done.labels, ["a", "t"]);
        assert!(!done.read);
        let num = async |id| {
            read::message(store, &scope, id)
                .await
                .expect("reads")
                .expect("there")
                .row
                .num
        };
        let (first_num, second_num) = (num(first).await, num(second).await);
        let with = async |label: &str| -> Vec<u64> {
            let nums = read::nums_with_label(store, &scope, label)
                .await
                .expect("reads");
            let wide = read::nums_with_label(store, &world.tenant_scope(), label)
                .await
                .expect("reads");
            assert_eq!(nums, wide);
            nums.iter().collect()
        };
        assert_eq!(with("a").await, [first_num]);
        assert_eq!(with("t").await, [first_num, second_num]);
        assert!(with("none").await.is_empty());
        let unread = read::nums_unread(store, &scope).await.expect("reads");
        assert_eq!(unread.iter().collect::<Vec<_>>(), [second_num]);
        let by_num = read::labels_of_nums(store, &scope, &[first_num, second_num])
            .await
            .expect("reads");
        assert_eq!(by_num[&first_num], ["a", "t"]);
        let by_label = ThreadFilter {
            label: Some("a".to_owned()),
            ..filter(5)
        };
        assert_eq!(
            read::threads(store, &scope, &by_label)
                .await
                .expect("reads")
                .len(),
            1
        );
        let unread = ThreadFilter {
            unread: Some(false),
            ..filter(5)
        };
        assert!(
            read::threads(store, &scope, &unread)
                .await
                .expect("reads")
                .is_empty()
        );
        let ids = read::thread_ids_of_nums(store, &scope, &[second_num])
            .await
            .expect("reads");
        assert_eq!(ids[&second_num], thread);
        let ordered = read::messages_of_nums(store, &scope, &[second_num, 999, first_num])
            .await
            .expect("reads");
        assert_eq!(
            ordered.iter().map(|m| m.row.id).collect::<Vec<_>>(),
            [second, first]
        );
    });
}

#[test]
fn sixty_four_labels_fit_a_message_and_one_more_does_not() {
    on_both(|world: World| async move {
        let outcomes = world
            .import(&[mail("a@x.example", &[], "ann@shop.example", "One")])
            .await;
        let (id, _) = stored(&outcomes[0]);
        let names: Vec<String> = (0..64).map(|n| format!("l{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let commands = vec![
            labels(&world, Target::Message(id), &names, &[], None),
            labels(&world, Target::Message(id), &["more"], &[], None),
            labels(&world, Target::Message(id), &["more"], &["l0"], None),
            labels(&world, Target::Message(id), &["Upper"], &[], None),
            labels(&world, Target::Message(id), &[], &[], None),
        ];
        let answers = world.store.transact_all(commands).await.expect("commits");
        assert!(answers[0].is_ok());
        assert_eq!(refused(&answers[1]), ErrorCode::InvalidRequest);
        assert!(answers[2].is_ok());
        assert_eq!(refused(&answers[3]), ErrorCode::InvalidRequest);
        assert_eq!(refused(&answers[4]), ErrorCode::InvalidRequest);
        let found = read::message(&world.store, &world.scope(), id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(found.labels.len(), 64);
    });
}

#[test]
fn a_foreign_target_is_missing_in_the_same_words() {
    on_both(|world: World| async move {
        let store = &world.store;
        let outcomes = world
            .import(&[mail("a@x.example", &[], "ann@shop.example", "One")])
            .await;
        let (message, thread) = stored(&outcomes[0]);
        let other = create_tenant(store, "other").await;
        let stranger = create_identity(store, other, "x@other.example").await;
        let sibling = create_identity(store, world.tenant, "second@acme.example").await;
        for (tenant, identity) in [(other, stranger), (world.tenant, sibling)] {
            for (target, expected) in [
                (Target::Message(message), ErrorCode::MessageNotFound),
                (Target::Thread(thread), ErrorCode::ThreadNotFound),
            ] {
                let command = Command::UpdateLabels(UpdateLabels {
                    tenant,
                    identity,
                    target,
                    add: vec!["x".to_owned()],
                    remove: vec![],
                    read: None,
                });
                assert_eq!(code(store.transact(command).await), expected);
            }
            let scope = TenantScope::granted(tenant, Reach::Identity(identity));
            assert!(
                read::message(store, &scope, message)
                    .await
                    .expect("reads")
                    .is_none()
            );
            assert!(
                read::raw(store, &scope, message)
                    .await
                    .expect("reads")
                    .is_none()
            );
            assert!(
                read::thread(store, &scope, thread)
                    .await
                    .expect("reads")
                    .is_none()
            );
            assert!(
                read::thread_messages(store, &scope, thread, None, 5)
                    .await
                    .expect("reads")
                    .is_empty()
            );
            assert!(
                read::threads(store, &scope, &filter(5))
                    .await
                    .expect("reads")
                    .is_empty()
            );
            assert!(
                read::nums_unread(store, &scope)
                    .await
                    .expect("reads")
                    .is_empty()
            );
            assert!(
                read::event(store, &scope, 1)
                    .await
                    .expect("reads")
                    .is_none()
            );
        }
    });
}

#[test]
fn threads_and_their_messages_are_paged_without_gap_or_repeat() {
    on_both(|world: World| async move {
        let store = &world.store;
        let scope = world.scope();
        let mails: Vec<String> = (0..7)
            .map(|n| {
                mail(
                    &format!("{n}@x.example"),
                    &[],
                    "ann@shop.example",
                    &format!("S{n}"),
                )
            })
            .collect();
        world.import(&mails).await;
        let mut seen = Vec::new();
        let mut below = None;
        loop {
            let page = ThreadFilter { below, ..filter(3) };
            let found = read::threads(store, &scope, &page).await.expect("reads");
            let Some(last) = found.last() else { break };
            below = Some((last.row.last_at, last.row.id));
            seen.extend(found.into_iter().map(|thread| thread.row.id));
        }
        assert_eq!(seen.len(), 7);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 7);
        let replies: Vec<String> = (0..5)
            .map(|n| {
                mail(
                    &format!("r{n}@x.example"),
                    &["0@x.example"],
                    "bob@shop.example",
                    "Re: S0",
                )
            })
            .collect();
        let outcomes = world.import(&replies).await;
        let (_, thread) = stored(&outcomes[0]);
        let mut nums = Vec::new();
        let mut after = None;
        loop {
            let found = read::thread_messages(store, &scope, thread, after, 2)
                .await
                .expect("reads");
            let Some(last) = found.last() else { break };
            after = Some((last.row.sort_at, last.row.num));
            nums.extend(found.iter().map(|message| message.row.num));
        }
        assert_eq!(nums.len(), 6);
        assert!(nums.is_sorted());
    });
}

#[test]
fn an_archived_thread_is_listed_apart() {
    on_both(|world: World| async move {
        let store = &world.store;
        let outcomes = world
            .import(&[mail("a@x.example", &[], "ann@shop.example", "One")])
            .await;
        let (_, thread) = stored(&outcomes[0]);
        let put = |archived| {
            Command::ArchiveThread(ArchiveThread {
                tenant: world.tenant,
                identity: world.identity,
                thread,
                archived,
            })
        };
        store.transact(put(true)).await.expect("away");
        assert!(threads(&world).await.is_empty());
        let away = ThreadFilter {
            archived: true,
            ..filter(5)
        };
        assert_eq!(
            read::threads(store, &world.scope(), &away)
                .await
                .expect("reads")
                .len(),
            1
        );
        store.transact(put(false)).await.expect("back");
        assert_eq!(threads(&world).await.len(), 1);
    });
}

#[test]
fn contacts_are_ranked_by_match_then_by_how_much_was_written() {
    on_both(|world: World| async move {
        let people = [
            ("Ann Müller <ann@shop.example>", 1),
            ("Anna <info@annshop.example>", 3),
            ("Bob <bob@ann.example>", 2),
            ("Zoe <zoe@sub.ann.example>", 1),
            ("Nobody 100% <x_y@else.example>", 1),
        ];
        let mut mails = Vec::new();
        for (from, count) in people {
            for n in 0..count {
                mails.push(mail(
                    &format!("{}{n}@x.example", from.len()),
                    &[],
                    from,
                    "S",
                ));
            }
        }
        world.import(&mails).await;
        let search = async |q: &str, limit: usize| {
            let mut out = Vec::new();
            let mut behind = None;
            loop {
                let filter = ContactFilter {
                    identity: world.identity,
                    q: q.to_owned(),
                    behind,
                    limit,
                };
                let found = read::contacts(&world.store, &world.scope(), &filter)
                    .await
                    .expect("reads");
                let Some((_, place)) = found.last() else {
                    break;
                };
                behind = Some(place.clone());
                out.extend(found.into_iter().map(|(row, _)| row.address));
            }
            out
        };
        for limit in [1, 2, 50] {
            assert_eq!(
                search("ann", limit).await,
                ["info@annshop.example", "ann@shop.example"],
                "a beginning of a name or address"
            );
            assert_eq!(
                search("ann.example", limit).await,
                ["bob@ann.example", "zoe@sub.ann.example"]
            );
            assert_eq!(
                search("Ann@Shop.example", limit).await,
                ["ann@shop.example"]
            );
            assert_eq!(search("muller", limit).await, ["ann@shop.example"]);
            assert_eq!(search("100%", limit).await, ["x_y@else.example"]);
            assert_eq!(search("x_y", limit).await, ["x_y@else.example"]);
            assert!(search("%", limit).await.is_empty());
            assert_eq!(search("", limit).await.len(), 5);
        }
        let counts = ContactFilter {
            identity: world.identity,
            q: "info".to_owned(),
            behind: None,
            limit: 1,
        };
        let found = read::contacts(&world.store, &world.scope(), &counts)
            .await
            .expect("reads");
        assert_eq!(found[0].0.inbound_count, 3);
    });
}

#[test]
fn kept_results_are_for_their_key_and_their_time() {
    on_both(|world: World| async move {
        let store = &world.store;
        let keep = |id: &str| {
            Command::KeepResultSet(KeepResultSet {
                row: ResultSetRow {
                    id: id.to_owned(),
                    tenant_id: world.tenant,
                    key_id: None,
                    payload: vec![1, 2, 3],
                    created_at: world.now(),
                    expires_at: world.now().plus_ms(1_000),
                },
            })
        };
        store.transact(keep("one")).await.expect("kept");
        let look = async |scope: &TenantScope, id: &str| {
            read::result_set(store, scope, None, id)
                .await
                .expect("reads")
        };
        assert_eq!(look(&world.scope(), "one").await, Some(vec![1, 2, 3]));
        let foreign = TenantScope::granted(create_tenant(store, "other").await, Reach::Tenant);
        assert_eq!(look(&foreign, "one").await, None);
        let key = postroom_types::KeyId::from_parts(1, 1);
        let other = read::result_set(store, &world.scope(), Some(key), "one")
            .await
            .expect("reads");
        assert_eq!(other, None);
        world.advance(1_000);
        assert_eq!(look(&world.scope(), "one").await, None);
        store
            .transact(keep("two"))
            .await
            .expect("kept, and the other dropped");
        assert!(look(&world.scope(), "two").await.is_some());
    });
}

#[test]
fn known_digests_tell_what_an_import_can_skip() {
    on_both(|world: World| async move {
        let raw = mail("a@x.example", &[], "ann@shop.example", "One");
        world.import(std::slice::from_ref(&raw)).await;
        let digests = [
            postroom_core::RawMail::new(raw.into_bytes()).sha256,
            postroom_core::RawMail::new(b"other".to_vec()).sha256,
        ];
        let known = read::known_digests(&world.store, &world.scope(), world.identity, &digests)
            .await
            .expect("reads");
        assert_eq!(known.into_iter().collect::<Vec<_>>(), [digests[0]]);
    });
}
