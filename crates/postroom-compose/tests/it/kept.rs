//! Drafts of many makers: each of their words stands in the mail, or the draft is not taken as good
//! and the words are still there, in the document or in an issue. The same holds for addresses.

use std::{collections::BTreeSet, path::Path};

use postroom_compose::{
    check,
    dialect::Dialect,
    emit::{Options, Target, compile},
    repair,
};
use serde_json::Value;

/// Keys whose values readers of a mail do not read.
const TECHNICAL: &[&str] = &[
    "accessor",
    "align",
    "arguments",
    "as",
    "background-color",
    "array",
    "backdropColor",
    "data-if",
    "equals",
    "forEach",
    "over",
    "hideIf",
    "listType",
    "repeat",
    "showOn",
    "source",
    "v-if",
    "visibleIf",
    "backgroundColor",
    "bg",
    "blockType",
    "case",
    "class",
    "block_type",
    "border-color",
    "className",
    "color",
    "cond",
    "condition",
    "component",
    "field",
    "font-size",
    "fontSize",
    "headingType",
    "id",
    "if",
    "in",
    "key",
    "kind",
    "lang",
    "language",
    "level",
    "locale",
    "direction",
    "marks",
    "name",
    "network",
    "on",
    "op",
    "operator",
    "parent",
    "platform",
    "schemaVersion",
    "showWhen",
    "size",
    "style",
    "tag",
    "tagName",
    "target",
    "time",
    "to",
    "type",
    "Type",
    "unless",
    "value",
    "variable",
    "variant",
    "version",
    "visible_if",
    "weight",
    "when",
    "width",
    "Level",
    "Align",
    "Kind",
    "Version",
    "Lang",
    "from",
    "replyTo",
    "each",
    "data",
    "for",
    "item",
    "fallback",
    "var",
    "tags",
    "author",
    "textKey",
    "_comment",
    "_note",
    "bold",
    "//",
    "endDate",
    "height",
    "childrenIds",
];

/// Keys among them that are words in some places.
const SOMETIMES: &[&str] = &["value", "name"];

/// Drafts of which something is left for their writers to decide; all others are good once repaired.
const LEFT: &[&str] = &[
    "02-product-cards",
    "21-span-two-texts",
    "26-bee",
    "38-text-and-html",
    "43-html-style-script",
    "46-numbers",
    "55-i18n",
    "59-video-countdown",
    "63-wrapped",
    "71-code-box",
    "72-receipt-object",
    "79-image-shapes",
    "81-text-object",
    "86-loop-of-list",
    "87-template-tags",
    "92-theme-words",
    "93-meta-extras",
    "105-calendar",
    "106-survey",
    "107-progress",
    "108-quote-shapes",
    "110-booleans",
    "111-lang-map",
    "112-i18n-keys",
    "117-two-roots",
    "129-product-lists",
    "146-sections-of-content",
    "148-overlays",
    "155-widths",
];

fn drafts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drafts");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the drafts are there")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("text");
            (name.into_owned(), text)
        })
        .collect();
    found.sort();
    found
}

/// Words of a text, tags, variables and references to characters aside.
fn words(text: &str) -> Vec<String> {
    let mut bare = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{', '&']) {
        let (before, after) = rest.split_at(at);
        bare.push_str(before);
        bare.push(' ');
        let (close, most) = match after.as_bytes().first() {
            Some(b'<') => ('>', usize::MAX),
            Some(b'{') => ('}', usize::MAX),
            _ => (';', 8),
        };
        match after.find(close).filter(|end| *end <= most) {
            Some(end) => rest = &after[end + 1..],
            None => rest = &after[1..],
        }
    }
    bare.push_str(rest);
    bare.split(|char: char| !char.is_alphanumeric())
        .filter(|word| word.chars().any(char::is_alphabetic) && word.chars().count() > 1)
        .map(str::to_owned)
        .collect()
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("mailto:")
}

#[derive(Default)]
struct Said {
    words: BTreeSet<String>,
    addresses: BTreeSet<String>,
}

fn gather(value: &Value, key: &str, said: &mut Said) {
    match value {
        Value::String(text) if is_address(text) => {
            said.addresses.insert(text.clone());
        }
        Value::String(text) => {
            let sometimes = SOMETIMES.contains(&key)
                && text.chars().next().is_some_and(char::is_uppercase)
                && text.len() > 1;
            if sometimes || !TECHNICAL.contains(&key) {
                said.words.extend(words(text));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, key, said)),
        Value::Object(object) => {
            for (key, inner) in object {
                if !matches!(key.as_str(), "variables" | "theme" | "style")
                    || inner.is_array() && key == "style"
                {
                    gather(inner, key, said);
                }
            }
        }
        _ => {}
    }
}

/// What is lost of a draft, in words.
fn lost(name: &str, text: &str) -> Vec<String> {
    let Ok(draft) = serde_json::from_str::<Value>(text) else {
        // What is no JSON is not taken, and the issue says why.
        let checked = check(text);
        assert!(checked.unusable && checked.issues.len() == 1, "{text}");
        return Vec::new();
    };
    let mut said = Said::default();
    gather(&draft, "", &mut said);
    let repaired = repair(text);
    let mut shown = String::new();
    let mut code = String::new();
    if let Some(document) = &repaired.model {
        for target in [Target::Html, Target::Text] {
            let options = Options {
                target,
                dialect: Dialect::Jinja2,
                ..Options::default()
            };
            let compiled = compile(document, &options);
            code.push_str(&compiled.code.replace("&amp;", "&"));
        }
        shown.push_str(&words(&code).join(" "));
        for key in ["alt", "subject", "preheader", "title", "caption", "label"] {
            pick(&repaired.document, key, &mut shown);
        }
    }
    if !repaired.ok {
        let told: Vec<&str> = repaired
            .issues
            .iter()
            .map(|issue| issue.message.as_str())
            .collect();
        shown.push_str(&told.join(" "));
        code.push_str(&told.join(" "));
        let mut kept = Said::default();
        gather_all(&repaired.document, &mut kept);
        shown.push(' ');
        shown.push_str(&kept.words.into_iter().collect::<Vec<_>>().join(" "));
        code.push_str(&kept.addresses.into_iter().collect::<Vec<_>>().join(" "));
    }
    let shown: BTreeSet<String> = words(&shown).into_iter().collect();
    let gone = said.words.iter().filter(|word| !shown.contains(*word));
    let dead = said
        .addresses
        .iter()
        .filter(|address| !code.contains(address.as_str()));
    let mut lost: Vec<String> = gone.chain(dead).cloned().collect();
    if !lost.is_empty() || repaired.ok == LEFT.contains(&name) {
        let errors: Vec<String> = repaired
            .issues
            .iter()
            .filter(|issue| issue.is_error())
            .map(|issue| format!("{} {} {}", issue.code, issue.path, issue.message))
            .collect();
        lost.push(format!("(ok {}, {errors:#?})", repaired.ok));
    }
    lost
}

/// Every string of a document.
fn gather_all(value: &Value, said: &mut Said) {
    match value {
        Value::String(text) => {
            said.words.extend(words(text));
            said.addresses.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| gather_all(item, said)),
        Value::Object(object) => object.values().for_each(|inner| gather_all(inner, said)),
        _ => {}
    }
}

fn pick(value: &Value, key: &str, shown: &mut String) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| pick(item, key, shown)),
        Value::Object(object) => {
            for (name, inner) in object {
                if name == key {
                    shown.push(' ');
                    shown.push_str(&inner.to_string());
                }
                pick(inner, key, shown);
            }
        }
        _ => {}
    }
}

#[test]
fn words_and_addresses_of_drafts_are_shown_or_told() {
    let found: Vec<String> = drafts()
        .into_iter()
        .filter_map(|(name, text)| {
            let lost = lost(&name, &text);
            (!lost.is_empty()).then(|| format!("{name}: {}", lost.join(", ")))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
