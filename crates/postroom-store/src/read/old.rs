//! Deliveries that are old enough to go.

use crate::{
    Store, StoreError, WorkerScope, rows,
    select::{self, Select},
};
use postroom_core::{OldEvent, Sha256Bytes};
use postroom_types::{TenantId, Timestamp};
use std::collections::{BTreeMap, HashSet};

/// What mail is kept for ever, and what somebody still needs, is none of them.
const MAY_GO: &str = " AND family <> 'mail' AND carries_mail = 0 AND state <> 'pending' AND \
     message_id IS NULL";

/// Deliveries of a tenant that may go, oldest first, behind `after`: those received before an
/// instant, and those that are not among the newest `keep`. Says too up to which id was looked;
/// `None` when nothing was left. Of several with the same bytes the last waits for the next look,
/// when the bytes are its alone.
///
/// Reads all of the tenant's events and messages: for a worker that has time.
pub async fn old_deliveries(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
    (before, keep): (Timestamp, usize),
    (after, limit): (u64, usize),
) -> Result<(Vec<OldEvent>, Option<u64>), StoreError> {
    let WorkerScope(()) = scope;
    let newest = Select::new("SELECT id FROM events WHERE tenant_id = ")
        .value(tenant.bits())
        .text(MAY_GO)
        .text(" ORDER BY id DESC LIMIT 1 OFFSET ")
        .value(select::rows(keep))
        .first(store, |row| rows::unsigned(row, 0))
        .await?;
    let found = Select::new("SELECT id, sha256 FROM events WHERE tenant_id = ")
        .value(tenant.bits())
        .text(" AND id > ")
        .value(after)
        .text(MAY_GO)
        .text(" AND (received_at < ")
        .value(before.ms())
        .text(" OR id <= ")
        .value(newest.unwrap_or(0))
        .text(
            ") AND NOT EXISTS (SELECT 1 FROM todos WHERE todos.tenant_id = events.tenant_id AND \
             todos.id = events.todo_id) ORDER BY id LIMIT ",
        )
        .value(select::rows(limit))
        .all(store, |row| {
            Ok((rows::unsigned(row, 0)?, rows::array(&row.blob(1)?)?))
        })
        .await?;
    let last = found.last().map(|(id, _)| *id);
    let named = named_by_todos(store, tenant, &found).await?;
    let mut by_bytes: BTreeMap<Sha256Bytes, Vec<u64>> = BTreeMap::new();
    for (id, sha256) in found.into_iter().filter(|(id, _)| !named.contains(id)) {
        by_bytes.entry(sha256).or_default().push(id);
    }
    let shared = named_elsewhere(store, tenant, &by_bytes).await?;
    let mut old = Vec::new();
    for (sha256, mut ids) in by_bytes {
        let alone = ids.len() == 1 && !shared.contains(&sha256);
        if ids.len() > 1 {
            ids.pop();
        }
        old.extend(ids.into_iter().map(|id| OldEvent { id, alone }));
    }
    old.sort_unstable_by_key(|event| event.id);
    Ok((old, last))
}

/// Events whose payload is that of a todo, though the event does not say so.
async fn named_by_todos(
    store: &Store,
    tenant: TenantId,
    found: &[(u64, Sha256Bytes)],
) -> Result<HashSet<u64>, StoreError> {
    let mut named = HashSet::new();
    if found.is_empty() {
        return Ok(named);
    }
    for column in ["event_id", "last_event_id"] {
        let rows = Select::new("SELECT DISTINCT ")
            .text(column)
            .text(" FROM todos WHERE tenant_id = ")
            .value(tenant.bits())
            .text(" AND ")
            .text(column)
            .text(" IN ")
            .list(found.iter().map(|(id, _)| (*id).into()))
            .all(store, |row| rows::unsigned(row, 0))
            .await?;
        named.extend(rows);
    }
    Ok(named)
}

/// Digests that more than the one event names.
async fn named_elsewhere(
    store: &Store,
    tenant: TenantId,
    by_bytes: &BTreeMap<Sha256Bytes, Vec<u64>>,
) -> Result<HashSet<Sha256Bytes>, StoreError> {
    let mut named = HashSet::new();
    if by_bytes.is_empty() {
        return Ok(named);
    }
    for (table, times) in [
        ("events", 1i64),
        ("messages", 0),
        ("sends", 0),
        ("import_failures", 0),
    ] {
        let rows = Select::new("SELECT sha256 FROM ")
            .text(table)
            .text(" WHERE tenant_id = ")
            .value(tenant.bits())
            .text(" AND sha256 IN ")
            .list(by_bytes.keys().map(|sha256| sha256.as_slice().into()))
            .text(" GROUP BY sha256 HAVING COUNT(*) > ")
            .value(times)
            .all(store, |row| rows::array(&row.blob(0)?))
            .await?;
        named.extend(rows);
    }
    Ok(named)
}
