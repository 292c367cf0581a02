//! `mail_list_identities`: the mailboxes a key may act as.

use postroom_core::IdentityStatus;
use postroom_store::read::{self, IdentityFilter};
use postroom_types::{Dialect, ErrorCode, IdentityId, Level, Permission, TenantId, limit};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{self, Identity},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_list_identities",
    title: "List mailboxes",
    description: "List the mailboxes (identities) that this key may act as. Call it first when you are not sure whom to act as; \
        the other mail tools take an id or address from here as `identity`.",
    toolset: Toolset::Mail,
    permission: Permission::IdentitiesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/identities")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::TenantNotFound, ErrorCode::CursorExpired],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant to list; only a key of the whole deployment needs it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<TenantId>,
    /// Only identities in this state.
    status: Option<Status>,
    /// Only identities with exactly this purpose.
    #[schemars(length(max = 64))]
    purpose: Option<String>,
    /// Identities per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// States that a list can ask for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It works.
    Active,
    /// It receives and does not send.
    Paused,
}

impl From<Status> for IdentityStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Active => Self::Active,
            Status::Paused => Self::Paused,
        }
    }
}

fn default_limit() -> u32 {
    25
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Identities, oldest first.
    data: Vec<Identity>,
    /// Gives the next page; null on the last one.
    next_cursor: Option<String>,
    /// Present and true when identities were dropped to fit the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let filters = (input.status, &input.purpose);
    let after: Option<IdentityId> = call.open_cursor(&filters, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let filter = IdentityFilter {
        status: input.status.map(IdentityStatus::from),
        purpose: input.purpose.clone(),
        after,
        limit: wanted + 1,
    };
    let found = read::identities(call.room.store(), call.scope()?, &filter).await?;
    let more = found.len() > wanted;
    let mut data: Vec<Identity> = found
        .into_iter()
        .take(wanted)
        .map(|found| Identity::new(found.row, found.addresses))
        .collect();
    let cut = call.for_agent() && view::fit(&mut data, 200, limit::TOOL_RESULT_BYTES);
    let last = data.last().map(|identity| identity.id);
    Ok(Output {
        next_cursor: match last {
            Some(last) if more || cut => Some(call.seal_cursor(&filters, &last)?),
            _ => None,
        },
        truncated: cut.then_some(true),
        data,
    })
}
