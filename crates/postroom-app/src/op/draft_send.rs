//! `draft_send`: sends a draft.

use postroom_core::SentDraft;
use postroom_types::{Dialect, DraftId, ErrorCode, Level, Permission};
use serde_json::Value;

use super::{
    drafting::{self, Document, Kind},
    mail_forward, mail_reply, mail_send,
    sending::{self, Intent, arguments::IdempotencyKey},
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
    name: "draft_send",
    title: "Send a draft",
    description: "Send a draft as its operation would, under the same rules. The draft goes in the commit that queues the mail; when the \
        mail is refused, it stays. It goes to nobody to whom one of the keys that saved it may not write (its `send_scope`). With \
        `etag` it is sent only if nobody saved it since. A repeat with the same `idempotency_key` is told by the mail's key, also after the draft has gone.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: Some(Bucket::Send),
    routes: &[Route::post("/v1/identities/{identity_id}/drafts/{draft_id}/send").answering(202)],
    include: &[sending::DRY_RUN],
    annotations: sending::SENDS,
    streams: false,
    dialect: Dialect::Mail,
    errors: sending::DRAFT_ERRORS,
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
    /// The draft.
    draft_id: DraftId,
    /// Your name for this mail: the same in repeated calls.
    idempotency_key: IdempotencyKey,
    /// The `etag` of the draft that is meant.
    #[schemars(length(max = 20))]
    etag: Option<String>,
}

/// How often a draft that is saved while it is sent is read again.
const READINGS: usize = 4;

async fn run(call: &Call<'_>, input: Input) -> Result<Value, Failure> {
    let mut readings = 1;
    loop {
        match once(call, &input).await {
            // Whoever named no version means the one that is there.
            Err(failure)
                if failure.code == ErrorCode::Conflict
                    && input.etag.is_none()
                    && readings < READINGS =>
            {
                readings += 1;
            }
            answer => return answer,
        }
    }
}

/// Sends the draft as it is now, if that is the one that is meant.
async fn once(call: &Call<'_>, input: &Input) -> Result<Value, Failure> {
    let (key, id) = (&input.idempotency_key.0, input.draft_id);
    // The draft has gone when the mail was queued: a repeated call finds it by its key.
    if let Some(answer) = sending::repeated(call, key, id).await? {
        return Ok(answer);
    }
    let row = match drafting::draft(call, id).await {
        Ok(row) => row,
        // Another call with the same key may have sent it just now.
        Err(failure) => {
            return sending::repeated(call, key, id).await?.ok_or(failure);
        }
    };
    drafting::check_etag(call.room, &row, input.etag.as_deref())?;
    let document = Document::read(&row)?;
    let arguments = document.arguments(key)?;
    let intent = match document.kind {
        Kind::Send => {
            let mail: mail_send::Input = schema::read(arguments)?;
            Intent::send(mail)
        }
        Kind::Reply => {
            let mail: mail_reply::Input = schema::read(arguments)?;
            Intent::reply(mail)
        }
        Kind::Forward => {
            let mail: mail_forward::Input = schema::read(arguments)?;
            Intent::forward(mail)
        }
    };
    let fingerprint = sending::draft_fingerprint(call, id)?;
    let sent = SentDraft {
        id,
        version: row.version,
    };
    sending::run(call, intent.of_draft(sent, row.scope), fingerprint).await
}
