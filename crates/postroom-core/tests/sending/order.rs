//! The order of the checks: of two things that are wrong the first is answered.

use crate::office::{FROM, NOON, Office, code, recipient};
use postroom_core::{
    DomainState, IdentityStatus, PauseReason, QueueMessage, Refusal, SendFault, SendKind,
    SendScope, SendStep, TenantStatus,
};
use postroom_types::{ErrorCode, IdentityId, MessageId, limit};

type Break = fn(&mut Office, &mut QueueMessage);

fn fault(mail: &mut QueueMessage, step: SendStep, code: ErrorCode) {
    mail.faults.push(SendFault {
        step,
        refusal: Refusal::Code {
            code,
            reason: "",
            path: None,
        },
    });
}

/// What breaks each step, in their order.
const STEPS: &[(ErrorCode, Break)] = &[
    (ErrorCode::IdentityNotFound, |_, mail| {
        mail.identity = IdentityId::from_parts(9, 9);
    }),
    (ErrorCode::TenantSuspended, |office, _| {
        let tenant = office.state.tenants.get_mut(&office.tenant);
        tenant.expect("there").status = TenantStatus::Suspended;
    }),
    (ErrorCode::IdentityPaused, |office, _| {
        office.change_identity(|row| {
            row.status = IdentityStatus::Paused;
            row.pause_reason = Some(PauseReason::Manual);
        });
    }),
    (ErrorCode::IdentityOwnerRequired, |office, _| {
        office.change_identity(|row| row.owner = None);
    }),
    (ErrorCode::MessageNotFound, |_, mail| {
        mail.answers = Some(MessageId::from_parts(9, 9));
    }),
    (ErrorCode::AddressInvalid, |_, mail| {
        fault(mail, SendStep::Recipients, ErrorCode::AddressInvalid);
    }),
    (ErrorCode::TooManyRecipients, |office, mail| {
        office
            .set_policy(serde_json::json!({"max_recipients": 1}))
            .ok();
        mail.recipients.push(recipient("second@there.example"));
    }),
    (ErrorCode::TestModeRecipient, |_, mail| mail.test = true),
    (ErrorCode::PolicyDenied, |_, mail| {
        mail.scope = SendScope::Known;
    }),
    (ErrorCode::MarketingRequirementsMissing, |_, mail| {
        let code = ErrorCode::MarketingRequirementsMissing;
        fault(mail, SendStep::Marketing, code);
    }),
    (ErrorCode::AutoReplyNotAllowed, |_, mail| {
        mail.kind = SendKind::AutoReply;
    }),
    (ErrorCode::LoopDetected, |_, mail| {
        mail.hop = limit::SENT_HOPS;
    }),
    (ErrorCode::HeaderNotAllowed, |_, mail| {
        fault(mail, SendStep::Headers, ErrorCode::HeaderNotAllowed);
    }),
    (ErrorCode::InvalidRequest, |_, mail| {
        mail.labels.push("No Label".to_owned());
    }),
    (ErrorCode::InvalidRequest, |_, mail| {
        mail.from = "other@acme.example".to_owned();
    }),
    (ErrorCode::DomainNotReady, |office, mail| {
        mail.leaves = true;
        for domain in office.state.domains.values_mut() {
            domain.state = DomainState::Local;
        }
    }),
    (ErrorCode::TransportUnavailable, |_, mail| {
        let code = ErrorCode::TransportUnavailable;
        fault(mail, SendStep::Transport, code);
    }),
    (ErrorCode::MessageTooLarge, |_, mail| {
        let large = mail.mail.as_mut().expect("composed");
        large.raw.size = limit::SENT_MAIL_BYTES as u64 + 1;
    }),
    (ErrorCode::DailyCapReached, |office, _| {
        office.change_identity(|row| row.send_policy.daily_cap = Some(0));
    }),
];

#[test]
fn of_two_faults_the_earlier_step_is_answered_and_nothing_is_stored() {
    for (first, (expected, break_first)) in STEPS.iter().enumerate() {
        for (_, break_second) in &STEPS[first..] {
            let mut office = Office::new();
            let mut mail = office.mail(&["bob@there.example"]);
            // The later one first, so that the order of setting does not decide.
            break_second(&mut office, &mut mail);
            break_first(&mut office, &mut mail);
            assert_eq!(code(office.queue(mail)), *expected, "step {first}");
            assert!(office.state.sends.is_empty() && office.state.idempotency.is_empty());
            assert_eq!(office.usage(), (0, 0));
        }
    }
}

#[test]
fn a_dry_run_is_refused_at_every_step_but_the_last() {
    for (place, (expected, break_it)) in STEPS.iter().enumerate() {
        let mut office = Office::new();
        let mut mail = office.mail(&["bob@there.example"]);
        mail.dry_run = true;
        break_it(&mut office, &mut mail);
        let answer = office.queue(mail);
        if place + 1 == STEPS.len() {
            assert!(answer.is_ok());
        } else {
            assert_eq!(code(answer), *expected, "step {place}");
        }
        assert!(office.state.sends.is_empty());
    }
}

#[test]
fn sizes_and_counts_are_allowed_at_their_bound() {
    let mut office = Office::new();
    office
        .set_policy(serde_json::json!({"max_recipients": limit::SENT_RECIPIENTS}))
        .expect("the most there may be");
    let to: Vec<String> = (0..limit::SENT_RECIPIENTS)
        .map(|n| format!("p{n}@there.example"))
        .collect();
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    let mut mail = office.mail(&to);
    mail.hop = limit::SENT_HOPS - 1;
    mail.mail.as_mut().expect("composed").raw.size = limit::SENT_MAIL_BYTES as u64;
    // Named twice, counted once.
    mail.recipients.push(recipient("p0@there.example"));
    assert!(office.queue(mail).is_ok());
    let mut mail = office.mail(&to);
    mail.recipients.push(recipient("one@more.example"));
    assert_eq!(code(office.queue(mail)), ErrorCode::TooManyRecipients);
}

#[test]
fn a_mail_that_was_not_composed_is_refused_for_what_was_found() {
    for (step, found, expected) in [
        (
            SendStep::Content,
            ErrorCode::UploadNotFound,
            ErrorCode::UploadNotFound,
        ),
        (
            SendStep::Size,
            ErrorCode::MessageTooLarge,
            ErrorCode::MessageTooLarge,
        ),
        (
            SendStep::Allowance,
            ErrorCode::DailyCapReached,
            ErrorCode::DailyCapReached,
        ),
    ] {
        let mut office = Office::new();
        let mut mail = office.mail(&["bob@there.example"]);
        mail.mail = None;
        fault(&mut mail, step, found);
        assert_eq!(code(office.queue(mail)), expected, "{step:?}");
    }
    // Nobody says why: a fault of ours.
    let mut office = Office::new();
    let mut mail = office.mail(&["bob@there.example"]);
    mail.mail = None;
    assert_eq!(code(office.queue(mail)), ErrorCode::InternalError);
}

#[test]
fn a_domain_nobody_verified_writes_inside_only() {
    let mut office = Office::new();
    for domain in office.state.domains.values_mut() {
        domain.state = DomainState::Local;
    }
    let mut mail = office.mail(&["bob@acme.example"]);
    mail.leaves = true;
    mail.recipients[0].route = postroom_core::RecipientRoute::Local;
    assert!(office.queue(mail).is_ok());
    // A transport that reaches nobody outside takes everything.
    let mail = office.mail(&["bob@there.example"]);
    assert!(office.queue(mail).is_ok());
}

#[test]
fn a_retiring_address_goes_on_in_its_threads() {
    use postroom_core::AddressStatus as Status;
    for (status, retire_ms, used, sends) in [
        (Status::Active, None, false, true),
        (Status::Retiring, Some(60_000), true, true),
        (Status::Retiring, Some(60_000), false, false),
        (Status::Retiring, Some(0), true, false),
        (Status::Retired, None, true, false),
        (Status::Pending, None, true, false),
    ] {
        let mut office = Office::new();
        for address in office.state.addresses.values_mut() {
            assert_eq!(address.address, FROM);
            address.status = status;
            address.retire_at =
                retire_ms.map(|ms| postroom_types::Timestamp::from_ms(NOON).plus_ms(ms));
        }
        let mut mail = office.mail(&["bob@there.example"]);
        mail.thread_uses_from = used;
        assert_eq!(office.queue(mail).is_ok(), sends, "{status} {used}");
    }
}
