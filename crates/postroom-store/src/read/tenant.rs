//! Tenants, identities, addresses.

use crate::{PlatformScope, Store, StoreError, WorkerScope};
use postroom_core::{AddressRow, IdentityRow, IdentityStatus, TenantRow, TenantStatus};
use postroom_types::{Address, IdentityId, TenantId, TenantScope, Timestamp};

/// An identity with its addresses, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The identity.
    pub row: IdentityRow,
    /// Its addresses, retired ones too.
    pub addresses: Vec<AddressRow>,
}

impl Identity {
    /// The address that mail is sent from.
    pub fn primary_address(&self) -> Option<&AddressRow> {
        self.addresses
            .iter()
            .find(|address| address.role == postroom_core::AddressRole::Primary)
    }
}

/// Which identities to list; by id, oldest first.
#[derive(Debug, Clone, Default)]
pub struct IdentityFilter {
    /// Only with this status; without it those that are active or paused.
    pub status: Option<IdentityStatus>,
    /// Only with this purpose.
    pub purpose: Option<String>,
    /// Only after this one.
    pub after: Option<IdentityId>,
    /// At most so many.
    pub limit: usize,
}

/// What a recipient address is, for SMTP, LMTP and raw arrivals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientAnswer {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Whether it works.
    pub tenant_status: TenantStatus,
    /// When the tenant was last changed (when it was suspended, if it is).
    pub tenant_updated_at: Timestamp,
    /// The identity.
    pub identity_id: IdentityId,
    /// Whether it works.
    pub identity_status: IdentityStatus,
    /// The address.
    pub address: AddressRow,
}

/// The scope's own tenant.
pub async fn tenant(store: &Store, scope: &TenantScope) -> Result<Option<TenantRow>, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// Any tenant.
pub async fn tenant_by_id(
    store: &Store,
    scope: &PlatformScope,
    id: TenantId,
) -> Result<Option<TenantRow>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// Any tenant, by its slug.
pub async fn tenant_by_slug(
    store: &Store,
    scope: &PlatformScope,
    slug: &str,
) -> Result<Option<TenantRow>, StoreError> {
    let _ = (store, scope, slug);
    Err(StoreError::Unavailable)
}

/// Tenants by id, oldest first.
pub async fn tenants(
    store: &Store,
    scope: &PlatformScope,
    after: Option<TenantId>,
    limit: usize,
) -> Result<Vec<TenantRow>, StoreError> {
    let _ = (store, scope, after, limit);
    Err(StoreError::Unavailable)
}

/// One identity; `None` for one that is being deleted or is gone.
pub async fn identity(
    store: &Store,
    scope: &TenantScope,
    id: IdentityId,
) -> Result<Option<Identity>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// The identity that has `address` (active or retiring).
pub async fn identity_by_address(
    store: &Store,
    scope: &TenantScope,
    address: &Address,
) -> Result<Option<Identity>, StoreError> {
    let _ = (store, scope, address);
    Err(StoreError::Unavailable)
}

/// Identities.
pub async fn identities(
    store: &Store,
    scope: &TenantScope,
    filter: &IdentityFilter,
) -> Result<Vec<Identity>, StoreError> {
    let _ = (store, scope, filter);
    Err(StoreError::Unavailable)
}

/// What an address is, in whatever tenant.
pub async fn recipient(
    store: &Store,
    scope: &WorkerScope,
    address: &Address,
) -> Result<Option<RecipientAnswer>, StoreError> {
    let _ = (store, scope, address);
    Err(StoreError::Unavailable)
}
