//! `send_test`: a document, compiled, in the caller's own mailbox.

use std::collections::BTreeMap;

use postroom_compose::{
    self as compose,
    emit::{Options, Target},
};
use postroom_core::{AddressStatus, Recipient};
use postroom_mail::compose::{ComposeError, Content, Outgoing, compose as write};
use postroom_store::read;
use postroom_types::{
    Dialect, DocumentSessionId, ErrorCode, Level, Mailbox, MessageId, Permission,
};
use serde_json::Value;

use super::{
    composing::{self, Issue},
    document_sessions,
};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    random,
    room::{Arrival, Via},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "send_test",
    title: "Send a document to yourself",
    description: "Compiles an EmailDocument with its samples and puts the mail into your own mailbox, by the way of any mail that comes in. Nothing \
        leaves the machine and nobody else gets it. With errors nothing is sent and the issues are told. Open the result with \
        mail_get_message once mail_wait or a search finds it.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post(
        "/v1/identities/{identity_id}/documents/send-test",
    )],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::IdentityNotFound,
        ErrorCode::NotFound,
        ErrorCode::MessageTooLarge,
    ],
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
    /// The EmailDocument: an object or its JSON text.
    document: Option<Value>,
    /// A saved document instead.
    session_id: Option<DocumentSessionId>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// Whether the mail is in the mailbox.
    ok: bool,
    /// What is wrong with the document, or worth knowing.
    issues: Vec<Issue>,
    /// The subject that the mail has.
    subject: String,
    /// The event of its arrival.
    event_id: Option<u64>,
    /// The message, when it is made already.
    message_id: Option<MessageId>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let document = match (input.document, input.session_id) {
        (Some(document), None) => document,
        (None, Some(id)) => {
            let session = document_sessions::session(call, id).await?;
            let state = document_sessions::state(call, &session, None).await?;
            Value::Object(document_sessions::document(&state)?)
        }
        _ => {
            return Err(Failure::argument(
                Dialect::Events,
                "document",
                "give either document or session_id",
            ));
        }
    };
    let options = Options {
        target: Target::Html,
        ..Options::default()
    };
    let made = compose::compile(composing::given(&document), &options, false);
    if made.unusable {
        return Err(composing::unusable("document", made.issues));
    }
    let subject = made.compiled.subject.clone();
    if !made.ok {
        return Ok(Output {
            ok: false,
            issues: composing::shown(made.issues),
            subject,
            event_id: None,
            message_id: None,
        });
    }
    let raw = mail(call, made.compiled).await?;
    let arrival = Arrival {
        raw,
        recipients: vec![Recipient {
            tenant: call.scope()?.tenant(),
            identity: call.identity()?,
            delivered_to: None,
        }],
        via: Via::Loopback,
        source_ip: None,
        mail_from: None,
        headers: BTreeMap::new(),
    };
    let received = call.room.receive(arrival).await?;
    let received = received.first().ok_or(ErrorCode::InternalError)?;
    Ok(Output {
        ok: true,
        issues: composing::shown(made.issues),
        subject,
        event_id: Some(received.event_id),
        message_id: received.message_id,
    })
}

/// The mail from the mailbox to itself.
async fn mail(call: &Call<'_>, compiled: compose::emit::Compiled) -> Result<Vec<u8>, Failure> {
    let identity = read::identity(call.room.store(), call.scope()?, call.identity()?).await?;
    let identity = identity.ok_or(ErrorCode::IdentityNotFound)?;
    let address = identity
        .primary_address()
        .filter(|address| address.status == AddressStatus::Active)
        .ok_or(ErrorCode::IdentityNotFound)?;
    let own = Mailbox {
        address: address.address.to_string(),
        name: identity.row.display_name.clone(),
    };
    let (now, noise) = (call.now(), hex::encode(random::bytes::<16>()?));
    let outgoing = Outgoing {
        from: own.clone(),
        to: vec![own],
        content: Content {
            subject: compiled.subject,
            text: compiled.text,
            html: Some(compiled.code),
            ..Content::default()
        },
        hop: 1,
        message_id: format!("test.{noise}@{}", call.room.hostname()),
        date: now,
        boundary_seed: random::bytes()?,
        ..Outgoing::default()
    };
    match write(&outgoing) {
        Ok(composed) => Ok(composed.bytes),
        Err(ComposeError::TooLarge { max_bytes, .. }) => Err(Failure::too_large(max_bytes as u64)),
        Err(error) => Err(Failure::argument(
            Dialect::Events,
            "document",
            &format!("gives no mail: {error}"),
        )),
    }
}
