//! HTML written tag by tag.

use crate::emit::{Output, component::Page, source::Spans};

/// Bytes of a line after which a long attribute begins a new one. Mail may not have lines over 998
/// bytes (RFC 5322, section 2.1.1).
const LINE_BYTES: usize = 600;

const MSO_START: &str = "<!--[if mso | IE]>";
const MSO_END: &str = "<![endif]-->";

/// Writes HTML.
pub(super) struct Writer {
    out: String,
    line_start: usize,
    /// Length of the text just after an Outlook comment ended.
    comment_end: Option<usize>,
    mso: bool,
    vml_pictures: bool,
    spans: Spans,
}

impl Writer {
    pub(super) fn new(page: &Page) -> Self {
        Self {
            out: String::with_capacity(32 * 1024),
            line_start: 0,
            comment_end: None,
            mso: page.mso,
            vml_pictures: page.vml_pictures,
            spans: Spans::default(),
        }
    }

    /// Writes text as it is.
    pub(super) fn raw(&mut self, text: &str) {
        self.out.push_str(text);
        if let Some(newline) = text.rfind('\n') {
            self.line_start = self.out.len() - text.len() + newline + 1;
        }
    }

    /// Writes inline HTML on lines of its own, whatever its length: blanks must not hang on the
    /// length of a template tag.
    pub(super) fn inline(&mut self, html: &str) {
        self.newline();
        self.raw(html);
    }

    /// Writes text and ends the line.
    pub(super) fn line(&mut self, text: &str) {
        self.raw(text);
        self.newline();
    }

    /// Ends the line unless it is empty.
    pub(super) fn newline(&mut self) {
        if self.column() > 0 {
            self.out.push('\n');
            self.line_start = self.out.len();
        }
    }

    /// Keeps an Outlook comment before this place from becoming one with a comment after it.
    pub(super) fn seam(&mut self) {
        self.comment_end = None;
    }

    fn column(&self) -> usize {
        self.out.len() - self.line_start
    }

    /// Begins a tag; [`Tag::open`] or [`Tag::void`] ends it.
    pub(super) fn tag(&mut self, name: &str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { writer: self }
    }

    /// Whether Outlook on Windows draws pictures behind words.
    pub(super) fn draws_pictures(&self) -> bool {
        self.vml_pictures
    }

    /// Writes what only Outlook on Windows reads; comments that touch become one.
    pub(super) fn outlook(&mut self, write: impl FnOnce(&mut Self)) {
        if !self.mso {
            return;
        }
        if self.comment_end == Some(self.out.len()) {
            let len = self.out.len() - MSO_END.len() - 1;
            self.out.truncate(len);
            self.spans.cut(len);
            self.line_start = self.out.rfind('\n').map_or(0, |newline| newline + 1);
            self.newline();
        } else {
            self.newline();
            self.raw(MSO_START);
        }
        write(self);
        self.raw(MSO_END);
        self.newline();
        self.comment_end = Some(self.out.len());
    }

    pub(super) fn begin(&mut self, block: usize) {
        self.spans.begin(block, self.out.len());
    }

    pub(super) fn end(&mut self, block: usize) {
        self.spans.end(block, self.out.len());
    }

    /// The text with `head` put before it.
    pub(super) fn finish(self, head: &str, tail: &str, blocks: &[String]) -> Output {
        let mut spans = self.spans.finish(blocks);
        for span in &mut spans {
            span.start += head.len();
            span.end += head.len();
        }
        let mut text = String::with_capacity(head.len() + self.out.len() + tail.len());
        text.push_str(head);
        text.push_str(&self.out);
        text.push_str(tail);
        Output { text, spans }
    }
}

/// A tag being written.
pub(super) struct Tag<'a> {
    writer: &'a mut Writer,
}

impl Tag<'_> {
    /// With an attribute; the value is escaped already.
    pub(super) fn attr(self, name: &str, value: &str) -> Self {
        let blank = if self.writer.column() + name.len() + value.len() > LINE_BYTES {
            "\n"
        } else {
            " "
        };
        self.writer.raw(blank);
        self.writer.raw(name);
        self.writer.raw("=\"");
        self.writer.raw(value);
        self.writer.raw("\"");
        self
    }

    /// With an attribute if there is a value.
    pub(super) fn some(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// With the attributes of a table that only lays out.
    pub(super) fn table(self) -> Self {
        self.attr("border", "0")
            .attr("cellpadding", "0")
            .attr("cellspacing", "0")
            .attr("role", "presentation")
    }

    /// With a style, unless it is empty.
    pub(super) fn style(self, style: &Style) -> Self {
        if style.0.is_empty() {
            self
        } else {
            self.attr("style", &style.0)
        }
    }

    /// Ends the tag.
    pub(super) fn open(self) {
        self.writer.raw(">");
    }

    /// Ends the tag of an element without content.
    pub(super) fn void(self) {
        self.writer.raw(" />");
    }
}

/// Declarations of a style attribute.
#[derive(Debug, Clone, Default)]
pub(super) struct Style(String);

impl Style {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// With a declaration.
    pub(super) fn set(mut self, property: &str, value: &str) -> Self {
        self.0.push_str(property);
        self.0.push(':');
        self.0.push_str(value);
        self.0.push(';');
        self
    }

    /// With a declaration if there is a value.
    pub(super) fn some(self, property: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.set(property, value),
            None => self,
        }
    }

    /// With the declarations of another.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.push_str(&other.0);
        self
    }
}
