//! What rules sending, as callers see it.

use postroom_core::{AddressHash, ListEntryRow, SuppressionRow};
use postroom_types::{SuppressionId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// What a tenant's mailboxes may send.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Policy {
    /// Recipients that one mailbox writes to per day.
    pub identity_daily_send_cap: u64,
    /// Recipients that the tenant writes to per day.
    pub tenant_daily_send_cap: u64,
    /// Recipients of one mail.
    pub max_recipients: u64,
    /// Whether only addresses on the allow list are written to.
    pub send_allowlist_only: bool,
    /// What becomes of attachments that are too large.
    #[schemars(extend("enum" = ["refuse"]))]
    pub large_attachments: String,
    /// How mails say that a program wrote them.
    pub ai_disclosure: Disclosure,
    /// Automatic answers.
    pub auto_reply: AutoReply,
}

/// How mails say that a program wrote them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Disclosure {
    /// Not at all, in the last line, or in a header field.
    #[schemars(extend("enum" = ["none", "footer", "header"]))]
    pub mode: String,
    /// The words of the footer; ours when empty.
    pub text: String,
}

/// Automatic answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AutoReply {
    /// Whether there may be any.
    pub allowed: bool,
    /// How many in one thread since the last mail that somebody decided on.
    pub max_automatic_exchanges: u64,
}

/// An address that is not written to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Suppression {
    /// Names the entry where nobody knows the address any more.
    pub id: SuppressionId,
    /// The address, most of it masked: only a keyed hash of it is kept.
    pub hint: String,
    /// Why.
    #[schemars(extend("enum" = ["hard_bounce", "complaint", "unsubscribe", "manual", "provider"]))]
    pub reason: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// An entry of the allow and block lists.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ListEntry {
    /// Whether it is about mail from here or to here.
    #[schemars(extend("enum" = ["send", "receive"]))]
    pub direction: String,
    /// What it does; block beats allow.
    #[schemars(extend("enum" = ["allow", "block"]))]
    pub kind: String,
    /// An address, or a domain as `@example.com`.
    pub entry: String,
    /// Since when.
    pub created_at: Timestamp,
}

impl From<postroom_core::Policy> for Policy {
    fn from(policy: postroom_core::Policy) -> Self {
        Self {
            identity_daily_send_cap: policy.identity_daily_send_cap,
            tenant_daily_send_cap: policy.tenant_daily_send_cap,
            max_recipients: policy.max_recipients,
            send_allowlist_only: policy.send_allowlist_only,
            large_attachments: policy.large_attachments.as_str().to_owned(),
            ai_disclosure: Disclosure {
                mode: policy.ai_disclosure.mode.as_str().to_owned(),
                text: policy.ai_disclosure.text,
            },
            auto_reply: AutoReply {
                allowed: policy.auto_reply.allowed,
                max_automatic_exchanges: policy.auto_reply.max_automatic_exchanges,
            },
        }
    }
}

/// The id of a suppressed address is the keyed hash that is kept of it: it tells nobody the address.
fn suppression_id(hash: AddressHash) -> SuppressionId {
    let bits = u128::from_be_bytes(hash);
    let ms = u64::try_from(bits >> 80).unwrap_or_default();
    SuppressionId::from_parts(ms, bits)
}

/// The hash that an id is.
pub(crate) fn suppressed_hash(id: SuppressionId) -> AddressHash {
    id.bits().to_be_bytes()
}

impl From<SuppressionRow> for Suppression {
    fn from(row: SuppressionRow) -> Self {
        Self {
            id: suppression_id(row.hash),
            hint: row.hint,
            reason: row.reason.as_str().to_owned(),
            created_at: row.at,
        }
    }
}

impl From<ListEntryRow> for ListEntry {
    fn from(row: ListEntryRow) -> Self {
        Self {
            direction: row.direction.as_str().to_owned(),
            kind: row.kind.as_str().to_owned(),
            entry: row.entry,
            created_at: row.at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_whole_hash() {
        for hash in [[0; 16], [0xff; 16], [7; 16], *b"0123456789abcdef"] {
            let id = suppression_id(hash);
            assert_eq!(suppressed_hash(id), hash);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }
}
