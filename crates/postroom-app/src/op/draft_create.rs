//! `draft_create`: a mail that is kept before it is sent.

use postroom_types::{Dialect, ErrorCode, Level, Permission};
use serde_json::{Map, Value};

use super::drafting::{self, Document, Draft, Kind};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "draft_create",
    title: "Keep a draft",
    description: "Keep a mail that is not sent yet: `mail` holds arguments of mail_send, mail_reply or mail_forward, as far as they are \
        known. draft_send sends it. Large files stand in it as ids of uploads.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::post("/v1/identities/{identity_id}/drafts").answering(201)],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::CeilingExceeded,
        ErrorCode::IdentityNotFound,
        ErrorCode::TooManyRecipients,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Draft>,
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
    /// Which operation will send it.
    kind: Kind,
    /// Arguments of that operation, without idempotency_key and identity.
    mail: Map<String, Value>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Draft, Failure> {
    let document = Document {
        kind: input.kind,
        mail: input.mail,
    };
    drafting::save(call, &document, None).await
}
