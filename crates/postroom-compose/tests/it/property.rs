//! What holds for every draft.

use std::collections::BTreeMap;

use postroom_compose::{Issue, RULES, Severity, canonical, check, print, repair};
use proptest::prelude::*;
use serde_json::Value;

use crate::draft::draft;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..400)
}

/// Errors by code.
fn errors(issues: &[Issue]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for issue in issues
        .iter()
        .filter(|issue| issue.severity == Severity::Error)
    {
        *counts.entry(issue.code.to_string()).or_insert(0) += 1;
    }
    counts
}

/// Few cases, unless `PROPTEST_CASES` asks for another number than the library's own.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    if asked.cases == 256 {
        ProptestConfig::with_cases(64)
    } else {
        asked
    }
}

proptest! {
    #![proptest_config(config())]

    /// R1: the same draft gives the same bytes.
    #[test]
    fn a_repair_is_deterministic(bytes in bytes()) {
        let draft = draft(&bytes);
        prop_assert_eq!(repair(&draft.document), repair(&draft.document));
    }

    /// R2: a second repair finds nothing.
    #[test]
    fn a_repair_is_done_at_once(bytes in bytes()) {
        let once = repair(&draft(&bytes).document);
        let twice = repair(&once.document);
        prop_assert!(twice.applied.is_empty(), "{:#?}", twice.applied);
        prop_assert_eq!(&twice.document, &once.document);
        prop_assert_eq!(twice.issues, once.issues);
    }

    /// R3: what needs no repair stays as it is, to the byte.
    #[test]
    fn what_is_right_stays(bytes in bytes()) {
        let document = repair(&draft(&bytes).document).document;
        let checked = check(&document);
        prop_assert!(checked.issues.iter().all(|issue| issue.fix.is_none()), "{:#?}", checked.issues);
        let text = print(&document);
        prop_assert_eq!(&print(&repair(&document).document), &text);
        prop_assert_eq!(&print(&canonical(&text).expect("a document")), &text);
    }

    /// R4: no words get lost, and R6: no targets and no names of variables change.
    #[test]
    fn nothing_that_was_said_is_lost(bytes in bytes()) {
        let draft = draft(&bytes);
        let document = repair(&draft.document).document.to_string();
        for said in draft.words.iter().chain(&draft.targets).chain(&draft.variables) {
            prop_assert!(document.contains(said.as_str()), "{said} is missing of {}\n{document}", draft.document);
        }
    }

    /// R5: what was called repairable is repaired, and no new error comes.
    #[test]
    fn repairable_errors_are_gone(bytes in bytes()) {
        let draft = draft(&bytes);
        let before = check(&draft.document);
        let after = repair(&draft.document);
        prop_assert!(
            after.issues.iter().all(|issue| issue.severity != Severity::Error || issue.fix.is_none()),
            "{:#?}", after.issues
        );
        let before = errors(&before.issues);
        for (code, count) in errors(&after.issues) {
            // What a misplaced block hid is told once it has its place.
            let known = before.get(&code).copied().unwrap_or(0);
            prop_assert!(code.starts_with("schema.") || count <= known, "{code}: {known} to {count}");
        }
    }

    /// The drafts of these tests are right in substance, so that they compile once repaired.
    #[test]
    fn drafts_are_whole_after_a_repair(bytes in bytes()) {
        let draft = draft(&bytes);
        let repaired = repair(&draft.document);
        let left = errors(&repaired.issues);
        let known = ["grammar.count", "size.gmail_clip", "grammar"];
        prop_assert!(left.keys().all(|code| known.contains(&code.as_str())), "{left:?} {}", repaired.document);
    }

    /// Every change goes by a rule that is written about.
    #[test]
    fn changes_go_by_rules(bytes in bytes()) {
        for applied in repair(&draft(&bytes).document).applied {
            prop_assert!(RULES.iter().any(|(rule, _)| *rule == applied.code), "{applied:?}");
            prop_assert!(!applied.change.is_empty());
        }
    }

    /// R7: ids that can stay do.
    #[test]
    fn ids_stay(bytes in bytes()) {
        let draft = draft(&bytes);
        let document = repair(&draft.document).document.to_string();
        for id in &draft.ids {
            prop_assert!(document.contains(&format!("\"id\":\"{id}\"")), "{id} {document}");
        }
    }

    /// R8: a repair allows nothing that was not allowed.
    #[test]
    fn policy_stays(bytes in bytes(), allowed in any::<Option<bool>>()) {
        let mut document = draft(&bytes).document;
        if let Some(allowed) = allowed {
            document["policy"] = serde_json::json!({ "allowRaw": allowed });
        }
        document["kind"] = serde_json::json!("marketing");
        let repaired = repair(&document);
        let now = repaired.document["policy"]["allowRaw"].as_bool().unwrap_or(false);
        prop_assert_eq!(now, allowed.unwrap_or(false));
        prop_assert_eq!(&repaired.document["kind"], "marketing");
    }

    /// Nothing makes a check panic, and what text says a value says too.
    #[test]
    fn any_json_is_answered(value in json()) {
        let from_value = check(&value);
        let from_text = check(&value.to_string());
        prop_assert_eq!(from_value.ok, from_text.ok);
        let codes = |issues: &[Issue]| -> Vec<String> {
            issues.iter().map(|issue| format!("{} {}", issue.code, issue.path)).collect()
        };
        if !matches!(value, Value::String(_)) {
            let (mut one, mut two) = (codes(&from_value.issues), codes(&from_text.issues));
            one.sort();
            two.sort();
            prop_assert_eq!(one, two);
        }
        let once = repair(&value);
        if !once.unusable {
            let twice = repair(&once.document);
            prop_assert!(twice.applied.is_empty(), "{:#?}", twice.applied);
            prop_assert_eq!(twice.document, once.document);
        }
    }

    /// Nothing that is no JSON makes a check panic.
    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        let checked = check(&text);
        prop_assert!(checked.ok || !checked.issues.is_empty());
    }
}

/// JSON of the words that documents are made of.
fn json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "body",
        "section",
        "column",
        "text",
        "button",
        "image",
        "if",
        "each",
        "list",
        "item",
        "table",
        "row",
        "cell",
        "raw",
        "hero",
        "{{ a.b }}",
        "{{ a | upper }}",
        "{%",
        "<b>x</b>",
        "red",
        "#fff",
        "16px",
        "50%",
        "https://acme.test/{{ a }}",
        "javascript:x",
        "\\{{ a }}",
        "{a.b}",
        "**x**",
        "a",
        "a == 1",
        "",
        " ",
        "\u{2028}",
        "{{{ a }}}",
        "[x](y)",
        "*|A|*",
        "{{#if a}}x{{else}}y{{/if}}",
        "{% if a == 1 %}",
        "{% endif %}",
        "a && !b or c.length > 0",
        "x in a.b",
        "unless",
        "grid",
        "h2",
        "mobile",
        "color: red; font-size: 14px",
    ]);
    let key = prop::sample::select(vec![
        "type",
        "id",
        "version",
        "root",
        "children",
        "then",
        "else",
        "empty",
        "text",
        "label",
        "href",
        "src",
        "alt",
        "meta",
        "subject",
        "theme",
        "variables",
        "name",
        "sample",
        "item",
        "cond",
        "var",
        "op",
        "value",
        "all",
        "not",
        "in",
        "as",
        "marks",
        "md",
        "lines",
        "pad",
        "width",
        "color",
        "bg",
        "gradient",
        "attrs",
        "props",
        "blocks",
        "parent",
        "rows",
        "items",
        "style",
        "policy",
        "dark",
        "repeat",
        "elseif",
        "when",
        "showOn",
        "hideOnMobile",
        "ordered",
        "span",
        "size",
        "variant",
        "hasHeader",
        "spans",
        "code",
        "footer",
        "button_text",
        "h1",
        "ul",
        "strong",
        "br",
        "fallbackColor",
        "facebook",
        "content",
        "background",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-10_i64..3_000).prop_map(Value::from),
        (-10.0_f64..200.0).prop_map(Value::from),
        word.clone().prop_map(Value::from),
        (word.clone(), word).prop_map(|(one, two)| Value::from(format!("{one}{two}"))),
    ];
    let kinds = prop::sample::select(vec![
        "body", "section", "column", "text", "button", "image", "if", "each", "list", "table",
        "row", "heading", "quote", "footer", "code", "video", "menu", "social", "panel", "hero",
        "raw",
    ]);
    leaf.prop_recursive(7, 120, 6, move |inner| {
        let block = (
            kinds.clone(),
            prop::collection::vec((key.clone(), inner.clone()), 0..5),
        )
            .prop_map(|(kind, keys)| {
                let mut object: serde_json::Map<String, Value> = keys
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect();
                object.insert("type".to_owned(), Value::from(kind));
                Value::Object(object)
            });
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|keys| {
                Value::Object(
                    keys.into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
            block,
        ]
    })
}
