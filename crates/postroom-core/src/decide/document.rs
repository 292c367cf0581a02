//! Rounds of work on a document: nobody overwrites what somebody else saved meanwhile.

use super::{Context, Tick, active_tenant};
use crate::{
    Change, Decision, DocumentSessionRow, DocumentStateRow, Outcome, PutDocument, Refusal, State,
    row::FeedKind,
};
use postroom_types::{DocumentSessionId, ErrorCode, Reach, limit};

const UNTITLED: &str = "Untitled";

pub(super) fn put(
    put: &PutDocument,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let tenant = put.scope.tenant();
    active_tenant(state, tenant)?;
    check(put)?;
    let own = match put.scope.reach() {
        Reach::Tenant => None,
        Reach::Identity(identity) => Some(identity),
    };
    let mut tick = Tick::new(state, tenant, context.now);
    let row = match put.id {
        None => {
            let count = state.document_counts.get(&tenant).copied().unwrap_or(0);
            if count >= limit::DOCUMENT_SESSIONS_PER_TENANT as u64 {
                return Err(ErrorCode::CeilingExceeded.into());
            }
            DocumentSessionRow {
                id: DocumentSessionId::from_parts(context.now.ulid_ms(), context.bits()),
                tenant_id: tenant,
                identity_id: own,
                name: put.name.clone().unwrap_or_else(|| UNTITLED.to_owned()),
                version: 1,
                created_at: tick.at,
                updated_at: tick.at,
            }
        }
        Some(id) => {
            let known = state
                .documents
                .get(&id)
                .filter(|row| row.tenant_id == tenant && (own.is_none() || row.identity_id == own))
                .ok_or(Refusal::new(ErrorCode::NotFound))?;
            if put.version != Some(known.version) {
                return Err(Refusal::because(
                    ErrorCode::Conflict,
                    "the document was saved since; read it again and put your change into that",
                ));
            }
            DocumentSessionRow {
                name: put.name.clone().unwrap_or_else(|| known.name.clone()),
                version: known.version + 1,
                updated_at: tick.at,
                ..known.clone()
            }
        }
    };
    let saved = DocumentStateRow {
        session_id: row.id,
        version: row.version,
        document: put.document.clone(),
        at: row.updated_at,
        key_id: put.key,
    };
    let feed = tick.next(
        FeedKind::DocumentChanged,
        row.identity_id,
        Some(row.id.bits()),
    );
    Ok(Decision {
        changes: vec![
            Change::PutDocument(Box::new(row.clone()), Box::new(saved)),
            Change::Feed(feed),
        ],
        outcome: Outcome::Document(Box::new(row)),
    })
}

fn check(put: &PutDocument) -> Result<(), Refusal> {
    if put.document.len() > limit::DRAFT_BYTES {
        return Err(Refusal::argument("document", "at most 1 MiB"));
    }
    let bad = |name: &String| {
        name.trim().is_empty()
            || name.chars().count() > limit::DOCUMENT_NAME_CHARS
            || name.chars().any(char::is_control)
    };
    if put.name.as_ref().is_some_and(bad) {
        return Err(Refusal::argument("name", "1 to 120 characters on one line"));
    }
    Ok(())
}
