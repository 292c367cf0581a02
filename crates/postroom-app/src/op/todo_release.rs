//! `todo_release`: a todo is given back.

use postroom_core::{Command, EndAttempt};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TodoId};

use super::working::{self, Changed};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_release",
    title: "Give a todo back",
    description: "Give a todo back so that somebody else can have it at once; the try stays spent. Say in `summary` how far you came.",
    toolset: Toolset::Work,
    permission: Permission::TodosWork,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/release")],
    include: &[],
    annotations: Annotations::ADD,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::Conflict, ErrorCode::NotFound],
    input: schema::input::<Input>,
    output: schema::output::<Changed>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The todo.
    id: TodoId,
    /// The token of your claim; needed when it was made with `require_fence`.
    #[schemars(length(max = 128))]
    lease_token: Option<String>,
    /// What to tell whoever looks next; cut at 2,048 bytes.
    summary: Option<String>,
    /// Where what came of it is kept: an mcp:// or https address of at most 512 bytes.
    artifact: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Changed, Failure> {
    let end = EndAttempt {
        worker: working::worker(call)?,
        todo: input.id,
        lease_token: input.lease_token,
        result: None,
        summary: input.summary,
        artifact: input.artifact,
    };
    Changed::by(call, Command::ReleaseTodo(end)).await
}
