//! The target `text`: the document as plain text, made from its blocks and not from HTML.

use std::borrow::Cow;

use crate::{
    dialect::Context,
    model::{Block, BlockKind, ImageAlt, ListStyle, Piece, Span, Template, Text},
};

use super::{
    aligned, escape,
    flow::{Flow, Sink},
    inline::is_query,
    links::network_name,
    lists::{WriteItem, numbers, parts, position},
    runs::Runs,
};

/// Characters of a line after which a blank becomes a newline.
pub(super) const COLUMNS: usize = 78;

/// Lines being written. Tags stand right before and after what they are about, so that a document
/// has no blank lines left over where they were.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    pub(super) out: Runs,
    column: usize,
    /// A tag stands here in some language.
    seams: bool,
}

impl Sink for Plain {
    fn tag(&mut self, tag: &str) {
        self.seams = true;
        self.out.tag(tag);
        self.column += tag.chars().count();
    }

    fn literal(&mut self, words: &str) {
        self.unbroken(words);
    }

    fn seam(&mut self) {
        self.seams = true;
    }

    fn empty(&self) -> Self {
        Self {
            out: Runs::default(),
            column: self.column,
            seams: false,
        }
    }

    fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.out.append(other.out);
        self.column = other.column;
        self.seams |= other.seams;
    }
}

impl Plain {
    /// Whether a value or a branch is in it.
    pub(super) fn has_tags(&self) -> bool {
        self.seams || self.out.has_tags()
    }

    /// Writes words whose blanks may become newlines.
    pub(super) fn words(&mut self, text: &str) {
        for word in text.split_inclusive(' ') {
            let len = word.trim_end_matches(' ').chars().count();
            if len > 0 {
                self.make_room(len);
            }
            self.unbroken(word);
        }
    }

    /// Writes words as they are.
    fn unbroken(&mut self, words: &str) {
        self.out.words(words);
        self.column += words.chars().count();
    }

    /// Makes the blank before a word of that many characters a newline when the line is full.
    fn make_room(&mut self, len: usize) {
        if self.column + len > COLUMNS && self.out.ends_with_blank() {
            self.out.trim_end();
            self.newline();
        }
    }

    pub(super) fn newline(&mut self) {
        self.out.words("\n");
        self.column = 0;
    }

    /// Ends a paragraph.
    fn paragraph(&mut self) {
        self.out.words("\n\n");
        self.column = 0;
    }
}

/// The whole document.
pub(super) fn document<'a>(flow: &mut Flow<'a>) -> String {
    flow.renew();
    let mut out = Plain::default();
    let document = flow.document;
    blocks(flow, &mut out, &document.body);
    tidy(&flow.written(out.out))
}

/// Without blanks at line ends and with at most one blank line.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.lines() {
        let line = line.trim_end();
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 && !(out.is_empty() && line.is_empty()) {
            out.push_str(line);
            out.push('\n');
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn blocks<'a>(flow: &mut Flow<'a>, out: &mut Plain, children: &'a [Block]) {
    parts(flow, out, children, &|flow, block, out| {
        self::block(flow, block, out)
    });
}

fn block<'a>(flow: &mut Flow<'a>, block: &'a Block, out: &mut Plain) {
    match &block.kind {
        BlockKind::Heading(heading) => {
            text(flow, out, &heading.text);
            let width = heading.text.plain().chars().count().clamp(3, COLUMNS);
            out.newline();
            let line = if heading.level == 1 { "=" } else { "-" };
            out.unbroken(&line.repeat(width));
            out.paragraph();
        }
        BlockKind::Text(node) => {
            text(flow, out, &node.text);
            out.paragraph();
        }
        BlockKind::Button(button) => link_line(flow, out, &button.label, &button.href),
        BlockKind::Image(image) => {
            let ImageAlt::Text(alt) = &image.alt else {
                return;
            };
            picture(flow, out, alt, image.href.as_ref());
        }
        BlockKind::Video(video) => picture(flow, out, &video.alt, Some(&video.href)),
        BlockKind::Divider(_) => {
            out.unbroken(&"-".repeat(40));
            out.paragraph();
        }
        BlockKind::List(list) => {
            let numbers = numbers(&list.children);
            items(
                flow,
                out,
                &list.children,
                None,
                &|flow, out, id, item, loop_name| {
                    match (list.style, loop_name) {
                        (ListStyle::None, _) => {}
                        (ListStyle::Disc | ListStyle::Check, _) => out.words("- "),
                        (ListStyle::Decimal, Some(name)) => {
                            flow.value(out, &position(name), Context::Plain);
                            out.words(". ");
                        }
                        (ListStyle::Decimal, None) => {
                            out.words(&format!("{}. ", numbers.get(id).copied().unwrap_or(1)));
                        }
                    }
                    text(flow, out, item);
                    out.newline();
                },
            );
            out.paragraph();
        }
        BlockKind::Table(table) => {
            aligned::table(flow, out, table);
            out.paragraph();
        }
        BlockKind::Menu(menu) => {
            blocks(flow, out, &menu.children);
            out.paragraph();
        }
        BlockKind::MenuItem(item) => {
            label_and_url(flow, out, &item.label, &item.href);
            out.newline();
        }
        BlockKind::Social(social) => {
            blocks(flow, out, &social.children);
            out.paragraph();
        }
        BlockKind::SocialItem(item) => {
            match &item.label {
                Some(label) => text(flow, out, label),
                None => out.words(&network_name(&item.network)),
            }
            out.words(": ");
            url(flow, out, &item.href);
            out.newline();
        }
        BlockKind::Code(code) => {
            template(flow, out, &code.text, true);
            out.paragraph();
        }
        BlockKind::Quote(quote) => {
            out.words("> ");
            text(flow, out, &quote.text);
            if let Some(cite) = &quote.cite {
                out.newline();
                out.words("> -- ");
                text(flow, out, cite);
            }
            out.paragraph();
        }
        BlockKind::Unsubscribe(node) => {
            text(flow, out, &node.text);
            out.words(": ");
            match (&node.href, flow.dialect.unsubscribe_token()) {
                (Some(href), _) => url(flow, out, href),
                (None, Some(token)) => out.tag(token),
                (None, None) => {
                    let stand_in = super::unsubscribe_stand_in(flow, Context::PlainUrl);
                    out.tag(&stand_in);
                }
            }
            out.paragraph();
        }
        BlockKind::Footer(footer) => lines(flow, out, &footer.lines),
        BlockKind::Address(address) => lines(flow, out, &address.lines),
        BlockKind::Raw(raw) => {
            text(flow, out, &raw.text);
            out.paragraph();
        }
        kind => blocks(flow, out, kind.content()),
    }
}

fn lines<'a>(flow: &mut Flow<'a>, out: &mut Plain, lines: &'a [Text]) {
    for line in lines {
        text(flow, out, line);
        out.newline();
    }
    out.paragraph();
}

fn picture<'a>(
    flow: &mut Flow<'a>,
    out: &mut Plain,
    alt: &'a Template,
    href: Option<&'a Template>,
) {
    if let Some(href) = href {
        template(flow, out, alt, false);
        out.words(": ");
        url(flow, out, href);
    } else {
        out.words("[");
        template(flow, out, alt, false);
        out.words("]");
    }
    out.paragraph();
}

fn link_line<'a>(flow: &mut Flow<'a>, out: &mut Plain, label: &'a Text, href: &'a Template) {
    label_and_url(flow, out, label, href);
    out.paragraph();
}

fn label_and_url<'a>(flow: &mut Flow<'a>, out: &mut Plain, label: &'a Text, href: &'a Template) {
    text(flow, out, label);
    out.words(": ");
    url(flow, out, href);
}

/// Writes a text.
pub(super) fn text<'a>(flow: &mut Flow<'a>, out: &mut Plain, text: &'a Text) {
    spans(flow, out, &text.0, Context::Plain);
}

fn spans<'a>(flow: &mut Flow<'a>, out: &mut Plain, spans: &'a [Span], context: Context) {
    for span in spans {
        match span {
            Span::Text { text, .. } => out.words(&one_line(text)),
            Span::Variable(used) => flow.value(out, used, context),
            Span::Break => out.newline(),
            Span::Link { href, children } => {
                self::spans(flow, out, children, context);
                let shown = Text(children.clone()).plain();
                let target = href.plain();
                if shown.trim() != target.trim() && format!("mailto:{}", shown.trim()) != target {
                    out.words(": ");
                    url(flow, out, href);
                }
            }
            Span::If {
                condition,
                then,
                otherwise,
            } => {
                let write_then =
                    |flow: &mut Flow<'a>, out: &mut Plain| self::spans(flow, out, then, context);
                let write_else = |flow: &mut Flow<'a>, out: &mut Plain| {
                    self::spans(flow, out, otherwise, context)
                };
                flow.branch(out, condition, &write_then, Some(&write_else));
            }
        }
    }
}

/// Text without control characters, on one line.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let blank = |c: char| {
        if matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') {
            ' '
        } else {
            c
        }
    };
    text.chars()
        .map(blank)
        .filter(|c| !c.is_control())
        .collect()
}

fn template<'a>(flow: &mut Flow<'a>, out: &mut Plain, template: &'a Template, keep_lines: bool) {
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => {
                for (number, line) in text.split('\n').enumerate() {
                    if number > 0 {
                        if keep_lines {
                            out.newline();
                        } else {
                            out.words(" ");
                        }
                    }
                    let line = one_line(line.trim_end_matches('\r'));
                    if keep_lines {
                        out.unbroken(&line);
                    } else {
                        out.words(&line);
                    }
                }
            }
            Piece::Variable(used) => flow.value(out, used, Context::Plain),
        }
    }
}

/// Writes an address, which is never broken.
fn url<'a>(flow: &mut Flow<'a>, out: &mut Plain, template: &'a Template) {
    let mut address = Plain::default();
    let mut begun = String::new();
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => {
                let text = escape::plain_url(text);
                address.unbroken(&text);
                begun.push_str(&text);
            }
            Piece::Variable(used) => {
                let context = if address.is_empty() {
                    Context::PlainUrl
                } else {
                    Context::PlainUrlPart
                };
                flow.in_query = is_query(&begun);
                flow.value(&mut address, used, context);
                flow.in_query = false;
            }
        }
    }
    out.make_room(address.column);
    out.append(Plain {
        column: out.column + address.column,
        ..address
    });
}

/// Writes items of a list, each with the name of the loop that it is in.
fn items<'a>(
    flow: &mut Flow<'a>,
    out: &mut Plain,
    children: &'a [Block],
    loop_name: Option<&'a str>,
    write: WriteItem<'_, 'a, Plain>,
) {
    for block in children {
        let one = |flow: &mut Flow<'a>, out: &mut Plain| match &block.kind {
            BlockKind::If(node) => {
                let then = |flow: &mut Flow<'a>, out: &mut Plain| {
                    items(flow, out, &node.then, loop_name, write)
                };
                let otherwise = |flow: &mut Flow<'a>, out: &mut Plain| {
                    items(flow, out, &node.otherwise, loop_name, write)
                };
                flow.branch(out, &node.condition, &then, Some(&otherwise));
            }
            BlockKind::Each(node) => {
                let name = Some(node.name.as_str());
                let body = |flow: &mut Flow<'a>, out: &mut Plain| {
                    items(flow, out, &node.children, name, write)
                };
                let empty = |flow: &mut Flow<'a>, out: &mut Plain| {
                    items(flow, out, &node.empty, loop_name, write)
                };
                flow.each(out, node, &body, Some(&empty));
            }
            BlockKind::Item(item) => write(flow, out, &block.id, &item.text, loop_name),
            _ => {}
        };
        match &block.visible_if {
            Some(condition) => flow.branch(out, condition, &one, None),
            None => one(flow, out),
        }
    }
}

/// A subject or a preview line: one line, nothing escaped.
pub(super) fn line<'a>(flow: &mut Flow<'a>, text: &'a Text) -> String {
    let mut out = Plain::default();
    spans(flow, &mut out, &text.0, Context::Line);
    flow.written(out.out.on_one_line())
}
