//! `todo_retry`: a failed todo gets all its tries again.

use postroom_core::{Command, RetryTodo};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TodoId};

use super::working::{self, Changed};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_retry",
    title: "Try a todo again",
    description: "Make a failed todo wait again at once, with all its tries: a dead letter, or one whose pause goes on.",
    toolset: Toolset::Admin,
    permission: Permission::TodosWork,
    levels: &[Level::Tenant],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/retry")],
    include: &[],
    annotations: Annotations::CHANGE,
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
    /// The failed todo.
    id: TodoId,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Changed, Failure> {
    let command = Command::RetryTodo(RetryTodo {
        worker: working::worker(call)?,
        todo: input.id,
    });
    Changed::by(call, command).await
}
