//! A mailbox and its addresses.

use std::collections::BTreeMap;

use postroom_core::{AddressRow, AddressStatus, IdentityRow};
use postroom_types::{AddressId, DomainId, IdentityId, TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// One mailbox.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Identity {
    /// The identity's id; goes into `identity` of the mail tools.
    pub id: IdentityId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The local part of its first address.
    pub username: String,
    /// The name people see.
    pub display_name: String,
    /// What it is for.
    pub purpose: Option<String>,
    /// `active` or `paused`.
    #[schemars(extend("enum" = ["active", "paused", "deleting", "deleted"]))]
    pub status: String,
    /// Why it is paused.
    pub pause_reason: Option<String>,
    /// The address it writes from.
    pub primary_address: String,
    /// All its addresses.
    pub addresses: Vec<Address>,
    /// The person who answers for it.
    pub owner: Option<Owner>,
    /// Appended to what it sends.
    pub signature: Option<Signature>,
    /// Limits on what it sends.
    pub send_policy: SendPolicy,
    /// The operator's own values.
    pub metadata: BTreeMap<String, String>,
    /// The id that made its creation repeatable.
    pub client_id: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// One address of a mailbox.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Address {
    /// The address's id.
    pub id: AddressId,
    /// Its mailbox.
    pub identity_id: IdentityId,
    /// The address.
    pub address: String,
    /// Before the @.
    pub local_part: String,
    /// Its domain's id.
    pub domain_id: DomainId,
    /// `primary` or `alias`.
    #[schemars(extend("enum" = ["primary", "alias"]))]
    pub role: String,
    /// Whether it receives.
    #[schemars(extend("enum" = ["pending", "active", "retiring", "retired"]))]
    pub status: String,
    /// When it will be retired.
    pub retire_at: Option<Timestamp>,
    /// When it was retired.
    pub retired_at: Option<Timestamp>,
    /// State of forwarding from elsewhere.
    pub forwarding: Option<String>,
    /// When that was last looked at.
    pub forwarding_checked_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The person who answers for a mailbox.
#[derive(Debug, Clone, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Owner {
    /// Name.
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    /// Where to reach them.
    #[schemars(length(min = 3, max = 254))]
    pub email: String,
}

/// What a mailbox appends to its mail.
#[derive(Debug, Clone, Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Signature {
    /// As text.
    pub text: Option<String>,
    /// As HTML.
    pub html: Option<String>,
}

/// Limits on what a mailbox sends.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SendPolicy {
    /// Recipients per day.
    pub daily_cap: u64,
    /// Whether it may answer automatically: `allowed` or `denied`.
    #[schemars(extend("enum" = ["allowed", "denied"]))]
    pub auto_reply: String,
    /// Whether it may write only to addresses it knows.
    pub require_known_recipient: bool,
}

impl From<postroom_core::SendPolicy> for SendPolicy {
    fn from(policy: postroom_core::SendPolicy) -> Self {
        Self {
            daily_cap: policy
                .daily_cap
                .unwrap_or_else(|| postroom_core::Policy::default().identity_daily_send_cap),
            auto_reply: policy.auto_reply.as_str().to_owned(),
            require_known_recipient: policy.require_known_recipient,
        }
    }
}

impl From<postroom_core::Signature> for Signature {
    fn from(signature: postroom_core::Signature) -> Self {
        Self {
            text: signature.text,
            html: signature.html,
        }
    }
}

impl From<Signature> for postroom_core::Signature {
    fn from(signature: Signature) -> Self {
        Self {
            text: signature.text,
            html: signature.html,
        }
    }
}

impl Owner {
    /// As the store keeps it.
    pub fn into_row(self) -> postroom_core::Owner {
        postroom_core::Owner {
            name: self.name,
            email: self.email,
        }
    }
}

impl Identity {
    /// An identity's row with its addresses, as a caller sees them.
    pub fn new(row: IdentityRow, addresses: Vec<AddressRow>) -> Self {
        let addresses: Vec<Address> = addresses.into_iter().map(Address::from).collect();
        let primary = addresses.iter().find(|address| address.role == "primary");
        Self {
            id: row.id,
            tenant_id: row.tenant_id,
            username: row.username,
            display_name: row.display_name,
            purpose: row.purpose,
            status: row.status.as_str().to_owned(),
            pause_reason: row.pause_reason.map(|reason| reason.as_str().to_owned()),
            primary_address: primary
                .or(addresses.first())
                .map(|address| address.address.clone())
                .unwrap_or_default(),
            addresses,
            owner: row.owner.map(|owner| Owner {
                name: owner.name,
                email: owner.email,
            }),
            signature: row.signature.map(Signature::from),
            send_policy: row.send_policy.into(),
            metadata: row.metadata,
            client_id: row.client_id,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

impl From<AddressRow> for Address {
    fn from(row: AddressRow) -> Self {
        let local_part = row
            .address
            .rsplit_once('@')
            .map_or_else(String::new, |(local, _)| local.to_owned());
        Self {
            id: row.id,
            identity_id: row.identity_id,
            address: row.address,
            local_part,
            domain_id: row.domain_id,
            role: row.role.as_str().to_owned(),
            status: row.status.as_str().to_owned(),
            retire_at: row
                .retire_at
                .filter(|_| row.status == AddressStatus::Retiring),
            retired_at: row.retired_at,
            forwarding: None,
            forwarding_checked_at: None,
            created_at: row.created_at,
        }
    }
}
