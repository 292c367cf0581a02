//! Header values to text: folding (RFC 5322 section 2.2.3), encoded words (RFC 2047), bytes
//! outside ASCII.

use std::borrow::Cow;

use crate::{charset, transfer};

/// An unstructured value on one line. The flag says whether it held raw bytes above ASCII that
/// are not UTF-8.
pub(crate) fn decode(value: &[u8]) -> (String, bool) {
    let (bytes, eight_bit) = to_utf8(value);
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(&bytes),
    };
    if !has_words(text.as_bytes()) {
        return (fold(&text), eight_bit);
    }
    let mut out = String::with_capacity(text.len());
    for piece in pieces(&text) {
        match piece {
            Piece::Plain(plain) => out.push_str(plain),
            Piece::Words(words) => out.push_str(&words),
        }
    }
    (fold(&out), eight_bit)
}

/// A structured value ready for a field parser: UTF-8, and every run of encoded words made one
/// word of UTF-8, so that characters split between words are whole and unknown charsets known.
pub(crate) fn normalise(value: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let (bytes, eight_bit) = to_utf8(value);
    if !has_words(&bytes) {
        return (bytes, eight_bit);
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut atom = Atom::default();
    for piece in pieces(&text) {
        match piece {
            Piece::Plain(plain) => atom.plain(plain, &mut out),
            Piece::Words(words) => {
                atom.text.push_str(&words);
                atom.is_encoded = true;
            }
        }
    }
    atom.end(&mut out);
    (out.into(), eight_bit)
}

/// The word that is being put together out of plain characters and encoded words.
#[derive(Default)]
struct Atom {
    text: String,
    is_encoded: bool,
}

impl Atom {
    fn plain(&mut self, plain: &str, out: &mut Vec<u8>) {
        let end = match self.is_encoded {
            true => plain.find(ends_atom).unwrap_or(plain.len()),
            false => 0,
        };
        let (goes_on, rest) = plain.split_at(end);
        self.text.push_str(goes_on);
        if rest.is_empty() {
            return;
        }
        self.end(out);
        let begun = rest.rsplit(ends_atom).next().unwrap_or_default();
        let (before, begun) = rest.split_at(rest.len() - begun.len());
        out.extend_from_slice(before.as_bytes());
        self.text.push_str(begun);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let Self { text, is_encoded } = std::mem::take(self);
        if is_encoded {
            encode_word(&text, out);
        } else {
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// Whether a word ends here: `H=?utf-8?q?=C3=B6?=hn` is one, however much RFC 2047 section 5
/// forbids it.
fn ends_atom(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '(' | ')' | '<' | '>' | '@' | ',' | ';' | ':' | '\\' | '"'
        )
}

fn has_words(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'=', bytes).any(|at| bytes.get(at + 1) == Some(&b'?'))
}

/// Raw bytes above ASCII: UTF-8 (RFC 6532) when they are, else a guess.
fn to_utf8(value: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let is_plain = value.is_ascii() || std::str::from_utf8(value).is_ok();
    // Seven-bit Japanese looks like ASCII with escapes.
    if is_plain && memchr::memchr(0x1b, value).is_none() {
        return (value.into(), false);
    }
    let text = charset::decode(value, None).text.into_owned();
    (text.into_bytes().into(), true)
}

/// One line: every run of white space that holds a line end becomes one space; other control
/// characters go.
fn fold(text: &str) -> String {
    let text = text.trim();
    let has_control = text
        .bytes()
        .fold(false, |found, byte| found | (byte < b' ') | (byte == 0x7f));
    if !has_control {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_control()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let run = tail.find(|c: char| !(c.is_ascii_control() || c == ' '));
        let (run, tail) = tail.split_at(run.unwrap_or(tail.len()));
        if run
            .bytes()
            .any(|byte| matches!(byte, b'\r' | b'\n' | b'\t' | b' '))
        {
            out.truncate(out.trim_end_matches(' ').len());
            out.push(' ');
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}

enum Piece<'a> {
    Plain(&'a str),
    Words(String),
}

/// Plain stretches and decoded runs of encoded words; white space between two words is gone
/// (RFC 2047 section 6.2).
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let (mut plain_from, mut at) = (0, 0);
    // No word begins behind the last end mark: searching there again and again would cost the
    // square of the header's length.
    let last_end = text.rfind("?=").unwrap_or(0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find("=?")) {
        let start = at + found;
        if start >= last_end {
            break;
        }
        let (run, end) = word_run(text, start);
        if end == start {
            at = start + 2;
            continue;
        }
        if let Some(plain) = text
            .get(plain_from..start)
            .filter(|plain| !plain.is_empty())
        {
            pieces.push(Piece::Plain(plain));
        }
        pieces.push(Piece::Words(run));
        (plain_from, at) = (end, end);
    }
    if let Some(plain) = text.get(plain_from..).filter(|plain| !plain.is_empty()) {
        pieces.push(Piece::Plain(plain));
    }
    pieces
}

/// The words from `start` on that belong together, decoded, and where they end.
fn word_run(text: &str, start: usize) -> (String, usize) {
    let mut out = String::new();
    let mut pending: Option<Pending<'_>> = None;
    let (mut at, mut end) = (start, start);
    let last_end = text.rfind("?=").unwrap_or(0);
    while let Some((word, after)) = encoded_word(text, at) {
        match &mut pending {
            Some(before) if before.charset.eq_ignore_ascii_case(word.charset) => before.add(&word),
            _ => {
                out.extend(pending.take().map(Pending::text));
                let mut first = Pending {
                    charset: word.charset,
                    bytes: Vec::new(),
                    base64: String::new(),
                };
                first.add(&word);
                pending = Some(first);
            }
        }
        end = after;
        let rest = text.get(after..).unwrap_or_default();
        at = after + rest.len() - rest.trim_start().len();
        let goes_on = text.get(at..).is_some_and(|rest| rest.starts_with("=?"));
        if at >= last_end || !goes_on {
            break;
        }
    }
    out.extend(pending.map(Pending::text));
    (out, end)
}

/// Words of one charset, joined before they are decoded: many programs cut a character, and some a
/// base64 group, in two.
struct Pending<'a> {
    charset: &'a str,
    bytes: Vec<u8>,
    /// Base64 that is no whole group yet.
    base64: String,
}

impl Pending<'_> {
    fn add(&mut self, word: &Word<'_>) {
        if !word.is_base64 {
            self.end_group();
            self.bytes.extend(self.own_bytes(word.data));
            return;
        }
        self.base64
            .extend(word.data.chars().filter(|c| !c.is_whitespace()));
        if self.base64.len().is_multiple_of(4) || self.base64.ends_with('=') {
            self.end_group();
        }
    }

    /// A word whose data holds raw characters above ASCII was read as text before; its bytes come
    /// back by its charset.
    fn own_bytes(&self, data: &str) -> Vec<u8> {
        let encoding = encoding_rs::Encoding::for_label(self.charset.as_bytes());
        match encoding {
            Some(encoding) if !data.is_ascii() => decode_q(&encoding.encode(data).0),
            _ => decode_q(data.as_bytes()),
        }
    }

    fn end_group(&mut self) {
        let group = std::mem::take(&mut self.base64);
        self.bytes
            .extend(transfer::decode_base64(group.as_bytes()).0);
    }

    fn text(mut self) -> String {
        self.end_group();
        charset::decode(&self.bytes, Some(self.charset))
            .text
            .into_owned()
    }
}

struct Word<'a> {
    charset: &'a str,
    is_base64: bool,
    data: &'a str,
}

/// `=?charset?B|Q?data?=` at `at`, and the place behind it. Spaces inside the data are forgiven.
fn encoded_word(text: &str, at: usize) -> Option<(Word<'_>, usize)> {
    let rest = text.get(at..)?.strip_prefix("=?")?;
    let charset_end = rest.bytes().take(64).position(|byte| byte == b'?')?;
    let (charset, rest) = (rest.get(..charset_end)?, rest.get(charset_end + 1..)?);
    if charset
        .bytes()
        .any(|byte| byte.is_ascii_whitespace() || byte == b'=')
    {
        return None;
    }
    let encoding = *rest.as_bytes().first()?;
    let data = rest.get(1..)?.strip_prefix('?')?;
    // `?=` ends the data, except that a Q word may begin its data with `=` (`?=3D`).
    let data_end = match data.as_bytes() {
        [b'=', ..] if matches!(encoding, b'Q' | b'q') => data.get(1..)?.find("?=")? + 1,
        _ => data.find("?=")?,
    };
    let words = data.get(..data_end)?;
    let is_base64 = matches!(encoding, b'B' | b'b');
    if !is_base64 && !matches!(encoding, b'Q' | b'q') {
        return None;
    }
    let word = Word {
        charset,
        is_base64,
        data: words,
    };
    Some((word, text.len() - data.len() + data_end + 2))
}

/// RFC 2047 section 4.2.
fn decode_q(data: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> = data
        .iter()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .map(|byte| if *byte == b'_' { b' ' } else { *byte })
        .collect();
    // A trailing `=` is no soft break here.
    transfer::decode_quoted_printable(&spaced)
}

fn encode_word(words: &str, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"=?utf-8?Q?");
    for &byte in words.as_bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(byte);
        } else {
            let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
            out.extend_from_slice(&[b'=', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out.extend_from_slice(b"?=");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_words_are_read_as_they_were_meant() {
        for (raw, text) in [
            (&b"plain"[..], "plain"),
            (b"a\r\n b\r\n\tc", "a b c"),
            (b"=?iso-8859-1?q?a=E4?=", "aä"),
            (b"=?utf-8?B?w6Q=?= =?utf-8?B?w6Q=?=", "ää"),
            (b"=?utf-8?B?4pyT4p?= =?utf-8?B?yT?=", "✓✓"),
            (b"=?utf-8?B?4pyT4g==?=\r\n =?utf-8?B?nJM=?=", "✓✓"),
            (b"x =?utf-8?q?=C3=A4?= y", "x ä y"),
            (b"x=?utf-8?q?=C3=A4?=y", "xäy"),
            (b"=?utf-8?q?broken", "=?utf-8?q?broken"),
            (b"=?utf-8?x?broken?=", "=?utf-8?x?broken?="),
            (b"=?utf-8*en?q?a_b?=", "a b"),
            (b"=?utf-8?q?with space?=", "with space"),
            (b"=?no-such?q?=C3=A4?=", "ä"),
            (b"gr\xfc\xdfe aus M\xfcnchen", "grüße aus München"),
            ("grüße".as_bytes(), "grüße"),
            (b"=?utf-8?q?=3D=3F?=", "=?"),
            (b"=?iso-8859-1?Q?raw_Fr\xf6sche?=", "raw Frösche"),
        ] {
            assert_eq!(decode(raw).0, text, "{}", raw.escape_ascii());
        }
    }

    #[test]
    fn normalised_values_read_the_same() {
        for (raw, normal) in [
            (
                "=?iso-8859-1?q?J=FCrgen?= <j@b>",
                "=?utf-8?Q?J=C3=BCrgen?= <j@b>",
            ),
            (
                "Dr. J=?iso-8859-1?q?=FC?=rgen <j@b>",
                "Dr. =?utf-8?Q?J=C3=BCrgen?= <j@b>",
            ),
            (
                "\"J=?iso-8859-1?q?=FC?=r\" <j@b>",
                "\"=?utf-8?Q?J=C3=BCr?=\" <j@b>",
            ),
            ("a,=?utf-8?q?b?=@c,d", "a,=?utf-8?Q?b?=@c,d"),
            ("plain =?utf-8?q?b?=", "plain =?utf-8?Q?b?="),
        ] {
            assert_eq!(
                String::from_utf8_lossy(&normalise(raw.as_bytes()).0),
                normal
            );
        }
    }
}
