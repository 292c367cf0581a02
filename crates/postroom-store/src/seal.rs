//! Secrets at rest that must be readable again: signing secrets and addresses of sources.
//!
//! AES-256-GCM under a subkey of the secret key, with a fresh nonce of 96 bits each time (some
//! billions of them are safe). What a secret is for and whose it is are authenticated with it, so
//! that a row copied elsewhere opens nothing.

use crate::{MintedToken, Store, StoreError};
use postroom_core::{Sealed, SealedSecret, SealedToken, hex};
use postroom_types::{Secret, TenantId};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// First byte of what was sealed this way.
const VERSION: u8 = 1;

/// What a sealed value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealedFor {
    /// A source's signing secret.
    SourceSecret,
    /// The token in a source's address.
    SourceToken,
}

impl SealedFor {
    fn label(self) -> &'static [u8] {
        match self {
            Self::SourceSecret => b"source secret",
            Self::SourceToken => b"source token",
        }
    }
}

fn bound_to(purpose: SealedFor, tenant: TenantId) -> Aad<Vec<u8>> {
    let mut text = purpose.label().to_vec();
    text.push(0);
    text.extend(tenant.bits().to_be_bytes());
    Aad::from(text)
}

impl Store {
    fn sealing_key(&self) -> Result<LessSafeKey, StoreError> {
        let key = UnboundKey::new(&AES_256_GCM, self.keys().sealing().expose())
            .map_err(|_| StoreError::Unavailable)?;
        Ok(LessSafeKey::new(key))
    }

    /// Seals a value of a tenant.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the system has no randomness.
    pub fn seal(
        &self,
        purpose: SealedFor,
        tenant: TenantId,
        value: &[u8],
    ) -> Result<Sealed, StoreError> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| StoreError::Unavailable)?;
        let mut bytes = value.to_vec();
        self.sealing_key()?
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                bound_to(purpose, tenant),
                &mut bytes,
            )
            .map_err(|_| StoreError::Unavailable)?;
        let mut out = vec![VERSION];
        out.extend(nonce);
        out.extend(bytes);
        Ok(Sealed(out))
    }

    /// Opens what [`Store::seal`] sealed for the same purpose and tenant.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] for anything else.
    pub fn open_sealed(
        &self,
        purpose: SealedFor,
        tenant: TenantId,
        sealed: &Sealed,
    ) -> Result<Secret<Vec<u8>>, StoreError> {
        const DAMAGED: StoreError = StoreError::Damaged("a sealed value");
        let (version, rest) = sealed.0.split_first().ok_or(DAMAGED)?;
        let (nonce, bytes) = rest.split_first_chunk::<NONCE_LEN>().ok_or(DAMAGED)?;
        if *version != VERSION {
            return Err(DAMAGED);
        }
        let mut bytes = bytes.to_vec();
        let length = self
            .sealing_key()?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                bound_to(purpose, tenant),
                &mut bytes,
            )
            .map_err(|_| DAMAGED)?
            .len();
        bytes.truncate(length);
        Ok(Secret::new(bytes))
    }

    /// Seals a signing secret, with its fingerprint.
    ///
    /// # Errors
    /// As [`Store::seal`].
    pub fn seal_secret(
        &self,
        tenant: TenantId,
        secret: &Secret<String>,
    ) -> Result<SealedSecret, StoreError> {
        use sha2::Digest as _;
        let bytes = secret.expose().as_bytes();
        let digest: [u8; 32] = sha2::Sha256::digest(bytes).into();
        Ok(SealedSecret {
            sealed: self.seal(SealedFor::SourceSecret, tenant, bytes)?,
            fingerprint: hex(digest.get(..6).unwrap_or_default()),
        })
    }

    /// Seals the token of a source's address, which [`Store::mint_token`] made.
    ///
    /// # Errors
    /// As [`Store::seal`].
    pub fn seal_token(
        &self,
        tenant: TenantId,
        token: &MintedToken,
    ) -> Result<SealedToken, StoreError> {
        let bytes = token.token.expose().as_bytes();
        Ok(SealedToken {
            hash: token.hash,
            sealed: self.seal(SealedFor::SourceToken, tenant, bytes)?,
        })
    }
}
