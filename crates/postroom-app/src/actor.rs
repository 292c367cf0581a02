//! Who is calling: what a key says about its holder.

use postroom_core::{KeyGrants, SendScope};
use postroom_store::PlatformScope;
use postroom_types::{ErrorCode, IdentityId, KeyId, Level, Permission, TenantId};

use crate::{Failure, operation::Operation};

/// A caller with its reach and its permissions.
///
/// Made by `Room::authenticate` from a key, or by a command that opened the data folder itself.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The key; `None` for a command on this machine that holds the data folder.
    pub key: Option<KeyId>,
    /// How wide it reaches.
    pub level: Level,
    /// Its tenant; `None` at platform level.
    pub tenant: Option<TenantId>,
    /// Its identity; set at identity level only.
    pub identity: Option<IdentityId>,
    /// What it may do, sorted.
    pub permissions: Vec<Permission>,
    /// What the key is granted of queues and replay targets.
    pub grants: KeyGrants,
    /// Whether the key is a test key.
    pub test: bool,
    /// The right to read across tenants, at platform level only.
    pub(crate) platform: Option<PlatformScope>,
}

impl Actor {
    /// The holder of the data folder, acting for one tenant with every permission of that level.
    pub fn local_tenant(tenant: TenantId) -> Self {
        Self {
            key: None,
            level: Level::Tenant,
            tenant: Some(tenant),
            identity: None,
            permissions: permissions_up_to(Level::Tenant),
            grants: KeyGrants::default(),
            test: false,
            platform: None,
        }
    }

    /// The holder of the data folder, acting for the whole deployment.
    pub fn local_platform(scope: PlatformScope) -> Self {
        Self {
            key: None,
            level: Level::Platform,
            tenant: None,
            identity: None,
            permissions: permissions_up_to(Level::Platform),
            grants: KeyGrants::default(),
            test: false,
            platform: Some(scope),
        }
    }

    /// Whether it holds `permission`.
    pub fn holds(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// To whom it may write: as was granted, else as its level may. So a person on this machine writes to
    /// anyone, and an agent that acts as one mailbox there answers in threads.
    pub fn send_scope(&self) -> SendScope {
        self.grants
            .send_scope
            .unwrap_or_else(|| SendScope::of_level(self.level))
    }

    /// Whether it may call `operation` at all; what it may not call is not listed to it.
    pub fn may_call(&self, operation: &Operation) -> bool {
        operation.levels.contains(&self.level) && self.holds(operation.permission)
    }
}

impl Actor {
    /// Whether it may call `operation`, for a surface on which the operation is known to exist.
    ///
    /// # Errors
    /// `scope_denied` when the level does not reach, `permission_denied` with `details.required`.
    pub fn check_may_call(&self, operation: &Operation) -> Result<(), Failure> {
        if !operation.levels.contains(&self.level) {
            let levels: Vec<&str> = operation
                .levels
                .iter()
                .map(|level| level.as_str())
                .collect();
            return Err(Failure::new(ErrorCode::ScopeDenied).with("levels", levels));
        }
        if !self.holds(operation.permission) {
            let required = operation.permission.as_str();
            return Err(Failure::new(ErrorCode::PermissionDenied).with("required", required));
        }
        Ok(())
    }
}

fn permissions_up_to(level: Level) -> Vec<Permission> {
    Permission::ALL
        .iter()
        .copied()
        .filter(|permission| permission.narrowest_level() <= level)
        .collect()
}
