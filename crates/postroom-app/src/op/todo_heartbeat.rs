//! `todo_heartbeat`: a lease is kept.

use postroom_core::{Command, HeartbeatTodo};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TodoId};

use super::working::{self, Changed};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_heartbeat",
    title: "Keep a todo",
    description: "Say that you still work on a todo: its lease begins anew. Do it well before `lease_expires_at`; after that it is \
        refused as `conflict` and somebody else may have the todo.",
    toolset: Toolset::Work,
    permission: Permission::TodosWork,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/heartbeat")],
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
    /// How long the lease lasts from now, in seconds; 300 when left out.
    #[schemars(range(min = 1, max = 86400))]
    lease_ttl_seconds: Option<u64>,
    /// A word on how it goes, at most 512 bytes.
    #[schemars(length(min = 1, max = 512))]
    note: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Changed, Failure> {
    let command = Command::HeartbeatTodo(HeartbeatTodo {
        worker: working::worker(call)?,
        todo: input.id,
        lease_token: input.lease_token,
        seconds: input.lease_ttl_seconds,
        note: input.note,
    });
    Changed::by(call, command).await
}
