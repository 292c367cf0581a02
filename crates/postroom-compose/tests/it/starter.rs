//! Documents to begin with are without fault, and say so in every form.

use postroom_compose::{
    STARTERS, SchemaKind, Severity, canonical, check, print, repair, schema, starter, with_defaults,
};
use serde_json::Value;

#[test]
fn starters_pass_every_lint() {
    for starter in STARTERS {
        let checked = check(starter.text);
        let faults: Vec<_> = checked
            .issues
            .iter()
            .filter(|issue| issue.severity != Severity::Info)
            .collect();
        assert!(
            checked.ok && faults.is_empty(),
            "{}: {faults:#?}",
            starter.name
        );
        let rules: Vec<_> = repair(starter.text)
            .applied
            .iter()
            .map(|applied| applied.code)
            .collect();
        assert_eq!(rules, ["id.assign"], "{}", starter.name);
    }
}

#[test]
fn everyday_mails_come_first() {
    let names: Vec<_> = STARTERS
        .iter()
        .take(8)
        .map(|starter| starter.name)
        .collect();
    assert_eq!(
        names,
        [
            "welcome",
            "receipt",
            "password-reset",
            "invitation",
            "digest",
            "alert",
            "invoice",
            "newsletter"
        ]
    );
    assert!(starter("two-cards").is_some() && starter("nothing").is_none());
}

#[test]
fn canonical_form_is_stable_and_leaves_defaults_out() {
    for starter in STARTERS {
        let document = canonical(starter.text).expect("a document");
        let text = print(&document);
        assert_eq!(print(&canonical(&text).expect("a document")), text);
        let full = with_defaults(&document);
        assert!(print(&full).len() > text.len());
        assert_eq!(
            canonical(&full).expect("a document"),
            document,
            "{}",
            starter.name
        );
        assert!(check(&full).ok);
    }
}

#[test]
fn starters_fit_their_schemas() {
    let full = jsonschema::validator_for(&schema(SchemaKind::Full)).expect("a schema");
    let ai = jsonschema::validator_for(&schema(SchemaKind::Ai)).expect("a schema");
    for starter in STARTERS {
        let draft: Value = serde_json::from_str(starter.text).expect("JSON");
        let document = canonical(starter.text).expect("a document");
        for (validator, value) in [(&ai, &draft), (&ai, &document), (&full, &document)] {
            let errors: Vec<String> = validator
                .iter_errors(value)
                .map(|error| error.to_string())
                .collect();
            assert!(errors.is_empty(), "{}: {errors:#?}", starter.name);
        }
        assert!(
            !full.is_valid(&draft),
            "{}: drafts have no ids",
            starter.name
        );
    }
}
