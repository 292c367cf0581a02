//! Words and bytes in the forms that mail carries: encoded words (RFC 2047), quoted-printable and
//! base64 (RFC 2045 section 6).

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The longest line, without its end (RFC 5322 section 2.1.1).
pub(super) const LINE: usize = 78;
/// The longest line that holds an encoded word (RFC 2047 section 2) or an encoded body.
const ENCODED_LINE: usize = 76;
/// Bytes of one base64 line.
const BASE64_BYTES: usize = 57;
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Whether a text can stand on one line: no control characters (so no CR, LF, NUL, NEL), no line or
/// paragraph separator.
pub(super) fn is_one_line(text: &str) -> bool {
    !text.chars().any(breaks_line)
}

/// The text made one line: what would break it becomes a space.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if is_one_line(text) {
        return text.into();
    }
    let spaced = |c: char| if breaks_line(c) { ' ' } else { c };
    let spaced: String = text.chars().map(spaced).collect();
    spaced
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .into()
}

fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Two upper-case hex digits.
pub(super) fn hex(byte: u8) -> [u8; 2] {
    let digit = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
    [digit(byte >> 4), digit(byte & 15)]
}

/// Characters that a word in Q may hold as they stand wherever it is put (RFC 2047 section 5).
fn is_q_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!*+-/".contains(&byte)
}

/// Text as encoded words, folded between them; `column` is where the first begins, and the answer
/// is where the last ends. No character is cut in two.
pub(super) fn encoded_words(text: &str, column: usize, out: &mut Vec<u8>) -> usize {
    let q_cost = |byte: u8| {
        if is_q_safe(byte) || byte == b' ' {
            1
        } else {
            3
        }
    };
    let as_q: usize = text.bytes().map(q_cost).sum();
    let as_base64 = text.len().div_ceil(3) * 4 > as_q;
    let mark: &[u8] = if as_base64 {
        b"=?utf-8?Q?"
    } else {
        b"=?utf-8?B?"
    };
    let cost = |chunk: &str| match as_base64 {
        true => chunk.bytes().map(q_cost).sum(),
        false => chunk.len().div_ceil(3) * 4,
    };
    let mut column = column;
    let mut rest = text;
    while !rest.is_empty() {
        // The mark, the end mark and at least one character of four bytes.
        if column > 1 && column + mark.len() + 2 + 12 > ENCODED_LINE {
            out.extend_from_slice(b"\r\n ");
            column = 1;
        }
        let room = ENCODED_LINE.saturating_sub(column + mark.len() + 2).max(12);
        let mut end = 0;
        for (at, c) in rest.char_indices() {
            let next = at + c.len_utf8();
            if end > 0 && rest.get(..next).is_some_and(|chunk| cost(chunk) > room) {
                break;
            }
            end = next;
        }
        let (chunk, tail) = rest.split_at(end);
        let start = out.len();
        out.extend_from_slice(mark);
        if as_base64 {
            chunk.bytes().for_each(|byte| q_byte(byte, out));
        } else {
            out.extend_from_slice(STANDARD.encode(chunk).as_bytes());
        }
        out.extend_from_slice(b"?=");
        column += out.len() - start;
        rest = tail;
        if !rest.is_empty() {
            out.extend_from_slice(b"\r\n ");
            column = 1;
        }
    }
    column
}

fn q_byte(byte: u8, out: &mut Vec<u8>) {
    if byte == b' ' {
        out.push(b'_');
    } else if is_q_safe(byte) {
        out.push(byte);
    } else {
        out.push(b'=');
        out.extend_from_slice(&hex(byte));
    }
}

/// How a text part is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapping {
    SevenBit,
    QuotedPrintable,
    Base64,
}

impl Wrapping {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SevenBit => "7bit",
            Self::QuotedPrintable => "quoted-printable",
            Self::Base64 => "base64",
        }
    }

    /// For a text with line feeds: as it stands when no program on the way has a reason to touch
    /// it, else the shorter of the two.
    pub(super) fn of(text: &str) -> Self {
        if text.lines().all(is_untouched) && !text.contains('\r') {
            return Self::SevenBit;
        }
        let escaped = text.bytes().filter(|byte| !is_literal(*byte)).count();
        if text.len() + escaped * 2 > text.len().div_ceil(3) * 4 + text.len() / 4 {
            Self::Base64
        } else {
            Self::QuotedPrintable
        }
    }
}

/// A line that relays and mailbox files leave alone.
fn is_untouched(line: &str) -> bool {
    line.len() <= LINE
        && line.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && !line.ends_with([' ', '\t'])
        && !line.starts_with("From ")
        && line != "."
}

/// Writes a text with line feeds, wrapped.
pub(super) fn text(text: &str, wrapping: Wrapping, out: &mut Vec<u8>) {
    match wrapping {
        Wrapping::SevenBit => {
            for line in text.lines() {
                out.extend_from_slice(line.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
        }
        Wrapping::QuotedPrintable => {
            for line in text.lines() {
                quoted_printable(line.as_bytes(), out);
                out.extend_from_slice(b"\r\n");
            }
        }
        Wrapping::Base64 => {
            let canonical = text.lines().fold(String::new(), |mut all, line| {
                all.push_str(line);
                all.push_str("\r\n");
                all
            });
            base64(canonical.as_bytes(), out);
        }
    }
}

fn is_literal(byte: u8) -> bool {
    matches!(byte, b' '..=b'<' | b'>'..=b'~' | b'\t' | b'\n')
}

/// One line without its end (RFC 2045 section 6.7).
fn quoted_printable(line: &[u8], out: &mut Vec<u8>) {
    let mut column = 0;
    for (at, &byte) in line.iter().enumerate() {
        let is_last = at + 1 == line.len();
        let is_mangled = at == 0 && (line.starts_with(b"From ") || byte == b'.');
        let literal = is_literal(byte) && !is_mangled && !(is_last && matches!(byte, b' ' | b'\t'));
        let width = if literal { 1 } else { 3 };
        // A soft break takes the last column.
        if column + width > ENCODED_LINE - usize::from(!is_last) {
            out.extend_from_slice(b"=\r\n");
            column = 0;
        }
        if literal {
            out.push(byte);
        } else {
            out.push(b'=');
            out.extend_from_slice(&hex(byte));
        }
        column += width;
    }
}

/// Base64 in lines of 76.
pub(super) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(base64_len(bytes.len()));
    let mut line = [0u8; ENCODED_LINE];
    for chunk in bytes.chunks(BASE64_BYTES) {
        // A line holds what a chunk gives, so this does not fail.
        let written = STANDARD.encode_slice(chunk, &mut line).unwrap_or(0);
        out.extend_from_slice(line.get(..written).unwrap_or_default());
        out.extend_from_slice(b"\r\n");
    }
}

/// How long bytes become in base64 with line ends.
pub(super) fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4 + bytes.div_ceil(BASE64_BYTES) * 2
}

/// Text as HTML: escaped, line ends as `<br>`.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (at, line) in text.lines().enumerate() {
        if at > 0 {
            out.push_str("<br>\n");
        }
        for c in line.chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                c => out.push(c),
            }
        }
    }
    out
}
