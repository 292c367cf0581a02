//! Claims, outcomes and reports, as tables.

use crate::office::{Office, code, hash};
use postroom_core::{
    BounceType, Command, DeliveryEvent, DeliveryReport, DeliveryStatus as D, DeliverySubject,
    ExpireClaims, MessageStatus as M, Outcome, RecipientOutcome, Reporter, ResolveSend,
    SendOutcome, SendState as S, Submission, SuppressionReason, Verdict, roll_up,
};
use postroom_types::{ErrorCode, MessageId, limit};

const BOB: &str = "bob@there.example";
const EVE: &str = "eve@there.example";

fn says(address: &str, verdict: Verdict) -> RecipientOutcome {
    RecipientOutcome {
        address: address.to_owned(),
        verdict,
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    }
}

fn answered(recipients: &[(&str, Verdict)]) -> Submission {
    Submission::Answered {
        provider_message_id: Some("p-1".to_owned()),
        recipients: recipients
            .iter()
            .map(|(address, verdict)| says(address, *verdict))
            .collect(),
    }
}

fn postponed() -> Submission {
    Submission::NotHandedOver {
        reason: "rate_limited".to_owned(),
        smtp_code: Some(451),
        retry_after_ms: None,
    }
}

fn unknown() -> Submission {
    Submission::Uncertain {
        reason: "transport_timeout".to_owned(),
    }
}

#[test]
fn the_status_of_a_message_is_the_first_that_matches() {
    use D::{
        Bounced, Complained, Deferred, Delivered, Failed, Queued, Rejected, Submitted, Suppressed,
        Uncertain,
    };
    let table: &[(&[D], M)] = &[
        (&[], M::Suppressed),
        (&[Suppressed, Suppressed], M::Suppressed),
        (&[Suppressed, Delivered], M::Delivered),
        (&[Complained, Queued, Uncertain], M::Complained),
        (&[Delivered, Complained], M::Complained),
        (&[Queued, Submitted, Bounced], M::Queued),
        (&[Queued, Uncertain], M::Queued),
        (&[Uncertain], M::Uncertain),
        (&[Uncertain, Delivered, Bounced], M::Uncertain),
        (&[Uncertain, Submitted], M::Submitted),
        (&[Uncertain, Deferred], M::Deferred),
        (&[Deferred, Submitted], M::Deferred),
        (&[Submitted, Delivered], M::Submitted),
        (&[Submitted, Bounced], M::Submitted),
        (&[Bounced, Failed, Rejected, Delivered], M::Bounced),
        (&[Failed, Rejected, Delivered], M::Failed),
        (&[Rejected, Delivered], M::Rejected),
        (&[Delivered, Delivered], M::Delivered),
    ];
    for (deliveries, expected) in table {
        assert_eq!(
            roll_up(false, deliveries.iter().copied()),
            *expected,
            "{deliveries:?}"
        );
        let turned = deliveries.iter().rev().copied();
        assert_eq!(roll_up(false, turned), *expected, "{deliveries:?}");
        assert_eq!(roll_up(true, deliveries.iter().copied()), M::Canceled);
    }
}

#[test]
fn an_outcome_makes_of_each_recipient_what_the_transport_said() {
    use Verdict::{Delivered, Rejected, Retry, Submitted, Uncertain};
    let table: &[(Submission, [D; 2], S, M)] = &[
        (
            answered(&[(BOB, Submitted), (EVE, Submitted)]),
            [D::Submitted; 2],
            S::Done,
            M::Submitted,
        ),
        (
            answered(&[(BOB, Delivered), (EVE, Delivered)]),
            [D::Delivered; 2],
            S::Done,
            M::Delivered,
        ),
        (
            answered(&[(BOB, Submitted), (EVE, Rejected)]),
            [D::Submitted, D::Rejected],
            S::Done,
            M::Submitted,
        ),
        (
            answered(&[(BOB, Rejected), (EVE, Rejected)]),
            [D::Rejected; 2],
            S::Done,
            M::Rejected,
        ),
        (
            answered(&[(BOB, Submitted), (EVE, Retry)]),
            [D::Submitted, D::Queued],
            S::Queued,
            M::Queued,
        ),
        (
            answered(&[(BOB, Uncertain), (EVE, Retry)]),
            [D::Uncertain, D::Queued],
            S::Queued,
            M::Queued,
        ),
        (
            answered(&[(BOB, Uncertain), (EVE, Submitted)]),
            [D::Uncertain, D::Submitted],
            S::Uncertain,
            M::Submitted,
        ),
        // What the transport is silent about may have left.
        (
            answered(&[(BOB, Submitted)]),
            [D::Submitted, D::Uncertain],
            S::Uncertain,
            M::Submitted,
        ),
        (answered(&[]), [D::Uncertain; 2], S::Uncertain, M::Uncertain),
        (
            answered(&[("mallory@there.example", Submitted)]),
            [D::Uncertain; 2],
            S::Uncertain,
            M::Uncertain,
        ),
        (unknown(), [D::Uncertain; 2], S::Uncertain, M::Uncertain),
        (postponed(), [D::Queued; 2], S::Queued, M::Queued),
        (Submission::NotTried, [D::Queued; 2], S::Queued, M::Queued),
    ];
    for (submission, statuses, state, status) in table {
        let mut office = Office::new();
        let id = office.queued(&[BOB, EVE]);
        let update = office.attempt(id, submission.clone());
        assert!(update.taken);
        assert_eq!(office.statuses(id), statuses, "{submission:?}");
        assert_eq!(office.send(id).state, *state, "{submission:?}");
        assert_eq!((office.status(id), update.status), (*status, Some(*status)));
        let sent = statuses
            .iter()
            .filter(|s| !matches!(s, D::Queued | D::Rejected))
            .count();
        let held = statuses.iter().filter(|s| **s == D::Queued).count();
        assert_eq!(office.usage(), (sent as u64, held as u64), "{submission:?}");
        let waits = office.send(id).next_attempt_at.is_some();
        assert_eq!(waits, *state == S::Queued);
    }
}

#[test]
fn only_who_was_put_off_is_tried_again_under_the_same_message_id() {
    let mut office = Office::new();
    let id = office.queued(&[BOB, EVE]);
    let message_id = office.send(id).rfc_message_id.clone();
    office.attempt(
        id,
        answered(&[(BOB, Verdict::Submitted), (EVE, Verdict::Retry)]),
    );
    assert!(office.claim(&[id]).is_empty(), "not before it is due");
    office.pass_ms(60_000);
    let again = office.claim(&[id]);
    let who: Vec<&str> = again[0]
        .recipients
        .iter()
        .map(|d| d.address.as_str())
        .collect();
    assert_eq!(who, [EVE]);
    assert_eq!(again[0].row.rfc_message_id, message_id);
    office.record(&again[0], answered(&[(EVE, Verdict::Submitted)]));
    assert_eq!(office.send(id).state, S::Done);
}

#[test]
fn a_send_is_tried_for_a_day_and_then_fails() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    let begin = office.now;
    let mut gaps = Vec::new();
    while office.send(id).state == S::Queued {
        let due = office.send(id).next_attempt_at.expect("due");
        gaps.push((due.ms() - office.now.ms()) / 60_000);
        office.now = due;
        office.attempt(id, postponed());
    }
    assert_eq!(gaps[..6], [0, 1, 5, 15, 60, 60]);
    assert!(gaps[6..].iter().all(|gap| *gap == 60));
    let age = office.now.ms() - begin.ms();
    let day = i64::try_from(limit::SEND_RETRY_MS).expect("fits");
    assert!(age <= day && age > day - 3_600_000, "{age}");
    assert_eq!(office.status(id), M::Failed);
    assert_eq!(office.send(id).reason.as_deref(), Some("quota_exhausted"));
    assert_eq!(office.usage(), (0, 0));
}

#[test]
fn a_named_pause_is_kept() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    let submission = Submission::NotHandedOver {
        reason: "rate_limited".to_owned(),
        smtp_code: None,
        retry_after_ms: Some(90_000),
    };
    office.attempt(id, submission);
    assert_eq!(
        office.send(id).next_attempt_at,
        Some(office.now.plus_ms(90_000))
    );
}

#[test]
fn a_claim_is_one_and_needs_everything_to_be_in_order() {
    let mut office = Office::new();
    let (first, second) = (office.queued(&[BOB]), office.queued(&[EVE]));
    // Named twice in one command, and asked for again.
    assert_eq!(office.claim(&[first, first]).len(), 1);
    assert_eq!(office.claim(&[first, second]).len(), 1);
    assert!(office.claim(&[first, second]).is_empty());

    let third = office.queued(&[BOB]);
    office.change_identity(|row| row.status = postroom_core::IdentityStatus::Paused);
    assert!(office.claim(&[third]).is_empty());
    office.change_identity(|row| row.status = postroom_core::IdentityStatus::Active);
    assert_eq!(office.claim(&[third]).len(), 1);
    // Not even one that is there, of another tenant.
    let fourth = office.queued(&[BOB]);
    let mut named = office.named(fourth);
    named.tenant = postroom_types::TenantId::from_parts(3, 3);
    let claim = postroom_core::ClaimSends {
        sends: vec![named],
        process: 1,
        asked_again_before: office.now,
    };
    match office.decide(&Command::ClaimSends(claim)) {
        Ok(Outcome::SendsClaimed(claimed)) => assert!(claimed.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_command_claims_a_batch_and_no_more() {
    let mut office = Office::new();
    let ids: Vec<MessageId> = (0..=limit::SEND_BATCH)
        .map(|n| {
            let mut mail = office.mail(&[BOB]);
            mail.day.date = n.to_string();
            let id = mail.id;
            office.queue(mail).expect("queued");
            id
        })
        .collect();
    assert_eq!(office.claim(&ids).len(), limit::SEND_BATCH);
    assert_eq!(office.claim(&ids[limit::SEND_BATCH..]).len(), 1);
}

#[test]
fn the_outcome_of_another_claim_changes_nothing() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    let claimed = office.claim(&[id]);
    let token = claimed[0].row.claim.expect("claimed").token;
    for (token, taken) in [(token ^ 1, false), (token, true), (token, false)] {
        let outcome = SendOutcome {
            send: office.named(id),
            token,
            submission: answered(&[(BOB, Verdict::Submitted)]),
        };
        match office.decide(&Command::RecordOutcomes(vec![outcome])) {
            Ok(Outcome::SendsUpdated(updates)) => assert_eq!(updates[0].taken, taken),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(office.usage(), (1, 0));
}

fn expire(office: &mut Office, id: MessageId, before_ms: i64, only: Option<u128>) -> usize {
    let expire = ExpireClaims {
        sends: vec![office.named(id)],
        claimed_before: office.now.plus_ms(before_ms),
        only_process: only,
    };
    match office.decide(&Command::ExpireClaims(expire)) {
        Ok(Outcome::SendsUpdated(updates)) => updates.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_claim_without_outcome_is_uncertain_and_its_late_outcome_is_believed() {
    let late: &[(Submission, D, bool)] = &[
        (answered(&[(BOB, Verdict::Submitted)]), D::Submitted, true),
        (answered(&[(BOB, Verdict::Rejected)]), D::Rejected, true),
        (answered(&[(BOB, Verdict::Retry)]), D::Uncertain, false),
        (postponed(), D::Uncertain, false),
        (Submission::NotTried, D::Uncertain, false),
        (unknown(), D::Uncertain, false),
        (answered(&[]), D::Uncertain, false),
    ];
    for (submission, expected, taken) in late {
        let mut office = Office::new();
        let id = office.queued(&[BOB]);
        let claimed = office.claim(&[id]);
        assert_eq!(expire(&mut office, id, -1, None), 0, "it is young");
        assert_eq!(expire(&mut office, id, -1, Some(7)), 0, "of this process");
        assert_eq!(expire(&mut office, id, 0, None), 1);
        assert_eq!(
            (office.status(id), office.send(id).state),
            (M::Uncertain, S::Uncertain)
        );
        assert!(office.claim(&[id]).is_empty());
        let update = office.record(&claimed[0], submission.clone());
        assert_eq!(update.taken, *taken, "{submission:?}");
        assert_eq!(office.statuses(id), [*expected]);
        assert_eq!(office.send(id).reconciled, *taken);
        assert!(office.claim(&[id]).is_empty(), "{submission:?}");
    }
}

#[test]
fn claims_of_a_former_process_are_given_up_at_once() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    office.claim(&[id]);
    assert_eq!(expire(&mut office, id, -1, Some(8)), 1);
    assert_eq!(office.status(id), M::Uncertain);
    assert_eq!(expire(&mut office, id, 0, Some(8)), 0, "once");
}

fn cancel(office: &mut Office, message: MessageId) -> Result<Outcome, postroom_core::Refusal> {
    office.decide(&Command::CancelSend {
        tenant: office.tenant,
        identity: office.identity,
        message,
    })
}

fn resolve(
    office: &mut Office,
    message: MessageId,
    sent: bool,
) -> Result<Outcome, postroom_core::Refusal> {
    office.decide(&Command::ResolveSend(ResolveSend {
        tenant: office.tenant,
        identity: office.identity,
        message,
        sent,
    }))
}

#[test]
fn only_what_nobody_has_seen_can_be_taken_back() {
    let mut office = Office::new();
    let id = office.queued(&[BOB, EVE]);
    let claimed = office.claim(&[id]);
    assert_eq!(code(cancel(&mut office, id)), ErrorCode::NotCancelable);
    office.record(
        &claimed[0],
        answered(&[(BOB, Verdict::Submitted), (EVE, Verdict::Retry)]),
    );
    assert_eq!(code(cancel(&mut office, id)), ErrorCode::NotCancelable);

    let other = office.queued(&[BOB]);
    office.attempt(other, postponed());
    cancel(&mut office, other).expect("nothing of it left");
    assert_eq!(office.status(other), M::Canceled);
    office.pass_ms(3_600_000);
    assert!(office.claim(&[other]).is_empty());
    assert_eq!(code(cancel(&mut office, other)), ErrorCode::NotCancelable);
    let missing = MessageId::from_parts(4, 4);
    assert_eq!(
        code(cancel(&mut office, missing)),
        ErrorCode::MessageNotFound
    );
}

#[test]
fn a_person_says_what_became_of_an_uncertain_mail() {
    for (sent, status, units) in [(true, M::Submitted, 1), (false, M::Failed, 0)] {
        let mut office = Office::new();
        let id = office.queued(&[BOB]);
        assert_eq!(
            code(resolve(&mut office, id, sent)),
            ErrorCode::NotUncertain
        );
        office.attempt(id, unknown());
        assert_eq!(office.usage(), (1, 0));
        resolve(&mut office, id, sent).expect("resolved");
        assert_eq!(office.status(id), status);
        assert_eq!(office.send(id).state, S::Done);
        assert_eq!(office.usage(), (units, 0));
        assert_eq!(
            code(resolve(&mut office, id, sent)),
            ErrorCode::NotUncertain
        );
    }
}

const EVENTS: [DeliveryEvent; 8] = [
    DeliveryEvent::Submitted,
    DeliveryEvent::Delivered,
    DeliveryEvent::Deferred,
    DeliveryEvent::Bounced(BounceType::Hard),
    DeliveryEvent::Bounced(BounceType::Soft),
    DeliveryEvent::Complained,
    DeliveryEvent::Rejected,
    DeliveryEvent::SuppressedByProvider,
];

fn report(
    office: &mut Office,
    subject: DeliverySubject,
    who: Option<&str>,
    event: DeliveryEvent,
) -> bool {
    let report = DeliveryReport {
        reporter: Reporter::Transport,
        tenant: office.tenant,
        subject,
        recipient: who.map(str::to_owned),
        event,
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    };
    match office.decide(&Command::RecordDeliveries(vec![report])) {
        Ok(Outcome::DeliveriesRecorded(updates)) => updates[0].changed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_has_ended_changes_only_as_it_may() {
    use D::{
        Bounced as B, Complained as C, Deferred as F, Delivered as V, Failed as X, Rejected as R,
        Submitted as U,
    };
    // Rows: before. Columns: as EVENTS. None: nothing changes.
    type Row = (D, [Option<D>; 8]);
    let table: &[Row] = &[
        (
            D::Submitted,
            [
                None,
                Some(V),
                Some(F),
                Some(B),
                Some(B),
                Some(C),
                Some(R),
                Some(X),
            ],
        ),
        (
            D::Deferred,
            [
                None,
                Some(V),
                None,
                Some(B),
                Some(B),
                Some(C),
                Some(R),
                Some(X),
            ],
        ),
        (
            D::Uncertain,
            [
                Some(U),
                Some(V),
                Some(F),
                Some(B),
                Some(B),
                Some(C),
                Some(R),
                Some(X),
            ],
        ),
        (
            D::Delivered,
            [None, None, None, Some(B), Some(B), Some(C), None, None],
        ),
        (
            D::Bounced,
            [None, None, None, None, None, Some(C), None, None],
        ),
        (D::Complained, [None; 8]),
        (D::Rejected, [None; 8]),
        (D::Failed, [None; 8]),
        (D::Suppressed, [None; 8]),
    ];
    for (before, row) in table {
        for (event, expected) in EVENTS.into_iter().zip(row) {
            let mut office = Office::new();
            let id = office.queued(&[BOB]);
            office.attempt(id, answered(&[(BOB, Verdict::Uncertain)]));
            office.state.deliveries.get_mut(&id).expect("there")[0].status = *before;
            if *before != D::Uncertain {
                office.state.sends.get_mut(&id).expect("there").state = S::Done;
            }
            let changed = report(
                &mut office,
                DeliverySubject::Message(id),
                Some("BOB@there.example"),
                event,
            );
            assert_eq!(changed, expected.is_some(), "{before} {event:?}");
            assert_eq!(
                office.statuses(id),
                [expected.unwrap_or(*before)],
                "{before} {event:?}"
            );
            let was_uncertain = *before == D::Uncertain;
            assert_eq!(office.send(id).reconciled, was_uncertain && changed);
        }
    }
}

#[test]
fn a_hard_bounce_and_a_complaint_end_writing_to_an_address() {
    for (event, expected) in [
        (
            DeliveryEvent::Bounced(BounceType::Hard),
            Some(SuppressionReason::HardBounce),
        ),
        (
            DeliveryEvent::Complained,
            Some(SuppressionReason::Complaint),
        ),
        (
            DeliveryEvent::SuppressedByProvider,
            Some(SuppressionReason::Provider),
        ),
        (DeliveryEvent::Bounced(BounceType::Soft), None),
        (DeliveryEvent::Rejected, None),
        (DeliveryEvent::Deferred, None),
    ] {
        for who in [BOB, "bounce@simulator.invalid"] {
            let mut office = Office::new();
            let id = office.queued(&[who]);
            office.attempt(id, answered(&[(who, Verdict::Submitted)]));
            assert!(report(
                &mut office,
                DeliverySubject::Provider("p-1".to_owned()),
                None,
                event
            ));
            let known = office.state.suppressions.get(&(office.tenant, hash(who)));
            let expected = expected.filter(|_| who == BOB);
            assert_eq!(known.map(|row| row.reason), expected, "{event:?} {who}");
            if let Some(row) = known {
                assert_eq!(row.hint, "b***@there.example");
            }
        }
    }
}

#[test]
fn a_complaint_stays_one_and_a_bounce_becomes_one() {
    let mut office = Office::new();
    for (event, expected) in [
        (
            DeliveryEvent::Bounced(BounceType::Hard),
            SuppressionReason::HardBounce,
        ),
        (DeliveryEvent::Complained, SuppressionReason::Complaint),
        (
            DeliveryEvent::Bounced(BounceType::Hard),
            SuppressionReason::Complaint,
        ),
    ] {
        office.state.suppressions.retain(|_, row| {
            row.at = office.now;
            true
        });
        let id = {
            // Sent before the address was suppressed.
            let suppressions = std::mem::take(&mut office.state.suppressions);
            let id = office.queued(&[BOB]);
            office.state.suppressions = suppressions;
            id
        };
        office.attempt(id, answered(&[(BOB, Verdict::Submitted)]));
        report(&mut office, DeliverySubject::Message(id), None, event);
        let known = &office.state.suppressions[&(office.tenant, hash(BOB))];
        assert_eq!(known.reason, expected);
    }
}

#[test]
fn an_event_may_come_before_the_outcome_and_never_before_the_send() {
    let mut office = Office::new();
    let id = office.queued(&[BOB, EVE]);
    let subject = || DeliverySubject::Message(id);
    assert!(!report(
        &mut office,
        subject(),
        Some(BOB),
        DeliveryEvent::Bounced(BounceType::Hard)
    ));
    let claimed = office.claim(&[id]);
    assert!(report(
        &mut office,
        subject(),
        Some(BOB),
        DeliveryEvent::Delivered
    ));
    assert_eq!(office.send(id).state, S::Claimed);
    office.record(
        &claimed[0],
        answered(&[(BOB, Verdict::Submitted), (EVE, Verdict::Submitted)]),
    );
    assert_eq!(office.statuses(id), [D::Delivered, D::Submitted]);
    assert_eq!(office.usage(), (2, 0));
}

#[test]
fn reports_of_one_command_see_each_other_and_strangers_are_told_so() {
    let mut office = Office::new();
    let id = office.queued(&[BOB, EVE]);
    office.attempt(
        id,
        answered(&[(BOB, Verdict::Submitted), (EVE, Verdict::Submitted)]),
    );
    let one = |subject, who: &str, event| DeliveryReport {
        reporter: Reporter::Transport,
        tenant: office.tenant,
        subject,
        recipient: Some(who.to_owned()),
        event,
        smtp_code: Some(250),
        enhanced_code: Some("2.0.0".to_owned()),
        reason: Some("x".repeat(limit::SEND_REASON_CHARS + 9)),
    };
    let reports = vec![
        one(DeliverySubject::Message(id), BOB, DeliveryEvent::Delivered),
        one(
            DeliverySubject::Provider("p-1".to_owned()),
            EVE,
            DeliveryEvent::Bounced(BounceType::Soft),
        ),
        one(
            DeliverySubject::Provider("p-9".to_owned()),
            EVE,
            DeliveryEvent::Delivered,
        ),
        one(
            DeliverySubject::Message(MessageId::from_parts(6, 6)),
            EVE,
            DeliveryEvent::Delivered,
        ),
        one(
            DeliverySubject::Message(id),
            "nobody@there.example",
            DeliveryEvent::Delivered,
        ),
    ];
    match office.decide(&Command::RecordDeliveries(reports)) {
        Ok(Outcome::DeliveriesRecorded(updates)) => {
            let seen: Vec<(bool, bool)> = updates
                .iter()
                .map(|u| (u.message_id == Some(id), u.changed))
                .collect();
            assert_eq!(
                seen,
                [
                    (true, true),
                    (true, true),
                    (false, false),
                    (false, false),
                    (true, false)
                ]
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(office.statuses(id), [D::Delivered, D::Bounced]);
    assert_eq!(office.status(id), M::Bounced);
    let reason = office.deliveries(id)[1].reason.as_ref().expect("kept");
    assert_eq!(reason.len(), limit::SEND_REASON_CHARS);
}

#[test]
fn a_report_that_any_recipient_may_have_written_says_so_and_unsays_no_arrival() {
    for (others, before, after, unproven) in [
        // Whoever got the mail alone speaks of nobody else.
        (&[][..], Verdict::Submitted, D::Bounced, false),
        (&[EVE][..], Verdict::Submitted, D::Bounced, true),
        (&[EVE][..], Verdict::Uncertain, D::Bounced, true),
        (&[EVE][..], Verdict::Delivered, D::Delivered, false),
        (&[][..], Verdict::Delivered, D::Bounced, false),
    ] {
        let mut office = Office::new();
        let to = [&[BOB][..], others].concat();
        let id = office.queued(&to);
        let answers: Vec<_> = to.iter().map(|who| (*who, before)).collect();
        office.attempt(id, answered(&answers));
        let report = DeliveryReport {
            reporter: Reporter::Mail,
            tenant: office.tenant,
            subject: DeliverySubject::Message(id),
            recipient: Some(BOB.to_owned()),
            event: DeliveryEvent::Bounced(BounceType::Hard),
            smtp_code: Some(550),
            enhanced_code: None,
            reason: Some("no such user".to_owned()),
        };
        office
            .decide(&Command::RecordDeliveries(vec![report]))
            .expect("noted");
        let bob = &office.deliveries(id)[0];
        assert_eq!(bob.status, after, "{others:?} {before:?}");
        assert_eq!(bob.is_unproven(), unproven, "{others:?} {before:?}");
        if after == D::Bounced {
            let reason = bob.reason.as_deref().expect("a reason");
            assert!(reason.ends_with("no such user"), "{reason}");
        }
        let suppressed = office
            .state
            .suppressions
            .contains_key(&(office.tenant, hash(BOB)));
        assert_eq!(suppressed, others.is_empty());
    }
}
