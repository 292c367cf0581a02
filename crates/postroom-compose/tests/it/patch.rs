//! Changes by ids, and differences.

use postroom_compose::{Change, STARTERS, canonical, diff, patch, repair};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::draft::draft;

fn changes(value: Value) -> Vec<Change> {
    serde_json::from_value(value).expect("changes")
}

fn base() -> Value {
    canonical(&json!({
        "version": 2,
        "meta": { "subject": "Hello", "lang": "en" },
        "root": { "type": "body", "children": [
            { "type": "section", "id": "one", "children": [{ "type": "column", "id": "left", "children": [
                { "type": "text", "id": "intro", "text": "Before" },
                { "type": "divider", "id": "line" }
            ] }] },
            { "type": "section", "id": "two", "children": [{ "type": "column", "id": "right", "children": [
                { "type": "text", "id": "outro", "text": "After" }
            ] }] }
        ] }
    })).expect("a document")
}

#[test]
fn a_word_is_changed_without_the_rest() {
    let patched = patch(
        &base(),
        &changes(
            json!([{ "op": "set", "id": "intro", "set": { "text": "Now {{ user.name }}", "align": "center" } }]),
        ),
    );
    assert_eq!(
        patched
            .issues
            .iter()
            .filter(|issue| issue.is_error())
            .count(),
        1,
        "{:#?}",
        patched.issues
    );
    assert!(!patched.ok, "the variable is not declared");
    let patched = patch(
        &base(),
        &changes(json!([
            { "op": "set", "id": "intro", "set": { "text": "Now {{ user.name }}", "align": "center" } },
            { "op": "set", "part": "document", "set": { "variables": [{ "name": "user.name", "sample": "Ada" }] } },
            { "op": "set", "part": "meta", "set": { "subject": "News" } }
        ])),
    );
    assert!(patched.ok, "{:#?}", patched.issues);
    let intro = &patched.document["root"]["children"][0]["children"][0]["children"][0];
    assert_eq!(
        intro["text"][1],
        json!({ "type": "var", "name": "user.name" })
    );
    assert_eq!(patched.document["meta"]["subject"][0]["text"], "News");
}

#[test]
fn blocks_come_move_and_go() {
    let patched = patch(
        &base(),
        &changes(json!([
            { "op": "insert", "block": { "type": "text", "id": "new", "text": "New" }, "after": "intro" },
            { "op": "move", "id": "outro", "before": "intro" },
            { "op": "remove", "id": "two" },
            { "op": "replace", "id": "line", "block": { "type": "spacer" } },
            { "op": "insert", "block": { "type": "text", "text": "Last" }, "into": "left" },
            { "op": "insert", "block": { "type": "text", "text": "First" }, "into": "left", "at": 0 }
        ])),
    );
    assert!(patched.ok, "{:#?}", patched.issues);
    let left = patched.document["root"]["children"][0]["children"][0]["children"]
        .as_array()
        .expect("blocks")
        .clone();
    let ids: Vec<&str> = left
        .iter()
        .filter_map(|block| block["id"].as_str())
        .collect();
    assert_eq!(
        ids,
        ["text-2", "outro", "intro", "new", "line", "text-1"].map(|id| match id {
            "text-2" => "text-1",
            "text-1" => "text-2",
            id => id,
        })
    );
    assert_eq!(left[4]["type"], "spacer");
}

#[test]
fn all_changes_are_made_or_none() {
    for (bad, code) in [
        (json!({ "op": "remove", "id": "nobody" }), "patch.target"),
        (json!({ "op": "remove", "id": "body-1" }), "patch.invalid"),
        (json!({ "op": "set", "set": {} }), "patch.invalid"),
        (
            json!({ "op": "set", "id": "intro", "set": { "type": "button" } }),
            "patch.invalid",
        ),
        (
            json!({ "op": "set", "part": "root", "set": {} }),
            "patch.invalid",
        ),
        (
            json!({ "op": "insert", "block": {}, "into": "intro" }),
            "patch.invalid",
        ),
        (
            json!({ "op": "insert", "block": {}, "into": "left", "slot": "then" }),
            "patch.invalid",
        ),
        (
            json!({ "op": "move", "id": "one", "into": "left" }),
            "patch.invalid",
        ),
        (json!({ "op": "move", "id": "one" }), "patch.invalid"),
    ] {
        let ops = changes(json!([{ "op": "remove", "id": "line" }, bad]));
        let patched = patch(&base(), &ops);
        assert!(!patched.ok);
        assert_eq!(patched.document, base(), "{bad}");
        assert_eq!(patched.issues.len(), 1);
        assert_eq!(
            (
                patched.issues[0].code.as_ref(),
                patched.issues[0].path.as_str()
            ),
            (code, "ops.1"),
            "{bad}"
        );
    }
}

#[test]
fn a_difference_names_what_changed() {
    let changed = patch(
        &base(),
        &changes(json!([
            { "op": "set", "id": "intro", "set": { "text": "Other" } },
            { "op": "remove", "id": "line" }
        ])),
    )
    .document;
    let difference = diff(&base(), &changed);
    assert_eq!(
        difference.changes,
        ["text intro: text changed", "line removed"]
    );
    assert!(!difference.equal);
    assert!(diff(&base(), &base()).equal);
    assert!(!diff("no JSON", &base()).ok);
}

#[test]
fn differences_lead_from_starter_to_starter() {
    for one in STARTERS {
        for two in STARTERS {
            let (before, after) = (
                canonical(one.text).expect("one"),
                canonical(two.text).expect("two"),
            );
            let difference = diff(&before, &after);
            let patched = patch(&before, &difference.ops);
            let left = diff(&patched.document, &after).changes;
            assert!(
                patched.document == after,
                "{} to {}: {left:#?} after {:#?}",
                one.name,
                two.name,
                difference.changes
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Making the differences makes the other document.
    #[test]
    fn differences_lead_to_the_other(one in prop::collection::vec(any::<u8>(), 0..200), two in prop::collection::vec(any::<u8>(), 0..200)) {
        let (before, after) = (repair(&draft(&one).document), repair(&draft(&two).document));
        prop_assume!(before.ok && after.ok);
        let difference = diff(&before.document, &after.document);
        prop_assert_eq!(difference.equal, before.document == after.document);
        let patched = patch(&before.document, &difference.ops);
        prop_assert_eq!(patched.document, after.document);
    }
}

#[test]
fn a_patch_allows_no_raw_html_and_inserts_blocks_only() {
    let document = serde_json::json!({"version": 2, "meta": {"lang": "en"}, "root": {"type": "body", "id": "body", "children": [
        {"type": "section", "id": "s", "children": [{"type": "column", "id": "c", "children": [{"type": "text", "id": "t", "text": "a"}]}]}]}});
    for (change, allowed) in [
        (
            serde_json::json!({"op": "set", "part": "policy", "set": {"allowRaw": true}}),
            false,
        ),
        (
            serde_json::json!({"op": "set", "part": "policy", "set": {"allowRaw": "yes"}}),
            false,
        ),
        (
            serde_json::json!({"op": "set", "part": "policy", "set": {"allowRaw": false}}),
            true,
        ),
        (
            serde_json::json!({"op": "insert", "block": null, "into": "c"}),
            false,
        ),
        (
            serde_json::json!({"op": "insert", "block": "words", "into": "c"}),
            false,
        ),
        (
            serde_json::json!({"op": "insert", "block": {"type": "text", "text": "b"}, "into": "c"}),
            true,
        ),
    ] {
        let one: postroom_compose::Change =
            serde_json::from_value(change.clone()).expect("a change");
        let patched = postroom_compose::patch(&document, &[one]);
        assert_eq!(patched.ok, allowed, "{change}: {:#?}", patched.issues);
    }
}

#[test]
fn a_comparison_tells_what_the_second_document_lost_before_it() {
    let text = |words: &str| serde_json::json!({"type": "section", "id": words, "children": [{"type": "column", "id": format!("{words}-c"), "children": [{"type": "text", "id": format!("{words}-t"), "text": words}]}]});
    let whole = |sections: serde_json::Value| serde_json::json!({"version": 2, "meta": {"lang": "en"}, "root": {"type": "body", "id": "body", "children": sections}});
    let before = whole(serde_json::json!([text("one"), text("two")]));
    let after =
        whole(serde_json::json!([text("one"), {"type": "section", "id": "two", "children": []}]));
    let difference = postroom_compose::diff(&before, &after);
    assert!(
        difference
            .changes
            .iter()
            .any(|line| line.contains("repaired first") && line.contains("section removed")),
        "{:#?}",
        difference.changes
    );
}

#[test]
fn a_document_and_what_its_repair_made_are_not_the_same() {
    let draft = serde_json::json!({"version": 2, "meta": {"lang": "en"}, "root": {"type": "body", "children": [{"type": "text", "text": "a", "size": "20px"}]}});
    let repaired = postroom_compose::repair(&draft).document;
    let difference = postroom_compose::diff(&draft, &repaired);
    assert!(
        !difference.equal && !difference.changes.is_empty(),
        "{difference:#?}"
    );
    assert!(postroom_compose::diff(&draft, &draft).equal);
    assert!(postroom_compose::diff(&repaired, &repaired).equal);
}
