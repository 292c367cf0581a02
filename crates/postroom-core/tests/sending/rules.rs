//! Policy, suppressions, lists, drafts and uploads.

use crate::office::{Office, code, hash};
use postroom_core::{
    Command, DisclosureMode, ListDirection, ListEntry, ListKind, Outcome, Policy, PutDraft,
    PutSuppression, PutUpload, RawMail, Refusal, RemoveSuppression, SendScope, SuppressionReason,
    masked,
};
use postroom_types::{ErrorCode, IdentityId, limit};
use serde_json::json;

fn policy(answer: Result<Outcome, Refusal>) -> Policy {
    match answer.expect("set") {
        Outcome::Policy(row) => row.own.effective(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_policy_is_merged_and_null_goes_back_to_what_is_built_in() {
    let mut office = Office::new();
    let built_in = Policy::default();
    let set = policy(office.set_policy(json!({
        "identity_daily_send_cap": 7,
        "ai_disclosure": {"mode": "footer", "text": "by a program"},
    })));
    assert_eq!(set.identity_daily_send_cap, 7);
    assert_eq!(set.tenant_daily_send_cap, built_in.tenant_daily_send_cap);
    assert_eq!(set.ai_disclosure.mode, DisclosureMode::Footer);
    // One member of a group at a time.
    let set = policy(office.set_policy(json!({"ai_disclosure": {"text": null}})));
    assert_eq!(set.ai_disclosure.mode, DisclosureMode::Footer);
    assert_eq!(set.ai_disclosure.text, "");
    let set =
        policy(office.set_policy(json!({"ai_disclosure": null, "auto_reply": {"allowed": false}})));
    assert_eq!(set.ai_disclosure, built_in.ai_disclosure);
    assert!(!set.auto_reply.allowed);
    assert_eq!(set.auto_reply.max_automatic_exchanges, 2);
    let set =
        policy(office.set_policy(json!({"identity_daily_send_cap": null, "auto_reply": null})));
    assert_eq!(set, built_in);
    // What is the same again changes nothing, and what is kept reads back.
    let before = office.state.policies[&office.tenant].clone();
    office.pass_ms(1_000);
    policy(office.set_policy(json!({"auto_reply": null})));
    assert_eq!(office.state.policies[&office.tenant], before);
    let text = serde_json::to_string(&before.own).expect("JSON");
    assert_eq!(text, "{}");
    assert!(
        serde_json::from_value::<postroom_core::PolicyPatch>(json!({"link_ttl_hours": 1})).is_err()
    );
}

#[test]
fn a_policy_out_of_bounds_is_refused_whole() {
    let mut office = Office::new();
    for (patch, fine) in [
        (json!({"max_recipients": 0}), false),
        (json!({"max_recipients": 1}), true),
        (json!({"max_recipients": limit::SENT_RECIPIENTS + 1}), false),
        (
            json!({"identity_daily_send_cap": limit::SENT_PER_DAY}),
            true,
        ),
        (
            json!({"identity_daily_send_cap": limit::SENT_PER_DAY + 1}),
            false,
        ),
        (
            json!({"tenant_daily_send_cap": limit::SENT_PER_DAY + 1, "max_recipients": 5}),
            false,
        ),
        (json!({"ai_disclosure": {"text": "a\nb"}}), false),
        (
            json!({"ai_disclosure": {"text": "x".repeat(limit::DISCLOSURE_CHARS)}}),
            true,
        ),
        (
            json!({"ai_disclosure": {"text": "x".repeat(limit::DISCLOSURE_CHARS + 1)}}),
            false,
        ),
        (
            json!({"auto_reply": {"max_automatic_exchanges": 11}}),
            false,
        ),
    ] {
        let before = office.state.policies.get(&office.tenant).cloned();
        match office.set_policy(patch.clone()) {
            Ok(_) => assert!(fine, "{patch}"),
            Err(refusal) => {
                assert!(!fine, "{patch}");
                assert_eq!(refusal.code(), ErrorCode::InvalidRequest);
                assert_eq!(office.state.policies.get(&office.tenant).cloned(), before);
            }
        }
    }
}

#[test]
fn a_complaint_goes_only_when_somebody_says_so_twice() {
    let mut office = Office::new();
    for reason in SuppressionReason::ALL {
        let hash = hash(reason.as_str());
        let put = PutSuppression {
            tenant: office.tenant,
            hash,
            hint: masked("joe@there.example"),
            reason: *reason,
        };
        office
            .decide(&Command::PutSuppression(put))
            .expect("suppressed");
        let mut remove = RemoveSuppression {
            tenant: office.tenant,
            hash,
            confirm_complaint: false,
        };
        let answer = office.decide(&Command::RemoveSuppression(remove));
        if *reason == SuppressionReason::Complaint {
            assert_eq!(code(answer), ErrorCode::InvalidRequest);
            remove.confirm_complaint = true;
            office
                .decide(&Command::RemoveSuppression(remove))
                .expect("removed");
        } else {
            answer.expect("removed");
        }
        let again = office.decide(&Command::RemoveSuppression(remove));
        assert_eq!(code(again), ErrorCode::SuppressionNotFound);
    }
}

#[test]
fn a_hint_says_little() {
    for (address, hint) in [
        ("joe@there.example", "j***@there.example"),
        ("a@b.example", "a***@b.example"),
        ("nothing", "***"),
    ] {
        assert_eq!(masked(address), hint);
    }
}

fn entry(office: &Office, text: &str) -> ListEntry {
    ListEntry {
        tenant: office.tenant,
        direction: ListDirection::Send,
        kind: ListKind::Block,
        entry: text.to_owned(),
    }
}

#[test]
fn entries_are_addresses_or_domains_as_they_are_kept() {
    let mut office = Office::new();
    for (text, fine) in [
        ("user@there.example", true),
        ("user+tag@there.example", true),
        ("@there.example", true),
        ("@xn--bcher-kva.example", true),
        ("@Bücher.example", false),
        ("User@there.example", false),
        ("user@There.example", false),
        ("there.example", false),
        ("@", false),
        ("*@there.example", false),
        ("@*.example", false),
        ("*", false),
        ("user@", false),
        ("a b@there.example", false),
        ("", false),
    ] {
        let put = Command::PutListEntry(entry(&office, text));
        assert_eq!(office.decide(&put).is_ok(), fine, "{text:?}");
        let remove = Command::RemoveListEntry(entry(&office, text));
        let answer = office.decide(&remove);
        assert_eq!(answer.is_ok(), fine, "{text:?}");
        if !fine {
            assert_eq!(code(answer), ErrorCode::ListEntryNotFound);
        }
    }
    let most = limit::LIST_ENTRIES_PER_TENANT as u64;
    office.state.list_counts.insert(office.tenant, most - 1);
    for (text, fine) in [("@last.example", true), ("@more.example", false)] {
        let answer = office.decide(&Command::PutListEntry(entry(&office, text)));
        assert_eq!(answer.is_ok(), fine, "{text}");
    }
    // One that is there may be put again.
    let again = Command::PutListEntry(entry(&office, "@last.example"));
    assert!(office.decide(&again).is_ok());
}

#[test]
fn a_draft_is_saved_over_the_version_that_was_read() {
    let mut office = Office::new();
    let put = |id, version, identity, document: String| {
        Command::PutDraft(PutDraft {
            tenant: postroom_types::TenantId::from_parts(1, 1),
            identity,
            id,
            document,
            version,
            by: None,
            scope: SendScope::Anyone,
            has_read: false,
        })
    };
    let own = office.identity;
    let draft = match office.decide(&put(None, None, own, "{}".to_owned())) {
        Ok(Outcome::Draft(row)) => *row,
        other => panic!("{other:?}"),
    };
    let id = Some(draft.id);
    let second = office.decide(&put(id, Some(1), own, "{\"a\":1}".to_owned()));
    match second {
        Ok(Outcome::Draft(row)) => {
            assert_eq!((row.version, row.document.as_str()), (2, "{\"a\":1}"))
        }
        other => panic!("{other:?}"),
    }
    let stale = office.decide(&put(id, Some(1), own, "{}".to_owned()));
    assert_eq!(code(stale), ErrorCode::Conflict);
    let foreign = office.decide(&put(
        id,
        None,
        IdentityId::from_parts(2, 2),
        "{}".to_owned(),
    ));
    assert_eq!(code(foreign), ErrorCode::IdentityNotFound);
    let large = "x".repeat(limit::DRAFT_BYTES);
    assert!(office.decide(&put(id, None, own, large.clone())).is_ok());
    let larger = office.decide(&put(id, None, own, large + "x"));
    assert_eq!(code(larger), ErrorCode::InvalidRequest);
    let most = limit::DRAFTS_PER_IDENTITY as u64;
    office.state.draft_counts.insert(own, most);
    let more = office.decide(&put(None, None, own, "{}".to_owned()));
    assert_eq!(code(more), ErrorCode::CeilingExceeded);
    let remove = Command::RemoveDraft {
        tenant: office.tenant,
        identity: own,
        draft: draft.id,
    };
    office.decide(&remove).expect("dropped");
    assert_eq!(code(office.decide(&remove)), ErrorCode::DraftNotFound);
}

#[test]
fn an_upload_lives_a_day_and_has_a_size() {
    let mut office = Office::new();
    let put = |size: u64, filename: &str| {
        let mut raw = RawMail::new(b"bytes".to_vec());
        raw.size = size;
        Command::PutUpload(Box::new(PutUpload {
            tenant: postroom_types::TenantId::from_parts(1, 1),
            identity: IdentityId::from_parts(1, 1),
            filename: filename.to_owned(),
            content_type: "text/plain".to_owned(),
            raw,
        }))
    };
    match office.decide(&put(limit::UPLOAD_BYTES, "a.txt")) {
        Ok(Outcome::Upload(row)) => {
            let life = i64::try_from(limit::UPLOAD_LIFE_MS).expect("fits");
            assert_eq!(row.expires_at, office.now.plus_ms(life));
        }
        other => panic!("{other:?}"),
    }
    let large = office.decide(&put(limit::UPLOAD_BYTES + 1, "a.txt"));
    assert_eq!(code(large), ErrorCode::PayloadTooLarge);
    for name in [
        "",
        " ",
        ".",
        "..",
        "a/..",
        "a/",
        "a\r\nb",
        "a\u{2028}b",
        "cod\u{202e}fdp.exe",
        &"x".repeat(256),
    ] {
        assert_eq!(
            code(office.decide(&put(1, name))),
            ErrorCode::InvalidRequest
        );
    }
    for (given, kept) in [
        ("a.txt", "a.txt"),
        (" a.txt ", "a.txt"),
        ("/etc/passwd", "passwd"),
        ("../../a.txt", "a.txt"),
        ("C:\\Users\\ann\\a.txt", "a.txt"),
        ("..a", "..a"),
    ] {
        match office.decide(&put(1, given)) {
            Ok(Outcome::Upload(row)) => assert_eq!(row.filename, kept, "{given}"),
            other => panic!("{given} {other:?}"),
        }
    }
    let identity = office.identity;
    let most = limit::UPLOADS_PER_IDENTITY as u64;
    office.state.upload_counts.insert(identity, most - 1);
    assert!(office.decide(&put(1, "a.txt")).is_ok());
    assert_eq!(
        code(office.decide(&put(1, "a.txt"))),
        ErrorCode::CeilingExceeded
    );
}
