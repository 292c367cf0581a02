//! What a caller may read.

use crate::{IdentityId, TenantId};

/// How far inside its tenant a scope reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Every identity of the tenant.
    Tenant,
    /// One identity only.
    Identity(IdentityId),
}

/// The part of the store that a read may see: one tenant, all of it or one identity.
///
/// Every read function asks for one. It is made by `authorise` from a key, or by a worker for the
/// tenant whose change it handles; it is never made from a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TenantScope {
    tenant: TenantId,
    reach: Reach,
}

impl TenantScope {
    /// A scope granted by a key or taken by a worker.
    pub fn granted(tenant: TenantId, reach: Reach) -> Self {
        Self { tenant, reach }
    }

    /// The tenant.
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// How far it reaches.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Whether it reaches `identity` (given that the identity belongs to the tenant).
    pub fn reaches(&self, identity: IdentityId) -> bool {
        match self.reach {
            Reach::Tenant => true,
            Reach::Identity(own) => own == identity,
        }
    }

    /// The same scope narrowed to one identity; `None` when it does not reach that identity.
    pub fn narrowed(&self, identity: IdentityId) -> Option<Self> {
        self.reaches(identity).then_some(Self {
            tenant: self.tenant,
            reach: Reach::Identity(identity),
        })
    }
}
