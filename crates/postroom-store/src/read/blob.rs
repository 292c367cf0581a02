//! Bytes by their digest, for what was found under a scope.

use crate::{Store, StoreError, blob, rows, select::Select};
use postroom_core::Sha256Bytes;
use postroom_types::TenantId;

/// The very bytes; a row that names bytes which are not there is damaged.
pub(super) async fn bytes(
    store: &Store,
    tenant: TenantId,
    sha256: &Sha256Bytes,
) -> Result<Vec<u8>, StoreError> {
    let found = Select::new("SELECT size, bytes FROM blobs WHERE tenant_id = ")
        .value(tenant.bits())
        .text(" AND sha256 = ")
        .value(sha256.as_slice())
        .first(store, |row| Ok((rows::unsigned(row, 0)?, row.opt_blob(1)?)))
        .await?;
    let (size, inline) = found.ok_or(StoreError::Damaged("a blob that is missing"))?;
    let folder = store.blobs().cloned();
    let sha256 = *sha256;
    if inline.is_some() {
        return blob::unpack(&sha256, size, inline, folder.as_ref());
    }
    tokio::task::spawn_blocking(move || blob::unpack(&sha256, size, None, folder.as_ref()))
        .await
        .map_err(|_| StoreError::Unavailable)?
}
