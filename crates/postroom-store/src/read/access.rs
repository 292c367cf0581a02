//! Keys, owner links, sessions.

use crate::{
    PlatformScope, Store, StoreError, credential,
    rows::{self, columns},
    select::{self, Select},
};
use postroom_core::{KeyRow, OwnerLinkRow, SessionRow};
use postroom_types::{KeyId, TenantScope};
use subtle::ConstantTimeEq as _;

/// What a presented token is.
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for each request, and most are valid"
)]
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
    let parsed = credential::parse(token);
    // What is not even a token costs the same look-up and the same hash.
    let lookup = parsed.map_or("", |(_, lookup)| lookup);
    // Each call asks this, so it is one statement.
    let found = Select::new(concat!(
        "SELECT ",
        columns!(key),
        ", hash, valid_until FROM (SELECT key_id, hash, valid_until FROM key_secrets WHERE lookup = "
    ))
    .value(lookup)
    .text(") AS secret JOIN api_keys ON id = key_id")
    .first(store, |row| {
        let hash: [u8; 32] = rows::array(row.bytes(12)?)?;
        Ok((rows::key(row)?, hash, row.opt_int(13)?))
    })
    .await?;
    let expected = found.as_ref().map_or([0; 32], |(_, hash, _)| *hash);
    let matches: bool = store.keys().credential_hash(token).ct_eq(&expected).into();
    let (Some((mode, _)), Some((key, _, valid_until)), true) = (parsed, found, matches) else {
        return Ok(CredentialAnswer::Unknown);
    };
    let now = store.now();
    let ended = valid_until.is_some_and(|until| until <= now.ms());
    let Some(key) = Some(key).filter(|key| key.mode == mode && !ended) else {
        return Ok(CredentialAnswer::Unknown);
    };
    Ok(if key.revoked_at.is_some() {
        CredentialAnswer::Revoked
    } else if key.expires_at.is_some_and(|at| at <= now) {
        CredentialAnswer::Expired
    } else {
        CredentialAnswer::Valid(key)
    })
}

/// A tenant's (or, for an identity's scope, the identity's) key.
pub async fn key(
    store: &Store,
    scope: &TenantScope,
    id: KeyId,
) -> Result<Option<KeyRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(key),
        " FROM api_keys WHERE id = "
    ))
    .value(id.bits())
    .text(" AND ")
    .scope(scope)
    .first(store, rows::key)
    .await
}

/// Keys of a tenant or identity by id, oldest first.
pub async fn keys(
    store: &Store,
    scope: &TenantScope,
    after: Option<KeyId>,
    limit: usize,
) -> Result<Vec<KeyRow>, StoreError> {
    Select::new(concat!("SELECT ", columns!(key), " FROM api_keys WHERE "))
        .scope(scope)
        .filter(" AND id > ", after.map(KeyId::bits))
        .text(" ORDER BY id LIMIT ")
        .value(select::rows(limit))
        .all(store, rows::key)
        .await
}

/// A platform key.
pub async fn platform_key(
    store: &Store,
    scope: &PlatformScope,
    id: KeyId,
) -> Result<Option<KeyRow>, StoreError> {
    let PlatformScope(()) = scope;
    Select::new(concat!(
        "SELECT ",
        columns!(key),
        " FROM api_keys WHERE tenant_id IS NULL AND id = "
    ))
    .value(id.bits())
    .first(store, rows::key)
    .await
}

/// Platform keys by id, oldest first.
pub async fn platform_keys(
    store: &Store,
    scope: &PlatformScope,
    after: Option<KeyId>,
    limit: usize,
) -> Result<Vec<KeyRow>, StoreError> {
    let PlatformScope(()) = scope;
    Select::new(concat!(
        "SELECT ",
        columns!(key),
        " FROM api_keys WHERE tenant_id IS NULL"
    ))
    .filter(" AND id > ", after.map(KeyId::bits))
    .text(" ORDER BY id LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::key)
    .await
}

/// An owner link that can be used now.
pub async fn owner_link_open(
    store: &Store,
    hash: [u8; 32],
) -> Result<Option<OwnerLinkRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(owner_link),
        " FROM owner_links WHERE hash = "
    ))
    .value(hash.as_slice())
    .text(" AND used_at IS NULL AND expires_at > ")
    .value(store.now().ms())
    .first(store, rows::owner_link)
    .await
}

/// A session by the keyed hash of its token.
pub async fn session(store: &Store, hash: [u8; 32]) -> Result<SessionAnswer, StoreError> {
    let found = Select::new(concat!(
        "SELECT ",
        columns!(session),
        " FROM sessions WHERE hash = "
    ))
    .value(hash.as_slice())
    .text(" AND expires_at > ")
    .value(store.now().ms())
    .first(store, rows::session)
    .await?;
    Ok(found.map_or(SessionAnswer::Unknown, SessionAnswer::Valid))
}

/// Whether an owner link was ever used.
pub async fn person_signed_in(store: &Store) -> Result<bool, StoreError> {
    let used = Select::new("SELECT hash FROM owner_links WHERE used_at IS NOT NULL LIMIT 1")
        .fetch(store)
        .await?;
    Ok(!used.is_empty())
}
