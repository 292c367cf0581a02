//! How long the HTML of a document is at most, told without writing it.
//!
//! Lints ask only whether a mail is near the size at which programs clip it, and most are far from
//! it. What blocks cost is generous here: a result past a bound means that only compiling tells.

use serde_json::Value as Json;

use crate::{
    model::{
        Block, BlockKind, ButtonOutlook, DarkMode, Document, Filter, ImageAlt, Piece, Span,
        Template, Text, VariableUse,
    },
    read,
};

use super::look::font_stack;

/// The page around the blocks: style sheets for every class, Outlook's settings, the preview's blanks.
const PAGE: usize = 8_000;
/// What a colour of a block's own adds to the style sheets of dark mode.
const COLOR: usize = 350;
/// Digits of a number as long as numbers become.
const NUMBER: usize = 330;

/// A number of bytes that the HTML of `document`, its samples put in, does not exceed.
pub(crate) fn html_at_most(document: &Document) -> usize {
    let theme = &document.theme;
    let heading = theme.heading_font.as_deref().unwrap_or(&theme.font);
    let font = font_stack(&theme.font).len().max(font_stack(heading).len());
    let mut size = Size {
        font,
        value: "https://example.com/unsubscribe".len(),
        rounds: 1,
        twins: theme.dark.mode != DarkMode::Off,
    };
    for variable in &document.variables {
        size.value = size.value.max(variable.name.len() + 2);
        for stated in [&variable.sample, &variable.default].into_iter().flatten() {
            size.sample(stated);
        }
    }
    let meta = &document.meta;
    let title = meta.title.as_deref().map_or(0, escaped);
    let head = [
        PAGE,
        title,
        size.text(&meta.subject).saturating_mul(3),
        size.text(&meta.preheader),
        theme
            .font_url
            .as_deref()
            .map_or(0, |url| 200 + address(url)),
    ];
    let head = head.into_iter().fold(0, usize::saturating_add);
    head.saturating_add(size.blocks(&document.body))
}

/// What blocks cost in one document.
struct Size {
    /// The longest stack of fonts.
    font: usize,
    /// The longest value of a variable, in whatever place.
    value: usize,
    /// The longest list.
    rounds: usize,
    /// Pictures may have one for dark mode beside them.
    twins: bool,
}

impl Size {
    fn sample(&mut self, value: &Json) {
        match value {
            Json::Array(items) => {
                let shown = items.len().min(postroom_types::limit::COMPOSE_SAMPLE_ITEMS);
                self.rounds = self.rounds.max(shown);
                items.iter().for_each(|item| self.sample(item));
            }
            Json::Object(fields) => fields.values().for_each(|field| self.sample(field)),
            Json::String(text) => self.value = self.value.max(address(text)),
            Json::Number(number) => {
                let long = number.as_f64().is_some_and(|number| number.abs() >= 1e15);
                self.value = self.value.max(if long { NUMBER } else { 24 });
            }
            Json::Bool(_) | Json::Null => {}
        }
    }

    fn blocks(&self, blocks: &[Block]) -> usize {
        let costs = blocks.iter().map(|block| self.block(block));
        costs.fold(0, usize::saturating_add)
    }

    fn block(&self, block: &Block) -> usize {
        let mut words = 0_usize;
        read::texts(block, &mut |text| {
            words = words.saturating_add(self.text(text));
        });
        let attrs: usize = block
            .attrs
            .iter()
            .map(|(name, value)| name.len() + escaped(value) + 4)
            .sum();
        let ground = &block.background;
        let mut own = words + attrs + self.kind(block);
        own += ground.color.map_or(0, |_| COLOR + 100);
        own += ground.gradient.map_or(0, |_| 350);
        if let Some(image) = &ground.image {
            own += 1_600 + 5 * self.template(&image.src);
        }
        let inside = match &block.kind {
            BlockKind::If(node) => self
                .blocks(&node.then)
                .saturating_add(self.blocks(&node.otherwise)),
            BlockKind::Each(node) => self
                .blocks(&node.children)
                .saturating_mul(self.rounds)
                .saturating_add(self.blocks(&node.empty)),
            kind => self.blocks(kind.content()),
        };
        own.saturating_add(inside)
    }

    /// What stands around the words of a block, and its addresses.
    fn kind(&self, block: &Block) -> usize {
        let leaf = 320 + self.font;
        match &block.kind {
            BlockKind::Section(node) => 750 + if node.full_width { 700 } else { 0 },
            BlockKind::Panel(node) => 1_500 + if node.full_width { 700 } else { 0 },
            BlockKind::Hero(node) => {
                1_900 + node.src.as_ref().map_or(0, |src| 5 * self.template(src))
            }
            BlockKind::Column(node) => 650 + node.border.map_or(0, |_| 300),
            BlockKind::If(_) | BlockKind::Each(_) => 0,
            BlockKind::Heading(_) => leaf + 100 + self.font,
            BlockKind::Text(node) => leaf + node.color.map_or(0, |_| COLOR),
            BlockKind::Button(node) if node.outlook == ButtonOutlook::Vml => {
                // The words stand once more where Outlook draws the shape.
                leaf + 1_100 + self.text(&node.label) + 2 * self.template(&node.href)
            }
            BlockKind::Button(node) => leaf + 500 + self.template(&node.href),
            BlockKind::Image(node) => {
                let alt = match &node.alt {
                    ImageAlt::Text(alt) => self.template(alt),
                    ImageAlt::Decorative | ImageAlt::Missing => 0,
                };
                let href = node.href.as_ref().map_or(0, |href| self.template(href));
                let dark = node.dark_src.as_ref().filter(|_| self.twins);
                let twin = dark.map_or(0, |src| 400 + alt + self.template(src));
                leaf + 200 + alt + self.template(&node.src) + href + twin
            }
            BlockKind::Divider(_) => 800,
            BlockKind::Spacer(_) => 250,
            BlockKind::List(_) => leaf + 400,
            BlockKind::Item(_) => 500 + self.font,
            BlockKind::Table(node) => {
                leaf + 600
                    + node
                        .caption
                        .as_deref()
                        .map_or(0, |caption| 200 + escaped(caption))
            }
            BlockKind::Row(_) => 100,
            BlockKind::Cell(_) => 350 + self.font,
            BlockKind::Menu(_) | BlockKind::Social(_) => leaf + 400,
            BlockKind::MenuItem(node) => 600 + self.font + self.template(&node.href),
            BlockKind::SocialItem(node) => {
                let src = node.src.as_ref().map_or(0, |src| self.template(src));
                1_000 + self.font + escaped(&node.network) + self.template(&node.href) + src
            }
            BlockKind::Video(node) => {
                let addresses = self.template(&node.poster) + self.template(&node.href);
                leaf + 500 + self.template(&node.alt) + addresses
            }
            BlockKind::Code(node) => {
                let lines = node.text.0.iter().map(|piece| match piece {
                    Piece::Text(text) => text.matches(['\n', ' ', '\t']).count() * 12,
                    Piece::Variable(_) => 0,
                });
                leaf + 500 + lines.sum::<usize>() + self.template(&node.text)
            }
            BlockKind::Quote(_) => leaf + 400,
            BlockKind::Unsubscribe(node) => {
                let href = node.href.as_ref();
                leaf + 400 + href.map_or(self.value, |href| self.template(href))
            }
            BlockKind::Footer(node) => leaf + 10 * node.lines.len() + COLOR,
            BlockKind::Address(node) => leaf + 10 * node.lines.len() + COLOR,
            // A sanitiser writes entities where there were none.
            BlockKind::Raw(node) => leaf + 6 * node.html.len(),
        }
    }

    fn text(&self, text: &Text) -> usize {
        let mut bytes = 0_usize;
        text.walk(&mut |span| {
            let cost = match span {
                Span::Text { text, marks, color } => {
                    let colored = if color.is_some() { 40 } else { 0 };
                    escaped(text) + marked(marks.is_empty()) + colored
                }
                Span::Variable(used) => self.used(used) + marked(used.marks.is_empty()),
                Span::Link { href, .. } => 120 + self.template(href),
                Span::Break => 6,
                Span::If { .. } => 0,
            };
            bytes = bytes.saturating_add(cost);
        });
        bytes
    }

    fn template(&self, template: &Template) -> usize {
        let pieces = template.0.iter().map(|piece| match piece {
            Piece::Text(text) => address(text),
            Piece::Variable(used) => self.used(used),
        });
        pieces.fold(0, usize::saturating_add)
    }

    fn used(&self, used: &VariableUse) -> usize {
        let default = used.default.as_deref().map_or(0, address);
        let value = self.value.max(default);
        match &used.filter {
            None => value,
            Some(Filter::Date(pattern)) => value.max(pattern.len() * 12),
            // Capitals of some letters are three.
            Some(_) => 3 * value + 40,
        }
    }
}

fn marked(none: bool) -> usize {
    if none { 0 } else { 200 }
}

/// Bytes of words once escaped, places to break included.
fn escaped(text: &str) -> usize {
    let special = |byte: &u8| {
        matches!(
            byte,
            b'&' | b'<' | b'>' | b'"' | b'\'' | b'{' | b'}' | b'%' | b'#' | b'|' | b'*' | b'['
        )
    };
    text.len() + 5 * text.bytes().filter(|byte| special(byte)).count() + text.len() / 64
}

/// The same for words that may stand in an address, where blanks and letters are percent-encoded.
fn address(text: &str) -> usize {
    let encoded = |byte: &u8| !byte.is_ascii_alphanumeric();
    escaped(text) + 2 * text.bytes().filter(encoded).count()
}

#[cfg(test)]
#[path = "../../examples/compile-documents/generated.rs"]
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
mod generated;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{STARTERS, check, emit};

    fn judge(name: &str, value: &Value) -> (usize, usize) {
        let checked = check(value);
        let document = checked
            .document
            .unwrap_or_else(|| panic!("{name}: {:#?}", checked.issues.first()));
        let html = emit::compile(&document, &emit::Options::default()).code;
        let most = html_at_most(&document);
        assert!(html.len() <= most, "{name}: {} over {most}", html.len());
        (html.len(), most)
    }

    #[test]
    fn no_document_is_longer_than_told() {
        for starter in STARTERS {
            judge(
                starter.name,
                &serde_json::from_str(starter.text).expect("JSON"),
            );
        }
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
        for file in std::fs::read_dir(folder).expect("tests/documents") {
            let file = file.expect("a file").path();
            let text = std::fs::read_to_string(&file).expect("a document");
            let value = serde_json::from_str(&text).expect("JSON");
            judge(&file.to_string_lossy(), &value);
        }
        for number in 0..300 {
            judge(&number.to_string(), &generated::document(number));
        }
    }

    #[test]
    fn each_block_costs_less_than_told() {
        let words = "<\"a'&b\"> {{{% [[ *| ".repeat(30);
        let leaves = [
            json!({"type": "text", "text": words, "color": "#111111", "bg": "#fafafa"}),
            json!({"type": "heading", "level": 3, "text": words, "color": "#222222", "bg": "#f0f0f0"}),
            json!({"type": "button", "label": words, "href": "https://acme.test/?a=1&b=2", "outlook": "vml", "width": 200, "bg": "#333333"}),
            json!({"type": "image", "src": "https://acme.test/a.png?b=1&c=2", "darkSrc": "https://acme.test/b.png", "alt": words, "width": 20, "height": 20, "href": "https://acme.test/"}),
            json!({"type": "list", "style": "decimal", "children": [{"type": "item", "text": "a"}]}),
            json!({"type": "table", "border": true, "striped": true, "caption": words.get(..190), "children": [
                {"type": "row", "header": true, "children": [{"type": "cell", "text": "a"}]}, {"type": "row", "children": [{"type": "cell", "text": "a"}]}]}),
            json!({"type": "social", "children": [{"type": "socialItem", "network": "x", "href": "https://acme.test/", "src": "https://acme.test/x.png"}]}),
            json!({"type": "social", "children": [{"type": "socialItem", "network": "x", "href": "https://acme.test/"}]}),
            json!({"type": "menu", "children": [{"type": "menuItem", "label": words, "href": "https://acme.test/"}]}),
            json!({"type": "code", "text": "  \n\t\t\t".repeat(50)}),
            json!({"type": "quote", "text": words, "cite": words}),
            json!({"type": "unsubscribe", "style": "button", "text": words}),
            json!({"type": "divider", "hideOn": "mobile"}),
            json!({"type": "spacer", "hideOn": "desktop"}),
            json!({"type": "footer", "lines": [words, words], "color": "#444444"}),
            json!({"type": "text", "text": [{"type": "text", "text": "a", "marks": ["bold", "italic", "underline", "strike", "code", "sup"], "color": "#555555"}]}),
        ];
        for leaf in leaves {
            let name = leaf.to_string();
            let column = json!({"type": "column", "width": 100, "border": "#666666", "children": vec![leaf; 20]});
            let section = json!({"type": "section", "fullWidth": true, "bg": "#777777", "gradient": {"from": "#111111", "to": "#222222"},
                "bgImage": {"src": "https://acme.test/a.png?b=1&c=2"}, "children": [column]});
            let document = json!({"version": 2, "kind": "personal", "meta": {"subject": words.get(..100), "lang": "en"},
                "theme": {"font": "A,B,C", "headingFont": "Some Long Name, Another Long Name, Third"},
                "root": {"type": "body", "children": [{"type": "panel", "children": [section]}]}});
            judge(&name, &document);
        }
    }

    #[test]
    fn a_usual_mail_is_told_apart_from_a_clipped_one() {
        let column = json!({"type": "column", "children": [
            {"type": "heading", "text": "Part of it"},
            {"type": "text", "text": {"md": "Some **bold** words, a [link](https://shop.acme.test/orders), and words enough that a line has to break."}},
            {"type": "image", "src": "https://cdn.acme.test/1.png", "alt": "A picture", "width": 300, "height": 150},
            {"type": "button", "label": "See this part", "href": "https://shop.acme.test/parts/1"},
        ]});
        let section = json!({"type": "section", "children": [column]});
        let document = json!({"version": 2, "meta": {"subject": "Sixty blocks", "lang": "en"},
            "root": {"type": "body", "children": vec![section; 15]}});
        let (bytes, most) = judge("sixty blocks", &document);
        assert!(most < 90_000, "{bytes} bytes are told as {most}");
    }
}
