//! `thread_update`: labels, read state and archive of a thread.

use postroom_core::{ArchiveThread, Command, Target, UpdateLabels};
use postroom_store::read;
use postroom_types::{Dialect, ErrorCode, Level, Permission, ThreadId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "thread_update",
    title: "Change a thread",
    description: "Put a thread away (`archived` true) or take it back, and change the labels and the read state of all its \
        messages. New mail brings an archived thread back.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesWrite,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::patch(
        "/v1/identities/{identity_id}/threads/{thread_id}",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::ThreadNotFound],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address. An agent's key may leave it out.
    #[expect(dead_code, reason = "read where the scope is granted")]
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The thread.
    thread_id: ThreadId,
    /// Labels to put on every message.
    #[schemars(
        length(max = 64),
        inner(regex(pattern = r"^[a-z0-9][a-z0-9_:-]{0,63}$"))
    )]
    labels_add: Option<Vec<String>>,
    /// Labels to take off every message.
    #[schemars(
        length(max = 64),
        inner(regex(pattern = r"^[a-z0-9][a-z0-9_:-]{0,63}$"))
    )]
    labels_remove: Option<Vec<String>>,
    /// Mark all of it as read (true) or unread (false).
    read: Option<bool>,
    /// Put it away (true) or take it back (false).
    archived: Option<bool>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The thread.
    id: ThreadId,
    /// The labels of all its messages.
    labels: Vec<String>,
    /// Whether all of it is read.
    read: bool,
    /// Whether it is archived.
    archived: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let (tenant, identity) = (call.scope()?.tenant(), call.identity()?);
    let add = input.labels_add.unwrap_or_default();
    let remove = input.labels_remove.unwrap_or_default();
    let marks = !(add.is_empty() && remove.is_empty() && input.read.is_none());
    if !marks && input.archived.is_none() {
        return Err(Failure::invalid(
            "archived",
            "give archived, labels_add, labels_remove or read",
        ));
    }
    let labels = UpdateLabels {
        tenant,
        identity,
        target: Target::Thread(input.thread_id),
        add,
        remove,
        read: input.read,
    };
    let archive = input.archived.map(|archived| ArchiveThread {
        tenant,
        identity,
        thread: input.thread_id,
        archived,
    });
    let labels = marks.then_some(labels).map(Command::UpdateLabels);
    let commands = labels
        .into_iter()
        .chain(archive.map(Command::ArchiveThread));
    let store = call.room.store();
    for answer in store.transact_all(commands.collect()).await? {
        answer?;
    }
    let thread = read::thread(store, call.scope()?, input.thread_id).await?;
    let thread = thread.ok_or(ErrorCode::ThreadNotFound)?;
    Ok(Output {
        id: thread.row.id,
        labels: thread.labels,
        read: thread.row.unread_count == 0,
        archived: thread.row.archived,
    })
}
