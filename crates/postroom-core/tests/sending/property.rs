//! What must hold of sends for any commands in any order.

use crate::office::Office;
use postroom_core::{
    BounceType, ClaimedSend, Command, DeliveryEvent, DeliveryReport, DeliveryStatus,
    DeliverySubject, ExpireClaims, Outcome, RecipientOutcome, Reporter, ResolveSend, SendOutcome,
    SendState, Submission, Verdict, roll_up,
};
use postroom_types::MessageId;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const PEOPLE: [&str; 3] = ["a@there.example", "b@there.example", "c@there.example"];

#[derive(Debug, Clone)]
enum Step {
    Queue(usize),
    Claim(usize),
    Record(usize, Answer),
    Expire(usize, bool),
    Cancel(usize),
    Resolve(usize, bool),
    Report(usize, Option<usize>, usize),
    Pass(i64),
}

#[derive(Debug, Clone)]
enum Answer {
    Each(Vec<(usize, Verdict)>),
    NotHandedOver,
    NotTried,
    Uncertain,
}

fn verdict() -> impl Strategy<Value = Verdict> {
    prop_oneof![
        Just(Verdict::Submitted),
        Just(Verdict::Delivered),
        Just(Verdict::Rejected),
        Just(Verdict::Retry),
        Just(Verdict::Uncertain),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        4 => prop::collection::vec((0..PEOPLE.len(), verdict()), 0..4).prop_map(Answer::Each),
        2 => Just(Answer::NotHandedOver),
        1 => Just(Answer::NotTried),
        1 => Just(Answer::Uncertain),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..=PEOPLE.len()).prop_map(Step::Queue),
        6 => (0..4usize).prop_map(Step::Claim),
        6 => (0..12usize, answer()).prop_map(|(claim, answer)| Step::Record(claim, answer)),
        2 => (0..4usize, any::<bool>()).prop_map(|(send, former)| Step::Expire(send, former)),
        1 => (0..4usize).prop_map(Step::Cancel),
        1 => (0..4usize, any::<bool>()).prop_map(|(send, sent)| Step::Resolve(send, sent)),
        3 => (0..4usize, prop::option::of(0..PEOPLE.len()), 0..7usize)
            .prop_map(|(send, who, event)| Step::Report(send, who, event)),
        3 => (0..90i64).prop_map(|minutes| Step::Pass(minutes * 60_000)),
    ]
}

const EVENTS: [DeliveryEvent; 7] = [
    DeliveryEvent::Submitted,
    DeliveryEvent::Delivered,
    DeliveryEvent::Deferred,
    DeliveryEvent::Bounced(BounceType::Hard),
    DeliveryEvent::Bounced(BounceType::Soft),
    DeliveryEvent::Complained,
    DeliveryEvent::Rejected,
];

#[derive(Default)]
struct Watch {
    sends: Vec<MessageId>,
    /// Every claim that was ever given out.
    claims: Vec<ClaimedSend>,
    /// Whom a claim was given out for, until it is said that they were not reached by it.
    handed_over: BTreeSet<(MessageId, String)>,
    seen: BTreeMap<(MessageId, u64), DeliveryStatus>,
}

impl Watch {
    fn pick(&self, place: usize) -> Option<MessageId> {
        self.sends.get(place % self.sends.len().max(1)).copied()
    }

    fn run(&mut self, office: &mut Office, step: Step) {
        match step {
            Step::Queue(people) => {
                // Nobody is suppressed in this world: only what is handed over is watched.
                office.state.suppressions.clear();
                self.sends.push(office.queued(&PEOPLE[..people]));
            }
            Step::Claim(place) => {
                let Some(id) = self.pick(place) else { return };
                for claim in office.claim(&[id]) {
                    let waited = claim.row.queued_at < office.now.plus_ms(-10_000);
                    let barred = claim.recipients.iter().any(|to| {
                        let key = (office.tenant, to.hash);
                        office.state.suppressions.contains_key(&key)
                    });
                    assert!(!(barred && waited), "left although nobody writes to them");
                    self.claimed(claim);
                }
            }
            Step::Record(place, answer) => self.record(office, place, answer),
            Step::Expire(place, former) => {
                let Some(id) = self.pick(place) else { return };
                let expire = ExpireClaims {
                    sends: vec![office.named(id)],
                    claimed_before: office.now.plus_ms(-300_000),
                    only_process: former.then_some(99),
                };
                office
                    .decide(&Command::ExpireClaims(expire))
                    .expect("decided");
            }
            Step::Cancel(place) => {
                let Some(message) = self.pick(place) else {
                    return;
                };
                let cancel = Command::CancelSend {
                    tenant: office.tenant,
                    identity: office.identity,
                    message,
                };
                let _refused = office.decide(&cancel);
            }
            Step::Resolve(place, sent) => {
                let Some(message) = self.pick(place) else {
                    return;
                };
                let resolve = ResolveSend {
                    tenant: office.tenant,
                    identity: office.identity,
                    message,
                    sent,
                };
                let _refused = office.decide(&Command::ResolveSend(resolve));
            }
            Step::Report(place, who, event) => {
                let Some(message) = self.pick(place) else {
                    return;
                };
                let report = DeliveryReport {
                    reporter: Reporter::Transport,
                    tenant: office.tenant,
                    subject: DeliverySubject::Message(message),
                    recipient: who.map(|who| PEOPLE[who].to_owned()),
                    event: EVENTS[event],
                    smtp_code: None,
                    enhanced_code: None,
                    reason: None,
                };
                office
                    .decide(&Command::RecordDeliveries(vec![report]))
                    .expect("decided");
            }
            Step::Pass(ms) => office.pass_ms(ms),
        }
    }

    fn claimed(&mut self, claim: ClaimedSend) {
        assert!(!claim.recipients.is_empty());
        for recipient in &claim.recipients {
            assert_eq!(recipient.status, DeliveryStatus::Queued);
            let first = self
                .handed_over
                .insert((claim.row.message_id, recipient.address.clone()));
            assert!(first, "{} may have it already", recipient.address);
        }
        self.claims.push(claim);
    }

    fn record(&mut self, office: &mut Office, place: usize, answer: Answer) {
        if self.claims.is_empty() {
            return;
        }
        let claim = self.claims[place % self.claims.len()].clone();
        let message = claim.row.message_id;
        let submission = match answer.clone() {
            Answer::Each(each) => Submission::Answered {
                provider_message_id: None,
                recipients: each
                    .into_iter()
                    .map(|(who, verdict)| RecipientOutcome {
                        address: PEOPLE[who].to_owned(),
                        verdict,
                        smtp_code: None,
                        enhanced_code: None,
                        reason: None,
                    })
                    .collect(),
            },
            Answer::NotHandedOver => Submission::NotHandedOver {
                reason: "busy".to_owned(),
                smtp_code: None,
                retry_after_ms: None,
            },
            Answer::NotTried => Submission::NotTried,
            Answer::Uncertain => Submission::Uncertain {
                reason: "transport_timeout".to_owned(),
            },
        };
        let live = office.send(message).state == SendState::Claimed
            && office.send(message).claim == claim.row.claim;
        let outcome = SendOutcome {
            send: office.named(message),
            token: claim.row.claim.expect("claimed").token,
            submission,
        };
        match office.decide(&Command::RecordOutcomes(vec![outcome])) {
            Ok(Outcome::SendsUpdated(_)) => {}
            other => panic!("{other:?}"),
        }
        if !live {
            return;
        }
        for recipient in &claim.recipients {
            let put_off = match &answer {
                Answer::NotHandedOver | Answer::NotTried => true,
                Answer::Uncertain => false,
                Answer::Each(each) => each
                    .iter()
                    .find(|(who, _)| PEOPLE[*who] == recipient.address)
                    .is_some_and(|(_, verdict)| *verdict == Verdict::Retry),
            };
            if put_off {
                self.handed_over
                    .remove(&(message, recipient.address.clone()));
            }
        }
    }

    fn check(&mut self, office: &Office) {
        let (mut sent, mut held) = (0, 0);
        for id in &self.sends {
            let send = office.send(*id);
            let deliveries = office.deliveries(*id);
            let statuses = || deliveries.iter().map(|delivery| delivery.status);
            let canceled = send.state == SendState::Canceled;
            assert_eq!(office.status(*id), roll_up(canceled, statuses()));
            let queued = statuses().any(|status| status == DeliveryStatus::Queued);
            let uncertain = statuses().any(|status| status == DeliveryStatus::Uncertain);
            match send.state {
                SendState::Queued => assert!(queued && send.next_attempt_at.is_some()),
                SendState::Claimed => {
                    assert!(send.claim.is_some() && send.next_attempt_at.is_none())
                }
                SendState::Done | SendState::Canceled => {
                    assert!(!queued && !uncertain && send.next_attempt_at.is_none());
                }
                SendState::Uncertain => {
                    assert!(uncertain && !queued && send.next_attempt_at.is_none())
                }
            }
            for delivery in deliveries {
                let before = self.seen.insert((*id, delivery.seq), delivery.status);
                if delivery.status == DeliveryStatus::Queued {
                    held += 1;
                    assert!(before.is_none_or(|before| before == DeliveryStatus::Queued));
                }
                sent += u64::from(!matches!(
                    delivery.status,
                    DeliveryStatus::Queued
                        | DeliveryStatus::Suppressed
                        | DeliveryStatus::Rejected
                        | DeliveryStatus::Failed
                ));
            }
        }
        assert_eq!(office.usage(), (sent, held));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nobody_is_handed_over_twice_and_every_sum_adds_up(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let mut office = Office::new();
        let mut watch = Watch::default();
        watch.run(&mut office, Step::Queue(2));
        for step in steps {
            watch.run(&mut office, step);
            watch.check(&office);
        }
    }

    #[test]
    fn of_calls_with_few_keys_each_key_sends_one_mail(
        calls in prop::collection::vec((0..3usize, 0..2usize), 1..24)
    ) {
        let mut office = Office::new();
        office.set_policy(serde_json::json!({"identity_daily_send_cap": 1000})).expect("set");
        let mut first: BTreeMap<usize, (usize, MessageId)> = BTreeMap::new();
        let samples: Vec<_> = (0..3).map(|_| office.mail(&PEOPLE[..1]).idempotency).collect();
        for (key, body) in calls {
            let mut mail = office.mail(&PEOPLE[..1]);
            mail.idempotency.key = samples[key].key;
            mail.idempotency.fingerprint = samples[body].fingerprint;
            let id = mail.id;
            let known = first.get(&key).copied();
            match (office.queue(mail), known) {
                (Ok(Outcome::Sent(sent)), None) => {
                    prop_assert!(!sent.deduplicated && sent.message_id == id);
                    first.insert(key, (body, id));
                }
                (Ok(Outcome::Sent(sent)), Some((with, original))) => {
                    prop_assert!(sent.deduplicated && with == body);
                    prop_assert_eq!(sent.message_id, original);
                }
                (Err(_), Some((with, _))) => prop_assert!(with != body),
                (answer, known) => prop_assert!(false, "{:?} {:?}", answer, known),
            }
        }
        prop_assert_eq!(office.state.sends.len(), first.len());
    }
}
