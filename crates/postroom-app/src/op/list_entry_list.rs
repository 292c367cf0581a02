//! `list_entry_list`: the allow and block lists.

use postroom_core::ListDirection;
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, TenantId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::ListEntry,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "list_entry_list",
    title: "List allowed and blocked addresses",
    description: "List the addresses and domains that the tenant's mailboxes may or may not write to. Block beats allow; the allow list \
        binds while the policy says `send_allowlist_only`.",
    toolset: Toolset::Admin,
    permission: Permission::PolicyWrite,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/list-entries")],
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
    /// Entries per page.
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
    /// Entries, in the order of their text.
    data: Vec<ListEntry>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let after: Option<String> = call.open_cursor(&input.tenant_id, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let (store, scope) = (call.room.store(), call.scope()?);
    let direction = ListDirection::Send;
    // An entry may stand on both lists, and the place of a page is its text: one more is read.
    let found = read::list_entries(store, scope, direction, after.as_deref(), wanted + 2);
    let mut rows = found.await?;
    let more = rows.len() > wanted;
    let mut kept = wanted.min(rows.len());
    while more && kept > 0 && kept < rows.len() {
        let last = rows.get(kept - 1).map(|row| &row.entry);
        if rows.get(kept).map(|row| &row.entry) != last {
            break;
        }
        kept += 1;
    }
    let more = more && kept < rows.len();
    rows.truncate(kept);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(call.seal_cursor(&input.tenant_id, &last.entry)?),
        _ => None,
    };
    Ok(Output {
        data: rows.into_iter().map(ListEntry::from).collect(),
        next_cursor,
    })
}
