//! Values, in every template language.

use postroom_compose::{
    Severity, check,
    dialect::{Dialect, facts},
    emit::Target,
    model::Document,
};
use serde_json::{Value, json};

use crate::{compiled, document, with_text};

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
    let cases: Vec<Value> = serde_json::from_str(include_str!("snippets.json")).unwrap();
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

#[test]
fn languages_that_cannot_take_line_ends_out_of_a_subject_say_so() {
    let told = |dialect: Dialect, kind: &str, sample: &Value| {
        let made = compiled(&with_subject_of(kind, sample), Target::Html, dialect);
        made.issues
            .iter()
            .any(|issue| issue.code == "dialect.line_ends" && !issue.is_error())
    };
    for facts in facts() {
        let Some(dialect) = Dialect::named(facts.dialect) else {
            continue;
        };
        assert_eq!(
            told(dialect, "string", &json!("Ada")),
            !facts.one_line,
            "{dialect:?}"
        );
        assert!(!told(dialect, "number", &json!(3)), "{dialect:?}");
    }
}
