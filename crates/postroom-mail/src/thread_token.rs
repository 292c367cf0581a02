//! The token of a thread in a reply address: `local+tTOKEN@domain`.
//!
//! An answer sent to it is filed in the thread even when its author's program dropped every
//! reference. The token is bound to the mailbox, names one message of it and is signed; it is a
//! hint for filing, never a credential: whoever holds it can write into the thread, as whoever
//! knows a Message-ID can.
//!
//! Layout, all lower case, made for local parts of at most 64 octets: `t`, one character for the
//! key, the message's number in Crockford's base 32 without leading zeros (1 to 13 characters),
//! `.`, and 40 bits of HMAC-SHA-256 in 8 characters.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Keeps the MAC apart from every other use of a key.
const CONTEXT: &[u8] = b"postroom thread token 1";
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const MAC_CHARS: usize = 8;
const NUMBER_CHARS: usize = 13;

/// A key of tokens with the character that names it, a digit or lower-case letter.
#[derive(Clone, Copy)]
pub struct TokenKey<'a> {
    /// Its name in the token.
    pub name: char,
    /// The secret.
    pub secret: &'a [u8; 32],
}

/// What an address detail says of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// It is signed for this mailbox: the number of a message of the thread.
    Verified {
        /// The number given to [`make`].
        number: u64,
    },
    /// It has the form of a token and is not signed with any of the keys for this mailbox. Counts
    /// against whoever sent it.
    Forged,
    /// An ordinary tag.
    NoToken,
}

/// The detail of a reply address: what stands between `+` and `@`. `identity` is the mailbox's id.
pub fn make(key: TokenKey<'_>, identity: &str, number: u64) -> String {
    format!(
        "t{}{}.{}",
        key.name,
        written(number),
        mac(key, identity, number)
    )
}

/// Reads the detail of an address that mail came to; `keys` are those that still count.
pub fn verify(keys: &[TokenKey<'_>], identity: &str, detail: &str) -> Token {
    let detail = detail.to_ascii_lowercase();
    let Some((name, number, signed)) = split(&detail) else {
        return Token::NoToken;
    };
    let is_signed = keys
        .iter()
        .filter(|key| key.name == name)
        .any(|key| is_equal(mac(*key, identity, number).as_bytes(), signed.as_bytes()));
    if is_signed {
        Token::Verified { number }
    } else {
        Token::Forged
    }
}

/// The address that an answer should go to. `None` when the local part would be longer than 64
/// octets or has a detail already.
pub fn address(base: &str, token: &str) -> Option<String> {
    let (local, domain) = base.rsplit_once('@')?;
    let fits = local.len() + 1 + token.len() <= 64 && !local.contains('+');
    fits.then(|| format!("{local}+{token}@{domain}"))
}

/// Key name, number and MAC of a text that has the form of a token.
fn split(detail: &str) -> Option<(char, u64, &str)> {
    let rest = detail.strip_prefix('t')?;
    let name = rest.chars().next().filter(char::is_ascii_alphanumeric)?;
    let (number, signed) = rest.get(1..)?.split_once('.')?;
    let is_written = |text: &str| text.bytes().all(|byte| DIGITS.contains(&byte));
    let has_form = (1..=NUMBER_CHARS).contains(&number.len())
        && (number == "0" || !number.starts_with('0'))
        && is_written(number)
        && signed.len() == MAC_CHARS
        && is_written(signed);
    has_form.then_some((name, read(number)?, signed))
}

fn written(number: u64) -> String {
    let mut out = Vec::new();
    let mut rest = number;
    loop {
        out.push(digit(rest & 31));
        rest >>= 5;
        if rest == 0 {
            break;
        }
    }
    out.iter().rev().collect()
}

fn read(text: &str) -> Option<u64> {
    text.bytes().try_fold(0u64, |number, byte| {
        let digit = DIGITS.iter().position(|known| *known == byte)?;
        number
            .checked_mul(32)?
            .checked_add(u64::try_from(digit).ok()?)
    })
}

fn digit(value: u64) -> char {
    let at = usize::try_from(value).unwrap_or(0);
    char::from(DIGITS.get(at).copied().unwrap_or(b'0'))
}

fn mac(key: TokenKey<'_>, identity: &str, number: u64) -> String {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.secret) else {
        return String::new();
    };
    for part in [CONTEXT, identity.as_bytes()] {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    mac.update(&number.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let bits = digest
        .iter()
        .take(5)
        .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    (0..MAC_CHARS)
        .rev()
        .map(|at| digit(bits >> (5 * at) & 31))
        .collect()
}

/// In a time that does not depend on where they differ.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differ = one.iter().zip(other).fold(0u8, |all, (a, b)| all | (a ^ b));
    !one.is_empty() && one.len() == other.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: [u8; 32] = [7; 32];
    const OTHER: [u8; 32] = [8; 32];

    fn key(name: char, secret: &[u8; 32]) -> TokenKey<'_> {
        TokenKey { name, secret }
    }

    #[test]
    fn a_token_is_bound_to_mailbox_number_and_key() {
        let token = make(key('a', &SECRET), "idn_1", 4_711);
        let verified = Token::Verified { number: 4_711 };
        let keys = [key('b', &OTHER), key('a', &SECRET)];
        assert_eq!(verify(&keys, "idn_1", &token), verified);
        assert_eq!(verify(&keys, "idn_1", &token.to_uppercase()), verified);
        assert_eq!(verify(&keys, "idn_2", &token), Token::Forged);
        assert_eq!(verify(&[key('a', &OTHER)], "idn_1", &token), Token::Forged);
        assert_eq!(verify(&[key('b', &SECRET)], "idn_1", &token), Token::Forged);
        assert_eq!(verify(&[], "idn_1", &token), Token::Forged);
        let next = make(key('a', &SECRET), "idn_1", 4_712);
        let (number, _) = next.split_once('.').expect("a token");
        let (_, signed) = token.split_once('.').expect("a token");
        let mixed = format!("{number}.{signed}");
        assert_eq!(verify(&keys, "idn_1", &mixed), Token::Forged);
    }

    #[test]
    fn ordinary_tags_are_no_tokens() {
        for tag in [
            "",
            "t",
            "test",
            "ta1",
            "ta1.",
            "ta.12345678",
            "ta01.12345678",
            "ta1.1234567",
            "ta1.123456789",
            "ta1.1234567u",
            "t-1.12345678",
            "tä1.12345678",
            "xa1.12345678",
            // One past the largest number.
            "tag000000000000.12345678",
        ] {
            assert_eq!(
                verify(&[key('a', &SECRET)], "idn_1", tag),
                Token::NoToken,
                "{tag}"
            );
        }
        assert_eq!(
            verify(&[key('a', &SECRET)], "idn_1", "ta1.12345678"),
            Token::Forged
        );
    }

    #[test]
    fn the_address_fits_or_is_left_alone() {
        let token = make(key('a', &SECRET), "idn_1", u64::MAX);
        assert_eq!(token.len(), 24);
        let local = "l".repeat(64 - 1 - token.len());
        let whole = address(&format!("{local}@agents.example"), &token).expect("fits");
        assert_eq!(
            postroom_types::Address::parse(&whole)
                .expect("valid")
                .detail(),
            Some(token.as_str())
        );
        assert_eq!(address(&format!("{local}x@agents.example"), &token), None);
        assert_eq!(address("a+b@agents.example", &token), None);
        assert_eq!(address("no-address", &token), None);
    }

    proptest! {
        #[test]
        fn every_number_comes_back(number: u64, identity in "idn_[0-9A-Z]{26}") {
            let token = make(key('z', &SECRET), &identity, number);
            prop_assert_eq!(
                verify(&[key('z', &SECRET)], &identity, &token),
                Token::Verified { number }
            );
        }

        #[test]
        fn any_detail_is_read(detail in ".{0,80}") {
            let read = verify(&[key('a', &SECRET)], "idn_1", &detail);
            let is_verified = matches!(read, Token::Verified { .. });
            prop_assert!(!is_verified);
        }
    }
}
