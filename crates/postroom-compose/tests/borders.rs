//! Words beside words and tags, in every language: nothing that an author writes becomes a tag, and no
//! tag of ours becomes words or grows.

#![expect(clippy::panic, reason = "a test that cannot go on says why")]

#[path = "shared/halves.rs"]
mod halves;

use halves::HALVES;
use postroom_compose::{
    check,
    dialect::Dialect,
    emit::{Options, Target, compile},
    model::Document,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One stretch of a text.
#[derive(Debug, Clone)]
enum Part {
    Words(usize),
    Bold(usize),
    Link(usize),
    Break,
    Value,
    Branch(Vec<Part>, Vec<Part>),
}

fn part() -> impl Strategy<Value = Part> {
    let words = 0..HALVES.len();
    let leaf = prop_oneof![
        4 => words.clone().prop_map(Part::Words),
        2 => words.clone().prop_map(Part::Bold),
        1 => words.prop_map(Part::Link),
        1 => Just(Part::Break),
        2 => Just(Part::Value),
    ];
    leaf.prop_recursive(2, 24, 5, |inner| {
        let side = prop::collection::vec(inner, 0..5);
        (side.clone(), side).prop_map(|(then, otherwise)| Part::Branch(then, otherwise))
    })
}

/// The parts as spans, their words by `of`.
fn spans(parts: &[Part], of: &dyn Fn(usize) -> &'static str) -> Value {
    let spans = parts.iter().map(|part| match part {
        Part::Words(at) => json!({"type": "text", "text": of(*at)}),
        Part::Bold(at) => json!({"type": "text", "text": of(*at), "marks": ["bold"]}),
        Part::Link(at) => json!({"type": "link", "href": "https://acme.test/", "children": [{"type": "text", "text": of(*at)}]}),
        Part::Break => json!({"type": "br"}),
        Part::Value => json!({"type": "var", "name": "x"}),
        Part::Branch(then, otherwise) => json!({"type": "if", "cond": {"var": "x", "op": "exists"},
            "then": spans(then, of), "else": spans(otherwise, of)}),
    });
    Value::Array(spans.collect())
}

/// The spans in a text, a list, a table and a loop, so that they meet block beside block.
fn document(spans: &Value) -> Option<Document> {
    check(&json!({
        "version": 2, "kind": "personal", "meta": {"subject": "s", "preheader": "p", "lang": "en"},
        "variables": [{"name": "x", "sample": "X"}, {"name": "xs", "type": "list", "item": "string", "sample": ["a"]}],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": spans},
            {"type": "list", "children": [{"type": "each", "in": "xs", "as": "e", "children": [{"type": "item", "text": spans}]}]},
            {"type": "table", "children": [{"type": "row", "children": [{"type": "cell", "text": spans}, {"type": "cell", "text": spans}]}]},
            {"type": "if", "cond": {"var": "x", "op": "exists"}, "then": [{"type": "text", "text": spans}]},
        ]}]}]},
    }))
    .document
}

/// A language as its reader sees it: what begins a tag and what ends it, longer ones first.
struct Reader {
    dialect: Dialect,
    tags: &'static [(&'static str, &'static str)],
    /// Tags that write what would begin one.
    says: &'static [(&'static str, &'static str)],
}

const READERS: &[Reader] = &[
    Reader {
        dialect: Dialect::Jinja2,
        tags: &[("{{", "}}"), ("{%", "%}"), ("{#", "#}")],
        says: &[
            ("{{ '{{' }}", "{{"),
            ("{{ '{%' }}", "{%"),
            ("{{ '{#' }}", "{#"),
            ("{{ '{' }}", "{"),
        ],
    },
    Reader {
        dialect: Dialect::Klaviyo,
        tags: &[("{{", "}}"), ("{%", "%}"), ("{#", "#}")],
        says: &[
            ("{% templatetag openvariable %}", "{{"),
            ("{% templatetag openblock %}", "{%"),
            ("{% templatetag opencomment %}", "{#"),
            ("{% templatetag openbrace %}", "{"),
        ],
    },
    Reader {
        dialect: Dialect::Liquid,
        tags: &[("{{", "}}"), ("{%", "%}")],
        says: &[
            ("{% raw %}{{{% endraw %}", "{{"),
            ("{% raw %}{%{% endraw %}", "{%"),
            ("{{ '{' }}", "{"),
        ],
    },
    Reader {
        dialect: Dialect::Go,
        tags: &[("{{", "}}")],
        says: &[("{{ \"{{\" }}", "{{"), ("{{ \"{\" }}", "{")],
    },
    Reader {
        dialect: Dialect::Erb,
        tags: &[("<%", "%>")],
        says: &[("<%= '<%' %>", "<%")],
    },
    Reader {
        dialect: Dialect::Mustache,
        tags: &[("{{{", "}}}"), ("{{", "}}")],
        says: &[
            ("{{=<% %>=}}{{<%={{ }}=%>", "{{"),
            ("{{=<% %>=}}{<%={{ }}=%>", "{"),
            ("{{=<% %>=}}}<%={{ }}=%>", "}"),
        ],
    },
    Reader {
        dialect: Dialect::Postmark,
        tags: &[("{{{", "}}}"), ("{{", "}}")],
        says: &[("\u{2060}", "")],
    },
    Reader {
        dialect: Dialect::Mailchimp,
        tags: &[("*|", "|*")],
        says: &[("\u{2060}", "")],
    },
];

/// Tags of a template, and its words with the tags that write them carried out.
fn read(reader: &Reader, code: &str) -> (Vec<String>, String) {
    let (mut tags, mut words) = (Vec::new(), String::new());
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        if let Some((said, meant)) = reader.says.iter().find(|(said, _)| rest.starts_with(said)) {
            words.push_str(meant);
            rest = rest.get(said.len()..).unwrap_or_default();
        } else if let Some((open, close)) =
            reader.tags.iter().find(|(open, _)| rest.starts_with(open))
        {
            let inside = rest.get(open.len()..).unwrap_or_default();
            let len = inside
                .find(close)
                .unwrap_or_else(|| panic!("{open} is not closed in {code}"));
            let end = open.len() + len + close.len();
            tags.push(rest.get(..end).unwrap_or_default().to_owned());
            rest = rest.get(end..).unwrap_or_default();
        } else {
            words.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    words.retain(|c| !c.is_whitespace());
    (tags, words)
}

fn made(document: &Document, target: Target, dialect: Dialect) -> (String, String) {
    let made = compile(
        document,
        &Options {
            target,
            dialect,
            ..Options::default()
        },
    );
    assert!(
        made.is_whole() || dialect == Dialect::Mailchimp,
        "{:#?}",
        made.issues
    );
    (made.code, made.text.unwrap_or_default())
}

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    if asked.cases == 256 {
        ProptestConfig::with_cases(48)
    } else {
        asked
    }
}

proptest! {
    #![proptest_config(config())]

    /// However words are put beside each other, the tags are those of the same document with other
    /// words, and all the words are there.
    #[test]
    fn words_stay_words_and_tags_stay_tags(parts in prop::collection::vec(part(), 1..8)) {
        let hostile = spans(&parts, &|at| HALVES.get(at).copied().unwrap_or_default());
        let Some(hostile) = document(&hostile) else { return Ok(()) };
        let Some(plain) = document(&spans(&parts, &|_| "w")) else { return Ok(()) };
        for reader in READERS {
            for target in [Target::Text, Target::Html, Target::Mjml] {
                let (code, text) = made(&hostile, target, reader.dialect);
                let (other, other_text) = made(&plain, target, reader.dialect);
                prop_assert_eq!(read(reader, &code).0, read(reader, &other).0, "{:?} {:?}: {}", reader.dialect, target, code);
                prop_assert_eq!(read(reader, &text).0, read(reader, &other_text).0, "{:?}: {}", reader.dialect, text);
            }
        }
        // Mailchimp has no loops.
        let words = |reader: &Reader| letters(&read(reader, &made(&hostile, Target::Text, reader.dialect).0).1);
        let mut readers = READERS.iter().filter(|reader| reader.dialect != Dialect::Mailchimp);
        let first = readers.next().map(words).unwrap_or_default();
        for reader in readers {
            prop_assert_eq!(words(reader), first.clone(), "{:?}", reader.dialect);
        }
    }
}

/// Letters in any order: languages without `else` may turn branches round.
fn letters(words: &str) -> Vec<char> {
    let mut letters: Vec<char> = words.chars().collect();
    letters.sort_unstable();
    letters
}

/// Loops in which a name may mean two things, as `[dialect, whether it is said]`.
#[test]
fn names_that_may_mean_two_things_are_refused() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let each = |list: &str, name: &str, child: Value| json!({"type": "each", "in": list, "as": name, "children": [child]});
    let described = json!([{"name": "users", "type": "list", "item": {"name": "string", "items": "list"}, "sample": []}]);
    let hidden = json!([{"name": "name", "sample": "Ada"}, {"name": "users", "type": "list", "item": {"name": "string"}, "sample": []}]);
    let cases = [
        (
            "users",
            each(
                "user.items",
                "item",
                text("{{ user.name }}: {{ item.name }}"),
            ),
            &described,
            vec![
                ("mustache", false),
                ("handlebars", true),
                ("sendgrid", true),
            ],
        ),
        (
            "users",
            each("user.items", "item", text("{{ item.title }}")),
            &described,
            vec![("mustache", true)],
        ),
        (
            "users",
            each("users", "other", text("{{ user.name }}")),
            &described,
            vec![
                ("mustache", false),
                ("handlebars", true),
                ("sendgrid", false),
            ],
        ),
        (
            "users",
            text("{{ name }}"),
            &hidden,
            vec![
                ("mustache", false),
                ("postmark", true),
                ("handlebars", true),
            ],
        ),
        (
            "users",
            text("{{ user.name }}"),
            &hidden,
            vec![("mustache", false), ("postmark", true), ("jinja2", true)],
        ),
    ];
    for (list, child, variables, wanted) in cases {
        let checked = check(&json!({
            "version": 2, "kind": "personal", "meta": {"subject": "s", "preheader": "p", "lang": "en"}, "variables": variables,
            "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [each(list, "user", child)]}]}]},
        }));
        let document = checked
            .document
            .unwrap_or_else(|| panic!("{:#?}", checked.issues));
        for (name, says) in wanted {
            let dialect = Dialect::named(name).unwrap_or_default();
            let options = Options {
                target: Target::Text,
                dialect,
                ..Options::default()
            };
            let made = compile(&document, &options);
            assert_eq!(
                made.is_whole(),
                says,
                "{name}: {} {:#?}",
                made.code,
                made.issues
            );
        }
    }
}
