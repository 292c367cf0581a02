//! `key_get`: one key without its secret.

use postroom_types::{Dialect, ErrorCode, KeyId, Level, Permission, TenantId};

use super::key_revoke::key_in_reach;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ApiKey,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "key_get",
    title: "Read a key",
    description: "Read one key: what it may do, when it was last used, when it ends. Never its secret.",
    toolset: Toolset::Admin,
    permission: Permission::KeysManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrPlatform,
    bucket: None,
    routes: &[Route::get("/v1/keys/{key_id}")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::KeyNotFound, ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<ApiKey>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The key's tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The key.
    key_id: KeyId,
}

async fn run(call: &Call<'_>, input: Input) -> Result<ApiKey, Failure> {
    Ok(key_in_reach(call, input.key_id).await?.into())
}
