//! What is no JSON, and how it is told.

use postroom_compose::check;

#[test]
fn usual_slips_around_json_are_named() {
    let good = r#"{"version":2,"root":{"type":"body","children":[]}}"#;
    for (text, hint) in [
        (format!("```json\n{good}\n```"), "fence"),
        (
            format!("Here is the document:\n{good}"),
            "without words before",
        ),
        (format!("{good}\nI hope it helps."), "anything after"),
        (format!("{good}\n```"), "fence"),
        ("{\n// the version\n\"version\":2}".to_owned(), "comments"),
        ("{'version':2}".to_owned(), "double quotes"),
        ("{\"version\":2,}".to_owned(), "comma"),
        ("{\"a\":[1,]}".to_owned(), "comma"),
    ] {
        let checked = check(&text);
        assert!(checked.unusable);
        let issue = checked.issues.first().expect("an issue");
        assert_eq!(issue.code, "parse.json");
        assert!(issue.hint.contains(hint), "{text}: {}", issue.hint);
    }
}

#[test]
fn words_of_css_are_taken_as_what_they_mean() {
    let document = serde_json::json!({"version": 2, "meta": {"lang": "en"}, "theme": {"dark": true}, "root": {"type": "body", "children": [
    {"type": "section", "children": [{"type": "column", "children": [
        {"type": "text", "text": "Large words", "size": "large", "pad": {"top": 4, "left": 8}},
        {"type": "image", "src": "https://cdn.acme.test/a.png", "alt": "A", "width": 40, "height": "auto"}
    ]}]}]}});
    let repaired = postroom_compose::repair(&document);
    assert!(repaired.ok, "{:#?}", repaired.issues);
    let blocks = repaired
        .document
        .pointer("/root/children/0/children/0/children")
        .expect("blocks");
    assert_eq!(blocks[0]["size"], 20);
    assert_eq!(blocks[0]["pad"], serde_json::json!([4, 0, 0, 8]));
    assert_eq!(blocks[1].get("height"), None);
}
