//! `draft_update`: changes a draft.

use postroom_types::{Dialect, DraftId, ErrorCode, Level, Permission};
use serde_json::{Map, Value};

use super::drafting::{self, Changed, Document, Draft};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "draft_update",
    title: "Change a draft",
    description: "Change a draft: arguments in `mail` replace those of the same name, null takes one out, and all others stay. With \
        `etag` it is changed only if nobody saved it since; whoever names it has read the draft and stands for all of it, \
        also for what a key that may write to fewer people put in.",
    toolset: Toolset::Admin,
    permission: Permission::MessagesSend,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::Identity,
    bucket: None,
    routes: &[Route::patch(
        "/v1/identities/{identity_id}/drafts/{draft_id}",
    )],
    include: &[],
    annotations: Annotations::CHANGE,
    streams: false,
    dialect: Dialect::Mail,
    errors: &[
        ErrorCode::Conflict,
        ErrorCode::DraftNotFound,
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
    /// The draft.
    draft_id: DraftId,
    /// Arguments that change.
    mail: Map<String, Value>,
    /// The `etag` of the draft that it changes.
    #[schemars(length(max = 20))]
    etag: Option<String>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Draft, Failure> {
    let row = drafting::draft(call, input.draft_id).await?;
    drafting::check_etag(call.room, &row, input.etag.as_deref())?;
    let changed = Changed {
        id: row.id,
        // Two who change it at once do not undo each other.
        version: row.version,
        has_read: input.etag.is_some(),
    };
    let mut document = Document::read(&row)?;
    for (name, value) in input.mail {
        match value {
            Value::Null => drop(document.mail.remove(&name)),
            value => drop(document.mail.insert(name, value)),
        }
    }
    drafting::save(call, &document, Some(changed)).await
}
