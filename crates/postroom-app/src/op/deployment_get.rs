//! `deployment_get`: how the deployment stands.

use postroom_types::{Dialect, Level, Permission};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    status::Status,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "deployment_get",
    title: "Show the deployment's state",
    description: "Show the version, the database, how much mail there is in all tenants, and how far the search index is.",
    toolset: Toolset::Admin,
    permission: Permission::TenantsManage,
    levels: &[Level::Platform],
    scope: ScopeRule::Platform,
    bucket: None,
    routes: &[Route::get("/v1/deployment")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Status>,
    handler: json_handler!(run),
};

/// No arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

async fn run(call: &Call<'_>, _: Input) -> Result<Status, Failure> {
    call.room.status().await
}
