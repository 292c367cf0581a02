//! Events, the feed, what failed.

use crate::{Store, StoreError, WorkerScope};
use postroom_core::{EventRow, FeedRow, ImportFailureRow, Sha256Bytes};
use postroom_types::{IdentityId, TenantId, TenantScope, Timestamp};
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
    let _ = (store, scope, filter);
    Err(StoreError::Unavailable)
}

/// One event.
pub async fn event(
    store: &Store,
    scope: &TenantScope,
    id: u64,
) -> Result<Option<EventRow>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// The very bytes of an event; the digest is checked.
pub async fn event_payload(
    store: &Store,
    scope: &TenantScope,
    id: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// Pending events of all tenants after a place (tenant and id), in that order.
pub async fn pending_events(
    store: &Store,
    scope: &WorkerScope,
    after: Option<(TenantId, u64)>,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    let _ = (store, scope, after, limit);
    Err(StoreError::Unavailable)
}

/// The tenant's feed after a position, in order, only what the scope reaches.
pub async fn changes(
    store: &Store,
    scope: &TenantScope,
    after: u64,
    limit: usize,
) -> Result<Vec<FeedRow>, StoreError> {
    let _ = (store, scope, after, limit);
    Err(StoreError::Unavailable)
}

/// The tenant's last feed position.
pub async fn position(store: &Store, scope: &TenantScope) -> Result<u64, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// The last feed position of every tenant.
pub async fn positions(
    store: &Store,
    scope: &WorkerScope,
) -> Result<Vec<(TenantId, u64)>, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// Failed imports, newest first.
pub async fn import_failures(
    store: &Store,
    scope: &TenantScope,
    below: Option<u64>,
    limit: usize,
) -> Result<Vec<ImportFailureRow>, StoreError> {
    let _ = (store, scope, below, limit);
    Err(StoreError::Unavailable)
}

/// Which of some digests a mailbox has events of already.
pub async fn known_digests(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    digests: &[Sha256Bytes],
) -> Result<HashSet<Sha256Bytes>, StoreError> {
    let _ = (store, scope, identity, digests);
    Err(StoreError::Unavailable)
}
