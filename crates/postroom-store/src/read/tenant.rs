//! Tenants, identities, addresses.

use crate::{
    PlatformScope, Store, StoreError, WorkerScope,
    rows::{self, columns},
    select::{self, Select},
    sql::Value,
};
use postroom_core::{AddressRow, DomainRow, IdentityRow, IdentityStatus, TenantRow, TenantStatus};
use postroom_types::{Address, IdentityId, TenantId, TenantScope, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

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
    tenant_where(store, "id = ", scope.tenant().bits()).await
}

/// Any tenant.
pub async fn tenant_by_id(
    store: &Store,
    scope: &PlatformScope,
    id: TenantId,
) -> Result<Option<TenantRow>, StoreError> {
    let PlatformScope(()) = scope;
    tenant_where(store, "id = ", id.bits()).await
}

/// A domain of the deployment, by its name.
pub async fn deployment_domain(
    store: &Store,
    scope: &PlatformScope,
    name: &str,
) -> Result<Option<DomainRow>, StoreError> {
    let PlatformScope(()) = scope;
    Select::new(concat!(
        "SELECT ",
        columns!(domain),
        " FROM domains WHERE tenant_id = "
    ))
    .value(postroom_core::deployment().bits())
    .text(" AND name = ")
    .value(name)
    .first(store, rows::domain)
    .await
}

/// Any tenant, by its slug.
pub async fn tenant_by_slug(
    store: &Store,
    scope: &PlatformScope,
    slug: &str,
) -> Result<Option<TenantRow>, StoreError> {
    let PlatformScope(()) = scope;
    tenant_where(store, "slug = ", slug).await
}

/// Tenants by id, oldest first.
pub async fn tenants(
    store: &Store,
    scope: &PlatformScope,
    after: Option<TenantId>,
    limit: usize,
) -> Result<Vec<TenantRow>, StoreError> {
    let PlatformScope(()) = scope;
    Select::new(concat!(
        "SELECT ",
        columns!(tenant),
        " FROM tenants WHERE id > "
    ))
    .value(after.map_or(0, TenantId::bits))
    .text(" ORDER BY id LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::tenant)
    .await
}

/// One identity; `None` for one that is being deleted or is gone.
pub async fn identity(
    store: &Store,
    scope: &TenantScope,
    id: IdentityId,
) -> Result<Option<Identity>, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(identity),
        " FROM identities WHERE id = "
    ))
    .value(id.bits())
    .text(" AND status IN ('active', 'paused') AND ")
    .scope_by(scope, "tenant_id", "id")
    .all(store, rows::identity)
    .await?;
    Ok(with_addresses(store, found).await?.pop())
}

/// The identity that has `address` (active or retiring).
pub async fn identity_by_address(
    store: &Store,
    scope: &TenantScope,
    address: &Address,
) -> Result<Option<Identity>, StoreError> {
    let row = Select::new(concat!(
        "SELECT ",
        columns!(address),
        " FROM addresses WHERE address = "
    ))
    .value(address.base())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::address)
    .await?;
    let now = store.now();
    match row.filter(|row| row.receives(now)) {
        Some(row) => identity(store, scope, row.identity_id).await,
        None => Ok(None),
    }
}

/// The identity that has each of `addresses` (active or retiring), by address without detail. It is
/// about the whole tenant whatever the scope's reach, because it tells whose copy of a mail is the
/// first of several; callers show no more than that.
pub async fn owners_of_addresses(
    store: &Store,
    scope: &TenantScope,
    addresses: &BTreeSet<Address>,
) -> Result<BTreeMap<String, IdentityId>, StoreError> {
    let now = store.now();
    let mut owners = BTreeMap::new();
    let addresses: Vec<&Address> = addresses.iter().collect();
    for part in addresses.chunks(ADDRESSES_AT_ONCE) {
        let rows = Select::new(concat!(
            "SELECT ",
            columns!(address),
            " FROM addresses WHERE tenant_id = "
        ))
        .value(scope.tenant().bits())
        .text(" AND address IN ")
        .list(part.iter().map(|address| address.base().into()))
        .all(store, rows::address)
        .await?;
        let received = rows.into_iter().filter(|row| row.receives(now));
        owners.extend(received.map(|row| (row.address, row.identity_id)));
    }
    Ok(owners)
}

/// Addresses that one statement asks for.
const ADDRESSES_AT_ONCE: usize = 500;

/// Identities.
pub async fn identities(
    store: &Store,
    scope: &TenantScope,
    filter: &IdentityFilter,
) -> Result<Vec<Identity>, StoreError> {
    let select = Select::new(concat!(
        "SELECT ",
        columns!(identity),
        " FROM identities WHERE "
    ))
    .scope_by(scope, "tenant_id", "id");
    let select = match filter.status {
        Some(status) => select.text(" AND status = ").value(status.as_str()),
        None => select.text(" AND status IN ('active', 'paused')"),
    };
    let found = select
        .filter(" AND purpose = ", filter.purpose.as_deref())
        .filter(" AND id > ", filter.after.map(IdentityId::bits))
        .text(" ORDER BY id LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, rows::identity)
        .await?;
    with_addresses(store, found).await
}

/// The tenant that has an identity.
pub async fn tenant_of_identity(
    store: &Store,
    scope: &PlatformScope,
    id: IdentityId,
) -> Result<Option<TenantId>, StoreError> {
    let PlatformScope(()) = scope;
    let row = Select::new(concat!(
        "SELECT ",
        columns!(identity),
        " FROM identities WHERE id = "
    ))
    .value(id.bits())
    .first(store, rows::identity)
    .await?;
    Ok(row.map(|row| row.tenant_id))
}

/// The tenant that has an address.
pub async fn tenant_of_address(
    store: &Store,
    scope: &PlatformScope,
    address: &Address,
) -> Result<Option<TenantId>, StoreError> {
    let PlatformScope(()) = scope;
    let row = Select::new(concat!(
        "SELECT ",
        columns!(address),
        " FROM addresses WHERE address = "
    ))
    .value(address.base())
    .first(store, rows::address)
    .await?;
    Ok(row.map(|row| row.tenant_id))
}

/// The mailbox that mail to a domain's role addresses (RFC 2142) goes to: the oldest one of the tenant
/// whose domain it is, and of `home` for a domain of the deployment.
pub async fn role_mailbox(
    store: &Store,
    scope: &WorkerScope,
    domain: &str,
    home: TenantId,
) -> Result<Option<String>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new(
        "SELECT a.address FROM domains d JOIN addresses a ON a.domain_id = d.id \
         JOIN identities i ON i.id = a.identity_id \
         WHERE a.status = 'active' AND i.status = 'active' AND d.name = ",
    )
    .value(domain)
    .text(" AND a.tenant_id = CASE WHEN d.tenant_id = ")
    .value(postroom_core::deployment().bits())
    .text(" THEN ")
    .value(home.bits())
    .text(" ELSE d.tenant_id END ORDER BY d.created_at, a.id LIMIT 1")
    .first(store, |row| Ok(row.text(0)?))
    .await
}

/// The oldest mailbox of a tenant.
pub async fn oldest_mailbox(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
) -> Result<Option<String>, StoreError> {
    let WorkerScope(()) = scope;
    Select::new(
        "SELECT a.address FROM addresses a JOIN identities i ON i.id = a.identity_id \
         WHERE a.status = 'active' AND i.status = 'active' AND a.tenant_id = ",
    )
    .value(tenant.bits())
    .text(" ORDER BY a.id LIMIT 1")
    .first(store, |row| Ok(row.text(0)?))
    .await
}

/// What an address is, in whatever tenant.
pub async fn recipient(
    store: &Store,
    scope: &WorkerScope,
    address: &Address,
) -> Result<Option<RecipientAnswer>, StoreError> {
    let WorkerScope(()) = scope;
    // Each mail asks this once, so it is one statement.
    Select::new(
        "SELECT a.id, a.tenant_id, a.identity_id, a.address, a.domain_id, a.role, a.status, \
         a.retire_at, a.retired_at, a.created_at, t.status, t.updated_at, i.status \
         FROM addresses a JOIN tenants t ON t.id = a.tenant_id \
         JOIN identities i ON i.id = a.identity_id WHERE a.address = ",
    )
    .value(address.base())
    .first(store, |row| {
        let address = rows::address(row)?;
        Ok(RecipientAnswer {
            tenant_id: address.tenant_id,
            tenant_status: rows::word(row, 10)?,
            tenant_updated_at: rows::at(row, 11)?,
            identity_id: address.identity_id,
            identity_status: rows::word(row, 12)?,
            address,
        })
    })
    .await
}

async fn tenant_where(
    store: &Store,
    column: &str,
    value: impl Into<Value>,
) -> Result<Option<TenantRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(tenant), " FROM tenants WHERE "))
        .text(column)
        .value(value)
        .first(store, rows::tenant)
        .await
}

async fn with_addresses(
    store: &Store,
    found: Vec<IdentityRow>,
) -> Result<Vec<Identity>, StoreError> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids = found.iter().map(|row| row.id.bits().into());
    let addresses = Select::new(concat!(
        "SELECT ",
        columns!(address),
        " FROM addresses WHERE identity_id IN "
    ))
    .list(ids)
    .text(" ORDER BY id")
    .all(store, rows::address)
    .await?;
    Ok(found
        .into_iter()
        .map(|row| Identity {
            addresses: addresses
                .iter()
                .filter(|address| address.identity_id == row.id)
                .cloned()
                .collect(),
            row,
        })
        .collect())
}
