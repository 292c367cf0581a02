//! From the configured secret to key bytes.

use sha2::{Digest as _, Sha256};

/// 64 hexadecimal digits are taken as 32 bytes; any other text is hashed to them.
pub(crate) fn from_text(text: &str) -> [u8; 32] {
    hex(text.trim()).unwrap_or_else(|| Sha256::digest(text.trim().as_bytes()).into())
}

fn hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut out = [0; 32];
    for (place, slot) in out.iter_mut().enumerate() {
        *slot = u8::from_str_radix(text.get(place * 2..place * 2 + 2)?, 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_is_bytes_and_other_text_is_hashed() {
        assert_eq!(from_text(&"0f".repeat(32)), [15; 32]);
        assert_ne!(
            from_text("a passphrase of many words, long enough"),
            [0; 32]
        );
    }
}
