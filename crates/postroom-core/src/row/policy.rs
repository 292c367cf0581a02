//! A tenant's policy: what is built in, and what the tenant changed of it.

use crate::row::{DisclosureMode, LargeAttachments};
use postroom_types::{TenantId, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};

/// The policy in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Recipients that one mailbox sends to per day.
    pub identity_daily_send_cap: u64,
    /// Recipients that the tenant sends to per day.
    pub tenant_daily_send_cap: u64,
    /// Recipients of one mail.
    pub max_recipients: u64,
    /// Whether only addresses on the allow list are written to.
    pub send_allowlist_only: bool,
    /// What becomes of attachments that are too large.
    pub large_attachments: LargeAttachments,
    /// How mails say that a program wrote them.
    pub ai_disclosure: Disclosure,
    /// Automatic answers.
    pub auto_reply: AutoReply,
}

/// How mails say that a program wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disclosure {
    /// Where.
    pub mode: DisclosureMode,
    /// In which words, for the footer; ours when empty.
    pub text: String,
}

/// Automatic answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoReply {
    /// Whether there may be any.
    pub allowed: bool,
    /// Automatic answers in one thread since the last mail that was none.
    pub max_automatic_exchanges: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            identity_daily_send_cap: 500,
            tenant_daily_send_cap: 5_000,
            max_recipients: 10,
            send_allowlist_only: false,
            large_attachments: LargeAttachments::Refuse,
            ai_disclosure: Disclosure {
                mode: DisclosureMode::None,
                text: String::new(),
            },
            auto_reply: AutoReply {
                allowed: true,
                max_automatic_exchanges: 2,
            },
        }
    }
}

/// What a tenant changed of the built-in policy, or a change of that: in a change, a field that is
/// missing stays, and one that is null goes back to what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyPatch {
    /// See [`Policy::identity_daily_send_cap`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub identity_daily_send_cap: Option<Option<u64>>,
    /// See [`Policy::tenant_daily_send_cap`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub tenant_daily_send_cap: Option<Option<u64>>,
    /// See [`Policy::max_recipients`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub max_recipients: Option<Option<u64>>,
    /// See [`Policy::send_allowlist_only`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub send_allowlist_only: Option<Option<bool>>,
    /// See [`Policy::large_attachments`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub large_attachments: Option<Option<LargeAttachments>>,
    /// See [`Policy::ai_disclosure`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub ai_disclosure: Option<Option<DisclosurePatch>>,
    /// See [`Policy::auto_reply`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub auto_reply: Option<Option<AutoReplyPatch>>,
}

/// See [`PolicyPatch::ai_disclosure`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisclosurePatch {
    /// See [`Disclosure::mode`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub mode: Option<Option<DisclosureMode>>,
    /// See [`Disclosure::text`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub text: Option<Option<String>>,
}

/// See [`PolicyPatch::auto_reply`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoReplyPatch {
    /// See [`AutoReply::allowed`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Option<bool>>,
    /// See [`AutoReply::max_automatic_exchanges`].
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub max_automatic_exchanges: Option<Option<u64>>,
}

/// Tells a null from a missing field.
fn given<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// A value of the tenant's, else the built-in one.
fn or<T>(own: Option<Option<T>>, built_in: T) -> T {
    own.flatten().unwrap_or(built_in)
}

/// Takes a change over: what it sets, what it resets, and what it leaves.
fn merge<T>(known: &mut Option<Option<T>>, patch: Option<Option<T>>) {
    match patch {
        None => {}
        Some(None) => *known = None,
        set => *known = set,
    }
}

impl PolicyPatch {
    /// The policy in force.
    pub fn effective(&self) -> Policy {
        let built_in = Policy::default();
        let own = self.clone();
        let disclosure = own.ai_disclosure.flatten().unwrap_or_default();
        let auto_reply = own.auto_reply.flatten().unwrap_or_default();
        Policy {
            identity_daily_send_cap: or(
                own.identity_daily_send_cap,
                built_in.identity_daily_send_cap,
            ),
            tenant_daily_send_cap: or(own.tenant_daily_send_cap, built_in.tenant_daily_send_cap),
            max_recipients: or(own.max_recipients, built_in.max_recipients),
            send_allowlist_only: or(own.send_allowlist_only, built_in.send_allowlist_only),
            large_attachments: or(own.large_attachments, built_in.large_attachments),
            ai_disclosure: Disclosure {
                mode: or(disclosure.mode, built_in.ai_disclosure.mode),
                text: or(disclosure.text, built_in.ai_disclosure.text),
            },
            auto_reply: AutoReply {
                allowed: or(auto_reply.allowed, built_in.auto_reply.allowed),
                max_automatic_exchanges: or(
                    auto_reply.max_automatic_exchanges,
                    built_in.auto_reply.max_automatic_exchanges,
                ),
            },
        }
    }

    /// This with a change taken over.
    pub fn merged(mut self, patch: Self) -> Self {
        merge(
            &mut self.identity_daily_send_cap,
            patch.identity_daily_send_cap,
        );
        merge(&mut self.tenant_daily_send_cap, patch.tenant_daily_send_cap);
        merge(&mut self.max_recipients, patch.max_recipients);
        merge(&mut self.send_allowlist_only, patch.send_allowlist_only);
        merge(&mut self.large_attachments, patch.large_attachments);
        match patch.ai_disclosure {
            Some(Some(patch)) => {
                let mut own = self.ai_disclosure.flatten().unwrap_or_default();
                merge(&mut own.mode, patch.mode);
                merge(&mut own.text, patch.text);
                self.ai_disclosure = (own != DisclosurePatch::default()).then_some(Some(own));
            }
            reset => merge(&mut self.ai_disclosure, reset),
        }
        match patch.auto_reply {
            Some(Some(patch)) => {
                let mut own = self.auto_reply.flatten().unwrap_or_default();
                merge(&mut own.allowed, patch.allowed);
                merge(
                    &mut own.max_automatic_exchanges,
                    patch.max_automatic_exchanges,
                );
                self.auto_reply = (own != AutoReplyPatch::default()).then_some(Some(own));
            }
            reset => merge(&mut self.auto_reply, reset),
        }
        self
    }
}

/// What a tenant changed of the built-in policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRow {
    /// The tenant.
    pub tenant_id: TenantId,
    /// What it changed.
    pub own: PolicyPatch,
    /// When it last changed.
    pub updated_at: Timestamp,
}
