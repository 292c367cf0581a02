//! Events, the feed, what failed.

use crate::{
    Store, StoreError, WorkerScope,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{Disposition, EventRow, FeedRow, ImportFailureRow, Sha256Bytes};
use postroom_types::{IdentityId, SourceId, TenantId, TenantScope, Timestamp};
use std::collections::HashSet;

/// The old edge of a list of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Received at or after.
    At(Timestamp),
    /// With a larger id.
    After(u64),
}

/// Which events to list; newest first.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Only of this provider.
    pub provider: Option<String>,
    /// Only of this type.
    pub event_type: Option<String>,
    /// Only with this disposition.
    pub disposition: Option<Disposition>,
    /// Only through this source.
    pub source: Option<SourceId>,
    /// Only since.
    pub since: Option<Since>,
    /// Only with a smaller id (the last one of the page before).
    pub below: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

/// Events, newest first.
pub async fn events(
    store: &Store,
    scope: &TenantScope,
    filter: &EventFilter,
) -> Result<Vec<EventRow>, StoreError> {
    let since = match filter.since {
        Some(Since::After(id)) => Some(id.saturating_add(1)),
        Some(Since::At(at)) => Some(position_at(store, scope, at).await?),
        None => None,
    };
    Select::new(concat!("SELECT ", columns!(event), " FROM events WHERE "))
        .scope(scope)
        .filter(" AND provider = ", filter.provider.as_deref())
        .filter(" AND event_type = ", filter.event_type.as_deref())
        .filter(
            " AND disposition = ",
            filter.disposition.map(Disposition::as_str),
        )
        .filter(
            " AND source_id IS NOT NULL AND source_id = ",
            filter.source.map(SourceId::bits),
        )
        .filter(" AND id >= ", since)
        .filter(" AND id < ", filter.below)
        .text(" ORDER BY id DESC LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, rows::event)
        .await
}

/// One event.
pub async fn event(
    store: &Store,
    scope: &TenantScope,
    id: u64,
) -> Result<Option<EventRow>, StoreError> {
    let Ok(id) = i64::try_from(id) else {
        return Ok(None);
    };
    Select::new(concat!("SELECT ", columns!(event), " FROM events WHERE "))
        .scope(scope)
        .text(" AND id = ")
        .value(id)
        .first(store, rows::event)
        .await
}

/// The very bytes of an event; the digest is checked.
pub async fn event_payload(
    store: &Store,
    scope: &TenantScope,
    id: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    match event(store, scope, id).await? {
        Some(event) => super::blob::bytes(store, scope.tenant(), &event.sha256)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Pending mail of all tenants after a place (tenant and id), in that order.
pub async fn pending_events(
    store: &Store,
    scope: &WorkerScope,
    after: Option<(TenantId, u64)>,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    let WorkerScope(()) = scope;
    let (tenant, id) = after.map_or((0, 0), |(tenant, id)| (tenant.bits(), id));
    Select::new(concat!(
        "SELECT ",
        columns!(event),
        " FROM events WHERE state = 'pending' AND family = 'mail' AND (tenant_id, id) > ("
    ))
    .value(tenant)
    .text(", ")
    .value(id)
    .text(") ORDER BY tenant_id, id LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::event)
    .await
}

/// Pending deliveries that carry mail and are not put off, of all tenants after a place (tenant and
/// id), in that order.
pub async fn pending_deliveries(
    store: &Store,
    scope: &WorkerScope,
    after: Option<(TenantId, u64)>,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    let WorkerScope(()) = scope;
    let (tenant, id) = after.map_or((0, 0), |(tenant, id)| (tenant.bits(), id));
    Select::new(concat!(
        "SELECT ",
        columns!(event),
        " FROM events WHERE state = 'pending' AND family <> 'mail' AND (next_try_at IS NULL OR \
         next_try_at <= "
    ))
    .value(store.now().ms())
    .text(") AND (tenant_id, id) > (")
    .value(tenant)
    .text(", ")
    .value(id)
    .text(") ORDER BY tenant_id, id LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::event)
    .await
}

/// The oldest mail of the tenant that was received and is no message yet, by its event's id.
pub async fn oldest_pending(store: &Store, scope: &TenantScope) -> Result<Option<u64>, StoreError> {
    Select::new(
        "SELECT id FROM events WHERE state = 'pending' AND family = 'mail' AND tenant_id = ",
    )
    .value(scope.tenant().bits())
    .text(" ORDER BY id LIMIT 1")
    .first(store, |row| rows::unsigned(row, 0))
    .await
}

/// The tenant's feed after a position, in order, only what the scope reaches.
pub async fn changes(
    store: &Store,
    scope: &TenantScope,
    after: u64,
    limit: usize,
) -> Result<Vec<FeedRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(feed), " FROM feed WHERE "))
        .scope(scope)
        .text(" AND position > ")
        .value(after)
        .text(" ORDER BY position LIMIT ")
        .value(select::rows(limit))
        .all(store, rows::feed)
        .await
}

/// The tenant's last feed position.
pub async fn position(store: &Store, scope: &TenantScope) -> Result<u64, StoreError> {
    let found = Select::new("SELECT position FROM counters WHERE tenant_id = ")
        .value(scope.tenant().bits())
        .first(store, |row| rows::unsigned(row, 0))
        .await?;
    Ok(found.unwrap_or(0))
}

/// The last feed position of every tenant.
pub async fn positions(
    store: &Store,
    scope: &WorkerScope,
) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new("SELECT tenant_id, position FROM counters WHERE tenant_id <> ")
        .value(postroom_core::deployment().bits())
        .text(" ORDER BY tenant_id")
        .all(store, |row| {
            Ok((rows::tenant_id(row, 0)?, rows::unsigned(row, 1)?))
        })
        .await
}

/// Failed imports, newest first.
pub async fn import_failures(
    store: &Store,
    scope: &TenantScope,
    below: Option<u64>,
    limit: usize,
) -> Result<Vec<ImportFailureRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(import_failure),
        " FROM import_failures WHERE "
    ))
    .scope(scope)
    .filter(" AND id < ", below)
    .text(" ORDER BY id DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::import_failure)
    .await
}

/// Which of some digests a mailbox has events of already.
pub async fn known_digests(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    digests: &[Sha256Bytes],
) -> Result<HashSet<Sha256Bytes>, StoreError> {
    let mut out = HashSet::new();
    for digests in digests.chunks(256) {
        let known =
            Select::new("SELECT sha256 FROM events WHERE family = 'mail' AND identity_id = ")
                .value(identity.bits())
                .text(" AND sha256 IN ")
                .list(digests.iter().map(|sha256| sha256.as_slice().into()))
                .text(" AND ")
                .scope(scope)
                .all(store, |row| rows::array(&row.blob(0)?))
                .await?;
        out.extend(known);
    }
    Ok(out)
}

/// The bytes of a failed import, when they were kept; the digest is checked.
pub async fn import_failure_payload(
    store: &Store,
    scope: &TenantScope,
    id: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found = Select::new("SELECT sha256 FROM import_failures WHERE ")
        .scope(scope)
        .text(" AND id = ")
        .value(id)
        .first(store, |row| Ok(row.opt_blob(0)?))
        .await?;
    match found.flatten() {
        Some(sha256) => {
            let sha256 = rows::array(&sha256)?;
            super::blob::bytes(store, scope.tenant(), &sha256)
                .await
                .map(Some)
        }
        None => Ok(None),
    }
}

/// The first feed position of the tenant at or after an instant, one past the last when there is
/// none: positions and instants grow together, so this halves the range until it is found.
pub(super) async fn position_at(
    store: &Store,
    scope: &TenantScope,
    at: Timestamp,
) -> Result<u64, StoreError> {
    let mut low = 1;
    let mut high = position(store, scope).await?.saturating_add(1);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = Select::new("SELECT position, at FROM feed WHERE tenant_id = ")
            .value(scope.tenant().bits())
            .text(" AND position >= ")
            .value(middle)
            .text(" ORDER BY position LIMIT 1")
            .first(store, |row| {
                Ok((rows::unsigned(row, 0)?, rows::at(row, 1)?))
            })
            .await?;
        match found {
            Some((position, found_at)) if found_at < at => low = position + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
