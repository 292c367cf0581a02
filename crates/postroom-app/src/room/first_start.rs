//! The secrets that a fresh deployment hands to its owner, once.

use postroom_core::{Command, CreateKey, Mode, OwnerLinkRow};
use postroom_store::{StoreError, read};
use postroom_types::{Level, Permission, Reach, Secret, TenantScope, Timestamp};

use super::{OpenError, Room};

/// How long an owner link can be used.
const OWNER_LINK_LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// What a start shows its owner.
#[derive(Debug, Clone)]
pub struct FirstStart {
    /// A key over the first tenant; `None` once that tenant has a key.
    pub admin_key: Option<Secret<String>>,
    /// The token of a new owner link; `None` once a person has signed in.
    pub owner_link: Option<Secret<String>>,
}

impl Room {
    /// Makes the tenant's first key, if it never had one, and a new owner link, as long as no
    /// person has signed in. Links of earlier starts end.
    ///
    /// # Errors
    /// [`OpenError::Store`].
    pub async fn first_start(&self) -> Result<FirstStart, OpenError> {
        Ok(FirstStart {
            admin_key: self.first_key().await?,
            owner_link: self.owner_link().await?,
        })
    }

    async fn first_key(&self) -> Result<Option<Secret<String>>, StoreError> {
        let scope = TenantScope::granted(self.default_tenant(), Reach::Tenant);
        if !read::keys(&self.store, &scope, None, 1).await?.is_empty() {
            return Ok(None);
        }
        let minted = self.store.mint_key(Mode::Live)?;
        let permissions = Permission::ALL
            .iter()
            .copied()
            .filter(|permission| permission.narrowest_level() <= Level::Tenant);
        let key = CreateKey {
            name: "first key".to_owned(),
            level: Level::Tenant,
            mode: Mode::Live,
            tenant: Some(self.default_tenant()),
            identity: None,
            permissions: permissions.collect(),
            grants: Default::default(),
            expires_at: None,
            credential: minted.credential,
        };
        self.store.transact(Command::CreateKey(key)).await?;
        Ok(Some(minted.token))
    }

    async fn owner_link(&self) -> Result<Option<Secret<String>>, StoreError> {
        if read::person_signed_in(&self.store).await? {
            return Ok(None);
        }
        Ok(Some(self.new_owner_link().await?.0))
    }

    /// A new owner link's token and its end; links that nobody used end.
    ///
    /// # Errors
    /// [`StoreError`]: none was made.
    pub async fn new_owner_link(&self) -> Result<(Secret<String>, Timestamp), StoreError> {
        let minted = self.store.mint_token()?;
        let now = self.now();
        let link = OwnerLinkRow {
            hash: minted.hash,
            created_at: now,
            expires_at: now.plus_ms(OWNER_LINK_LIFE_MS),
            used_at: None,
        };
        let expires_at = link.expires_at;
        self.store.transact(Command::CreateOwnerLink(link)).await?;
        Ok((minted.token, expires_at))
    }
}
