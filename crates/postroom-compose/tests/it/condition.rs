//! A repair never shows more than a condition allowed.

use postroom_compose::repair;
use serde_json::{Value, json};

fn cases(kind: &str) -> Vec<Value> {
    let cases: Value = serde_json::from_str(include_str!("conditions.json")).expect("cases");
    let cases = cases[kind].as_array().expect("a list").clone();
    assert!(!cases.is_empty(), "{kind}");
    cases
}

fn draft(block: &Value) -> Value {
    json!({
        "version": 2,
        "meta": { "lang": "en" },
        "variables": [{ "name": "vip", "sample": "gold" }, { "name": "tier", "sample": "1" }],
        "root": { "type": "body", "children": [
            { "type": "section", "children": [{ "type": "column", "children": [block] }] },
            { "type": "section", "children": [{ "type": "column", "children": [
                { "type": "text", "text": "Words for everybody" }
            ] }] }
        ] }
    })
}

fn text_with(keys: &Value) -> Value {
    let mut block = json!({ "type": "text", "text": "Words for some" });
    for (key, value) in keys.as_object().expect("keys") {
        block[key.as_str()] = value.clone();
    }
    block
}

/// A draft for each place of a condition, and where the condition stands in it once repaired.
fn places(condition: &Value) -> Vec<(Value, &'static str)> {
    let words = json!([{ "type": "text", "text": "Words for some" }]);
    let mut section = draft(&words[0]);
    section["root"]["children"][0]["when"] = condition.clone();
    let span = json!({ "type": "text", "text": [
        { "text": "All " }, { "type": "if", "cond": condition, "then": "some" }
    ] });
    vec![
        (
            draft(&text_with(&json!({ "if": condition }))),
            "/root/children/0/children/0/children/0/visibleIf",
        ),
        (
            draft(&json!({ "type": "if", "condition": condition, "then": words })),
            "/root/children/0/children/0/children/0/cond",
        ),
        (section, "/root/children/0/visibleIf"),
        (
            draft(&span),
            "/root/children/0/children/0/children/0/text/1/cond",
        ),
    ]
}

fn refused(draft: &Value) {
    let repaired = repair(draft);
    assert!(!repaired.ok, "{draft:#} {:#}", repaired.document);
    let codes: Vec<&str> = repaired
        .issues
        .iter()
        .map(|issue| issue.code.as_ref())
        .collect();
    assert!(codes.contains(&"cond.invalid"), "{draft:#} {codes:?}");
    assert!(!repair(&repaired.document).ok, "{:#}", repaired.document);
}

#[test]
fn what_is_plain_is_translated() {
    for case in cases("plain") {
        for (draft, pointer) in places(&case["draft"]) {
            let repaired = repair(&draft);
            let found = repaired.document.pointer(pointer);
            assert_eq!(found, Some(&case["is"]), "{case} {pointer}");
            assert!(repaired.ok, "{case} {pointer}: {:#?}", repaired.issues);
            assert!(repair(&repaired.document).applied.is_empty(), "{case}");
        }
    }
}

#[test]
fn what_is_unclear_is_an_error() {
    for condition in cases("unclear") {
        for (draft, _) in places(&condition) {
            refused(&draft);
        }
    }
}

#[test]
fn keys_that_restrict_are_errors() {
    for keys in cases("restricting") {
        refused(&draft(&text_with(&keys)));
        let mut section = draft(&json!({ "type": "text", "text": "Words for some" }));
        for (key, value) in keys.as_object().expect("keys") {
            section["root"]["children"][0][key.as_str()] = value.clone();
        }
        refused(&section);
    }
}

#[test]
fn keys_that_restrict_nothing_are_none() {
    for keys in cases("everybody") {
        let repaired = repair(&draft(&text_with(&keys)));
        assert!(repaired.ok, "{keys}: {:#?}", repaired.issues);
        let text = &repaired.document["root"]["children"][0]["children"][0]["children"][0];
        assert_eq!(text.get("visibleIf"), None, "{keys}");
    }
}

#[test]
fn what_leaves_out_is_turned_round() {
    let turned = json!({ "not": { "var": "vip", "op": "exists" } });
    for key in cases("inverse") {
        let key = key.as_str().expect("a key");
        let words = json!([{ "type": "text", "text": "Words for some" }]);
        let around = draft(&json!({ "type": "if", key: "vip", "then": words }));
        let own = draft(&text_with(&json!({ key: "vip" })));
        for (draft, name) in [(around, "cond"), (own, "visibleIf")] {
            let repaired = repair(&draft);
            let block = &repaired.document["root"]["children"][0]["children"][0]["children"][0];
            assert_eq!(block[name], turned, "{key}");
            assert!(repaired.ok, "{key}: {:#?}", repaired.issues);
        }
        let span = json!({ "type": "text", "text": [
            { "text": "All " }, { "text": "some", key: "vip" }
        ] });
        refused(&draft(&span));
    }
}
