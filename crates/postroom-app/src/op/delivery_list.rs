//! `delivery_list`: what became of a sent mail, recipient by recipient.

use postroom_types::{Dialect, ErrorCode, Level, MessageId, Permission};

use super::{reading, sending};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
    view::Delivery,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "delivery_list",
    title: "List deliveries of a mail",
    description: "List what became of a sent mail for each recipient: queued, submitted to the transport, delivered, deferred, bounced, \
        rejected, suppressed, uncertain. A mail that came in has none.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesRead,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::get(
        "/v1/identities/{identity_id}/messages/{message_id}/deliveries",
    )],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[ErrorCode::IdentityNotFound, ErrorCode::MessageNotFound],
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
    /// The sent message.
    message_id: MessageId,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The message.
    message_id: MessageId,
    /// What became of the whole: the roll-up of its deliveries.
    status: String,
    /// Each recipient, in the order of the mail.
    deliveries: Vec<Delivery>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let stored = reading::message(call, input.message_id).await?;
    let fates = sending::fates(call, std::slice::from_ref(&stored)).await?;
    Ok(Output {
        message_id: stored.row.id,
        status: stored.row.status.as_str().to_owned(),
        deliveries: fates
            .into_values()
            .flat_map(|fate| fate.deliveries)
            .collect(),
    })
}
