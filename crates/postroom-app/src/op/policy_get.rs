//! `policy_get`: what a tenant's mailboxes may send.

use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use super::sending::policy;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Policy,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "policy_get",
    title: "Read the sending policy",
    description: "Read what the tenant's mailboxes may send, as it holds now: built-in values with the tenant's own over them.",
    toolset: Toolset::Admin,
    permission: Permission::UsageRead,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/policy")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Policy>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
}

async fn run(call: &Call<'_>, _: Input) -> Result<Policy, Failure> {
    policy::in_force(call).await.map(Policy::from)
}
