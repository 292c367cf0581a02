//! Who is here: tenants, domains, identities, addresses, keys, people who sign in.

use crate::{
    row::{KeyGrants, SendPolicy, SendScope, Signature},
    word::words,
};
use postroom_types::{
    AddressId, DomainId, IdentityId, KeyId, Level, Permission, TenantId, Timestamp,
};
use std::collections::BTreeMap;

words! {
    /// Whether a tenant works.
    TenantStatus {
        /// It works.
        Active = "active",
        /// Nothing is accepted or answered.
        Suspended = "suspended",
    }
    /// Whether a tenant or key is for real mail.
    Mode {
        /// Real.
        Live = "live",
        /// Reaches local and simulated recipients only.
        Test = "test",
    }
    /// What is known about a domain.
    DomainState {
        /// Nobody verified it: it receives and imports, and never sends outside.
        Local = "local",
        /// Verified; username rules bind its addresses.
        Healthy = "healthy",
    }
    /// Whether an identity works.
    IdentityStatus {
        /// It receives and may send.
        Active = "active",
        /// It receives; sending and signing are refused.
        Paused = "paused",
        /// It is being erased; nobody sees it.
        Deleting = "deleting",
        /// It is gone.
        Deleted = "deleted",
    }
    /// Why an identity is paused.
    PauseReason {
        /// Somebody did it.
        Manual = "manual",
        /// A rate of complaints or bounces was passed.
        AbuseThreshold = "abuse_threshold",
        /// The tenant was suspended.
        TenantSuspended = "tenant_suspended",
    }
    /// What an address is to its identity.
    AddressRole {
        /// The address that mail is sent from.
        Primary = "primary",
        /// Another address that receives.
        Alias = "alias",
    }
    /// Whether an address receives.
    AddressStatus {
        /// Not yet.
        Pending = "pending",
        /// It does.
        Active = "active",
        /// It does until `retire_at`.
        Retiring = "retiring",
        /// Never again, for anybody.
        Retired = "retired",
    }
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantRow {
    /// Its id.
    pub id: TenantId,
    /// `^[a-z0-9][a-z0-9-]{1,31}$`, unique in the deployment.
    pub slug: String,
    /// A name for people.
    pub name: String,
    /// Whether it works.
    pub status: TenantStatus,
    /// Live or test.
    pub mode: Mode,
    /// IANA time zone.
    pub timezone: String,
    /// What follows a username in a local part, `.` and the slug unless told otherwise.
    pub address_suffix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A mail domain as one tenant (or, without one, the deployment) has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainRow {
    /// Its id.
    pub id: DomainId,
    /// The tenant; `None` for a domain of the deployment that every tenant may use.
    pub tenant_id: Option<TenantId>,
    /// Lower case A-label.
    pub name: String,
    /// What is known about it.
    pub state: DomainState,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The person who answers for an identity.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owner {
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
}

/// One mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityRow {
    /// Its id.
    pub id: IdentityId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Unique in the tenant: the local part without suffix, or the whole address where the domain
    /// is nobody's (`local`).
    pub username: String,
    /// 1 to 78 characters.
    pub display_name: String,
    /// What it is for.
    pub purpose: Option<String>,
    /// Whether it works.
    pub status: IdentityStatus,
    /// Why it is paused.
    pub pause_reason: Option<PauseReason>,
    /// The person who answers for it.
    pub owner: Option<Owner>,
    /// Up to 16 values of the caller's own.
    pub metadata: BTreeMap<String, String>,
    /// The caller's own id, unique in the tenant.
    pub client_id: Option<String>,
    /// SHA-256 of the values it was created with, to tell a repeated create from another.
    pub client_digest: Option<[u8; 32]>,
    /// What it puts under its mails.
    pub signature: Option<Signature>,
    /// What it may send.
    pub send_policy: SendPolicy,
    /// When somebody last let it send again after a pause.
    pub resumed_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// One address of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRow {
    /// Its id.
    pub id: AddressId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// Its identity.
    pub identity_id: IdentityId,
    /// `local@domain` without detail, unique in the deployment, for ever.
    pub address: String,
    /// Its domain.
    pub domain_id: DomainId,
    /// Primary or alias.
    pub role: AddressRole,
    /// Whether it receives.
    pub status: AddressStatus,
    /// When a retiring address stops.
    pub retire_at: Option<Timestamp>,
    /// When it stopped.
    pub retired_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl AddressRow {
    /// Whether mail to it is accepted at `now`.
    pub fn receives(&self, now: Timestamp) -> bool {
        match self.status {
            AddressStatus::Active => true,
            AddressStatus::Retiring => self.retire_at.is_none_or(|at| now < at),
            AddressStatus::Pending | AddressStatus::Retired => false,
        }
    }
}

/// An API credential without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its id.
    pub id: KeyId,
    /// A name for people.
    pub name: String,
    /// How wide it reaches.
    pub level: Level,
    /// Live or test.
    pub mode: Mode,
    /// Its tenant; `None` for level platform only.
    pub tenant_id: Option<TenantId>,
    /// Its identity, for level identity.
    pub identity_id: Option<IdentityId>,
    /// What it may do, sorted.
    pub permissions: Vec<Permission>,
    /// Queues and replay targets it was granted.
    pub grants: KeyGrants,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, at most one update per minute.
    pub last_used_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
}

impl KeyRow {
    /// To whom it may write.
    pub fn send_scope(&self) -> SendScope {
        let granted = self.grants.send_scope;
        granted.unwrap_or_else(|| SendScope::of_level(self.level))
    }
}

/// One secret of a key; a key has one, and two during a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySecretRow {
    /// The 12 characters that find it.
    pub lookup: String,
    /// The key.
    pub key_id: KeyId,
    /// Keyed hash of the whole token.
    pub hash: [u8; 32],
    /// When an older secret stops; `None` for the current one.
    pub valid_until: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A one-time link with which a person signs in first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerLinkRow {
    /// Keyed hash of its token.
    pub hash: [u8; 32],
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was used.
    pub used_at: Option<Timestamp>,
}

/// A person's session in the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Keyed hash of its token.
    pub hash: [u8; 32],
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}
