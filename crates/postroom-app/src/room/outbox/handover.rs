//! One claimed send on its way: to the mailboxes here, to addresses that play a fate, to the transport.

use bytes::Bytes;
use postroom_core::{
    ClaimedSend, DeliveryReport, DeliveryRow, DeliverySubject, Recipient, RecipientOutcome,
    Reporter, SendRow, Submission, Verdict,
};
use postroom_net::smtp::send::{Envelope, Fate, Fault, Outcome, Submission as Submitted};
use postroom_types::Address;

use super::super::{Arrival, RecipientVerdict, Room, Via};
use crate::transport::{Handover, LATER, Transport, simulator};

/// What came of handing a send over.
pub(super) struct Handed {
    pub(super) submission: Submission,
    /// What is reported of its deliveries afterwards.
    pub(super) reports: Vec<DeliveryReport>,
}

impl Handed {
    pub(super) fn only(submission: Submission) -> Self {
        Self {
            submission,
            reports: Vec::new(),
        }
    }
}

/// One word on an outcome, for the log.
pub(super) fn word(submission: &Submission) -> &'static str {
    match submission {
        Submission::Answered { .. } => "answered",
        Submission::NotHandedOver { .. } => "not_handed_over",
        Submission::NotTried => "not_tried",
        Submission::Uncertain { .. } => "uncertain",
    }
}

/// Hands a claimed send over, once.
pub(super) async fn hand_over(room: &Room, claimed: &ClaimedSend, raw: Bytes) -> Handed {
    let mut way = Ways::default();
    let sandbox = is_kept(room, &claimed.row);
    let may_leave = may_leave(room, &claimed.row);
    for delivery in &claimed.recipients {
        let Ok(address) = Address::parse(&delivery.address) else {
            way.outcomes.push(refused(delivery, "address_invalid"));
            continue;
        };
        if simulator::plays(&address) {
            way.play(claimed, delivery, &address);
        } else if sandbox {
            way.keep(room, delivery, &address).await;
        } else if let Some(here) = room.stays_here(claimed.row.tenant_id, &address).await {
            way.here.push((delivery, here));
        } else if !may_leave {
            way.outcomes
                .push(refused(delivery, "sender_domain_unavailable"));
        } else {
            way.outside.push(delivery);
        }
    }
    way.deliver_here(room, claimed, &raw).await;
    let submission = way.leave(room, claimed, raw).await;
    Handed {
        submission,
        reports: way.reports,
    }
}

/// Whether a send stays here.
fn is_kept(room: &Room, row: &SendRow) -> bool {
    let sandbox = Transport::Sandbox.name();
    row.transport == sandbox || (row.transport == LATER && room.transport.name() == sandbox)
}

/// Whether a send that was queued where nobody knew the way may leave by it: the call could not be refused.
fn may_leave(room: &Room, row: &SendRow) -> bool {
    let (_, domain) = row.envelope_from.rsplit_once('@').unwrap_or_default();
    row.transport != LATER || room.transport.takes_from(domain)
}

/// Where the recipients of one send are.
#[derive(Default)]
struct Ways<'a> {
    /// What is known already.
    outcomes: Vec<RecipientOutcome>,
    /// What addresses that play a fate report later.
    reports: Vec<DeliveryReport>,
    /// Mailboxes here.
    here: Vec<(&'a DeliveryRow, Recipient)>,
    /// Everybody else.
    outside: Vec<&'a DeliveryRow>,
}

impl<'a> Ways<'a> {
    /// Plays the fate of an address.
    fn play(&mut self, claimed: &ClaimedSend, delivery: &DeliveryRow, address: &Address) {
        let play = simulator::play(address);
        self.outcomes.push(RecipientOutcome {
            address: delivery.address.clone(),
            verdict: play.verdict,
            smtp_code: play.smtp_code,
            enhanced_code: play.enhanced_code.map(str::to_owned),
            reason: play.reason.map(str::to_owned),
        });
        if let Some(event) = play.later {
            let (smtp_code, enhanced_code) = simulator::codes(event);
            self.reports.push(DeliveryReport {
                reporter: Reporter::Transport,
                tenant: claimed.row.tenant_id,
                subject: DeliverySubject::Message(claimed.row.message_id),
                recipient: Some(delivery.address.clone()),
                event,
                smtp_code,
                enhanced_code: enhanced_code.map(str::to_owned),
                reason: Some("simulated".to_owned()),
            });
        }
    }

    /// Nothing leaves the sandbox: a mailbox here gets its mail, everybody else's copy is kept.
    async fn keep(&mut self, room: &Room, delivery: &'a DeliveryRow, address: &Address) {
        match room.recipient(address).await {
            RecipientVerdict::Accept(recipient) => self.here.push((delivery, recipient)),
            RecipientVerdict::Temporary => self.outcomes.push(RecipientOutcome {
                verdict: Verdict::Retry,
                smtp_code: Some(451),
                enhanced_code: Some("4.3.0".to_owned()),
                ..outcome(delivery, Verdict::Retry)
            }),
            RecipientVerdict::Unknown => {
                let kept = RecipientOutcome {
                    reason: Some("kept in the sandbox".to_owned()),
                    ..outcome(delivery, Verdict::Submitted)
                };
                self.outcomes.push(kept);
            }
            RecipientVerdict::Retired => self.outcomes.push(coded(delivery, 550, "5.1.6")),
            RecipientVerdict::Disabled => self.outcomes.push(coded(delivery, 550, "5.2.1")),
        }
    }

    /// Puts the mail into the mailboxes here by the whole way in.
    async fn deliver_here(&mut self, room: &Room, claimed: &ClaimedSend, raw: &Bytes) {
        if self.here.is_empty() {
            return;
        }
        // A mailbox that is named by two of its addresses gets one copy.
        let mut recipients: Vec<Recipient> = Vec::new();
        for (_, recipient) in &self.here {
            if !recipients
                .iter()
                .any(|known| known.identity == recipient.identity)
            {
                recipients.push(recipient.clone());
            }
        }
        let arrival = Arrival {
            raw: raw.to_vec(),
            recipients,
            via: Via::Loopback,
            source_ip: None,
            mail_from: Some(claimed.row.envelope_from.clone()),
            headers: std::collections::BTreeMap::new(),
        };
        let verdict = match room.receive(arrival).await {
            Ok(_) => Verdict::Delivered,
            Err(error) => {
                tracing::warn!(%error, "a mailbox here could not take a mail; it is tried again");
                Verdict::Retry
            }
        };
        for (delivery, _) in std::mem::take(&mut self.here) {
            self.outcomes.push(outcome(delivery, verdict));
        }
    }

    /// Hands the rest to the transport, and tells the whole.
    async fn leave(&mut self, room: &Room, claimed: &ClaimedSend, raw: Bytes) -> Submission {
        let mut provider_message_id = None;
        if !self.outside.is_empty() {
            let outside = std::mem::take(&mut self.outside);
            let addresses = outside
                .iter()
                .map(|delivery| delivery.address.clone())
                .collect();
            let submitted = match Envelope::new(claimed.row.envelope_from.clone(), addresses) {
                Ok(envelope) => {
                    let handover = Handover {
                        row: &claimed.row,
                        envelope: &envelope,
                        raw,
                    };
                    room.transport.submit(room, handover).await
                }
                Err(_) => Submitted::not_handed_over(outside.len(), Fault::Malformed),
            };
            if let Some(reason) = not_tried(&submitted).filter(|_| self.outcomes.is_empty()) {
                return Submission::NotHandedOver {
                    reason: reason.to_owned(),
                    smtp_code: first_code(&submitted).filter(|_| room.transport.speaks_smtp()),
                    retry_after_ms: None,
                };
            }
            let smtp = room.transport.speaks_smtp();
            self.outcomes.extend(told(&outside, &submitted, smtp));
            provider_message_id = submitted.provider_message_id;
        }
        Submission::Answered {
            provider_message_id,
            recipients: std::mem::take(&mut self.outcomes),
        }
    }
}

/// Why nothing was handed over to anybody, when it may be tried again for all of them.
fn not_tried(submitted: &Submitted) -> Option<&'static str> {
    let all = submitted
        .recipients
        .iter()
        .all(|outcome| outcome.fate == Fate::Retry && outcome.answer.is_none());
    match submitted.fault {
        Some(fault) if all && !submitted.handed_over => Some(fault.as_str()),
        _ => None,
    }
}

/// Why a provider with an interface of its own refused a mail, before its words.
const PROVIDER_VALIDATION: &str = "provider_validation";

fn first_code(submitted: &Submitted) -> Option<u64> {
    let answers = submitted.recipients.iter().map(|found| &found.answer);
    answers
        .flatten()
        .map(|answer| u64::from(answer.code))
        .next()
}

/// What a transport said, recipient by recipient; `smtp` when its codes are those of SMTP.
fn told<'a>(
    recipients: &'a [&DeliveryRow],
    submitted: &'a Submitted,
    smtp: bool,
) -> impl Iterator<Item = RecipientOutcome> + 'a {
    let fault = submitted.fault.map(|fault| fault.as_str());
    let uncertain = submitted.uncertain_reason();
    recipients
        .iter()
        .zip(&submitted.recipients)
        .map(move |(delivery, said)| RecipientOutcome {
            smtp_code: said
                .answer
                .as_ref()
                .filter(|_| smtp)
                .map(|answer| u64::from(answer.code)),
            enhanced_code: said
                .answer
                .as_ref()
                .and_then(|answer| answer.enhanced.clone()),
            reason: reason(said, fault, uncertain).map(|reason| {
                match said.fate == Fate::Refused && said.answer.is_some() && !smtp {
                    true => format!("{PROVIDER_VALIDATION}: {reason}"),
                    false => reason,
                }
            }),
            ..outcome(delivery, verdict(said.fate))
        })
}

fn reason(said: &Outcome, fault: Option<&str>, uncertain: Option<&str>) -> Option<String> {
    match said.fate {
        Fate::Accepted => None,
        Fate::Uncertain => uncertain.map(str::to_owned),
        Fate::Refused | Fate::Retry => match &said.answer {
            Some(answer) => Some(answer.text.expose().to_owned()),
            None => fault.map(str::to_owned),
        },
    }
}

fn verdict(fate: Fate) -> Verdict {
    match fate {
        Fate::Accepted => Verdict::Submitted,
        Fate::Refused => Verdict::Rejected,
        Fate::Retry => Verdict::Retry,
        Fate::Uncertain => Verdict::Uncertain,
    }
}

fn outcome(delivery: &DeliveryRow, verdict: Verdict) -> RecipientOutcome {
    RecipientOutcome {
        address: delivery.address.clone(),
        verdict,
        smtp_code: None,
        enhanced_code: None,
        reason: None,
    }
}

fn coded(delivery: &DeliveryRow, code: u64, enhanced: &str) -> RecipientOutcome {
    RecipientOutcome {
        smtp_code: Some(code),
        enhanced_code: Some(enhanced.to_owned()),
        ..outcome(delivery, Verdict::Rejected)
    }
}

fn refused(delivery: &DeliveryRow, reason: &str) -> RecipientOutcome {
    RecipientOutcome {
        reason: Some(reason.to_owned()),
        ..outcome(delivery, Verdict::Rejected)
    }
}
