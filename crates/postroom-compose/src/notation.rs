//! Variables in strings: `{{ path | default: "x" | filter }}`, and the notations of others.
//!
//! A backslash before what would be a variable makes it literal: `\{{ name }}`. Nothing else in a
//! string has a meaning.

mod date;
mod expression;

use expression::expression;
pub(crate) use expression::filter;

use crate::model::{Filter, Marks, VariableUse};

/// Longest path of a variable, characters.
const PATH_CHARS: usize = 200;

/// How far the end of a variable may be from its beginning, bytes; a sign further away belongs to
/// something else.
const NEAR_BYTES: usize = 400;

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Variable(VariableUse),
    /// A variable in another notation, as written.
    Foreign(VariableUse, String),
    /// Something that looks like a variable or tag and is none: as written, and why.
    Bad(String, &'static str),
}

/// Which notations count.
#[derive(Clone, Copy)]
pub(crate) enum Reading<'a> {
    /// Ours only; all else is literal. For code.
    Ours,
    /// Those of others too; a plain word among braces or percent signs only if it is known.
    All(&'a dyn Fn(&str) -> bool),
}

impl Reading<'_> {
    /// The same with every word known. What a backslash means must not hang on what is known.
    fn widest(self) -> Self {
        match self {
            Self::Ours => Self::Ours,
            Self::All(_) => Self::All(&|_| true),
        }
    }
}

const TAGS: &str = "Template tags do not work in strings; use an if or each block, or an if span.";
const FORM: &str = "Between {{ and }} stand a dotted path, then | default: \"x\", then at most one filter; a date's \
     pattern is of yyyy, MM, MMMM, dd, d, EEEE, HH, mm, other letters in single quotes.";

/// What variables and escapes begin with.
const SIGNS: &[char] = &['\\', '{', '<', '*', '$', '%', '['];

/// Splits `text` into literal parts and variables.
pub(crate) fn parse(text: &str, reading: Reading<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (before, after) = rest.split_at(rest.find(SIGNS).unwrap_or(rest.len()));
        literal.push_str(before);
        rest = after;
        let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
        let (backslashes, opening) = rest.split_at(slashes);
        let Some(found) = recognise(opening, reading.widest()) else {
            // Neither an escape nor a variable: everything up to here is what it is.
            literal.push_str(backslashes);
            rest = opening;
            if slashes == 0
                && let Some(char) = rest.chars().next()
            {
                literal.push(char);
                rest = rest.get(char.len_utf8()..).unwrap_or_default();
            }
            continue;
        };
        literal.push_str(backslashes.get(..slashes / 2).unwrap_or_default());
        let escaped = slashes % 2 == 1;
        let known = if escaped {
            None
        } else {
            recognise(opening, reading)
        };
        let Some(found) = known else {
            let taken = if escaped { found.length } else { 1 };
            let (taken, after) = opening.split_at(taken);
            literal.push_str(taken);
            rest = after;
            continue;
        };
        let (_, after) = opening.split_at(found.length);
        rest = after;
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal)));
        }
        parts.push(found.part);
    }
    if !literal.is_empty() {
        parts.push(Part::Text(literal));
    }
    parts
}

/// `literal` so that [`parse`] gives it back as it is.
pub(crate) fn escape(literal: &str, reading: Reading<'_>) -> String {
    let reading = reading.widest();
    let mut text = String::with_capacity(literal.len());
    let mut rest = literal;
    while !rest.is_empty() {
        let (before, after) = rest.split_at(rest.find(SIGNS).unwrap_or(rest.len()));
        text.push_str(before);
        rest = after;
        let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
        let (backslashes, opening) = rest.split_at(slashes);
        text.push_str(backslashes);
        rest = opening;
        if let Some(found) = recognise(opening, reading) {
            text.push_str(backslashes);
            text.push('\\');
            let (whole, after) = opening.split_at(found.length);
            text.push_str(whole);
            rest = after;
        } else if let Some(char) = opening.chars().next() {
            text.push(char);
            rest = opening.get(char.len_utf8()..).unwrap_or_default();
        }
    }
    text
}

/// `used` as a document has it.
pub(crate) fn print(used: &VariableUse) -> String {
    let mut text = format!("{{{{ {}", used.path);
    if let Some(default) = &used.default {
        text.push_str(&format!(" | default: {}", quote(default)));
    }
    if let Some(filter) = &used.filter {
        text.push_str(" | ");
        text.push_str(filter.name());
        match filter {
            Filter::Date(arg) | Filter::Number(arg) | Filter::Money(arg) => {
                text.push_str(&format!(": {}", quote(arg)));
            }
            Filter::Truncate(most) => text.push_str(&format!(": {most}")),
            _ => {}
        }
    }
    text.push_str(" }}");
    text
}

/// `parts` as one string; what is [`Part::Foreign`] comes out in our notation.
pub(crate) fn join(parts: &[Part], reading: Reading<'_>) -> String {
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Text(literal) => {
                text.push_str(&escape(literal, reading));
                let before_sign = !matches!(parts.get(at + 1), None | Some(Part::Text(_)));
                if before_sign {
                    // Backslashes before a variable count double.
                    let trailing = literal.len() - literal.trim_end_matches('\\').len();
                    text.extend(std::iter::repeat_n('\\', trailing));
                }
            }
            Part::Variable(used) | Part::Foreign(used, _) => text.push_str(&print(used)),
            Part::Bad(written, _) => text.push_str(written),
        }
    }
    text
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Words that template languages keep for themselves.
const RESERVED: &[&str] = &[
    "true", "false", "null", "nil", "none", "and", "or", "not", "in", "if", "else", "True",
    "False", "None",
];

/// Whether `text` is a dotted path.
pub(crate) fn is_path(text: &str) -> bool {
    let chars = text.chars().count();
    (1..=PATH_CHARS).contains(&chars) && !RESERVED.contains(&text) && text.split('.').all(is_name)
}

/// Whether `text` is a name without dots; a hyphen would be a minus in some languages.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Bytes of the variable, tag or foreign notation at the start of `text`, 0 if there is none.
pub(crate) fn length(text: &str, reading: Reading<'_>) -> usize {
    recognise(text, reading).map_or(0, |found| found.length)
}

struct Found {
    part: Part,
    /// Bytes of the whole, which a backslash before it makes literal.
    length: usize,
}

/// What begins at the start of `text`, if it is a variable or looks like one.
fn recognise(text: &str, reading: Reading<'_>) -> Option<Found> {
    let found = match text.as_bytes().first()? {
        b'{' if text.starts_with("{{") => return braces(text, reading),
        b'{' | b'<' | b'*' | b'$' | b'%' | b'[' => foreign(text, reading)?,
        _ => return None,
    };
    Some(found)
}

/// `{{ ... }}` and `{{{ ... }}}`.
fn braces(text: &str, reading: Reading<'_>) -> Option<Found> {
    let triple = text.starts_with("{{{");
    let (open, close) = if triple { ("{{{", "}}}") } else { ("{{", "}}") };
    let inner = near(text.get(open.len()..)?);
    let end = closing(inner, close)?;
    let inside = inner.get(..end)?;
    let length = open.len() + end + close.len();
    let written = text.get(..length)?.to_owned();
    let ours = if triple {
        None
    } else {
        expression(inside, false)
    };
    let part = match (ours, reading) {
        (Some(used), _) => Part::Variable(used),
        (None, Reading::Ours) => return None,
        (None, Reading::All(_)) => match expression(inside, true) {
            Some(used) => Part::Foreign(used, written),
            None if inside
                .trim_start()
                .starts_with(['#', '/', '^', '>', '!', '&']) =>
            {
                Part::Bad(written, TAGS)
            }
            None if inside.trim() == "else" => Part::Bad(written, TAGS),
            None => Part::Bad(written, FORM),
        },
    };
    Some(Found { part, length })
}

/// The part of `text` in which a variable has to end.
fn near(text: &str) -> &str {
    let end = text.floor_char_boundary(NEAR_BYTES);
    text.get(..end).unwrap_or(text)
}

/// Offset of `close` in `text` outside quotes; a quote that stays open counts as a character.
fn closing(text: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    let mut slash = false;
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(_), '\\') if !slash => {
                slash = true;
                continue;
            }
            (Some(open), char) if char == open && !slash => quote = None,
            (None, '"' | '\'') => quote = Some(char),
            (None, '{') => return None,
            (None, _) if text.get(at..).is_some_and(|rest| rest.starts_with(close)) => {
                return Some(at);
            }
            _ => {}
        }
        slash = false;
    }
    // An apostrophe before the end, as in `{{ it's }}`.
    quote.and_then(|_| text.find(close))
}

/// The notations of others that do not begin with two braces.
fn foreign(text: &str, reading: Reading<'_>) -> Option<Found> {
    let Reading::All(known) = reading else {
        return None;
    };
    let (open, close) = [
        ("{%", "%}"),
        ("<%", "%>"),
        ("*|", "|*"),
        ("${", "}"),
        ("[[", "]]"),
        ("{", "}"),
        ("%", "%"),
    ]
    .into_iter()
    .find(|(open, _)| text.starts_with(open))?;
    let inner = text.get(open.len()..)?;
    let inner = near(inner);
    let end = inner.find(close)?;
    let inside = inner.get(..end)?;
    let length = open.len() + end + close.len();
    let written = text.get(..length)?.to_owned();
    let name = inside.trim();
    let plain = |path: &str| VariableUse {
        path: path.to_owned(),
        default: None,
        filter: None,
        marks: Marks::default(),
    };
    let part = match open {
        "{%" => Part::Bad(written, TAGS),
        "<%" => match name.trim_start_matches(['=', '-']).trim() {
            path if name.starts_with('=') && is_path(path) => Part::Foreign(plain(path), written),
            _ => Part::Bad(written, TAGS),
        },
        "*|" if is_path(name) => Part::Foreign(plain(name), written),
        "*|" => Part::Bad(written, TAGS),
        "${" | "[[" if is_path(name) && (name.contains('.') || known(name)) => {
            Part::Foreign(plain(name), written)
        }
        // Without blanks only, so that sentences with braces and percent signs stay.
        "{" | "%" if is_path(inside) && (inside.contains('.') || known(inside)) => {
            Part::Foreign(plain(inside), written)
        }
        _ => return None,
    };
    Some(Found { part, length })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(name: &str) -> bool {
        name == "name"
    }

    fn all(text: &str) -> Vec<Part> {
        parse(text, Reading::All(&known))
    }

    #[test]
    fn ours_prints_as_it_was_read() {
        for text in [
            "{{ name }}",
            "{{ user.first_name | default: \"my \\\"friend\\\"\" | upper }}",
            "{{ at | date: \"d MMMM yyyy\" }}",
            "{{ total | money: \"EUR\" }}",
            "{{ title | truncate: 20 }}",
        ] {
            let parts = all(text);
            let [Part::Variable(used)] = parts.as_slice() else {
                panic!("{text}: {parts:?}");
            };
            assert_eq!(print(used), text);
        }
    }

    #[test]
    fn notations_of_others_are_known() {
        for (text, path) in [
            ("{{user.name|upcase}}", "user.name"),
            ("{{{user.name}}}", "user.name"),
            ("{{ .User.Name }}", "User.Name"),
            ("{{ name | default('x', true) }}", "name"),
            ("{{ name || 'x' }}", "name"),
            ("{user.name}", "user.name"),
            ("{name}", "name"),
            ("%user.name%", "user.name"),
            ("*|FNAME|*", "FNAME"),
            ("<%= user.name %>", "user.name"),
            ("${name}", "name"),
            ("[[name]]", "name"),
        ] {
            let parts = all(text);
            let [Part::Foreign(used, written)] = parts.as_slice() else {
                panic!("{text}: {parts:?}");
            };
            assert_eq!((used.path.as_str(), written.as_str()), (path, text));
        }
    }

    #[test]
    fn what_is_no_variable_stays() {
        for text in [
            "100% of 5% and {} {x} [1] $5 {{ a < b && c > d \\",
            "<$100",
            "{{",
            "}} {{",
            "%20%3A",
            "a\\b",
        ] {
            assert_eq!(all(text), [Part::Text(text.to_owned())], "{text}");
        }
        assert_eq!(all("\\{{ name }}"), [Part::Text("{{ name }}".to_owned())]);
        assert!(matches!(all("{{#if a}}").as_slice(), [Part::Bad(..)]));
        assert!(matches!(all("{% if a %}").as_slice(), [Part::Bad(..)]));
        assert!(matches!(all("{{ a b }}").as_slice(), [Part::Bad(..)]));
    }

    proptest! {
        #[test]
        fn escaped_text_is_literal(text in "[\\\\{}%*|$\\[\\]<=> a-c.name\"']{0,24}") {
            for reading in [Reading::Ours, Reading::All(&known)] {
                let parts = parse(&escape(&text, reading), reading);
                let literal: String = parts
                    .iter()
                    .map(|part| match part {
                        Part::Text(text) => text.as_str(),
                        part => panic!("{part:?}"),
                    })
                    .collect();
                prop_assert_eq!(literal, text.clone());
            }
        }
    }
}
