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
        format!(
            "<p {}>",
            (0..30_000)
                .map(|at| format!("a{at}=1 "))
                .collect::<String>()
        ),
        "<img src=x>".repeat(12_000),
        "<h1>a</h1><h6>b</h6>".repeat(10_000),
        "<a href='http://e.test/'>click here</a>".repeat(5_000),
        "<a>".repeat(2_000) + &"<p>x".repeat(20_000),
        format!(
            "<style>{}</style>{}",
            "@media a{b{c:d}}".repeat(2_000),
            "<img src=logo.png alt=logo>".repeat(5_000)
        ),
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

/// Lines that cannot be broken are told at the block that they are of.
#[test]
fn long_lines_of_compiled_documents_are_told() {
    let long = "x".repeat(1_500);
    let cases = [
        (
            json!({"type": "button", "label": "Go", "href": format!("https://acme.test/{long}")}),
            true,
        ),
        (
            json!({"type": "image", "src": "https://cdn.acme.test/a.png", "alt": "\u{6f22}".repeat(1_000), "width": 9, "height": 9}),
            true,
        ),
        (json!({"type": "text", "text": "{{ word }}"}), true),
        (json!({"type": "text", "text": long}), false),
        (json!({"type": "text", "text": "word ".repeat(400)}), false),
    ];
    for (block, told) in cases {
        let document = json!({"version": 2, "meta": {"lang": "en", "subject": "S"}, "kind": "personal",
            "variables": [{"name": "word", "sample": "y".repeat(3_000)}],
            "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [block]}]}]}});
        let made =
            postroom_compose::compile(&document, &postroom_compose::emit::Options::default(), true);
        let found = made
            .issues
            .iter()
            .find(|issue| issue.code == "size.long_line");
        assert_eq!(found.is_some(), told, "{block}");
        assert!(
            found.is_none_or(|issue| issue.path == "root.children.0.children.0.children.0"),
            "{found:?}"
        );
        let longest = made.compiled.code.lines().map(str::len).max().unwrap();
        assert_eq!(longest > 900, told);
    }
}

/// The way to unsubscribe needs a dialect, or an address.
#[test]
fn a_way_to_unsubscribe_that_leads_nowhere_is_told() {
    let newsletter = postroom_compose::starter("newsletter").unwrap().text;
    let severity = |issues: &[Issue]| {
        issues
            .iter()
            .find(|issue| issue.code == "link.placeholder")
            .map(|issue| issue.severity)
    };
    let compiled = |dialect| {
        let options = postroom_compose::emit::Options {
            dialect,
            ..Default::default()
        };
        postroom_compose::compile(newsletter, &options, false).issues
    };
    use postroom_compose::{Severity, dialect::Dialect};
    assert_eq!(severity(&check(newsletter).issues), Some(Severity::Info));
    assert_eq!(severity(&compiled(Dialect::None)), Some(Severity::Warning));
    let mut stated: Value = serde_json::from_str(newsletter).unwrap();
    let text = stated.to_string().replace(
        "\"type\":\"unsubscribe\"",
        "\"type\":\"unsubscribe\",\"href\":\"https://acme.test/u\"",
    );
    stated = serde_json::from_str(&text).unwrap();
    assert_eq!(severity(&check(&stated).issues), None);
}

/// What we compile is as good in the eyes of the lint of foreign HTML as the document was.
#[test]
fn our_own_html_has_nothing_to_warn_of() {
    for starter in postroom_compose::STARTERS {
        let options = postroom_compose::emit::Options::default();
        let made = postroom_compose::compile(starter.text, &options, false);
        let mail = Foreign {
            html: &made.compiled.code,
            ..Foreign::default()
        };
        let found = lint::html(&mail, &Options::default());
        let warned: Vec<&Issue> = found
            .iter()
            .filter(|issue| {
                issue.severity != postroom_compose::Severity::Info
                    && issue.code != "link.placeholder"
            })
            .collect();
        assert!(warned.is_empty(), "{}: {warned:#?}", starter.name);
    }
}

/// Who names mail programs hears what they do not show of a document.
#[test]
fn named_programs_are_asked_about_documents_too() {
    let document = json!({"version": 2, "meta": {"lang": "en", "subject": "S"}, "kind": "personal", "theme": {"fontUrl": "https://acme.test/f.css"},
        "root": {"type": "body", "children": [
            {"type": "section", "bg": "#111111", "gradient": {"from": "#111111", "to": "#222222"}, "bgImage": {"src": "https://acme.test/a.png"}, "hideOn": "mobile",
                "children": [{"type": "column", "children": [{"type": "button", "label": "Go", "href": "https://acme.test/", "radius": 4}]}]}]}});
    let told = |clients: &[&str]| {
        let clients = clients.iter().map(|name| (*name).to_owned()).collect();
        let issues = postroom_compose::check_with(&document, &Options { clients }).issues;
        let compat = issues
            .iter()
            .filter(|issue| issue.code.starts_with("compat."));
        compat
            .map(|issue| issue.code.to_string())
            .collect::<Vec<_>>()
    };
    assert!(told(&[]).is_empty());
    let outlook = told(&["outlook.windows"]);
    for slug in [
        "css-linear-gradient",
        "css-background-image",
        "css-at-media",
        "css-border-radius",
    ] {
        assert!(
            outlook.contains(&format!("compat.{slug}")),
            "{slug} of {outlook:?}"
        );
    }
    assert!(
        told(&["apple-mail.macos"]).is_empty(),
        "{:?}",
        told(&["apple-mail.macos"])
    );
}
