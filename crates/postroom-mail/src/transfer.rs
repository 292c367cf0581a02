//! Content-Transfer-Encoding (RFC 2045 section 6), read leniently: no byte that can be saved is
//! lost, and what was wrong is said.

use std::borrow::Cow;

use postroom_types::limit;

/// How a part's bytes are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
    /// `x-uuencode`, from before MIME.
    Uuencode,
    /// A name nobody knows; taken as identity.
    Unknown,
}

impl Encoding {
    pub(crate) fn from_name(name: &str) -> Self {
        let name = name.split(';').next().unwrap_or_default().trim();
        let name = name.trim_matches(|c| matches!(c, '"' | '\''));
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if name.is_empty() || is("7bit") || is("8bit") || is("binary") || is("7-bit") || is("8-bit")
        {
            Self::Identity
        } else if is("base64") || is("base-64") || is("b") {
            Self::Base64
        } else if is("quoted-printable") || is("quotedprintable") || is("q") {
            Self::QuotedPrintable
        } else if is("x-uuencode") || is("uuencode") || is("x-uue") || is("uue") {
            Self::Uuencode
        } else {
            Self::Unknown
        }
    }
}

/// Decoded bytes, and whether the wrapping was broken.
pub(crate) struct Unwrapped<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) broken: bool,
}

/// Takes the wrapping off.
pub(crate) fn unwrap(bytes: &[u8], encoding: Encoding) -> Unwrapped<'_> {
    match encoding {
        Encoding::Identity | Encoding::Unknown => Unwrapped {
            bytes: bytes.into(),
            broken: false,
        },
        Encoding::QuotedPrintable => Unwrapped {
            bytes: decode_quoted_printable(bytes).into(),
            broken: false,
        },
        Encoding::Base64 => {
            let (decoded, foreign) = decode_base64(bytes);
            // Plain words under a base64 label: more foreign characters and blanks than damage
            // explains.
            let blanks = memchr::memchr_iter(b' ', bytes).count();
            if (foreign + blanks) * 16 > bytes.len() {
                Unwrapped {
                    bytes: bytes.into(),
                    broken: true,
                }
            } else {
                Unwrapped {
                    bytes: decoded.into(),
                    broken: foreign > 0,
                }
            }
        }
        Encoding::Uuencode => match decode_uuencode(bytes) {
            Some(decoded) => Unwrapped {
                bytes: decoded.into(),
                broken: false,
            },
            None => Unwrapped {
                bytes: bytes.into(),
                broken: true,
            },
        },
    }
}

const FOREIGN: u8 = 0xff;
const SPACE: u8 = 0xfe;
const PAD: u8 = 0xfd;

const BASE64: [u8; 256] = {
    let mut table = [FOREIGN; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0;
    while at < alphabet.len() {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table[b'=' as usize] = PAD;
    table[b'\r' as usize] = SPACE;
    table[b'\n' as usize] = SPACE;
    table[b' ' as usize] = SPACE;
    table[b'\t' as usize] = SPACE;
    table
};

/// Decoded bytes and how many characters did not belong. Padding in the middle starts afresh, as
/// joined blocks have it; words after the padding are no data and end the reading.
pub(crate) fn decode_base64(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
    let (mut bits, mut count, mut foreign, mut padded) = (0u32, 0u32, 0usize, false);
    for &byte in bytes {
        match BASE64.get(usize::from(byte)).copied().unwrap_or(FOREIGN) {
            SPACE => {}
            PAD => {
                flush_base64(&mut out, bits, count);
                (bits, count, padded) = (0, 0, true);
            }
            FOREIGN => {
                foreign += 1;
                if padded {
                    return (out, foreign);
                }
            }
            value => {
                bits = bits << 6 | u32::from(value);
                count += 1;
                if count == 4 {
                    out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
                    (bits, count) = (0, 0);
                }
            }
        }
    }
    flush_base64(&mut out, bits, count);
    (out, foreign)
}

fn flush_base64(out: &mut Vec<u8>, bits: u32, count: u32) {
    match count {
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// RFC 2045 section 6.7; an `=` that starts nothing stays as it is.
pub(crate) fn decode_quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    // What was written out, or stood before a soft break, was meant to be there.
    let mut meant = 0;
    while let Some(at) = memchr::memchr2(b'=', b'\n', rest) {
        let (before, tail) = rest.split_at(at);
        out.extend_from_slice(before);
        if tail.first() == Some(&b'\n') {
            trim_line_end(&mut out, meant);
            out.push(b'\n');
            rest = tail.get(1..).unwrap_or_default();
            continue;
        }
        let after = tail.get(1..).unwrap_or_default();
        let pair = (
            after.first().copied().and_then(hex),
            after.get(1).copied().and_then(hex),
        );
        if let (Some(high), Some(low)) = pair {
            out.push(high << 4 | low);
            meant = out.len();
            rest = after.get(2..).unwrap_or_default();
        } else {
            // A soft break: `=`, blanks, end of line or of the part.
            let blanks = after
                .iter()
                .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
                .count();
            match after.get(blanks) {
                Some(b'\n') => {
                    meant = out.len();
                    rest = after.get(blanks + 1..).unwrap_or_default();
                }
                None => rest = &[],
                Some(_) => {
                    out.push(b'=');
                    rest = after;
                }
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Blanks before a line end were added on the way (RFC 2045 section 6.7 rule 3), unless they stand
/// before `meant`; the CR stays.
fn trim_line_end(out: &mut Vec<u8>, meant: usize) {
    let carriage = out.len() > meant && out.last() == Some(&b'\r');
    if carriage {
        out.pop();
    }
    while out.len() > meant && matches!(out.last(), Some(b' ' | b'\t')) {
        out.pop();
    }
    if carriage {
        out.push(b'\r');
    }
}

/// The data between `begin` and `end`; `None` when there is no `begin`.
fn decode_uuencode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    lines.by_ref().find(|line| line.starts_with(b"begin "))?;
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    for line in lines {
        let Some((&length, data)) = line.split_first() else {
            continue;
        };
        if line == b"end" {
            break;
        }
        let length = usize::from(length.wrapping_sub(b' ') & 0x3f);
        let start = out.len();
        for group in data.chunks(4) {
            let bits = (0..4).fold(0u32, |bits, at| {
                let byte = group.get(at).copied().unwrap_or(b' ');
                bits << 6 | u32::from(byte.wrapping_sub(b' ') & 0x3f)
            });
            out.extend_from_slice(&[(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
        }
        // A blank stands for zero, and blanks at the end of a line are lost on the way.
        out.resize((start + length).min(limit::RAW_MAIL_BYTES), 0);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn broken_wrapping_loses_nothing_that_can_be_read() {
        assert_eq!(decode_base64(b"aGFs\r\nbG8").0, b"hallo");
        assert_eq!(decode_base64(b"aGFsbG8=aGFsbG8=").0, b"hallohallo");
        assert_eq!(
            decode_base64(b"aGFsbG8=\r\n-- \r\nlist! footer").0,
            b"hallo"
        );
        assert_eq!(decode_base64(b"aG!FsbG8=").1, 1);
        let words = b"These are words, not base64; see?";
        assert_eq!(unwrap(words, Encoding::Base64).bytes.as_ref(), words);
        assert_eq!(
            decode_quoted_printable(b"a=3D1 =\r\nb=zz  \r\nc="),
            b"a=1 b=zz\r\nc"
        );
        assert_eq!(
            decode_quoted_printable(b"--=20 \r\nword =\r\n\r\nx=20=\n\n=0D\n"),
            b"-- \r\nword \r\nx \n\r\n"
        );
        assert_eq!(
            unwrap(b"begin 644 a\n&:&$\n`\nend\n", Encoding::Uuencode)
                .bytes
                .as_ref(),
            b"ha\0\0\0\0"
        );
        assert_eq!(
            unwrap(b"begin 644 a\n%:&%L;&\\\n`\nend\n", Encoding::Uuencode)
                .bytes
                .as_ref(),
            b"hallo"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_unwrapped(bytes: Vec<u8>) {
            for encoding in [Encoding::Base64, Encoding::QuotedPrintable, Encoding::Uuencode] {
                let unwrapped = unwrap(&bytes, encoding);
                prop_assert!(unwrapped.bytes.len() <= bytes.len().max(3) * 64);
            }
        }
    }
}
