//! What operations on sources share.

use postroom_core::{
    QUARANTINE_QUEUE, SealedSecret, SourceRow, is_queue_name,
    routing::{Matching, TrustedActors},
};
use postroom_store::{Store, read};
use postroom_types::{
    Dialect, ErrorCode, Level, Secret, SourceId, TenantId,
    limit::{TRUSTED_ACTOR_BYTES, TRUSTED_ACTORS},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Failure,
    operation::Call,
    source::{MAIL, names_actors},
};

/// What a source of a forge says of itself when nobody said whom to trust.
pub(super) const ACTOR_NOTE: &str =
    "Whoever can act there opens work here; name trusted_actors to hold back what others do.";

/// Whether the key of a mailbox's own agent makes, gives or is shown what the mail of a source is verified
/// with. Such a key could sign mail of anybody.
pub(super) fn is_agents(call: &Call<'_>, provider: &str) -> bool {
    call.actor.level == Level::Identity && postroom_webhook::inbound::source(provider).is_some()
}

/// Whose deliveries are trusted, as a caller says it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct GivenActors {
    /// Everybody.
    #[serde(default)]
    allow_all: bool,
    /// Names at the provider, whatever their case.
    #[serde(default)]
    #[schemars(length(max = 256))]
    logins: Vec<String>,
    /// Which of an event's people must be among them: whoever caused it (`sender`), whoever wrote what
    /// it is about (`author`), or `both`.
    #[serde(default, rename = "match")]
    matching: Option<GivenMatching>,
}

/// Which of an event's people must be trusted.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum GivenMatching {
    /// Whoever caused the event.
    Sender,
    /// Whoever wrote what it is about.
    Author,
    /// Both of them.
    Both,
}

impl GivenActors {
    /// The actors, checked for a provider whose payloads name people.
    pub(super) fn read(self, provider: &str) -> Result<TrustedActors, Failure> {
        let refuse = |words: &str| Err(Failure::argument(Dialect::Events, "trusted_actors", words));
        if !names_actors(provider) {
            return refuse("is for github, gitea, forgejo and gitlab: other payloads name nobody");
        }
        if self.allow_all && !self.logins.is_empty() {
            return refuse("is either everybody or a list");
        }
        let fits = |login: &String| {
            (1..=TRUSTED_ACTOR_BYTES).contains(&login.len())
                && !login.chars().any(|c| c.is_control() || c.is_whitespace())
        };
        if self.logins.len() > TRUSTED_ACTORS || !self.logins.iter().all(fits) {
            return refuse("is at most 256 names of at most 128 bytes");
        }
        Ok(TrustedActors {
            allow_all: self.allow_all,
            logins: self.logins,
            matching: match self.matching {
                None | Some(GivenMatching::Sender) => Matching::Sender,
                Some(GivenMatching::Author) => Matching::Author,
                Some(GivenMatching::Both) => Matching::Both,
            },
        })
    }
}

/// A name that a queue can have.
pub(super) fn check_queue(path: &str, queue: &str) -> Result<(), Failure> {
    let words = if queue == QUARANTINE_QUEUE {
        "this name is reserved"
    } else if is_queue_name(queue) {
        return Ok(());
    } else {
        "is 1 to 64 of a-z, 0-9, ., _ and -, beginning with a letter or digit"
    };
    Err(Failure::argument(Dialect::Events, path, words))
}

/// A secret sealed for its tenant.
pub(super) fn sealed(
    store: &Store,
    tenant: TenantId,
    secret: &Secret<String>,
) -> Result<SealedSecret, Failure> {
    Ok(store.seal_secret(tenant, secret)?)
}

/// A source that the call reaches; one that is out of reach is missing.
pub(super) async fn source_in_reach(
    call: &Call<'_>,
    id: SourceId,
) -> Result<read::Source, Failure> {
    read::source(call.room.store(), call.scope()?, id)
        .await?
        .ok_or_else(|| ErrorCode::NotFound.into())
}

/// The provider's row of a source.
pub(super) fn provider_of(row: &SourceRow) -> Result<&'static postroom_webhook::Provider, Failure> {
    if row.provider == MAIL {
        let words = "is a source of mail: it has no address and no secret";
        return Err(Failure::argument(Dialect::Events, "source_id", words));
    }
    postroom_webhook::provider::find(&row.provider).ok_or_else(|| ErrorCode::InternalError.into())
}
