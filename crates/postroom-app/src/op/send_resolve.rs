//! `send_resolve`: a person's word on a mail that may or may not have left.

use postroom_core::{Command, ResolveSend};
use postroom_types::{Dialect, ErrorCode, Level, MessageId, Permission};

use super::sending;
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Sent,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "send_resolve",
    title: "Say what became of an uncertain mail",
    description: "Say whether a mail with status `uncertain` was sent, after a look at the relay's log or a word with the recipient. After \
        `not_sent` it may be sent anew, with a new idempotency key. Nothing is sent by this call.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesWrite,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post(
        "/v1/identities/{identity_id}/messages/{message_id}/resolve",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::MessageNotFound,
        ErrorCode::NotUncertain,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Sent>,
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
    /// The sent message.
    message_id: MessageId,
    /// What became of it.
    outcome: Resolution,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Resolution {
    /// It left.
    Sent,
    /// It did not.
    NotSent,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Sent, Failure> {
    let resolve = ResolveSend {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        message: input.message_id,
        sent: input.outcome == Resolution::Sent,
    };
    let command = Command::ResolveSend(resolve);
    call.room.store().transact(command).await?;
    sending::changed(call, input.message_id).await
}
