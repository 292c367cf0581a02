//! API keys and one-time tokens: made here, kept as keyed hashes only.

use crate::{Store, StoreError};
use postroom_core::{Credential, Mode};
use postroom_types::Secret;

/// A new key's token, shown once, and what the command keeps of it.
#[derive(Debug, Clone)]
pub struct MintedKey {
    /// `prk_{live|test}_{12}_{52}`.
    pub token: Secret<String>,
    /// For [`postroom_core::Command::CreateKey`] and [`postroom_core::Command::RotateKey`].
    pub credential: Credential,
}

/// A one-time link's or a session's token, and the hash that is kept.
#[derive(Debug, Clone)]
pub struct MintedToken {
    /// 52 characters of lower-case Crockford base32.
    pub token: Secret<String>,
    /// Its keyed hash.
    pub hash: [u8; 32],
}

impl Store {
    /// Makes a key's token.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the system has no randomness.
    pub fn mint_key(&self, mode: Mode) -> Result<MintedKey, StoreError> {
        let _ = mode;
        Err(StoreError::Unavailable)
    }

    /// Makes a token for an owner link or a session.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the system has no randomness.
    pub fn mint_token(&self) -> Result<MintedToken, StoreError> {
        Err(StoreError::Unavailable)
    }

    /// The keyed hash of an owner link's or session's token.
    pub fn hash_token(&self, token: &str) -> [u8; 32] {
        let _ = token;
        [0; 32]
    }
}
