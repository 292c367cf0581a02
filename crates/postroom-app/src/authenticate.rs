//! From a bearer token to an actor.

use postroom_core::{Command, KeyRow, Mode};
use postroom_store::{PlatformScope, StoreError, read};
use postroom_types::{ErrorCode, Level, Permission, Reach, TenantScope};

use crate::{Actor, Failure, Room, authorise::check_tenant_is_active};

impl Room {
    /// Who holds `token`. Every call asks again, so a revoked key ends with its next request.
    ///
    /// An unknown key, a wrong secret and a secret whose overlap ended are the same answer; only
    /// who knows the secret learns that the key was revoked or has expired.
    ///
    /// # Errors
    /// `unauthenticated`, `key_revoked`, `key_expired`; `unavailable` when the store cannot say.
    pub async fn authenticate(&self, token: &str) -> Result<Actor, Failure> {
        match read::credential(self.store(), token).await? {
            read::CredentialAnswer::Unknown => Err(ErrorCode::Unauthenticated.into()),
            read::CredentialAnswer::Revoked => Err(ErrorCode::KeyRevoked.into()),
            read::CredentialAnswer::Expired => Err(ErrorCode::KeyExpired.into()),
            read::CredentialAnswer::Valid(key) => {
                self.note_use(&key);
                Ok(Actor::of_key(&key))
            }
        }
    }

    /// Whether the key of a call that has waited is still good, and its tenant still active.
    ///
    /// # Errors
    /// `key_revoked`, `key_expired`, `tenant_suspended`; `unavailable` when the store cannot say.
    pub(crate) async fn check_still_holds(&self, actor: &Actor) -> Result<(), Failure> {
        let Some(id) = actor.key else { return Ok(()) };
        let store = self.store();
        let row = match (actor.tenant, &actor.platform) {
            (Some(tenant), _) => {
                let scope = TenantScope::granted(tenant, Reach::Tenant);
                read::key(store, &scope, id).await?
            }
            (None, Some(platform)) => read::platform_key(store, platform, id).await?,
            (None, None) => None,
        };
        match row {
            Some(key) if key.revoked_at.is_some() => Err(ErrorCode::KeyRevoked.into()),
            Some(key) if key.expires_at.is_some_and(|at| at <= self.now()) => {
                Err(ErrorCode::KeyExpired.into())
            }
            Some(_) => check_tenant_is_active(self, actor).await,
            None => Err(ErrorCode::Unauthenticated.into()),
        }
    }

    /// Notes that a key was used, at most once a minute and beside the answer.
    fn note_use(&self, key: &KeyRow) {
        if !self.rates().first_use_this_minute(key.id, self.now()) {
            return;
        }
        let store = self.store().clone();
        let touch = Command::TouchKey {
            tenant: key.tenant_id,
            key: key.id,
        };
        tokio::spawn(async move {
            // A note that was lost is made again with the next minute's first use.
            if let Err(error) = store.transact(touch).await {
                tracing::debug!(code = %error.code(), "use of a key was not noted");
            }
        });
    }
}

impl Actor {
    /// What a key's row says about its holder.
    pub fn of_key(key: &KeyRow) -> Self {
        Self {
            key: Some(key.id),
            level: key.level,
            tenant: key.tenant_id,
            identity: key.identity_id,
            permissions: permissions(key),
            grants: key.grants.clone(),
            test: key.mode == Mode::Test,
            platform: PlatformScope::of_key(key),
        }
    }
}

/// What a key holds: its own list, and what every key below the platform holds of its own workspace.
fn permissions(key: &KeyRow) -> Vec<Permission> {
    let mut permissions = key.permissions.clone();
    if key.level != Level::Platform && !permissions.contains(&Permission::UsageRead) {
        permissions.push(Permission::UsageRead);
        permissions.sort_unstable();
    }
    permissions
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if let StoreError::Refused(refusal) = &error {
            return Self::from(refusal.clone());
        }
        if error.code() == ErrorCode::InternalError {
            tracing::error!(%error, "the store failed");
        }
        Self::new(error.code())
    }
}

impl From<postroom_core::Refusal> for Failure {
    fn from(refusal: postroom_core::Refusal) -> Self {
        let failure = Self::new(refusal.code());
        match refusal {
            postroom_core::Refusal::Code {
                path: Some(path),
                reason,
                ..
            } => {
                let words = if reason.is_empty() {
                    "is not valid"
                } else {
                    reason
                };
                failure.with(
                    "errors",
                    serde_json::json!([{"path": path, "message": words}]),
                )
            }
            postroom_core::Refusal::Code { reason, .. } if !reason.is_empty() => {
                failure.with("reason", reason)
            }
            postroom_core::Refusal::Send { reason, detail, .. } => {
                let failure = match reason {
                    "" => failure,
                    reason => failure.with("reason", reason),
                };
                crate::op::detailed(failure, detail)
            }
            _ => failure,
        }
    }
}
