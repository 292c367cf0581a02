//! Comparing what a request offers with what a key makes.
//!
//! Every key is tried with every reading and every signature; the loops note the first match and go
//! on, so that the time says nothing about which one it was.

use ed25519_dalek::Signature as Ed25519Signature;
use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use p256::ecdsa::{Signature as P256Signature, signature::hazmat::PrehashVerifier as _};
use rsa::{Pkcs1v15Sign, PublicKey as RsaPublicKey};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};
use subtle::ConstantTimeEq as _;

use super::{
    key::{Key, Keyed},
    signed::{Chunk, Signed},
};
use crate::scheme::{Check, Hash};

/// Which key and which signature matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) key: usize,
    pub(super) signature: usize,
}

/// The first match among all of them.
pub(super) fn matching(
    check: Check,
    keys: &[Keyed],
    readings: &[Signed<'_>],
    signatures: &[Vec<u8>],
) -> Option<Hit> {
    let mut hit = None;
    for (key_index, keyed) in keys.iter().enumerate() {
        for signed in readings {
            let expected = expected(check, &keyed.key, signed);
            for (signature_index, signature) in signatures.iter().enumerate() {
                let same = match &expected {
                    Expected::Bytes(bytes) => bool::from(bytes.ct_eq(signature)),
                    Expected::Ask => asked(check, &keyed.key, signed, signature),
                    Expected::Never => false,
                };
                if same && hit.is_none() {
                    hit = Some(Hit {
                        key: key_index,
                        signature: signature_index,
                    });
                }
            }
        }
    }
    hit
}

enum Expected {
    /// The signature must be these bytes.
    Bytes(Vec<u8>),
    /// The signature must be checked with a public key.
    Ask,
    /// The key has another form.
    Never,
}

fn expected(check: Check, key: &Key, signed: &Signed<'_>) -> Expected {
    match (check, key) {
        (Check::Hmac(hash), Key::Shared(secret)) => {
            hmac(hash, secret, signed).map_or(Expected::Never, Expected::Bytes)
        }
        (Check::Digest(hash), Key::Shared(secret)) => Expected::Bytes(digest(hash, secret, signed)),
        (Check::Ed25519, Key::Ed25519(_))
        | (Check::EcdsaP256, Key::P256(_))
        | (Check::Rsa(_), Key::Rsa(_))
        | (Check::Token, Key::Shared(_)) => Expected::Ask,
        _ => Expected::Never,
    }
}

fn asked(check: Check, key: &Key, signed: &Signed<'_>, signature: &[u8]) -> bool {
    match (check, key) {
        (Check::Token, Key::Shared(secret)) => same_token(secret, signature),
        (Check::Ed25519, Key::Ed25519(key)) => {
            let Ok(signature) = Ed25519Signature::from_slice(signature) else {
                return false;
            };
            let message = together(signed, &[]);
            key.verify_strict(&message, &signature).is_ok()
        }
        (Check::EcdsaP256, Key::P256(key)) => {
            let Ok(signature) = P256Signature::from_der(signature) else {
                return false;
            };
            let digest = digest(Hash::Sha256, &[], signed);
            key.verify_prehash(&digest, &signature).is_ok()
        }
        (Check::Rsa(hash), Key::Rsa(key)) => rsa(hash, key, signed, signature),
        _ => false,
    }
}

/// Tokens by their hashes, so that lengths take no part in the time.
pub(super) fn same_token(secret: &[u8], given: &[u8]) -> bool {
    Sha256::digest(secret).ct_eq(&Sha256::digest(given)).into()
}

/// PKCS #1 v1.5 (RFC 8017 section 8.2.2).
pub(super) fn rsa(hash: Hash, key: &RsaPublicKey, signed: &Signed<'_>, signature: &[u8]) -> bool {
    let padding = match hash {
        Hash::Sha1 => Pkcs1v15Sign::new::<Sha1>(),
        Hash::Sha256 => Pkcs1v15Sign::new::<Sha256>(),
        Hash::Md5 | Hash::Sha512 => return false,
    };
    key.verify(padding, &digest(hash, &[], signed), signature)
        .is_ok()
}

/// HMAC over chunks; none for a key that HMAC does not take.
pub(super) fn hmac(hash: Hash, secret: &[u8], signed: &Signed<'_>) -> Option<Vec<u8>> {
    macro_rules! run {
        ($hash:ty) => {{
            let mut mac = Hmac::<$hash>::new_from_slice(secret).ok()?;
            each(signed, secret, |bytes| mac.update(bytes));
            mac.finalize().into_bytes().to_vec()
        }};
    }
    Some(match hash {
        Hash::Md5 => run!(Md5),
        Hash::Sha1 => run!(Sha1),
        Hash::Sha256 => run!(Sha256),
        Hash::Sha512 => run!(Sha512),
    })
}

fn digest(hash: Hash, secret: &[u8], signed: &Signed<'_>) -> Vec<u8> {
    macro_rules! run {
        ($hash:ty) => {{
            let mut digest = <$hash>::new();
            each(signed, secret, |bytes| digest.update(bytes));
            digest.finalize().to_vec()
        }};
    }
    match hash {
        Hash::Md5 => run!(Md5),
        Hash::Sha1 => run!(Sha1),
        Hash::Sha256 => run!(Sha256),
        Hash::Sha512 => run!(Sha512),
    }
}

fn each(signed: &Signed<'_>, secret: &[u8], mut take: impl FnMut(&[u8])) {
    for chunk in signed {
        match chunk {
            Chunk::Bytes(bytes) => take(bytes),
            Chunk::Secret => take(secret),
        }
    }
}

fn together(signed: &Signed<'_>, secret: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    each(signed, secret, |bytes| all.extend_from_slice(bytes));
    all
}
