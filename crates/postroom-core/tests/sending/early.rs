//! Reports of a provider that come before its own answer was noted.

use super::office::Office;
use postroom_core::{
    BounceType, ClaimedSend, Command, DeliveryEvent, DeliveryReport, DeliveryStatus as D,
    DeliverySubject, MessageStatus, Outcome, RecipientOutcome, Reporter, Submission, Verdict,
};
use postroom_types::{IdentityId, TenantId, limit};

const BOB: &str = "bob@there.example";
const EVE: &str = "eve@there.example";

/// Takes a provider's report in; gives whether it found its mail.
fn told(office: &mut Office, name: &str, who: &str, event: DeliveryEvent) -> bool {
    let report = DeliveryReport {
        reporter: Reporter::Transport,
        tenant: office.tenant,
        subject: DeliverySubject::Provider(name.to_owned()),
        recipient: Some(who.to_owned()),
        event,
        smtp_code: None,
        enhanced_code: None,
        reason: Some("no such user".to_owned()),
    };
    match office.decide(&Command::RecordDeliveries(vec![report])) {
        Ok(Outcome::DeliveriesRecorded(updates)) => updates[0].message_id.is_some(),
        other => panic!("{other:?}"),
    }
}

fn taken(claim: &ClaimedSend, name: &str) -> Submission {
    let taken = claim.recipients.iter().map(|delivery| RecipientOutcome {
        address: delivery.address.clone(),
        verdict: Verdict::Submitted,
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    });
    Submission::Answered {
        provider_message_id: Some(name.to_owned()),
        recipients: taken.collect(),
    }
}

fn kept(office: &Office) -> usize {
    office.state.early_reports.values().map(Vec::len).sum()
}

#[test]
fn a_report_before_the_answer_is_noted_with_it() {
    let mut office = Office::new();
    let id = office.queued(&[BOB, EVE]);
    let claimed = office.claim(&[id]);
    let hard = DeliveryEvent::Bounced(BounceType::Hard);
    assert!(!told(&mut office, "p-1", BOB, hard));
    assert!(!told(&mut office, "p-1", BOB, hard), "repeated");
    assert!(!told(&mut office, "p-1", EVE, DeliveryEvent::Delivered));
    assert!(!told(&mut office, "p-2", EVE, DeliveryEvent::Complained));
    assert_eq!(kept(&office), 3);
    assert_eq!(office.statuses(id), [D::Queued, D::Queued]);

    let update = office.record(&claimed[0], taken(&claimed[0], "p-1"));
    assert_eq!(update.status, Some(MessageStatus::Bounced));
    assert_eq!(office.statuses(id), [D::Bounced, D::Delivered]);
    assert_eq!(office.deliveries(id)[0].bounce_type, Some(BounceType::Hard));
    assert_eq!(office.usage(), (2, 0));
    // Bounced for good: not written to again.
    let next = office.queued(&[BOB]);
    assert_eq!(office.status(next), MessageStatus::Suppressed);
    // What speaks of another mail goes on waiting.
    assert_eq!(kept(&office), 1);
    assert!(told(&mut office, "p-1", EVE, DeliveryEvent::Complained));
}

#[test]
fn nothing_is_kept_when_no_outcome_is_awaited() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    assert!(!told(&mut office, "p-1", BOB, DeliveryEvent::Delivered));
    let claimed = office.claim(&[id]);
    office.record(&claimed[0], taken(&claimed[0], "p-1"));
    assert!(!told(&mut office, "p-2", BOB, DeliveryEvent::Delivered));
    assert_eq!(kept(&office), 0);
    assert_eq!(office.statuses(id), [D::Submitted]);
}

#[test]
fn at_the_bound_a_report_is_kept_and_past_it_let_go() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    office.claim(&[id]);
    for number in 0..=limit::EARLY_REPORTS {
        let name = format!("p-{number}");
        told(&mut office, &name, BOB, DeliveryEvent::Delivered);
    }
    assert_eq!(kept(&office), limit::EARLY_REPORTS);
    let last = (office.tenant, format!("p-{}", limit::EARLY_REPORTS));
    assert!(!office.state.early_reports.contains_key(&last));
}

#[test]
fn the_word_of_an_event_is_read_back() {
    for event in DeliveryEvent::ALL {
        assert_eq!(event.as_str().parse(), Ok(*event));
    }
    assert!("bounced".parse::<DeliveryEvent>().is_err());
}

#[test]
fn a_channel_of_one_mailbox_speaks_of_no_other_ones_mail() {
    let mut office = Office::new();
    let id = office.queued(&[BOB]);
    let claimed = office.claim(&[id]);
    let report = |reporter, event| DeliveryReport {
        tenant: TenantId::from_parts(1, 1),
        reporter,
        subject: DeliverySubject::Provider("p-1".to_owned()),
        recipient: None,
        event,
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    };
    let hard = DeliveryEvent::Bounced(BounceType::Hard);
    let other = Reporter::TransportOf(IdentityId::from_parts(9, 9));
    let reports = vec![
        report(other, hard),
        report(Reporter::Mail, hard),
        report(
            Reporter::TransportOf(office.identity),
            DeliveryEvent::Delivered,
        ),
    ];
    office
        .decide(&Command::RecordDeliveries(reports))
        .expect("decided");
    assert_eq!(kept(&office), 2);
    office.record(&claimed[0], taken(&claimed[0], "p-1"));
    assert_eq!(office.statuses(id), [D::Delivered]);
    assert_eq!(kept(&office), 0);
}
