//! What documents compile to, whatever is written in them.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on says why"
)]

mod hostile;
mod mail;
mod page;
mod tables;
mod values;

use postroom_compose::{
    check,
    dialect::Dialect,
    emit::{Compiled, Options, Target, compile},
    model::Document,
};
use serde_json::{Value, json};

/// Every document of tests/documents.
pub(crate) fn documents() -> &'static [(String, Document)] {
    static DOCUMENTS: std::sync::OnceLock<Vec<(String, Document)>> = std::sync::OnceLock::new();
    DOCUMENTS.get_or_init(read_documents)
}

fn read_documents() -> Vec<(String, Document)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let checked = check(&text);
            let document = checked
                .document
                .unwrap_or_else(|| panic!("{path:?}: {:#?}", checked.issues));
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                document,
            )
        })
        .collect();
    found.sort_by(|one, two| one.0.cmp(&two.0));
    found
}

pub(crate) fn named(name: &str) -> Document {
    documents()
        .iter()
        .find(|(known, _)| known == name)
        .unwrap()
        .1
        .clone()
}

pub(crate) fn compiled(document: &Document, target: Target, dialect: Dialect) -> Compiled {
    compile(
        document,
        &Options {
            target,
            dialect,
            ..Options::default()
        },
    )
}

pub(crate) fn document(value: &Value) -> Document {
    let checked = check(value);
    checked
        .document
        .unwrap_or_else(|| panic!("{:#?}", checked.issues))
}

/// A document of one text block.
pub(crate) fn with_text(text: &Value, variables: &Value) -> Document {
    document(&json!({
        "version": 2,
        "meta": {"subject": "Words", "preheader": "Words that stand in a preview line of a mail.", "lang": "en"},
        "variables": variables,
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "text", "text": text}
        ]}]}]}
    }))
}
