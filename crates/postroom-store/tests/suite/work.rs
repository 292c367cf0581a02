//! Sources, verified deliveries, todos.

use super::world::{World, code, create_tenant, on_both, refused};
use postroom_core::{
    Arrive, ArriveOutcome, AttemptOutcome, ClaimNextTodo, ClaimTodo, Claimed, Command,
    CreateSource, CreateTodo, Disposition, EndAttempt, EventState, Family, HeartbeatTodo,
    LeaseTerms, OldEvent, Outcome, PostponeEvent, QUARANTINE_QUEUE, QuarantineReason, RawMail,
    Refusal, RotateSource, Routing, SecretOrigin, SetQueue, SetSourceRules, SetSourceSecret,
    SettleEvent, SourceRow, SourceState, TodoRow, TodoState, TrustMode, UndoClaim, Work, Worker,
};
use postroom_store::{
    MintedToken, SealedFor, Store, StoreError,
    read::{self, EventFilter, TodoFilter},
};
use postroom_types::{ErrorCode, IdentityId, KeyId, Secret, TodoId, limit};
use std::collections::{BTreeMap, BTreeSet};

fn new_source(world: &World, origin: SecretOrigin) -> (CreateSource, MintedToken) {
    let token = world.store.mint_token().expect("minted");
    let secret = Secret::new("whsec_first_secret_of_it".to_owned());
    let create = CreateSource {
        tenant: world.tenant,
        identity: None,
        provider: "github".to_owned(),
        name: String::new(),
        token: world
            .store
            .seal_token(world.tenant, &token)
            .expect("sealed"),
        trust_mode: TrustMode::Signed,
        secret_origin: origin,
        secret: (origin == SecretOrigin::Minted).then(|| {
            world
                .store
                .seal_secret(world.tenant, &secret)
                .expect("sealed")
        }),
        queue: "triage".to_owned(),
        rules: None,
        options: None,
        trusted_actors: None,
    };
    (create, token)
}

async fn source_of(world: &World, origin: SecretOrigin) -> (SourceRow, MintedToken) {
    let (create, token) = new_source(world, origin);
    (
        put(&world.store, Command::CreateSource(Box::new(create))).await,
        token,
    )
}

async fn put(store: &Store, command: Command) -> SourceRow {
    match store.transact(command).await.expect("done") {
        Outcome::Source(row) => *row,
        other => panic!("{other:?}"),
    }
}

fn routed(queue: Option<&str>) -> Routing {
    Routing {
        disposition: Disposition::Routed,
        work: Some(Work {
            queue: queue.map(ToOwned::to_owned),
            title: "Look at\nit".to_owned(),
            ..Work::default()
        }),
        once: None,
        trace: Some(r#"{"stage":"default"}"#.to_owned()),
    }
}

fn delivery(source: &SourceRow, key: &str, routing: Routing) -> Arrive {
    Arrive {
        tenant: source.tenant_id,
        source: source.id,
        source_version: source.version,
        raw: RawMail::new(format!("{{\"id\":\"{key}\"}}").into_bytes()),
        family: Family::Webhook,
        event_type: Some("push".to_owned()),
        external_key: key.to_owned(),
        trust_mode: TrustMode::Signed,
        verified: true,
        verify_detail: Some("hmac-sha256 ok".to_owned()),
        content_type: Some("application/json".to_owned()),
        headers: BTreeMap::from([("x-github-event".to_owned(), "push".to_owned())]),
        source_ip: Some("192.0.2.9".to_owned()),
        occurred_at: None,
        carries_mail: false,
        routing,
    }
}

async fn arrive(world: &World, delivery: Arrive) -> ArriveOutcome {
    match world
        .store
        .transact(Command::Arrive(Box::new(delivery)))
        .await
        .expect("taken in")
    {
        Outcome::Arrived(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn worker(world: &World, key: u128) -> Worker {
    Worker {
        scope: world.tenant_scope(),
        key: Some(KeyId::from_parts(1, key)),
        queues: None,
        reviews_quarantine: false,
    }
}

fn todo(world: &World, queue: &str, title: &str) -> CreateTodo {
    CreateTodo {
        worker: worker(world, 0),
        identity: None,
        work: Work {
            queue: Some(queue.to_owned()),
            title: title.to_owned(),
            ..Work::default()
        },
        source: None,
        payload: Some("{\"n\":1}".to_owned()),
        event_id: None,
    }
}

async fn open(world: &World, create: CreateTodo) -> TodoRow {
    match world
        .store
        .transact(Command::CreateTodo(Box::new(create)))
        .await
        .expect("opened")
    {
        Outcome::Todo { row, created: true } => *row,
        other => panic!("{other:?}"),
    }
}

fn next(worker: &Worker) -> Command {
    Command::ClaimNextTodo(ClaimNextTodo {
        worker: worker.clone(),
        queues: None,
        terms: LeaseTerms::default(),
    })
}

async fn claim(world: &World, worker: &Worker) -> Option<Claimed> {
    match world.store.transact(next(worker)).await.expect("answered") {
        Outcome::Claimed(claimed) => Some(*claimed),
        Outcome::NothingToClaim => None,
        other => panic!("{other:?}"),
    }
}

fn end(worker: &Worker, claimed: &Claimed) -> EndAttempt {
    EndAttempt {
        worker: worker.clone(),
        todo: claimed.row.id,
        lease_token: Some(claimed.lease_token.0.clone()),
        result: Some("{\"ok\":true}".to_owned()),
        summary: Some("looked at it".to_owned()),
        artifact: None,
    }
}

async fn seen(world: &World, id: TodoId) -> read::Todo {
    read::todo(&world.store, &worker(world, 0), id, 50)
        .await
        .expect("reads")
        .expect("there")
}

#[test]
fn a_claim_comes_with_the_payload_of_its_own_todo() {
    on_both(|world: World| async move {
        let worker = worker(&world, 1);
        let create = |title: &str, payload: Option<&str>| {
            Command::CreateTodo(Box::new(CreateTodo {
                payload: payload.map(str::to_owned),
                ..todo(&world, "work", title)
            }))
        };
        // Claimed in the very commit that opens them, and in a later one.
        let mut commands = vec![
            create("a", Some("{\"n\":1}")),
            create("b", None),
            create("c", Some("\"two\"")),
        ];
        commands.extend([next(&worker), next(&worker)]);
        let answers = world.store.transact_all(commands).await.expect("commits");
        let mut claimed: Vec<Claimed> = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Ok(Outcome::Claimed(claimed)) => Some(*claimed),
                _ => None,
            })
            .collect();
        while let Some(more) = claim(&world, &worker).await {
            claimed.push(more);
        }
        claimed.sort_by(|a, b| a.row.title.cmp(&b.row.title));
        let came: Vec<_> = claimed
            .iter()
            .map(|claimed| (claimed.row.title.as_str(), claimed.payload.as_deref()))
            .collect();
        let expected = [
            ("a", Some("{\"n\":1}")),
            ("b", None),
            ("c", Some("\"two\"")),
        ];
        assert_eq!(came, expected);
    });
}

#[test]
fn a_source_is_found_by_its_token_and_its_secret_opens_for_its_tenant_only() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (row, token) = source_of(&world, SecretOrigin::Minted).await;
        assert_eq!((row.state, row.version), (SourceState::Active, 1));
        assert_eq!(row.name, "github");
        let by_token = read::source_by_token(store, token.token.expose())
            .await
            .expect("reads");
        assert_eq!(by_token.as_ref(), Some(&row));
        let none = read::source_by_token(store, "another")
            .await
            .expect("reads");
        assert_eq!(none, None);
        let secret = row.current_secret().expect("one");
        assert_eq!(secret.fingerprint.len(), 12);
        let opened = store
            .open_sealed(SealedFor::SourceSecret, world.tenant, &secret.sealed)
            .expect("opens");
        assert!(opened.matches(b"whsec_first_secret_of_it"));
        let foreign = create_tenant(store, "other").await;
        for (purpose, tenant) in [
            (SealedFor::SourceSecret, foreign),
            (SealedFor::SourceToken, world.tenant),
        ] {
            assert!(store.open_sealed(purpose, tenant, &secret.sealed).is_err());
        }
        // An identity does not see its tenant's sources.
        let listed = |scope| async move { read::sources(store, &scope, None, 10).await };
        assert_eq!(listed(world.tenant_scope()).await.expect("reads").len(), 1);
        assert_eq!(listed(world.scope()).await.expect("reads"), []);
        assert_eq!(
            code(
                store
                    .transact(Command::DeleteSource {
                        scope: world.scope(),
                        source: row.id
                    })
                    .await
            ),
            ErrorCode::NotFound
        );

        let fresh = store.mint_token().expect("minted");
        let rotated = put(
            store,
            Command::RotateSource(RotateSource {
                scope: world.tenant_scope(),
                source: row.id,
                token: store.seal_token(world.tenant, &fresh).expect("sealed"),
                secret: None,
                by_agent: false,
            }),
        )
        .await;
        assert_eq!(rotated.version, 2);
        let old = read::source_by_token(store, token.token.expose()).await;
        assert_eq!(old.expect("reads"), None);
        store
            .transact(Command::DeleteSource {
                scope: world.tenant_scope(),
                source: row.id,
            })
            .await
            .expect("deleted");
        let gone = read::source(store, &world.tenant_scope(), row.id).await;
        assert_eq!(gone.expect("reads"), None);
    });
}

#[test]
fn a_provider_issued_secret_is_awaited_and_overlaps_for_a_day_at_most() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (row, _) = source_of(&world, SecretOrigin::Provider).await;
        assert_eq!(row.state, SourceState::AwaitingSecret);
        let refusal = Command::Arrive(Box::new(delivery(&row, "a", routed(None))));
        assert_eq!(
            code(store.transact(refusal).await),
            ErrorCode::AwaitingSecret
        );
        let set = |text: &str, keep_previous_ms| {
            let secret = Secret::new(text.to_owned());
            Command::SetSourceSecret(SetSourceSecret {
                scope: world.tenant_scope(),
                source: row.id,
                secret: store.seal_secret(world.tenant, &secret).expect("sealed"),
                keep_previous_ms,
                by_agent: false,
            })
        };
        let first = put(store, set("whsec_one_and_only_one", 0)).await;
        assert_eq!(first.state, SourceState::Active);
        let day = limit::SECRET_OVERLAP_MS;
        assert_eq!(
            code(store.transact(set("whsec_two_two_two_two", day + 1)).await),
            ErrorCode::InvalidArgument
        );
        let second = put(store, set("whsec_two_two_two_two", day)).await;
        assert_eq!(second.valid_secrets(world.now()).count(), 2);
        let until = world.now().plus_ms(i64::try_from(day).expect("fits"));
        assert_eq!(second.valid_secrets(until).count(), 1);
        let read_back = read::source(store, &world.tenant_scope(), row.id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(read_back.row, second);
        let third = put(store, set("whsec_three_three_thr", 0)).await;
        assert_eq!(third.secrets.len(), 1);
    });
}

#[test]
fn rules_are_saved_over_the_version_they_were_made_from() {
    on_both(|world: World| async move {
        let (row, _) = source_of(&world, SecretOrigin::Minted).await;
        let set = |expected_version| {
            Command::SetSourceRules(SetSourceRules {
                scope: world.tenant_scope(),
                source: row.id,
                expected_version,
                rules: Some("[]".to_owned()),
            })
        };
        let saved = put(&world.store, set(1)).await;
        assert_eq!((saved.rules_version, saved.version), (2, 2));
        assert_eq!(
            code(world.store.transact(set(1)).await),
            ErrorCode::Conflict
        );
        // What was judged by the rules before is judged anew.
        let stale = Command::Arrive(Box::new(delivery(&row, "a", routed(None))));
        match world.store.transact(stale).await {
            Err(StoreError::Refused(Refusal::SourceChanged)) => {}
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_delivery_is_one_event_and_one_todo_however_often_it_comes() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let copies = (0..8)
            .map(|_| Command::Arrive(Box::new(delivery(&source, "d1", routed(None)))))
            .collect();
        let answers = store.transact_all(copies).await.expect("commits");
        let outcomes: Vec<ArriveOutcome> = answers
            .into_iter()
            .map(|answer| match answer {
                Ok(Outcome::Arrived(outcome)) => outcome,
                other => panic!("{other:?}"),
            })
            .collect();
        let first = &outcomes[0];
        assert!(!first.duplicate);
        let opened = first.todo.as_ref().expect("a todo");
        assert!(opened.created && opened.queue == "triage");
        for again in &outcomes[1..] {
            assert!(again.duplicate && again.event_id == first.event_id);
            let todo = again.todo.as_ref().expect("the same");
            assert!(!todo.created && todo.id == opened.id);
        }
        world.advance(1_000);
        arrive(&world, delivery(&source, "d1", routed(None))).await;
        let event = read::event(store, &world.tenant_scope(), first.event_id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(event.redeliveries, 8);
        assert_eq!(event.last_redelivered_at, Some(world.now()));
        assert_eq!(event.todo_id, Some(opened.id));
        assert_eq!(event.state, EventState::Done);
        assert_eq!(
            event.routing_trace.as_deref(),
            Some(r#"{"stage":"default"}"#)
        );
        let payload = read::event_payload(store, &world.tenant_scope(), event.id).await;
        assert_eq!(
            payload.expect("reads").as_deref(),
            Some(&b"{\"id\":\"d1\"}"[..])
        );
        let stats = read::source(store, &world.tenant_scope(), source.id)
            .await
            .expect("reads")
            .expect("there")
            .stats;
        assert_eq!((stats.deliveries, stats.redeliveries), (1, 8));
        assert_eq!(stats.last_delivery_at, Some(world.now()));
        let todo = seen(&world, opened.id).await;
        assert_eq!(todo.row.title, "Look at it");
        assert_eq!(todo.row.event_id, Some(event.id));
        assert_eq!(todo.row.payload_size, event.payload_size);

        // Another source may have the same id.
        let (other, _) = source_of(&world, SecretOrigin::Minted).await;
        let elsewhere = arrive(&world, delivery(&other, "d1", routed(None))).await;
        assert!(!elsewhere.duplicate);
        let of_source = read::events_of_source(store, &world.tenant_scope(), source.id, 50).await;
        assert_eq!(of_source.expect("reads"), [event]);
    });
}

#[test]
fn dropped_stays_dropped_and_quarantined_work_is_for_reviewers() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let dropped = Routing {
            disposition: Disposition::Dropped,
            work: None,
            ..routed(None)
        };
        let first = arrive(&world, delivery(&source, "a", dropped)).await;
        assert_eq!(
            (first.disposition, first.todo),
            (Disposition::Dropped, None)
        );
        let again = arrive(&world, delivery(&source, "a", routed(None))).await;
        assert!(again.duplicate);
        assert_eq!(
            (again.disposition, again.todo),
            (Disposition::Dropped, None)
        );

        let mut held = routed(Some("anything"));
        held.disposition = Disposition::Quarantined;
        if let Some(work) = &mut held.work {
            work.quarantine_reason = Some(QuarantineReason::UntrustedActor);
        }
        let held = arrive(&world, delivery(&source, "b", held)).await;
        let todo = held.todo.expect("a todo");
        assert_eq!(todo.queue, QUARANTINE_QUEUE);
        let ordinary = worker(&world, 1);
        let reviewer = Worker {
            reviews_quarantine: true,
            ..ordinary.clone()
        };
        assert!(claim(&world, &ordinary).await.is_none());
        let none = read::todo_row(store, &ordinary, todo.id).await;
        assert_eq!(none.expect("reads"), None);
        let filter = TodoFilter {
            limit: 10,
            ..TodoFilter::default()
        };
        let list = read::todos(store, &ordinary, &filter).await;
        assert_eq!(list.expect("reads"), []);
        // Nor is it the next work of who may review it, who did not ask for it.
        assert!(claim(&world, &reviewer).await.is_none());
        let waits = read::work_waits(store, &reviewer, None).await;
        assert!(!waits.expect("reads"));
        let named = Command::ClaimNextTodo(ClaimNextTodo {
            worker: reviewer,
            queues: Some(vec![QUARANTINE_QUEUE.to_owned()]),
            terms: LeaseTerms::default(),
        });
        match store.transact(named).await.expect("claims") {
            Outcome::Claimed(claimed) => assert_eq!(claimed.row.id, todo.id),
            other => panic!("{other:?}"),
        }
        // Nobody else's work goes there.
        let named = Command::Arrive(Box::new(delivery(&source, "c", routed(Some("quarantine")))));
        assert_eq!(
            code(store.transact(named).await),
            ErrorCode::InvalidArgument
        );
        for (disposition, count) in [(Disposition::Dropped, 1), (Disposition::Routed, 0)] {
            let filter = EventFilter {
                disposition: Some(disposition),
                source: Some(source.id),
                limit: 10,
                ..EventFilter::default()
            };
            let found = read::events(store, &world.tenant_scope(), &filter).await;
            assert_eq!(found.expect("reads").len(), count);
        }
    });
}

#[test]
fn once_opens_one_todo_and_bursts_on_a_subject_join_what_waits() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let once = || Routing {
            once: Some("issue-7".to_owned()),
            ..routed(None)
        };
        let first = arrive(&world, delivery(&source, "a", once())).await;
        assert!(first.todo.is_some() && !first.once_repeat);
        let second = arrive(&world, delivery(&source, "b", once())).await;
        assert!(second.todo.is_none() && second.once_repeat && !second.duplicate);
        let event = read::event(store, &world.tenant_scope(), second.event_id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(
            event.routing_trace.as_deref(),
            Some(r#"{"once":"repeat","stage":"default"}"#)
        );

        let about = || {
            let mut routing = routed(Some("burst"));
            if let Some(work) = &mut routing.work {
                work.subject_key = Some("thread-1".to_owned());
            }
            routing
        };
        let burst = (0..3)
            .map(|n| {
                let delivery = delivery(&source, &format!("burst-{n}"), about());
                Command::Arrive(Box::new(delivery))
            })
            .collect();
        let mut ids = BTreeSet::new();
        for answer in store.transact_all(burst).await.expect("commits") {
            let Ok(Outcome::Arrived(outcome)) = answer else {
                panic!("{answer:?}");
            };
            ids.insert(outcome.todo.expect("a todo").id);
        }
        let joined = arrive(&world, delivery(&source, "burst-3", about())).await;
        ids.insert(joined.todo.as_ref().expect("a todo").id);
        assert_eq!(ids.len(), 1);
        let id = joined.todo.expect("a todo").id;
        let row = seen(&world, id).await.row;
        assert_eq!(
            (row.event_count, row.last_event_id),
            (4, Some(joined.event_id))
        );
        // Once somebody works on it, what comes is work of its own.
        let own = Worker {
            queues: Some(vec!["burst".to_owned()]),
            ..worker(&world, 1)
        };
        assert_eq!(claim(&world, &own).await.expect("taken").row.id, id);
        let later = arrive(&world, delivery(&source, "burst-4", about())).await;
        assert!(later.todo.expect("a todo").created);
    });
}

#[test]
fn a_delivery_that_carries_mail_waits_for_its_worker_alone() {
    on_both(|world: World| async move {
        let store = &world.store;
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let mail = Arrive {
            carries_mail: true,
            ..delivery(&source, "inbound-mail:1", routed(None))
        };
        let outcome = arrive(&world, mail).await;
        let pending = || async {
            read::pending_deliveries(store, &world.worker, None, 10)
                .await
                .expect("reads")
        };
        assert_eq!(pending().await.len(), 1);
        let parser = read::pending_events(store, &world.worker, None, 10).await;
        assert_eq!(parser.expect("reads"), []);
        let oldest = read::oldest_pending(store, &world.tenant_scope()).await;
        assert_eq!(oldest.expect("reads"), None);
        let postpone = Command::PostponeEvent(PostponeEvent {
            tenant: world.tenant,
            event_id: outcome.event_id,
            next_try_at: world.now().plus_ms(5_000),
            detail: Some("body_pending".to_owned()),
        });
        store.transact(postpone).await.expect("put off");
        assert_eq!(pending().await, []);
        world.advance(5_000);
        let again = pending().await.pop().expect("due");
        assert_eq!((again.tries, again.carries_mail), (1, true));
        let settle = Command::SettleEvent(SettleEvent {
            tenant: world.tenant,
            event_id: outcome.event_id,
            message_id: None,
            detail: None,
        });
        store.transact(settle).await.expect("settled");
        assert_eq!(pending().await, []);
    });
}

#[test]
fn claims_of_one_commit_get_different_todos_oldest_first() {
    on_both(|world: World| async move {
        let mut ids = Vec::new();
        for n in 0..20 {
            ids.push(open(&world, todo(&world, "q", &format!("{n}"))).await.id);
        }
        let urgent = {
            let mut create = todo(&world, "q", "urgent");
            create.work.priority = 5;
            open(&world, create).await.id
        };
        ids.insert(0, urgent);
        let claims = (0..25).map(|n| next(&worker(&world, n % 3))).collect();
        let answers = world.store.transact_all(claims).await.expect("commits");
        let mut got = Vec::new();
        let mut nothing = 0;
        for answer in answers {
            match answer {
                Ok(Outcome::Claimed(claimed)) => got.push(claimed.row.id),
                Ok(Outcome::NothingToClaim) => nothing += 1,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(got, ids);
        assert_eq!(nothing, 4);
    });
}

#[test]
fn grants_names_assignees_and_identities_narrow_what_is_taken() {
    on_both(|world: World| async move {
        let any = worker(&world, 1);
        let a = open(&world, todo(&world, "a", "a")).await;
        let b = open(&world, todo(&world, "b", "b")).await;
        let mut create = todo(&world, "c", "for two");
        create.work.assignee = Some(KeyId::from_parts(1, 2));
        let assigned = open(&world, create).await;
        let own = CreateTodo {
            identity: Some(world.identity),
            ..todo(&world, "d", "own")
        };
        let own = open(&world, own).await;
        let granted = Worker {
            queues: Some(vec!["b".to_owned()]),
            ..any.clone()
        };
        assert_eq!(claim(&world, &granted).await.expect("taken").row.id, b.id);
        assert!(claim(&world, &granted).await.is_none());
        let hidden = Command::ClaimTodo(ClaimTodo {
            worker: granted.clone(),
            todo: a.id,
            terms: LeaseTerms::default(),
        });
        assert_eq!(
            code(world.store.transact(hidden).await),
            ErrorCode::NotFound
        );
        let identity = Worker {
            scope: world.scope(),
            ..worker(&world, 3)
        };
        assert_eq!(
            claim(&world, &identity).await.expect("taken").row.id,
            own.id
        );
        assert!(claim(&world, &identity).await.is_none());
        // Names that stand for nothing granted find nothing; named ones find their own.
        let named = |queues: &[&str]| {
            Command::ClaimNextTodo(ClaimNextTodo {
                worker: any.clone(),
                queues: Some(queues.iter().map(|name| (*name).to_owned()).collect()),
                terms: LeaseTerms::default(),
            })
        };
        let many: Vec<String> = (0..10).map(|n| format!("x{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for queues in [&["b", "c"][..], &many[..]] {
            let answer = world.store.transact(named(queues)).await.expect("answered");
            assert_eq!(answer, Outcome::NothingToClaim);
        }
        assert_eq!(claim(&world, &any).await.expect("taken").row.id, a.id);
        assert!(claim(&world, &any).await.is_none());
        let second = worker(&world, 2);
        assert_eq!(
            claim(&world, &second).await.expect("taken").row.id,
            assigned.id
        );
        let foreign = create_tenant(&world.store, "other").await;
        let outside = Worker {
            scope: postroom_types::TenantScope::granted(foreign, postroom_types::Reach::Tenant),
            ..worker(&world, 1)
        };
        assert!(claim(&world, &outside).await.is_none());
        let missing = read::todo_row(&world.store, &outside, a.id).await;
        assert_eq!(missing.expect("reads"), None);
    });
}

#[test]
fn a_lapsed_lease_is_taken_over_and_the_late_word_is_kept_beside_its_attempt() {
    on_both(|world: World| async move {
        let store = &world.store;
        let row = open(&world, todo(&world, "q", "slow")).await;
        let (slow, quick) = (worker(&world, 1), worker(&world, 2));
        let first = claim(&world, &slow).await.expect("taken");
        assert!(claim(&world, &quick).await.is_none());
        world.advance(299_999);
        let beat = Command::HeartbeatTodo(HeartbeatTodo {
            worker: slow.clone(),
            todo: row.id,
            lease_token: Some(first.lease_token.0.clone()),
            seconds: None,
            note: Some("halfway".to_owned()),
        });
        store.transact(beat).await.expect("renewed");
        world.advance(300_000);
        // No sweep has run.
        let second = claim(&world, &quick).await.expect("taken over");
        assert_eq!((second.row.id, second.row.attempt), (row.id, 2));
        let late = Command::CompleteTodo(end(&slow, &first));
        assert_eq!(code(store.transact(late).await), ErrorCode::Conflict);
        let todo = seen(&world, row.id).await;
        assert_eq!(todo.row.state, TodoState::Claimed);
        let attempt = &todo.attempts[0];
        assert_eq!(attempt.outcome, AttemptOutcome::LeaseExpired);
        assert_eq!(attempt.late_at, Some(world.now()));
        assert_eq!(attempt.late_result.as_deref(), Some("{\"ok\":true}"));
        assert_eq!(attempt.note.as_deref(), Some("halfway"));
        let done = Command::CompleteTodo(end(&quick, &second));
        store.transact(done).await.expect("done");
        let again = Command::CompleteTodo(end(&quick, &second));
        store.transact(again).await.expect("the same word again");
        let todo = seen(&world, row.id).await;
        assert_eq!(todo.row.state, TodoState::Done);
        assert_eq!(todo.result.as_deref(), Some("{\"ok\":true}"));
        assert_eq!((todo.attempts.len(), todo.attempts_kept), (2, 2));
        let payload = read::todo_payload(store, &quick, row.id).await;
        assert_eq!(payload.expect("reads").as_deref(), Some("{\"n\":1}"));
    });
}

#[test]
fn a_sweep_reaps_retries_and_buries_in_bounded_steps() {
    on_both(|world: World| async move {
        let store = &world.store;
        let one = worker(&world, 1);
        for n in 0..7 {
            let mut create = todo(&world, "q", &n.to_string());
            create.work.max_attempts = Some(if n == 0 { 1 } else { 5 });
            open(&world, create).await;
        }
        let mut claims = Vec::new();
        while let Some(claimed) = claim(&world, &one).await {
            claims.push(claimed);
        }
        let failed = Command::FailTodo(end(&one, &claims[6]));
        store.transact(failed).await.expect("failed");
        let due = read::next_due(store, &world.worker).await.expect("reads");
        assert_eq!(due, [(world.tenant, world.now().plus_ms(30_000))]);
        world.advance(300_000);
        assert!(read::work_waits(store, &one, None).await.expect("reads"));
        let sweep = |limit| Command::SweepTodos {
            tenant: world.tenant,
            limit,
        };
        let mut totals = (0, 0, 0);
        for _ in 0..4 {
            match store.transact(sweep(3)).await.expect("swept") {
                Outcome::Swept(swept) => {
                    totals.0 += swept.reaped;
                    totals.1 += swept.retried;
                    totals.2 += swept.dead_lettered;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(totals, (5, 1, 1));
        let counts = read::queue_counts(store, &one).await.expect("reads");
        let counts = &counts["q"];
        assert_eq!((counts.pending, counts.dead_letters), (6, 1));
        assert_eq!((counts.claimed, counts.parked, counts.done), (0, 0, 0));
        assert_eq!(counts.oldest_pending_at, Some(claims[1].row.created_at));
        let dead = seen(&world, claims[0].row.id).await;
        assert!(dead.row.is_dead_letter());
        assert_eq!(dead.attempts[0].outcome, AttemptOutcome::Reaped);
        assert_eq!(
            read::next_due(store, &world.worker).await.expect("reads"),
            []
        );
        let filter = TodoFilter {
            state: Some(TodoState::Failed),
            queue: Some("q".to_owned()),
            limit: 10,
            ..TodoFilter::default()
        };
        let listed = read::todos(store, &one, &filter).await.expect("reads");
        assert_eq!(listed, [dead.row]);
    });
}

#[test]
fn what_ended_long_ago_goes_with_all_that_hangs_on_it_and_what_is_live_stays() {
    on_both(|world: World| async move {
        let (store, one) = (&world.store, worker(&world, 1));
        for n in 0..4 {
            let mut create = todo(&world, "q", &n.to_string());
            create.payload = Some("{}".to_owned());
            open(&world, create).await;
            world.advance(10);
        }
        let mut done = Vec::new();
        for _ in 0..3 {
            let claimed = claim(&world, &one).await.expect("claimed");
            let complete = Command::CompleteTodo(end(&one, &claimed));
            store.transact(complete).await.expect("done");
            done.push(claimed.row.id);
            world.advance(1_000);
        }
        let (scope, tenant) = (&world.worker, world.tenant);
        let before = world.now().plus_ms(-1_500);
        let old = read::ended_todos(store, scope, tenant, before, 10).await;
        assert_eq!(old.expect("reads"), done[..2]);
        let beyond = async |keep| {
            let found = read::ended_todos_beyond(store, scope, tenant, keep, 10).await;
            found.expect("reads")
        };
        assert_eq!(beyond(3).await, []);
        assert_eq!(beyond(1).await, done[..2]);
        let all = TodoFilter {
            limit: 10,
            ..TodoFilter::default()
        };
        let waiting = read::todos(store, &one, &all).await.expect("reads");
        let ids = waiting.iter().map(|row| row.id).collect();
        let prune = Command::PruneTodos {
            tenant,
            todos: ids,
            ended_before: before,
        };
        assert_eq!(
            store.transact(prune).await.expect("done"),
            Outcome::Pruned(2)
        );
        let left = read::todos(store, &one, &all);
        assert_eq!(left.await.expect("reads").len(), 2);
        for id in &done[..2] {
            assert!(
                read::todo(store, &one, *id, 5)
                    .await
                    .expect("reads")
                    .is_none()
            );
        }
        assert_eq!(seen(&world, done[2]).await.attempts.len(), 1);
    });
}

#[test]
fn a_fence_an_undone_claim_and_a_person() {
    on_both(|world: World| async move {
        let store = &world.store;
        let one = worker(&world, 1);
        let row = open(&world, todo(&world, "q", "fenced")).await;
        let command = Command::ClaimTodo(ClaimTodo {
            worker: one.clone(),
            todo: row.id,
            terms: LeaseTerms {
                require_fence: true,
                claimant: Some("agent 1".to_owned()),
                ..LeaseTerms::default()
            },
        });
        let Ok(Outcome::Claimed(claimed)) = store.transact(command).await else {
            panic!("claimed");
        };
        for token in [None, Some("lease_0".to_owned())] {
            let wrong = EndAttempt {
                lease_token: token,
                ..end(&one, &claimed)
            };
            let answer = store.transact(Command::CompleteTodo(wrong)).await;
            assert_eq!(code(answer), ErrorCode::Conflict);
        }
        let undo = Command::UndoClaim(UndoClaim {
            scope: world.tenant_scope(),
            todo: row.id,
            seq: 1,
        });
        store.transact(undo).await.expect("undone");
        let back = seen(&world, row.id).await;
        assert_eq!((back.row.state, back.row.attempt), (TodoState::Pending, 0));
        assert_eq!(back.attempts, []);
        let again = claim(&world, &one).await.expect("taken");
        assert_eq!((again.row.attempt, again.row.attempts_total), (1, 2));
        let person = Worker {
            key: None,
            ..one.clone()
        };
        let by_hand = EndAttempt {
            worker: person,
            lease_token: None,
            ..end(&one, &again)
        };
        store
            .transact(Command::ReleaseTodo(by_hand))
            .await
            .expect("a person bypasses the lease");
        assert_eq!(seen(&world, row.id).await.row.state, TodoState::Pending);
    });
}

#[test]
fn a_queue_can_be_paused_and_bounded() {
    on_both(|world: World| async move {
        let store = &world.store;
        let one = worker(&world, 1);
        for n in 0..4 {
            open(&world, todo(&world, "slow", &n.to_string())).await;
        }
        let other = open(&world, todo(&world, "other", "x")).await;
        let set = |paused, bound| {
            Command::SetQueue(SetQueue {
                scope: world.tenant_scope(),
                queue: "slow".to_owned(),
                paused: Some(paused),
                max_in_flight: Some(bound),
            })
        };
        store.transact(set(false, Some(2))).await.expect("bounded");
        let claims = (0..5).map(|_| next(&one)).collect();
        let answers = store.transact_all(claims).await.expect("commits");
        let claimed: Vec<Claimed> = answers
            .into_iter()
            .filter_map(|answer| match answer {
                Ok(Outcome::Claimed(claimed)) => Some(*claimed),
                Ok(Outcome::NothingToClaim) => None,
                other => panic!("{other:?}"),
            })
            .collect();
        let slow = claimed.iter().filter(|c| c.row.queue == "slow").count();
        assert_eq!((slow, claimed.len()), (2, 3));
        assert!(claimed.iter().any(|claimed| claimed.row.id == other.id));
        let waiting = read::todos(
            store,
            &one,
            &TodoFilter {
                state: Some(TodoState::Pending),
                limit: 10,
                ..TodoFilter::default()
            },
        )
        .await
        .expect("reads");
        assert_eq!(waiting.len(), 2);
        let full = Command::ClaimTodo(ClaimTodo {
            worker: one.clone(),
            todo: waiting[0].id,
            terms: LeaseTerms::default(),
        });
        assert_eq!(code(store.transact(full).await), ErrorCode::Deferred);
        store.transact(set(false, None)).await.expect("lifted");
        assert!(claim(&world, &one).await.is_some());
        store.transact(set(true, None)).await.expect("paused");
        assert!(claim(&world, &one).await.is_none());
        assert_eq!(read::queues(store, &one).await.expect("reads").len(), 1);
    });
}

#[test]
fn a_key_frees_with_its_todo_even_within_one_commit() {
    on_both(|world: World| async move {
        let store = &world.store;
        let one = worker(&world, 1);
        let keyed = || {
            let mut create = todo(&world, "q", "keyed");
            create.work.idempotency_key = Some("k".to_owned());
            Command::CreateTodo(Box::new(create))
        };
        store.transact(keyed()).await.expect("opened");
        let claimed = claim(&world, &one).await.expect("taken");
        let answers = store
            .transact_all(vec![
                keyed(),
                Command::CompleteTodo(end(&one, &claimed)),
                keyed(),
                keyed(),
            ])
            .await
            .expect("commits");
        let created: Vec<bool> = answers
            .iter()
            .filter_map(|answer| match answer {
                Ok(Outcome::Todo { created, .. }) => Some(*created),
                _ => None,
            })
            .collect();
        assert_eq!(created, [false, false, true, false]);
        let ceiling = Command::CreateTodo(Box::new(CreateTodo {
            payload: Some("1".repeat(limit::TODO_PAYLOAD_BYTES + 1)),
            ..todo(&world, "q", "too much")
        }));
        assert_eq!(
            code(store.transact(ceiling).await),
            ErrorCode::InvalidArgument
        );
        let unknown = Command::CreateTodo(Box::new(CreateTodo {
            identity: Some(IdentityId::from_parts(1, 9)),
            ..todo(&world, "q", "nobody's")
        }));
        let answers = store.transact_all(vec![unknown]).await.expect("commits");
        assert_eq!(refused(&answers[0]), ErrorCode::IdentityNotFound);
    });
}

#[test]
fn two_nodes_hand_no_todo_out_twice() {
    on_both(|world: World| async move {
        if world.options.database_url.is_none() {
            return;
        }
        let dir = tempfile::tempdir().expect("dir");
        let key = std::fs::copy(
            world.folder().join("secret.key"),
            dir.path().join("secret.key"),
        );
        key.expect("copied");
        let options = postroom_store::StoreOptions {
            data_dir: dir.path().to_owned(),
            ..world.options.clone()
        };
        let node = Store::open(options).await.expect("opens");
        for n in 0..60 {
            open(&world, todo(&world, "q", &n.to_string())).await;
        }
        let mut tasks = Vec::new();
        for n in 0..40_u128 {
            let store = if n % 2 == 0 { &world.store } else { &node }.clone();
            let worker = worker(&world, n);
            tasks.push(tokio::spawn(async move {
                let mut got = Vec::new();
                for _ in 0..2 {
                    match store.transact(next(&worker)).await.expect("answered") {
                        Outcome::Claimed(claimed) => got.push(claimed.row.id),
                        Outcome::NothingToClaim => {}
                        other => panic!("{other:?}"),
                    }
                }
                got
            }));
        }
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.expect("ends"));
        }
        let distinct: BTreeSet<TodoId> = all.iter().copied().collect();
        assert_eq!((all.len(), distinct.len()), (60, 60));
        node.close().await;
    });
}

/// What may go now, and up to which id was looked.
async fn old(world: &World, keep: usize) -> (Vec<OldEvent>, Option<u64>) {
    let (store, now) = (&world.store, world.now());
    let found = read::old_deliveries(store, &world.worker, world.tenant, (now, keep), (0, 100));
    found.await.expect("reads")
}

async fn prune(world: &World, events: Vec<OldEvent>, seen: u64) -> u64 {
    let command = Command::PruneEvents {
        tenant: world.tenant,
        events,
        received_before: world.now(),
        seen,
    };
    match world.store.transact(command).await.expect("done") {
        Outcome::Pruned(removed) => removed,
        other => panic!("{other:?}"),
    }
}

async fn has_bytes(world: &World, id: u64) -> bool {
    let scope = world.tenant_scope();
    let payload = read::event_payload(&world.store, &scope, id).await;
    payload.expect("reads").is_some()
}

fn bare() -> Routing {
    Routing {
        work: None,
        ..routed(None)
    }
}

#[test]
fn old_deliveries_go_and_those_with_mail_work_or_a_todo_stay() {
    on_both(|world: World| async move {
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let scope = world.tenant_scope();
        let mut ids = Vec::new();
        for (key, routing) in [("plain", bare()), ("work", routed(None)), ("named", bare())] {
            ids.push(
                arrive(&world, delivery(&source, key, routing))
                    .await
                    .event_id,
            );
        }
        let carrier = Arrive {
            carries_mail: true,
            ..delivery(&source, "carrier", bare())
        };
        arrive(&world, carrier).await;
        world
            .import(&[super::world::mail("m", &[], "a@b.example", "mail")])
            .await;
        let named = CreateTodo {
            event_id: Some(ids[2]),
            payload: None,
            ..todo(&world, "q", "for an event of long ago")
        };
        open(&world, named).await;
        world.advance(1_000);
        let (found, last) = old(&world, usize::MAX).await;
        let only = OldEvent {
            id: ids[0],
            alone: true,
        };
        assert_eq!((found, last), (vec![only], Some(ids[2])));
        let seen = read::position(&world.store, &scope).await.expect("reads");
        let everything: Vec<OldEvent> = (1..=seen).map(|id| OldEvent { id, alone: true }).collect();
        // Whatever it is told, it removes what may go. The todo of one stands in no state that a
        // decision has, and keeps it all the same.
        assert!((1..=2).contains(&prune(&world, everything, seen).await));
        let filter = EventFilter {
            limit: 10,
            ..EventFilter::default()
        };
        let left = read::events(&world.store, &scope, &filter).await;
        let left: Vec<u64> = left.expect("reads").iter().map(|row| row.id).collect();
        assert_eq!(left.len(), 4);
        assert!(!left.contains(&ids[0]));
        for id in left {
            assert!(has_bytes(&world, id).await);
        }
        // The same delivery is a new one now.
        let again = arrive(&world, delivery(&source, "plain", bare())).await;
        assert!(!again.duplicate && again.event_id > seen);
        assert!(has_bytes(&world, again.event_id).await);
    });
}

#[test]
fn bytes_go_with_the_last_that_names_them_and_never_from_under_a_message() {
    on_both(|world: World| async move {
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let scope = world.tenant_scope();
        let mail = super::world::mail("m", &[], "a@b.example", "the same bytes");
        let with = |key: &str, bytes: &str| Arrive {
            raw: RawMail::new(bytes.as_bytes().to_vec()),
            ..delivery(&source, key, bare())
        };
        let first = arrive(&world, with("1", "ping")).await.event_id;
        let second = arrive(&world, with("2", "ping")).await.event_id;
        let early = arrive(&world, with("3", &mail)).await.event_id;
        world.advance(1_000);
        let position = async || read::position(&world.store, &scope).await.expect("reads");
        let seen = position().await;
        let (found, _) = old(&world, usize::MAX).await;
        let of = |id, alone| OldEvent { id, alone };
        assert_eq!(found, [of(first, false), of(early, true)]);
        // A mail with the very bytes comes after the look.
        let imported = world.import(std::slice::from_ref(&mail)).await;
        assert_eq!(prune(&world, found, seen).await, 2);
        assert!(has_bytes(&world, second).await);
        let postroom_core::ImportOutcome::Stored {
            event_id: message, ..
        } = imported[0]
        else {
            panic!("{imported:?}");
        };
        assert!(has_bytes(&world, message).await);
        // The last that names some bytes takes them along.
        let late = arrive(&world, with("4", &mail)).await.event_id;
        world.advance(1_000);
        let seen = position().await;
        let (found, _) = old(&world, usize::MAX).await;
        assert_eq!(found, [of(second, true), of(late, false)]);
        assert_eq!(prune(&world, found, seen).await, 2);
        assert!(has_bytes(&world, message).await);
        assert_eq!(old(&world, usize::MAX).await, (vec![], None));
        let ping = arrive(&world, with("5", "ping")).await.event_id;
        assert!(has_bytes(&world, ping).await);
    });
}

#[test]
fn the_newest_deliveries_are_kept_by_number() {
    on_both(|world: World| async move {
        let (source, _) = source_of(&world, SecretOrigin::Minted).await;
        let mut ids = Vec::new();
        for n in 0..4 {
            let made = arrive(&world, delivery(&source, &n.to_string(), bare())).await;
            ids.push(made.event_id);
        }
        let before = postroom_types::Timestamp::from_ms(0);
        for (keep, most) in [(4, 0), (3, 1), (1, 3)] {
            let (store, worker) = (&world.store, &world.worker);
            let found =
                read::old_deliveries(store, worker, world.tenant, (before, keep), (0, 100)).await;
            let found: Vec<u64> = found.expect("reads").0.iter().map(|old| old.id).collect();
            assert_eq!(found, ids[..most]);
        }
    });
}
