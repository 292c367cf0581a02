//! `source_delete`: an end to a way in.

use postroom_core::Command;
use postroom_types::{Dialect, ErrorCode, Level, Permission, SourceId, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_delete",
    title: "Delete a webhook source",
    description: "Delete a source: its address answers that it is unknown from then on. Its events and todos stay.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::delete("/v1/sources/{source_id}")],
    include: &[],
    annotations: Annotations::CHANGE,
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
    /// The source.
    source_id: SourceId,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The source that was.
    source_id: SourceId,
    /// Always true.
    deleted: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let command = Command::DeleteSource {
        scope: *call.scope()?,
        source: input.source_id,
    };
    call.room.store().transact(command).await?;
    Ok(Output {
        source_id: input.source_id,
        deleted: true,
    })
}
