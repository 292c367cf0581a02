//! `draft_list`: drafts of a mailbox.

use postroom_store::read;
use postroom_types::{Dialect, DraftId, ErrorCode, Level, Permission, limit};

use super::drafting::Draft;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema, view,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "draft_list",
    title: "List drafts",
    description: "List the drafts of a mailbox, the one that was begun last first.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get("/v1/identities/{identity_id}/drafts")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::CursorExpired, ErrorCode::IdentityNotFound],
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
    /// Drafts per page.
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
    /// Drafts.
    data: Vec<Draft>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
    /// Present and true when drafts were dropped to fit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let identity = call.identity()?;
    let below: Option<DraftId> = call.open_cursor(&identity, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let (store, scope) = (call.room.store(), call.scope()?);
    let mut rows = read::drafts(store, scope, identity, below, wanted + 1).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let drafts: Result<Vec<Draft>, Failure> =
        rows.iter().map(|row| Draft::new(call.room, row)).collect();
    let mut data = drafts?;
    let cut = call.for_agent() && view::fit(&mut data, 200, limit::TOOL_RESULT_BYTES);
    let next_cursor = match data.last() {
        Some(last) if more || cut => Some(call.seal_cursor(&identity, &last.id)?),
        _ => None,
    };
    Ok(Output {
        next_cursor,
        truncated: cut.then_some(true),
        data,
    })
}
