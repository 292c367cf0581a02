//! What operations on rules share: reading them, and trying them on events that came in.

use std::collections::BTreeMap;

use postroom_core::{
    Disposition, EventRow, SourceRow,
    routing::{Envelope, Judgement, RuleError, RuleSet, Rules},
};
use postroom_store::read;
use postroom_types::{ErrorCode, Permission, limit::RULE_DRY_RUN_EVENTS};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{source_create::check_granted, working::withheld};
use crate::{
    Failure,
    operation::Call,
    random,
    source::{MAIL, MAIL_WAYS, envelope, queues_of, trusted_actors},
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

/// The set that a caller gave for a source, with ids where they were left out, and compiled.
///
/// # Errors
/// `permission_denied` when rules of a source that brings mail look at what it says and the caller may
/// not read it: in which queue the next mail lands would tell.
pub(super) fn compiled(
    call: &Call<'_>,
    source: &SourceRow,
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
    if brings_mail(source) && rules.read_content() && !call.actor.holds(Permission::MessagesRead) {
        let needed = Permission::MessagesRead.as_str();
        return Err(Failure::new(ErrorCode::PermissionDenied)
            .saying("Rules that look at mail or payload of a source of mail need the right to read messages.")
            .advising("Decide by event_type, headers or trust_mode, or use a key that holds messages:read.")
            .with("required", needed));
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

/// Tries rules on the last events of their source, for one of mail on the last mails that it would have
/// decided on: a rule that faults on what has come in already would hold back what comes next.
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
    let events = match source.provider == MAIL {
        false => read::events_of_source(store, scope, source.id, RULE_DRY_RUN_EVENTS).await?,
        true => {
            let (mailbox, most) = (source.identity_id, RULE_DRY_RUN_EVENTS);
            read::mails_by(store, scope, mailbox, MAIL_WAYS, most).await?
        }
    };
    let mut tried = Tried::default();
    let mut faults: Vec<(usize, u64, &'static str)> = Vec::new();
    for event in &events {
        if withheld(call, event).await?.is_some() {
            continue;
        }
        let Some(body) = read::event_payload(store, scope, event.id).await? else {
            continue;
        };
        let Some(envelope) = envelope_of(source, event, body, set.params.clone()).await? else {
            continue;
        };
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

/// What rules see of an event that came in; none for a report on mail of ours, which no rule is asked about.
/// A mail is read on a thread that may block.
pub(super) async fn envelope_of(
    source: &SourceRow,
    event: &EventRow,
    body: Vec<u8>,
    params: Map<String, Value>,
) -> Result<Option<Envelope>, Failure> {
    let (event, trusted) = (event.clone(), trusted_actors(source));
    let reading = tokio::task::spawn_blocking(move || {
        envelope::of_event(&event, &body, trusted.as_ref(), &params)
    });
    reading.await.map_err(|_| ErrorCode::InternalError.into())
}

/// Whether deliveries of a source may carry mail.
fn brings_mail(source: &SourceRow) -> bool {
    source.provider == MAIL || postroom_webhook::inbound::source(&source.provider).is_some()
}
