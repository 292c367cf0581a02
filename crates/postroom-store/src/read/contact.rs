//! Contacts.

use crate::{Store, StoreError};
use postroom_core::ContactRow;
use postroom_types::{IdentityId, TenantScope, Timestamp};

/// Where a page of contacts ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ContactPlace {
    /// How well it matched.
    pub rank: i64,
    /// Inbound plus twice outbound.
    pub weight: i64,
    /// Last seen.
    pub last_seen_at: Timestamp,
    /// The address.
    pub address: String,
}

/// Which contacts to list: best match first, then those written with most.
#[derive(Debug, Clone)]
pub struct ContactFilter {
    /// The mailbox.
    pub identity: IdentityId,
    /// What is looked for; empty lists all.
    pub q: String,
    /// Only those behind this place.
    pub behind: Option<ContactPlace>,
    /// At most so many.
    pub limit: usize,
}

/// Contacts, each with its place for the next page.
pub async fn contacts(
    store: &Store,
    scope: &TenantScope,
    filter: &ContactFilter,
) -> Result<Vec<(ContactRow, ContactPlace)>, StoreError> {
    let _ = (store, scope, filter);
    Err(StoreError::Unavailable)
}
