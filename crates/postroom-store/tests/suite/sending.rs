//! Mail that is sent: taken in, claimed, recorded, and what rules it.

use super::world::{World, code, create_identity, create_tenant, mail, on_both};
use postroom_core::{
    AutoReplyRule, BounceType, ClaimSends, ClaimedSend, Command, DeliveryEvent, DeliveryReport,
    DeliveryStatus, DeliverySubject, Direction, Draft, ExpireClaims, FeedKind, Idempotency,
    IdentityPatch, IdentityStatus, Kind, ListDirection, ListEntry, ListKind, MessageStatus,
    Outcome, OutgoingMail, Owner, PutDraft, PutSuppression, PutUpload, QueueMessage, RawMail,
    RecipientField, RecipientOutcome, RecipientRoute, RemoveSuppression, Reporter, ResolveSend,
    SendKind, SendOperation, SendOutcome, SendPolicy, SendRecipient, SendRef, SendScope, SendState,
    SendThread, SentDraft, SetPolicy, Signature, Submission, SuppressionReason, UpdateIdentity,
    UsageDay, Verdict, fingerprint, idempotency_key, masked,
};
use postroom_store::read::{self, SendFilter};
use postroom_types::{Address, ErrorCode, KeyId, MessageId, ThreadId, limit};
use std::collections::{BTreeMap, BTreeSet};

const DAY: &str = "2026-11-30";
const BOB: &str = "bob@there.example";
const EVE: &str = "eve@there.example";

async fn update(world: &World, patch: IdentityPatch) {
    let command = Command::UpdateIdentity(UpdateIdentity {
        tenant: world.tenant,
        identity: world.identity,
        patch,
    });
    world.store.transact(command).await.expect("updated");
}

/// Lets the mailbox send.
async fn owned(world: World) -> World {
    let owner = Owner {
        name: "Ada".to_owned(),
        email: "ada@acme.example".to_owned(),
    };
    let patch = IdentityPatch {
        owner: Some(Some(owner)),
        ..IdentityPatch::default()
    };
    update(&world, patch).await;
    world
}

fn recipient(world: &World, address: &str) -> SendRecipient {
    SendRecipient {
        address: address.to_owned(),
        name: "Somebody".to_owned(),
        field: RecipientField::To,
        hash: world.store.keys().address_hash(world.tenant, address),
        base_hash: Address::parse(address).ok().and_then(|address| {
            let keys = world.store.keys();
            address
                .detail()
                .map(|_| keys.address_hash(world.tenant, address.base()))
        }),
        route: RecipientRoute::Outside,
        asked: false,
        on_forwarded: false,
    }
}

fn raw_of(n: u128, to: &[&str]) -> String {
    format!(
        "From: Agent <agent@acme.example>\r\nTo: {}\r\nSubject: Offer {n}\r\n\
         Message-ID: <out-{n}@acme.example>\r\n\r\nHello number {n}\r\n",
        to.join(", ")
    )
}

fn outgoing(world: &World, n: u128, to: &[&str]) -> QueueMessage {
    let raw = raw_of(n, to);
    QueueMessage {
        tenant: world.tenant,
        identity: world.identity,
        key: None,
        scope: SendScope::Anyone,
        test: false,
        operation: SendOperation::Send,
        kind: SendKind::Transactional,
        id: MessageId::from_parts(world.now().ulid_ms(), n),
        thread: SendThread::New(ThreadId::from_parts(world.now().ulid_ms(), n)),
        answers: None,
        idempotency: Idempotency {
            key: idempotency_key(&format!("key {n}")).expect("a key"),
            fingerprint: fingerprint("send", "idn", &serde_json::json!({ "n": n.to_string() })),
        },
        from: "agent@acme.example".to_owned(),
        thread_uses_from: false,
        envelope_from: None,
        recipients: to.iter().map(|to| recipient(world, to)).collect(),
        mail: Some(OutgoingMail {
            draft: Draft::read(raw.as_bytes(), None),
            raw: RawMail::new(raw.into_bytes()),
        }),
        hop: 1,
        transport: "sandbox".to_owned(),
        leaves: false,
        day: UsageDay {
            date: DAY.to_owned(),
            ends_at: world.now().plus_ms(12 * 3_600_000),
        },
        labels: vec!["sales".to_owned()],
        metadata: BTreeMap::from([("order".to_owned(), n.to_string())]),
        draft: None,
        faults: Vec::new(),
        dry_run: false,
    }
}

fn queue(mail: QueueMessage) -> Command {
    Command::QueueMessage(Box::new(mail))
}

async fn queued(world: &World, n: u128, to: &[&str]) -> MessageId {
    match world.store.transact(queue(outgoing(world, n, to))).await {
        Ok(Outcome::Sent(sent)) => sent.message_id,
        other => panic!("{other:?}"),
    }
}

async fn claim(world: &World, sends: Vec<SendRef>, process: u128) -> Vec<ClaimedSend> {
    let command = Command::ClaimSends(ClaimSends {
        sends,
        process,
        asked_again_before: world.now().plus_ms(-10_000),
    });
    match world.store.transact(command).await {
        Ok(Outcome::SendsClaimed(claimed)) => claimed,
        other => panic!("{other:?}"),
    }
}

async fn due(world: &World) -> Vec<SendRef> {
    read::due_sends(&world.store, &world.worker, "sandbox", world.now(), 1_000)
        .await
        .expect("reads")
        .into_iter()
        .map(|due| due.send)
        .collect()
}

fn outcome(claim: &ClaimedSend, submission: Submission) -> SendOutcome {
    SendOutcome {
        send: SendRef {
            tenant: claim.row.tenant_id,
            message: claim.row.message_id,
        },
        token: claim.row.claim.expect("claimed").token,
        submission,
    }
}

/// The transport's answer for everybody the claim names.
fn taken(claim: &ClaimedSend, verdict: Verdict) -> Submission {
    let recipients = claim.recipients.iter().map(|delivery| RecipientOutcome {
        address: delivery.address.clone(),
        verdict,
        smtp_code: Some(250),
        enhanced_code: Some("2.1.5".to_owned()),
        reason: None,
    });
    Submission::Answered {
        provider_message_id: Some(format!("p-{}", claim.row.message_id)),
        recipients: recipients.collect(),
    }
}

async fn record(world: &World, outcomes: Vec<SendOutcome>) {
    let command = Command::RecordOutcomes(outcomes);
    world.store.transact(command).await.expect("recorded");
}

async fn status(world: &World, message: MessageId) -> MessageStatus {
    read::message(&world.store, &world.scope(), message)
        .await
        .expect("reads")
        .expect("there")
        .row
        .status
}

async fn used(world: &World) -> (u64, u64) {
    let whole = read::usage(&world.store, &world.tenant_scope(), None, DAY, DAY)
        .await
        .expect("reads");
    let own = read::usage(&world.store, &world.scope(), None, DAY, DAY)
        .await
        .expect("reads");
    let count = |rows: &[postroom_core::UsageRow]| rows.first().map(|row| (row.sends, row.held));
    assert_eq!(count(&whole), count(&own));
    count(&whole).unwrap_or_default()
}

#[test]
fn a_mail_goes_from_its_queue_to_its_recipients_and_is_read_like_any_other() {
    on_both(|world| async move {
        let world = owned(world).await;
        let position = read::position(&world.store, &world.tenant_scope())
            .await
            .expect("reads");
        let id = queued(&world, 1, &[BOB, EVE]).await;
        let message = read::message(&world.store, &world.scope(), id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(message.row.direction, Direction::Outbound);
        assert_eq!(message.row.kind, Kind::Transactional);
        assert_eq!(message.row.status, MessageStatus::Queued);
        assert_eq!(message.labels, ["sales"]);
        assert!(!message.row.unread);
        let raw = read::raw(&world.store, &world.scope(), id)
            .await
            .expect("reads");
        assert_eq!(raw, Some(raw_of(1, &[BOB, EVE]).into_bytes()));
        let sent = read::sent_message(
            &world.store,
            &world.tenant_scope(),
            world.identity,
            "out-1@acme.example",
        )
        .await;
        assert_eq!(sent.expect("reads"), Some(id));

        let claimed = claim(&world, due(&world).await, 7).await;
        assert_eq!(claimed.len(), 1);
        assert_eq!(claimed[0].recipients.len(), 2);
        assert!(due(&world).await.is_empty());
        let open = read::open_claims(&world.store, &world.worker)
            .await
            .expect("reads");
        assert_eq!((open[0].send.message, open[0].process), (id, 7));
        let wire = read::wire(
            &world.store,
            &world.worker,
            world.tenant,
            &[claimed[0].row.sha256, [0; 32]],
        )
        .await;
        let mut wire = wire.expect("reads");
        assert!(wire.pop().expect("asked for").is_none());
        let bytes = wire.pop().expect("asked for").expect("there").unpack();
        assert_eq!(bytes.expect("whole"), raw_of(1, &[BOB, EVE]).into_bytes());

        let taken = taken(&claimed[0], Verdict::Submitted);
        record(&world, vec![outcome(&claimed[0], taken)]).await;
        assert_eq!(status(&world, id).await, MessageStatus::Submitted);
        assert_eq!(used(&world).await, (2, 0));
        let send = read::send(&world.store, &world.scope(), id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(send.state, SendState::Done);
        assert_eq!(send.metadata["order"], "1");
        let deliveries = read::deliveries(&world.store, &world.scope(), id)
            .await
            .expect("reads");
        assert_eq!(deliveries[1].address, EVE);
        assert_eq!(deliveries[1].enhanced_code.as_deref(), Some("2.1.5"));
        assert_eq!(deliveries[1].attempt, 1);

        let feed = read::changes(&world.store, &world.tenant_scope(), position, 100)
            .await
            .expect("reads");
        let kinds: Vec<FeedKind> = feed.iter().map(|row| row.kind).collect();
        assert_eq!(kinds, [FeedKind::MessageQueued, FeedKind::MessageSent]);
        assert!(feed.iter().all(|row| row.message_id() == Some(id)));
    });
}

#[test]
fn of_many_that_claim_at_once_each_send_has_one() {
    on_both(|world| async move {
        let world = owned(world).await;
        let set = SetPolicy {
            tenant: world.tenant,
            patch: serde_json::from_value(serde_json::json!({"identity_daily_send_cap": 1_000}))
                .expect("a patch"),
        };
        world
            .store
            .transact(Command::SetPolicy(set))
            .await
            .expect("set");
        let sends = (0..150).map(|n| queue(outgoing(&world, n, &[BOB])));
        let answers = world.store.transact_all(sends.collect()).await;
        assert!(answers.expect("committed").iter().all(Result::is_ok));
        let due = due(&world).await;
        assert_eq!(due.len(), 150);
        let claims = (0..8u128).map(|process| claim(&world, due.clone(), process));
        let claimed: Vec<ClaimedSend> = futures_util::future::join_all(claims)
            .await
            .into_iter()
            .flatten()
            .collect();
        let tokens: BTreeSet<u128> = claimed
            .iter()
            .map(|claim| claim.row.claim.expect("claimed").token)
            .collect();
        assert_eq!((claimed.len(), tokens.len()), (150, 150));
        let outcomes = claimed
            .iter()
            .map(|claim| outcome(claim, taken(claim, Verdict::Delivered)));
        record(&world, outcomes.collect()).await;
        assert_eq!(used(&world).await, (150, 0));
        let filter = SendFilter {
            state: Some(SendState::Done),
            limit: 200,
            ..SendFilter::default()
        };
        let done = read::sends(&world.store, &world.scope(), &filter)
            .await
            .expect("reads");
        assert_eq!(done.len(), 150);
        assert!(done.is_sorted_by(|a, b| a.num > b.num));
        for row in done {
            assert_eq!(
                status(&world, row.message_id).await,
                MessageStatus::Delivered
            );
        }
    });
}

#[test]
fn one_key_sends_one_mail_however_many_ask_at_once_and_after_a_restart() {
    on_both(|world| async move {
        let mut world = owned(world).await;
        let asks = (0..20u128).map(|n| {
            let mut mail = outgoing(&world, n, &[BOB]);
            mail.idempotency = outgoing(&world, 99, &[BOB]).idempotency;
            world.store.transact(queue(mail))
        });
        let answers = futures_util::future::join_all(asks).await;
        let sent: Vec<(MessageId, bool)> = answers
            .into_iter()
            .map(|answer| match answer {
                Ok(Outcome::Sent(sent)) => (sent.message_id, sent.deduplicated),
                other => panic!("{other:?}"),
            })
            .collect();
        let first = sent[0].0;
        assert!(sent.iter().all(|(id, _)| *id == first));
        assert_eq!(sent.iter().filter(|(_, again)| !again).count(), 1);
        world = world.reopen().await;
        let mut again = outgoing(&world, 50, &[BOB]);
        let key = outgoing(&world, 99, &[BOB]).idempotency;
        again.idempotency = key;
        let known = read::idempotent(&world.store, &world.scope(), world.identity, &key.key)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(known.message_id, first);
        match world.store.transact(queue(again)).await {
            Ok(Outcome::Sent(sent)) => assert!(sent.deduplicated && sent.message_id == first),
            other => panic!("{other:?}"),
        }
        let mut other = outgoing(&world, 51, &[BOB]);
        other.idempotency.key = key.key;
        let refused = world.store.transact(queue(other)).await;
        assert_eq!(code(refused), ErrorCode::IdempotencyConflict);
        // Thirty days later the key is free, and housekeeping forgets it.
        let life = i64::try_from(limit::IDEMPOTENCY_LIFE_MS).expect("fits");
        world.advance(life);
        let known = read::idempotent(&world.store, &world.scope(), world.identity, &key.key).await;
        assert_eq!(known.expect("reads"), None);
        world
            .store
            .transact(Command::PruneSending)
            .await
            .expect("pruned");
        let mut anew = outgoing(&world, 52, &[BOB]);
        anew.idempotency.key = key.key;
        match world.store.transact(queue(anew)).await {
            Ok(Outcome::Sent(sent)) => assert!(!sent.deduplicated),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn of_twenty_at_once_as_many_pass_as_the_cap_has_left() {
    on_both(|world| async move {
        let world = owned(world).await;
        let policy = SendPolicy {
            daily_cap: Some(5),
            auto_reply: AutoReplyRule::Denied,
            require_known_recipient: false,
        };
        let signature = Signature {
            text: Some("Ada's agent".to_owned()),
            html: None,
        };
        let patch = IdentityPatch {
            send_policy: Some(policy.clone()),
            signature: Some(Some(signature.clone())),
            ..IdentityPatch::default()
        };
        update(&world, patch).await;
        let asks = (0..20u128).map(|n| world.store.transact(queue(outgoing(&world, n, &[BOB]))));
        let answers = futures_util::future::join_all(asks).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
        for answer in answers.into_iter().filter(Result::is_err) {
            assert_eq!(code(answer), ErrorCode::DailyCapReached);
        }
        assert_eq!(used(&world).await, (0, 5));
        let world = world.reopen().await;
        let refused = world.store.transact(queue(outgoing(&world, 77, &[BOB])));
        assert_eq!(code(refused.await), ErrorCode::DailyCapReached);
        let identity = read::identity(&world.store, &world.scope(), world.identity)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(identity.row.send_policy, policy);
        assert_eq!(identity.row.signature, Some(signature));
    });
}

#[test]
fn a_claim_of_a_former_process_is_uncertain_until_somebody_knows() {
    on_both(|world| async move {
        let world = owned(world).await;
        let id = queued(&world, 1, &[BOB]).await;
        claim(&world, due(&world).await, 7).await;
        let world = world.reopen().await;
        let open = read::open_claims(&world.store, &world.worker)
            .await
            .expect("reads");
        let expire = |only_process| {
            Command::ExpireClaims(ExpireClaims {
                sends: open.iter().map(|claim| claim.send).collect(),
                claimed_before: world.now().plus_ms(-300_000),
                only_process,
            })
        };
        world
            .store
            .transact(expire(Some(7)))
            .await
            .expect("looked at");
        assert_eq!(status(&world, id).await, MessageStatus::Queued);
        world
            .store
            .transact(expire(Some(8)))
            .await
            .expect("given up");
        assert_eq!(status(&world, id).await, MessageStatus::Uncertain);
        world.advance(7 * 24 * 3_600_000);
        assert!(due(&world).await.is_empty());
        let since = world.now().plus_ms(-8 * 24 * 3_600_000);
        let uncertain = read::uncertain_sends(&world.store, &world.scope(), since, 10)
            .await
            .expect("reads");
        assert_eq!(uncertain[0].message_id, id);
        let resolve = ResolveSend {
            tenant: world.tenant,
            identity: world.identity,
            message: id,
            sent: false,
        };
        world
            .store
            .transact(Command::ResolveSend(resolve))
            .await
            .expect("resolved");
        assert_eq!(status(&world, id).await, MessageStatus::Failed);
        assert_eq!(used(&world).await, (0, 0));
        let again = world.store.transact(Command::ResolveSend(resolve)).await;
        assert_eq!(code(again), ErrorCode::NotUncertain);
    });
}

#[test]
fn what_was_put_off_is_due_later_and_only_for_whom_it_was_put_off() {
    on_both(|world| async move {
        let world = owned(world).await;
        let id = queued(&world, 1, &[BOB, EVE]).await;
        let claimed = claim(&world, due(&world).await, 7).await;
        let mut answer = taken(&claimed[0], Verdict::Submitted);
        if let Submission::Answered { recipients, .. } = &mut answer {
            recipients[1].verdict = Verdict::Retry;
            recipients[1].smtp_code = Some(451);
        }
        record(&world, vec![outcome(&claimed[0], answer)]).await;
        assert!(due(&world).await.is_empty());
        let next = read::next_due_send(&world.store, &world.worker)
            .await
            .expect("reads");
        assert_eq!(next, Some(world.now().plus_ms(60_000)));
        assert_eq!(used(&world).await, (1, 1));
        world.advance(60_000);
        let claimed = claim(&world, due(&world).await, 7).await;
        assert_eq!(claimed[0].recipients.len(), 1);
        assert_eq!(claimed[0].recipients[0].smtp_code, Some(451));
        let command = Command::CancelSend {
            tenant: world.tenant,
            identity: world.identity,
            message: id,
        };
        let refused = world.store.transact(command).await;
        assert_eq!(code(refused), ErrorCode::NotCancelable);
    });
}

#[test]
fn sends_of_one_transport_do_not_wait_behind_those_of_another() {
    on_both(|world| async move {
        let world = owned(world).await;
        for n in 0..5 {
            let mut mail = outgoing(&world, n, &[BOB]);
            mail.transport = "smtp".to_owned();
            world.store.transact(queue(mail)).await.expect("queued");
        }
        world.advance(1_000);
        let id = queued(&world, 9, &[BOB]).await;
        let due = |transport: &'static str| {
            read::due_sends(&world.store, &world.worker, transport, world.now(), 3)
        };
        let ours = due("sandbox").await.expect("reads");
        assert_eq!(ours.len(), 1);
        assert_eq!(ours[0].send.message, id);
        let others = due("smtp").await.expect("reads");
        assert!(others.len() == 3 && others.is_sorted_by_key(|due| due.due_at));
        assert!(due("resend").await.expect("reads").is_empty());
    });
}

#[test]
fn paused_mailboxes_and_suspended_tenants_wait() {
    on_both(|world| async move {
        let world = owned(world).await;
        queued(&world, 1, &[BOB]).await;
        for (status, count) in [(IdentityStatus::Paused, 0), (IdentityStatus::Active, 1)] {
            let patch = IdentityPatch {
                status: Some(status),
                ..IdentityPatch::default()
            };
            update(&world, patch).await;
            assert_eq!(due(&world).await.len(), count);
        }
        for (status, count) in [
            (postroom_core::TenantStatus::Suspended, 0),
            (postroom_core::TenantStatus::Active, 1),
        ] {
            let command = Command::UpdateTenant {
                tenant: world.tenant,
                patch: postroom_core::TenantPatch {
                    status: Some(status),
                    ..Default::default()
                },
            };
            world.store.transact(command).await.expect("set");
            assert_eq!(due(&world).await.len(), count);
        }
    });
}

#[test]
fn reports_find_their_delivery_and_a_hard_bounce_is_not_written_to_again() {
    on_both(|world| async move {
        let world = owned(world).await;
        let id = queued(&world, 1, &[BOB, EVE]).await;
        let claimed = claim(&world, due(&world).await, 7).await;
        let answer = taken(&claimed[0], Verdict::Submitted);
        record(&world, vec![outcome(&claimed[0], answer)]).await;
        let report = |subject, who: &str, event| DeliveryReport {
            reporter: Reporter::Transport,
            tenant: world.tenant,
            subject,
            recipient: Some(who.to_owned()),
            event,
            smtp_code: Some(550),
            enhanced_code: Some("5.1.1".to_owned()),
            reason: Some("no such user".to_owned()),
        };
        let provider = DeliverySubject::Provider(format!("p-{id}"));
        let hard = DeliveryEvent::Bounced(BounceType::Hard);
        let reports = vec![
            report(provider, BOB, hard),
            report(DeliverySubject::Message(id), EVE, DeliveryEvent::Delivered),
        ];
        match world
            .store
            .transact(Command::RecordDeliveries(reports))
            .await
        {
            Ok(Outcome::DeliveriesRecorded(updates)) => {
                assert!(updates.iter().all(|update| update.changed));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(status(&world, id).await, MessageStatus::Bounced);
        let deliveries = read::deliveries_of(&world.store, &world.scope(), &[id])
            .await
            .expect("reads");
        assert_eq!(deliveries[&id][0].bounce_type, Some(BounceType::Hard));
        assert_eq!(deliveries[&id][1].status, DeliveryStatus::Delivered);

        let hash = world.store.keys().address_hash(world.tenant, BOB);
        let known = read::suppressed(&world.store, &world.scope(), &[hash, [1; 16]])
            .await
            .expect("reads");
        assert_eq!(known[0].reason, SuppressionReason::HardBounce);
        assert_eq!(known[0].hint, masked(BOB));
        let next = queued(&world, 2, &[BOB]).await;
        assert_eq!(status(&world, next).await, MessageStatus::Suppressed);
        let all = read::suppressions(&world.store, &world.scope(), None, 10)
            .await
            .expect("reads");
        assert_eq!(all.len(), 1);
        let remove = RemoveSuppression {
            tenant: world.tenant,
            hash,
            confirm_complaint: false,
        };
        world
            .store
            .transact(Command::RemoveSuppression(remove))
            .await
            .expect("removed");
        let last = queued(&world, 3, &[BOB]).await;
        assert_eq!(status(&world, last).await, MessageStatus::Queued);
    });
}

#[test]
fn a_report_that_came_before_the_answer_waits_for_it_over_a_restart() {
    on_both(|world| async move {
        let mut world = owned(world).await;
        let id = queued(&world, 1, &[BOB]).await;
        let claimed = claim(&world, due(&world).await, 7).await;
        let told = |name: String, recipient: Option<&str>| DeliveryReport {
            reporter: Reporter::Transport,
            tenant: world.tenant,
            subject: DeliverySubject::Provider(name),
            recipient: recipient.map(str::to_owned),
            event: DeliveryEvent::Bounced(BounceType::Hard),
            smtp_code: Some(550),
            enhanced_code: None,
            reason: Some("no such user".to_owned()),
        };
        let own = told(format!("p-{id}"), Some(BOB));
        let reports = vec![own.clone(), own, told("p-other".to_owned(), None)];
        let command = Command::RecordDeliveries(reports);
        match world.store.transact(command).await {
            Ok(Outcome::DeliveriesRecorded(updates)) => {
                assert!(updates.iter().all(|update| update.message_id.is_none()));
            }
            other => panic!("{other:?}"),
        }
        world = world.reopen().await;
        let answer = taken(&claimed[0], Verdict::Submitted);
        record(&world, vec![outcome(&claimed[0], answer)]).await;
        assert_eq!(status(&world, id).await, MessageStatus::Bounced);
        let next = queued(&world, 2, &[BOB]).await;
        assert_eq!(status(&world, next).await, MessageStatus::Suppressed);

        // What nobody asks for goes with its time.
        let late = queued(&world, 3, &[EVE]).await;
        let claimed = claim(&world, due(&world).await, 7).await;
        let named = SendOutcome {
            submission: Submission::Answered {
                provider_message_id: Some("p-other".to_owned()),
                recipients: vec![RecipientOutcome {
                    address: EVE.to_owned(),
                    verdict: Verdict::Submitted,
                    smtp_code: None,
                    enhanced_code: None,
                    reason: None,
                }],
            },
            ..outcome(&claimed[0], Submission::NotTried)
        };
        let life = i64::try_from(limit::EARLY_REPORT_MS).expect("fits");
        world.advance(life);
        let pruned = world.store.transact(Command::PruneSending).await;
        pruned.expect("pruned");
        record(&world, vec![named]).await;
        assert_eq!(status(&world, late).await, MessageStatus::Submitted);
    });
}

#[test]
fn a_reply_finds_its_thread_and_the_answer_to_it_too() {
    on_both(|world| async move {
        let world = owned(world).await;
        let asked = mail("q@there.example", &[], BOB, "Question");
        let imported = world.import(&[asked]).await;
        let postroom_core::ImportOutcome::Stored {
            message_id,
            thread_id,
            ..
        } = imported[0]
        else {
            panic!("{imported:?}");
        };
        let mut reply = outgoing(&world, 1, &[BOB]);
        reply.operation = SendOperation::Reply;
        reply.kind = SendKind::AutoReply;
        reply.scope = SendScope::Thread;
        reply.answers = Some(message_id);
        reply.thread = SendThread::Existing(thread_id);
        world.store.transact(queue(reply)).await.expect("queued");
        let answer = mail(
            "a@there.example",
            &["out-1@acme.example"],
            BOB,
            "Re: Question",
        );
        world.import(&[answer]).await;
        let thread = read::thread(&world.store, &world.scope(), thread_id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(thread.row.message_count, 3);
        // Two automatic answers in a row, no third, and the thread says why.
        for (n, passes) in [(2, true), (3, false)] {
            world.advance(1_000);
            let mut more = outgoing(&world, n, &[BOB]);
            more.operation = SendOperation::Reply;
            more.kind = SendKind::AutoReply;
            more.answers = Some(message_id);
            more.thread = SendThread::Existing(thread_id);
            let answer = world.store.transact(queue(more)).await;
            assert_eq!(answer.is_ok(), passes, "{n}");
            if !passes {
                assert_eq!(code(answer), ErrorCode::AutoReplyNotAllowed);
            }
        }
        let thread = read::thread(&world.store, &world.scope(), thread_id)
            .await
            .expect("reads")
            .expect("there");
        let hold = thread.row.hold.expect("held");
        assert_eq!(hold.reason, "automatic_exchanges");
        // A key that only answers cannot begin.
        let mut stranger = outgoing(&world, 9, &[EVE]);
        stranger.scope = SendScope::Thread;
        let refused = world.store.transact(queue(stranger)).await;
        assert_eq!(code(refused), ErrorCode::PolicyDenied);
    });
}

#[test]
fn rules_are_kept_and_another_tenant_has_its_own() {
    on_both(|world| async move {
        let world = owned(world).await;
        let entry = |kind, entry: &str| ListEntry {
            tenant: world.tenant,
            direction: ListDirection::Send,
            kind,
            entry: entry.to_owned(),
        };
        for put in [
            entry(ListKind::Block, "@there.example"),
            entry(ListKind::Allow, "@there.example"),
            entry(ListKind::Allow, "@friend.example"),
        ] {
            let command = Command::PutListEntry(put);
            world.store.transact(command).await.expect("listed");
        }
        let listed =
            read::list_entries(&world.store, &world.scope(), ListDirection::Send, None, 10).await;
        assert_eq!(listed.expect("reads").len(), 3);
        let blocked = queued(&world, 1, &[BOB]).await;
        assert_eq!(status(&world, blocked).await, MessageStatus::Suppressed);
        let remove = entry(ListKind::Block, "@there.example");
        let command = Command::RemoveListEntry(remove.clone());
        world.store.transact(command).await.expect("out");
        let again = world.store.transact(Command::RemoveListEntry(remove)).await;
        assert_eq!(code(again), ErrorCode::ListEntryNotFound);
        let set = SetPolicy {
            tenant: world.tenant,
            patch: serde_json::from_value(
                serde_json::json!({"send_allowlist_only": true, "max_recipients": 2}),
            )
            .expect("a patch"),
        };
        world
            .store
            .transact(Command::SetPolicy(set))
            .await
            .expect("set");
        let world = world.reopen().await;
        let policy = read::policy(&world.store, &world.scope())
            .await
            .expect("reads");
        assert!(policy.own.effective().send_allowlist_only);
        let mixed = queued(&world, 2, &[BOB, "x@elsewhere.example"]).await;
        let deliveries = read::deliveries(&world.store, &world.scope(), mixed)
            .await
            .expect("reads");
        assert_eq!(deliveries[0].status, DeliveryStatus::Queued);
        let reason = deliveries[1].reason.as_deref();
        assert_eq!(reason, Some("policy: not_on_allowlist"));

        let other = create_tenant(&world.store, "other").await;
        let theirs = create_identity(&world.store, other, "agent@other.example").await;
        let scope = world.worker.tenant(other);
        let policy = read::policy(&world.store, &scope).await.expect("reads");
        assert_eq!(policy.own, postroom_core::PolicyPatch::default());
        let send = read::send(&world.store, &scope, mixed).await;
        assert_eq!(send.expect("reads"), None);
        let listed = read::deliveries(&world.store, &scope, mixed).await;
        assert!(listed.expect("reads").is_empty());
        // Not even its own worker's word changes a foreign send.
        let foreign = Command::CancelSend {
            tenant: other,
            identity: theirs,
            message: mixed,
        };
        let refused = world.store.transact(foreign).await;
        assert_eq!(code(refused), ErrorCode::MessageNotFound);
        let put = PutSuppression {
            tenant: world.tenant,
            hash: world.store.keys().address_hash(other, BOB),
            hint: masked(BOB),
            reason: SuppressionReason::Manual,
        };
        world
            .store
            .transact(Command::PutSuppression(put))
            .await
            .expect("suppressed");
        // The hash of another tenant's address is another hash.
        let open = queued(&world, 4, &[BOB]).await;
        assert_eq!(status(&world, open).await, MessageStatus::Queued);
    });
}

#[test]
fn drafts_and_uploads_are_kept_for_their_time() {
    on_both(|world| async move {
        let world = owned(world).await;
        let put = |id, version, document: &str| {
            Command::PutDraft(PutDraft {
                tenant: world.tenant,
                identity: world.identity,
                id,
                document: document.to_owned(),
                version,
                by: version.map(|version| KeyId::from_parts(1, version.into())),
                scope: SendScope::Known,
                has_read: false,
            })
        };
        let draft = match world.store.transact(put(None, None, "{}")).await {
            Ok(Outcome::Draft(row)) => *row,
            other => panic!("{other:?}"),
        };
        let saved = put(Some(draft.id), Some(1), "{\"to\":[]}");
        world.store.transact(saved).await.expect("saved");
        let stale = put(Some(draft.id), Some(1), "{}");
        assert_eq!(code(world.store.transact(stale).await), ErrorCode::Conflict);
        let read_back = read::draft(&world.store, &world.scope(), draft.id)
            .await
            .expect("reads")
            .expect("there");
        assert_eq!(
            (read_back.version, read_back.document.as_str()),
            (2, "{\"to\":[]}")
        );
        assert_eq!(
            (read_back.saved_by, read_back.scope),
            (Some(KeyId::from_parts(1, 1)), SendScope::Known)
        );
        assert_eq!(draft.saved_by, None);
        let list = read::drafts(&world.store, &world.scope(), world.identity, None, 10).await;
        assert_eq!(list.expect("reads").len(), 1);
        let sending = |n, version, scope| {
            let mut sent = outgoing(&world, n, &[BOB]);
            let id = draft.id;
            sent.draft = Some(SentDraft { id, version });
            sent.scope = scope;
            queue(sent)
        };
        for (version, scope, expected) in [
            (1, SendScope::Anyone, ErrorCode::Conflict),
            (2, SendScope::Anyone, ErrorCode::PolicyDenied),
        ] {
            let refused = world.store.transact(sending(1, version, scope)).await;
            assert_eq!(code(refused), expected);
        }
        // Somebody who may write to anyone has read it.
        let read = Command::PutDraft(PutDraft {
            tenant: world.tenant,
            identity: world.identity,
            id: Some(draft.id),
            document: "{}".to_owned(),
            version: Some(2),
            by: None,
            scope: SendScope::Anyone,
            has_read: true,
        });
        world.store.transact(read).await.expect("saved");
        let sent = sending(1, 3, SendScope::Anyone);
        world.store.transact(sent).await.expect("queued");
        let again = sending(2, 3, SendScope::Anyone);
        let again = world.store.transact(again).await;
        assert_eq!(code(again), ErrorCode::DraftNotFound);
        let gone = read::draft(&world.store, &world.scope(), draft.id).await;
        assert_eq!(gone.expect("reads"), None);

        let bytes: Vec<u8> = (0..400_000u32)
            .flat_map(|n| (n ^ (n >> 3)).to_le_bytes())
            .collect();
        let put = PutUpload {
            tenant: world.tenant,
            identity: world.identity,
            filename: "plan.bin".to_owned(),
            content_type: "application/octet-stream".to_owned(),
            raw: RawMail::new(bytes.clone()),
        };
        let command = Command::PutUpload(Box::new(put));
        let upload = match world.store.transact(command).await {
            Ok(Outcome::Upload(row)) => *row,
            other => panic!("{other:?}"),
        };
        let known = read::upload(&world.store, &world.scope(), upload.id).await;
        assert_eq!(known.expect("reads"), Some(upload.clone()));
        let kept = read::upload_bytes(&world.store, &world.scope(), &upload).await;
        assert!(kept.expect("reads") == Some(bytes));
        let life = i64::try_from(limit::UPLOAD_LIFE_MS).expect("fits");
        world.advance(life);
        let ended = read::upload(&world.store, &world.scope(), upload.id).await;
        assert_eq!(ended.expect("reads"), None);
        world
            .store
            .transact(Command::PruneSending)
            .await
            .expect("pruned");
        let kept = read::upload_bytes(&world.store, &world.scope(), &upload).await;
        assert_eq!(kept.expect("reads"), None);
    });
}

#[test]
fn what_waited_is_asked_again_before_it_leaves() {
    const TAGGED: &str = "tom+news@there.example";
    on_both(|world| async move {
        let world = owned(world).await;
        let mail = queued(&world, 1, &[BOB, TAGGED, "eve@blocked.example"]).await;
        let lone = queued(&world, 2, &[TAGGED]).await;
        world.advance(20_000);
        let keys = world.store.keys();
        for command in [
            Command::PutSuppression(PutSuppression {
                tenant: world.tenant,
                hash: keys.address_hash(world.tenant, "tom@there.example"),
                hint: masked("tom@there.example"),
                reason: SuppressionReason::Manual,
            }),
            Command::PutListEntry(ListEntry {
                tenant: world.tenant,
                direction: ListDirection::Send,
                kind: ListKind::Block,
                entry: "@blocked.example".to_owned(),
            }),
        ] {
            world.store.transact(command).await.expect("set");
        }
        assert_eq!(used(&world).await, (0, 4));
        let claimed = claim(&world, due(&world).await, 1).await;
        assert_eq!(claimed.len(), 1);
        let handed = claimed[0].recipients.iter().map(|to| to.address.as_str());
        assert_eq!(handed.collect::<Vec<_>>(), [BOB]);
        assert_eq!(used(&world).await, (0, 1));
        assert_eq!(status(&world, mail).await, MessageStatus::Queued);
        assert_eq!(status(&world, lone).await, MessageStatus::Suppressed);
        assert!(due(&world).await.is_empty());
    });
}

#[test]
fn a_dry_run_keeps_nothing() {
    on_both(|world| async move {
        let world = owned(world).await;
        let mut dry = outgoing(&world, 1, &[BOB]);
        dry.dry_run = true;
        match world.store.transact(queue(dry)).await {
            Ok(Outcome::WouldSend(told)) => assert_eq!(told[0].status, DeliveryStatus::Queued),
            other => panic!("{other:?}"),
        }
        let filter = SendFilter {
            limit: 10,
            ..SendFilter::default()
        };
        let sends = read::sends(&world.store, &world.scope(), &filter).await;
        assert!(sends.expect("reads").is_empty());
        assert_eq!(used(&world).await, (0, 0));
    });
}
