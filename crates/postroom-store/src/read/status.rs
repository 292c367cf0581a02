//! Counts for a state page, and kept results.

use crate::{PlatformScope, Store, StoreError};
use postroom_types::{KeyId, TenantScope};

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Tenants; 1 for a tenant's own counts.
    pub tenants: u64,
    /// Identities that are not deleted.
    pub identities: u64,
    /// Messages.
    pub messages: u64,
    /// Unread messages.
    pub unread: u64,
    /// Threads.
    pub threads: u64,
    /// Events.
    pub events: u64,
    /// Events not worked off yet.
    pub pending_events: u64,
    /// Events that could not be worked off.
    pub failed_events: u64,
    /// Mails that imports could not take in.
    pub import_failures: u64,
}

/// Counts of what the scope reaches.
pub async fn counts(store: &Store, scope: &TenantScope) -> Result<Counts, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// Counts of the deployment.
pub async fn deployment_counts(store: &Store, scope: &PlatformScope) -> Result<Counts, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// Kept results by the name their cursor carries; only for the key that searched, and not past
/// their end.
pub async fn result_set(
    store: &Store,
    scope: &TenantScope,
    key: Option<KeyId>,
    id: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let _ = (store, scope, key, id);
    Err(StoreError::Unavailable)
}
