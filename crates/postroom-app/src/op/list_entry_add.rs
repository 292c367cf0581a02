//! `list_entry_add`: an address or domain that may, or may not, be written to.

use postroom_core::{Command, Outcome};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use super::listing::{self, Kind};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ListEntry,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "list_entry_add",
    title: "Allow or block an address",
    description: "Put an address, or a domain as `@example.com`, on the allow list or the block list. Mail to what is blocked is \
        suppressed for that recipient.",
    toolset: Toolset::Admin,
    permission: Permission::PolicyWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/list-entries").answering(201)],
    include: &[],
    annotations: Annotations::ADD,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::AddressInvalid,
        ErrorCode::AddressUnsupported,
        ErrorCode::CeilingExceeded,
        ErrorCode::TenantNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<ListEntry>,
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
    /// An address, or a domain as `@example.com`.
    #[schemars(length(max = 254))]
    entry: String,
}

async fn run(call: &Call<'_>, input: Input) -> Result<ListEntry, Failure> {
    let entry = listing::entry(call.scope()?.tenant(), input.kind, &input.entry)?;
    let command = Command::PutListEntry(entry);
    match call.room.store().transact(command).await? {
        Outcome::ListEntry(row) => Ok(row.into()),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
