//! `key_list`: the keys of a tenant, or of the deployment.

use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, KeyId, Level, Permission, TenantId};

use crate::{
    Failure, authorise,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ApiKey,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "key_list",
    title: "List keys",
    description: "List keys without their secrets, oldest first. A key of the whole deployment sees the platform's own keys unless it \
        names a tenant.",
    toolset: Toolset::Admin,
    permission: Permission::KeysManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrPlatform,
    bucket: None,
    routes: &[Route::get("/v1/keys")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::CursorExpired, ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    tenant_id: Option<TenantId>,
    /// Keys per page.
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
    /// Keys, oldest first.
    data: Vec<ApiKey>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let after: Option<KeyId> = call.open_cursor(&input.tenant_id, input.cursor.as_deref())?;
    let (store, wanted) = (call.room.store(), input.limit as usize);
    let mut rows = match call.scope_if_any() {
        Some(scope) => read::keys(store, scope, after, wanted + 1).await?,
        None => {
            let scope = authorise::platform(call.actor)?;
            read::platform_keys(store, scope, after, wanted + 1).await?
        }
    };
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(call.seal_cursor(&input.tenant_id, &last.id)?),
        _ => None,
    };
    Ok(Output {
        data: rows.into_iter().map(ApiKey::from).collect(),
        next_cursor,
    })
}
