//! What each rule of a repair makes of a draft.

use postroom_compose::{Code, RULES, RepairOptions, check, reference, repair, repair_with, rules};
use serde_json::{Value, json};

#[test]
fn every_rule_does_what_it_says() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("repairs.json")).expect("cases");
    for case in &cases {
        let rule = case["rule"].as_str().expect("a rule");
        let repaired = repair(&case["draft"]);
        let document = &repaired.document;
        for (pointer, value) in case["expect"].as_object().expect("expectations") {
            assert_eq!(
                document.pointer(pointer),
                Some(value),
                "{rule} {pointer}: {document:#}"
            );
        }
        for pointer in case["absent"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            assert_eq!(
                document.pointer(pointer),
                None,
                "{rule} {pointer}: {document:#}"
            );
        }
        let rules: Vec<&str> = repaired
            .applied
            .iter()
            .map(|applied| applied.code)
            .collect();
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
        assert!(repaired.ok, "{rule}: {:#?}", repaired.issues);
    }
}

fn column(blocks: Value) -> Value {
    json!({ "version": 2, "meta": { "lang": "en" }, "root": { "type": "body", "children": [
        { "type": "section", "children": [{ "type": "column", "children": blocks }] }
    ] } })
}

/// Tags that do not match, or say what an if span cannot, stay words that are told of, each one.
#[test]
fn tags_without_a_match_are_left() {
    for (text, told) in [
        ("{{#if a}}words", 1),
        ("words{{/if}}", 1),
        ("{{#if a}}{{/if}}words", 2),
        ("{{#if a}}one{{else}}two{{else}}three{{/if}}", 3),
        ("{{#if a}}one{{else}}two{{else if b}}three{{/if}}", 4),
        ("{{#if this.a}}words{{/if}}", 2),
        ("{{#if (now)}}{{#each xs}}x{{/each}}{{/if}}", 4),
        ("{% if a %}words{{/if}} and {{#if b}}x{{/if}}", 3),
        ("{% if a | length > 2 %}words{% endif %}", 2),
    ] {
        let repaired = repair(&column(json!([{ "type": "text", "text": text }])));
        let left = repaired
            .issues
            .iter()
            .filter(|issue| issue.code.as_ref() == "var.syntax")
            .count();
        assert_eq!(left, told, "{text}: {:#?}", repaired.issues);
        let kept = repaired.document.to_string();
        assert!(!kept.contains("\"cond\""), "{text}: {kept}");
    }
}

/// What narrows or orders the list of a loop is never dropped.
#[test]
fn a_loop_that_narrows_its_list_is_left() {
    for (key, value) in [
        ("filter", json!("o.paid")),
        ("limit", json!(1)),
        ("sort", json!("date")),
        ("reverse", json!(true)),
    ] {
        let mut each = json!({ "type": "each", "in": "orders", "as": "o", "children": [
            { "type": "text", "text": "Order {{ o.id }}" }
        ] });
        each[key] = value;
        let repaired = repair(&column(json!([each])));
        let left = |issue: &postroom_compose::Issue| issue.code.as_ref() == "cond.invalid";
        assert!(
            !repaired.ok && repaired.issues.iter().any(left),
            "{key}: {:#?}",
            repaired.issues
        );
    }
}

/// A condition of a whole switch, or of a case, is never dropped with it.
#[test]
fn a_switch_with_more_to_say_is_left() {
    let words = json!([{ "type": "text", "text": "Words" }]);
    for switch in [
        json!({ "type": "switch", "on": "plan", "visibleIf": "vip", "cases": { "a": words } }),
        json!({ "type": "switch", "on": "plan", "cases": [{ "case": "a", "if": "vip", "then": words }] }),
        json!({ "type": "switch", "on": "two words", "cases": { "a": words } }),
        json!({ "type": "switch", "on": "plan", "cases": {} }),
    ] {
        let repaired = repair(&column(json!([switch])));
        let left = |issue: &postroom_compose::Issue| issue.code.as_ref() == "block.unknown";
        assert!(
            repaired.issues.iter().any(left),
            "{switch}: {:#?}",
            repaired.issues
        );
    }
}

/// What an agent has to decide is left to it.
#[test]
fn what_nobody_can_know_is_left() {
    let document = column(json!([
        { "type": "image", "src": "https://cdn.acme.test/team.jpg" },
        { "type": "text", "text": "Pale", "color": "#dddddd" },
        { "type": "button", "label": "Go", "href": "javascript:alert(1)" },
        { "type": "raw", "html": "<p>x</p>", "text": "x" },
        { "type": "text", "text": "{% for x in xs %}y{% endfor %}" }
    ]));
    let repaired = repair(&document);
    let codes: Vec<&str> = repaired
        .issues
        .iter()
        .map(|issue| issue.code.as_ref())
        .collect();
    for code in [
        "image.no_alt",
        "a11y.contrast",
        "url.scheme",
        "raw.forbidden",
        "var.syntax",
    ] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
    assert!(
        repaired
            .document
            .to_string()
            .contains("javascript:alert(1)")
    );
}

#[test]
fn lists_are_made_of_lines_only_when_asked() {
    let document = column(json!([{ "type": "text", "text": "These:\n- one\n- two\nand more" }]));
    assert!(!repair(&document).document.to_string().contains("\"list\""));
    let options = RepairOptions {
        list_from_text: true,
    };
    let repaired = repair_with(&document, options);
    let blocks = repaired
        .document
        .pointer("/root/children/0/children/0/children")
        .expect("blocks");
    let kinds: Vec<&str> = blocks
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|block| block["type"].as_str())
        .collect();
    assert_eq!(kinds, ["text", "list", "text"]);
    assert!(repair_with(&repaired.document, options).applied.is_empty());
}

/// Hostile words are words.
#[test]
fn hostile_text_stays_text() {
    let text = "\"'<>&`--> ]]> </style> <!-- \\ \u{2028}\u{0} *|x *| <script>alert(1)</script> {{ \\{{ name }} ${ }";
    let document = column(json!([{ "type": "text", "text": text }]));
    let checked = check(&document);
    assert!(checked.ok, "{:#?}", checked.issues);
    let found = checked.document.expect("a document");
    let mut words = String::new();
    found.walk(&mut |block| {
        if let postroom_compose::model::BlockKind::Text(block) = &block.kind {
            words = block.text.plain();
        }
    });
    assert_eq!(words, text.replace("\\{{", "{{"));
    let json = repair(&document).document;
    assert_eq!(
        check(&json).document.map(|document| document.json()),
        Some(json)
    );
}

/// Every way to hide a scheme that must not be followed.
#[test]
fn dangerous_addresses_are_refused() {
    for href in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\nscript:alert(1)",
        "java\tscript:alert(1)",
        "\u{1}javascript:alert(1)",
        "java\u{200b}script:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;avascript:alert(1)",
        "&#0000106avascript:alert(1)",
        "javascript&colon;alert(1)",
        "javascript&#58;alert(1)",
        "java&Tab;script:alert(1)",
        "vbscript:x",
        "data:text/html,<script>",
        "file:///etc/passwd",
        "blob:https://acme.test/x",
        "https://acme.test@evil.test/",
        "https://acme.test/\"onclick=x",
        "https://acme.test/<x>",
        "https://acme.test\\x",
        "https:acme.test",
        "https://",
        "http://.",
    ] {
        for block in [
            json!({ "type": "button", "label": "Go", "href": href }),
            json!({ "type": "text", "text": [{ "type": "link", "href": href, "children": ["x"] }] }),
            json!({ "type": "text", "text": { "md": format!("[x]({href})") } }),
            json!({ "type": "image", "src": href, "alt": "x" }),
        ] {
            if block["text"]["md"].is_string() && href.contains('\n') {
                continue;
            }
            let repaired = repair(&column(json!([block])));
            assert!(!repaired.ok, "{href:?} in {block}: {:#}", repaired.document);
            assert!(
                repaired
                    .issues
                    .iter()
                    .any(|issue| issue.code.starts_with("url.")),
                "{href:?}: {:#?}",
                repaired.issues
            );
        }
    }
}

#[test]
fn good_addresses_are_taken() {
    for href in [
        "https://acme.test",
        "https://acme.test:8443/a/b?c=d&e={{ id | urlencode }}#f",
        "https://b\u{fc}cher.test/",
        "mailto:ada@acme.test?subject=Hi",
        "tel:+351210000000",
        "{{ link }}",
        "{{ base }}/path",
        "https://{{ host }}/x",
    ] {
        let document = column(json!([{ "type": "button", "label": "Go", "href": href }]));
        let checked = check(&document);
        assert!(
            !checked
                .issues
                .iter()
                .any(|issue| issue.code.starts_with("url.")),
            "{href}: {:#?}",
            checked.issues
        );
    }
}

/// Places of issues are those of the draft, in lines and columns.
#[test]
fn places_are_those_of_the_draft() {
    let text = "{\n \"version\": 2,\n \"root\": {\"type\": \"body\", \"children\": [\n  {\"type\": \"text\", \"text\": \"x\", \"color\": \"tomato\"}\n ]}\n}";
    let checked = check(text);
    let find = |code: &str| {
        checked
            .issues
            .iter()
            .find(|issue| issue.code == code)
            .expect("the issue")
    };
    let grammar = find("grammar");
    assert_eq!(
        (grammar.path.as_str(), grammar.line, grammar.column),
        ("root.children.0", Some(4), Some(3))
    );
    let color = find("color.invalid");
    assert_eq!(
        (color.pointer.as_str(), color.line, color.column),
        ("/root/children/0/color", Some(4), Some(42))
    );
}

#[test]
fn every_rule_and_code_is_written_about() {
    let page = reference();
    for code in Code::ALL {
        assert!(
            page.contains(&format!("\n## {}\n", code.name())),
            "{}",
            code.name()
        );
    }
    assert_eq!(
        rules()["codes"].as_array().map(Vec::len),
        Some(Code::ALL.len())
    );
    let cases = include_str!("repairs.json");
    for (rule, _) in RULES {
        let tested = cases.contains(&format!("\"rule\": \"{rule}\""))
            || ["list.from_text", "version.assumed"].contains(rule);
        assert!(tested, "{rule} has no case");
        assert!(page.contains(&format!("`{rule}`")));
    }
}

#[test]
fn samples_of_dates_are_dates() {
    let told = |sample: &Value, item: bool| {
        let variable = if item {
            json!({"name": "days", "type": "list", "item": {"on": "date"}, "sample": [{"on": "2030-01-31"}, {"on": sample}]})
        } else {
            json!({"name": "days", "type": "date", "sample": sample})
        };
        let words = if item {
            json!({"type": "each", "in": "days", "as": "day", "children": [{"type": "text", "text": "{{ day.on | date: \"d MMMM\" }}"}]})
        } else {
            json!({"type": "text", "text": "{{ days | date: \"d MMMM\" }}"})
        };
        let mut document = column(json!([words]));
        document["variables"] = json!([variable]);
        let checked = check(&document);
        let mut issues = checked.issues.iter();
        issues.any(|issue| issue.code == "var.no_sample" && issue.message.contains("no date"))
    };
    for good in [
        "2026-12-31",
        "2028-02-29",
        "2026-12-31T23:59:60Z",
        "2026-12-31T09:30:00.25+02:00",
        "2026-12-31 09:30",
    ] {
        assert!(!told(&json!(good), false), "{good}");
        assert!(!told(&json!(good), true), "{good}");
    }
    for bad in [
        "2026-99-99",
        "2026-02-29",
        "2100-02-29",
        "2026-1-1",
        "2026-00-10",
        "2026-12-31T25:00",
        "2026-12-31T10:00:99Z",
        "2026-12-31T10:00:00+2",
        "next week",
        "２０２６-01-01",
    ] {
        assert!(told(&json!(bad), false), "{bad}");
        assert!(told(&json!(bad), true), "{bad}");
    }
}

#[test]
fn fonts_without_a_name_are_left_out() {
    let mut document = column(json!([{"type": "text", "text": "Words"}]));
    document["theme"] = json!({"font": "}</style><script>", "headingFont": "-apple-system, 'Segoe UI', \"Noto Sans\""});
    let repaired = repair(&document);
    let theme = &repaired.document["theme"];
    assert_eq!(theme.get("font"), None);
    assert_eq!(theme["headingFont"], document["theme"]["headingFont"]);
    let changes: Vec<&str> = repaired.applied.iter().map(|change| change.code).collect();
    assert_eq!(changes.iter().filter(|rule| **rule == "font").count(), 1);
}
