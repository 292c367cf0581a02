//! Bytes by their digest, for what was found under a scope.

use crate::{
    Store, StoreError, WorkerScope,
    blob::{self, BlobFolder},
    rows,
    select::Select,
};
use postroom_core::{EventRow, Sha256Bytes};
use postroom_types::TenantId;
use std::collections::HashMap;

/// Bytes as they are kept, to be unpacked on a thread that may block.
#[derive(Debug)]
pub struct KeptBytes {
    sha256: Sha256Bytes,
    size: u64,
    inline: Option<Vec<u8>>,
    folder: Option<BlobFolder>,
}

impl KeptBytes {
    /// The very bytes; the digest is checked.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when they are not there or not those.
    pub fn unpack(self) -> Result<Vec<u8>, StoreError> {
        blob::unpack(&self.sha256, self.size, self.inline, self.folder.as_ref())
    }
}

/// The bytes of some events of one tenant, in one read; `None` for those whose row is missing.
pub async fn kept_bytes(
    store: &Store,
    scope: &WorkerScope,
    tenant: TenantId,
    events: &[EventRow],
) -> Result<Vec<Option<KeptBytes>>, StoreError> {
    let WorkerScope(()) = scope;
    let digests: Vec<Sha256Bytes> = events.iter().map(|event| event.sha256).collect();
    kept_of(store, tenant, &digests).await
}

/// The bytes under some digests, in their order; `None` for those whose row is missing.
pub(super) async fn kept_of(
    store: &Store,
    tenant: TenantId,
    digests: &[Sha256Bytes],
) -> Result<Vec<Option<KeptBytes>>, StoreError> {
    let mut wanted: Vec<&Sha256Bytes> = digests.iter().collect();
    wanted.sort_unstable();
    wanted.dedup();
    // Filled up to a power of two, so that few statements serve every number of digests.
    if let Some(last) = wanted.last().copied() {
        wanted.resize(wanted.len().next_power_of_two(), last);
    }
    let found = Select::new("SELECT sha256, size, bytes FROM blobs WHERE tenant_id = ")
        .value(tenant.bits())
        .text(" AND sha256 IN ")
        .list(wanted.into_iter().map(|sha256| sha256.as_slice().into()))
        .all(store, |row| {
            let sha256 = row.blob(0)?;
            Ok((sha256, (rows::unsigned(row, 1)?, row.opt_blob(2)?)))
        })
        .await?;
    let found: HashMap<Vec<u8>, (u64, Option<Vec<u8>>)> = found.into_iter().collect();
    let folder = store.blobs();
    let kept = |sha256: &Sha256Bytes| {
        let (size, inline) = found.get(sha256.as_slice())?.clone();
        Some(KeptBytes {
            sha256: *sha256,
            size,
            folder: inline.is_none().then(|| folder.cloned()).flatten(),
            inline,
        })
    };
    Ok(digests.iter().map(kept).collect())
}

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
