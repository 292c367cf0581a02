//! A request verified and judged: what of it the writer is asked to store. Pure work without waits.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use postroom_core::{
    Arrive, Disposition, Family, QuarantineReason, RawMail, Routing, SourceRow, TrustMode, Work,
    routing::{Delivered, Envelope, Judgement, MailFacts},
};
use postroom_types::Timestamp;
use postroom_webhook::{
    Candidate, Delivery, Options, Reason, Received, Rejection, Verified,
    inbound::{self, InboundMessage},
};
use serde_json::json;

use super::{Judged, WebhookRequest, received, title, unpack::Body};
use crate::source::{Prepared, ReadyRules, names_actors};

/// Everything that a request is judged by.
pub(super) struct Judging {
    pub(super) row: SourceRow,
    pub(super) prepared: Arc<Prepared>,
    pub(super) request: Arc<WebhookRequest>,
    /// What may have been signed, best first.
    pub(super) bodies: Vec<Body>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) options: Options,
}

impl Judging {
    /// Verifies, and for a delivery decides where it goes.
    pub(super) fn run(self) -> Result<Judged, Rejection> {
        let (received, inflated) = self.verified()?;
        match received {
            Received::Handshake(handshake) => Ok(Judged::Handshake(handshake)),
            Received::Delivery(delivery) => {
                Ok(Judged::Arrivals(self.arrivals(&delivery, inflated)))
            }
        }
    }

    /// The first body that its signature fits.
    fn verified(&self) -> Result<(Received, bool), Rejection> {
        let mut refusal = None;
        for body in &self.bodies {
            let provider = self.prepared.provider;
            match received(
                provider,
                &self.candidates,
                &self.request,
                &body.bytes,
                &self.options,
            ) {
                Ok(received) => return Ok((received, body.inflated)),
                Err(rejection) => {
                    let other_body_may_fit = matches!(
                        rejection.reason,
                        Reason::BadSignature | Reason::Malformed | Reason::MissingSignature
                    );
                    let rejection = refusal.get_or_insert(rejection);
                    if !other_body_may_fit {
                        return Err(rejection.clone());
                    }
                }
            }
        }
        Err(refusal.unwrap_or_else(super::awaiting_secret))
    }

    /// One arrival, or one for each event of a body that carries several.
    fn arrivals(&self, delivery: &Verified<Delivery>, inflated: bool) -> Vec<Arrive> {
        let mut headers = delivery.headers.clone();
        if inflated {
            // They speak of the compressed body, and that is not what is kept.
            headers.remove("content-encoding");
            headers.remove("content-length");
        }
        if delivery.parts.is_empty() {
            let mail = mail_of(delivery);
            let item = Item {
                external_id: &delivery.external_id,
                event_type: delivery.event_type.as_deref(),
                action: delivery.action.as_deref(),
                occurred_at: delivery.occurred_at,
                body: delivery.body.clone(),
                mail: mail.as_ref(),
            };
            return vec![self.arrival(delivery, &headers, &item)];
        }
        let parts = delivery.parts.iter();
        parts
            .map(|part| {
                let item = Item {
                    external_id: &part.external_id,
                    event_type: part.event_type.as_deref(),
                    action: None,
                    occurred_at: part.occurred_at,
                    body: Bytes::copy_from_slice(part.payload.as_bytes()),
                    mail: None,
                };
                self.arrival(delivery, &headers, &item)
            })
            .collect()
    }

    fn arrival(
        &self,
        delivery: &Delivery,
        headers: &BTreeMap<String, String>,
        item: &Item<'_>,
    ) -> Arrive {
        let trust_mode = match delivery.trust_mode {
            _ if self.row.trust_mode == TrustMode::Agent => TrustMode::Agent,
            postroom_webhook::TrustMode::Signed => TrustMode::Signed,
            postroom_webhook::TrustMode::Token => TrustMode::Token,
        };
        let external_key = match item.mail {
            Some(Mail::Read(message)) => event_key(message),
            _ => item.external_id.to_owned(),
        };
        let content_type = delivery.content_type.as_deref();
        let facts = Facts {
            trust_mode: trust_mode.as_str(),
            verified: delivery.verified,
            content_type,
            headers,
            external_key: &external_key,
        };
        Arrive {
            tenant: self.row.tenant_id,
            source: self.row.id,
            source_version: self.row.version,
            routing: self.routing(item, &facts),
            raw: RawMail::new(item.body.to_vec()),
            family: Family::Webhook,
            event_type: item.event_type.map(str::to_owned),
            trust_mode,
            verified: delivery.verified,
            verify_detail: Some(delivery.verify_detail.clone()),
            content_type: content_type.map(str::to_owned),
            headers: headers.clone(),
            source_ip: self.request.source_ip.clone(),
            occurred_at: item.occurred_at,
            carries_mail: item.mail.is_some(),
            external_key,
        }
    }

    /// Trusted actors first, then the rules, then the source's own queue.
    fn routing(&self, item: &Item<'_>, facts: &Facts<'_>) -> Routing {
        let prepared = &self.prepared;
        let provider = prepared.provider.name;
        let looks_inside =
            prepared.rules.is_some() || prepared.trusted.is_some() || names_actors(provider);
        let envelope = looks_inside.then(|| self.envelope(item, facts));
        let work = Work {
            kind: item.event_type.map(kind),
            title: title::of(&self.row.name, prepared.provider, item, envelope.as_ref()),
            idempotency_key: Some(format!("{}:{}", self.row.id, facts.external_key)),
            subject_key: item.mail.and_then(Mail::thread),
            ..Work::default()
        };
        let untrusted = |envelope: &&Envelope| {
            envelope.json().pointer("/actor/trusted") != Some(&serde_json::Value::Bool(true))
        };
        let gated = names_actors(provider) && prepared.trusted.is_some();
        if gated
            && envelope
                .as_ref()
                .is_none_or(|envelope| untrusted(&envelope))
        {
            let trace = json!({"stage": "trusted_actors", "cause": "untrusted_actor", "action": {"quarantine": true}});
            return held_back(work, QuarantineReason::UntrustedActor, trace.to_string());
        }
        by_rules(prepared.rules.as_ref(), envelope.as_ref(), work)
    }

    fn envelope(&self, item: &Item<'_>, facts: &Facts<'_>) -> Envelope {
        let params = self.prepared.rules.as_ref().map(|ready| &ready.params);
        let delivered = Delivered {
            source: self.prepared.provider.name,
            kind: if item.mail.is_some() {
                "mail"
            } else {
                "webhook"
            },
            event_type: item.event_type,
            trust_mode: facts.trust_mode,
            verified: facts.verified,
            content_type: facts.content_type,
            headers: Some(facts.headers),
            body: &item.body,
            mail: match item.mail {
                Some(Mail::Read(message)) => Some(mail_facts(message)),
                _ => None,
            },
            subject: None,
            trusted_actors: self.prepared.trusted.as_ref(),
            params,
        };
        Envelope::of(&delivered)
    }
}

/// One event of a request.
pub(super) struct Item<'a> {
    pub(super) external_id: &'a str,
    pub(super) event_type: Option<&'a str>,
    pub(super) action: Option<&'a str>,
    pub(super) occurred_at: Option<Timestamp>,
    pub(super) body: Bytes,
    pub(super) mail: Option<&'a Mail>,
}

/// What holds for every event of a request, and the key of this one.
struct Facts<'a> {
    trust_mode: &'a str,
    verified: bool,
    content_type: Option<&'a str>,
    headers: &'a BTreeMap<String, String>,
    external_key: &'a str,
}

/// The mail that a delivery carries.
pub(super) enum Mail {
    /// Read.
    Read(Box<InboundMessage>),
    /// Verified, and not in the provider's documented form; its payload is mail all the same.
    Unreadable,
}

impl Mail {
    /// What tells a thread apart as far as the headers say: the oldest message that it refers to,
    /// else itself.
    fn thread(&self) -> Option<String> {
        let Self::Read(message) = self else {
            return None;
        };
        let header = |name: &str| {
            let mut headers = message.headers.iter();
            let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
            let first = found.and_then(|(_, value)| value.split_whitespace().next());
            first.map(|id| id.chars().take(256).collect::<String>())
        };
        let root = header("References")
            .or_else(|| header("In-Reply-To"))
            .or_else(|| header("Message-ID"))?;
        Some(format!("mail-thread:{root}"))
    }
}

fn mail_of(delivery: &Verified<Delivery>) -> Option<Mail> {
    match inbound::source(delivery.provider)?.parse(delivery) {
        Ok(message) => message.map(|message| Mail::Read(Box::new(message))),
        Err(_) => Some(Mail::Unreadable),
    }
}

/// The key that makes one event of several deliveries of a mail, within the bound of ids.
fn event_key(message: &InboundMessage) -> String {
    let key = message.event_key();
    if key.len() <= postroom_types::limit::DELIVERY_ID_BYTES {
        return key;
    }
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(message.id.as_bytes());
    format!("inbound-mail:sha256:{}", hex::encode(digest))
}

fn mail_facts(message: &InboundMessage) -> MailFacts<'_> {
    MailFacts {
        from: Some(&message.from),
        to: if message.received_for.is_empty() {
            &message.to
        } else {
            &message.received_for
        },
        subject: Some(&message.subject),
        verdict: Some("unverified"),
        labels: &[],
        has_attachment: !message.attachments.is_empty(),
    }
}

/// A kind of work is the provider's word for what happened, within its bound.
fn kind(event_type: &str) -> String {
    event_type.chars().take(128).collect()
}

/// The rules in their order, then the source's own queue.
pub(in crate::room) fn by_rules(
    rules: Option<&ReadyRules>,
    envelope: Option<&Envelope>,
    work: Work,
) -> Routing {
    let (Some(ready), Some(envelope)) = (rules, envelope) else {
        let trace = json!({"stage": "default", "cause": "no_match_default"});
        return Routing {
            disposition: Disposition::Routed,
            work: Some(work),
            once: None,
            trace: Some(trace.to_string()),
        };
    };
    match &ready.rules {
        Ok(rules) => judged(rules.evaluate(envelope), work),
        Err(error) => {
            let trace = json!({
                "stage": "rule", "cause": "rule_fault", "action": {"quarantine": true},
                "faults": [{"rule_index": error.rule_index, "cause": "compile_error"}],
            });
            Routing {
                disposition: Disposition::Faulted,
                ..held_back(work, QuarantineReason::RuleFault, trace.to_string())
            }
        }
    }
}

fn held_back(work: Work, reason: QuarantineReason, trace: String) -> Routing {
    Routing {
        disposition: Disposition::Quarantined,
        work: Some(Work {
            quarantine_reason: Some(reason),
            ..work
        }),
        once: None,
        trace: Some(trace),
    }
}

fn judged(judgement: Judgement, work: Work) -> Routing {
    let trace = serde_json::to_string(&judgement.trace).unwrap_or_default();
    match judgement.disposition {
        Disposition::Dropped => Routing {
            disposition: Disposition::Dropped,
            work: None,
            once: None,
            trace: Some(trace),
        },
        Disposition::Quarantined => held_back(work, QuarantineReason::RuleAction, trace),
        Disposition::Faulted => Routing {
            disposition: Disposition::Faulted,
            ..held_back(work, QuarantineReason::RuleFault, trace)
        },
        Disposition::Routed => Routing {
            disposition: Disposition::Routed,
            work: Some(Work {
                queue: judgement.queue,
                priority: judgement.priority,
                tags: judgement.tags,
                ..work
            }),
            once: judgement.once,
            trace: Some(trace),
        },
    }
}
