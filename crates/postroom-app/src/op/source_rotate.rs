//! `source_rotate`: another address, and another secret where we make it.

use postroom_core::{Command, Outcome, RotateSource, SecretOrigin};
use postroom_types::{Dialect, ErrorCode, Level, Permission, SourceId, TenantId};

use super::sourcing::{is_agents, provider_of, sealed, source_in_reach};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    room::ingest_url,
    schema,
    source::mint,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "source_rotate",
    title: "Rotate a webhook source",
    description: "Give a source a new address, and a new signing secret where we make it; both are shown once and the old ones are dead at \
        once. A secret that the provider issued stays: change it with source_set_secret.",
    toolset: Toolset::Sources,
    permission: Permission::SourcesManage,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/sources/{source_id}/rotate")],
    include: &[],
    annotations: Annotations {
        read_only: false,
        destructive: true,
        idempotent: false,
        open_world: false,
    },
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::NotFound, ErrorCode::TenantNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// The source.
    source_id: SourceId,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The source.
    source_id: SourceId,
    /// The new address to give to the provider.
    ingest_url: String,
    /// The new signing secret that we made; never shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    signing_secret: Option<String>,
    /// Present and true when the secret is not ours to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret_unchanged: Option<bool>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let source = source_in_reach(call, input.source_id).await?.row;
    let (store, tenant) = (call.room.store(), source.tenant_id);
    let minted = match source.secret_origin {
        SecretOrigin::Minted => Some(mint(provider_of(&source)?)?),
        SecretOrigin::Provider | SecretOrigin::None => None,
    };
    let token = store.mint_token()?;
    let command = Command::RotateSource(RotateSource {
        scope: *call.scope()?,
        source: source.id,
        token: store.seal_token(tenant, &token)?,
        by_agent: is_agents(call, &source.provider),
        secret: minted
            .as_ref()
            .map(|secret| sealed(store, tenant, secret))
            .transpose()?,
    });
    match store.transact(command).await? {
        Outcome::Source(row) => Ok(Output {
            source_id: row.id,
            ingest_url: ingest_url(call.room, token.token.expose()),
            secret_unchanged: minted.is_none().then_some(true),
            signing_secret: minted.map(|secret| secret.expose().clone()),
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
