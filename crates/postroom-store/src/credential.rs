//! API keys and one-time tokens: made here, kept as keyed hashes only.

use crate::{Store, StoreError};
use postroom_core::{Credential, Mode};
use postroom_types::Secret;

/// Lower-case Crockford base32: no i, l, o, u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters that find a key.
const LOOKUP_CHARS: usize = 12;
/// Characters of a secret: 32 bytes.
const SECRET_CHARS: usize = 52;

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
        let lookup = base32(&random::<8>()?, LOOKUP_CHARS);
        let secret = base32(&random::<32>()?, SECRET_CHARS);
        let token = format!("prk_{mode}_{lookup}_{secret}");
        let hash = self.keys().credential_hash(&token);
        Ok(MintedKey {
            token: Secret::new(token),
            credential: Credential { lookup, hash },
        })
    }

    /// Makes a token for an owner link or a session.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the system has no randomness.
    pub fn mint_token(&self) -> Result<MintedToken, StoreError> {
        let token = base32(&random::<32>()?, SECRET_CHARS);
        let hash = self.hash_token(&token);
        Ok(MintedToken {
            token: Secret::new(token),
            hash,
        })
    }

    /// The keyed hash of an owner link's or session's token.
    pub fn hash_token(&self, token: &str) -> [u8; 32] {
        self.keys().token_hash(token)
    }
}

fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| StoreError::Unavailable)?;
    Ok(bytes)
}

/// The first `chars` digits of the bytes in base 32, the last one filled with zero bits.
fn base32(bytes: &[u8], chars: usize) -> String {
    let digit = |place: usize| {
        let mut value = 0_usize;
        for bit in place * 5..place * 5 + 5 {
            let byte = bytes.get(bit / 8).copied().unwrap_or(0);
            value = (value << 1) | usize::from((byte >> (7 - bit % 8)) & 1);
        }
        ALPHABET.get(value).copied().map_or('0', char::from)
    };
    (0..chars).map(digit).collect()
}

/// What a well-formed token says of itself: its mode and what finds it.
pub(crate) fn parse(token: &str) -> Option<(Mode, &str)> {
    let mut parts = token.split('_');
    let mode = match (parts.next()?, parts.next()?) {
        ("prk", "live") => Mode::Live,
        ("prk", "test") => Mode::Test,
        _ => return None,
    };
    let (lookup, secret) = (parts.next()?, parts.next()?);
    let in_alphabet = |text: &str| text.bytes().all(|byte| ALPHABET.contains(&byte));
    let fits = parts.next().is_none()
        && lookup.len() == LOOKUP_CHARS
        && secret.len() == SECRET_CHARS
        && in_alphabet(lookup)
        && in_alphabet(secret);
    fits.then_some((mode, lookup))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_crockford_in_lower_case() {
        assert_eq!(base32(&[0xff; 32], 52), format!("{}g", "z".repeat(51)));
        assert_eq!(base32(&[0; 8], 12), "0".repeat(12));
        assert_eq!(base32(&[0b0000_1000, 0b0100_0000], 3), "110");
    }

    #[test]
    fn only_whole_tokens_are_read() {
        let secret = "z".repeat(52);
        let good = format!("prk_live_0123456789ab_{secret}");
        assert_eq!(parse(&good), Some((Mode::Live, "0123456789ab")));
        for bad in [
            String::new(),
            good.to_uppercase(),
            format!("{good}_"),
            format!("{good}z"),
            format!("pmk_live_0123456789ab_{secret}"),
            format!("prk_prod_0123456789ab_{secret}"),
            format!("prk_live_0123456789al_{secret}"),
            "prk_live_0123456789ab".to_owned(),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
    }
}
