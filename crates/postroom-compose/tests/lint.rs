//! Every lint has a document or a page that it speaks of, and one that it does not.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

use postroom_compose::{
    Code, Issue, check,
    lint::{self, Foreign, Options},
    model::Kind,
};
use serde_json::{Value, json};

/// Everything listed, the finest print included.
fn all_clients() -> Options {
    Options {
        clients: vec!["all".to_owned()],
    }
}

fn has(issues: &[Issue], code: &str) -> bool {
    issues.iter().any(|issue| issue.code == code)
}

fn base() -> Value {
    json!({
        "version": 2,
        "meta": {"subject": "The report of May", "preheader": "What happened in May, and what it means for June and July.", "lang": "en"},
        "root": {"type": "body", "children": [
            {"type": "section", "children": [{"type": "column", "children": [
                {"type": "heading", "level": 1, "text": "The report of May"},
                {"type": "text", "text": "Words enough to read while the pictures load, whoever reads them."},
                {"type": "image", "src": "https://cdn.acme.test/a.png", "alt": "A chart of May", "width": 300, "height": 150}
            ]}]},
            {"type": "section", "children": [{"type": "column", "children": [{"type": "text", "text": "More words"}]}]}
        ]}
    })
}

/// Puts values at JSON pointers; null removes.
fn set(document: &mut Value, changes: &Value) {
    for (pointer, value) in changes.as_object().unwrap() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap();
        match parent {
            Value::Object(fields) if value.is_null() => {
                fields.remove(key);
            }
            Value::Object(fields) => {
                fields.insert(key.to_owned(), value.clone());
            }
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
            _ => panic!("{pointer} leads nowhere"),
        }
    }
}

fn issues_of(document: &Value) -> Vec<Issue> {
    let checked = check(document);
    match checked.document {
        Some(document) => lint::document(&document, &Options::default()),
        None => checked.issues,
    }
}

#[test]
fn documents() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("lint/documents.json")).unwrap();
    for case in &cases {
        let code = case["code"].as_str().unwrap();
        let mut passes = base();
        set(&mut passes, case.get("passes").unwrap_or(&json!({})));
        let found = issues_of(&passes);
        assert!(!has(&found, code), "{code} in {found:#?}");
        let mut fails = base();
        set(&mut fails, &case["set"]);
        if let Some(bytes) = case["fill"].as_u64() {
            let words = "word ".repeat(usize::try_from(bytes / 5).unwrap() - 1_000);
            fails["root"]["children"][1]["children"][0]["children"][0]["text"] = json!(words);
        }
        let found = issues_of(&fails);
        assert!(has(&found, code), "no {code} in {found:#?}");
        let issue = found.iter().find(|issue| issue.code == code).unwrap();
        assert!(
            !issue.message.is_empty() && !issue.hint.is_empty(),
            "{issue:?}"
        );
    }
}

#[test]
fn pages() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("lint/html.json")).unwrap();
    for case in &cases {
        let code = case["code"].as_str().unwrap();
        let kind = (case["kind"] == "marketing").then_some(Kind::Marketing);
        for (name, wanted) in [("fails", true), ("passes", false)] {
            let html = case[name].as_str().or(case["html"].as_str()).unwrap();
            let mail = Foreign {
                html,
                subject: case[name]["subject"].as_str(),
                preheader: case[name]["preheader"].as_str(),
                kind,
            };
            let found = lint::html(&mail, &all_clients());
            assert_eq!(has(&found, code), wanted, "{code} of {name}: {found:#?}");
        }
    }
}

#[test]
fn places_of_a_page_have_lines_and_columns() {
    let html = "<html lang=\"en\">\n<p>Words</p>\n  <a href=\"http://acme.test/\">The prices</a>";
    let found = lint::html(
        &Foreign {
            html,
            ..Foreign::default()
        },
        &Options::default(),
    );
    let issue = found
        .iter()
        .find(|issue| issue.code == "link.http")
        .unwrap();
    assert_eq!((issue.line, issue.column), (Some(3), Some(3)));
}

#[test]
fn clients_narrow_what_is_said_of_support() {
    let html = "<div style=\"display:grid\">Words</div>";
    let ask = |clients: &[&str]| {
        let clients = clients.iter().map(|name| (*name).to_owned()).collect();
        let found = lint::html(
            &Foreign {
                html,
                ..Foreign::default()
            },
            &Options { clients },
        );
        found
            .into_iter()
            .find(|issue| issue.code == "compat.css-display-grid")
            .map(|issue| issue.clients)
    };
    assert_eq!(ask(&["apple-mail"]), None);
    assert_eq!(
        ask(&["outlook.windows"]),
        Some(vec!["outlook.windows".to_owned()])
    );
    assert!(
        ask(&[])
            .unwrap()
            .iter()
            .any(|client| client.starts_with("outlook."))
    );
    assert_eq!(
        lint::clients_named(&["lotus".to_owned()]),
        Err("lotus".to_owned())
    );
}

#[test]
fn every_code_of_mail_programs_has_a_case() {
    let named = |text: &str| {
        let cases: Vec<Value> = serde_json::from_str(text).unwrap();
        cases
            .into_iter()
            .filter_map(|case| case["code"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let mut cases = named(include_str!("lint/html.json"));
    cases.extend(named(include_str!("lint/documents.json")));
    let families = [
        "image.",
        "link.",
        "subject.",
        "preheader.",
        "dark.",
        "outlook.",
        "size.",
        "spam.",
        "secret.",
        "date.",
    ];
    for code in Code::ALL {
        let name = code.name();
        // Tested where it comes from.
        if matches!(name, "link.too_long") {
            continue;
        }
        if families.iter().any(|family| name.starts_with(family)) {
            assert!(cases.iter().any(|case| case == name), "no case of {name}");
        }
    }
}

#[test]
fn hostile_pages_are_read_in_time() {
    for hostile in [
        "<a ".repeat(200_000),
        "<a>".repeat(50_000) + &"x ".repeat(50_000),
        "<style>".repeat(50_000),
        "<!--".repeat(200_000),
        "&".repeat(500_000),
        "<p style=\"".to_owned() + &"(".repeat(500_000),
        format!("<style>{}", "@media{".repeat(100_000)),
        format!("<td style=\"a:{}\">", "b;".repeat(200_000)),
    ] {
        let found = lint::html(
            &Foreign {
                html: &hostile,
                ..Foreign::default()
            },
            &Options::default(),
        );
        assert!(found.len() < 1_000);
    }
}
