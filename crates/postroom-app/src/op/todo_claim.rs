//! `todo_claim`: one todo that is known by its id.

use postroom_core::{ClaimTodo, Command, LeaseTerms, Outcome};
use postroom_types::{Dialect, ErrorCode, Level, Permission, TodoId};

use super::working::{self, Claim};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_claim",
    title: "Claim a todo",
    description: "Take one known todo under a lease and get its payload. Others cannot have it until you finish it or the lease \
        ends. `conflict` when somebody else has it or it is closed. Usually todo_claim_next is what you want.",
    toolset: Toolset::Work,
    permission: Permission::TodosWork,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::post("/v1/todos/{id}/claim")],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Conflict,
        ErrorCode::Deferred,
        ErrorCode::NotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Claim>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The todo.
    id: TodoId,
    /// How long the lease lasts without a heartbeat, in seconds; 300 when left out.
    #[schemars(range(min = 1, max = 86400))]
    lease_ttl_seconds: Option<u64>,
    /// Whether every later word on it must carry `lease_token`.
    #[serde(default)]
    require_fence: bool,
    /// A name for yourself, at most 128 bytes, that others see.
    #[schemars(length(min = 1, max = 128))]
    claimant: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Claim, Failure> {
    let command = Command::ClaimTodo(ClaimTodo {
        worker: working::worker(call)?,
        todo: input.id,
        terms: LeaseTerms {
            seconds: input.lease_ttl_seconds,
            require_fence: input.require_fence,
            claimant: input.claimant,
        },
    });
    match call.room.store().transact(command).await? {
        Outcome::Claimed(claimed) => working::hand_over(call, *claimed).await,
        _ => Err(ErrorCode::InternalError.into()),
    }
}
