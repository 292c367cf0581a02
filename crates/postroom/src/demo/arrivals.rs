//! What providers deliver to the made-up company: sources, rules, and deliveries to be signed.
//!
//! The bodies are the same each time but for their dates. They are signed when they are sent, with
//! the secrets of the running demo, and go through the same door as any delivery.

mod bodies;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use postroom_types::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::Mailbox;

/// A way in of the demo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The form on the company's web site, any sender with an HMAC.
    Form,
    /// Card payments.
    Stripe,
    /// Mail that Postmark takes in: a token, nothing signed.
    Postmark,
    /// The web site's repository.
    GitHub,
    /// The team's chat.
    Slack,
    /// What became of mail that was sent.
    Resend,
    /// Connected, and still without its secret.
    Linear,
}

impl Way {
    /// All of them, in the order in which they are made.
    pub(crate) const ALL: [Self; 7] = [
        Self::Form,
        Self::Stripe,
        Self::Postmark,
        Self::GitHub,
        Self::Slack,
        Self::Resend,
        Self::Linear,
    ];

    /// The provider's name.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::Form => "generic",
            Self::Stripe => "stripe",
            Self::Postmark => "postmark",
            Self::GitHub => "github",
            Self::Slack => "slack",
            Self::Resend => "resend",
            Self::Linear => "linear",
        }
    }

    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Form => "Booking form of the web site",
            Self::Stripe => "Card payments",
            Self::Postmark => "Mail by Postmark",
            Self::GitHub => "Repository of the web site",
            Self::Slack => "Team chat",
            Self::Resend => "Fate of sent mail",
            Self::Linear => "Roadmap, not connected yet",
        }
    }

    /// The queue for what no rule sends elsewhere.
    pub(crate) fn queue(self) -> &'static str {
        match self {
            Self::Form => "enquiries",
            Self::Stripe => "payments",
            Self::Postmark => "inbox",
            Self::GitHub | Self::Linear => "code",
            Self::Slack => "chat",
            Self::Resend => "bounces",
        }
    }

    /// Whose it is; the whole workspace's without one. The first three are the first agent's.
    pub(crate) fn mailbox(self) -> Option<Mailbox> {
        match self {
            Self::Form | Self::Stripe | Self::Postmark => Some(Mailbox::Bookings),
            _ => None,
        }
    }

    /// A secret of the form that its provider issues, out of random bytes; none where we make it.
    pub(crate) fn issued_secret(self, random: &[u8; 24]) -> Option<String> {
        match self {
            Self::Stripe | Self::Resend => Some(format!("whsec_{}", STANDARD.encode(random))),
            Self::Slack => Some(random.iter().map(|byte| format!("{byte:02x}")).collect()),
            _ => None,
        }
    }

    /// Whose deliveries are trusted.
    pub(crate) fn trusted(self) -> Option<Value> {
        (self == Self::GitHub)
            .then(|| json!({"logins": ["ada-lindqvist", "mia-tarn", "site-updates[bot]"]}))
    }

    /// Its rules.
    pub(crate) fn rules(self) -> Option<Value> {
        let rules = match self {
            Self::GitHub => json!([
                {"id": "ping", "name": "The first call", "expr": "event_type == 'ping'", "action": {"drop": true}},
                {"id": "bots", "name": "What programs do", "expr": "actor.sender != null && actor.sender.endsWith('[bot]')",
                 "action": {"drop": true}},
                {"id": "bugs", "name": "Bugs first", "expr": "event_type == 'issues' && 'bug' in issue.labels",
                 "action": {"queue": "code", "priority": 20, "once": true, "tags": ["bug"]}},
            ]),
            Self::Stripe => json!([
                {"id": "paid", "name": "Nothing to do", "expr": "event_type == 'payment_intent.succeeded'", "action": {"drop": true}},
                {"id": "disputes", "name": "Disputes have a deadline", "expr": "event_type.startsWith('charge.dispute.')",
                 "action": {"queue": "payments", "priority": 50, "tags": ["dispute"]}},
                {"id": "refunds", "name": "Large refunds are for a person",
                 "expr": "event_type == 'charge.refunded' && payload.data.object.amount_refunded >= 50000",
                 "action": {"quarantine": true}},
            ]),
            Self::Resend => json!([
                {"id": "fine", "name": "It arrived", "expr": "event_type == 'email.delivered'", "action": {"drop": true}},
                {"id": "hard", "name": "An address that is gone", "expr": "payload.data.bounce.type == 'Permanent'",
                 "action": {"queue": "bounces", "priority": 5}},
            ]),
            _ => return None,
        };
        Some(rules)
    }

    /// What it delivers, oldest first.
    pub(crate) fn deliveries(self, now: Timestamp) -> Vec<Delivery> {
        match self {
            Self::Form => bodies::form(now),
            Self::Stripe => bodies::stripe(now),
            Self::Postmark => bodies::postmark(now),
            Self::GitHub => bodies::github(),
            Self::Slack => bodies::slack(now),
            Self::Resend => bodies::resend(now),
            Self::Linear => Vec::new(),
        }
    }
}

/// One delivery before it is signed.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    id: String,
    kind: &'static str,
    body: String,
    /// Somebody else's secret signs it: it is refused.
    forged: bool,
}

impl Delivery {
    fn new(id: impl Into<String>, kind: &'static str, body: &Value) -> Self {
        Self {
            id: id.into(),
            kind,
            body: body.to_string(),
            forged: false,
        }
    }

    /// Whether it is meant to be refused.
    pub(crate) fn is_forged(&self) -> bool {
        self.forged
    }

    /// The body.
    pub(crate) fn body(&self) -> &str {
        &self.body
    }

    /// The headers with which the provider sends it at `now`.
    pub(crate) fn headers(&self, way: Way, secret: &str, now: Timestamp) -> Vec<(String, Vec<u8>)> {
        let secret = if self.forged {
            "somebody else's"
        } else {
            secret
        };
        let seconds = now.ms().div_euclid(1_000);
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", "Larkspur-Demo/1".to_owned()),
        ];
        match way {
            Way::Form => headers.extend([
                ("x-event-type", self.kind.to_owned()),
                ("x-delivery-id", self.id.clone()),
                ("x-signature", hex(&mac(secret.as_bytes(), &self.body))),
            ]),
            Way::GitHub => headers.extend([
                ("x-github-event", self.kind.to_owned()),
                ("x-github-delivery", self.id.clone()),
                (
                    "x-hub-signature-256",
                    format!("sha256={}", hex(&mac(secret.as_bytes(), &self.body))),
                ),
            ]),
            Way::Stripe => {
                let signed = format!("{seconds}.{}", self.body);
                let signature = hex(&mac(secret.as_bytes(), &signed));
                headers.push(("stripe-signature", format!("t={seconds},v1={signature}")));
            }
            Way::Slack => {
                let signed = format!("v0:{seconds}:{}", self.body);
                let signature = hex(&mac(secret.as_bytes(), &signed));
                headers.extend([
                    ("x-slack-request-timestamp", seconds.to_string()),
                    ("x-slack-signature", format!("v0={signature}")),
                ]);
            }
            Way::Resend => {
                let key = secret.strip_prefix("whsec_").unwrap_or(secret);
                let key = STANDARD.decode(key).unwrap_or_default();
                let signed = format!("{}.{seconds}.{}", self.id, self.body);
                headers.extend([
                    ("svix-id", self.id.clone()),
                    ("svix-timestamp", seconds.to_string()),
                    (
                        "svix-signature",
                        format!("v1,{}", STANDARD.encode(mac(&key, &signed))),
                    ),
                ]);
            }
            Way::Postmark => headers.push((
                "authorization",
                format!("Basic {}", STANDARD.encode(secret)),
            )),
            Way::Linear => {}
        }
        headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into_bytes()))
            .collect()
    }
}

/// HMAC-SHA256.
fn mac(key: &[u8], message: &str) -> Vec<u8> {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_webhook::{Candidate, Options, Received, Request, provider, receive};

    fn noon() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().expect("valid")
    }

    #[test]
    fn every_delivery_is_accepted_by_its_provider_unless_it_is_forged() {
        for way in Way::ALL {
            let row = provider::find(way.provider()).expect("a row");
            let secret = way
                .issued_secret(&[7; 24])
                .unwrap_or_else(|| "postroom:a-secret-of-the-demo".to_owned());
            row.check_secret(&secret)
                .expect("a secret of this provider");
            for delivery in way.deliveries(noon()) {
                let headers = delivery.headers(way, &secret, noon());
                let request = Request {
                    method: "POST",
                    url: "http://127.0.0.1:8025/in/x",
                    headers: &headers,
                    body: delivery.body().to_owned().into(),
                };
                let options = Options {
                    now: noon(),
                    ..Options::default()
                };
                let candidates = [Candidate::new("current", secret.as_bytes())];
                match receive(row, &candidates, &request, &options) {
                    Ok(Received::Delivery(_)) => assert!(!delivery.is_forged()),
                    Ok(Received::Handshake(_)) => assert_eq!(way, Way::Slack),
                    Err(rejection) => assert!(delivery.is_forged(), "{way:?}: {rejection}"),
                }
            }
        }
    }

    #[test]
    fn deliveries_are_the_same_each_time() {
        for way in Way::ALL {
            let bodies = |_: u8| -> Vec<String> {
                let deliveries = way.deliveries(noon());
                deliveries.iter().map(|one| one.body().to_owned()).collect()
            };
            assert_eq!(bodies(0), bodies(1));
        }
    }

    #[test]
    fn nobody_is_named_whose_domain_could_be_somebodys() {
        for way in Way::ALL {
            for delivery in way.deliveries(noon()) {
                let body = delivery.body().to_lowercase();
                let words = body.split(|c: char| !(c.is_alphanumeric() || "@.-_".contains(c)));
                for (_, domain) in words.filter_map(|word| word.split_once('@')) {
                    assert!(
                        domain.is_empty() || !domain.contains('.') || domain.ends_with(".example"),
                        "{domain}"
                    );
                }
            }
        }
    }
}
