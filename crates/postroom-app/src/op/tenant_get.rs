//! `tenant_get`: one workspace.

use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Tenant,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "tenant_get",
    title: "Read a tenant",
    description: "Read one workspace: its state, mode and time zone.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesRead,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/tenants/{tenant_id}")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Tenant>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; a tenant's key may leave it out.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
}

async fn run(call: &Call<'_>, _input: Input) -> Result<Tenant, Failure> {
    read::tenant(call.room.store(), call.scope()?)
        .await?
        .map(Tenant::from)
        .ok_or_else(|| ErrorCode::TenantNotFound.into())
}
