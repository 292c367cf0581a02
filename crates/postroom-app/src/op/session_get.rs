//! `session_get`: a document that is worked on, at its newest or an older state.

use postroom_store::read;
use postroom_types::{Dialect, DocumentSessionId, ErrorCode, Level, Permission};
use serde_json::{Map, Value};

use super::document_sessions::{self, Saved, Session};
use crate::{
    Failure,
    operation::{Annotations, Call, Operation, Route, ScopeRule, Toolset, json_handler},
    schema,
};

/// The row of the table.
pub const ROW: Operation = Operation {
    name: "session_get",
    title: "Read a saved document",
    description: "A document that was saved with session_put, with the etag that the next save gives back and the numbers of the states that are \
        kept; `state` reads an older one.",
    toolset: Toolset::Authoring,
    permission: Permission::DocumentsUse,
    levels: &[Level::Identity, Level::Tenant, Level::Platform],
    scope: ScopeRule::TenantOrIdentity,
    bucket: None,
    routes: &[Route::get("/v1/document-sessions/{session_id}")],
    include: &[],
    annotations: Annotations::READ,
    streams: false,
    dialect: Dialect::Events,
    errors: &[ErrorCode::NotFound],
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
    /// The session.
    session_id: DocumentSessionId,
    /// The number of an older state; the newest without it.
    #[schemars(range(min = 1))]
    state: Option<u64>,
}

/// The answer.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct Output {
    /// The session.
    #[serde(flatten)]
    session: Session,
    /// The document at that state, in canonical form.
    document: Map<String, Value>,
    /// The number of that state.
    document_version: u64,
    /// The states that are kept, the newest first.
    states: Vec<Saved>,
}

async fn run(call: &Call<'_>, input: Input) -> Result<Output, Failure> {
    let row = document_sessions::session(call, input.session_id).await?;
    let states = read::document_states(call.room.store(), &row, None).await?;
    let wanted = input.state.unwrap_or(row.version);
    let state = states
        .iter()
        .find(|state| state.version == wanted)
        .ok_or(ErrorCode::NotFound)?;
    Ok(Output {
        session: Session::from(&row),
        document: document_sessions::document(state)?,
        document_version: state.version,
        states: states.iter().map(Saved::from).collect(),
    })
}
