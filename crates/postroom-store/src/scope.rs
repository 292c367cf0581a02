//! Scopes wider than a tenant.

use postroom_core::KeyRow;
use postroom_types::{Level, Reach, TenantId, TenantScope};

/// The right to read across tenants, for the workers that parse, index and receive. It is taken
/// once, when the house is opened ([`crate::Store::take_worker_scope`]); no request can make one.
#[derive(Debug, Clone)]
pub struct WorkerScope(pub(crate) ());

impl WorkerScope {
    /// The scope of the tenant whose change a worker handles.
    pub fn tenant(&self, tenant: TenantId) -> TenantScope {
        TenantScope::granted(tenant, Reach::Tenant)
    }

    /// The platform's scope, for the operator who holds the data folder itself.
    pub fn platform(&self) -> PlatformScope {
        PlatformScope(())
    }
}

/// The right to list tenants and platform keys.
#[derive(Debug, Clone)]
pub struct PlatformScope(pub(crate) ());

impl PlatformScope {
    /// The scope of a platform key; `None` for any other key.
    pub fn of_key(key: &KeyRow) -> Option<Self> {
        (key.level == Level::Platform).then_some(Self(()))
    }
}
