//! `identity_update`: changes a mailbox.

use std::collections::BTreeMap;

use postroom_core::{Command, IdentityPatch, Outcome, UpdateIdentity};
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use super::mail_list_identities::Status;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{Identity, Owner},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "identity_update",
    title: "Change a mailbox",
    description: "Change a mailbox's name, purpose, owner or metadata, or pause and resume it. A paused mailbox still receives.",
    toolset: Toolset::Admin,
    permission: Permission::IdentitiesWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::patch("/v1/identities/{identity_id}")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Identity>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Id or address of the mailbox.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Pauses or resumes it.
    status: Option<Status>,
    /// The name people see.
    #[schemars(length(min = 1, max = 78))]
    display_name: Option<String>,
    /// What it is for; empty takes it away.
    #[schemars(length(max = 64))]
    purpose: Option<String>,
    /// The person who answers for it.
    owner: Option<Owner>,
    /// All of its metadata.
    metadata: Option<BTreeMap<String, String>>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Identity, Failure> {
    let patch = IdentityPatch {
        status: input.status.map(Into::into),
        display_name: input.display_name,
        purpose: input
            .purpose
            .map(|purpose| (!purpose.is_empty()).then_some(purpose)),
        owner: input.owner.map(|owner| Some(owner.into_row())),
        metadata: input.metadata,
        ..IdentityPatch::default()
    };
    let command = Command::UpdateIdentity(UpdateIdentity {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        patch,
    });
    match call.room.store().transact(command).await? {
        Outcome::Identity { row, addresses, .. } => Ok(Identity::new(row, addresses)),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
