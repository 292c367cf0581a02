//! Which tenants may act, without asking the database for each call.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use postroom_core::TenantStatus;
use postroom_store::{Store, StoreError, Wake, read};
use postroom_types::{Reach, TenantId, TenantScope, limit::TENANTS_REMEMBERED};
use tokio::sync::watch;

use super::Room;

/// What tenants were, as long as none changed.
pub(crate) struct Tenants {
    /// Counts changes of tenants. A change in this process is counted before it is answered; one of
    /// another node when this one hears of it, within a second.
    changes: watch::Receiver<u64>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    at: u64,
    status: HashMap<TenantId, TenantStatus>,
}

impl Tenants {
    pub(crate) fn new(store: &Store) -> Self {
        Self {
            changes: store.wake(Wake::Tenant),
            known: Mutex::default(),
        }
    }

    fn changes(&self) -> u64 {
        *self.changes.borrow()
    }

    fn known(&self, tenant: TenantId, at: u64) -> Option<TenantStatus> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let status = known.status.get(&tenant).copied();
        status.filter(|_| known.at == at)
    }

    fn keep(&self, tenant: TenantId, status: TenantStatus, at: u64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at != at || known.status.len() >= TENANTS_REMEMBERED {
            known.status.clear();
            known.at = at;
        }
        known.status.insert(tenant, status);
    }
}

impl Room {
    /// A tenant's status; `None` when there is no such tenant.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say.
    pub(crate) async fn tenant_status(
        &self,
        tenant: TenantId,
    ) -> Result<Option<TenantStatus>, StoreError> {
        // Counted before the look, so that what is kept is never older than its count.
        let at = self.tenants.changes();
        if let Some(status) = self.tenants.known(tenant, at) {
            return Ok(Some(status));
        }
        let scope = TenantScope::granted(tenant, Reach::Tenant);
        let row = read::tenant(self.store(), &scope).await?;
        let status = row.map(|row| row.status);
        if let Some(status) = status {
            self.tenants.keep(tenant, status, at);
        }
        Ok(status)
    }
}
