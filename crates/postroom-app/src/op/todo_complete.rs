//! `todo_complete`: a todo is done.

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
    name: "todo_complete",
    title: "Finish a todo",
    description: "Say that a todo is done, with what came of it. `conflict` means that your lease had ended: the todo may be \
        somebody else's now, and what you brought is kept beside your attempt.",
    toolset: Toolset::Work,
    permission: Permission::TodosWork,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/complete")],
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
    Changed::by(call, Command::CompleteTodo(input.into_end(call)?)).await
}
