//! Documents that are worked on: gathered and written.

use super::statements::flat;
use crate::{load::LoadError, rows, sql::Conn};
use postroom_core::{Change, DocumentSessionRow, DocumentStateRow};
use postroom_types::{DocumentSessionId, limit};
use std::collections::BTreeMap;

/// What was saved.
#[derive(Default)]
pub(super) struct Writes {
    sessions: BTreeMap<DocumentSessionId, Box<DocumentSessionRow>>,
    states: Vec<DocumentStateRow>,
}

impl Writes {
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Takes a change; gives back one that is about something else.
    pub(super) fn absorb(&mut self, change: Change) -> Option<Change> {
        match change {
            Change::PutDocument(row, saved) => {
                self.sessions.insert(row.id, row);
                self.states.push(*saved);
                None
            }
            other => Some(other),
        }
    }

    pub(super) async fn write(self, conn: &Conn) -> Result<(), LoadError> {
        conn.insert(
            "INSERT INTO document_sessions (id, tenant_id, identity_id, name, version, \
             created_at, updated_at) VALUES {} ON CONFLICT (id) DO UPDATE SET \
             name = excluded.name, version = excluded.version, updated_at = excluded.updated_at",
            7,
            flat(
                self.sessions
                    .values()
                    .map(|row| rows::document_session_values(row)),
            ),
        )
        .await?;
        // One at a time: each may be large.
        for row in &self.states {
            conn.execute(
                "INSERT INTO document_states (session_id, version, document, at, key_id) \
                 VALUES ($1, $2, $3, $4, $5)",
                rows::document_state_values(row).into(),
            )
            .await?;
        }
        for row in self.sessions.values() {
            let oldest = row.version.saturating_sub(limit::DOCUMENT_STATES as u64);
            if oldest > 0 {
                conn.execute(
                    "DELETE FROM document_states WHERE session_id = $1 AND version < $2",
                    vec![row.id.bits().into(), oldest.into()],
                )
                .await?;
            }
        }
        Ok(())
    }
}
