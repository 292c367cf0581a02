//! `source_test_rules`: what rules would do, without doing it.

use std::collections::BTreeMap;

use postroom_core::{
    Disposition, EventRow, Family, SourceRow,
    routing::{Delivered, Envelope, RuleSet},
};
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, SourceId, TenantId};
use serde_json::{Map, Value};

use super::{
    ruling::{self, ActionShape, RuleShape, compiled},
    sourcing::{provider_of, source_in_reach},
};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    source::{MAIL, MAIL_WAYS, saved_rules, trusted_actors},
    view::ContentNotice,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_test_rules",
    title: "Try a source's rules",
    description: "Say what a source's rules would do with a delivery: one that came in (`event_id`) or one that is made up (`payload`, \
        `headers`). Rules, default and params that are given are tried instead of the saved ones. The answer has the decision, how it came \
        about and everything a rule can see. Nothing is saved and nothing is opened.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/sources/{source_id}/rules/test")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Forbidden,
        ErrorCode::ForbiddenFunction,
        ErrorCode::InvalidExpression,
        ErrorCode::InvalidRule,
        ErrorCode::NotFound,
        ErrorCode::PermissionDenied,
        ErrorCode::TenantNotFound,
        ErrorCode::TooManyRules,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The source.
    source_id: SourceId,
    /// An event that came through the source, or a mail that a source of mail decides on; instead of a payload.
    #[schemars(range(min = 1))]
    event_id: Option<u64>,
    /// A made-up payload; instead of an event.
    #[schemars(with = "Option<Map<String, Value>>")]
    payload: Option<Value>,
    /// Headers of the made-up delivery.
    headers: Option<BTreeMap<String, String>>,
    /// The provider's name for what the made-up delivery is.
    #[schemars(length(min = 1, max = 128))]
    event_type: Option<String>,
    /// Rules to try instead of the saved ones.
    #[schemars(with = "Option<Vec<RuleShape>>")]
    rules: Option<Vec<Value>>,
    /// Default to try instead of the saved one.
    #[schemars(with = "Option<ActionShape>")]
    default: Option<Value>,
    /// Values to try instead of the saved ones.
    params: Option<Map<String, Value>>,
    /// Leaves the envelope out of the answer.
    #[serde(default)]
    omit_envelope: bool,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// What would happen.
    decision: Decision,
    /// How it came about.
    #[schemars(with = "Map<String, Value>")]
    trace: Value,
    /// Everything that a rule can see.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    envelope: Option<Value>,
    /// The key for which a rule with `once` opens at most one todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    once_key: Option<String>,
    /// Says that this result holds text written by outsiders.
    content_notice: ContentNotice,
}

/// What would happen.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Decision {
    /// Where the event would go.
    #[schemars(extend("enum" = ["routed", "dropped", "quarantined", "faulted"]))]
    disposition: String,
    /// The queue in which work would be opened; null when none would be.
    queue: Option<String>,
    /// Its priority.
    priority: i64,
    /// Its tags.
    tags: Vec<String>,
}

async fn run(call: &Call<'_>, mut input: Input) -> Result<Output, Failure> {
    let source = source_in_reach(call, input.source_id).await?.row;
    let saved = saved_rules(&source);
    let params = input.params.take().unwrap_or_else(|| saved.params.clone());
    let (rules, default) = tried(input.rules.take(), input.default.take(), &saved)?;
    let (_, rules) = compiled(call, &source, rules, default, params.clone())?;
    let envelope = envelope_of(call, &source, &input, &params).await?;
    let judgement = rules.evaluate(&envelope);
    let queue = match judgement.disposition {
        Disposition::Dropped => None,
        _ => Some(judgement.queue.unwrap_or_else(|| source.queue.clone())),
    };
    Ok(Output {
        decision: Decision {
            disposition: judgement.disposition.as_str().to_owned(),
            queue,
            priority: judgement.priority,
            tags: judgement.tags,
        },
        trace: schema::write(&judgement.trace)?,
        envelope: (!input.omit_envelope).then(|| envelope.json().clone()),
        once_key: judgement.once,
        content_notice: ContentNotice,
    })
}

/// The rules and default to try: what is given, and of what was saved the rest.
fn tried(
    rules: Option<Vec<Value>>,
    default: Option<Value>,
    saved: &RuleSet,
) -> Result<(Vec<Value>, Option<Value>), Failure> {
    if let Some(rules) = rules {
        return Ok((rules, default));
    }
    let rules: Result<Vec<Value>, Failure> = saved.rules.iter().map(schema::write).collect();
    let default = match default {
        Some(default) => Some(default),
        None => saved.default.as_ref().map(schema::write).transpose()?,
    };
    Ok((rules?, default))
}

/// What rules see of the event that is named, or of the delivery that is made up.
async fn envelope_of(
    call: &Call<'_>,
    source: &SourceRow,
    input: &Input,
    params: &Map<String, Value>,
) -> Result<Envelope, Failure> {
    match (input.event_id, &input.payload) {
        (Some(id), None) => {
            let (store, scope) = (call.room.store(), call.scope()?);
            let event = read::event(store, scope, id)
                .await?
                .filter(|event| is_of(event, source))
                .ok_or(ErrorCode::NotFound)?;
            // Rules see the payload, and so does whoever tries them.
            if let Some(permission) = super::working::withheld(call, &event).await? {
                let refused = Failure::new(ErrorCode::PermissionDenied);
                return Err(refused.with("required", permission.as_str()));
            }
            let body = read::event_payload(store, scope, id).await?;
            let body = body.ok_or(ErrorCode::NotFound)?;
            let seen = ruling::envelope_of(source, &event, body, params.clone()).await?;
            seen.ok_or_else(|| {
                let words = "is a report on a mail of ours; no rule is asked about it";
                Failure::argument(Dialect::Events, "event_id", words)
            })
        }
        (None, Some(payload)) => {
            let trusted = trusted_actors(source);
            Ok(Envelope::of(&Delivered {
                source: &source.provider,
                kind: "webhook",
                event_type: input.event_type.as_deref(),
                trust_mode: source.trust_mode.as_str(),
                verified: source.provider != MAIL && provider_of(source)?.trust_mode().verified(),
                content_type: Some("application/json"),
                headers: input.headers.as_ref(),
                body: payload.to_string().as_bytes(),
                trusted_actors: trusted.as_ref(),
                params: Some(params),
                ..Delivered::default()
            }))
        }
        _ => Err(Failure::argument(
            Dialect::Events,
            "event_id",
            "give either event_id or payload",
        )),
    }
}

/// Whether an event came through a source; for one of mail, whether its rules would decide on it.
fn is_of(event: &EventRow, source: &SourceRow) -> bool {
    if source.provider != MAIL {
        return event.source_id == Some(source.id);
    }
    event.family == Family::Mail
        && MAIL_WAYS.contains(&event.provider.as_str())
        && source
            .identity_id
            .is_none_or(|own| event.identity_id == Some(own))
}
