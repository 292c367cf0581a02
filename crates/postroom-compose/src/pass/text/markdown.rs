//! The inline part of Markdown: emphasis, code, links, breaks. Blocks are blocks of the document.

use super::{Piece, Style, variable};
use crate::{
    draft::{Node, Origin},
    grammar::UrlUse,
    model::Marks,
    notation::{self, Part, Reading},
    pass::{Pass, values},
};

/// How deep emphasis and links nest before they are taken as they are written.
const DEPTH: usize = 8;

/// How far the end of emphasis, code or a link may be from its beginning, bytes.
const NEAR_BYTES: usize = 4_096;

/// The part of `text` in which what begins before it has to end.
fn near(text: &str) -> &str {
    text.get(..text.floor_char_boundary(NEAR_BYTES))
        .unwrap_or(text)
}

/// `text` as pieces.
pub(super) fn read(text: &str, origin: Origin, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let text = text.replace("\r\n", "\n");
    let mut reader = Reader {
        origin,
        pieces: Vec::new(),
    };
    reader.inline(text.trim_matches('\n'), &Style::default(), DEPTH, pass);
    reader.pieces
}

struct Reader {
    origin: Origin,
    pieces: Vec<Piece>,
}

impl Reader {
    fn inline(&mut self, text: &str, style: &Style, depth: usize, pass: &mut Pass<'_, '_>) {
        let mut plain = String::new();
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            // Nothing but these begins anything.
            let run = rest.find(['\\', '{', '<', '*', '$', '%', '[', '_', '~', '`']);
            let (before, after) = rest.split_at(run.unwrap_or(rest.len()));
            if !before.is_empty() {
                plain.push_str(before);
                rest = after;
                continue;
            }
            let variable = pass.reading(|reading| notation::length(rest, reading));
            if variable > 0 {
                self.flush(&mut plain, style);
                let (written, after) = rest.split_at(variable);
                self.pieces
                    .extend(super::words(written, self.origin, style, pass));
                rest = after;
                continue;
            }
            if let Some(escaped) = rest.strip_prefix('\\')
                && let Some(next) = escaped.chars().next()
                && (next.is_ascii_punctuation() || next == '\n')
            {
                let braces = escaped.starts_with("{{");
                let taken = if braces { 2 } else { next.len_utf8() };
                let (literal, after) = escaped.split_at(taken);
                plain.push_str(literal);
                rest = after;
                continue;
            }
            let before = plain.chars().next_back().or_else(|| {
                let read = text.len() - rest.len();
                text.get(..read).and_then(|read| read.chars().next_back())
            });
            if depth > 0
                && let Some(after) = self.marked(rest, before, &mut plain, style, depth, pass)
            {
                rest = after;
                continue;
            }
            plain.push(char);
            rest = rest.get(char.len_utf8()..).unwrap_or_default();
        }
        self.flush(&mut plain, style);
    }

    fn flush(&mut self, plain: &mut String, style: &Style) {
        let text = std::mem::take(plain);
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.pieces.push(Piece::Break(self.origin));
            }
            // Blanks at the end of a line say that it breaks, which it does anyway.
            let line = if text.contains('\n') {
                line.trim_end_matches("  ")
            } else {
                line
            };
            if !line.is_empty() {
                self.pieces
                    .push(Piece::words(Part::Text(line.to_owned()), style));
            }
        }
    }

    /// Takes an emphasis, code or link that begins here; what follows it.
    fn marked<'t>(
        &mut self,
        rest: &'t str,
        before: Option<char>,
        plain: &mut String,
        style: &Style,
        depth: usize,
        pass: &mut Pass<'_, '_>,
    ) -> Option<&'t str> {
        if let Some(inner) = rest.strip_prefix('`') {
            let end = near(inner).find('`').filter(|end| *end > 0)?;
            self.flush(plain, style);
            self.code(inner.get(..end)?, style);
            return inner.get(end + 1..);
        }
        if rest.starts_with('[') {
            return self.link(rest, plain, style, depth, pass);
        }
        let (sign, set): (&str, fn(&mut Marks)) = [
            ("**", (|marks| marks.bold = true) as fn(&mut Marks)),
            ("__", |marks| marks.bold = true),
            ("~~", |marks| marks.strike = true),
            ("*", |marks| marks.italic = true),
            ("_", |marks| marks.italic = true),
        ]
        .into_iter()
        .find(|(sign, _)| rest.starts_with(sign))?;
        if sign.starts_with('_') && before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let inner = rest.get(sign.len()..)?;
        let end = closing(near(inner), sign)?;
        let mut inner_style = style.clone();
        set(&mut inner_style.marks);
        self.flush(plain, style);
        self.inline(inner.get(..end)?, &inner_style, depth - 1, pass);
        inner.get(end + sign.len()..)
    }

    /// Code keeps what is in it, variables in our own notation aside.
    fn code(&mut self, text: &str, style: &Style) {
        let mut style = style.clone();
        style.marks.code = true;
        for part in notation::parse(&text.replace('\n', " "), Reading::Ours) {
            self.pieces.push(match part {
                Part::Variable(used) => variable(used, self.origin, &style),
                part => Piece::words(part, &style),
            });
        }
    }

    fn link<'t>(
        &mut self,
        rest: &'t str,
        plain: &mut String,
        style: &Style,
        depth: usize,
        pass: &mut Pass<'_, '_>,
    ) -> Option<&'t str> {
        let inner = rest.strip_prefix('[')?;
        let label_end = near(inner).find("](")?;
        let label = inner.get(..label_end)?;
        if label.is_empty() || label.contains(['[', '\n']) {
            return None;
        }
        let target = inner.get(label_end + 2..)?;
        let end = target_end(near(target))?;
        // A title after the address is left out.
        let href = target.get(..end)?.trim();
        let href = match href.find(" \"") {
            Some(title) if !href.contains("{{") => href.get(..title)?.trim_end(),
            _ => href,
        };
        self.flush(plain, style);
        let mut words = Self {
            origin: self.origin,
            pieces: Vec::new(),
        };
        words.inline(label, style, depth - 1, pass);
        let href = values::url(&Node::string(self.origin, href), UrlUse::Link, pass);
        let children = words
            .pieces
            .into_iter()
            .flat_map(|piece| piece.without_links(pass))
            .collect();
        self.pieces.push(Piece::Link {
            href,
            children,
            origin: self.origin,
        });
        target.get(end + 1..)
    }
}

/// Where the address of a link ends: the bracket that nothing in it opened, outside variables.
fn target_end(target: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut rest = target;
    while let Some(char) = rest.chars().next() {
        let variable = notation::length(rest, Reading::Ours);
        if variable > 0 {
            rest = rest.get(variable..)?;
            continue;
        }
        match char {
            '(' => open += 1,
            ')' if open == 0 => return Some(target.len() - rest.len()),
            ')' => open -= 1,
            '\n' => return None,
            _ => {}
        }
        rest = rest.get(char.len_utf8()..)?;
    }
    None
}

/// Where emphasis ends: the next `sign` that no blank precedes, outside code and variables.
fn closing(inner: &str, sign: &str) -> Option<usize> {
    if inner.starts_with([' ', '\n']) || inner.starts_with(sign) {
        return None;
    }
    let mut rest = inner;
    let mut before = None;
    while let Some(char) = rest.chars().next() {
        let at = inner.len() - rest.len();
        let skip = notation::length(rest, Reading::Ours);
        if skip > 0 {
            before = Some('}');
            rest = rest.get(skip..)?;
            continue;
        }
        if char == '\\' {
            let next = rest.chars().nth(1).map_or(0, char::len_utf8);
            before = Some('\\');
            rest = rest.get(1 + next..)?;
            continue;
        }
        if rest.starts_with("\n\n") {
            return None;
        }
        let double = sign.len() == 1 && rest.starts_with(&sign.repeat(2));
        if double {
            // Bold inside italic: past its two signs.
            before = Some(char);
            rest = rest.get(2..)?;
            continue;
        }
        if rest.starts_with(sign) && before.is_some_and(|before| !char::is_whitespace(before)) {
            let after = rest.get(sign.len()..)?.chars().next();
            let inside_word = sign.starts_with('_') && after.is_some_and(char::is_alphanumeric);
            if !inside_word {
                return Some(at);
            }
        }
        before = Some(char);
        rest = rest.get(char.len_utf8()..)?;
    }
    None
}
