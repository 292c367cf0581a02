//! `session_put`: a round of work on a document is saved.

use postroom_compose as compose;
use postroom_core::{Command, Outcome, PutDocument};
use postroom_types::{Dialect, DocumentSessionId, ErrorCode, Level, Permission};
use serde_json::Value;

use super::{
    composing::{self, Issue},
    document_sessions::{self, Session},
};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "session_put",
    title: "Save a document",
    description: "Keeps a document between rounds of work, so that a person can look at it and you can go on later. Without `session_id` a new one \
        begins; afterwards give the `etag` of the state you changed: when somebody saved meanwhile the answer is `conflict`, and nothing is \
        overwritten. Older states are kept. A document with errors may be saved; its issues are told.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[
        Route::post("/v1/document-sessions"),
        Route::patch("/v1/document-sessions/{session_id}"),
    ],
    include: &[],
    annotations: Annotations::CREATE,
    streams: false,
    dialect: Dialect::Events,
    errors: &[
        ErrorCode::Conflict,
        ErrorCode::NotFound,
        ErrorCode::CeilingExceeded,
    ],
    input: schema::input::<Input>,
    output: schema::output::<Output>,
    handler: json_handler!(run),
};

/// Arguments.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// The tenant; only platform keys name it.
    #[expect(dead_code, reason = "read where the scope is granted")]
    tenant_id: Option<postroom_types::TenantId>,
    /// The session; a new one begins without it.
    session_id: Option<DocumentSessionId>,
    /// The EmailDocument: an object or its JSON text.
    document: Value,
    /// The etag of the state that was changed; needed with `session_id`.
    #[schemars(length(min = 1, max = 32))]
    etag: Option<String>,
    /// A name for people.
    #[schemars(length(min = 1, max = 120))]
    name: Option<String>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The session as it is now.
    #[serde(flatten)]
    session: Session,
    /// Whether the document has no error.
    ok: bool,
    /// What is wrong with it, or worth knowing.
    issues: Vec<Issue>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let version = document_sessions::version(input.etag.as_deref())?;
    if input.session_id.is_some() && version.is_none() {
        return Err(Failure::argument(
            Dialect::Events,
            "etag",
            "is missing: say which state you changed",
        ));
    }
    let document = document_sessions::canonical("document", &input.document)?;
    let checked = compose::check(&document);
    let put = PutDocument {
        scope: *call.scope()?,
        id: input.session_id,
        name: input.name,
        document: document.to_string(),
        version,
        key: call.actor.key,
    };
    match call
        .room
        .store()
        .transact(Command::PutDocument(put))
        .await?
    {
        Outcome::Document(row) => Ok(Output {
            session: Session::from(row.as_ref()),
            ok: checked.ok,
            issues: composing::shown(checked.issues),
        }),
        _ => Err(ErrorCode::InternalError.into()),
    }
}
