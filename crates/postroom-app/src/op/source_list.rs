//! `source_list`: the ways in.

use postroom_core::KeyGrants;
use postroom_store::read;
use postroom_types::{
    Dialect, ErrorCode, Level, Permission, SourceId, TenantId, limit::SOURCES_PER_TENANT,
};
use postroom_webhook::provider;

use super::sourcing::source_in_reach;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    source::saved_rules,
    view::{Source, SourceRules},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_list",
    title: "List webhook sources",
    description: "List the ways in with their addresses, states, counts and the last delivery that was refused and why; never a \
        secret. With `source_id` only that one, and its rules.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[
        Route::get("/v1/sources"),
        Route::get("/v1/sources/{source_id}"),
    ],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::NotFound, ErrorCode::TenantNotFound],
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
    /// Only this source, with its rules.
    source_id: Option<SourceId>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The sources, oldest first.
    sources: Vec<Source>,
    /// The rules of the one source that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<SourceRules>,
    /// What may be created.
    ceiling: Ceiling,
}

/// What may be created.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
struct Ceiling {
    /// Sources that a tenant may have.
    max: usize,
    /// Providers that are known here.
    allowed_source_types: Vec<String>,
    /// Queues that the key was granted; null for all.
    allowed_queues: Option<Vec<String>>,
    /// Sources that the caller can see.
    used: usize,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let scope = call.scope()?;
    let found = match input.source_id {
        Some(id) => vec![source_in_reach(call, id).await?],
        None => read::sources(call.room.store(), scope, None, SOURCES_PER_TENANT).await?,
    };
    let rules = input.source_id.and_then(|_| {
        let row = &found.first()?.row;
        Some(SourceRules::of(row.rules_version, &saved_rules(row)))
    });
    let mut sources = Vec::with_capacity(found.len());
    for source in found {
        sources.push(Source::of(call.room, scope, source).await?);
    }
    let KeyGrants { queues, .. } = call.actor.grants.clone();
    let used = match input.source_id {
        None => sources.len(),
        Some(_) => read::sources(call.room.store(), scope, None, SOURCES_PER_TENANT)
            .await?
            .len(),
    };
    Ok(Output {
        sources,
        rules,
        ceiling: Ceiling {
            max: SOURCES_PER_TENANT,
            allowed_source_types: provider::all().map(|row| row.name.to_owned()).collect(),
            allowed_queues: queues,
            used,
        },
    })
}
