//! The visible words of an HTML body laid out as plain text.

use html5ever::Attribute;

use super::pass::{self, Visitor};
use crate::invisible;

/// Nesting of lists and quotes that is shown; deeper ones look like this one.
const DEPTH_SHOWN: usize = 32;
/// A link's target is cut here, in bytes.
const LINK_BYTES: usize = 2_048;

/// Plain text made of HTML.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VisibleText {
    /// The words a reader sees.
    pub text: String,
    /// Whether words were left out because a reader would not see them.
    pub hidden: bool,
    /// Where the first container of quoted history begins in `text`, in bytes.
    pub quote_at: Option<usize>,
}

/// Lays out what a reader of `html` would see: paragraphs, lists, tables, quotes and links.
///
/// ```
/// let seen = postroom_mail::html_to_text("<p>Hi</p><p style='display:none'>ignore</p>");
/// assert_eq!(seen.text, "Hi");
/// assert!(seen.hidden);
/// ```
pub fn html_to_text(html: &str) -> VisibleText {
    let html = if html.contains('\0') {
        std::borrow::Cow::Owned(html.replace('\0', ""))
    } else {
        html.into()
    };
    let (layout, hidden) = pass::run(&html, Layout::default());
    let mut text = layout.out;
    text.truncate(text.trim_end().len());
    if text.is_empty() && !hidden {
        text = strip_tags(&html);
    }
    let quote_at = layout.quote_at.filter(|at| *at <= text.len());
    match invisible::strip(&text) {
        // Offsets hold only while nothing is taken out; then the part before is measured again.
        stripped if stripped.text.len() == text.len() => VisibleText {
            hidden: hidden || stripped.suspicious,
            quote_at,
            text,
        },
        stripped => VisibleText {
            hidden: hidden || stripped.suspicious,
            quote_at: quote_at
                .and_then(|at| text.get(..at))
                .map(|before| invisible::strip(before).text.len())
                .filter(|at| stripped.text.is_char_boundary(*at)),
            text: stripped.text.into_owned(),
        },
    }
}

/// When an unclosed `<title>` or `<style>` swallowed everything: the characters outside tags.
fn strip_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, tail)) = rest.split_once('<') {
        out.push_str(before);
        rest = tail.split_once('>').map_or("", |(_, after)| after);
        out.push(' ');
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Layout {
    out: String,
    /// Line ends owed before the next word.
    breaks: usize,
    /// A blank owed before the next word.
    space: bool,
    /// A cell mark owed before the next word of this row.
    cell: bool,
    quotes: usize,
    lists: Vec<Option<usize>>,
    /// A list mark to write at the next word.
    mark: Option<String>,
    pre: usize,
    links: Vec<Link>,
    quote_at: Option<usize>,
    /// A container of history begins at the next word.
    quote_next: bool,
}

struct Link {
    target: String,
    from: usize,
}

impl Layout {
    fn break_lines(&mut self, count: usize) {
        if !self.out.is_empty() {
            self.breaks = self.breaks.max(count);
        }
        self.space = false;
    }

    /// Writes what is owed before a word.
    fn settle(&mut self) {
        if self.quote_next {
            self.quote_next = false;
            self.quote_at = self.quote_at.or(Some(self.out.len()));
        }
        let at_start = self.out.is_empty();
        if self.breaks > 0 || at_start {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            for _ in 0..self.breaks.min(3) {
                self.out.push('\n');
                // A quote's empty lines carry the mark of the lines around them.
            }
            self.cell = false;
            for _ in 0..self.quotes.min(DEPTH_SHOWN) {
                self.out.push_str("> ");
            }
            if let Some(mark) = self.mark.take() {
                let depth = self.lists.len().saturating_sub(1).min(DEPTH_SHOWN);
                self.out.extend(std::iter::repeat_n("  ", depth));
                self.out.push_str(&mark);
            }
        } else if self.cell {
            self.out.push_str(" | ");
            self.cell = false;
        } else if self.space && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        (self.breaks, self.space) = (0, false);
    }

    fn words(&mut self, text: &str) {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0c' | '\u{a0}');
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start_matches(is_blank);
            if trimmed.len() < rest.len() {
                self.space = true;
            }
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.find(is_blank).unwrap_or(trimmed.len());
            let (word, tail) = trimmed.split_at(end);
            self.settle();
            self.out.push_str(word);
            rest = tail;
        }
    }

    fn preformatted(&mut self, text: &str) {
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let line = line.trim_end_matches('\r');
            if !line.is_empty() {
                self.settle();
                self.out.push_str(line);
            }
            if lines.peek().is_some() {
                self.breaks += usize::from(!self.out.is_empty());
            }
        }
    }

    fn open_link(&mut self, attrs: &[Attribute]) {
        let target = attribute(attrs, "href").unwrap_or_default().trim();
        self.links.push(Link {
            target: target.to_owned(),
            from: self.out.len(),
        });
    }

    fn close_link(&mut self) {
        let Some(link) = self.links.pop() else {
            return;
        };
        let shown = self.out.get(link.from..).unwrap_or_default().trim();
        if shown.is_empty() || !is_followed(&link.target) || is_same_target(shown, &link.target) {
            return;
        }
        let target = crate::cut::bytes(&link.target, LINK_BYTES);
        self.out.push_str(" (");
        self.out.extend(
            target
                .chars()
                .filter(|c| !c.is_whitespace() && !c.is_control()),
        );
        self.out.push(')');
    }

    fn open_item(&mut self) {
        self.break_lines(1);
        self.mark = Some(match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        });
    }
}

impl Visitor for Layout {
    const ATTRIBUTES: &'static [&'static str] = &["href", "alt", "type", "start"];

    fn open(&mut self, tag: &str, attrs: &[Attribute], _is_void: bool) {
        if self.quote_at.is_none() && is_history(tag, attrs) {
            self.quote_next = true;
        }
        match tag {
            "br" => {
                self.breaks = (self.breaks + usize::from(!self.out.is_empty())).min(3);
                self.space = false;
            }
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr" => self.break_lines(2),
            "blockquote" => {
                self.break_lines(1);
                self.quotes += 1;
            }
            "ul" | "ol" | "menu" | "dir" => {
                self.break_lines(1);
                let start = attribute(attrs, "start").and_then(|start| start.trim().parse().ok());
                let before: usize = start.unwrap_or(1usize).saturating_sub(1);
                self.lists.push((tag == "ol").then_some(before));
            }
            "li" => self.open_item(),
            "td" | "th" => {
                // Only a cell beside words on this line is joined to them.
                self.cell = self.breaks == 0 && !self.out.is_empty() && !self.out.ends_with('\n');
                self.space = false;
            }
            "pre" | "xmp" | "listing" | "plaintext" => {
                self.break_lines(1);
                self.pre += 1;
            }
            "a" => self.open_link(attrs),
            "img" => {
                let alt = attribute(attrs, "alt").unwrap_or_default();
                let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
                if !alt.is_empty() {
                    self.words(&format!("[image: {alt}]"));
                }
            }
            _ if is_block(tag) => self.break_lines(1),
            _ => {}
        }
    }

    fn close(&mut self, tag: &str) {
        match tag {
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.break_lines(2),
            "blockquote" => {
                self.break_lines(1);
                self.quotes = self.quotes.saturating_sub(1);
            }
            "ul" | "ol" | "menu" | "dir" => {
                self.break_lines(1);
                self.lists.pop();
                self.mark = None;
            }
            "li" => {
                self.break_lines(1);
                self.mark = None;
            }
            "pre" | "xmp" | "listing" | "plaintext" => {
                self.pre = self.pre.saturating_sub(1);
                self.break_lines(1);
            }
            "a" => self.close_link(),
            _ if is_block(tag) => self.break_lines(1),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.pre > 0 {
            self.preformatted(text);
        } else {
            self.words(text);
        }
    }
}

pub(super) fn attribute<'a>(attrs: &'a [Attribute], name: &str) -> Option<&'a str> {
    attrs
        .iter()
        .find(|attr| &*attr.name.local == name)
        .map(|attr| &*attr.value)
}

fn is_block(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "aside"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "header"
            | "html"
            | "legend"
            | "main"
            | "nav"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "tfoot"
            | "thead"
            | "tr"
            | "caption"
            | "optgroup"
            | "option"
            | "textarea"
    )
}

fn is_followed(target: &str) -> bool {
    let scheme = target.split(':').next().unwrap_or_default();
    target.contains(':')
        && ["http", "https", "mailto", "tel", "ftp"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether the words are the target, give or take scheme and final slash.
fn is_same_target(shown: &str, target: &str) -> bool {
    fn bare(text: &str) -> &str {
        let text = ["https://", "http://", "mailto:", "tel:", "ftp://"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme))
            .unwrap_or(text);
        text.trim_end_matches('/')
    }
    bare(shown).eq_ignore_ascii_case(bare(target))
}

/// Containers in which mail programs put the mail that is answered.
fn is_history(tag: &str, attrs: &[Attribute]) -> bool {
    if !matches!(
        tag,
        "div" | "blockquote" | "hr" | "span" | "table" | "section"
    ) {
        return false;
    }
    let class = attribute(attrs, "class").unwrap_or_default();
    let has_class = |known: &[&str]| {
        class
            .split_ascii_whitespace()
            .any(|class| known.iter().any(|known| class.eq_ignore_ascii_case(known)))
    };
    let id = attribute(attrs, "id").unwrap_or_default();
    match tag {
        "hr" => matches!(id, "stopSpelling" | "zwchr"),
        "blockquote" => {
            has_class(&["gmail_quote", "protonmail_quote", "tutanota_quote"])
                || attribute(attrs, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("cite"))
        }
        _ => {
            let id = id
                .trim_start_matches("x_")
                .trim_start_matches("mail-editor-");
            matches!(
                id,
                "divRplyFwdMsg"
                    | "appendonsend"
                    | "OLK_SRC_BODY_SECTION"
                    | "ms-outlook-mobile-reference-message"
                    | "reference-message-container"
                    | "mailQuote"
            ) || has_class(&[
                "gmail_quote",
                "gmail_quote_container",
                "yahoo_quoted",
                "protonmail_quote",
                "moz-cite-prefix",
                "ms-outlook-mobile-reference-message",
                "zmail_extra",
                "tutanota_quote",
            ]) || id.starts_with("yahoo_quoted")
                || is_outlook_rule(attribute(attrs, "style").unwrap_or_default())
        }
    }
}

/// The line that desktop Outlook draws above the header block of the mail that is answered.
fn is_outlook_rule(style: &str) -> bool {
    let style: String = style
        .chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect();
    style.contains("border-top:solid#e1e1e11.0pt")
        || style.contains("border-top:solid#b5c4df1.0pt")
        || style.contains("border-width:1ptnonenone;border-style:solidnonenone")
}
