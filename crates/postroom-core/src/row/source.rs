//! Ways in: sources with their secrets and rules, and what keys are granted of queues and targets.

use crate::{
    row::{SendScope, TrustMode},
    word::words,
};
use postroom_types::{IdentityId, SourceId, TenantId, Timestamp};

words! {
    /// Whether a source takes deliveries.
    SourceState {
        /// Its provider issues the secret and nobody has given it yet: nothing is stored.
        AwaitingSecret = "awaiting_secret",
        /// It does.
        Active = "active",
        /// Somebody turned it off: nothing is stored.
        Disabled = "disabled",
    }
    /// Who makes a source's signing secret.
    SecretOrigin {
        /// We do, and show it once.
        Minted = "minted",
        /// The provider does, and somebody gives it to us.
        Provider = "provider",
        /// There is none: the address itself is the secret.
        None = "none",
    }
}

/// Bytes that were sealed under the secret key; only the store opens them.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Sealed(pub Vec<u8>);

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// A signing secret, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSecret {
    /// The secret.
    pub sealed: Sealed,
    /// First 12 hex digits of its SHA-256, to tell secrets apart.
    pub fingerprint: String,
    /// When it was set.
    pub set_at: Timestamp,
    /// When an older one stops; `None` for the current one.
    pub valid_until: Option<Timestamp>,
}

/// A way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Its id.
    pub id: SourceId,
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The identity it belongs to; `None` for one of the tenant.
    pub identity_id: Option<IdentityId>,
    /// Name of the provider's row.
    pub provider: String,
    /// A name for people.
    pub name: String,
    /// Keyed hash of the token in its address; unique in the deployment.
    pub token_hash: [u8; 32],
    /// That token, sealed, so that its owner can see the address again.
    pub sealed_token: Sealed,
    /// Whether it takes deliveries.
    pub state: SourceState,
    /// How far its channel vouches; derived from the provider, never chosen. A source of mail whose secret
    /// an agent made, gave or was shown has `agent`.
    pub trust_mode: TrustMode,
    /// Who makes its secret.
    pub secret_origin: SecretOrigin,
    /// Its secrets, the current one first.
    pub secrets: Vec<SourceSecret>,
    /// Where work goes that no rule sends elsewhere.
    pub queue: String,
    /// Its rules as they were saved, JSON; `None` for none.
    pub rules: Option<String>,
    /// How often the rules were saved; a save names the one it changes.
    pub rules_version: u64,
    /// Settings of the provider's row, JSON.
    pub options: Option<String>,
    /// Whose deliveries are trusted, JSON; `None` when nobody asked.
    pub trusted_actors: Option<String>,
    /// Grows with every change of anything here that a delivery is judged by.
    pub version: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its address was last changed.
    pub rotated_at: Option<Timestamp>,
    /// When its provider last shook hands.
    pub handshake_at: Option<Timestamp>,
}

impl SourceRow {
    /// The secrets to check a delivery with at `now`.
    pub fn valid_secrets(&self, now: Timestamp) -> impl Iterator<Item = &SourceSecret> {
        self.secrets
            .iter()
            .filter(move |secret| secret.valid_until.is_none_or(|until| now < until))
    }

    /// The current secret.
    pub fn current_secret(&self) -> Option<&SourceSecret> {
        self.secrets
            .iter()
            .find(|secret| secret.valid_until.is_none())
    }
}

/// What came through a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceStats {
    /// Events.
    pub deliveries: u64,
    /// Deliveries of an event that was there already.
    pub redeliveries: u64,
    /// When the last one of either came.
    pub last_delivery_at: Option<Timestamp>,
}

/// What a key is granted of queues and replay targets, which belong to its tenant, and to whom it
/// may write.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct KeyGrants {
    /// Queues it works on; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<Vec<String>>,
    /// Where its replays may go when they name no target; the first is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay_targets: Vec<String>,
    /// To whom it may write; see [`KeyRow::send_scope`](crate::KeyRow::send_scope) for one that
    /// says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_scope: Option<SendScope>,
}
