//! `mail_send`: a new mail.

use postroom_core::SendOperation;
use postroom_types::{Dialect, Level, Permission, ThreadId, limit};

use super::sending::{
    self, Intent,
    arguments::{Attachment, Headers, IdempotencyKey, Kind, Metadata, Open, Recipient},
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
    name: "mail_send",
    title: "Send a mail",
    description: "Send a new mail. To answer one, use mail_reply. Give `text`, `html` or both. Take a new `idempotency_key` for \
        each new mail and the same one when you repeat a call: a repeat sends nothing and says `deduplicated`. The mail is \
        queued and leaves soon; read it again to see in `status` and `deliveries` what became of it, and never send it \
        anew because it is still on its way or `uncertain`. A mail that rules keep from everybody has `status` suppressed: it \
        goes to nobody. `policy_denied` says why you may not write to a recipient and what to do.",
    toolset: Toolset::Mail,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: Some(Bucket::Send),
    routes: &[Route::post("/v1/identities/{identity_id}/messages").answering(202)],
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
    /// The mailbox that sends: an id or address. An agent's key may leave it out.
    #[schemars(length(max = 254))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) identity: Option<String>,
    /// Your name for this mail: new for each new mail, the same in repeated calls.
    pub(super) idempotency_key: IdempotencyKey,
    /// Recipients: addresses, or `{address, name}`.
    #[schemars(length(min = 1, max = 49))]
    pub(super) to: Vec<Recipient>,
    /// Copies.
    #[schemars(length(max = 49))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cc: Option<Vec<Recipient>>,
    /// Blind copies: no recipient sees them.
    #[schemars(length(max = 49))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bcc: Option<Vec<Recipient>>,
    /// The subject.
    #[schemars(length(min = 1, max = 998))]
    pub(super) subject: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The text as HTML; without `text` a plain version is made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) html: Option<String>,
    /// Files.
    #[schemars(length(max = limit::SEND_ATTACHMENTS))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attachments: Option<Vec<Attachment>>,
    /// What kind of mail; `marketing` needs `unsubscribe` and `consent`.
    #[serde(default)]
    pub(super) kind: Kind,
    /// A thread that it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread_id: Option<ThreadId>,
    /// An address of the mailbox to send from; its primary one when left out.
    #[schemars(length(max = 254))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from_address: Option<String>,
    /// Labels to put on the sent mail.
    #[schemars(length(max = 64))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Vec<String>>,
    /// Header fields: these, `X-…`, Keywords, Comments, Organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) headers: Option<Headers>,
    /// Your own values, at most 16; kept with the mail and never sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata>,
    /// With kind `marketing`: `{url}`, https, that ends the subscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unsubscribe: Option<Open>,
    /// With kind `marketing`: how the recipients agreed, an object in names of your own with at least one
    /// entry, such as `{"source": "sign-up form", "at": "2026-11-30"}`. It is not sent and not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) consent: Option<Open>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<serde_json::Value, Failure> {
    let fingerprint = sending::fingerprint(call, SendOperation::Send, None, &input)?;
    sending::run(call, Intent::send(input), fingerprint).await
}
