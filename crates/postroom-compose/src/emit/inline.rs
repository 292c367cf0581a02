//! Spans as inline HTML.

use crate::{
    dialect::Context,
    model::{Color, Marks, Piece, Span, Template, Text, VariableUse},
};

use super::{
    escape,
    flow::{Flow, Sink},
};

/// Bytes of a line after which a blank becomes a newline.
const LINE_BYTES: usize = 300;
/// Bytes without a blank after which a place to break is put in.
const WORD_BYTES: usize = 450;

/// HTML being written.
#[derive(Debug, Clone, Default)]
pub(super) struct Html {
    pub(super) out: String,
}

impl Sink for Html {
    fn tag(&mut self, tag: &str) {
        escape::before_tag(&mut self.out);
        self.out.push_str(tag);
    }

    fn empty(&self) -> Self {
        Self::default()
    }

    fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.literal(&other.out);
    }

    /// What a tag may end with (`}`, `*`) is looked at again, so that the tag does not grow.
    fn literal(&mut self, words: &str) {
        let grows = words.chars().next().filter(|c| matches!(c, '}' | '|'));
        let rest = match grows {
            Some(first) => {
                escape::push(&mut self.out, first.encode_utf8(&mut [0; 4]));
                words.get(first.len_utf8()..).unwrap_or_default()
            }
            None => words,
        };
        self.out.push_str(rest);
    }
}

impl Html {
    /// Writes HTML of our own.
    pub(super) fn raw(&mut self, html: &str) {
        self.out.push_str(html);
    }

    /// Writes an author's words; long lines are broken where there is a blank.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find([' ', '\n']).map_or(rest.len(), |blank| blank + 1);
            let (word, next) = rest.split_at(end);
            self.word(word);
            rest = next;
        }
    }

    /// The same where no tag may stand: an attribute or a title.
    fn bare(&mut self, text: &str) {
        for word in text.split_inclusive([' ', '\n']) {
            escape::push(&mut self.out, word);
            self.may_break(word);
        }
    }

    /// Makes the blank that ends a word a newline when the line is long.
    fn may_break(&mut self, word: &str) {
        let line = self.out.rfind('\n').map_or(0, |newline| newline + 1);
        if word.ends_with([' ', '\n']) && self.out.len() - line > LINE_BYTES {
            self.out.pop();
            self.out.push('\n');
        }
    }

    fn word(&mut self, word: &str) {
        let mut written = self.out.len();
        for (at, c) in word.char_indices() {
            let end = at + c.len_utf8();
            escape::push(&mut self.out, word.get(at..end).unwrap_or_default());
            if self.out.len() - written >= WORD_BYTES && end < word.len() {
                self.out.push_str("<wbr\n>");
                written = self.out.len();
            }
        }
        self.may_break(word);
    }
}

/// How links in a text look.
#[derive(Debug, Clone)]
pub(super) struct LinkLook {
    pub(super) color: Color,
    pub(super) class: Option<String>,
    pub(super) underline: bool,
}

/// Writes a text.
pub(super) fn text<'a>(flow: &mut Flow<'a>, html: &mut Html, text: &'a Text, links: &LinkLook) {
    spans(flow, html, &text.0, links);
}

/// A text as a string.
pub(super) fn html<'a>(flow: &mut Flow<'a>, words: &'a Text, links: &LinkLook) -> String {
    let mut html = Html::default();
    text(flow, &mut html, words, links);
    html.out
}

fn spans<'a>(flow: &mut Flow<'a>, html: &mut Html, spans: &'a [Span], links: &LinkLook) {
    for span in spans {
        match span {
            Span::Text { text, marks, color } => {
                let closing = open_marks(html, *marks, *color);
                html.text(text);
                close_marks(html, &closing);
            }
            Span::Variable(used) => {
                let closing = open_marks(html, used.marks, None);
                flow.value(html, used, Context::Text);
                close_marks(html, &closing);
            }
            Span::Break => html.raw("<br />"),
            Span::Link { href, children } => link(flow, html, href, children, links),
            Span::If {
                condition,
                then,
                otherwise,
            } => {
                let write_then =
                    |flow: &mut Flow<'a>, html: &mut Html| self::spans(flow, html, then, links);
                let write_else = |flow: &mut Flow<'a>, html: &mut Html| {
                    self::spans(flow, html, otherwise, links)
                };
                flow.branch(html, condition, &write_then, Some(&write_else));
            }
        }
    }
}

fn link<'a>(
    flow: &mut Flow<'a>,
    html: &mut Html,
    href: &'a Template,
    children: &'a [Span],
    look: &LinkLook,
) {
    let target = url(flow, href);
    let class = look
        .class
        .as_ref()
        .map(|class| format!(" class=\"{class}\""));
    let line = if look.underline { "underline" } else { "none" };
    // The blank inside the tag is where a long line may break.
    html.raw(&format!(
        "<a href=\"{target}\" target=\"_blank\"{}\nstyle=\"color:{};text-decoration:{line};\">",
        class.unwrap_or_default(),
        look.color
    ));
    spans(flow, html, children, look);
    html.raw("</a>");
}

fn open_marks(html: &mut Html, marks: Marks, color: Option<Color>) -> Vec<&'static str> {
    let mut closing = Vec::new();
    if let Some(color) = color {
        html.raw(&format!("<span style=\"color:{color};\">"));
        closing.push("</span>");
    }
    for name in marks.names() {
        let (open, close) = match name {
            "bold" => ("<strong>", "</strong>"),
            "italic" => ("<em>", "</em>"),
            "underline" => ("<u>", "</u>"),
            "strike" => ("<s>", "</s>"),
            "code" => (
                "<code style=\"font-family:Consolas,Menlo,monospace;font-size:0.9em;\">",
                "</code>",
            ),
            "sup" => ("<sup>", "</sup>"),
            _ => ("<sub>", "</sub>"),
        };
        html.raw(open);
        closing.push(close);
    }
    closing
}

fn close_marks(html: &mut Html, closing: &[&'static str]) {
    for close in closing.iter().rev() {
        html.raw(close);
    }
}

/// An address for an attribute.
pub(super) fn url<'a>(flow: &mut Flow<'a>, template: &'a Template) -> String {
    let mut html = Html::default();
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => html.raw(&escape::url(text)),
            Piece::Variable(used) => {
                let context = if html.is_empty() {
                    Context::Url
                } else {
                    Context::UrlPart
                };
                flow.in_query = is_query(&html.out);
                flow.value(&mut html, used, context);
                flow.in_query = false;
            }
        }
    }
    if escape::is_safe_url(&html.out) || html.out.contains(['{', '<', '*']) {
        html.out
    } else {
        "#".to_owned()
    }
}

/// Whether the beginning of an address reaches into the query of a web address.
pub(super) fn is_query(begun: &str) -> bool {
    begun.starts_with("http") && begun.contains('?')
}

/// Words without variables for an attribute or a title.
pub(super) fn bare(words: &str) -> String {
    let mut html = Html::default();
    html.bare(words);
    html.out
}

/// Words for an attribute.
pub(super) fn attribute<'a>(flow: &mut Flow<'a>, template: &'a Template) -> String {
    let mut html = Html::default();
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => html.bare(text),
            Piece::Variable(used) => flow.value(&mut html, used, Context::Attribute),
        }
    }
    html.out
}

/// Words of a text for an attribute or a title: no marks, no links.
pub(super) fn words<'a>(flow: &mut Flow<'a>, text: &'a Text, context: Context) -> String {
    let mut html = Html::default();
    word_spans(flow, &mut html, &text.0, context);
    html.out
}

fn word_spans<'a>(flow: &mut Flow<'a>, html: &mut Html, spans: &'a [Span], context: Context) {
    let value =
        |flow: &mut Flow<'a>, html: &mut Html, used: &VariableUse| flow.value(html, used, context);
    for span in spans {
        match span {
            Span::Text { text, .. } if context == Context::Text => html.text(text),
            Span::Text { text, .. } => html.bare(text),
            Span::Variable(used) => value(flow, html, used),
            Span::Break => html.raw(" "),
            Span::Link { children, .. } => word_spans(flow, html, children, context),
            Span::If {
                condition,
                then,
                otherwise,
            } => {
                let write_then =
                    |flow: &mut Flow<'a>, html: &mut Html| word_spans(flow, html, then, context);
                let write_else = |flow: &mut Flow<'a>, html: &mut Html| {
                    word_spans(flow, html, otherwise, context)
                };
                flow.branch(html, condition, &write_then, Some(&write_else));
            }
        }
    }
}
