//! `key_rotate`: a new secret for a key.

use postroom_core::{Command, Outcome, RotateKey};
use postroom_types::{Dialect, ErrorCode, KeyId, Level, Permission, TenantId};

use super::{key_create, key_revoke::key_in_reach};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "key_rotate",
    title: "Rotate a key",
    description: "Give a key a new secret, shown once in this answer; the old one goes on for `overlap_hours`.",
    toolset: Toolset::Admin,
    permission: Permission::KeysManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrPlatform,
    bucket: None,
    routes: &[Route::post("/v1/keys/{key_id}/rotate")],
    include: &[],
    annotations: Annotations {
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: false,
    },
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::KeyNotFound,
        ErrorCode::KeyScopeExceeded,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<key_create::Output>,
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
    /// How long the old secret goes on.
    #[serde(default = "default_overlap_hours")]
    #[schemars(range(min = 0, max = 168))]
    overlap_hours: u64,
}

fn default_overlap_hours() -> u64 {
    24
}

async fn run(call: &Call<'_>, input: Input) -> Result<key_create::Output, Failure> {
    let key = key_in_reach(call, input.key_id).await?;
    key_create::check_not_wider(call.actor, key.level, &key.permissions)?;
    key_create::check_grants_not_wider(call.actor, key.level, &key.permissions, &key.grants)?;
    key_create::check_mode_not_wider(call.actor, key.mode)?;
    let minted = call.room.store().mint_key(key.mode)?;
    let command = Command::RotateKey(RotateKey {
        tenant: key.tenant_id,
        key: key.id,
        overlap_hours: input.overlap_hours,
        credential: minted.credential,
    });
    match call.room.store().transact(command).await? {
        Outcome::Key(row) => Ok(key_create::Output {
            key: row.into(),
            secret: minted.token.expose().clone(),
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
