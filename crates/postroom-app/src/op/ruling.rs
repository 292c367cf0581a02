//! What operations on rules share: reading them, and trying them on events that came in.

use std::collections::BTreeMap;

use postroom_core::{
    Disposition, SourceRow,
    routing::{Judgement, RuleError, RuleSet, Rules},
};
use postroom_store::read;
use postroom_types::{ErrorCode, Permission, limit::RULE_DRY_RUN_EVENTS};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::source_create::check_granted;
use crate::{
    Failure,
    operation::Call,
    random,
    source::{envelope, queues_of, trusted_actors},
};

/// One rule, for the published schema; what is read is the JSON itself, so that an error names the
/// rule.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct RuleShape {
    /// 1 to 64 letters, digits, `_` and `-`; made when left out.
    id: Option<String>,
    /// For people, at most 128 bytes.
    name: Option<String>,
    /// A CEL expression that is true or false, at most 4,096 bytes, such as
    /// `event_type == "issues" && payload.action == "opened"`. It sees event, mail, issue, actor and
    /// params.
    expr: String,
    /// What happens when it is true.
    action: ActionShape,
}

/// One action, for the published schema.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ActionShape {
    /// Opens a todo in this queue.
    queue: Option<String>,
    /// With `queue`: larger goes first, -100 to 100.
    priority: Option<i64>,
    /// With `queue`: at most one todo per subject in this queue, ever.
    once: Option<bool>,
    /// With `queue`: words on the todo.
    tags: Option<Vec<String>>,
    /// True keeps the event and opens nothing.
    drop: Option<bool>,
    /// True holds it back for review.
    quarantine: Option<bool>,
}

/// The set that a caller gave, with ids where they were left out, and compiled.
pub(super) fn compiled(
    call: &Call<'_>,
    rules: Vec<Value>,
    default: Option<Value>,
    params: Map<String, Value>,
) -> Result<(RuleSet, Rules), Failure> {
    let mut value = json!({ "rules": rules, "params": params });
    if let Some(default) = default {
        value["default"] = default;
    }
    let mut set = RuleSet::read(&value).map_err(|error| refused(&error))?;
    for rule in &mut set.rules {
        if rule.id.is_none() {
            rule.id = Some(format!("r{:08x}", u32::from_le_bytes(random::bytes()?)));
        }
    }
    let rules = Rules::compile(&set).map_err(|error| refused(&error))?;
    for (index, queue) in queues_of(&set) {
        check_granted(&call.actor.grants, queue).map_err(|failure| match index {
            Some(index) => failure.with("rule_index", index),
            None => failure,
        })?;
    }
    Ok((set, rules))
}

/// A rule that cannot be saved, with where and why.
fn refused(error: &RuleError) -> Failure {
    let mut failure = Failure::new(error.code).with("reason", error.message.as_str());
    if let Some(index) = error.rule_index {
        failure = failure.with("rule_index", index);
    }
    if let Some(position) = error.position {
        failure = failure.with("position", position);
    }
    failure
}

/// Where rules would have sent events that came in already.
#[derive(Debug, Default, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub(super) struct Tried {
    /// Events that they were tried on.
    #[serde(skip)]
    pub(super) events: usize,
    /// How many events would go to each queue.
    queues: BTreeMap<String, u64>,
    /// How many would be held back for review.
    quarantined: u64,
    /// How many would open no work.
    dropped: u64,
}

impl Tried {
    fn add(&mut self, judgement: &Judgement, source: &SourceRow) {
        self.events += 1;
        match judgement.disposition {
            Disposition::Dropped => self.dropped += 1,
            Disposition::Quarantined | Disposition::Faulted => self.quarantined += 1,
            Disposition::Routed => {
                let queue = judgement.queue.as_ref().unwrap_or(&source.queue);
                *self.queues.entry(queue.clone()).or_default() += 1;
            }
        }
    }
}

/// Tries rules on the last events of their source: a rule that faults on what has come in already
/// would hold back what comes next.
///
/// # Errors
/// `invalid_rule` with the rule and the events on which it faults.
pub(super) async fn dry_run(
    call: &Call<'_>,
    source: &SourceRow,
    set: &RuleSet,
    rules: &Rules,
) -> Result<Tried, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let trusted = trusted_actors(source);
    let events = read::events_of_source(store, scope, source.id, RULE_DRY_RUN_EVENTS).await?;
    let mut tried = Tried::default();
    let mut faults: Vec<(usize, u64, &'static str)> = Vec::new();
    for event in &events {
        if event.carries_mail && !call.actor.holds(Permission::MessagesRead) {
            continue;
        }
        let Some(body) = read::event_payload(store, scope, event.id).await? else {
            continue;
        };
        let envelope = envelope::of_event(event, &body, trusted.as_ref(), &set.params);
        let judgement = rules.evaluate(&envelope);
        tried.add(&judgement, source);
        if judgement.disposition == Disposition::Faulted {
            let fault = judgement.trace.faults.first();
            faults.extend(fault.map(|fault| (fault.rule_index, event.id, fault.detail)));
        }
    }
    let Some((rule_index, _, detail)) = faults.first().copied() else {
        return Ok(tried);
    };
    let ids: Vec<u64> = faults
        .iter()
        .filter(|(index, _, _)| *index == rule_index)
        .map(|(_, id, _)| *id)
        .collect();
    let rule = set.rules.get(rule_index);
    Err(Failure::new(ErrorCode::InvalidRule)
        .saying("The rule cannot be evaluated on events that came in already; nothing was saved.")
        .with("reason", detail)
        .with("rule_index", rule_index)
        .with("rule_id", rule.and_then(|rule| rule.id.clone()))
        .with("event_ids", ids))
}
