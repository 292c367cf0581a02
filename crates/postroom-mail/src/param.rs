//! Content-Type and Content-Disposition with their parameters (RFC 2045 section 5.1, RFC 2183,
//! RFC 2231), read from what programs really write.

use std::borrow::Cow;

use crate::{charset, word};

/// Parameters read from one field.
const PARAMS_MAX: usize = 200;

/// A value and its parameters; names and value lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameterised {
    pub(crate) value: String,
    params: Vec<(String, String)>,
}

impl Parameterised {
    /// A value and its parameters that no field says.
    pub(crate) fn of(value: &str, params: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            value: value.to_owned(),
            params: params.iter().map(owned).collect(),
        }
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// Every parameter in order.
    pub(crate) fn params(&self) -> impl Iterator<Item = (&str, &str)> {
        self.params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Reads a field's value.
pub(crate) fn read(field: &[u8]) -> Parameterised {
    let text = unfold(field);
    let (value, rest) = split_value(&text);
    let mut sections: Vec<Section> = Vec::new();
    let mut rest = rest;
    while sections.len() < PARAMS_MAX {
        let Some((section, tail)) = next_param(rest) else {
            break;
        };
        sections.extend(section);
        rest = tail;
    }
    Parameterised {
        value,
        params: join(sections),
    }
}

fn unfold(field: &[u8]) -> String {
    let text = match std::str::from_utf8(field) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => charset::decode(field, None).text,
    };
    text.chars()
        .filter(|c| !matches!(c, '\r' | '\n' | '\0'))
        .collect()
}

/// The first token, lower case, and what follows it. A missing `;` is forgiven.
fn split_value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let end = text
        .find(|c: char| c == ';' || c.is_whitespace() || c == '(')
        .unwrap_or(text.len());
    let (value, rest) = text.split_at(end);
    let value = value.trim_matches(|c| matches!(c, '"' | '\'' | ','));
    (value.to_ascii_lowercase(), rest)
}

/// One parameter or a piece of one (RFC 2231 section 3).
struct Section {
    name: String,
    number: Option<u32>,
    /// Percent-encoded, with a charset in the first piece.
    extended: bool,
    value: String,
}

fn next_param(rest: &str) -> Option<(Option<Section>, &str)> {
    let rest = rest.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
    if rest.is_empty() {
        return None;
    }
    let end = rest.find([';', '=']).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    let Some(tail) = tail.strip_prefix('=') else {
        return Some((None, tail));
    };
    // A comment or a lost `;` in front of the name: the name is the last word.
    let name = name.split_whitespace().next_back().unwrap_or_default();
    let mut parts = name.split('*');
    let base = parts.next().unwrap_or_default().to_ascii_lowercase();
    let (mut number, mut extended) = (None, false);
    for part in parts {
        match part.parse::<u32>() {
            Ok(value) => number = Some(value),
            Err(_) => extended = true,
        }
    }
    let (value, tail) = param_value(&base, tail);
    let section = Section {
        name: base,
        number,
        extended,
        value,
    };
    Some((Some(section), tail))
}

fn param_value<'a>(name: &str, tail: &'a str) -> (String, &'a str) {
    let tail = tail.trim_start();
    if let Some(quoted) = tail.strip_prefix('"') {
        if let Some((value, rest)) = quoted_value(quoted) {
            return (value, rest);
        }
        // The closing quote was lost.
        let end = quoted.find(';').unwrap_or(quoted.len());
        let (value, rest) = quoted.split_at(end);
        return (value.trim().to_owned(), rest);
    }
    let end = tail.find(';').unwrap_or(tail.len());
    let (value, rest) = tail.split_at(end);
    let value = value.trim();
    // File names may hold blanks even without quotes; nothing else does.
    let value = if name.contains("name") {
        value
    } else {
        value
            .split(|c: char| c.is_whitespace() || c == '(')
            .next()
            .unwrap_or_default()
    };
    let value = value.strip_suffix('"').unwrap_or(value);
    (value.trim_matches('\'').to_owned(), rest)
}

/// Only `\"` and `\\` are escapes: a single backslash belongs to a Windows path.
fn quoted_value(quoted: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, quoted.get(at + 1..).unwrap_or_default())),
            '\\' => match chars.clone().next() {
                Some((_, next @ ('"' | '\\'))) => {
                    value.push(next);
                    chars.next();
                }
                _ => value.push(c),
            },
            _ => value.push(c),
        }
    }
    None
}

/// Puts the pieces of each parameter together; the extended form wins over the plain one.
fn join(mut sections: Vec<Section>) -> Vec<(String, String)> {
    sections.sort_by(|a, b| (&a.name, a.number).cmp(&(&b.name, b.number)));
    let mut params: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while let Some(first) = sections.get(at) {
        let count = sections
            .iter()
            .skip(at)
            .take_while(|section| section.name == first.name)
            .count();
        let group = sections.get(at..at + count).unwrap_or_default();
        params.push((first.name.clone(), join_group(group)));
        at += count;
    }
    params
}

fn join_group(group: &[Section]) -> String {
    let whole = |extended: bool| {
        group
            .iter()
            .find(|section| section.number.is_none() && section.extended == extended)
    };
    if let Some(section) = whole(true) {
        return decode_extended(&[section]);
    }
    let numbered: Vec<&Section> = group.iter().filter(|part| part.number.is_some()).collect();
    if !numbered.is_empty() {
        return decode_extended(&numbered);
    }
    whole(false).map_or_else(String::new, |section| decode_plain(&section.value))
}

/// Encoded words in parameters are against RFC 2047 section 5 and everywhere.
fn decode_plain(value: &str) -> String {
    word::decode(value.as_bytes()).0
}

/// `charset'language'%41%42`, the bytes of all pieces joined before they are decoded.
fn decode_extended(pieces: &[&Section]) -> String {
    if !pieces.iter().any(|piece| piece.extended) {
        return decode_plain(
            &pieces
                .iter()
                .map(|piece| piece.value.as_str())
                .collect::<String>(),
        );
    }
    let mut label = None;
    let mut bytes = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let mut value = piece.value.as_str();
        if at == 0
            && piece.extended
            && let Some((charset, rest)) = value.split_once('\'')
        {
            label = Some(charset);
            value = rest.split_once('\'').map_or(rest, |(_, text)| text);
        }
        if piece.extended {
            percent_decode(value, &mut bytes);
        } else {
            bytes.extend_from_slice(value.as_bytes());
        }
    }
    charset::decode(&bytes, label).text.into_owned()
}

fn percent_decode(value: &str, out: &mut Vec<u8>) {
    let mut rest = value.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let digit = |at: usize| tail.get(at).and_then(|b| (*b as char).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(byte);
                rest = tail;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_real_mail_are_read() {
        for (field, name, value) in [
            ("text/plain; charset=utf-8", "charset", "utf-8"),
            ("text/plain; CHARSET = \"utf-8\" ; x=y", "charset", "utf-8"),
            ("text/plain charset=utf-8", "charset", "utf-8"),
            (
                "text/plain; charset=us-ascii (Plain text)",
                "charset",
                "us-ascii",
            ),
            ("a/b; name=two words.pdf", "name", "two words.pdf"),
            (
                "a/b; name=\"a \\\"b\\\" c:\\d.pdf\"",
                "name",
                "a \"b\" c:\\d.pdf",
            ),
            ("a/b; name=\"lost quote.pdf; x=y", "name", "lost quote.pdf"),
            (
                "a/b; name*=utf-8'de'gr%C3%BC%C3%9Fe.txt; name=x",
                "name",
                "grüße.txt",
            ),
            (
                "a/b; name*0*=utf-8''%E4%BD; name*1*=%A0.txt",
                "name",
                "你.txt",
            ),
            ("a/b; name*1=\"b.txt\"; name*0=\"a\"", "name", "ab.txt"),
            (
                "a/b; name*0*=iso-8859-1''%FC; name*1=\"%20.txt\"",
                "name",
                "ü%20.txt",
            ),
            ("a/b; name==?utf-8?q?=C3=BC?=", "name", "ü"),
            ("a/b; name=\"=?utf-8?q?=C3?= =?utf-8?q?=BC?=\"", "name", "ü"),
            ("a/b; boundary=\"=_x:?\"", "boundary", "=_x:?"),
            ("a/b;\r\n\tname=\"fol\r\n ded\"", "name", "fol ded"),
        ] {
            assert_eq!(read(field.as_bytes()).param(name), Some(value), "{field}");
        }
        assert_eq!(read(b" Text/HTML ; x").value, "text/html");
        assert_eq!(read(b"").value, "");
    }
}
