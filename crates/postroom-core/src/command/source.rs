//! What can be asked about sources and what comes through them.

use crate::{
    RawMail, Sealed, SecretOrigin, TrustMode, Work,
    row::{Disposition, Family},
};
use postroom_types::{IdentityId, MessageId, SourceId, TenantId, TenantScope, Timestamp};
use std::collections::BTreeMap;

/// A secret that was sealed, with what tells it from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// The secret.
    pub sealed: Sealed,
    /// First 12 hex digits of its SHA-256.
    pub fingerprint: String,
}

/// A source's token: its keyed hash, and itself sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedToken {
    /// Keyed hash.
    pub hash: [u8; 32],
    /// The token.
    pub sealed: Sealed,
}

/// See [`crate::Command::CreateSource`].
#[derive(Debug, Clone)]
pub struct CreateSource {
    /// The tenant.
    pub tenant: TenantId,
    /// The identity it belongs to; `None` for one of the tenant.
    pub identity: Option<IdentityId>,
    /// Name of the provider's row, checked by the caller.
    pub provider: String,
    /// 1 to 78 characters; the provider's name when empty.
    pub name: String,
    /// The token of its address.
    pub token: SealedToken,
    /// As the provider's row derives it.
    pub trust_mode: TrustMode,
    /// Who makes its secret.
    pub secret_origin: SecretOrigin,
    /// The secret, when there is one already. Without one a source of origin `provider` awaits it.
    pub secret: Option<SealedSecret>,
    /// Where work goes that no rule sends elsewhere.
    pub queue: String,
    /// Rules, checked by the caller, JSON.
    pub rules: Option<String>,
    /// Settings of the provider's row, checked by the caller, JSON.
    pub options: Option<String>,
    /// Whose deliveries are trusted, checked by the caller, JSON.
    pub trusted_actors: Option<String>,
}

/// See [`crate::Command::RotateSource`].
#[derive(Debug, Clone)]
pub struct RotateSource {
    /// Who asks.
    pub scope: TenantScope,
    /// The source.
    pub source: SourceId,
    /// The token of its new address; the old one is dead at once.
    pub token: SealedToken,
    /// The new secret of a source whose secret we make; `None` leaves secrets as they are.
    pub secret: Option<SealedSecret>,
    /// Whether it is a source of mail and the key of a mailbox's own agent asks, which is shown what the
    /// mail is verified with: from then on that vouches for nobody ([`TrustMode::Agent`]).
    pub by_agent: bool,
}

/// See [`crate::Command::SetSourceSecret`].
#[derive(Debug, Clone)]
pub struct SetSourceSecret {
    /// Who asks.
    pub scope: TenantScope,
    /// The source; one whose secret its provider makes.
    pub source: SourceId,
    /// The secret.
    pub secret: SealedSecret,
    /// How long the one before goes on, 0 to 24 hours, milliseconds.
    pub keep_previous_ms: u64,
    /// See [`RotateSource::by_agent`].
    pub by_agent: bool,
}

/// See [`crate::Command::SetSourceRules`].
#[derive(Debug, Clone)]
pub struct SetSourceRules {
    /// Who asks.
    pub scope: TenantScope,
    /// The source.
    pub source: SourceId,
    /// The version that these rules were made from.
    pub expected_version: u64,
    /// All rules with their parameters, checked by the caller, JSON; `None` for none.
    pub rules: Option<String>,
}

/// What to change of a source; `None` leaves a value as it is, `Some(None)` empties it.
#[derive(Debug, Clone, Default)]
pub struct SourcePatch {
    /// The name shown.
    pub name: Option<String>,
    /// Where work goes that no rule sends elsewhere.
    pub queue: Option<String>,
    /// Settings of the provider's row, JSON.
    pub options: Option<Option<String>>,
    /// Whose deliveries are trusted, JSON.
    pub trusted_actors: Option<Option<String>>,
}

/// Where a delivery goes, as the rules say: plain data, judged outside the writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routing {
    /// Where the event goes.
    pub disposition: Disposition,
    /// The todo to open; none for a dropped event.
    pub work: Option<Work>,
    /// Opens at most one todo for this key in this source, ever.
    pub once: Option<String>,
    /// How it was judged, JSON; kept on event and todo.
    pub trace: Option<String>,
}

/// See [`crate::Command::Arrive`].
#[derive(Debug)]
pub struct Arrive {
    /// The tenant.
    pub tenant: TenantId,
    /// The source.
    pub source: SourceId,
    /// The [`crate::SourceRow::version`] that the delivery was verified and routed under; with
    /// another one it is judged anew ([`crate::Refusal::SourceChanged`]).
    pub source_version: u64,
    /// The payload as received.
    pub raw: RawMail,
    /// Kind of channel: a webhook or a queue.
    pub family: Family,
    /// The provider's name for what happened.
    pub event_type: Option<String>,
    /// What tells a repeated delivery: the signed id, the header's id, or the digest of the body.
    pub external_key: String,
    /// How far the channel vouches.
    pub trust_mode: TrustMode,
    /// Whether a signature over the body was checked.
    pub verified: bool,
    /// In words what was checked.
    pub verify_detail: Option<String>,
    /// Media type of the payload.
    pub content_type: Option<String>,
    /// Sanitised headers.
    pub headers: BTreeMap<String, String>,
    /// The peer's address.
    pub source_ip: Option<String>,
    /// When it happened, as the provider says.
    pub occurred_at: Option<Timestamp>,
    /// Whether the payload carries mail: unless it was dropped or held back, the event is left
    /// pending for the worker that makes a message of it.
    pub carries_mail: bool,
    /// Where it goes.
    pub routing: Routing,
}

/// See [`crate::Command::SettleEvent`].
#[derive(Debug, Clone)]
pub struct SettleEvent {
    /// The tenant.
    pub tenant: TenantId,
    /// The pending event.
    pub event_id: u64,
    /// The message that was made of it.
    pub message_id: Option<MessageId>,
    /// What to say of it, in our own words.
    pub detail: Option<String>,
}

/// See [`crate::Command::PostponeEvent`].
#[derive(Debug, Clone)]
pub struct PostponeEvent {
    /// The tenant.
    pub tenant: TenantId,
    /// The pending event.
    pub event_id: u64,
    /// When it is tried again.
    pub next_try_at: Timestamp,
    /// What it waits for, in our own words.
    pub detail: Option<String>,
}
