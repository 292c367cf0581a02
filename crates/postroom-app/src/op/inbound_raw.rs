//! `inbound_raw`: put one raw message into a mailbox.

use bytes::Bytes;
use postroom_core::Recipient;
use postroom_types::{
    Dialect, ErrorCode, Level, MessageId, Permission, Timestamp, limit::RAW_MAIL_BYTES,
};

use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, bytes_in_handler},
    room::{ArchiveMail, Arrival, Via},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "inbound_raw",
    title: "Put in a raw message",
    description: "Put one raw message (RFC 5322, at most 26,214,400 bytes) into a mailbox, as if it had arrived. The bytes are stored \
        before the answer; reading follows. With `archive` it is taken in as old mail: nothing is announced and its own dates hold. \
        What an agent's key puts in vouches for nobody: whom it names may not be written to for that, and no report in it \
        is believed.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesWrite,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post("/v1/identities/{identity_id}/inbound/raw").answering(202)],
    include: &[],
    annotations: Annotations::ADD,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::MessageTooLarge,
        ErrorCode::Unavailable,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: bytes_in_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The mailbox: an id or address. An identity key may leave it out.
    #[schemars(length(max = 254))]
    identity: Option<String>,
    /// Take it in as old mail of an archive.
    #[serde(default)]
    archive: bool,
    /// With `archive`: it was read already.
    #[serde(default)]
    read: bool,
    /// With `archive`: time of the file, for mail that says no time itself.
    file_time: Option<Timestamp>,
    /// Envelope sender, when there was one.
    #[schemars(length(max = 254))]
    mail_from: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The event of this arrival; for a duplicate, the one that was there.
    event_id: u64,
    /// Whether the mailbox had these very bytes already.
    duplicate: bool,
    /// The message, when it is made already.
    message_id: Option<MessageId>,
}

async fn run(call: &Call<'_>, input: Input, body: Bytes) -> Result<Output, Failure> {
    if body.is_empty() {
        return Err(Failure::invalid(
            "body",
            "is empty; send the raw message as the body",
        ));
    }
    if body.len() > RAW_MAIL_BYTES {
        return Err(Failure::too_large(RAW_MAIL_BYTES as u64));
    }
    let recipient = Recipient {
        tenant: call.scope()?.tenant(),
        identity: call.identity()?,
        delivered_to: None,
    };
    let by_agent = call.actor.level == Level::Identity;
    let raw = body.to_vec();
    let received = if input.archive {
        let mail = ArchiveMail {
            raw,
            recipient,
            read: input.read,
            file_time: input.file_time,
            by_agent,
        };
        call.room.take_in(mail).await?
    } else {
        let arrival = Arrival {
            raw,
            recipients: vec![recipient],
            via: match by_agent {
                true => Via::AgentRaw,
                false => Via::Raw,
            },
            source_ip: None,
            mail_from: input.mail_from,
            headers: std::collections::BTreeMap::new(),
        };
        let received = call.room.receive(arrival).await?;
        *received.first().ok_or(ErrorCode::InternalError)?
    };
    Ok(Output {
        event_id: received.event_id,
        duplicate: received.duplicate,
        message_id: received.message_id,
    })
}
