//! Documents that are worked on in rounds, as the operations on them show and save them.

use postroom_compose as compose;
use postroom_core::{DocumentSessionRow, DocumentStateRow};
use postroom_store::read;
use postroom_types::{Dialect, DocumentSessionId, ErrorCode, IdentityId, KeyId, Timestamp};
use serde_json::{Map, Value};

use super::composing;
use crate::{Failure, operation::Call};

/// A document that is worked on.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Session {
    /// Its id.
    id: DocumentSessionId,
    /// The identity that it belongs to; null for one of the whole tenant.
    identity_id: Option<IdentityId>,
    /// Its name.
    name: String,
    /// Names its newest state; a save gives it back.
    etag: String,
    /// Number of its newest state.
    version: u64,
    /// When it was first saved.
    created_at: Timestamp,
    /// When it was last saved.
    updated_at: Timestamp,
}

impl From<&DocumentSessionRow> for Session {
    fn from(row: &DocumentSessionRow) -> Self {
        Self {
            id: row.id,
            identity_id: row.identity_id,
            name: row.name.clone(),
            etag: row.version.to_string(),
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// A state that is kept.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Saved {
    /// Its number.
    version: u64,
    /// When it was saved.
    at: Timestamp,
    /// The key that saved it; null for a person.
    key_id: Option<KeyId>,
}

impl From<&DocumentStateRow> for Saved {
    fn from(row: &DocumentStateRow) -> Self {
        Self {
            version: row.version,
            at: row.at,
            key_id: row.key_id,
        }
    }
}

/// One of the caller's reach.
///
/// # Errors
/// `not_found`.
pub(super) async fn session(
    call: &Call<'_>,
    id: DocumentSessionId,
) -> Result<DocumentSessionRow, Failure> {
    let found = read::document_session(call.room.store(), call.scope()?, id).await?;
    found.ok_or_else(|| ErrorCode::NotFound.into())
}

/// Its newest state, or the one that is named.
///
/// # Errors
/// `not_found` for a state that is not kept.
pub(super) async fn state(
    call: &Call<'_>,
    session: &DocumentSessionRow,
    version: Option<u64>,
) -> Result<DocumentStateRow, Failure> {
    let version = version.unwrap_or(session.version);
    let found = read::document_states(call.room.store(), session, Some(version)).await?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| ErrorCode::NotFound.into())
}

/// A state's document.
pub(super) fn document(state: &DocumentStateRow) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(&state.document).map_err(|_| ErrorCode::InternalError.into())
}

/// A document in the form in which it is kept: ids given, what can be mended mended.
///
/// # Errors
/// A bad argument for what is no document at all.
pub(super) fn canonical(argument: &str, document: &Value) -> Result<Value, Failure> {
    match compose::canonical(composing::given(document)) {
        Some(document) if document.is_object() => Ok(document),
        Some(_) => Err(Failure::argument(
            Dialect::Events,
            argument,
            "is no JSON object",
        )),
        None => {
            let checked = compose::check(composing::given(document));
            Err(composing::unusable(argument, checked.issues))
        }
    }
}

/// The version that an etag names.
///
/// # Errors
/// A bad argument.
pub(super) fn version(etag: Option<&str>) -> Result<Option<u64>, Failure> {
    let read = |etag: &str| {
        etag.trim_matches('"')
            .parse()
            .map_err(|_| Failure::argument(Dialect::Events, "etag", "is none that was given here"))
    };
    etag.map(read).transpose()
}
