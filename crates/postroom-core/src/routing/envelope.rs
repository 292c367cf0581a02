//! What a rule sees: one shape for every delivery, with nulls for what there is not.
//!
//! | path | kind | what it is |
//! |---|---|---|
//! | `event.source` | text | the provider, such as `github` |
//! | `event.kind` | text | `webhook`, `queue` or `mail` |
//! | `event.event_type` | text or null | the provider's name for what happened |
//! | `event.trust_mode` | text | `signed`, `token`, `open`, `queue`, `smtp` or `agent` |
//! | `event.verified` | bool | whether a signature over the payload was checked |
//! | `event.content_type` | text or null | media type of the payload |
//! | `event.size` | int | bytes of the payload |
//! | `event.headers` | map | sanitised headers by lower-case name |
//! | `event.payload` | any or null | the payload when it is JSON |
//! | `mail` | map | `from`, `to` (list), `subject`, `verdict`, `labels` (list), `has_attachment`; nulls unless the delivery carries mail |
//! | `issue` | map or null | for forges: `provider`, `action`, `event_type`, `repo`, `number`, `title`, `url`, `state`, `author`, `sender`, `labels`, `label`, `body_size`, `label_event`, `key` |
//! | `actor` | map | `sender`, `author` (texts or null), `sender_trusted`, `author_trusted`, `trusted` |
//! | `params` | map | the values saved with the rules |
//!
//! Each field of `event` is a variable of its own too: `payload.action` is `event.payload.action`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{actor::TrustedActors, issue};

/// Names of `event` that are variables of their own.
pub(super) const EVENT_FIELDS: &[&str] = &[
    "source",
    "kind",
    "event_type",
    "trust_mode",
    "verified",
    "content_type",
    "size",
    "headers",
    "payload",
];

/// Variables beside those.
pub(super) const ROOTS: &[&str] = &["event", "mail", "issue", "actor", "params"];

/// What is known of a delivery, in plain values.
#[derive(Debug, Clone, Default)]
pub struct Delivered<'a> {
    /// The provider.
    pub source: &'a str,
    /// `webhook`, `queue` or `mail`.
    pub kind: &'a str,
    /// The provider's name for what happened.
    pub event_type: Option<&'a str>,
    /// How far the channel vouches.
    pub trust_mode: &'a str,
    /// Whether a signature over the payload was checked.
    pub verified: bool,
    /// Media type of the payload.
    pub content_type: Option<&'a str>,
    /// Sanitised headers.
    pub headers: Option<&'a BTreeMap<String, String>>,
    /// The payload.
    pub body: &'a [u8],
    /// What the mail says, when the delivery carries one.
    pub mail: Option<MailFacts<'a>>,
    /// What the delivery is about, for actions that happen once; a forge's issue names itself.
    pub subject: Option<&'a str>,
    /// Whose deliveries the source trusts.
    pub trusted_actors: Option<&'a TrustedActors>,
    /// Values saved with the rules.
    pub params: Option<&'a Map<String, Value>>,
}

/// What rules see of a mail.
#[derive(Debug, Clone, Default)]
pub struct MailFacts<'a> {
    /// The sender's address.
    pub from: Option<&'a str>,
    /// The recipients' addresses.
    pub to: &'a [String],
    /// The subject.
    pub subject: Option<&'a str>,
    /// What is known of the sender: pass, fail, softfail, none, unaligned, unverified.
    pub verdict: Option<&'a str>,
    /// Its labels.
    pub labels: &'a [String],
    /// Whether it has attachments.
    pub has_attachment: bool,
}

/// A delivery as rules see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Envelope {
    root: Value,
    #[serde(skip)]
    subject: Option<String>,
}

impl Envelope {
    /// Lays out a delivery. The payload is read as JSON; what is no JSON, or is nested deeper
    /// than 127 levels, is null.
    pub fn of(delivered: &Delivered<'_>) -> Self {
        let payload: Value = serde_json::from_slice(delivered.body).unwrap_or(Value::Null);
        let issue = issue::of(delivered.source, delivered.event_type, &payload);
        let subject = delivered
            .subject
            .or_else(|| issue.get("key").and_then(Value::as_str))
            .map(str::to_owned);
        let (sender, author) = issue::people(delivered.source, &payload);
        let actor = match delivered.trusted_actors {
            Some(trusted) => trusted.actor(sender, author, delivered.verified),
            None => TrustedActors::default().actor(sender, author, delivered.verified),
        };
        let headers: Map<String, Value> = delivered
            .headers
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.to_ascii_lowercase(), Value::from(value.as_str())))
            .collect();
        let root = json!({
            "event": {
                "source": delivered.source,
                "kind": delivered.kind,
                "event_type": delivered.event_type,
                "trust_mode": delivered.trust_mode,
                "verified": delivered.verified,
                "content_type": delivered.content_type,
                "size": delivered.body.len(),
                "headers": headers,
                "payload": null,
            },
            "mail": mail(delivered.mail.as_ref()),
            "issue": issue,
            "actor": actor,
            "params": delivered.params.cloned().unwrap_or_default(),
        });
        let mut envelope = Self { root, subject };
        // Moved in, for it may be large.
        if let Some(place) = envelope.root.pointer_mut("/event/payload") {
            *place = payload;
        }
        envelope
    }

    /// The envelope as JSON.
    pub fn json(&self) -> &Value {
        &self.root
    }

    /// What the delivery is about, when something names it.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// The value of a variable.
    pub(super) fn variable(&self, name: &str) -> &Value {
        static NULL: Value = Value::Null;
        let place = match ROOTS.contains(&name) {
            true => self.root.get(name),
            false => self.root.get("event").and_then(|event| event.get(name)),
        };
        place.unwrap_or(&NULL)
    }
}

fn mail(facts: Option<&MailFacts<'_>>) -> Value {
    let Some(mail) = facts else {
        return json!({
            "from": null, "to": null, "subject": null, "verdict": null, "labels": null,
            "has_attachment": null,
        });
    };
    json!({
        "from": mail.from,
        "to": mail.to,
        "subject": mail.subject,
        "verdict": mail.verdict,
        "labels": mail.labels,
        "has_attachment": mail.has_attachment,
    })
}
