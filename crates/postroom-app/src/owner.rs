//! The owner: a one-time link opens a session in the page, and who holds the data folder acts
//! without a key.

use postroom_core::{Command, SessionRow};
use postroom_store::{StoreError, read};
use postroom_types::{
    Address, ErrorCode, IdentityId, Level, Permission, Reach, Secret, TenantScope,
};

use crate::{Actor, Failure, Room};

/// How long a session lasts, milliseconds.
const SESSION_LIFE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

impl Room {
    /// Uses a one-time owner link and opens a session; gives the session's token, of which only a
    /// keyed hash is kept. `None` when the link is unknown, used or ended.
    ///
    /// # Errors
    /// `unavailable` when the store cannot say.
    pub async fn use_owner_link(&self, token: &str) -> Result<Option<Secret<String>>, Failure> {
        let link = self.store().hash_token(token);
        if read::owner_link_open(self.store(), link).await?.is_none() {
            return Ok(None);
        }
        let minted = self.store().mint_token()?;
        let now = self.now();
        let session = SessionRow {
            hash: minted.hash,
            created_at: now,
            expires_at: now.plus_ms(SESSION_LIFE_MS),
        };
        match self
            .store()
            .transact(Command::UseOwnerLink { link, session })
            .await
        {
            Ok(_) => Ok(Some(minted.token)),
            // Somebody else used the link between the look and the commit.
            Err(StoreError::Refused(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether `token` is an open session's.
    pub async fn is_session(&self, token: &str) -> bool {
        let hash = self.store().hash_token(token);
        matches!(
            read::session(self.store(), hash).await,
            Ok(read::SessionAnswer::Valid(_))
        )
    }

    /// The holder of the data folder, acting as an agent of one mailbox of the first tenant would:
    /// with the defaults of a new agent's key, sending in threads only.
    ///
    /// # Errors
    /// `identity_not_found`; `unavailable` when the store cannot say.
    pub async fn local_agent(&self, named: &str) -> Result<Actor, Failure> {
        let tenant = self.default_tenant();
        let scope = TenantScope::granted(tenant, Reach::Tenant);
        let found = match (named.parse::<IdentityId>(), Address::parse(named)) {
            (Ok(id), _) => read::identity(self.store(), &scope, id).await?,
            (_, Ok(address)) => read::identity_by_address(self.store(), &scope, &address).await?,
            _ => None,
        };
        let identity = found.ok_or(ErrorCode::IdentityNotFound)?.row.id;
        Ok(Actor {
            identity: Some(identity),
            ..Actor::agent_outline(tenant)
        })
    }

    /// Ends a session.
    ///
    /// # Errors
    /// `unavailable` when the store cannot keep it.
    pub async fn close_session(&self, token: &str) -> Result<(), Failure> {
        let session = self.store().hash_token(token);
        match self
            .store()
            .transact(Command::CloseSession { session })
            .await
        {
            Ok(_) | Err(StoreError::Refused(_)) => Ok(()),
            Err(error) if error.code() == ErrorCode::Unavailable => {
                Err(ErrorCode::Unavailable.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Actor {
    /// What an agent of the tenant may do, before it is known which mailbox it acts as; enough to
    /// list what it may call.
    pub fn agent_outline(tenant: postroom_types::TenantId) -> Self {
        let mut permissions = Permission::AGENT_DEFAULT.to_vec();
        // As every key of a mailbox.
        permissions.push(Permission::UsageRead);
        Self {
            level: Level::Identity,
            permissions,
            ..Self::local_tenant(tenant)
        }
    }
}
