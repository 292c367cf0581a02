//! `key_revoke`: ends a key.

use postroom_core::{Command, KeyRow, Outcome};
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
    name: "key_revoke",
    title: "Revoke a key",
    description: "End a key for good; its next request is refused.",
    toolset: Toolset::Admin,
    permission: Permission::KeysManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrPlatform,
    bucket: None,
    routes: &[
        Route::post("/v1/keys/{key_id}/revoke"),
        Route::delete("/v1/keys/{key_id}"),
    ],
    include: &[],
    annotations: Annotations::CHANGE,
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
    let key = key_in_reach(call, input.key_id).await?;
    // A key may end one that is wider: what leaked must end at once, whoever sees it first.
    let command = Command::RevokeKey {
        tenant: key.tenant_id,
        key: key.id,
    };
    match call.room.store().transact(command).await? {
        Outcome::Key(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// A key of the call's tenant, or a platform key when the call names none.
pub(super) async fn key_in_reach(call: &Call<'_>, id: KeyId) -> Result<KeyRow, Failure> {
    let store = call.room.store();
    let found = match call.scope_if_any() {
        Some(scope) => read::key(store, scope, id).await?,
        None => read::platform_key(store, authorise::platform(call.actor)?, id).await?,
    };
    found.ok_or_else(|| ErrorCode::KeyNotFound.into())
}
