//! Documents that are worked on, and their states.

use super::{Result, at, bits, ms, opt_bits, opt_id, tenant_id, unsigned};
use crate::sql::{Row, Value};
use postroom_core::{DocumentSessionRow, DocumentStateRow, ulid_ms};
use postroom_types::{DocumentSessionId, IdentityId, KeyId};

fn session_id(row: &Row, place: usize) -> Result<DocumentSessionId> {
    let id = bits(row.bytes(place)?)?;
    Ok(DocumentSessionId::from_parts(ulid_ms(id), id))
}

pub(crate) fn document_session(row: &Row) -> Result<DocumentSessionRow> {
    Ok(DocumentSessionRow {
        id: session_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: opt_id(row, 2, IdentityId::from_parts)?,
        name: row.text(3)?,
        version: unsigned(row, 4)?,
        created_at: at(row, 5)?,
        updated_at: at(row, 6)?,
    })
}

pub(crate) fn document_session_values(row: &DocumentSessionRow) -> [Value; 7] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        row.name.as_str().into(),
        row.version.into(),
        ms(row.created_at),
        ms(row.updated_at),
    ]
}

pub(crate) fn document_state(row: &Row) -> Result<DocumentStateRow> {
    Ok(DocumentStateRow {
        session_id: session_id(row, 0)?,
        version: unsigned(row, 1)?,
        document: row.text(2)?,
        at: at(row, 3)?,
        key_id: opt_id(row, 4, KeyId::from_parts)?,
    })
}

pub(crate) fn document_state_values(row: &DocumentStateRow) -> [Value; 5] {
    [
        row.session_id.bits().into(),
        row.version.into(),
        row.document.as_str().into(),
        ms(row.at),
        opt_bits(row.key_id.map(KeyId::bits)),
    ]
}
