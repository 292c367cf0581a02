//! Documents that are worked on, and their states.

use crate::{
    Store, StoreError,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{DocumentSessionRow, DocumentStateRow};
use postroom_types::{DocumentSessionId, TenantScope};

/// One such document.
pub async fn document_session(
    store: &Store,
    scope: &TenantScope,
    id: DocumentSessionId,
) -> Result<Option<DocumentSessionRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(document_session),
        " FROM document_sessions WHERE id = "
    ))
    .value(id.bits())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::document_session)
    .await
}

/// Such documents, the newest first, from the one below `below`.
pub async fn document_sessions(
    store: &Store,
    scope: &TenantScope,
    below: Option<DocumentSessionId>,
    limit: usize,
) -> Result<Vec<DocumentSessionRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(document_session),
        " FROM document_sessions WHERE "
    ))
    .scope(scope)
    .filter(" AND id < ", below.map(DocumentSessionId::bits))
    .text(" ORDER BY id DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::document_session)
    .await
}

/// The states of such a document that are kept, the newest first; only that one when a version is
/// named. `session` is what [`document_session`] gave, so that nobody else's are read.
pub async fn document_states(
    store: &Store,
    session: &DocumentSessionRow,
    version: Option<u64>,
) -> Result<Vec<DocumentStateRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(document_state),
        " FROM document_states WHERE session_id = "
    ))
    .value(session.id.bits())
    .filter(" AND version = ", version)
    .text(" ORDER BY version DESC")
    .all(store, rows::document_state)
    .await
}
