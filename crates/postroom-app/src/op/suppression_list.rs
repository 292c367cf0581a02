//! `suppression_list`: whom mail is not sent to.

use postroom_core::AddressHash;
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Suppression,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "suppression_list",
    title: "List suppressed addresses",
    description: "List addresses that the tenant's mailboxes do not write to: mail to them came back for good, their owners complained \
        or left, or somebody put them here. Only a masked form of each is kept; its `id` takes it off the list by \
        suppression_remove.",
    toolset: Toolset::Admin,
    permission: Permission::SuppressionsManage,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/suppressions")],
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
    /// Addresses per page.
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
    /// Addresses, in no order that means anything.
    data: Vec<Suppression>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let after: Option<AddressHash> = call.open_cursor(&input.tenant_id, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let store = call.room.store();
    let found = read::suppressions(store, call.scope()?, after.as_ref(), wanted + 1);
    let mut rows = found.await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(call.seal_cursor(&input.tenant_id, &last.hash)?),
        _ => None,
    };
    Ok(Output {
        data: rows.into_iter().map(Suppression::from).collect(),
        next_cursor,
    })
}
