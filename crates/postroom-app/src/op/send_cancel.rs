//! `send_cancel`: takes a mail back that has not left.

use postroom_core::Command;
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
    name: "send_cancel",
    title: "Cancel a mail",
    description: "Take a queued mail back before it leaves. Once its transport has it, the answer is `not_cancelable`.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post(
        "/v1/identities/{identity_id}/messages/{message_id}/cancel",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::MessageNotFound,
        ErrorCode::NotCancelable,
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
}

async fn run(call: &Call<'_>, input: Input) -> Result<Sent, Failure> {
    let command = Command::CancelSend {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        message: input.message_id,
    };
    call.room.store().transact(command).await?;
    sending::changed(call, input.message_id).await
}
