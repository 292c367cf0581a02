//! `todo_list`: the work there is, newest first.

use postroom_core::TodoState;
use postroom_store::read::{self, TodoFilter};
use postroom_types::{Dialect, Level, Permission, TodoId};

use super::working;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{ContentNotice, Todo},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_list",
    title: "List todos",
    description: "List todos of the queues you may see, newest first, without payloads. To work, do not pick from this list: \
        todo_claim_next gives you the next one and keeps others off it.",
    toolset: Toolset::Work,
    permission: Permission::TodosRead,
    levels: &[Level::Identity, Level::Tenant],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/todos")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Only of this queue.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    queue: Option<String>,
    /// Only in this state.
    state: Option<State>,
    /// Todos per page.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: u32,
    /// `next_cursor` of the page before, with the same filters.
    cursor: Option<String>,
}

/// How far a todo is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum State {
    /// It waits.
    Pending,
    /// Somebody has it.
    Claimed,
    /// It is done.
    Done,
    /// It failed: until its next try, or for good.
    Failed,
}

impl From<State> for TodoState {
    fn from(state: State) -> Self {
        match state {
            State::Pending => Self::Pending,
            State::Claimed => Self::Claimed,
            State::Done => Self::Done,
            State::Failed => Self::Failed,
        }
    }
}

fn default_limit() -> u32 {
    50
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Todos, newest first.
    todos: Vec<Todo>,
    /// Gives the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Says that this result holds text written by outsiders.
    content_notice: ContentNotice,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let filters = (&input.queue, &input.state);
    let below: Option<TodoId> = call.open_cursor(&filters, input.cursor.as_deref())?;
    let wanted = input.limit as usize;
    let filter = TodoFilter {
        queue: input.queue.clone(),
        state: input.state.map(TodoState::from),
        below,
        limit: wanted + 1,
    };
    let mut rows = read::todos(call.room.store(), &working::worker(call)?, &filter).await?;
    let more = rows.len() > wanted;
    rows.truncate(wanted);
    let next_cursor = match rows.last() {
        Some(last) if more => Some(call.seal_cursor(&filters, &last.id)?),
        _ => None,
    };
    Ok(Output {
        todos: working::todos(call, &rows).await?,
        next_cursor,
        content_notice: ContentNotice,
    })
}
