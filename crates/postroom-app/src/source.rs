//! Webhook sources beyond their rows: settings, secrets, rules ready to judge with, and what is
//! remembered of refusals between two looks of their owner.

pub(crate) mod envelope;
mod memory;
mod secret;
mod settings;

pub(crate) use memory::{Offer, RememberedRefusal, Sources};
pub(crate) use secret::{check_given, mint};
pub(crate) use settings::{GivenSettings, Settings};

use std::sync::Arc;

use postroom_core::{
    SourceRow,
    routing::{Rule, RuleError, RuleSet, Rules, TrustedActors},
};
use postroom_webhook::{Provider, provider};
use serde_json::{Map, Value};

/// The provider of sources that stand for mail that comes in by itself. It has no row among the
/// providers of webhooks: no address, no secret, nothing to verify.
pub(crate) const MAIL: &str = "mail";

/// Ways in whose mail has no other source that opens work for it.
pub(crate) const MAIL_WAYS: &[&str] = &["smtp", "lmtp", "raw", "loopback"];

/// What a delivery is judged by, read once per version of the source.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The version of the source that this was read from.
    pub(crate) version: u64,
    /// The provider's row.
    pub(crate) provider: &'static Provider,
    /// What the source has settled with its provider.
    pub(crate) settings: Settings,
    /// The rules; none when there are none and deliveries just go to the source's queue.
    pub(crate) rules: Option<ReadyRules>,
    /// Whose deliveries are trusted; none when nobody asked.
    pub(crate) trusted: Option<TrustedActors>,
}

/// Rules that were read, with the values they see.
#[derive(Debug)]
pub(crate) struct ReadyRules {
    /// Compiled; an error only when what was saved cannot be read any more, which quarantines.
    pub(crate) rules: Result<Rules, RuleError>,
    /// What they see as `params`.
    pub(crate) params: Map<String, Value>,
}

impl Prepared {
    /// Reads a source's documents. `None` when its provider is not known to this program.
    pub(crate) fn new(row: &SourceRow) -> Option<Arc<Self>> {
        let rules = ready_rules(row);
        Some(Arc::new(Self {
            version: row.version,
            provider: provider::find(&row.provider)?,
            settings: Settings::of(row),
            rules,
            trusted: trusted_actors(row),
        }))
    }
}

/// A source's saved rules, compiled; none when there are none.
pub(crate) fn ready_rules(row: &SourceRow) -> Option<ReadyRules> {
    row.rules.as_deref().map(|text| {
        let set = rule_set(text);
        ReadyRules {
            params: set
                .as_ref()
                .map(|set| set.params.clone())
                .unwrap_or_default(),
            rules: set.and_then(|set| Rules::compile(&set)),
        }
    })
}

/// A source's saved rules.
pub(crate) fn rule_set(text: &str) -> Result<RuleSet, RuleError> {
    let value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    RuleSet::read(&value)
}

/// The saved rules of a source, or none.
pub(crate) fn saved_rules(row: &SourceRow) -> RuleSet {
    row.rules
        .as_deref()
        .and_then(|text| rule_set(text).ok())
        .unwrap_or_default()
}

/// Whose deliveries a source trusts, when somebody asked.
pub(crate) fn trusted_actors(row: &SourceRow) -> Option<TrustedActors> {
    let text = row.trusted_actors.as_deref()?;
    // What cannot be read trusts nobody.
    Some(serde_json::from_str(text).unwrap_or_default())
}

/// Whether a provider's payloads name people.
pub(crate) fn names_actors(provider: &str) -> bool {
    matches!(provider, "github" | "gitea" | "forgejo" | "gitlab")
}

/// The queues that rules lead to.
pub(crate) fn queues_of(set: &RuleSet) -> impl Iterator<Item = (Option<usize>, &str)> {
    let of_rules = set
        .rules
        .iter()
        .enumerate()
        .map(|(index, rule): (usize, &Rule)| (Some(index), &rule.action));
    of_rules
        .chain(set.default.iter().map(|action| (None, action)))
        .filter_map(|(index, action)| match action {
            postroom_core::routing::Action::Queue { queue, .. } => Some((index, queue.as_str())),
            _ => None,
        })
}
