//! `mail_update_labels`: mark what was handled.

use postroom_core::{Command, Outcome, Target, UpdateLabels};
use postroom_types::{Dialect, ErrorCode, Level, MessageId, Permission, ThreadId};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_update_labels",
    title: "Label mail",
    description: "Record what was handled: put labels on one message or on every message of a thread, take them off, mark as read or \
        unread. Give exactly one of `message_id` and `thread_id`. A label that is in both lists ends off.",
    toolset: Toolset::Mail,
    permission: Permission::MessagesWrite,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[
        Route::patch("/v1/identities/{identity_id}/messages/{message_id}"),
        Route::patch("/v1/identities/{identity_id}/labels"),
    ],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::MessageNotFound,
        ErrorCode::ThreadNotFound,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address from mail_list_identities. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// The message.
    message_id: Option<MessageId>,
    /// The thread: all its messages.
    thread_id: Option<ThreadId>,
    /// Labels to put on.
    #[schemars(
        length(max = 64),
        inner(regex(pattern = r"^[a-z0-9][a-z0-9_:-]{0,63}$"))
    )]
    labels_add: Option<Vec<String>>,
    /// Labels to take off.
    #[schemars(
        length(max = 64),
        inner(regex(pattern = r"^[a-z0-9][a-z0-9_:-]{0,63}$"))
    )]
    labels_remove: Option<Vec<String>>,
    /// Mark as read (true) or unread (false).
    read: Option<bool>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The message or thread.
    id: String,
    /// The labels now on it; a thread's are those of all its messages.
    labels: Vec<String>,
    /// Whether all of it is read.
    read: bool,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let target = match (input.message_id, input.thread_id) {
        (Some(message), None) => Target::Message(message),
        (None, Some(thread)) => Target::Thread(thread),
        (Some(_), Some(_)) => return Err(one_target("thread_id")),
        (None, None) => return Err(one_target("message_id")),
    };
    let add = input.labels_add.unwrap_or_default();
    let remove = input.labels_remove.unwrap_or_default();
    if add.is_empty() && remove.is_empty() && input.read.is_none() {
        return Err(Failure::invalid(
            "labels_add",
            "give labels_add, labels_remove or read",
        ));
    }
    let update = UpdateLabels {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        target,
        add,
        remove,
        read: input.read,
    };
    match call
        .room
        .store()
        .transact(Command::UpdateLabels(update))
        .await?
    {
        Outcome::Labels(labels) => Ok(Output {
            id: labels.id,
            labels: labels.labels,
            read: labels.read,
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}

fn one_target(path: &str) -> Failure {
    Failure::invalid(path, "give exactly one of message_id and thread_id")
}
