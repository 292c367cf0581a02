//! Compiles every document of tests/documents, and some made at random, for every target and dialect, with lists of the
//! samples' length, of 0, 1 and 3 elements, and prints one JSON array of what came out beside what
//! the dialect `none` gave. `tests/engines/check.mjs` renders and compares it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a program for developers"
)]

mod generated;
#[path = "../../tests/shared/halves.rs"]
mod halves;
mod hostile;
mod hosts;
mod values;

use postroom_compose::{
    STARTERS, check,
    dialect::{Dialect, sample_data},
    emit::{Options, Target, compile},
    model::{Document, VariableType},
};
use serde_json::{Value, json};

/// Documents made at random.
const GENERATED: u64 = 80;

/// Documents made at random of halves of tags.
const HOSTILE: u64 = 150;

/// Lengths of lists; `None` is that of the sample.
const VARIANTS: [Option<usize>; 4] = [None, Some(0), Some(1), Some(3)];

fn main() {
    let mut cases = Vec::new();
    let mut texts = files();
    texts.extend(
        STARTERS
            .iter()
            .map(|starter| (starter.name.to_owned(), starter.text.to_owned())),
    );
    for (name, text) in texts {
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        let lists = lists(&value);
        for variant in VARIANTS {
            if variant.is_some() && lists.is_empty() {
                continue;
            }
            resize(&mut value, &text, variant);
            let checked = check(&value);
            let Some(document) = checked.document else {
                eprintln!("{name} has errors: {:#?}", checked.issues);
                std::process::exit(1);
            };
            compiled(&mut cases, &name, variant, &document);
        }
    }
    for number in 0..GENERATED {
        let value = generated::document(number);
        let checked = check(&value);
        let name = format!("generated {number}");
        let Some(document) = checked.document else {
            eprintln!("{name} has errors: {:#?} in {value:#}", checked.issues);
            std::process::exit(1);
        };
        compiled(&mut cases, &name, None, &document);
    }
    let mut hostile = 0;
    for number in 0.. {
        // Some are refused, because a string in them has the notation of another language.
        if let Some(document) = check(&hostile::document(number)).document {
            compiled(&mut cases, &format!("hostile {number}"), None, &document);
            hostile += 1;
        }
        if hostile == HOSTILE {
            break;
        }
    }
    values::add(&mut cases);
    println!("{}", Value::Array(cases));
}

/// Name and text of every document of tests/documents.
fn files() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("tests/documents is there")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let read = files.iter().map(|file| {
        let name = file.file_stem().expect("a name").to_string_lossy();
        (
            format!("test {name}"),
            std::fs::read_to_string(file).expect("a document"),
        )
    });
    read.collect()
}

fn lists(document: &Value) -> Vec<String> {
    let variables = document["variables"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let lists = variables
        .iter()
        .filter(|variable| variable["type"] == "list");
    lists
        .filter_map(|variable| variable["name"].as_str().map(str::to_owned))
        .collect()
}

/// Gives every list of the samples that many elements.
fn resize(value: &mut Value, text: &str, variant: Option<usize>) {
    *value = serde_json::from_str(text).expect("JSON");
    let (Some(len), Some(variables)) = (variant, value["variables"].as_array_mut()) else {
        return;
    };
    for variable in variables {
        if variable["type"] == "list"
            && let Some(sample) = variable["sample"].as_array().cloned()
        {
            let repeated: Vec<Value> = sample.iter().cycle().take(len).cloned().collect();
            variable["sample"] = Value::Array(repeated);
        }
    }
}

fn compiled(cases: &mut Vec<Value>, name: &str, variant: Option<usize>, document: &Document) {
    let data = sample_data(document);
    let dates: Vec<&str> = document
        .variables
        .iter()
        .filter(|variable| variable.kind == VariableType::Date)
        .map(|variable| variable.name.as_str())
        .collect();
    let label = variant.map_or_else(|| "sample".to_owned(), |len| len.to_string());
    for (target_name, target) in [
        ("html", Target::Html),
        ("text", Target::Text),
        ("mjml", Target::Mjml),
    ] {
        let run = |dialect| {
            compile(
                document,
                &Options {
                    target,
                    dialect,
                    ..Options::default()
                },
            )
        };
        let expected = run(Dialect::None);
        for (dialect_name, dialect) in Dialect::NAMES {
            let made = run(*dialect);
            if !made.is_whole() {
                continue;
            }
            let mut add = |target: &str, code: &str, expected: &str| {
                cases.push(json!({
                    "id": format!("{name} x {label} x {dialect_name} x {target}"),
                    "document": name, "variant": label, "dialect": dialect_name, "target": target,
                    "code": code, "expected": expected, "data": data, "dates": dates,
                }));
            };
            add(target_name, &made.code, &expected.code);
            if target == Target::Text {
                add("subject", &made.subject, &expected.subject);
            }
        }
        for known in hosts::hosts(document) {
            if target == Target::Mjml || known.html_only && target != Target::Html {
                continue;
            }
            let options = Options {
                target,
                dialect: known.dialect,
                host: known.host.clone(),
                ..Options::default()
            };
            let made = compile(document, &options);
            if !made.is_whole() {
                continue;
            }
            let mut add = |target: &str, code: &str, expected: &str| {
                cases.push(json!({
                    "id": format!("{name} x {label} x {} x {target}", known.name),
                    "document": name, "variant": label, "dialect": known.name, "target": target,
                    "code": code, "expected": expected, "data": data, "dates": dates,
                    "fields": known.host.merge_fields,
                }));
            };
            add(target_name, &made.code, &expected.code);
            if target == Target::Text {
                add("subject", &made.subject, &expected.subject);
            }
        }
    }
}
