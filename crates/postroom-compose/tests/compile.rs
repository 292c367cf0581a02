//! What documents compile to, whatever is written in them.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

use std::collections::BTreeSet;

use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
    },
};
use postroom_compose::{
    Severity, check,
    dialect::{Dialect, facts},
    emit::{Compiled, Envelope, Options, Target, compile},
    model::{Block, BlockKind, Document, ImageAlt, Marks, Piece, Span, Template, Text},
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every document of tests/documents.
fn documents() -> &'static [(String, Document)] {
    static DOCUMENTS: std::sync::OnceLock<Vec<(String, Document)>> = std::sync::OnceLock::new();
    DOCUMENTS.get_or_init(read_documents)
}

fn read_documents() -> Vec<(String, Document)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let checked = check(&text);
            let document = checked
                .document
                .unwrap_or_else(|| panic!("{path:?}: {:#?}", checked.issues));
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                document,
            )
        })
        .collect();
    found.sort_by(|one, two| one.0.cmp(&two.0));
    found
}

fn named(name: &str) -> Document {
    documents()
        .iter()
        .find(|(known, _)| known == name)
        .unwrap()
        .1
        .clone()
}

fn compiled(document: &Document, target: Target, dialect: Dialect) -> Compiled {
    compile(
        document,
        &Options {
            target,
            dialect,
            ..Options::default()
        },
    )
}

fn document(value: &Value) -> Document {
    let checked = check(value);
    checked
        .document
        .unwrap_or_else(|| panic!("{:#?}", checked.issues))
}

/// A document of one text block.
fn with_text(text: &Value, variables: &Value) -> Document {
    document(&json!({
        "version": 2,
        "meta": {"subject": "Words", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "variables": variables,
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": text}
        ]}]}]}
    }))
}

/// A document whose subject has a variable of that type.
fn with_subject_of(kind: &str, sample: &Value) -> Document {
    document(&json!({
        "version": 2,
        "meta": {"subject": "Order of {{ name }}", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "variables": [{"name": "name", "type": kind, "sample": sample}],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": "Hello."}
        ]}]}]}
    }))
}

/// Tags of HTML with the names of their attributes, and its text.
#[derive(Default)]
struct Seen {
    tags: Vec<String>,
    text: String,
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

fn seen(html: &str) -> Seen {
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
fn fill(document: &mut Document, words: &str) {
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

#[test]
fn no_line_is_too_long_to_send() {
    let long = [
        "word ".repeat(2_000),
        "\u{7121}".repeat(3_000),
        "x".repeat(5_000),
        "&".repeat(2_000),
    ];
    for words in &long {
        let mut document = named("blocks");
        fill(&mut document, words);
        for dialect in [Dialect::None, Dialect::Jinja2, Dialect::Erb] {
            let html = compiled(&document, Target::Html, dialect).code;
            // An address, or one word in an attribute, cannot be broken.
            let unbroken = |line: &&str| {
                ["src=", "href=", "alt=", "aria-label=", "<title>", "url('"]
                    .iter()
                    .any(|name| line.contains(name))
            };
            let breaks = words.contains(' ');
            let lines = html.lines().filter(|line| {
                !unbroken(line) || (breaks && !line.contains("http") && !line.contains("%20"))
            });
            let longest = lines.max_by_key(|line| line.len()).unwrap();
            assert!(
                longest.len() <= 900,
                "{} bytes: {}",
                longest.len(),
                &longest[..100]
            );
        }
    }
    for (name, document) in documents() {
        for (_, dialect) in Dialect::NAMES {
            let html = compiled(document, Target::Html, *dialect).code;
            let worst = html.lines().map(str::len).max().unwrap();
            assert!(worst <= 900, "{worst} bytes in {name}");
        }
    }
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    for (name, document) in documents() {
        for (_, target) in Target::NAMES {
            for (_, dialect) in Dialect::NAMES {
                let one = compiled(document, *target, *dialect);
                assert_eq!(one, compiled(document, *target, *dialect), "{name}");
            }
        }
    }
}

#[test]
fn the_source_map_names_blocks_in_order() {
    let document = named("blocks");
    for target in [Target::Html, Target::Mjml] {
        let made = compiled(&document, target, Dialect::None);
        let ids: BTreeSet<&str> = made
            .source_map
            .iter()
            .map(|span| span.block_id.as_str())
            .collect();
        let mut known = BTreeSet::new();
        document.walk(&mut |block| {
            known.insert(block.id.as_str());
        });
        assert!(ids.is_subset(&known) && ids.len() > 30, "{ids:?}");
        assert!(made.source_map.is_sorted_by_key(|span| span.start));
        for span in &made.source_map {
            assert!(
                span.start <= span.end && made.code.get(span.start..span.end).is_some(),
                "{span:?}"
            );
        }
        let quote = made
            .source_map
            .iter()
            .find(|span| span.block_id.starts_with("quote"))
            .unwrap();
        assert!(made.code[quote.start..quote.end].contains("It just works."));
    }
}

#[test]
fn conditional_comments_are_spelt_as_outlook_reads_them() {
    let html = compiled(&named("blocks"), Target::Html, Dialect::None).code;
    let comments: BTreeSet<&str> = html
        .match_indices("<!--")
        .map(|(at, _)| html[at..].split_inclusive('>').next().unwrap())
        .collect();
    let known = [
        "<!--[if mso | IE]>",
        "<!--[if mso]>",
        "<!--[if !mso]>",
        "<!--<![endif]-->",
        "<!--[if lte mso 11]>",
        "<!-->",
    ];
    assert!(
        comments.iter().all(|comment| known.contains(comment)),
        "{comments:?}"
    );
    assert!(!html.contains("<!--[if !mso]> "));
    let without = compile(
        &named("blocks"),
        &Options {
            mso: false,
            ..Options::default()
        },
    )
    .code;
    assert!(!without.contains("[if mso"), "{without}");
}

#[test]
fn a_fragment_is_what_stands_in_the_body() {
    let fragment = compile(
        &named("blocks"),
        &Options {
            fragment: true,
            ..Options::default()
        },
    )
    .code;
    let seen = seen(&fragment);
    assert!(!seen.tags.iter().any(|tag| {
        ["html ", "head ", "body "]
            .iter()
            .any(|name| tag.starts_with(name))
    }));
    assert!(seen.tags.iter().any(|tag| tag.starts_with("table ")));
}

#[test]
fn language_direction_and_title_stand_on_the_wrapper_too() {
    let html = compiled(&named("rtl"), Target::Html, Dialect::None).code;
    assert!(html.contains("<html lang=\"he\" dir=\"rtl\""));
    let wrapper = "aria-label=\"שלום\" aria-roledescription=\"email\" role=\"article\" lang=\"he\" dir=\"rtl\"";
    assert!(html.contains(wrapper), "{html}");
    assert!(html.contains("text-align:right") && html.contains("direction:rtl"));
}

#[test]
fn tables_that_lay_out_say_so_and_data_tables_do_not() {
    let html = compiled(&named("blocks"), Target::Html, Dialect::None).code;
    let opened = html
        .replace("<!--[if mso | IE]>", "")
        .replace("<![endif]-->", "");
    for (at, _) in opened.match_indices("<table") {
        let tag = opened[at..].split('>').next().unwrap();
        let data = opened[at..]
            .split("</table>")
            .next()
            .unwrap()
            .contains("<th scope=\"col\"");
        let nested = opened[at + 6..]
            .split("</table>")
            .next()
            .unwrap()
            .contains("<table");
        let hero = tag.contains("style=\"width:600px;\"") || tag.contains("style=\"width:552px;\"");
        assert!(
            tag.contains("role=\"presentation\"") != (data && !nested) || hero,
            "{tag}"
        );
    }
}

#[test]
fn the_preview_line_is_filled_up_and_stays_out_of_the_text() {
    let made = compiled(&named("digest"), Target::Html, Dialect::None);
    assert!(made.code.contains("&#847;&zwnj;&nbsp;"));
    assert!(made.code.matches("&#847;").count() < 80);
    assert!(!made.text.unwrap().contains("What your team did"));
    assert_eq!(
        made.preheader,
        "What your team did since you looked the last time."
    );
}

#[test]
fn a_url_is_escaped_once() {
    let text = json!({"md": "[find](https://acme.test/?a=1&b=2)"});
    let document = with_text(&text, &json!([]));
    let html = compiled(&document, Target::Html, Dialect::None).code;
    assert!(
        html.contains("href=\"https://acme.test/?a=1&amp;b=2\""),
        "{html}"
    );
    assert!(
        compiled(&document, Target::Text, Dialect::None)
            .code
            .contains("find: https://acme.test/?a=1&b=2")
    );
}

#[test]
fn scripts_in_samples_of_links_do_not_become_links() {
    for sample in [
        "javascript:alert(1)",
        " JaVa\tScript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
    ] {
        let variables = json!([{"name": "u", "type": "url", "sample": sample}]);
        let document = with_text(&json!({"md": "[go on]({{ u }})"}), &variables);
        let html = compiled(&document, Target::Html, Dialect::None).code;
        assert!(html.contains("href=\"#\""), "{sample}");
    }
}

/// A line end in a value would begin another header field.
#[test]
fn line_ends_of_values_do_not_reach_the_subject() {
    let document = with_subject_of("string", &json!("Ada\r\nBcc: x@acme.test\rand\nmore"));
    let made = |dialect| compiled(&document, Target::Html, dialect).subject;
    let folded = "Order of Ada Bcc: x@acme.test and more";
    assert_eq!(made(Dialect::None), folded);
    let line_ends = "replace('\\r', ' ')|replace('\\n', ' ')";
    assert!(made(Dialect::Jinja2).contains(line_ends));
    assert!(made(Dialect::Klaviyo).contains("|truncatewords:500|safe"));
    assert!(made(Dialect::Liquid).contains("replace: pr_r, ' ' | replace: pr_l, ' '"));
    assert!(made(Dialect::Erb).contains(".to_s.gsub(/\\R/, ' ')"));
    for fact in facts() {
        let can = ["jinja2", "klaviyo", "liquid", "erb", "none"].contains(&fact.dialect);
        assert_eq!(fact.one_line, can, "{}", fact.dialect);
    }
    // A number has none.
    let number = with_subject_of("number", &json!(5));
    let subject = compiled(&number, Target::Html, Dialect::Erb).subject;
    assert!(!subject.contains("gsub"), "{subject}");
}

/// Whoever fills in an address chooses its scheme, which every dialect tells in the same way.
#[test]
fn addresses_from_variables_are_told() {
    let link = json!([{"type": "link", "href": "{{ go }}", "children": [{"type": "text", "text": "Read it"}]}]);
    for kind in ["url", "string"] {
        let variables = json!([{"name": "go", "type": kind, "sample": "https://acme.test/a"}]);
        let document = with_text(&link, &variables);
        for (name, dialect) in Dialect::NAMES {
            for target in [Target::Html, Target::Text] {
                let made = compiled(&document, target, *dialect);
                let told = made
                    .issues
                    .iter()
                    .find(|issue| issue.code == "var.url_unchecked");
                assert_eq!(told.is_some(), *dialect != Dialect::None, "{name} {kind}");
                if let Some(issue) = told {
                    assert_eq!(issue.severity, Severity::Warning, "{name} {kind}");
                }
            }
        }
    }
}

/// Where the sender has no token of its own, the variable that stands in is told of.
#[test]
fn an_address_for_unsubscribing_that_nobody_states_is_told() {
    let document = document(&json!({
        "version": 2,
        "meta": {"subject": "News", "preheader": "What is new this week at the shop, and what is not.", "lang": "en"},
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "unsubscribe", "text": "Unsubscribe"}
        ]}]}]}
    }));
    for (name, dialect) in Dialect::NAMES {
        let made = compiled(&document, Target::Html, *dialect);
        let told = made.issues.iter().any(|issue| {
            issue.code == "var.url_unchecked" && issue.message.contains("unsubscribe_url")
        });
        let filled = *dialect == Dialect::None || dialect.unsubscribe_token().is_some();
        assert_eq!(told, !filled, "{name}");
    }
}

/// One snippet of a document in every dialect.
#[test]
fn snippets() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("compile/snippets.json")).unwrap();
    for case in &cases {
        let document = with_text(&case["text"], &case["variables"]);
        for (dialect, expected) in case["code"].as_object().unwrap() {
            let made = compiled(&document, Target::Html, Dialect::named(dialect).unwrap());
            let html = made.code.split_whitespace().collect::<Vec<_>>().join(" ");
            match expected.as_str().unwrap().strip_prefix("refused: ") {
                Some(why) => {
                    let issue = made
                        .issues
                        .iter()
                        .find(|issue| issue.code == "dialect.unsupported");
                    let issue =
                        issue.unwrap_or_else(|| panic!("{dialect} takes {}: {html}", case["name"]));
                    assert!(issue.message.contains(why), "{dialect}: {}", issue.message);
                    assert!(issue.path.starts_with("root.children.0"), "{issue:?}");
                }
                None => {
                    assert!(made.is_whole(), "{dialect}: {:?}", made.issues);
                    let expected = expected.as_str().unwrap();
                    assert!(
                        html.contains(expected),
                        "{dialect} {}: {expected} is not in {html}",
                        case["name"]
                    );
                }
            }
        }
    }
}

#[test]
fn mailchimp_keeps_its_marks_and_others_do_not() {
    let document = document(&json!({
        "version": 2, "meta": {"subject": "Marks", "preheader": "Attributes that a sender's own tools look for.", "lang": "en"},
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": "Words", "attrs": {"mc:edit": "main", "data-track": "\"x\""}}
        ]}]}]}
    }));
    let mailchimp = compiled(&document, Target::Html, Dialect::Mailchimp).code;
    assert!(mailchimp.contains("mc:edit=\"main\""), "{mailchimp}");
    let other = compiled(&document, Target::Html, Dialect::Liquid).code;
    assert!(
        !other.contains("mc:edit") && other.contains("data-track=\"&quot;x&quot;\""),
        "{other}"
    );
}

#[test]
fn a_mail_is_read_back_as_it_was() {
    let document = named("order");
    let envelope = Envelope {
        from: Some("Acme <shop@acme.test>".to_owned()),
        to: Some("ada@acme.test\r\nBcc: eve@acme.test".to_owned()),
        date: Some("Mon, 30 Nov 2026 19:00:00 +0000".to_owned()),
        message_id: Some("<1@acme.test>".to_owned()),
    };
    let made = compile(
        &document,
        &Options {
            target: Target::Eml,
            envelope,
            ..Options::default()
        },
    );
    assert!(
        made.code.split("\r\n").all(|line| line.len() <= 78),
        "a line is too long"
    );
    assert!(!made.code.replace("\r\n", "").contains('\n'));
    let mail = mail_parser::MessageParser::default()
        .parse(made.code.as_bytes())
        .unwrap();
    assert!(mail.bcc().is_none());
    assert_eq!(mail.subject(), Some(made.subject.as_str()));
    let lines = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
    let html = compiled(&document, Target::Html, Dialect::None).code;
    assert_eq!(lines(&mail.body_html(0).unwrap()), lines(&html));
    assert_eq!(
        lines(&mail.body_text(0).unwrap()),
        lines(&made.text.unwrap())
    );
}

#[test]
fn a_subject_in_any_script_is_read_back() {
    for subject in [
        "Ünïcode ✓ and a lot more of it, so that it has to be broken up somewhere",
        "件名件名件名件名件名件名件名件名件名件名件名件名",
        "=?utf-8?Q?x?=",
    ] {
        let mut document = named("rtl");
        document.meta.subject = Text(vec![Span::Text {
            text: subject.to_owned(),
            marks: Marks::default(),
            color: None,
        }]);
        let made = compile(
            &document,
            &Options {
                target: Target::Eml,
                ..Options::default()
            },
        );
        let mail = mail_parser::MessageParser::default()
            .parse(made.code.as_bytes())
            .unwrap();
        assert_eq!(mail.subject(), Some(subject));
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

#[test]
fn dialects_say_of_themselves_what_they_can() {
    let facts = postroom_compose::dialect::facts();
    let of = |name: &str| facts.iter().find(|facts| facts.dialect == name).unwrap();
    assert_eq!(facts.len(), Dialect::NAMES.len());
    assert_eq!(of("handlebars").operators, ["exists", "empty"]);
    assert!(of("handlebars").loops && !of("handlebars").index && of("handlebars").ends);
    assert!(!of("mailchimp").loops && of("mailchimp").url_parts);
    assert_eq!(of("jinja2").filters.len(), 9);
    assert_eq!(of("jinja2").operators.len(), 10);
    assert!(of("mustache").filters.is_empty());
    assert_eq!(of("klaviyo").unsubscribe, Some("{% unsubscribe_link %}"));
    assert_eq!(
        of("liquid").example,
        "{{ user.name | escape }} {% if plan and plan != '' and plan != empty and plan != 0 %}…{% else %}…{% endif %} {% for item in items %}…{% endfor %}"
    );
}

/// Loops in loops over a long list, and conditions in conditions, multiply what is inside them.
#[test]
fn what_multiplies_is_cut_off() {
    let list: Vec<Value> = (0..300).map(|number| json!({"n": number})).collect();
    let mut inner = json!({"type": "text", "text": "x".repeat(100)});
    for depth in 0..5 {
        inner =
            json!({"type": "each", "in": "list", "as": format!("e{depth}"), "children": [inner]});
    }
    let loops = json!({
        "version": 2, "meta": {"subject": "Loops", "lang": "en"},
        "variables": [{"name": "list", "type": "list", "sample": list}],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [inner]}]}]}
    });
    let checked = check(&loops);
    if let Some(document) = checked.document {
        for target in [Target::Html, Target::Text] {
            assert!(compiled(&document, target, Dialect::None).code.len() < 64 * 1024 * 1024);
        }
    }
    let mut nested = loops.clone();
    let variables: Vec<Value> = (0..6)
        .map(|number| json!({"name": format!("v{number}"), "sample": "x"}))
        .collect();
    nested["variables"] = json!(variables);
    let mut small = json!({"type": "text", "text": "Words"});
    for _ in 0..8 {
        let any: Vec<Value> = (0..6)
            .map(|number| json!({"var": format!("v{number}"), "op": "exists"}))
            .collect();
        small = json!({"type": "if", "cond": {"any": any}, "then": [small]});
    }
    nested["root"]["children"][0]["children"][0]["children"] = json!([small]);
    let document = document(&nested);
    let made = compiled(&document, Target::Html, Dialect::Handlebars);
    assert!(!made.is_whole() && made.code.len() < 8 * 1024 * 1024);
}
