//! HTML as a flat list of elements with their places. Built for mail: nothing runs, nothing nests
//! by the rules of browsers, and every byte is looked at once.

/// Open elements; what is deeper counts as text of the last.
const DEPTH_MAX: usize = 1_024;
/// How far down the stack an end tag looks for its start.
const REACH: usize = 256;

/// An element.
#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) parent: Option<usize>,
    /// Where its tag begins.
    pub(super) offset: usize,
    /// Text right inside it and inside its children, blanks folded; for links, headings and titles.
    pub(super) text: String,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A stretch of text.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) parent: Option<usize>,
    pub(super) offset: usize,
    pub(super) text: String,
}

/// A document.
#[derive(Debug, Clone, Default)]
pub(super) struct Markup {
    pub(super) elements: Vec<Element>,
    pub(super) runs: Vec<Run>,
    /// Contents of style elements with their places.
    pub(super) styles: Vec<(usize, String)>,
    pub(super) doctype: Option<usize>,
    /// Comments that only classic Outlook reads.
    pub(super) has_mso: bool,
}

/// Attributes of one tag; more are left out.
const ATTRIBUTES_MAX: usize = 100;
/// Elements around a text that keep it; those further out keep theirs.
const KEEPERS: usize = 8;
/// Text kept of one element, about.
const TEXT_BYTES: usize = 1_000;

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];
/// Elements that a second one of them ends.
const SELF_ENDING: &[&str] = &["p", "li", "td", "th", "tr", "option", "dt", "dd"];
/// Elements whose text is kept.
const KEPT: &[&str] = &[
    "a", "button", "h1", "h2", "h3", "h4", "h5", "h6", "title", "label", "th",
];

/// Reads HTML.
pub(super) fn parse(html: &str) -> Markup {
    let mut reader = Reader {
        html,
        at: 0,
        markup: Markup::default(),
        stack: Vec::new(),
        keepers: Vec::new(),
    };
    reader.run();
    reader.markup
}

struct Reader<'a> {
    html: &'a str,
    at: usize,
    markup: Markup,
    stack: Vec<usize>,
    /// Those of the stack whose text is kept.
    keepers: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.html.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) {
        while self.at < self.html.len() {
            let start = self.at;
            let len = self.rest().find('<').unwrap_or(self.rest().len());
            self.text(start, start + len);
            self.at += len;
            if self.at < self.html.len() {
                self.markup_at();
            }
        }
    }

    fn text(&mut self, start: usize, end: usize) {
        let raw = self.html.get(start..end).unwrap_or_default();
        if raw.trim().is_empty() {
            return;
        }
        let text = decode(raw);
        let mut words = String::new();
        for word in text.split_whitespace() {
            if words.len() > TEXT_BYTES {
                break;
            }
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        for open in self.keepers.iter().rev().take(KEEPERS) {
            if let Some(element) = self.markup.elements.get_mut(*open)
                && element.text.len() < TEXT_BYTES
            {
                if !element.text.is_empty() {
                    element.text.push(' ');
                }
                element.text.push_str(&words);
            }
        }
        let parent = self.stack.last().copied();
        self.markup.runs.push(Run {
            parent,
            offset: start,
            text,
        });
    }

    fn markup_at(&mut self) {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            let end = rest
                .get(4..)
                .and_then(|body| body.find("-->"))
                .map_or(rest.len(), |end| end + 7);
            let body = rest.get(4..end).unwrap_or_default();
            if body.trim_start().starts_with("[if")
                && body.contains("mso")
                && !body.contains("!mso")
            {
                self.markup.has_mso = true;
            }
            self.at += end;
        } else if rest.starts_with("<!") || rest.starts_with("<?") {
            if rest
                .get(2..9)
                .is_some_and(|word| word.eq_ignore_ascii_case("doctype"))
            {
                self.markup.doctype = Some(self.at);
            }
            self.at += rest.find('>').map_or(rest.len(), |end| end + 1);
        } else if let Some(name) = rest
            .strip_prefix("</")
            .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            let end = name.find('>').unwrap_or(name.len());
            let name: String = name
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | ':'))
                .collect();
            self.close(&name.to_ascii_lowercase());
            self.at = (self.at + 2 + end + 1).min(self.html.len());
        } else if rest
            .get(1..)
            .is_some_and(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()))
        {
            self.open();
        } else {
            let start = self.at;
            self.text(start, start + 1);
            self.at += 1;
        }
    }

    fn open(&mut self) {
        let offset = self.at;
        let (name, attributes, end, closed) = tag(self.rest());
        self.at += end;
        if SELF_ENDING.contains(&name.as_str()) {
            let top = self
                .stack
                .last()
                .and_then(|top| self.markup.elements.get(*top));
            if top.is_some_and(|top| top.name == name) {
                self.stack.pop();
                self.forget();
            }
        }
        let index = self.markup.elements.len();
        self.markup.elements.push(Element {
            parent: self.stack.last().copied(),
            name: name.clone(),
            attributes,
            offset,
            text: String::new(),
        });
        if matches!(
            name.as_str(),
            "style" | "script" | "title" | "textarea" | "xmp" | "noscript"
        ) {
            self.raw_text(index, &name);
        } else if !VOID.contains(&name.as_str()) && !closed && self.stack.len() < DEPTH_MAX {
            self.stack.push(index);
            if KEPT.contains(&name.as_str()) {
                self.keepers.push(index);
            }
        }
    }

    /// Drops keepers that are open no more; the stack holds elements in the order of their places.
    fn forget(&mut self) {
        let last = self.stack.last().copied();
        while self
            .keepers
            .last()
            .is_some_and(|keeper| last.is_none_or(|last| *keeper > last))
        {
            self.keepers.pop();
        }
    }

    /// What stands in an element whose text is no HTML.
    fn raw_text(&mut self, index: usize, name: &str) {
        let rest = self.rest();
        let end = end_of(rest, name);
        let text = rest.get(..end).unwrap_or_default().to_owned();
        match name {
            "style" => self.markup.styles.push((self.at, text)),
            "title" => {
                if let Some(element) = self.markup.elements.get_mut(index) {
                    element.text = decode(text.trim());
                }
            }
            _ => {}
        }
        self.at += end;
        let tail = self.rest();
        self.at += tail.find('>').map_or(tail.len(), |end| end + 1);
    }

    fn close(&mut self, name: &str) {
        let reach = self.stack.len().saturating_sub(REACH);
        let found = self
            .stack
            .iter()
            .enumerate()
            .skip(reach)
            .rev()
            .find(|(_, open)| {
                self.markup
                    .elements
                    .get(**open)
                    .is_some_and(|element| element.name == name)
            });
        if let Some((depth, _)) = found {
            self.stack.truncate(depth);
            self.forget();
        }
    }
}

/// Where the end tag of `name` begins.
fn end_of(text: &str, name: &str) -> usize {
    let tag = |at: &usize| {
        let word = text.get(at + 2..at + 2 + name.len());
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    let ends = text.match_indices("</").map(|(at, _)| at);
    ends.into_iter().find(tag).unwrap_or(text.len())
}

/// Name, attributes and length of the tag that `text` begins with, and whether it closes itself.
fn tag(text: &str) -> (String, Vec<(String, String)>, usize, bool) {
    let bytes = text.as_bytes();
    let mut at = 1;
    let byte = |at: usize| bytes.get(at).copied();
    while byte(at).is_some_and(|b| !b.is_ascii_whitespace() && b != b'>' && b != b'/') {
        at += 1;
    }
    let name = text.get(1..at).unwrap_or_default().to_ascii_lowercase();
    let mut attributes = Vec::new();
    let mut closed = false;
    loop {
        while byte(at).is_some_and(|b| b.is_ascii_whitespace() || b == b'/') {
            closed = byte(at) == Some(b'/');
            at += 1;
        }
        match byte(at) {
            None => return (name, attributes, bytes.len(), closed),
            Some(b'>') => return (name, attributes, at + 1, closed),
            Some(_) => {}
        }
        closed = false;
        let start = at;
        while byte(at).is_some_and(|b| !b.is_ascii_whitespace() && !matches!(b, b'=' | b'>' | b'/'))
        {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        let key = text.get(start..at).unwrap_or_default().to_ascii_lowercase();
        while byte(at).is_some_and(|b| b.is_ascii_whitespace()) {
            at += 1;
        }
        let mut value = String::new();
        if byte(at) == Some(b'=') {
            at += 1;
            while byte(at).is_some_and(|b| b.is_ascii_whitespace()) {
                at += 1;
            }
            let rest = text.get(at..).unwrap_or_default();
            let (raw, len) = match byte(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    let body = rest.get(1..).unwrap_or_default();
                    let end = body.find(char::from(quote)).unwrap_or(body.len());
                    (body.get(..end).unwrap_or_default(), end + 2)
                }
                _ => {
                    let end = rest
                        .find(|c: char| c.is_ascii_whitespace() || c == '>')
                        .unwrap_or(rest.len());
                    (rest.get(..end).unwrap_or_default(), end)
                }
            };
            value = decode(raw);
            at = (at + len).min(bytes.len());
        }
        if attributes.len() < ATTRIBUTES_MAX && !attributes.iter().any(|(known, _)| *known == key) {
            attributes.push((key, value));
        }
    }
}

/// Text with the entities that mails use put in.
pub(super) fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at..).unwrap_or_default();
        let end = tail
            .char_indices()
            .take(12)
            .find(|(_, c)| *c == ';')
            .map(|(end, _)| end);
        let known =
            end.and_then(|end| entity(tail.get(1..end).unwrap_or_default()).map(|c| (c, end + 1)));
        let (c, len) = known.unwrap_or(('&', 1));
        out.push(c);
        rest = tail.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "zwnj" => '\u{200c}',
        "copy" => '©',
        "colon" => ':',
        "Tab" => '\t',
        "NewLine" => '\n',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        _ => return None,
    })
}
