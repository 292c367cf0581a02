//! Keys, owner links, sessions.

use crate::{PlatformScope, Store, StoreError};
use postroom_core::{KeyRow, OwnerLinkRow, SessionRow};
use postroom_types::{KeyId, TenantScope};

/// What a presented token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialAnswer {
    /// No such key, a wrong secret, a secret whose overlap ended, or a token of another mode: not
    /// told apart.
    Unknown,
    /// The secret is right and the key was revoked.
    Revoked,
    /// The secret is right and the key has ended.
    Expired,
    /// A key to act with.
    Valid(KeyRow),
}

/// What a session's token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionAnswer {
    /// None, or one that ended.
    Unknown,
    /// A session.
    Valid(SessionRow),
}

/// Checks an API key's whole token, in constant time for known and unknown ones.
pub async fn credential(store: &Store, token: &str) -> Result<CredentialAnswer, StoreError> {
    let _ = (store, token);
    Err(StoreError::Unavailable)
}

/// A tenant's (or, for an identity's scope, the identity's) key.
pub async fn key(
    store: &Store,
    scope: &TenantScope,
    id: KeyId,
) -> Result<Option<KeyRow>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// Keys of a tenant or identity by id, oldest first.
pub async fn keys(
    store: &Store,
    scope: &TenantScope,
    after: Option<KeyId>,
    limit: usize,
) -> Result<Vec<KeyRow>, StoreError> {
    let _ = (store, scope, after, limit);
    Err(StoreError::Unavailable)
}

/// Platform keys by id, oldest first.
pub async fn platform_keys(
    store: &Store,
    scope: &PlatformScope,
    after: Option<KeyId>,
    limit: usize,
) -> Result<Vec<KeyRow>, StoreError> {
    let _ = (store, scope, after, limit);
    Err(StoreError::Unavailable)
}

/// An owner link that can be used now.
pub async fn owner_link_open(
    store: &Store,
    hash: [u8; 32],
) -> Result<Option<OwnerLinkRow>, StoreError> {
    let _ = (store, hash);
    Err(StoreError::Unavailable)
}

/// A session by the keyed hash of its token.
pub async fn session(store: &Store, hash: [u8; 32]) -> Result<SessionAnswer, StoreError> {
    let _ = (store, hash);
    Err(StoreError::Unavailable)
}

/// Whether an owner link was ever used.
pub async fn person_signed_in(store: &Store) -> Result<bool, StoreError> {
    let _ = store;
    Err(StoreError::Unavailable)
}
