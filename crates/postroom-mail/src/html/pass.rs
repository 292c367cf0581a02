//! One pass over the tokens of an HTML body that tells a visitor what a reader would see.
//!
//! No tree is built and nothing recurses: open elements stand on a stack, an end tag looks a
//! bounded way down it, and each token is handled once.

use std::{
    cell::RefCell,
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use html5ever::{
    Attribute, LocalName,
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
        states::RawKind,
    },
};

use super::{
    css::{self, Declaration, Rgb, Sheet},
    slim,
};

/// How far down the stack an end tag looks for its start.
const END_TAG_REACH: usize = 256;
/// Open elements; deeper ones are read as if their tags were not there.
const STACK_MAX: usize = 4_096;

/// What sees the visible part of a document.
pub(super) trait Visitor {
    /// Attributes it looks at, beside those that decide what is seen.
    const ATTRIBUTES: &'static [&'static str];

    fn open(&mut self, tag: &str, attrs: &[Attribute], is_void: bool);
    fn close(&mut self, tag: &str);
    fn text(&mut self, text: &str);
}

/// Reads `html` and answers whether words were hidden in it.
pub(super) fn run<V: Visitor>(html: &str, visitor: V) -> (V, bool) {
    let sink = Sink(RefCell::new(Pass {
        sheet: sheet_of(html),
        stack: Vec::new(),
        open: HashMap::default(),
        visitor,
        hidden_text: false,
    }));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(&slim::slim(html, V::ATTRIBUTES)));
    // A pause for a script or a charset is none here: the rest is fed again.
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let pass = tokenizer.sink.0.into_inner();
    (pass.visitor, pass.hidden_text)
}

/// All style sheets, wherever they stand, except those in comments.
fn sheet_of(html: &str) -> Sheet {
    let mut sheet = Sheet::default();
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', bytes.get(at..).unwrap_or_default()) {
        at += found + 1;
        let rest = html.get(at..).unwrap_or_default();
        if let Some(comment) = rest.strip_prefix("!--") {
            let Some(end) = comment.find("-->") else {
                break;
            };
            at += 3 + end;
        } else if rest
            .get(..5)
            .is_some_and(|tag| tag.eq_ignore_ascii_case("style"))
        {
            let Some(start) = rest.find('>') else {
                break;
            };
            let text = rest.get(start + 1..).unwrap_or_default();
            let end = text.find("</").unwrap_or(text.len());
            sheet.add(text.get(..end).unwrap_or_default());
            at += start + 1 + end;
        }
    }
    sheet
}

/// How an element's text looks.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// Not part of the text at all (script, style, title ...).
    skipped: bool,
    /// Hidden with everything inside it.
    gone: bool,
    /// `visibility: hidden`, which a child can undo.
    unseen: bool,
    font_px: f32,
    colour: Option<Rgb>,
    transparent: bool,
    /// `None` when it cannot be known.
    background: Option<Rgb>,
}

impl Look {
    const ROOT: Self = Self {
        skipped: false,
        gone: false,
        unseen: false,
        font_px: 16.0,
        colour: None,
        transparent: false,
        background: Some([255, 255, 255]),
    };

    fn hides_text(&self) -> bool {
        let same = |a: Rgb, b: Rgb| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 3);
        self.gone
            || self.unseen
            || self.font_px <= 1.0
            || self.transparent
            || matches!((self.colour, self.background), (Some(a), Some(b)) if same(a, b))
    }
}

/// The parts of a box that hide only together.
#[derive(Default)]
struct Box_ {
    empty: bool,
    overflow_hidden: bool,
    positioned: bool,
    far_away: bool,
}

struct Element {
    name: LocalName,
    look: Look,
    /// Whether the visitor saw it open.
    told: bool,
}

struct Pass<V> {
    sheet: Sheet,
    stack: Vec<Element>,
    /// How many elements of a name are open, so that a stray end tag costs nothing.
    open: HashMap<LocalName, usize, BuildHasherDefault<AtomHasher>>,
    visitor: V,
    hidden_text: bool,
}

/// Names carry a hash of their own, of which this takes every bit.
#[derive(Default)]
struct AtomHasher(u64);

impl Hasher for AtomHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        // Multiplied so that the table, which looks at the high bits, sees a difference.
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

struct Sink<V>(RefCell<Pass<V>>);

impl<V: Visitor> TokenSink for Sink<V> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut pass = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => pass.text(&text),
            Token::TagToken(tag) => return pass.tag(&tag),
            Token::EOFToken => pass.close_down_to(0),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl<V: Visitor> Pass<V> {
    fn look(&self) -> Look {
        self.stack.last().map_or(Look::ROOT, |element| element.look)
    }

    fn text(&mut self, text: &str) {
        let look = self.look();
        if look.skipped {
            return;
        }
        if look.hides_text() {
            self.hidden_text = self.hidden_text || text.chars().any(is_visible);
        } else {
            self.visitor.text(text);
        }
    }

    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        if tag.kind == TagKind::EndTag {
            match &*tag.name {
                // Browsers read these two as start tags.
                "br" => self.start(tag),
                "p" if !self.is_open(&tag.name) => self.start_simple(&tag.name),
                _ => self.end(&tag.name),
            }
            return TokenSinkResult::Continue;
        }
        self.close_implied(&tag.name);
        self.start(tag);
        match &*tag.name {
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            _ => TokenSinkResult::Continue,
        }
    }

    fn start_simple(&mut self, name: &LocalName) {
        let look = self.look();
        if !look.skipped && !look.gone {
            self.visitor.open(name, &[], false);
            self.visitor.close(name);
        }
    }

    fn start(&mut self, tag: &Tag) {
        let name: &str = &tag.name;
        let is_void = is_void(name) || tag.self_closing && !is_content(name);
        let parent = self.look();
        let look = if parent.skipped || parent.gone {
            parent
        } else {
            self.look_of(name, &tag.attrs, parent)
        };
        let told = !look.skipped && !look.gone;
        if told && !(is_void && look.unseen) {
            self.visitor.open(name, &tag.attrs, is_void);
        }
        if !is_void && self.stack.len() < STACK_MAX {
            *self.open.entry(tag.name.clone()).or_default() += 1;
            self.stack.push(Element {
                name: tag.name.clone(),
                look,
                told,
            });
        }
    }

    fn look_of(&self, name: &str, attrs: &[Attribute], parent: Look) -> Look {
        let mut look = parent;
        look.skipped = is_skipped(name);
        let mut shape = Box_::default();
        let (mut id, mut class, mut style) = (None, None, None);
        for attr in attrs {
            match &*attr.name.local {
                "id" => id = Some(&*attr.value),
                "class" => class = Some(&*attr.value),
                "style" => style = Some(&*attr.value),
                "hidden" => look.gone = true,
                "bgcolor" => {
                    look.background = css::colour(&attr.value.to_ascii_lowercase()).flatten();
                }
                "background" => look.background = None,
                "color" if name == "font" => {
                    if let Some(colour) = css::colour(&attr.value.to_ascii_lowercase()) {
                        look.set(Declaration::Colour(colour), parent, &mut shape);
                    }
                }
                _ => {}
            }
        }
        self.sheet
            .apply(name, id, class, |one| look.set(one, parent, &mut shape));
        if let Some(style) = style {
            for one in css::declarations(style) {
                look.set(one, parent, &mut shape);
            }
        }
        look.gone |= shape.empty && shape.overflow_hidden || shape.positioned && shape.far_away;
        look
    }

    fn is_open(&self, name: &LocalName) -> bool {
        self.open.get(name).is_some_and(|count| *count > 0)
    }

    fn end(&mut self, name: &LocalName) {
        if !self.is_open(name) {
            return;
        }
        let is_table_part = matches!(&**name, "table" | "tr" | "td" | "th" | "tbody");
        let floor = self.stack.len().saturating_sub(END_TAG_REACH);
        for at in (floor..self.stack.len()).rev() {
            let Some(element) = self.stack.get(at) else {
                return;
            };
            if element.name == *name {
                self.close_down_to(at);
                return;
            }
            // A stray end tag in a cell does not end what the table stands in.
            if !is_table_part && matches!(&*element.name, "td" | "th" | "table") {
                return;
            }
        }
    }

    fn close_down_to(&mut self, length: usize) {
        while self.stack.len() > length {
            let Some(element) = self.stack.pop() else {
                return;
            };
            if let Some(count) = self.open.get_mut(&element.name) {
                *count = count.saturating_sub(1);
            }
            if element.told {
                self.visitor.close(&element.name);
            }
        }
    }

    /// End tags that HTML lets people leave out.
    fn close_implied(&mut self, name: &str) {
        let (closed, barrier): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "td", "th", "table"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl", "td", "th", "table"]),
            "td" | "th" => (&["td", "th"], &["table", "tr"]),
            "tr" => (&["tr", "td", "th"], &["table"]),
            "option" => (&["option"], &["select"]),
            "p" | "div" | "table" | "ul" | "ol" | "dl" | "blockquote" | "pre" | "h1" | "h2"
            | "h3" | "h4" | "h5" | "h6" | "hr" | "center" => (
                &["p"],
                &["td", "th", "table", "div", "li", "blockquote", "center"],
            ),
            _ => return,
        };
        if !closed
            .iter()
            .any(|one| self.is_open(&LocalName::from(*one)))
        {
            return;
        }
        let floor = self.stack.len().saturating_sub(END_TAG_REACH);
        let mut lowest = None;
        for at in (floor..self.stack.len()).rev() {
            let Some(element) = self.stack.get(at) else {
                break;
            };
            let open: &str = &element.name;
            if closed.contains(&open) {
                lowest = Some(at);
                if name != "tr" || open == "tr" {
                    break;
                }
            } else if barrier.contains(&open) {
                break;
            }
        }
        if let Some(at) = lowest {
            self.close_down_to(at);
        }
    }
}

impl Look {
    fn set(&mut self, declaration: Declaration, parent: Self, shape: &mut Box_) {
        match declaration {
            Declaration::DisplayNone(yes) => self.gone = yes,
            Declaration::VisibilityHidden(yes) => self.unseen = yes,
            Declaration::OpacityZero(yes) | Declaration::Clipped(yes) => self.gone |= yes,
            Declaration::FontSize(px) => self.font_px = px,
            Declaration::FontScale(scale) => self.font_px = parent.font_px * scale,
            Declaration::Colour(colour) => {
                self.transparent = colour.is_none();
                self.colour = colour;
            }
            Declaration::Background(background) => self.background = background,
            Declaration::Empty(yes) => shape.empty |= yes,
            Declaration::OverflowHidden(yes) => shape.overflow_hidden = yes,
            Declaration::Positioned(yes) => shape.positioned = yes,
            Declaration::FarAway(yes) => shape.far_away |= yes,
        }
    }
}

/// A character that would leave a mark on the page.
fn is_visible(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !crate::invisible::is_invisible(c)
        && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2007}' | '\u{2800}')
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "keygen"
    )
}

/// Elements whose `/>` means nothing in HTML; of the others (Office's `o:p` and friends) it closes.
fn is_content(name: &str) -> bool {
    !name.contains(':')
}

/// Elements whose text is none of the mail's words.
fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "title"
            | "template"
            | "iframe"
            | "noembed"
            | "noframes"
            | "svg"
            | "math"
            | "select"
            | "audio"
            | "video"
            | "canvas"
            | "map"
            | "datalist"
            | "xml"
    )
}
