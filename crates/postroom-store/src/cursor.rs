//! Cursors: signed, bound to what they go on with, good for 24 hours.

use crate::Subkeys;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use postroom_types::{Timestamp, limit};
use subtle::ConstantTimeEq as _;

/// What a cursor belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// Its filters in a canonical form.
    pub filters: &'a [u8],
    /// The calling key.
    pub key: &'a [u8],
}

/// Why a cursor is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// It was not made here, or was changed.
    #[error("the cursor is not valid")]
    Invalid,
    /// It belongs to another operation, other filters or another key.
    #[error("the cursor belongs to other arguments or another key")]
    Mismatch,
    /// It is older than 24 hours.
    #[error("the cursor has expired")]
    Expired,
}

/// Bytes of a tag: 128 bits.
const TAG: usize = 16;
/// Longest cursor that is looked at, characters.
const CURSOR_CHARS: usize = 4_096;

fn tag(mac: [u8; 32]) -> [u8; TAG] {
    let mut out = [0; TAG];
    for (slot, byte) in out.iter_mut().zip(mac) {
        *slot = byte;
    }
    out
}

fn binding_tag(keys: &Subkeys, binding: &Binding<'_>) -> [u8; TAG] {
    tag(keys.cursor_mac(&[
        b"binding",
        binding.operation.as_bytes(),
        binding.filters,
        binding.key,
    ]))
}

/// Makes a cursor that carries `payload`: `c_` and base64url of the instant, the binding's tag,
/// the payload and the tag over all of it. The payload is signed, not hidden.
pub fn seal(keys: &Subkeys, binding: &Binding<'_>, payload: &[u8], now: Timestamp) -> String {
    let mut body = now.ms().to_be_bytes().to_vec();
    body.extend(binding_tag(keys, binding));
    body.extend(payload);
    let tag = tag(keys.cursor_mac(&[b"cursor", &body]));
    body.extend(tag);
    format!("c_{}", URL_SAFE_NO_PAD.encode(body))
}

/// Reads a cursor's payload.
///
/// # Errors
/// [`CursorError`].
pub fn open(
    keys: &Subkeys,
    binding: &Binding<'_>,
    text: &str,
    now: Timestamp,
) -> Result<Vec<u8>, CursorError> {
    if text.len() > CURSOR_CHARS {
        return Err(CursorError::Invalid);
    }
    let bytes = text
        .strip_prefix("c_")
        .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
        .ok_or(CursorError::Invalid)?;
    let (body, found) = bytes
        .split_last_chunk::<TAG>()
        .ok_or(CursorError::Invalid)?;
    let expected = tag(keys.cursor_mac(&[b"cursor", body]));
    if !bool::from(expected.ct_eq(found)) {
        return Err(CursorError::Invalid);
    }
    let (at, rest) = body.split_first_chunk::<8>().ok_or(CursorError::Invalid)?;
    let (bound, payload) = rest
        .split_first_chunk::<TAG>()
        .ok_or(CursorError::Invalid)?;
    if !bool::from(binding_tag(keys, binding).ct_eq(bound)) {
        return Err(CursorError::Mismatch);
    }
    let life = i64::try_from(limit::CURSOR_LIFE_MS).unwrap_or(i64::MAX);
    if now.ms() > i64::from_be_bytes(*at).saturating_add(life) {
        return Err(CursorError::Expired);
    }
    Ok(payload.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_types::Secret;
    use proptest::prelude::*;

    const BINDING: Binding<'_> = Binding {
        operation: "mail_list_threads",
        filters: b"label=x",
        key: b"key",
    };

    fn keys() -> Subkeys {
        Subkeys::new(&Secret::new([1; 32]))
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_cursor_lives_24_hours_and_not_a_millisecond_more() {
        let keys = keys();
        let cursor = seal(&keys, &BINDING, b"place", at(1_000));
        let end = 1_000 + limit::CURSOR_LIFE_MS as i64;
        assert_eq!(
            open(&keys, &BINDING, &cursor, at(end)),
            Ok(b"place".to_vec())
        );
        assert_eq!(
            open(&keys, &BINDING, &cursor, at(end + 1)),
            Err(CursorError::Expired)
        );
    }

    #[test]
    fn other_arguments_and_other_keys_are_told_apart_from_forgeries() {
        let keys = keys();
        let cursor = seal(&keys, &BINDING, b"place", at(0));
        for other in [
            Binding {
                operation: "mail_search",
                ..BINDING
            },
            Binding {
                filters: b"label=y",
                ..BINDING
            },
            Binding {
                key: b"other",
                ..BINDING
            },
        ] {
            assert_eq!(
                open(&keys, &other, &cursor, at(0)),
                Err(CursorError::Mismatch)
            );
        }
        let foreign = Subkeys::new(&Secret::new([2; 32]));
        assert_eq!(
            open(&foreign, &BINDING, &cursor, at(0)),
            Err(CursorError::Invalid)
        );
    }

    proptest! {
        #[test]
        fn no_changed_cursor_is_taken(place in 2_usize..60, flip in 1_u8..=255, text: String) {
            let keys = keys();
            let cursor = seal(&keys, &BINDING, b"0123456789", at(0));
            let mut bytes = cursor.clone().into_bytes();
            let place = place % bytes.len();
            bytes[place] ^= flip;
            if let Ok(changed) = String::from_utf8(bytes) {
                let opened = open(&keys, &BINDING, &changed, at(0));
                prop_assert!(opened.is_err(), "{changed}");
            }
            prop_assert_eq!(open(&keys, &BINDING, &text, at(0)), Err(CursorError::Invalid));
        }
    }
}
