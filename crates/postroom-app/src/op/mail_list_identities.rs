//! `mail_list_identities`: the mailboxes a key may act as.

use postroom_types::{Dialect, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_list_identities",
    title: "List mailboxes",
    description: "List the mailboxes (identities) this key may act as. Call it first when you are not sure whom to act as: \
        pass an id or address from it as `identity` to the other mail tools.",
    toolset: Toolset::Mail,
    permission: Permission::IdentitiesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/identities")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only for keys of the whole deployment: the tenant to list.
    #[expect(dead_code, reason = "read by authorise")]
    tenant_id: Option<TenantId>,
    /// Only identities in this state.
    status: Option<Status>,
    /// Only identities with exactly this purpose.
    #[schemars(length(max = 64))]
    purpose: Option<String>,
    /// Identities per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Active,
    Paused,
}

fn default_limit() -> u32 {
    25
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    data: Vec<serde_json::Value>,
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let _ = (
        call.scope()?,
        input.status,
        input.purpose,
        input.limit,
        input.cursor,
    );
    Ok(Output {
        data: Vec::new(),
        next_cursor: None,
    })
}
