//! Every code of the document itself has a document that it speaks of and one that it does not.

use std::{collections::BTreeSet, path::Path};

use postroom_compose::{Code, Severity, check, repair};
use postroom_types::limit;
use serde_json::Value;

/// Codes that the lints of `tests/lint.rs`, the compiler and patches give.
const ELSEWHERE: &[&str] = &[
    "patch.",
    "size.",
    "dialect.",
    "compat",
    "backend.",
    "dark.",
    "outlook.",
    "preheader.",
    "subject.",
    "spam.",
];

fn fixtures() -> Vec<(String, bool, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/codes");
    let mut found: Vec<(String, bool, String)> = std::fs::read_dir(folder)
        .expect("the fixtures are there")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let text = std::fs::read_to_string(&path).expect("text");
            let name = name.strip_suffix(".json").expect("JSON");
            let (code, kind) = name.rsplit_once('.').expect("a kind");
            (code.to_owned(), kind == "fail", text)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_code_has_what_it_speaks_of_and_what_not() {
    for (code, fails, text) in fixtures() {
        let checked = check(&text);
        let found = checked.issues.iter().find(|issue| issue.code == code);
        if !fails {
            assert_eq!(found, None, "{code}");
            assert!(checked.ok, "{code}: {:#?}", checked.issues);
            continue;
        }
        let issue = found.unwrap_or_else(|| panic!("no {code} in {:#?}", checked.issues));
        assert!(
            !issue.message.is_empty() && !issue.hint.is_empty(),
            "{issue:?}"
        );
        assert_eq!(
            checked.ok,
            !checked
                .issues
                .iter()
                .any(|issue| issue.severity == Severity::Error)
        );
        if code != "issues.truncated" {
            assert!(issue.line.is_some() && issue.column.is_some(), "{issue:?}");
        }
        let document: Option<Value> = serde_json::from_str(&text).ok();
        if let (Some(document), false) = (document, issue.pointer.is_empty()) {
            assert!(document.pointer(&issue.pointer).is_some(), "{issue:?}");
        }
        if issue.fix.is_some() {
            let repaired = repair(&text);
            let left = repaired.issues.iter().filter(|issue| issue.code == code);
            assert_eq!(left.count(), 0, "{code}");
            assert!(!repaired.applied.is_empty(), "{code}");
        }
    }
}

#[test]
fn no_code_is_without_fixtures() {
    let have: BTreeSet<String> = fixtures().into_iter().map(|(code, ..)| code).collect();
    let lints =
        include_str!("../lint/documents.json").to_owned() + include_str!("../lint/html.json");
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.name())
        .filter(|name| {
            !have.contains(*name)
                && !ELSEWHERE.iter().any(|start| name.starts_with(start))
                && !lints.contains(&format!("\"{name}\""))
                && *name != "limit.size"
                && *name != "var.url_unchecked"
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for code in have {
        assert!(Code::named(&code).is_some(), "{code}");
    }
}

#[test]
fn what_is_past_a_bound_is_unusable() {
    let filler = |bytes: usize| format!("{{\"version\":2,\"root\":[\"{}\"]}}", "x".repeat(bytes));
    let around = filler(0).len();
    let checked = check(&filler(limit::COMPOSE_BYTES - around));
    assert!(!checked.unusable);
    let checked = check(&filler(limit::COMPOSE_BYTES - around + 1));
    assert!(checked.unusable && !checked.ok);
    assert_eq!(checked.issues.len(), 1);
    assert_eq!(checked.issues[0].code, "limit.size");
    let value: Value = serde_json::from_str(&filler(limit::COMPOSE_BYTES)).expect("JSON");
    assert!(check(&value).unusable);
    assert!(repair(&value).unusable);
}

#[test]
fn pages_are_written_and_names_stable() {
    let mut names = BTreeSet::new();
    for code in Code::ALL {
        let page = code.page();
        assert!(names.insert(page.name), "{} stands twice", page.name);
        assert_eq!(Code::named(page.name), Some(*code));
        for line in [page.title, page.meaning, page.hint] {
            assert!(
                line.ends_with(['.', '"', ')']) || line.ends_with('?'),
                "{}: {line}",
                page.name
            );
        }
    }
}

#[test]
fn a_rejected_block_hides_what_follows_from_it() {
    let document = serde_json::json!({
        "version": 2,
        "root": { "type": "body", "children": [{ "type": "button", "label": "Go", "width": "wide", "extra": 1 }] }
    });
    let checked = check(&document);
    let codes: Vec<&str> = checked
        .issues
        .iter()
        .map(|issue| issue.code.as_ref())
        .collect();
    assert!(codes.contains(&"grammar"), "{codes:?}");
    assert!(
        !codes.iter().any(|code| code.starts_with("schema.")),
        "{codes:?}"
    );
    // They are told once the block has its place.
    let repaired = repair(&document);
    let codes: Vec<&str> = repaired
        .issues
        .iter()
        .map(|issue| issue.code.as_ref())
        .collect();
    assert!(
        codes.contains(&"schema.missing") && codes.contains(&"schema.type"),
        "{codes:?}"
    );
}

/// A draft inside the bounds that its ids and spans bring past them is told so by both.
#[test]
fn a_draft_that_grows_past_the_bounds_is_told_so() {
    let blocks: Vec<Value> = (0..800)
        .map(|at| serde_json::json!({ "type": "text", "text": format!("Line {at}") }))
        .collect();
    let columns: Vec<Value> = blocks.chunks(50).map(|chunk| serde_json::json!({ "type": "section", "children": [{ "type": "column", "children": chunk }] })).collect();
    let document =
        serde_json::json!({ "version": 2, "root": { "type": "body", "children": columns } });
    let checked = check(&document);
    assert!(!checked.ok && !checked.unusable);
    assert!(
        checked
            .issues
            .iter()
            .any(|issue| issue.code == "limit.nodes")
    );
    let repaired = repair(&document);
    assert!(repaired.unusable && repaired.document.is_null());
    assert_eq!(
        repaired
            .issues
            .iter()
            .map(|issue| issue.code.as_ref())
            .collect::<Vec<_>>(),
        ["limit.nodes"]
    );
}
