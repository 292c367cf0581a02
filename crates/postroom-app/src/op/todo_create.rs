//! `todo_create`: work that a person or a program opens.

use postroom_core::{Command, CreateTodo, Work};
use postroom_store::read;
use postroom_types::{Address, Dialect, ErrorCode, IdentityId, KeyId, Level, Permission};
use serde_json::Value;

use super::working;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::{ContentNotice, Todo},
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "todo_create",
    title: "Open a todo",
    description: "Open work in a queue. While a todo of the same owner with the same `idempotency_key` is live, that one is given \
        back and `created` is false; on the same `subject_key` it joins one that still waits.",
    toolset: Toolset::Admin,
    permission: Permission::TodosWork,
    levels: &[Level::Tenant],
    scope: ScopeRule::Tenant,
    bucket: None,
    routes: &[Route::post("/v1/todos").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Forbidden,
        ErrorCode::IdentityNotFound,
        ErrorCode::NotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The queue; one that is not there begins with its first todo.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9._-]{0,63}$"))]
    queue: String,
    /// One line for people; cut at 200 characters.
    #[schemars(length(min = 1))]
    title: String,
    /// What the work needs to know, any JSON of at most 64 KiB.
    payload: Option<Value>,
    /// Id or address of the mailbox it belongs to: its agents see it. Without it only keys of the
    /// tenant do.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// What kind of work it is.
    kind: Option<String>,
    /// Where it comes from, in your own word.
    #[schemars(length(min = 1, max = 64))]
    source: Option<String>,
    /// No second todo is opened while one with this key is live.
    idempotency_key: Option<String>,
    /// What it is about.
    subject_key: Option<String>,
    /// Larger goes first, -100 to 100.
    #[serde(default)]
    priority: i64,
    /// Words to find it by.
    tags: Option<Vec<String>>,
    /// The only key that may claim it.
    assignee: Option<KeyId>,
    /// Tries it has; 5 when left out.
    #[schemars(range(min = 1, max = 100))]
    max_attempts: Option<u64>,
    /// The event it is for; without `payload`, that one's is its payload.
    #[schemars(range(min = 1))]
    event_id: Option<u64>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The todo.
    #[serde(flatten)]
    todo: Todo,
    /// Whether it is new; false for one with the same key or subject that was there.
    created: bool,
    /// Says that this result holds text written by outsiders.
    content_notice: ContentNotice,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let identity = match input.identity.as_deref() {
        Some(named) => Some(identity(call, named).await?),
        None => None,
    };
    if let Some(key) = input.assignee {
        // What nobody could ever claim; a key elsewhere is as much missing as one that never was.
        let found = read::key(call.room.store(), call.scope()?, key).await?;
        found
            .filter(|key| key.revoked_at.is_none())
            .ok_or(Failure::new(ErrorCode::NotFound))?;
    }
    let command = CreateTodo {
        worker: working::worker(call)?,
        identity,
        work: Work {
            queue: Some(input.queue),
            kind: input.kind,
            title: input.title,
            idempotency_key: input.idempotency_key,
            subject_key: input.subject_key,
            priority: input.priority,
            tags: input.tags.unwrap_or_default(),
            assignee: input.assignee,
            max_attempts: input.max_attempts,
            quarantine_reason: None,
        },
        source: input.source,
        payload: input.payload.map(|payload| payload.to_string()),
        event_id: input.event_id,
    };
    let (row, created) = working::changed(call, Command::CreateTodo(Box::new(command))).await?;
    Ok(Output {
        todo: working::todo(call, &row).await?,
        created,
        content_notice: ContentNotice,
    })
}

/// The identity of that id or address.
async fn identity(call: &Call<'_>, named: &str) -> Result<IdentityId, Failure> {
    let (store, scope) = (call.room.store(), call.scope()?);
    let found = match named.parse::<IdentityId>() {
        Ok(id) => read::identity(store, scope, id).await?,
        Err(_) => match Address::parse(named) {
            Ok(address) => read::identity_by_address(store, scope, &address).await?,
            Err(_) => None,
        },
    };
    found
        .map(|identity| identity.row.id)
        .ok_or_else(|| ErrorCode::IdentityNotFound.into())
}
