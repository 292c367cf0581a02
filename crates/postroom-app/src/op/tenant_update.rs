//! `tenant_update`: suspends or reactivates a workspace, and changes its name and time zone.

use postroom_core::{Command, Outcome, TenantPatch, TenantStatus};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use super::tenant_create::check_timezone;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Tenant,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "tenant_update",
    title: "Change a tenant",
    description: "Suspend a workspace, so that its keys are refused, or reactivate it; give it another name or time zone.",
    toolset: Toolset::Admin,
    permission: Permission::TenantsManage,
    levels: &[Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::patch("/v1/tenants/{tenant_id}")],
    include: &[],
    annotations: Annotations::CHANGE,
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
    /// The tenant.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: TenantId,
    /// What it becomes.
    status: Option<Status>,
    /// A name for people.
    #[schemars(length(max = 78))]
    name: Option<String>,
    /// IANA time zone that dates in searches are read in.
    #[schemars(length(max = 64))]
    timezone: Option<String>,
}

/// What a tenant can be made.
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It works.
    Active,
    /// Its keys are refused.
    Suspended,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Tenant, Failure> {
    if let Some(timezone) = &input.timezone {
        check_timezone(timezone)?;
    }
    let command = Command::UpdateTenant {
        tenant: call.scope()?.tenant(),
        patch: TenantPatch {
            status: input.status.map(|status| match status {
                Status::Active => TenantStatus::Active,
                Status::Suspended => TenantStatus::Suspended,
            }),
            name: input.name,
            timezone: input.timezone,
        },
    };
    match call.room.store().transact(command).await? {
        Outcome::Tenant(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
