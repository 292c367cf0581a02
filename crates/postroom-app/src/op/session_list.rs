//! `session_list`: documents that are worked on.

use postroom_store::read;
use postroom_types::{Dialect, Level, Permission};

use super::document_sessions::Session;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "session_list",
    title: "List saved documents",
    description: "The documents that were saved with session_put, the newest first, without their content.",
    toolset: Toolset::Admin,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/document-sessions")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only platform keys name it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<postroom_types::TenantId>,
    /// At most so many.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// Those saved first before this one: the id of the last one of a page.
    before: Option<postroom_types::DocumentSessionId>,
}

fn usual() -> usize {
    25
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Documents, the newest first.
    data: Vec<Session>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let rows = read::document_sessions(call.room.store(), call.scope()?, input.before, input.limit)
        .await?;
    Ok(Output {
        data: rows.iter().map(Session::from).collect(),
    })
}
