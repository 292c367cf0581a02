//! Words under keys that no block has are kept, or somebody is told and the draft is not taken as good.

use postroom_compose::{
    check,
    emit::{Options, Target, compile},
    repair,
};
use serde_json::{Value, json};

const WORDS: &str = "KEEPME words";

fn document(children: &Value) -> Value {
    json!({"version": 2, "kind": "personal",
        "meta": {"subject": "S", "preheader": "A preview line that is long enough to pass the check.", "lang": "en"},
        "root": {"type": "body", "children": children}})
}

fn good() -> Value {
    json!({"type": "section", "children": [{"type": "column", "children": [{"type": "text", "text": "good"}]}]})
}

/// Nothing is lost in silence.
fn judge(name: &str, draft: &Value) {
    let repaired = repair(draft);
    let shown = repaired.model.as_ref().map(|document| {
        let options = Options {
            target: Target::Text,
            ..Options::default()
        };
        compile(document, &options).code
    });
    let shown = shown.unwrap_or_default().replace('\n', " ");
    let kept = repaired.document.to_string().contains(WORDS);
    assert!(kept, "{name}: the words are gone: {:#}", repaired.document);
    assert!(
        shown.contains(WORDS) || !repaired.ok,
        "{name}: nobody sees the words and the draft is good: {:#}",
        repaired.document
    );
    assert!(
        !check(draft).ok || shown.contains(WORDS),
        "{name}: the check is content"
    );
}

#[test]
fn words_of_containers_and_leaves_are_not_lost() {
    let text = json!({"type": "text", "text": WORDS});
    for key in [
        "elements",
        "components",
        "modules",
        "nodes",
        "widgets",
        "rows",
        "columns",
        "cells",
        "value",
        "slots",
        "default",
        "inner",
        "sections",
        "groups",
        "blocks",
        "contents",
        "body",
        "layout",
        "data",
        "then",
        "left",
        "right",
        "header",
    ] {
        let section = json!({"type": "section", key: [{"type": "column", "children": [text]}]});
        judge(
            &format!("section.{key}"),
            &document(&json!([good(), section])),
        );
        let column = json!({"type": "section", "children": [{"type": "column", key: [text]}]});
        judge(
            &format!("column.{key}"),
            &document(&json!([good(), column])),
        );
        judge(
            &format!("typeless.{key}"),
            &document(&json!([good(), {key: [text]}])),
        );
    }
    for key in [
        "heading",
        "title",
        "headline",
        "subtitle",
        "content",
        "text",
        "caption",
        "description",
        "copy",
        "button",
        "cta",
    ] {
        let value = if matches!(key, "button" | "cta") {
            json!({"text": WORDS, "url": "https://a.test/"})
        } else {
            json!(WORDS)
        };
        for kind in [
            "section",
            "hero",
            "panel",
            "card",
            "header",
            "box",
            "container",
        ] {
            let draft = document(&json!([good(), {"type": kind, key: value}]));
            judge(&format!("{kind}.{key}"), &draft);
        }
        for kind in [
            "column", "list", "table", "footer", "menu", "social", "divider", "quote", "spacer",
        ] {
            let blocks = json!([{"type": "text", "text": "good"}, {"type": kind, key: value}]);
            let draft = document(
                &json!([{"type": "section", "children": [{"type": "column", "children": blocks}]}]),
            );
            judge(&format!("{kind}.{key}"), &draft);
        }
    }
}

#[test]
fn blocks_that_nobody_knows_are_not_dropped_in_silence() {
    let wrapped = document(&json!([{"type": "text", "text": WORDS}]));
    let inside = |block: Value| {
        document(
            &json!([good(), {"type": "section", "children": [{"type": "column", "children": [block]}]}]),
        )
    };
    let drafts = [
        document(&json!([good(), {"foo": WORDS}])),
        inside(json!({"value": WORDS})),
        inside(json!({"foo": {"bar": WORDS}})),
        inside(json!({"type": "text", "md": WORDS})),
        inside(json!({"type": "text", "text": [{"markdown": WORDS}]})),
        inside(json!({"type": "text", "text": "good", "content": WORDS})),
        inside(json!({"type": "item", "text": "good", "remark": WORDS})),
        inside(json!({"Type": "Text", "Text": WORDS})),
        document(
            &json!([good(), {"kind": "section", "children": [{"type": "text", "text": WORDS}]}]),
        ),
        document(
            &json!([good(), {"component": "Section", "children": [{"component": "Text", "content": WORDS}]}]),
        ),
        document(&json!([good(), {"blockType": "text", "text": WORDS}])),
        json!({"document": wrapped}),
        json!({"template": {"rows": [{"columns": [{"modules": [{"type": "paragraph", "text": WORDS}]}]}]}}),
        json!({"body": {"rows": [{"columns": [{"contents": [{"type": "text", "values": {"text": WORDS}}]}]}]}}),
        json!({"tagName": "mjml", "children": [{"tagName": "mj-body", "children": [{"tagName": "mj-section", "children": [
            {"tagName": "mj-column", "children": [{"tagName": "mj-text", "content": WORDS}]}]}]}]}),
        json!({"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": WORDS}]}]}),
        json!({"subject": "Top", "sections": [{"title": "One", "content": WORDS, "button": {"text": "Go", "url": "https://acme.test"}}]}),
        json!({"Version": 2, "Meta": {"Subject": "S"}, "Root": {"Type": "body", "Children": [{"Type": "Text", "Text": WORDS}]}}),
    ];
    for draft in drafts {
        judge(&draft.to_string(), &draft);
    }
}

#[test]
fn a_text_under_a_key_that_stands_twice_is_told() {
    let text = r#"{"version":2,"meta":{"lang":"en","subject":"S"},"root":{"type":"body","children":[{"type":"text","text":"KEEPME words","text":"others"}]}}"#;
    for issues in [check(text).issues, repair(text).issues] {
        assert!(
            issues
                .iter()
                .any(|issue| issue.is_error() && issue.message.contains(WORDS)),
            "{issues:#?}"
        );
    }
}

#[test]
fn subject_and_preview_line_by_other_names_are_not_lost() {
    let named = [
        ("Subject", "subject"),
        ("SUBJECT", "subject"),
        ("Title", "title"),
        ("subjectLine", "subject"),
        ("subject_line", "subject"),
        ("emailSubject", "subject"),
        ("headline", "subject"),
        ("subjct", "subject"),
        ("Preheader", "preheader"),
        ("preHeader", "preheader"),
        ("snippet", "preheader"),
    ];
    for (key, ours) in named {
        let mut draft = document(&json!([good()]));
        draft["meta"] = json!({"lang": "en", key: WORDS});
        let repaired = repair(&draft);
        assert!(repaired.ok, "{key}: {:#?}", repaired.issues);
        let found = repaired.document["meta"][ours].to_string();
        assert!(found.contains(WORDS), "{key}: {:#}", repaired.document);
    }
    let mut draft = document(&json!([good()]));
    draft["meta"] = json!({"subject": "S", "Lang": "de"});
    assert_eq!(repair(&draft).document["meta"]["lang"], "de");
    draft["meta"] = json!({"subject": "S", "lang": "en", "strapline": "Word"});
    let repaired = repair(&draft);
    assert!(!repaired.ok, "{:#}", repaired.document);
    assert_eq!(repaired.document["meta"]["strapline"], "Word");
    let meta = draft.as_object_mut().and_then(|draft| draft.remove("meta"));
    assert!(meta.is_some());
    draft["metadata"] = json!({"subject": WORDS, "lang": "en"});
    let found = repair(&draft).document["meta"]["subject"].to_string();
    assert!(found.contains(WORDS), "{found}");
}

#[test]
fn conditions_and_kinds_by_other_names_are_not_lost() {
    for key in ["if", "when", "condition", "showIf"] {
        for kind in ["text", "heading"] {
            let block = json!({"type": kind, "text": WORDS, key: "plan == 'pro'"});
            let repaired = repair(&document(&json!([good(), block])));
            let written = repaired.document.to_string();
            assert!(written.contains(r#""value":"pro""#), "{key}: {written}");
        }
        let item = json!({"type": "item", "text": WORDS, key: "plan == 'pro'"});
        let list = json!({"type": "list", "children": [{"type": "item", "text": "a"}, item]});
        let written = repair(&document(&json!([list]))).document.to_string();
        assert!(written.contains(r#""value":"pro""#), "{key}: {written}");
    }
    let mut draft = document(&json!([good()]));
    draft.as_object_mut().map(|draft| draft.remove("kind"));
    draft["type"] = json!("marketing");
    assert_eq!(repair(&draft).document["kind"], "marketing");
}

#[test]
fn samples_of_addresses_have_a_scheme_of_mail() {
    let text = json!({"type": "button", "label": "Go", "href": "{{ link }}"});
    let mut draft = document(&json!([text]));
    for (sample, bad) in [
        ("javascript:alert(1)", true),
        ("data:text/html,x", true),
        ("vbscript:x", true),
        ("java\tscript:x", true),
        ("/orders/1", false),
        ("https://acme.test/", false),
    ] {
        draft["variables"] = json!([{"name": "link", "type": "url", "sample": sample}]);
        let found = check(&draft)
            .issues
            .iter()
            .any(|issue| issue.code == "url.scheme");
        assert_eq!(found, bad, "{sample}");
    }
}
