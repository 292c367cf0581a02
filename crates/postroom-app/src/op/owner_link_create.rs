//! `owner_link_create`: a way into the page for a person who has none.

use postroom_types::{Dialect, ErrorCode, Level, Permission, Timestamp};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "owner_link_create",
    title: "Make an owner link",
    description: "Make a link that signs one person in to the page, once, within seven days. Links that nobody used end; sessions \
        that are open stay.",
    toolset: Toolset::Admin,
    permission: Permission::TenantsManage,
    levels: &[Level::Platform],
    scope: ScopeRule::Platform,
    bucket: None,
    routes: &[Route::post("/v1/owner-links").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::Unavailable],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments: none.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The link. It is a secret until it is used.
    url: String,
    /// Until when it can be used.
    expires_at: Timestamp,
}

async fn run(call: &Call<'_>, _: Input) -> Result<Output, Failure> {
    let (token, expires_at) = call.room.new_owner_link().await?;
    Ok(Output {
        url: format!("{}/owner/{}", call.room.url(), token.expose()),
        expires_at,
    })
}
