//! `tenant_list`: the workspaces of the deployment.

use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure, authorise,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Tenant,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "tenant_list",
    title: "List tenants",
    description: "List the workspaces of the deployment, oldest first.",
    toolset: Toolset::Admin,
    permission: Permission::TenantsManage,
    levels: &[Level::Platform],
    scope: ScopeRule::Platform,
    bucket: None,
    routes: &[Route::get("/v1/tenants")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::CursorExpired],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Tenants per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    25
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Tenants, oldest first.
    data: Vec<Tenant>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let after: Option<TenantId> = call.open_cursor(&(), input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let scope = authorise::platform(call.actor)?;
    let mut rows = read::tenants(call.room.store(), scope, after, wanted + 1).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(call.seal_cursor(&(), &last.id)?),
        _ => None,
    };
    Ok(Output {
        data: rows.into_iter().map(Tenant::from).collect(),
        next_cursor,
    })
}
