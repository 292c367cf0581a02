//! `import_failure_list`: mail that an import could not take in.

use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, IdentityId, Level, Permission, TenantId, Timestamp};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{self, visible},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "import_failure_list",
    title: "List failed imports",
    description: "List mail that an import could not take in, newest first: where it was read from and why it failed. \
        `import_failure_raw` gives the bytes of those that were kept.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesRead,
    levels: &[Level::Tenant, Level::Platform],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::get("/v1/import-failures")],
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
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only a key of the whole deployment needs it.
    tenant_id: Option<TenantId>,
    /// Failures per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

fn default_limit() -> u32 {
    25
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Failures, newest first.
    data: Vec<Item>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
    /// Present and true when failures were dropped to fit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

/// One failure.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Item {
    /// Its number, for `import_failure_raw`.
    failure_id: u64,
    /// The mailbox that the mail was for.
    identity_id: IdentityId,
    /// The file that it was read from; in an mbox with the offset behind it, bytes.
    location: String,
    /// Why it failed.
    reason: String,
    /// Its length, bytes.
    size: u64,
    /// Whether its bytes are kept.
    kept: bool,
    /// When.
    at: Timestamp,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let below: Option<u64> = call.open_cursor(&input, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let mut rows =
        read::import_failures(call.room.store(), call.scope()?, below, wanted + 1).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let mut data: Vec<Item> = rows
        .into_iter()
        .map(|row| Item {
            failure_id: row.id,
            identity_id: row.identity_id,
            location: visible(&row.location),
            reason: row.reason,
            size: row.size,
            kept: row.sha256.is_some(),
            at: row.at,
        })
        .collect();
    let cut =
        call.for_agent() && view::fit(&mut data, 200, postroom_types::limit::TOOL_RESULT_BYTES);
    let next_cursor = match data.last() {
        Some(last) if more || cut => Some(call.seal_cursor(&input, &last.failure_id)?),
        _ => None,
    };
    Ok(Output {
        data,
        next_cursor,
        truncated: cut.then_some(true),
    })
}
