//! `draft_delete`: drops a draft.

use postroom_core::Command;
use postroom_types::{Dialect, DraftId, ErrorCode, Level, Permission};

use super::drafting;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "draft_delete",
    title: "Drop a draft",
    description: "Drop a draft that will not be sent.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::delete(
        "/v1/identities/{identity_id}/drafts/{draft_id}",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::DraftNotFound, ErrorCode::IdentityNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address. An agent's key may leave it out.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The draft.
    draft_id: DraftId,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The draft that was dropped.
    id: DraftId,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let row = drafting::draft(call, input.draft_id).await?;
    let command = Command::RemoveDraft {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        draft: row.id,
    };
    call.room.store().transact(command).await?;
    Ok(Output { id: row.id })
}
