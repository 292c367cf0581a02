//! The target `eml`: one mail with the text and the HTML (RFC 5322, RFC 2045, RFC 2046).

use std::fmt::Write as _;

use crate::{Code, Issue, Source};

/// Characters of a line of quoted-printable text (RFC 2045, section 6.7).
const QUOTED_LINE: usize = 75;
/// Bytes of one encoded word before encoding, so that it keeps within 75 (RFC 2047, section 2).
const ENCODED_WORD_BYTES: usize = 42;

/// Header fields that the document does not say. Nothing is made up: what is absent is left out. What
/// is no address in `From` or `To` is an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// `From`, as it stands in a header.
    pub from: Option<String>,
    /// `To`, as it stands in a header.
    pub to: Option<String>,
    /// `Date`, as RFC 5322 section 3.3 has it.
    pub date: Option<String>,
    /// `Message-ID`, with its angle brackets.
    pub message_id: Option<String>,
}

impl Envelope {
    /// What is no address where one has to stand.
    pub(super) fn issues(&self, source: &Source) -> Vec<Issue> {
        let fields = [("From", &self.from), ("To", &self.to)];
        let wrong = fields.into_iter().filter_map(|(name, value)| {
            let value = value.as_deref()?;
            let wrong = addresses(value).into_iter().find(|one| !is_address(one))?;
            let message = format!("{name} has {wrong:?}, which is no address.");
            Some(Issue::new(Code::SchemaType, source, message))
        });
        wrong.collect()
    }
}

/// The addresses of a list (RFC 5322, section 3.4), commas in quotes and comments left alone.
fn addresses(list: &str) -> Vec<&str> {
    let (mut found, mut begin) = (Vec::new(), 0);
    let (mut quoted, mut escaped, mut comments) = (false, false, 0_usize);
    for (at, c) in list.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' if comments == 0 => quoted = !quoted,
            '(' if !quoted => comments += 1,
            ')' if !quoted => comments = comments.saturating_sub(1),
            ',' if !quoted && comments == 0 => {
                found.push(list.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(list.get(begin..).unwrap_or_default());
    found
}

/// Whether a mailbox has an address: alone, or in angle brackets at its end.
fn is_address(mailbox: &str) -> bool {
    let mailbox = mailbox.trim();
    let address = match mailbox.strip_suffix('>') {
        Some(inside) => inside.rsplit_once('<').map_or("", |(_, address)| address),
        None => mailbox,
    };
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | ',' | ';');
    address.rsplit_once('@').is_some_and(|(local, domain)| {
        let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
        !local.is_empty()
            && (quoted || !local.contains(odd))
            && !domain.is_empty()
            && !domain.contains(odd)
    })
}

/// A mail.
pub(super) fn write(envelope: &Envelope, subject: &str, text: &str, html: &str) -> String {
    let boundary = boundary(text, html);
    let mut out = String::with_capacity(html.len() * 5 / 4 + text.len() + 1024);
    let fields = [
        ("From", &envelope.from),
        ("To", &envelope.to),
        ("Date", &envelope.date),
        ("Message-ID", &envelope.message_id),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            // A line end in a value would begin another field.
            let value: String = value.chars().filter(|c| !c.is_control()).collect();
            let _ = write!(out, "{name}: {value}\r\n");
        }
    }
    let _ = write!(out, "Subject: {}\r\n", unstructured(subject));
    out.push_str("MIME-Version: 1.0\r\n");
    let _ = write!(
        out,
        "Content-Type: multipart/alternative; boundary=\"{boundary}\"\r\n\r\n"
    );
    for (kind, content) in [("plain", text), ("html", html)] {
        let _ = write!(
            out,
            "--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\n\
             Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        );
        quoted_printable(&mut out, content);
        out.push_str("\r\n");
    }
    let _ = write!(out, "--{boundary}--\r\n");
    out
}

/// A boundary of the contents: `=_` is in no quoted-printable line (RFC 2045, section 6.7).
fn boundary(text: &str, html: &str) -> String {
    // FNV-1a: the same mail has the same bytes, and nobody has to trust the boundary.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes().chain(html.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("=_postroom_{hash:016x}")
}

/// A subject as encoded words when it is not plain ASCII (RFC 2047).
fn unstructured(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.is_ascii() && !text.contains("=?") && text.len() <= 900 {
        return fold(&text);
    }
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > ENCODED_WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    if !word.is_empty() {
        words.push(word);
    }
    let encoded: Vec<String> = words
        .iter()
        .map(|word| format!("=?utf-8?B?{}?=", base64(word.as_bytes())))
        .collect();
    encoded.join("\r\n ")
}

/// A header value with line ends before blanks, where it is long.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut column = 9;
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            if column + word.len() > 76 {
                out.push_str("\r\n");
                column = 0;
            }
            out.push(' ');
        }
        out.push_str(word);
        column += word.len() + 1;
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |value: u32, shift: u32| {
        let index = (value >> shift) & 63;
        LETTERS
            .get(index as usize)
            .map_or('=', |byte| char::from(*byte))
    };
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let value = byte(0) << 16 | byte(1) << 8 | byte(2);
        out.push(letter(value, 18));
        out.push(letter(value, 12));
        out.push(if chunk.len() > 1 {
            letter(value, 6)
        } else {
            '='
        });
        out.push(if chunk.len() > 2 {
            letter(value, 0)
        } else {
            '='
        });
    }
    out
}

fn quoted_printable(out: &mut String, text: &str) {
    for (number, line) in text.trim_end_matches('\n').split('\n').enumerate() {
        if number > 0 {
            out.push_str("\r\n");
        }
        let mut column = 0;
        let bytes = line.as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            let last = index + 1 == bytes.len();
            let literal = match byte {
                b'=' => false,
                b' ' | b'\t' => !last,
                // A dot at the start of a line has a meaning to SMTP.
                b'.' => column > 0,
                byte => byte.is_ascii_graphic(),
            };
            let width = if literal { 1 } else { 3 };
            if column + width > QUOTED_LINE {
                out.push_str("=\r\n");
                column = 0;
            }
            if literal {
                out.push(char::from(*byte));
            } else {
                let _ = write!(out, "={byte:02X}");
            }
            column += width;
        }
    }
}
