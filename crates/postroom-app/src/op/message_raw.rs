//! `message_raw`: the very bytes of a message.

use bytes::Bytes;
use postroom_types::{Dialect, ErrorCode, Level, MessageId, Permission};

use super::reading;
use crate::{
    Failure,
    operation::{
        Annotations, BytesBody, Call, Operation, Route, ScopeRule, Toolset, bytes_out_handler,
    },
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "message_raw",
    title: "Get a raw message",
    description: "Get a message as it was received, byte for byte.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get(
        "/v1/identities/{identity_id}/messages/{message_id}/raw",
    )],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::MessageNotFound],
    input: schema::input::<Input>,
    output: schema::bytes,
    handler: bytes_out_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The message.
    message_id: MessageId,
    /// The mailbox: an id or address. An identity key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<BytesBody, Failure> {
    let stored = reading::message(call, input.message_id).await?;
    let raw = reading::raw(call, &stored.row).await?;
    Ok(BytesBody {
        bytes: Bytes::from(raw),
        content_type: "message/rfc822",
        filename: format!("{}.eml", stored.row.id),
    })
}
