//! What rules sending: suppressions, lists, policy, counters; drafts and uploads.

use crate::{
    Store, StoreError, blob,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{
    AddressHash, DraftRow, ListDirection, ListEntryRow, PolicyPatch, PolicyRow, SuppressionRow,
    UploadRow, UsageRow,
};
use postroom_types::{DraftId, IdentityId, Reach, TenantScope, Timestamp, UploadId};

/// Which of some addresses are suppressed, by their hashes
/// ([`Subkeys::address_hash`](crate::Subkeys::address_hash)).
pub async fn suppressed(
    store: &Store,
    scope: &TenantScope,
    hashes: &[AddressHash],
) -> Result<Vec<SuppressionRow>, StoreError> {
    if hashes.is_empty() {
        return Ok(Vec::new());
    }
    Select::new(concat!(
        "SELECT ",
        columns!(suppression),
        " FROM suppressions WHERE tenant_id = "
    ))
    .value(scope.tenant().bits())
    .text(" AND hash IN ")
    .list(hashes.iter().map(|hash| hash.as_slice().into()))
    .all(store, rows::suppression)
    .await
}

/// All suppressions of a tenant in the order of their hashes, from the one after `after`.
pub async fn suppressions(
    store: &Store,
    scope: &TenantScope,
    after: Option<&AddressHash>,
    limit: usize,
) -> Result<Vec<SuppressionRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(suppression),
        " FROM suppressions WHERE tenant_id = "
    ))
    .value(scope.tenant().bits())
    .filter(" AND hash > ", after.map(AddressHash::as_slice))
    .text(" ORDER BY hash LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::suppression)
    .await
}

/// Entries of a tenant's lists in the order of their text, from the one after `after`.
pub async fn list_entries(
    store: &Store,
    scope: &TenantScope,
    direction: ListDirection,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<ListEntryRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(list_entry),
        " FROM list_entries WHERE tenant_id = "
    ))
    .value(scope.tenant().bits())
    .text(" AND direction = ")
    .value(direction.as_str())
    .filter(" AND entry > ", after)
    .text(" ORDER BY entry, kind LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::list_entry)
    .await
}

/// What a tenant changed of the built-in policy; its
/// [`effective`](PolicyPatch::effective) is what is in force.
pub async fn policy(store: &Store, scope: &TenantScope) -> Result<PolicyRow, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(policy),
        " FROM policies WHERE tenant_id = "
    ))
    .value(scope.tenant().bits())
    .first(store, rows::policy)
    .await?;
    Ok(found.unwrap_or_else(|| PolicyRow {
        tenant_id: scope.tenant(),
        own: PolicyPatch::default(),
        updated_at: Timestamp::default(),
    }))
}

/// Counters of the days from `from` to `through` (`YYYY-MM-DD`): the tenant's sums for a tenant's
/// scope, those of the mailbox for one that reaches no further; or those of `identity`.
pub async fn usage(
    store: &Store,
    scope: &TenantScope,
    identity: Option<IdentityId>,
    from: &str,
    through: &str,
) -> Result<Vec<UsageRow>, StoreError> {
    let whose = match scope.reach() {
        Reach::Identity(own) => Some(own),
        Reach::Tenant => identity,
    };
    Select::new(concat!(
        "SELECT ",
        columns!(usage),
        " FROM usage_days WHERE tenant_id = "
    ))
    .value(scope.tenant().bits())
    .text(" AND identity_id = ")
    .value(rows::usage_identity(whose))
    .text(" AND day >= ")
    .value(from)
    .text(" AND day <= ")
    .value(through)
    .text(" ORDER BY day")
    .all(store, rows::usage)
    .await
}

/// One draft.
pub async fn draft(
    store: &Store,
    scope: &TenantScope,
    id: DraftId,
) -> Result<Option<DraftRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(draft),
        " FROM drafts WHERE id = "
    ))
    .value(id.bits())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::draft)
    .await
}

/// Drafts of a mailbox, newest first, from the one below `below`.
pub async fn drafts(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    below: Option<DraftId>,
    limit: usize,
) -> Result<Vec<DraftRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(draft),
        " FROM drafts WHERE identity_id = "
    ))
    .value(identity.bits())
    .text(" AND ")
    .scope(scope)
    .filter(" AND id < ", below.map(DraftId::bits))
    .text(" ORDER BY id DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::draft)
    .await
}

/// One uploaded file, unless it has ended.
pub async fn upload(
    store: &Store,
    scope: &TenantScope,
    id: UploadId,
) -> Result<Option<UploadRow>, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(upload),
        " FROM uploads WHERE id = "
    ))
    .value(id.bits())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::upload)
    .await?;
    Ok(found.filter(|row| store.now() < row.expires_at))
}

/// The bytes of an uploaded file; the digest is checked.
pub async fn upload_bytes(
    store: &Store,
    scope: &TenantScope,
    upload: &UploadRow,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found = Select::new("SELECT bytes FROM uploads WHERE id = ")
        .value(upload.id.bits())
        .text(" AND ")
        .scope(scope)
        .first(store, |row| Ok(row.blob(0)?))
        .await?;
    found
        .map(|packed| blob::unpack(&upload.sha256, upload.size, Some(packed), None))
        .transpose()
}
