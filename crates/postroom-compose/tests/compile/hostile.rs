//! Whatever words are written, they stay words.

use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
    },
};
use postroom_compose::{
    dialect::Dialect,
    emit::Target,
    model::{Block, BlockKind, Document, ImageAlt, Marks, Piece, Span, Template, Text},
};
use proptest::prelude::*;
use serde_json::Value;

use crate::{compiled, named};

/// Tags of HTML with the names of their attributes, and its text.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) tags: Vec<String>,
    pub(crate) text: String,
}

#[derive(Default)]
struct Sink(std::cell::RefCell<Seen>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut seen = self.0.borrow_mut();
        match token {
            Token::TagToken(Tag {
                kind, name, attrs, ..
            }) => {
                let names: Vec<String> = attrs
                    .iter()
                    .map(|attribute| attribute.name.local.to_string())
                    .collect();
                let end = if kind == TagKind::EndTag { "/" } else { "" };
                seen.tags.push(format!("{end}{name} {}", names.join(" ")));
            }
            Token::CharacterTokens(text) => seen.text.push_str(&text),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

pub(crate) fn seen(html: &str) -> Seen {
    let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    while !input.is_empty() {
        let _ = tokenizer.feed(&input);
    }
    tokenizer.end();
    let mut seen = tokenizer.sink.0.into_inner();
    // Line ends of a block of code.
    seen.tags.retain(|tag| tag != "br ");
    seen
}

/// Puts `words` wherever a document takes words.
pub(crate) fn fill(document: &mut Document, words: &str) {
    let text = Text(vec![Span::Text {
        text: words.to_owned(),
        marks: Marks::default(),
        color: None,
    }]);
    let template = Template(vec![Piece::Text(words.to_owned())]);
    document.meta.subject = text.clone();
    document.meta.preheader = text.clone();
    document.meta.title = Some(words.to_owned());
    for variable in &mut document.variables {
        if matches!(variable.sample, Some(Value::String(_))) {
            variable.sample = Some(Value::from(words));
        }
    }
    for block in &mut document.body {
        fill_block(block, &text, &template);
    }
}

fn fill_block(block: &mut Block, text: &Text, template: &Template) {
    match &mut block.kind {
        BlockKind::Section(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Panel(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Hero(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Column(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::List(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Row(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Menu(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Social(node) => node
            .children
            .iter_mut()
            .for_each(|child| fill_block(child, text, template)),
        BlockKind::Table(node) => {
            node.caption = Some(template.plain());
            node.children
                .iter_mut()
                .for_each(|child| fill_block(child, text, template));
        }
        BlockKind::Heading(node) => node.text = text.clone(),
        BlockKind::Text(node) => node.text = text.clone(),
        BlockKind::Button(node) => {
            node.label = text.clone();
            node.href = template.clone();
        }
        BlockKind::Image(node) => {
            node.alt = ImageAlt::Text(template.clone());
            node.src = template.clone();
        }
        BlockKind::Item(node) => node.text = text.clone(),
        BlockKind::Cell(node) => node.text = text.clone(),
        BlockKind::MenuItem(node) => {
            node.label = text.clone();
            node.href = template.clone();
        }
        BlockKind::SocialItem(node) => node.label = Some(text.clone()),
        BlockKind::Video(node) => node.alt = template.clone(),
        BlockKind::Code(node) => node.text = template.clone(),
        BlockKind::Quote(node) => {
            node.text = text.clone();
            node.cite = Some(text.clone());
        }
        BlockKind::Unsubscribe(node) => node.text = text.clone(),
        BlockKind::Footer(node) => node.lines = vec![text.clone()],
        BlockKind::Address(node) => node.lines = vec![text.clone()],
        _ => {}
    }
}

/// What an author, or whoever writes for one, may try.
const HOSTILE: &[&str] = &[
    "\"><script>alert(1)</script>",
    "' onmouseover='alert(1)",
    "\" onmouseover=\"alert(1)\" x=\"",
    "</style></title></textarea><img src=x onerror=alert(1)>",
    "--> <!--[if mso]> </td></tr></table> <![endif]-->",
    "]]> <![CDATA[ x",
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "a\u{2028}b\u{2029}c\u{0}d\u{200d}e\u{202e}f",
    "\\\" \\' \\\\ \\n \\u{7d}",
    "{{ 7*7 }} {% if x %} {# y #} {{{z}}} <%= 7*7 %> *|FNAME|* [[x]] ${7*7} #{7*7}",
    "{",
    "{{",
    "}}",
    "{%",
    "*",
    "|",
    "<",
    "<%",
    "\\",
    "%",
    "[",
    "&",
    "&amp;",
    "&#123;&#123;",
    "a&lt;b &quot; &nbsp;",
    "\r\nBcc: victim@acme.test\r\n\r\n<b>",
];

#[test]
fn hostile_words_change_no_tag_and_no_attribute() {
    for name in ["blocks", "order", "plain-values"] {
        let mut plain = named(name);
        fill(&mut plain, "words");
        let (html, expected) = {
            let made = compiled(&plain, Target::Html, Dialect::None).code;
            (made.clone(), seen(&made))
        };
        assert!(html.contains("words"));
        for words in HOSTILE {
            let mut hostile = plain.clone();
            fill(&mut hostile, words);
            let made = compiled(&hostile, Target::Html, Dialect::None).code;
            let found = seen(&made);
            assert!(found.tags == expected.tags, "{words:?} in {name}");
            assert!(
                !made
                    .to_lowercase()
                    .replace(['\n', ' ', '\t'], "")
                    .contains("href=\"javascript:"),
                "{words:?}"
            );
        }
    }
}

#[test]
fn hostile_words_stay_words() {
    for words in HOSTILE {
        let mut hostile = named("blocks");
        fill(&mut hostile, words);
        let shown: String = words
            .chars()
            .filter(|c| !c.is_control() || c.is_whitespace())
            .collect();
        let folded = |text: &str| {
            let kept = text.replace(
                ['\u{2028}', '\u{2029}', '\u{200c}', '\u{34f}', '\u{2060}'],
                " ",
            );
            kept.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let html = seen(&compiled(&hostile, Target::Html, Dialect::None).code).text;
        assert!(folded(&html).contains(&folded(&shown)), "{words:?} in HTML");
        let text = compiled(&hostile, Target::Text, Dialect::None).code;
        assert!(
            folded(&text).contains(&folded(&shown)),
            "{words:?} in text: {text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever stands in a text, the tags stay and the words are read back.
    #[test]
    fn any_words(words in "[ -~\u{a0}-\u{ff}\u{2028}{}%<>\"'&*|\\[\\]\\\\]{0,60}") {
        let mut plain = named("blocks");
        fill(&mut plain, "words");
        let expected = seen(&compiled(&plain, Target::Html, Dialect::None).code).tags;
        for dialect in [Dialect::None, Dialect::Handlebars, Dialect::Mailchimp] {
            let mut hostile = plain.clone();
            fill(&mut hostile, &words);
            let found = seen(&compiled(&hostile, Target::Html, dialect).code).tags;
            let empty = words.trim().is_empty();
            // A preview line of nothing is none.
            prop_assert!(found == expected || empty, "{words:?}");
        }
    }
}
