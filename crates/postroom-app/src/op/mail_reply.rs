//! `mail_reply`: an answer in its thread.

use postroom_core::SendOperation;
use postroom_types::{Dialect, Level, MessageId, Permission, limit};

use super::sending::{
    self, Intent,
    arguments::{Attachment, IdempotencyKey, ReplyKind},
};
use crate::{
    Failure,
    operation::{Call, Operation, Route, ScopeRule, Toolset, json_handler},
    rate::Bucket,
    schema,
    view::Sent,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "mail_reply",
    title: "Answer a mail",
    description: "Answer a message in its thread; recipients, subject and threading are filled in. It goes to the author, and to \
        Reply-To instead only where that is safe; `reply_all` adds the other recipients, never blind copies; \
        where the mailbox itself got a blind copy it adds nobody, for they may not learn of it. A reply to a mail \
        of your own goes to its recipients again. Take a new `idempotency_key` for each new answer and the same one when you \
        repeat a call. Use kind `auto_reply` when nobody decided on this very answer; automated mail is never answered \
        so. Then mail_wait with `thread_id` waits for what comes back.",
    toolset: Toolset::Mail,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: Some(Bucket::Send),
    routes: &[
        Route::post("/v1/identities/{identity_id}/messages/{message_id}/reply").answering(202),
        Route::post("/v1/identities/{identity_id}/messages/{message_id}/reply-all")
            .answering(202)
            .binding(&[("reply_all", "true")]),
    ],
    include: &[sending::DRY_RUN],
    annotations: sending::SENDS,
    streams: false,
    dialect: Dialect::Mail,
    errors: sending::ERRORS,
    input: schema::input::<Input>,
    output: schema::output::<Sent>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, Clone, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The message to answer.
    pub(super) message_id: MessageId,
    /// The mailbox that sends: an id or address. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<String>,
    /// Your name for this answer: new for each new answer, the same in repeated calls.
    pub(super) idempotency_key: IdempotencyKey,
    /// Also to the other recipients of the message.
    #[serde(default)]
    pub(super) reply_all: bool,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The text as HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) html: Option<String>,
    /// Files.
    #[schemars(length(max = limit::SEND_ATTACHMENTS))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attachments: Option<Vec<Attachment>>,
    /// Whether somebody decided on this answer.
    #[serde(default)]
    pub(super) kind: ReplyKind,
}

async fn run(call: &Call<'_>, input: Input) -> Result<serde_json::Value, Failure> {
    let target = Some(input.message_id);
    let fingerprint = sending::fingerprint(call, SendOperation::Reply, target, &input)?;
    sending::run(call, Intent::reply(input), fingerprint).await
}
