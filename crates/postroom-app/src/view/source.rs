//! A webhook source as its owner sees it: never a secret.

use postroom_core::{
    SecretOrigin,
    routing::{RuleSet, TrustedActors},
};
use postroom_store::{SealedFor, StoreError, read};
use postroom_types::{IdentityId, SourceId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Room,
    room::{ingest_url, mail_url},
    source::{MAIL, RememberedRefusal, Settings, saved_rules, trusted_actors},
};

/// A way in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Source {
    /// The source's id.
    pub source_id: SourceId,
    /// A name for people.
    pub name: String,
    /// The address to give to the provider. Whoever knows it can send to it.
    pub ingest_url: String,
    /// The provider.
    pub source_type: String,
    /// The queue for work that no rule sends elsewhere.
    pub target_queue: String,
    /// How far its channel vouches for a body: `signed` or `token`.
    #[schemars(extend("enum" = ["signed", "token"]))]
    pub trust_mode: String,
    /// Whether it takes deliveries.
    #[schemars(extend("enum" = ["awaiting_secret", "active", "disabled"]))]
    pub state: String,
    /// The mailbox it belongs to; null for one of the whole tenant.
    pub identity_id: Option<IdentityId>,
    /// Who makes the signing secret: `minted` here, the `provider`, or `none` at all.
    #[schemars(extend("enum" = ["minted", "provider", "none"]))]
    pub secret_origin: String,
    /// Whether there is a signing secret.
    pub secret_set: bool,
    /// First 12 hex digits of the secret's SHA-256.
    pub fingerprint: Option<String>,
    /// When the secret was set.
    pub secret_set_at: Option<Timestamp>,
    /// When a secret from before stops being taken, during a rotation.
    pub previous_secret_until: Option<Timestamp>,
    /// Whether the provider offered a secret that waits to be taken with source_set_secret.
    pub secret_offered: bool,
    /// What was settled with the provider beyond the secret.
    pub settings: SourceSettings,
    /// Whose deliveries are trusted; null when nobody asked.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub trusted_actors: Option<TrustedActors>,
    /// Whether everybody's deliveries are trusted.
    pub allow_all: bool,
    /// How often the rules were saved; source_set_rules may name it.
    pub rules_version: u64,
    /// How many rules there are.
    pub rule_count: usize,
    /// Events that came through it.
    pub deliveries: u64,
    /// Deliveries of an event that was there already.
    pub redeliveries: u64,
    /// Events that were held back, up to 200.
    pub quarantined: usize,
    /// When the last delivery came.
    pub last_delivery_at: Option<Timestamp>,
    /// The last delivery that was refused since the server started.
    pub last_refusal: Option<Refusal>,
    /// The last deliveries that were refused since the server started, newest first; at most ten.
    pub recent_refusals: Vec<Refusal>,
    /// When its provider last shook hands.
    pub handshake_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its address was last changed.
    pub rotated_at: Option<Timestamp>,
}

/// A delivery that was refused.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Refusal {
    /// When.
    pub at: Timestamp,
    /// The reason in one word.
    pub reason: String,
    /// The finer cause.
    pub code: String,
    /// One sentence.
    pub detail: String,
    /// Who sent it.
    pub source_ip: Option<String>,
}

/// Settings without what is secret in them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SourceSettings {
    /// The audience that a token must name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// The service account that a token must name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The only topic that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_arn: Option<String>,
    /// The webhook's id at the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_id: Option<String>,
    /// The only scheme that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// The header with the secret or signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Seconds of freshness both ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_seconds: Option<u32>,
    /// Whether there is a token for challenges.
    pub verify_token_set: bool,
    /// Whether there is an API key of the provider.
    pub api_key_set: bool,
}

/// The rules of a source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SourceRules {
    /// How often they were saved.
    pub rules_version: u64,
    /// The rules in order; the first that matches decides.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub rules: Vec<Value>,
    /// What happens when none matches; null for the source's own queue.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub default: Option<Value>,
    /// Values that rules see as `params`.
    pub params: Map<String, Value>,
}

/// Events that were held back are counted up to here.
const COUNTED: usize = 200;

impl Source {
    /// The source, with what came through it.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say or a sealed value cannot be opened.
    pub(crate) async fn of(
        room: &Room,
        scope: &postroom_types::TenantScope,
        source: read::Source,
    ) -> Result<Self, StoreError> {
        let (row, stats) = (source.row, source.stats);
        let token =
            room.store()
                .open_sealed(SealedFor::SourceToken, row.tenant_id, &row.sealed_token)?;
        let quarantined = match row.rules.is_some() || row.trusted_actors.is_some() {
            true => held_back(room, scope, row.id).await?,
            false => 0,
        };
        let now = room.now();
        let current = row.current_secret();
        let previous = row
            .valid_secrets(now)
            .filter_map(|secret| secret.valid_until)
            .max();
        let trusted = trusted_actors(&row);
        let refusals: Vec<Refusal> = room
            .sources
            .refusals(row.id)
            .into_iter()
            .map(Refusal::of)
            .collect();
        Ok(Self {
            source_id: row.id,
            ingest_url: match row.provider == MAIL {
                true => mail_url(row.identity_id),
                false => ingest_url(room, &String::from_utf8_lossy(token.expose())),
            },
            source_type: row.provider.clone(),
            target_queue: row.queue.clone(),
            trust_mode: row.trust_mode.as_str().to_owned(),
            state: row.state.as_str().to_owned(),
            identity_id: row.identity_id,
            secret_origin: row.secret_origin.as_str().to_owned(),
            secret_set: current.is_some(),
            fingerprint: current.map(|secret| secret.fingerprint.clone()),
            secret_set_at: current.map(|secret| secret.set_at),
            previous_secret_until: previous,
            secret_offered: row.secret_origin == SecretOrigin::Provider
                && room.sources.offer(&row).is_some(),
            settings: SourceSettings::of(&Settings::of(&row)),
            allow_all: trusted.as_ref().is_some_and(|trusted| trusted.allow_all),
            trusted_actors: trusted,
            rules_version: row.rules_version,
            rule_count: saved_rules(&row).rules.len(),
            deliveries: stats.deliveries,
            redeliveries: stats.redeliveries,
            quarantined,
            last_delivery_at: stats.last_delivery_at,
            last_refusal: refusals.first().cloned(),
            recent_refusals: refusals,
            handshake_at: row.handshake_at,
            created_at: row.created_at,
            rotated_at: row.rotated_at,
            name: row.name,
        })
    }
}

async fn held_back(
    room: &Room,
    scope: &postroom_types::TenantScope,
    source: SourceId,
) -> Result<usize, StoreError> {
    let mut count = 0;
    for disposition in [
        postroom_core::Disposition::Quarantined,
        postroom_core::Disposition::Faulted,
    ] {
        let filter = read::EventFilter {
            source: Some(source),
            disposition: Some(disposition),
            limit: COUNTED,
            ..read::EventFilter::default()
        };
        count += read::events(room.store(), scope, &filter).await?.len();
    }
    Ok(count.min(COUNTED))
}

impl Refusal {
    fn of(refused: RememberedRefusal) -> Self {
        Self {
            at: refused.at,
            reason: refused.reason.to_owned(),
            code: refused.code,
            detail: refused.detail,
            source_ip: refused.source_ip,
        }
    }
}

impl SourceSettings {
    fn of(settings: &Settings) -> Self {
        Self {
            audience: settings.audience.clone(),
            email: settings.email.clone(),
            topic_arn: settings.topic_arn.clone(),
            webhook_id: settings.webhook_id.clone(),
            scheme: settings.scheme.clone(),
            header: settings.header.clone(),
            tolerance_seconds: settings.tolerance_seconds,
            verify_token_set: settings.has_verify_token(),
            api_key_set: settings.has_api_key(),
        }
    }
}

impl SourceRules {
    /// The rules as they were saved.
    pub(crate) fn of(rules_version: u64, set: &RuleSet) -> Self {
        Self {
            rules_version,
            rules: set.rules.iter().map(json).collect(),
            default: set.default.as_ref().map(json),
            params: set.params.clone(),
        }
    }
}

fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
