//! `queue_list`: queues, their settings, and how much is in them.

use std::collections::BTreeSet;

use postroom_store::read;
use postroom_types::{Dialect, Level, Permission};

use super::working;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Queue,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "queue_list",
    title: "List queues",
    description: "List the queues you may see: how many todos of each state, how old the oldest waiting one is, and whether the \
        queue gives out work.",
    toolset: Toolset::Admin,
    permission: Permission::TodosRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/queues")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// No arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Queues by name.
    queues: Vec<Queue>,
}

async fn run(call: &Call<'_>, _: Input) -> Result<Output, Failure> {
    let (store, worker) = (call.room.store(), working::worker(call)?);
    let counts = read::queue_counts(store, &worker).await?;
    let settings = read::queues(store, &worker).await?;
    let names: BTreeSet<&str> = counts
        .keys()
        .map(String::as_str)
        .chain(settings.iter().map(|row| row.name.as_str()))
        .collect();
    let queue = |name: &str| {
        let settings = settings.iter().find(|row| row.name == name);
        Queue::new(name, settings, counts.get(name))
    };
    Ok(Output {
        queues: names.into_iter().map(queue).collect(),
    })
}
