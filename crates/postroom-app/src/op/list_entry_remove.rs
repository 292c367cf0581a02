//! `list_entry_remove`: takes an entry off a list.

use postroom_core::Command;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use super::listing::{self, Kind};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "list_entry_remove",
    title: "Take an entry off a list",
    description: "Take an address or domain off the allow list or the block list.",
    toolset: Toolset::Admin,
    permission: Permission::PolicyWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/list-entries/remove")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressUnsupported,
        ErrorCode::ListEntryNotFound,
        ErrorCode::TenantNotFound,
    ],
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
    /// Which list.
    kind: Kind,
    /// The entry as it is listed.
    #[schemars(length(max = 254))]
    entry: String,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Always true: it is on that list no more.
    removed: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let entry = listing::entry(call.scope()?.tenant(), input.kind, &input.entry)?;
    let command = Command::RemoveListEntry(entry);
    call.room.store().transact(command).await?;
    Ok(Output { removed: true })
}
