//! `draft_get`: one draft.

use postroom_types::{Dialect, DraftId, ErrorCode, Level, Permission};

use super::drafting::{self, Draft};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "draft_get",
    title: "Read a draft",
    description: "Read one draft with all that is kept of it.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get("/v1/identities/{identity_id}/drafts/{draft_id}")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::DraftNotFound, ErrorCode::IdentityNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Draft>,
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

async fn run(call: &Call<'_>, input: Input) -> Result<Draft, Failure> {
    let row = drafting::draft(call, input.draft_id).await?;
    Draft::new(call.room, &row)
}
