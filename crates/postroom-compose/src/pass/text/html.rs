//! Strings into which somebody wrote HTML tags.

use super::{Piece, Style, words};
use crate::{
    draft::{Node, Origin},
    grammar::UrlUse,
    model::Marks,
    pass::{Pass, values},
};

/// Elements that set words or break lines; a tag of another name is text.
const ELEMENTS: &[&str] = &[
    "a", "b", "big", "br", "center", "code", "del", "div", "em", "font", "h1", "h2", "h3", "h4",
    "i", "ins", "li", "mark", "ol", "p", "s", "small", "span", "strike", "strong", "sub", "sup",
    "u", "ul",
];

/// A tag in a string.
struct Tag<'t> {
    name: String,
    closes: bool,
    attributes: &'t str,
    length: usize,
}

/// The tag at the start of `text`.
fn tag(text: &str) -> Option<Tag<'_>> {
    let inner = text.strip_prefix('<')?;
    let closes = inner.starts_with('/');
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let end = inner
        .find(|char: char| !char.is_ascii_alphanumeric())
        .filter(|end| (1..=6).contains(end))?;
    let name = inner.get(..end)?.to_ascii_lowercase();
    if !ELEMENTS.contains(&name.as_str()) {
        return None;
    }
    let rest = inner.get(end..)?;
    if !rest.starts_with(['>', '/', ' ', '\t', '\n']) {
        return None;
    }
    let near = rest.get(..rest.floor_char_boundary(2_100))?;
    let close = near.find('>')?;
    let attributes = rest.get(..close)?;
    if attributes.contains('<') {
        return None;
    }
    let length = text.len() - rest.len() + close + 1;
    Some(Tag {
        name,
        closes,
        attributes,
        length,
    })
}

/// Whether a tag stands in `text`.
pub(super) fn has_tags(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = rest.get(at..).unwrap_or_default();
        if tag(rest).is_some() {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

/// `text` with its tags as marks, links and breaks; other tags give way to their words.
pub(super) fn read(text: &str, origin: Origin, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let mut reader = Reader {
        origin,
        open: Vec::new(),
        links: Vec::new(),
        pieces: Vec::new(),
    };
    let mut rest = text;
    while !rest.is_empty() {
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let next = rest.get(first..).and_then(|after| after.find('<'));
        match rest.starts_with('<').then(|| tag(rest)).flatten() {
            Some(tag) => {
                reader.tag(&tag, pass);
                rest = rest.get(tag.length..).unwrap_or_default();
            }
            None => {
                let end = next.map_or(rest.len(), |at| at + first);
                let (plain, after) = rest.split_at(end);
                let plain = plain.replace(['\n', '\r'], " ");
                let style = reader.style();
                let more = words(&decode(&plain), origin, &style, pass);
                reader.pieces.extend(more);
                rest = after;
            }
        }
    }
    while !reader.links.is_empty() {
        reader.close_link();
    }
    while matches!(reader.pieces.last(), Some(Piece::Break(_))) {
        reader.pieces.pop();
    }
    reader.pieces
}

struct Reader {
    origin: Origin,
    /// Elements that set marks and are open.
    open: Vec<(String, Marks)>,
    /// Open links: target, and the pieces before the link.
    links: Vec<(Node, Vec<Piece>)>,
    pieces: Vec<Piece>,
}

impl Reader {
    fn style(&self) -> Style {
        let marks = self
            .open
            .last()
            .map_or_else(Marks::default, |(_, marks)| *marks);
        Style { marks, color: None }
    }

    fn tag(&mut self, tag: &Tag<'_>, pass: &mut Pass<'_, '_>) {
        match tag.name.as_str() {
            "br" => self.pieces.push(Piece::Break(self.origin)),
            "a" if tag.closes => self.close_link(),
            "a" => self.open_link(tag, pass),
            "p" | "div" | "li" | "ul" | "ol" | "h1" | "h2" | "h3" | "h4" => self.line(),
            name => {
                if tag.closes {
                    if let Some(at) = self.open.iter().rposition(|(open, _)| open == name) {
                        self.open.remove(at);
                    }
                    return;
                }
                let mut marks = self.style().marks;
                match name {
                    "b" | "strong" => marks.bold = true,
                    "i" | "em" => marks.italic = true,
                    "u" | "ins" => marks.underline = true,
                    "s" | "strike" | "del" => marks.strike = true,
                    "code" => marks.code = true,
                    "sup" => marks.sup = true,
                    "sub" => marks.sub = true,
                    _ => return,
                }
                self.open.push((name.to_owned(), marks));
            }
        }
    }

    /// Begins a new line unless one begins already.
    fn line(&mut self) {
        if !matches!(self.pieces.last(), None | Some(Piece::Break(_))) {
            self.pieces.push(Piece::Break(self.origin));
        }
    }

    fn open_link(&mut self, tag: &Tag<'_>, pass: &mut Pass<'_, '_>) {
        let Some(href) = attribute(tag.attributes, "href").filter(|href| !href.is_empty()) else {
            return;
        };
        if !self.links.is_empty() {
            self.close_link();
        }
        let href = values::url(&Node::string(self.origin, href), UrlUse::Link, pass);
        self.links.push((href, std::mem::take(&mut self.pieces)));
    }

    fn close_link(&mut self) {
        let Some((href, before)) = self.links.pop() else {
            return;
        };
        let children = std::mem::replace(&mut self.pieces, before);
        if !children.is_empty() {
            self.pieces.push(Piece::Link {
                href,
                children,
                origin: self.origin,
            });
        }
    }
}

/// The value of an attribute.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let at = attributes.to_ascii_lowercase().find(&format!("{name}="))?;
    let value = attributes.get(at + name.len() + 1..)?;
    let quote = value
        .chars()
        .next()
        .filter(|char| matches!(char, '"' | '\''));
    let value = match quote {
        Some(quote) => value.get(1..)?.split(quote).next()?,
        None => value.split([' ', '\t', '\n']).next()?,
    };
    Some(decode(value))
}

/// The few references to characters that people write by hand.
fn decode(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    [
        ("&nbsp;", "\u{a0}"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&copy;", "\u{a9}"),
        ("&mdash;", "\u{2014}"),
        ("&ndash;", "\u{2013}"),
        ("&hellip;", "\u{2026}"),
        ("&rarr;", "\u{2192}"),
        ("&euro;", "\u{20ac}"),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (name, char)| {
        text.replace(name, char)
    })
}
