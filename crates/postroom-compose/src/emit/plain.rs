//! The target `text`: the document as plain text, made from its blocks and not from HTML.

use std::borrow::Cow;

use crate::{
    dialect::{Context, Dialect},
    model::{Block, BlockKind, ImageAlt, ListStyle, Piece, Span, Template, Text},
};

use super::{
    aligned, escape,
    flow::{Flow, Sink},
    links::network_name,
    lists::{WriteItem, numbers, parts, position},
};

/// Characters of a line after which a blank becomes a newline.
pub(super) const COLUMNS: usize = 78;

/// Lines being written. Tags stand right before and after what they are about, so that a document
/// has no blank lines left over where they were.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    pub(super) out: String,
    column: usize,
}

impl Sink for Plain {
    fn tag(&mut self, tag: &str) {
        self.out.push_str(tag);
        self.column += tag.chars().count();
    }

    fn empty(&self) -> Self {
        Self {
            out: String::new(),
            column: self.column,
        }
    }

    fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.out.push_str(&other.out);
        self.column = other.column;
    }
}

impl Plain {
    /// Writes an author's words, whose blanks may become newlines, so that none is a template tag.
    pub(super) fn words(&mut self, flow: &Flow<'_>, text: &str, tag_follows: bool) {
        // A brace right after a tag would belong to it.
        if text.starts_with('}') && self.out.ends_with("}}") && flow.dialect != Dialect::None {
            self.tag("\u{2060}");
        }
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(' ').unwrap_or(rest.len());
            let (word, next) = rest.split_at(end);
            let word = flow.literal(word, tag_follows && next.is_empty());
            if self.column + word.chars().count() > COLUMNS && self.out.ends_with(' ') {
                self.out.pop();
                self.newline();
            }
            self.tag(&word);
            rest = next;
            if let Some(after) = next.strip_prefix(' ') {
                self.tag(" ");
                rest = after;
            }
        }
    }

    /// Writes words of our own, whose blanks may become newlines.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(' ').map_or(rest.len(), |blank| blank + 1);
            let (word, next) = rest.split_at(end);
            let len = word.trim_end().chars().count();
            if self.column + len > COLUMNS && self.out.ends_with(' ') {
                self.out.pop();
                self.newline();
            }
            self.out.push_str(word);
            self.column += word.chars().count();
            rest = next;
        }
    }

    pub(super) fn newline(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Ends a paragraph.
    fn paragraph(&mut self) {
        self.out.push_str("\n\n");
        self.column = 0;
    }
}

/// The whole document.
pub(super) fn document<'a>(flow: &mut Flow<'a>) -> String {
    flow.renew();
    let mut out = Plain::default();
    let document = flow.document;
    blocks(flow, &mut out, &document.body);
    tidy(&out.out)
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
            out.out.push_str(&line.repeat(width));
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
            out.out.push_str(&"-".repeat(40));
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
                        (ListStyle::Disc | ListStyle::Check, _) => out.text("- "),
                        (ListStyle::Decimal, Some(name)) => {
                            flow.value(out, &position(name), Context::Plain);
                            out.text(". ");
                        }
                        (ListStyle::Decimal, None) => {
                            out.text(&format!("{}. ", numbers.get(id).copied().unwrap_or(1)));
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
                None => out.text(&network_name(&item.network)),
            }
            out.text(": ");
            url(flow, out, &item.href);
            out.newline();
        }
        BlockKind::Code(code) => {
            template(flow, out, &code.text, true);
            out.paragraph();
        }
        BlockKind::Quote(quote) => {
            out.text("> ");
            text(flow, out, &quote.text);
            if let Some(cite) = &quote.cite {
                out.newline();
                out.text("> -- ");
                text(flow, out, cite);
            }
            out.paragraph();
        }
        BlockKind::Unsubscribe(node) => {
            text(flow, out, &node.text);
            out.text(": ");
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
        out.text(": ");
        url(flow, out, href);
    } else {
        out.text("[");
        template(flow, out, alt, false);
        out.text("]");
    }
    out.paragraph();
}

fn link_line<'a>(flow: &mut Flow<'a>, out: &mut Plain, label: &'a Text, href: &'a Template) {
    label_and_url(flow, out, label, href);
    out.paragraph();
}

fn label_and_url<'a>(flow: &mut Flow<'a>, out: &mut Plain, label: &'a Text, href: &'a Template) {
    text(flow, out, label);
    out.text(": ");
    url(flow, out, href);
}

/// Writes a text.
pub(super) fn text<'a>(flow: &mut Flow<'a>, out: &mut Plain, text: &'a Text) {
    spans(flow, out, &text.0);
}

fn spans<'a>(flow: &mut Flow<'a>, out: &mut Plain, spans: &'a [Span]) {
    for (index, span) in spans.iter().enumerate() {
        let tag_follows = matches!(
            spans.get(index + 1),
            Some(Span::Variable(_) | Span::If { .. })
        );
        match span {
            Span::Text { text, .. } => {
                out.words(flow, &one_line(text), tag_follows);
            }
            Span::Variable(used) => flow.value(out, used, Context::Plain),
            Span::Break => out.newline(),
            Span::Link { href, children } => {
                self::spans(flow, out, children);
                let shown = Text(children.clone()).plain();
                let target = href.plain();
                if shown.trim() != target.trim() && format!("mailto:{}", shown.trim()) != target {
                    out.text(": ");
                    url(flow, out, href);
                }
            }
            Span::If {
                condition,
                then,
                otherwise,
            } => {
                let write_then =
                    |flow: &mut Flow<'a>, out: &mut Plain| self::spans(flow, out, then);
                let write_else =
                    |flow: &mut Flow<'a>, out: &mut Plain| self::spans(flow, out, otherwise);
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
    for (index, piece) in template.0.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                let follows = matches!(template.0.get(index + 1), Some(Piece::Variable(_)));
                for (number, line) in text.split('\n').enumerate() {
                    if number > 0 {
                        if keep_lines {
                            out.newline();
                        } else {
                            out.text(" ");
                        }
                    }
                    let line = one_line(line.trim_end_matches('\r'));
                    if keep_lines {
                        out.tag(&flow.literal(&line, follows));
                    } else {
                        out.words(flow, &line, follows);
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
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => address.tag(&escape::plain_url(text)),
            Piece::Variable(used) => {
                let context = if address.is_empty() {
                    Context::PlainUrl
                } else {
                    Context::PlainUrlPart
                };
                flow.value(&mut address, used, context);
            }
        }
    }
    if out.column + address.column > COLUMNS && out.out.ends_with(' ') {
        out.out.pop();
        out.newline();
    }
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
    spans(flow, &mut out, &text.0);
    out.out.split('\n').collect::<Vec<_>>().join(" ")
}
