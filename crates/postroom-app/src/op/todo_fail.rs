//! `todo_fail`: an attempt did not work.

use postroom_core::Command;
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use super::working::{Changed, LastWord};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_fail",
    title: "Give up an attempt",
    description: "Say that an attempt did not work and why, in `summary`. The todo is tried again after a pause that grows with each \
        try, and becomes a dead letter once its tries are spent. To hand it back untried use todo_release.",
    toolset: Toolset::Work,
    permission: Permission::TodosWork,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/fail")],
    include: &[],
    annotations: Annotations::ADD,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::Conflict, ErrorCode::NotFound],
    input: schema::input::<LastWord>,
    output: schema::output::<Changed>,
    handler: json_handler!(run),
};

async fn run(call: &Call<'_>, input: LastWord) -> Result<Changed, Failure> {
    Changed::by(call, Command::FailTodo(input.into_end(call)?)).await
}
