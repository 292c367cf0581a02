//! Strings into which somebody wrote HTML tags.

use super::{Piece, Style, words};
use crate::{
    draft::{Node, Origin},
    grammar::UrlUse,
    model::Marks,
    notation::Part,
    pass::{Pass, values},
};

/// Elements that set words or break lines, tables and pictures; a tag of another name is text.
const ELEMENTS: &[&str] = &[
    "a",
    "article",
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "ins",
    "li",
    "main",
    "mark",
    "ol",
    "p",
    "s",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
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
        .filter(|end| (1..=10).contains(end))?;
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
            "td" | "th" if !tag.closes => self.gap(),
            "td" | "th" | "html" => {}
            "img" => self.picture(tag),
            "p" | "div" | "li" | "ul" | "ol" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr"
            | "table" | "thead" | "tbody" | "tfoot" | "tr" | "blockquote" | "section"
            | "article" | "header" | "footer" | "main" | "figure" | "figcaption" | "dl" | "dt"
            | "dd" | "body" => self.line(),
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

    /// Keeps the words of two cells apart.
    fn gap(&mut self) {
        if !matches!(self.pieces.last(), None | Some(Piece::Break(_))) {
            let blank = Part::Text(" ".to_owned());
            self.pieces.push(Piece::words(blank, &Style::default()));
        }
    }

    /// A picture is a block, which is lifted out of the text.
    fn picture(&mut self, tag: &Tag<'_>) {
        let at = self.origin;
        let Some(src) = attribute(tag.attributes, "src").filter(|src| !src.is_empty()) else {
            return;
        };
        let mut keys = vec![("src", Node::string(at, src))];
        if let Some(alt) = attribute(tag.attributes, "alt") {
            keys.push(("alt", Node::string(at, alt)));
        }
        let sides = ["width", "height"].map(|side| {
            let value = attribute(tag.attributes, side)?;
            Some((side, value.trim_end_matches("px").parse::<u32>().ok()?))
        });
        for (side, px) in sides.into_iter().flatten() {
            keys.push((side, Node::number(at, f64::from(px))));
        }
        self.pieces
            .push(Piece::Kept(Node::block(at, "image", keys)));
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

/// Names of characters that people write by hand.
const CHARACTERS: &[(&str, &str)] = &[
    ("nbsp", "\u{a0}"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("amp", "&"),
    ("copy", "\u{a9}"),
    ("reg", "\u{ae}"),
    ("trade", "\u{2122}"),
    ("mdash", "\u{2014}"),
    ("ndash", "\u{2013}"),
    ("hellip", "\u{2026}"),
    ("bull", "\u{2022}"),
    ("middot", "\u{b7}"),
    ("larr", "\u{2190}"),
    ("rarr", "\u{2192}"),
    ("laquo", "\u{ab}"),
    ("raquo", "\u{bb}"),
    ("lsquo", "\u{2018}"),
    ("rsquo", "\u{2019}"),
    ("ldquo", "\u{201c}"),
    ("rdquo", "\u{201d}"),
    ("euro", "\u{20ac}"),
    ("pound", "\u{a3}"),
    ("yen", "\u{a5}"),
    ("cent", "\u{a2}"),
    ("deg", "\u{b0}"),
    ("times", "\u{d7}"),
    ("frac12", "\u{bd}"),
    ("iexcl", "\u{a1}"),
    ("iquest", "\u{bf}"),
    ("szlig", "\u{df}"),
    ("agrave", "\u{e0}"),
    ("aacute", "\u{e1}"),
    ("acirc", "\u{e2}"),
    ("atilde", "\u{e3}"),
    ("auml", "\u{e4}"),
    ("aring", "\u{e5}"),
    ("aelig", "\u{e6}"),
    ("ccedil", "\u{e7}"),
    ("egrave", "\u{e8}"),
    ("eacute", "\u{e9}"),
    ("ecirc", "\u{ea}"),
    ("euml", "\u{eb}"),
    ("iacute", "\u{ed}"),
    ("icirc", "\u{ee}"),
    ("iuml", "\u{ef}"),
    ("ntilde", "\u{f1}"),
    ("oacute", "\u{f3}"),
    ("ocirc", "\u{f4}"),
    ("otilde", "\u{f5}"),
    ("ouml", "\u{f6}"),
    ("oslash", "\u{f8}"),
    ("uacute", "\u{fa}"),
    ("ucirc", "\u{fb}"),
    ("uuml", "\u{fc}"),
    ("Auml", "\u{c4}"),
    ("Ouml", "\u{d6}"),
    ("Uuml", "\u{dc}"),
    ("Eacute", "\u{c9}"),
];

/// References to characters that people write by hand, each once.
fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, after) = rest.split_at(at);
        decoded.push_str(before);
        let near = after
            .get(1..after.floor_char_boundary(12))
            .unwrap_or_default();
        let found = near.find(';').and_then(|end| {
            let name = near.get(..end)?;
            Some((character(name)?, end + 2))
        });
        let (char, length) = found.unwrap_or(("&".to_owned(), 1));
        decoded.push_str(&char);
        rest = after.get(length..).unwrap_or_default();
    }
    decoded.push_str(rest);
    decoded
}

/// The character that a name or a number stands for.
fn character(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        let char = number.and_then(char::from_u32)?;
        return (!char.is_control()).then(|| char.to_string());
    }
    let found = CHARACTERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, char)| (*char).to_owned())
}
