//! `source_set_rules`: where a source's deliveries go.

use postroom_core::{Command, Outcome, SetSourceRules};
use postroom_types::{Dialect, ErrorCode, Level, Permission, SourceId, TenantId};
use serde_json::{Map, Value};

use super::{
    ruling::{ActionShape, RuleShape, Tried, compiled, dry_run},
    sourcing::source_in_reach,
};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    source::saved_rules,
    view::SourceRules,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_set_rules",
    title: "Set a source's rules",
    description: "Replace all rules of a source. Each is a CEL expression and one action; the first that is true decides, and without \
        any the default does, or the source's own queue. They are tried on the last 50 events first: a rule that cannot be evaluated \
        there is refused and nothing is saved. A rule that faults later holds its delivery back. Where deliveries are mail, rules that look \
        at `mail` or `payload` need the right to read messages. Try them with source_test_rules.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/sources/{source_id}/rules")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Conflict,
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
    /// All rules in order, at most 32; an empty list leaves only the default.
    #[schemars(with = "Vec<RuleShape>")]
    rules: Vec<Value>,
    /// What happens when none matches; the source's own queue when left out.
    #[schemars(with = "Option<ActionShape>")]
    default: Option<Value>,
    /// Values that rules see as `params`: texts, numbers, true or false, lists of one kind. Left out,
    /// those that were saved stay; an empty object clears them.
    params: Option<Map<String, Value>>,
    /// The `rules_version` that these were made from; a save in between is a conflict.
    expected_version: Option<u64>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The source.
    source_id: SourceId,
    /// The rules as they are now.
    #[serde(flatten)]
    rules: SourceRules,
    /// Events that they were tried on.
    tried: usize,
    /// Where they would have sent those.
    outcome: Tried,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let source = source_in_reach(call, input.source_id).await?.row;
    let params = match input.params {
        Some(params) => params,
        None => saved_rules(&source).params,
    };
    let (set, rules) = compiled(call, &source, input.rules, input.default, params)?;
    let tried = dry_run(call, &source, &set, &rules).await?;
    let nothing = set.rules.is_empty() && set.default.is_none() && set.params.is_empty();
    let document = match nothing {
        true => None,
        false => Some(schema::write(&set)?.to_string()),
    };
    let command = Command::SetSourceRules(SetSourceRules {
        scope: *call.scope()?,
        source: source.id,
        expected_version: input.expected_version.unwrap_or(source.rules_version),
        rules: document,
    });
    match call.room.store().transact(command).await? {
        Outcome::Source(row) => Ok(Output {
            source_id: row.id,
            rules: SourceRules::of(row.rules_version, &set),
            tried: tried.events,
            outcome: tried,
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
