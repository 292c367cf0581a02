//! Taking a mail in: once per key, within the caps, to those who may be written to.

use crate::office::{NOON, Office, code, hash, recipient};
use postroom_core::{
    Command, DeliveryStatus, Draft, Import, ImportOutcome, ListDirection, ListEntry, ListKind,
    MessageStatus, Outcome, PutSuppression, RawMail, Recipient, RecipientField, Refusal,
    SendDetail, SendKind, SendOperation, SendScope, SendState, SendThread, SuppressionReason,
    fingerprint, idempotency_key, masked,
};
use postroom_types::{ErrorCode, MessageId, ThreadId, Timestamp, limit};
use serde_json::json;

#[test]
fn a_key_is_printable_and_not_too_long() {
    let at_bound = "k".repeat(limit::IDEMPOTENCY_KEY_BYTES);
    assert!(idempotency_key(&at_bound).is_ok());
    assert!(idempotency_key(" ~").is_ok());
    for (key, expected) in [
        (String::new(), ErrorCode::IdempotencyKeyRequired),
        (format!("{at_bound}k"), ErrorCode::InvalidIdempotencyKey),
        ("a\nb".to_owned(), ErrorCode::InvalidIdempotencyKey),
        ("schlüssel".to_owned(), ErrorCode::InvalidIdempotencyKey),
        ("\u{7f}".to_owned(), ErrorCode::InvalidIdempotencyKey),
    ] {
        let refusal = idempotency_key(&key).expect_err("refused");
        assert_eq!(refusal.code(), expected, "{key:?}");
    }
}

#[test]
fn a_fingerprint_sees_every_value_and_no_order_of_members() {
    let body =
        json!({"to": ["a@x.example", "b@x.example"], "text": "hi", "n": {"x": 1, "y": null}});
    let same = serde_json::from_str(
        r#"{ "n": {"y": null, "x": 1}, "text": "hi", "to": ["a@x.example","b@x.example"] }"#,
    )
    .expect("JSON");
    let known = fingerprint("send", "idn_1", &body);
    assert_eq!(known, fingerprint("send", "idn_1", &same));
    let others = [
        ("reply", "idn_1", body.clone()),
        ("send", "idn_2", body.clone()),
        ("sendidn", "_1", body.clone()),
        (
            "send",
            "idn_1",
            json!({"to": ["b@x.example", "a@x.example"], "text": "hi", "n": {"x": 1, "y": null}}),
        ),
        (
            "send",
            "idn_1",
            json!({"to": ["a@x.example", "b@x.example"], "text": "hi ", "n": {"x": 1, "y": null}}),
        ),
        (
            "send",
            "idn_1",
            json!({"to": ["a@x.example", "b@x.example"], "text": "hi", "n": {"x": "1", "y": null}}),
        ),
        (
            "send",
            "idn_1",
            json!({"to": ["a@x.example", "b@x.example"], "text": "hi", "n": {"x": 1}}),
        ),
        (
            "send",
            "idn_1",
            json!({"to": ["a@x.example,b@x.example"], "text": "hi", "n": {"x": 1, "y": null}}),
        ),
        (
            "send",
            "idn_1",
            json!({"to": [["a@x.example"], "b@x.example"], "text": "hi", "n": {"x": 1, "y": null}}),
        ),
    ];
    for (operation, target, body) in others {
        assert_ne!(known, fingerprint(operation, target, &body), "{body}");
    }
}

#[test]
fn a_repeat_is_answered_with_the_first_whatever_changed_since() {
    let mut office = Office::new();
    let first = office.mail(&["bob@there.example"]);
    let (id, key) = (first.id, first.idempotency);
    office.queue(first).expect("queued");
    // Everything that could refuse it now.
    office
        .set_policy(
            json!({"tenant_daily_send_cap": 0, "max_recipients": 1, "send_allowlist_only": true}),
        )
        .expect("set");
    office.change_identity(|row| {
        row.owner = None;
        row.status = postroom_core::IdentityStatus::Paused;
    });
    let mut again = office.mail(&["bob@there.example", "eve@there.example"]);
    again.idempotency = key;
    again.hop = 99;
    again.mail = None;
    match office.queue(again).expect("answered") {
        Outcome::Sent(sent) => {
            assert!(sent.deduplicated);
            assert_eq!(sent.message_id, id);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(office.state.sends.len(), 1);
    assert_eq!(office.usage(), (0, 1));
}

#[test]
fn a_key_with_another_mail_is_a_conflict_until_it_is_forgotten() {
    let mut office = Office::new();
    let first = office.mail(&["bob@there.example"]);
    let (id, key) = (first.id, first.idempotency.key);
    office.queue(first).expect("queued");
    let mut other = office.mail(&["bob@there.example"]);
    other.idempotency.key = key;
    match office.queue(other) {
        Err(Refusal::Send {
            code: ErrorCode::IdempotencyConflict,
            detail: SendDetail::Original(original),
            ..
        }) => assert_eq!(original, id),
        other => panic!("{other:?}"),
    }
    let life = i64::try_from(limit::IDEMPOTENCY_LIFE_MS).expect("fits");
    for (ms, sends) in [(life - 1, false), (1, true)] {
        office.pass_ms(ms);
        let mut later = office.mail(&["bob@there.example"]);
        later.idempotency.key = key;
        assert_eq!(office.queue(later).is_ok(), sends);
    }
}

#[test]
fn what_was_refused_may_come_again_with_its_key() {
    let mut office = Office::new();
    office.change_identity(|row| row.send_policy.daily_cap = Some(0));
    let mail = office.mail(&["bob@there.example"]);
    let key = mail.idempotency;
    assert_eq!(code(office.queue(mail)), ErrorCode::DailyCapReached);
    office.change_identity(|row| row.send_policy.daily_cap = None);
    let mut again = office.mail(&["bob@there.example"]);
    again.idempotency = key;
    match office.queue(again).expect("queued") {
        Outcome::Sent(sent) => assert!(!sent.deduplicated),
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_two_sends_one_gets_the_last_unit() {
    for (cap, patch) in [
        ("identity", json!({"identity_daily_send_cap": 3})),
        ("tenant", json!({"tenant_daily_send_cap": 3})),
    ] {
        let mut office = Office::new();
        office.set_policy(patch).expect("set");
        let first = office.queued(&["a@there.example", "b@there.example"]);
        let second = office.mail(&["c@there.example", "d@there.example"]);
        match office.queue(second) {
            Err(Refusal::Send {
                code: ErrorCode::DailyCapReached,
                detail:
                    SendDetail::Cap {
                        cap: which,
                        most: 3,
                        resets_at,
                    },
                ..
            }) => {
                assert_eq!(which.as_str(), cap);
                assert!(resets_at > office.now);
            }
            other => panic!("{other:?}"),
        }
        office.queued(&["c@there.example"]);
        assert_eq!(office.usage(), (0, 3));
        // What is taken back frees its units.
        let cancel = Command::CancelSend {
            tenant: office.tenant,
            identity: office.identity,
            message: first,
        };
        office.decide(&cancel).expect("canceled");
        assert_eq!(office.usage(), (0, 1));
        office.queued(&["d@there.example", "e@there.example"]);
    }
}

#[test]
fn another_day_is_counted_anew() {
    let mut office = Office::new();
    office.change_identity(|row| row.send_policy.daily_cap = Some(1));
    office.queued(&["a@there.example"]);
    let mut tomorrow = office.mail(&["a@there.example"]);
    tomorrow.day.date = "2026-12-01".to_owned();
    assert!(office.queue(tomorrow).is_ok());
    let today = office.mail(&["a@there.example"]);
    assert_eq!(code(office.queue(today)), ErrorCode::DailyCapReached);
}

fn list(office: &mut Office, kind: ListKind, entry: &str) {
    let entry = ListEntry {
        tenant: office.tenant,
        direction: ListDirection::Send,
        kind,
        entry: entry.to_owned(),
    };
    office
        .decide(&Command::PutListEntry(entry))
        .expect("listed");
}

fn suppress(office: &mut Office, address: &str, reason: SuppressionReason) {
    let put = PutSuppression {
        tenant: office.tenant,
        hash: hash(address),
        hint: masked(address),
        reason,
    };
    office
        .decide(&Command::PutSuppression(put))
        .expect("suppressed");
}

#[test]
fn recipients_are_left_out_for_the_first_reason() {
    let mut office = Office::new();
    suppress(
        &mut office,
        "gone@there.example",
        SuppressionReason::HardBounce,
    );
    suppress(
        &mut office,
        "both@blocked.example",
        SuppressionReason::Complaint,
    );
    list(&mut office, ListKind::Block, "@blocked.example");
    list(&mut office, ListKind::Block, "base@there.example");
    list(&mut office, ListKind::Allow, "friend@there.example");
    list(&mut office, ListKind::Allow, "base@there.example");
    office
        .set_policy(json!({"send_allowlist_only": true}))
        .expect("set");
    let expected = [
        (
            "gone@there.example",
            Some("policy: suppression (hard_bounce)"),
        ),
        (
            "both@blocked.example",
            Some("policy: suppression (complaint)"),
        ),
        ("x@blocked.example", Some("policy: send_block")),
        ("base+tag@there.example", Some("policy: send_block")),
        ("stranger@there.example", Some("policy: not_on_allowlist")),
        ("friend@there.example", None),
    ];
    let to: Vec<&str> = expected.iter().map(|(address, _)| *address).collect();
    let message = office.queued(&to);
    for (delivery, (address, reason)) in office.deliveries(message).iter().zip(expected) {
        assert_eq!(delivery.address, address);
        assert_eq!(delivery.reason.as_deref(), reason, "{address}");
        let suppressed = delivery.status == DeliveryStatus::Suppressed;
        assert_eq!(suppressed, reason.is_some());
    }
    assert_eq!(office.status(message), MessageStatus::Queued);
    assert_eq!(office.usage(), (0, 1));
    let claimed = office.claim(&[message]);
    assert_eq!(claimed[0].recipients.len(), 1);
    assert!(
        !office
            .state
            .contacts
            .contains_key(&(office.identity, to[0].to_owned()))
    );
}

#[test]
fn a_mail_for_nobody_is_kept_and_never_claimed() {
    let mut office = Office::new();
    list(&mut office, ListKind::Block, "@there.example");
    let message = office.queued(&["a@there.example", "b@there.example"]);
    assert_eq!(office.status(message), MessageStatus::Suppressed);
    assert_eq!(office.send(message).state, SendState::Done);
    assert!(office.claim(&[message]).is_empty());
    assert_eq!(office.usage(), (0, 0));
}

#[test]
fn a_dry_run_says_what_would_become_of_each() {
    let mut office = Office::new();
    list(&mut office, ListKind::Block, "@blocked.example");
    suppress(&mut office, "gone@there.example", SuppressionReason::Manual);
    for (to, expected) in [
        (&["a@there.example", "b@blocked.example"][..], None),
        (&["b@blocked.example"], Some(ErrorCode::RecipientBlocked)),
        (
            &["b@blocked.example", "gone@there.example"],
            Some(ErrorCode::AllRecipientsSuppressed),
        ),
    ] {
        let mut mail = office.mail(to);
        mail.dry_run = true;
        match (office.queue(mail), expected) {
            (Ok(Outcome::WouldSend(told)), None) => {
                assert_eq!(told[0].status, DeliveryStatus::Queued);
                assert_eq!(told[1].reason.as_deref(), Some("policy: send_block"));
            }
            (answer, Some(expected)) => assert_eq!(code(answer), expected),
            (answer, None) => panic!("{answer:?}"),
        }
    }
    assert!(office.state.sends.is_empty());
}

/// A mail from somebody, put into the mailbox.
fn receive(office: &mut Office, from: &str, headers: &str, about: u32) -> (MessageId, ThreadId) {
    let raw = format!(
        "From: {from}\r\nTo: agent@acme.example\r\nCc: carol@there.example\r\n\
         Subject: Question {about}\r\nMessage-ID: <in-{about}@there.example>\r\n{headers}\r\nHi\r\n"
    );
    let import = Import {
        recipient: Recipient {
            tenant: office.tenant,
            identity: office.identity,
            delivered_to: None,
        },
        draft: Draft::read(raw.as_bytes(), None),
        raw: RawMail::new(raw.into_bytes()),
        provider: "import".to_owned(),
        file_time: None,
        unread: true,
        labels: Vec::new(),
    };
    match office
        .decide(&Command::Import(Box::new(import)))
        .expect("taken in")
    {
        Outcome::Imported(ImportOutcome::Stored {
            message_id,
            thread_id,
            ..
        }) => (message_id, thread_id),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_scope_lets_a_key_write_to_whom_it_says() {
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    // Mail came in from Dave, as anybody can send it, and nobody wrote to him; to Bob somebody did.
    receive(&mut office, "dave@there.example", "", 2);
    office.queued(&["bob@there.example"]);
    let stranger = "eve@there.example";
    for (scope, in_thread, to, allowed) in [
        (SendScope::Thread, true, "bob@there.example", true),
        (SendScope::Thread, true, "carol@there.example", true),
        (SendScope::Thread, true, "bob+token@there.example", true),
        (SendScope::Thread, true, "eve+bob@there.example", false),
        (SendScope::Known, false, "bob+token@there.example", true),
        (SendScope::Thread, true, "dave@there.example", false),
        (SendScope::Thread, true, stranger, false),
        (SendScope::Thread, false, "bob@there.example", false),
        (SendScope::Known, false, "bob@there.example", true),
        (SendScope::Known, false, "dave@there.example", false),
        (SendScope::Known, false, "carol@there.example", false),
        (SendScope::Known, true, "carol@there.example", true),
        (SendScope::Known, false, stranger, false),
        (SendScope::Anyone, false, stranger, true),
    ] {
        let mut mail = office.mail(&[to]);
        mail.dry_run = true;
        mail.scope = scope;
        if in_thread {
            mail.thread = SendThread::Existing(thread);
            mail.answers = Some(message);
        }
        match office.queue(mail) {
            Ok(_) => assert!(allowed, "{scope} {to}"),
            Err(Refusal::Send {
                code: ErrorCode::PolicyDenied,
                detail: SendDetail::Recipients(who),
                ..
            }) => {
                assert!(!allowed, "{scope} {to}");
                assert_eq!(who, [to]);
            }
            other => panic!("{other:?}"),
        }
    }
    // One stranger among friends is one too many.
    let mut mail = office.mail(&["bob@there.example", stranger]);
    mail.scope = SendScope::Thread;
    mail.thread = SendThread::Existing(thread);
    mail.recipients[1].field = RecipientField::Bcc;
    assert_eq!(code(office.queue(mail)), ErrorCode::PolicyDenied);
}

#[test]
fn a_reply_joins_its_thread_and_a_foreign_thread_is_not_found() {
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    let mut mail = office.mail(&["bob@there.example"]);
    mail.operation = SendOperation::Reply;
    mail.answers = Some(message);
    mail.thread = SendThread::Existing(thread);
    mail.labels = vec!["sales".to_owned()];
    let id = mail.id;
    office.queue(mail).expect("queued");
    let sent = &office.state.messages[&id];
    assert_eq!(sent.row.thread_id, thread);
    assert!(sent.labels.contains("sales") && !sent.row.unread);
    assert_eq!(office.state.threads[&thread].message_count, 2);
    let contact = &office.state.contacts[&(office.identity, "bob@there.example".to_owned())];
    assert_eq!((contact.inbound_count, contact.outbound_count), (1, 1));
    // An answer to where the author said answers go brings nobody new into the thread.
    let mut directed = office.mail(&["bob+t1.x@there.example"]);
    directed.operation = SendOperation::Reply;
    directed.scope = SendScope::Thread;
    directed.answers = Some(message);
    directed.thread = SendThread::Existing(thread);
    office.queue(directed).expect("queued");
    let contact = &office.state.contacts[&(office.identity, "bob@there.example".to_owned())];
    assert_eq!(contact.outbound_count, 2);
    let row = &office.state.threads[&thread];
    let people: Vec<&str> = row
        .participants
        .iter()
        .map(|p| p.address.as_str())
        .collect();
    assert_eq!(people, ["bob@there.example", "carol@there.example"]);
    // Its own Message-ID leads to the thread, so that an answer finds it.
    let key = postroom_core::key_hash(&office.send(id).rfc_message_id);
    assert_eq!(
        office.state.thread_keys[&(office.identity, key)].thread_id,
        thread
    );

    let mut foreign = office.mail(&["bob@there.example"]);
    foreign.thread = SendThread::Existing(ThreadId::from_parts(5, 5));
    assert_eq!(code(office.queue(foreign)), ErrorCode::ThreadNotFound);
}

#[test]
fn where_a_mail_asks_for_its_answers_takes_part_in_its_thread() {
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    let (_, other) = receive(&mut office, "dave@there.example", "", 2);
    for (operation, answers, within, asked, allowed) in [
        (SendOperation::Reply, Some(message), thread, true, true),
        (SendOperation::Reply, Some(message), thread, false, false),
        (SendOperation::Reply, None, thread, true, false),
        (SendOperation::Reply, Some(message), other, true, false),
        (SendOperation::Forward, Some(message), thread, true, false),
        (SendOperation::Send, Some(message), thread, true, false),
    ] {
        let mut mail = office.mail(&["help@there.example"]);
        mail.dry_run = true;
        mail.scope = SendScope::Thread;
        mail.operation = operation;
        mail.answers = answers;
        mail.thread = SendThread::Existing(within);
        mail.recipients[0].asked = asked;
        assert_eq!(office.queue(mail).is_ok(), allowed, "{operation} {asked}");
    }
}

#[test]
fn an_answer_stands_behind_what_it_answers_and_before_what_answers_it() {
    let mut office = Office::new();
    // The author's clock is ahead.
    let ahead = "Date: Mon, 30 Nov 2026 12:03:00 +0000\r\n";
    let (message, thread) = receive(&mut office, "bob@there.example", ahead, 1);
    let answered = office.state.messages[&message].row.sort_at;
    assert!(answered > office.now);
    let mut mail = office.mail(&["bob@there.example"]);
    mail.operation = SendOperation::Reply;
    mail.answers = Some(message);
    mail.thread = SendThread::Existing(thread);
    office.queue(mail).expect("queued");
    let row = &office.state.threads[&thread];
    assert_eq!(row.last_direction, postroom_core::Direction::Outbound);
    assert_eq!(row.last_at, answered);

    // An answer within the same second, whose Date says no more than that second.
    let mut office = Office::new();
    office.pass_ms(900);
    let mut mail = office.mail(&["bob@there.example"]);
    let id = mail.id;
    mail.mail.as_mut().expect("composed").draft.date = Some(Timestamp::from_ms(NOON));
    office.queue(mail).expect("queued");
    let thread = office.state.messages[&id].row.thread_id;
    office.pass_ms(50);
    let same =
        format!("Date: Mon, 30 Nov 2026 12:00:00 +0000\r\nIn-Reply-To: <{id}@acme.example>\r\n");
    let (_, joined) = receive(&mut office, "bob@there.example", &same, 2);
    assert_eq!(joined, thread);
    let row = &office.state.threads[&thread];
    assert_eq!(row.last_direction, postroom_core::Direction::Inbound);
}

fn automatic(
    office: &mut Office,
    message: MessageId,
    thread: ThreadId,
) -> Result<Outcome, Refusal> {
    let mut mail = office.mail(&["bob@there.example"]);
    mail.operation = SendOperation::Reply;
    mail.kind = SendKind::AutoReply;
    mail.answers = Some(message);
    mail.thread = SendThread::Existing(thread);
    // The store loads the whole thread for an automatic answer.
    office.state.whole_threads.insert(thread);
    office.queue(mail)
}

#[test]
fn automatic_answers_end_and_the_thread_says_why_until_a_person_writes() {
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    for _ in 0..2 {
        automatic(&mut office, message, thread).expect("queued");
        office.pass_ms(1_000);
    }
    for _ in 0..2 {
        let answer = automatic(&mut office, message, thread);
        assert_eq!(code(answer), ErrorCode::AutoReplyNotAllowed);
        let hold = office.state.threads[&thread].hold.as_ref().expect("held");
        assert_eq!(hold.reason, "automatic_exchanges");
    }
    let mut by_hand = office.mail(&["bob@there.example"]);
    by_hand.operation = SendOperation::Reply;
    by_hand.answers = Some(message);
    by_hand.thread = SendThread::Existing(thread);
    office.queue(by_hand).expect("queued");
    office.pass_ms(1_000);
    assert_eq!(office.state.threads[&thread].hold, None);
    assert!(automatic(&mut office, message, thread).is_ok());
}

#[test]
fn programs_are_not_answered_automatically() {
    for headers in [
        "Auto-Submitted: auto-replied\r\n",
        "List-Id: <l.there.example>\r\n",
        "Precedence: bulk\r\n",
    ] {
        let mut office = Office::new();
        let (message, thread) = receive(&mut office, "bob@there.example", headers, 1);
        let answer = automatic(&mut office, message, thread);
        assert_eq!(code(answer), ErrorCode::AutoReplyNotAllowed, "{headers}");
        assert_eq!(office.state.threads[&thread].hold, None);
    }
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    office
        .set_policy(json!({"auto_reply": {"allowed": false}}))
        .expect("set");
    let answer = automatic(&mut office, message, thread);
    assert_eq!(code(answer), ErrorCode::AutoReplyNotAllowed);
}

#[test]
fn mails_that_answer_each_other_stop_and_the_thread_says_why() {
    let mut office = Office::new();
    let (message, thread) = receive(&mut office, "bob@there.example", "", 1);
    let mut mail = office.mail(&["bob@there.example"]);
    mail.operation = SendOperation::Reply;
    mail.answers = Some(message);
    mail.thread = SendThread::Existing(thread);
    mail.hop = limit::SENT_HOPS;
    let key = mail.idempotency;
    assert_eq!(code(office.queue(mail)), ErrorCode::LoopDetected);
    let hold = office.state.threads[&thread].hold.as_ref().expect("held");
    assert_eq!(hold.reason, "loop_detected");
    assert!(
        !office
            .state
            .idempotency
            .contains_key(&(office.identity, key.key))
    );
}

#[test]
fn a_named_thread_goes_before_what_the_header_says() {
    let named: [fn(ThreadId) -> Option<ThreadId>; 3] =
        [Some, |_| Some(ThreadId::from_parts(5, 5)), |_| None];
    for (place, named) in named.into_iter().enumerate() {
        let mut office = Office::new();
        let (_, first) = receive(&mut office, "bob@there.example", "", 1);
        let (_, second) = receive(&mut office, "bob@there.example", "", 2);
        let raw = b"From: bob@there.example\r\nMessage-ID: <x@there.example>\r\n\
            In-Reply-To: <in-2@there.example>\r\n\r\nHi\r\n";
        let mut draft = Draft::read(raw, None);
        draft.thread = named(first);
        let import = Import {
            recipient: Recipient {
                tenant: office.tenant,
                identity: office.identity,
                delivered_to: None,
            },
            draft,
            raw: RawMail::new(raw.to_vec()),
            provider: "import".to_owned(),
            file_time: None,
            unread: true,
            labels: Vec::new(),
        };
        office
            .decide(&Command::Import(Box::new(import)))
            .expect("taken in");
        let count = |thread| office.state.threads[&thread].message_count;
        let expected = if place == 0 { (2, 1) } else { (1, 2) };
        assert_eq!((count(first), count(second)), expected);
    }
}

#[test]
fn a_repeated_address_counts_once_where_it_is_first() {
    let mut office = Office::new();
    let mut mail = office.mail(&["bob@there.example"]);
    let mut again = recipient("bob@there.example");
    again.field = RecipientField::Bcc;
    mail.recipients.push(again);
    let id = mail.id;
    office.queue(mail).expect("queued");
    assert_eq!(office.deliveries(id).len(), 1);
    assert_eq!(office.deliveries(id)[0].field, RecipientField::To);
}

#[test]
fn instants_are_those_of_the_decision() {
    let mut office = Office::new();
    let id = office.queued(&["bob@there.example"]);
    let row = &office.state.messages[&id].row;
    assert_eq!(row.received_at, Timestamp::from_ms(NOON));
    assert_eq!(office.send(id).next_attempt_at, Some(office.now));
}
