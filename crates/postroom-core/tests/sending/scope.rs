//! Whom a mail may reach: what counts as taking part, drafts that several keys wrote, and rules that
//! changed while it waited.

use crate::office::{Office, code, hash};
use postroom_core::{
    Arrival, BounceType, Command, DeliveryEvent, DeliveryReport, DeliveryStatus, DeliverySubject,
    Draft, DraftRow, Import, ImportOutcome, Ingest, ListDirection, ListEntry, ListKind,
    MessageStatus, Outcome, PutDraft, PutSuppression, RawMail, Receive, Recipient, Refusal,
    Reporter, SendKind, SendOperation, SendScope, SendState, SendThread, SentDraft, Submission,
    SuppressionReason, TrustMode, masked,
};
use postroom_types::{ErrorCode, KeyId, MessageId, ThreadId};
use std::collections::BTreeMap;

const BOB: &str = "bob@there.example";
const EVE: &str = "eve@there.example";

fn mailbox(office: &Office) -> Recipient {
    Recipient {
        tenant: office.tenant,
        identity: office.identity,
        delivered_to: None,
    }
}

/// A mail from `from` that comes in by `trust`, referring to `about`.
fn arrive(
    office: &mut Office,
    trust: TrustMode,
    from: &str,
    id: &str,
    about: &str,
) -> (MessageId, ThreadId) {
    let raw = format!(
        "From: {from}\r\nTo: agent@acme.example\r\nSubject: S\r\nMessage-ID: <{id}@there.example>\r\n\
         References: <{about}@there.example>\r\n\r\nHi\r\n"
    );
    let mut draft = Draft::read(raw.as_bytes(), None);
    draft.doc.unvouched = !trust.vouches();
    let raw = RawMail::new(raw.into_bytes());
    if trust == TrustMode::Queue {
        let import = Import {
            recipient: mailbox(office),
            draft,
            raw,
            provider: "import".to_owned(),
            file_time: None,
            unread: true,
            labels: Vec::new(),
        };
        return match office.decide(&Command::Import(Box::new(import))) {
            Ok(Outcome::Imported(ImportOutcome::Stored {
                message_id,
                thread_id,
                ..
            })) => (message_id, thread_id),
            other => panic!("{other:?}"),
        };
    }
    let receive = Receive {
        raw,
        recipients: vec![mailbox(office)],
        arrival: Arrival {
            provider: "raw".to_owned(),
            trust_mode: trust,
            verify_detail: None,
            source_ip: None,
            mail_from: None,
            headers: BTreeMap::new(),
        },
    };
    let event_id = match office.decide(&Command::Receive(receive)) {
        Ok(Outcome::Received(outcomes)) => outcomes[0].event_id,
        other => panic!("{other:?}"),
    };
    let ingest = Ingest {
        tenant: office.tenant,
        event_id,
        identity: office.identity,
        draft,
        work: None,
    };
    match office.decide(&Command::Ingest(Box::new(ingest))) {
        Ok(Outcome::Ingested {
            message_id,
            thread_id,
            ..
        }) => (message_id, thread_id),
        other => panic!("{other:?}"),
    }
}

fn may_write(
    office: &mut Office,
    scope: SendScope,
    to: &str,
    thread: Option<(MessageId, ThreadId)>,
) -> bool {
    let mut mail = office.mail(&[to]);
    mail.dry_run = true;
    mail.scope = scope;
    if let Some((message, thread)) = thread {
        mail.thread = SendThread::Existing(thread);
        mail.answers = Some(message);
    }
    match office.queue(mail) {
        Ok(_) => true,
        Err(refusal) => {
            assert_eq!(refusal.code(), ErrorCode::PolicyDenied);
            false
        }
    }
}

#[test]
fn mail_that_an_agent_put_in_lets_nobody_be_written_to() {
    for (trust, counts) in [
        (TrustMode::Agent, false),
        (TrustMode::Token, true),
        (TrustMode::Smtp, true),
        (TrustMode::Queue, true),
    ] {
        let mut office = Office::new();
        let real = arrive(&mut office, TrustMode::Smtp, BOB, "1", "0");
        let put = arrive(&mut office, trust, EVE, "2", "1");
        assert_eq!(put.1, real.1, "it joins the thread all the same");
        for scope in [SendScope::Thread, SendScope::Known] {
            assert!(may_write(&mut office, scope, BOB, Some(real)), "{trust}");
            let eve = may_write(&mut office, scope, EVE, Some(put));
            assert_eq!(eve, counts, "{trust} {scope}");
        }
        // Whoever came in and was never written to is not known.
        assert!(
            !may_write(&mut office, SendScope::Known, EVE, None),
            "{trust}"
        );
        // They are shown, as what they are.
        let people = &office.state.threads[&real.1].participants;
        let shown: Vec<_> = people
            .iter()
            .map(|p| (p.address.as_str(), p.counts))
            .collect();
        assert_eq!(shown, [(BOB, true), (EVE, counts)], "{trust}");
        assert!(
            office
                .state
                .contacts
                .contains_key(&(office.identity, EVE.to_owned()))
        );
        // Once they write themselves, they count.
        let own = arrive(&mut office, TrustMode::Smtp, EVE, "3", "1");
        assert!(may_write(&mut office, SendScope::Thread, EVE, Some(own)));
        assert!(!may_write(&mut office, SendScope::Known, EVE, None));
        office.queued(&[EVE]);
        assert!(may_write(&mut office, SendScope::Known, EVE, None));
    }
}

#[test]
fn an_archive_that_an_agent_puts_in_vouches_for_nobody_either() {
    let mut office = Office::new();
    let raw = format!("From: {EVE}\r\nMessage-ID: <1@there.example>\r\n\r\nHi\r\n");
    let mut draft = Draft::read(raw.as_bytes(), None);
    draft.doc.unvouched = true;
    let import = Import {
        recipient: mailbox(&office),
        draft,
        raw: RawMail::new(raw.into_bytes()),
        provider: "import".to_owned(),
        file_time: None,
        unread: true,
        labels: Vec::new(),
    };
    let (event, thread) = match office.decide(&Command::Import(Box::new(import))) {
        Ok(Outcome::Imported(ImportOutcome::Stored {
            event_id,
            message_id,
            thread_id,
        })) => (event_id, (message_id, thread_id)),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        office.state.events[&(office.tenant, event)].trust_mode,
        TrustMode::Agent
    );
    assert!(!may_write(&mut office, SendScope::Known, EVE, Some(thread)));
}

#[test]
fn whoever_was_written_to_counts_beside_whom_an_agent_named() {
    let mut office = Office::new();
    let put = arrive(&mut office, TrustMode::Agent, EVE, "1", "0");
    let tagged = "eve+desk@there.example";
    assert!(!may_write(
        &mut office,
        SendScope::Thread,
        tagged,
        Some(put)
    ));
    let mut mail = office.mail(&[tagged]);
    mail.thread = SendThread::Existing(put.1);
    office.queue(mail).expect("queued");
    assert!(may_write(&mut office, SendScope::Thread, tagged, Some(put)));
    assert!(!may_write(&mut office, SendScope::Thread, EVE, Some(put)));
}

#[test]
fn a_participant_that_was_kept_before_counts() {
    let kept = r#"[{"address":"bob@there.example","name":"","first":[1,1,0],"named":[0,0]}]"#;
    let people: Vec<postroom_core::Participant> = serde_json::from_str(kept).expect("as kept");
    assert!(people[0].counts);
    assert_eq!(serde_json::to_string(&people).expect("JSON"), kept);
}

#[test]
fn a_mail_is_forwarded_to_those_whom_it_was_to_or_from() {
    let mut office = Office::new();
    let known = arrive(&mut office, TrustMode::Smtp, BOB, "1", "0");
    // Somebody joins the thread by a reference: mails of others in it are not theirs.
    arrive(&mut office, TrustMode::Smtp, EVE, "2", "1");
    let mut other = Office::new();
    let lone = arrive(&mut other, TrustMode::Smtp, BOB, "1", "0");
    other.queued(&[BOB]);
    for (scope, to, on_forwarded, in_thread, allowed) in [
        (SendScope::Thread, BOB, true, true, true),
        (SendScope::Thread, EVE, false, true, false),
        (SendScope::Known, EVE, false, true, false),
        (SendScope::Known, EVE, false, false, false),
        (SendScope::Known, BOB, false, false, true),
        (SendScope::Known, EVE, true, false, true),
        (SendScope::Anyone, EVE, false, false, true),
    ] {
        let (office, (message, thread)) = match in_thread {
            true => (&mut office, known),
            false => (&mut other, lone),
        };
        let mut mail = office.mail(&[to]);
        mail.dry_run = true;
        mail.operation = SendOperation::Forward;
        mail.scope = scope;
        mail.answers = Some(message);
        mail.thread = SendThread::Existing(thread);
        mail.recipients[0].on_forwarded = on_forwarded;
        let answer = office.queue(mail);
        assert_eq!(answer.is_ok(), allowed, "{scope} {to} {answer:?}");
    }
}

fn key(n: u128) -> Option<KeyId> {
    Some(KeyId::from_parts(1, n))
}

/// Saves a draft, changing it as it is known.
fn save(
    office: &mut Office,
    known: Option<&DraftRow>,
    by: Option<KeyId>,
    scope: SendScope,
    has_read: bool,
) -> DraftRow {
    let put = PutDraft {
        tenant: office.tenant,
        identity: office.identity,
        id: known.map(|row| row.id),
        document: "{}".to_owned(),
        version: known.map(|row| row.version),
        by,
        scope,
        has_read,
    };
    match office.decide(&Command::PutDraft(put)).expect("saved") {
        Outcome::Draft(row) => *row,
        other => panic!("{other:?}"),
    }
}

fn send_draft(
    office: &mut Office,
    draft: &DraftRow,
    version: u64,
    scope: SendScope,
) -> Result<Outcome, Refusal> {
    let mut mail = office.mail(&[BOB]);
    mail.scope = scope;
    mail.draft = Some(SentDraft {
        id: draft.id,
        version,
    });
    office.queue(mail)
}

#[test]
fn a_draft_is_sent_once_whatever_keys_send_it() {
    let mut office = Office::new();
    let draft = save(&mut office, None, None, SendScope::Anyone, false);
    send_draft(&mut office, &draft, 1, SendScope::Anyone).expect("queued");
    assert!(office.state.drafts.is_empty());
    for _ in 0..3 {
        let again = send_draft(&mut office, &draft, 1, SendScope::Anyone);
        assert_eq!(code(again), ErrorCode::DraftNotFound);
    }
    assert_eq!(office.state.sends.len(), 1);
}

#[test]
fn a_draft_that_was_saved_since_it_was_read_is_not_sent() {
    let mut office = Office::new();
    let first = save(&mut office, None, None, SendScope::Anyone, false);
    let second = save(&mut office, Some(&first), None, SendScope::Anyone, true);
    for version in [first.version, second.version + 1] {
        let stale = send_draft(&mut office, &first, version, SendScope::Anyone);
        assert_eq!(code(stale), ErrorCode::Conflict);
    }
    assert!(office.state.sends.is_empty() && office.state.drafts.len() == 1);
    send_draft(&mut office, &first, second.version, SendScope::Anyone).expect("queued");
}

#[test]
fn a_draft_goes_to_nobody_whom_one_of_its_writers_may_not_write_to() {
    let (agent, admin) = (key(1), key(2));
    let (narrow, wide) = (SendScope::Thread, SendScope::Anyone);
    // Who saved it, in order, and whether they had read what they changed.
    for (saves, sender, allowed) in [
        (vec![(admin, wide, false)], wide, true),
        (vec![(admin, wide, false)], narrow, false),
        (vec![(agent, narrow, false)], wide, false),
        // Whoever did not look sees nothing of a recipient that was added.
        (
            vec![
                (admin, wide, false),
                (agent, narrow, false),
                (admin, wide, false),
            ],
            wide,
            false,
        ),
        (
            vec![(admin, wide, false), (agent, narrow, true)],
            wide,
            false,
        ),
        // Whoever read it stands for it.
        (
            vec![
                (admin, wide, false),
                (agent, narrow, false),
                (admin, wide, true),
            ],
            wide,
            true,
        ),
        (vec![(agent, narrow, false), (None, wide, true)], wide, true),
    ] {
        let mut office = Office::new();
        let mut draft: Option<DraftRow> = None;
        for (by, scope, has_read) in &saves {
            let row = save(&mut office, draft.as_ref(), *by, *scope, *has_read);
            assert_eq!(row.saved_by, *by);
            draft = Some(row);
        }
        let draft = draft.expect("saved");
        let answer = send_draft(&mut office, &draft, draft.version, sender);
        match allowed {
            true => assert!(answer.is_ok(), "{saves:?} {answer:?}"),
            false => assert_eq!(code(answer), ErrorCode::PolicyDenied, "{saves:?}"),
        }
    }
}

fn suppress(office: &mut Office, address: &str) {
    let put = PutSuppression {
        tenant: office.tenant,
        hash: hash(address),
        hint: masked(address),
        reason: SuppressionReason::Manual,
    };
    office
        .decide(&Command::PutSuppression(put))
        .expect("suppressed");
}

fn block(office: &mut Office, entry: &str) {
    let entry = ListEntry {
        tenant: office.tenant,
        direction: ListDirection::Send,
        kind: ListKind::Block,
        entry: entry.to_owned(),
    };
    office
        .decide(&Command::PutListEntry(entry))
        .expect("listed");
}

#[test]
fn a_detail_leads_past_no_suppression() {
    let mut office = Office::new();
    suppress(&mut office, "ann@gone.example");
    suppress(&mut office, "tom+list@gone.example");
    for (address, suppressed) in [
        ("ann@gone.example", true),
        ("ann+1@gone.example", true),
        ("ann+1+2@gone.example", true),
        ("tom+list@gone.example", true),
        ("tom@gone.example", false),
        ("tom+other@gone.example", false),
        ("anna@gone.example", false),
    ] {
        let id = office.queued(&[address]);
        let expected = match suppressed {
            true => DeliveryStatus::Suppressed,
            false => DeliveryStatus::Queued,
        };
        assert_eq!(office.statuses(id), [expected], "{address}");
    }
}

#[test]
fn whoever_may_not_be_written_to_by_now_is_left_out_of_what_waited() {
    type Rule = (&'static str, &'static str, fn(&mut Office));
    let tagged = "bob+tag@there.example";
    let rules: [Rule; 6] = [
        (BOB, "policy: suppression (manual)", |office| {
            suppress(office, BOB);
        }),
        (tagged, "policy: suppression (manual)", |office| {
            suppress(office, BOB);
        }),
        (BOB, "policy: send_block", |office| block(office, BOB)),
        (tagged, "policy: send_block", |office| block(office, BOB)),
        (BOB, "policy: not_on_allowlist", |office| {
            let patch = serde_json::json!({"send_allowlist_only": true});
            office.set_policy(patch).expect("set");
            let entry = ListEntry {
                tenant: office.tenant,
                direction: ListDirection::Send,
                kind: ListKind::Allow,
                entry: EVE.to_owned(),
            };
            office
                .decide(&Command::PutListEntry(entry))
                .expect("listed");
        }),
        (BOB, "policy: suppression (complaint)", |office| {
            let other = office.queued(&[BOB]);
            let sent = office.claim(&[other]);
            assert_eq!(sent.len(), 1);
            let report = DeliveryReport {
                tenant: office.tenant,
                reporter: Reporter::Transport,
                subject: DeliverySubject::Message(other),
                recipient: None,
                event: DeliveryEvent::Complained,
                smtp_code: None,
                enhanced_code: None,
                reason: None,
            };
            office
                .decide(&Command::RecordDeliveries(vec![report]))
                .expect("recorded");
        }),
    ];
    for (bob, reason, rule) in rules {
        let mut office = Office::new();
        let (both, alone) = (office.queued(&[bob, EVE]), office.queued(&[bob]));
        office.pass_ms(60_000);
        rule(&mut office);
        let held = office.usage().1;
        let claimed = office.claim(&[both, alone]);
        assert_eq!(claimed.len(), 1, "{reason}");
        let handed: Vec<&str> = claimed[0]
            .recipients
            .iter()
            .map(|to| to.address.as_str())
            .collect();
        assert_eq!(handed, [EVE], "{reason}");
        assert_eq!(office.deliveries(both)[0].reason.as_deref(), Some(reason));
        assert_eq!(
            office.statuses(both),
            [DeliveryStatus::Suppressed, DeliveryStatus::Queued]
        );
        assert_eq!(office.status(both), MessageStatus::Queued);
        assert_eq!(office.status(alone), MessageStatus::Suppressed);
        assert_eq!(office.send(alone).state, SendState::Done);
        assert_eq!(office.send(alone).next_attempt_at, None);
        assert_eq!(
            office.usage().1,
            held - 2,
            "what does not leave is not held"
        );
    }
}

#[test]
fn a_send_is_asked_again_once_it_waited_or_was_tried() {
    // What a send that was just queued was asked about was asked just now.
    for (waits_ms, tried, left_out) in [
        (0, false, false),
        (10_000, false, false),
        (10_001, false, true),
        (0, true, true),
    ] {
        let mut office = Office::new();
        let id = office.queued(&[BOB]);
        if tried {
            let put_off = Submission::NotHandedOver {
                reason: "transport_unreachable".to_owned(),
                smtp_code: None,
                retry_after_ms: Some(1_000),
            };
            office.attempt(id, put_off);
            office.pass_ms(1_000);
        }
        office.pass_ms(waits_ms);
        suppress(&mut office, BOB);
        let claimed = office.claim(&[id]).len();
        assert_eq!(claimed, usize::from(!left_out), "{waits_ms} {tried}");
    }
}

#[test]
fn a_hard_bounce_of_one_mail_keeps_the_next_try_of_another() {
    let mut office = Office::new();
    let (waiting, sent) = (office.queued(&[BOB]), office.queued(&[BOB]));
    let put_off = Submission::NotHandedOver {
        reason: "transport_unreachable".to_owned(),
        smtp_code: None,
        retry_after_ms: None,
    };
    office.attempt(waiting, put_off);
    office.claim(&[sent]);
    let bounce = DeliveryReport {
        tenant: office.tenant,
        reporter: Reporter::Transport,
        subject: DeliverySubject::Message(sent),
        recipient: None,
        event: DeliveryEvent::Bounced(BounceType::Hard),
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    };
    office
        .decide(&Command::RecordDeliveries(vec![bounce]))
        .expect("recorded");
    office.pass_ms(3_600_000);
    assert!(office.claim(&[waiting]).is_empty());
    assert_eq!(office.status(waiting), MessageStatus::Suppressed);
    assert_eq!(
        office.deliveries(waiting)[0].reason.as_deref(),
        Some("policy: suppression (hard_bounce)")
    );
}

#[test]
fn an_automatic_answer_goes_to_no_address_that_programs_write_from() {
    for (from, to, allowed) in [
        (BOB, BOB, true),
        // Answers are asked for where nobody reads them.
        (BOB, "no-reply@there.example", false),
        (BOB, "MAILER-DAEMON@there.example", false),
        (BOB, "friends-request@lists.example", false),
        (
            "postmaster@there.example",
            "postmaster@there.example",
            false,
        ),
        ("postmaster@there.example", BOB, false),
        ("owner-friends@lists.example", BOB, false),
        (BOB, "mailer-daemon+7@there.example", false),
        (BOB, "bounces-12-ann=here@there.example", false),
        (BOB, "notifications@there.example", false),
        // Names that only begin or end like those.
        (BOB, "bouncer@there.example", true),
        (BOB, "ownership@there.example", true),
    ] {
        let mut office = Office::new();
        let (message, thread) = arrive(&mut office, TrustMode::Smtp, from, "1", "0");
        let mut mail = office.mail(&[to]);
        mail.operation = SendOperation::Reply;
        mail.kind = SendKind::AutoReply;
        mail.answers = Some(message);
        mail.thread = SendThread::Existing(thread);
        office.state.whole_threads.insert(thread);
        match office.queue(mail) {
            Ok(_) => assert!(allowed, "{from} {to}"),
            Err(refusal) => {
                assert!(!allowed, "{from} {to}");
                assert_eq!(refusal.code(), ErrorCode::AutoReplyNotAllowed);
            }
        }
    }
}

#[test]
fn what_tells_the_fate_of_a_mail_stands_in_its_thread_and_changes_nothing_of_it() {
    let mut office = Office::new();
    let (_, thread) = arrive(&mut office, TrustMode::Smtp, BOB, "1", "0");
    let before = office.state.threads[&thread].clone();
    let raw = "From: MAILER-DAEMON@there.example\r\nTo: agent@acme.example\r\nSubject: Returned\r\n\
               Message-ID: <2@there.example>\r\nReferences: <1@there.example>\r\n\r\nGone\r\n";
    let mut draft = Draft::read(raw.as_bytes(), None);
    draft.doc.tells_fate = true;
    let receive = Receive {
        raw: RawMail::new(raw.as_bytes().to_vec()),
        recipients: vec![mailbox(&office)],
        arrival: Arrival {
            provider: "smtp".to_owned(),
            trust_mode: TrustMode::Smtp,
            verify_detail: None,
            source_ip: None,
            mail_from: Some(String::new()),
            headers: BTreeMap::new(),
        },
    };
    office.pass_ms(60_000);
    let event_id = match office.decide(&Command::Receive(receive)) {
        Ok(Outcome::Received(outcomes)) => outcomes[0].event_id,
        other => panic!("{other:?}"),
    };
    let ingest = Ingest {
        tenant: office.tenant,
        event_id,
        identity: office.identity,
        draft,
        work: None,
    };
    let message = match office.decide(&Command::Ingest(Box::new(ingest))) {
        Ok(Outcome::Ingested { message_id, .. }) => message_id,
        other => panic!("{other:?}"),
    };
    let row = &office.state.messages[&message].row;
    assert_eq!((row.thread_id, row.unread), (thread, false));
    assert_eq!(office.state.threads[&thread], before);
    let daemon = "mailer-daemon@there.example".to_owned();
    assert!(
        !office
            .state
            .contacts
            .contains_key(&(office.identity, daemon))
    );
}
