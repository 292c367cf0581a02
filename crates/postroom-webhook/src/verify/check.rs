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

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn message(text: &[u8]) -> Signed<'_> {
        // In two pieces, since pieces must not show.
        let (first, second) = text.split_at(text.len() / 2);
        vec![
            Chunk::Bytes(Cow::Borrowed(first)),
            Chunk::Bytes(Cow::Borrowed(second)),
        ]
    }

    #[track_caller]
    fn check(hash: Hash, key: &[u8], text: &[u8], expected: &str) {
        let made = hmac(hash, key, &message(text)).map(hex::encode);
        assert_eq!(made.as_deref(), Some(expected));
    }

    #[test]
    fn hmac_gives_what_the_rfcs_give() {
        let question = b"what do ya want for nothing?";
        // RFC 2202, RFC 4231
        check(
            Hash::Md5,
            b"Jefe",
            question,
            "750c783e6ab0b503eaa86e310a5db738",
        );
        check(
            Hash::Sha1,
            b"Jefe",
            question,
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        );
        check(
            Hash::Sha256,
            b"Jefe",
            question,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            Hash::Sha256,
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        );
        check(
            Hash::Sha512,
            b"Jefe",
            question,
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
        );
    }

    #[test]
    fn ed25519_takes_what_its_rfc_signs() {
        // RFC 8032 section 7.1, test 1
        let key: [u8; 32] =
            hex::decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
                .expect("hex")
                .try_into()
                .expect("32 bytes");
        let signature = hex::decode(
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        )
        .expect("hex");
        let key = Key::Ed25519(ed25519_dalek::VerifyingKey::from_bytes(&key).expect("a key"));
        assert!(asked(Check::Ed25519, &key, &message(b""), &signature));
        assert!(!asked(Check::Ed25519, &key, &message(b"x"), &signature));
    }
}
