//! `queue_update`: how much a queue gives out.

use postroom_core::{Command, Outcome, SetQueue};
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission};

use super::{source_create::check_granted, working};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Queue,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "queue_update",
    title: "Set up a queue",
    description: "Pause a queue or let it go on, and bound how many of its todos may be worked on at once. What is being worked on \
        goes on.",
    toolset: Toolset::Admin,
    permission: Permission::TodosWork,
    levels: &[Level::Tenant],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::patch("/v1/queues/{queue}")],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::CeilingExceeded, ErrorCode::Forbidden],
    input: schema::input::<Input>,
    output: schema::output::<Queue>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The queue.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    queue: String,
    /// Whether it gives out no work.
    paused: Option<bool>,
    /// How many of its todos may be worked on at once; 0 lifts the bound.
    #[schemars(range(min = 0, max = 100000))]
    max_in_flight: Option<u64>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Queue, Failure> {
    check_granted(&call.actor.grants, &input.queue)?;
    let command = SetQueue {
        scope: *call.scope()?,
        queue: input.queue,
        paused: input.paused,
        max_in_flight: input.max_in_flight.map(|most| (most > 0).then_some(most)),
    };
    let store = call.room.store();
    match store.transact(Command::SetQueue(command)).await? {
        Outcome::Queue(row) => {
            let counts = read::queue_counts(store, &working::worker(call)?).await?;
            Ok(Queue::new(&row.name, Some(&row), counts.get(&row.name)))
        }
        _ => Err(ErrorCode::InternalError.into()),
    }
}
