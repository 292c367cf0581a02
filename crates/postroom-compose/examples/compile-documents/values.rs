//! Every filter, comparison and place of a variable with every value that a sender may send: the
//! template is compiled once, and has to give with each value what `none` gives with it.

use postroom_compose::{
    check,
    dialect::{Dialect, sample_data},
    emit::{Options, Target, compile},
    model::Document,
};
use serde_json::{Value, json};

/// Values of an element, by name. What stands first is what the template is compiled with.
fn values() -> Vec<(&'static str, Value)> {
    let of = |name: &str, count: Value| json!({"name": name, "count": count, "due": "2026-01-02", "tags": ["a", "b"], "link": "https://acme.test/?a=1&b=2", "on": true});
    let mut all = vec![
        ("plain", of("Ada", json!(1))),
        ("missing", json!({"other": 1})),
        (
            "null",
            json!({"name": null, "count": null, "due": null, "tags": null, "link": null, "on": null}),
        ),
        (
            "empty",
            json!({"name": "", "count": 0, "due": "", "tags": [], "link": "", "on": false}),
        ),
        ("string number", of("5", json!("5"))),
        ("string fraction", of("-19.995", json!("-19.995"))),
        (
            "hostile",
            of("\"><script>{{ 7*7 }}{% x %}<%= 7 %>*|X|*' \\ `", json!(3)),
        ),
        (
            "words",
            of("o'neil mc-donald THE 3rd, of a long line", json!(4)),
        ),
        ("blanks", of("  a b  ", json!(2))),
    ];
    for number in [
        "-19.99",
        "-0.5",
        "-0.001",
        "0.005",
        "1.005",
        "2.5",
        "2.675",
        "-2.675",
        "3",
        "1234567",
        "1234567.891",
        "-1234567.891",
        "12345678901",
        "0.1",
        "99.995",
    ] {
        let number: Value = serde_json::from_str(number).unwrap_or_default();
        all.push(("number", of("A", number)));
    }
    all
}

/// What is done with an element `x`, by name.
fn uses() -> Vec<(String, Value)> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let test = |var: &str, op: &str, value: Value| {
        let mut cond = json!({"var": var, "op": op});
        if !value.is_null() {
            cond["value"] = value;
        }
        json!({"type": "if", "cond": cond, "then": [{"type": "text", "text": "yes"}], "else": [{"type": "text", "text": "no"}]})
    };
    let mut all: Vec<(String, Value)> = [
        "[{{ x.name }}]",
        "[{{ x.count }}]",
        "[{{ x.name | default: \"D\" }}]",
        "[{{ x.count | default: \"D\" }}]",
        "{{ x.count }}{{ x.count }}",
        "{{ x.name | upper }}",
        "{{ x.name | lower }}",
        "{{ x.name | title }}",
        "{{ x.name | trim }}",
        "{{ x.name | truncate: 5 }}",
        "{{ x.name | urlencode }}",
        "[{{ x.count | money: \"EUR\" }}]",
        "[{{ x.count | money: \"JPY\" }}]",
        "[{{ x.count | number: \"0\" }}]",
        "[{{ x.count | number: \"0.000\" }}]",
        "[{{ x.count | number: \"#,##0.00\" }}]",
        "[{{ x.count | money: \"EUR\" | default: \"free\" }}]",
        "[{{ x.name | upper | default: \"none\" }}]",
    ]
    .iter()
    .map(|one| ((*one).to_owned(), text(one)))
    .collect();
    for op in ["gt", "gte", "lt", "lte", "eq", "ne"] {
        all.push((format!("count {op} 3"), test("x.count", op, json!(3))));
        all.push((format!("name {op} A"), test("x.name", op, json!("Ada"))));
    }
    all.push((
        "count eq large".to_owned(),
        test("x.count", "eq", json!(1_234_567)),
    ));
    for (var, value) in [("x.name", json!("A")), ("x.tags", json!("a"))] {
        all.push((
            format!("{var} contains"),
            test(var, "contains", value.clone()),
        ));
        let mut not = test(var, "contains", value);
        not["cond"] = json!({"not": not["cond"]});
        all.push((format!("{var} lacks"), not));
    }
    all.push(("in".to_owned(), test("x.name", "in", json!(["Ada", "5"]))));
    let mut not = test("x.count", "gt", json!(3));
    not["cond"] = json!({"not": not["cond"]});
    all.push(("not gt".to_owned(), not));
    for var in ["x.name", "x.count", "x.tags", "x.on", "x.last"] {
        all.push((format!("{var} exists"), test(var, "exists", Value::Null)));
        all.push((format!("{var} empty"), test(var, "empty", Value::Null)));
    }
    all.push((
        "loop".to_owned(),
        json!({"type": "each", "in": "x.tags", "as": "t", "children": [text("{{ t }}")], "empty": [text("none")]}),
    ));
    all.push((
        "link".to_owned(),
        json!({"type": "button", "label": "B", "href": "{{ x.link }}"}),
    ));
    all.push((
        "part".to_owned(),
        json!({"type": "button", "label": "B", "href": "https://acme.test/?q={{ x.name }}"}),
    ));
    all
}

fn document(used: &Value, value: &Value) -> Document {
    let checked = check(&json!({
        "version": 2, "kind": "personal", "meta": {"subject": "s", "preheader": "p", "lang": "en"},
        "variables": [{"name": "xs", "type": "list", "sample": [value],
            "item": {"name": "string", "count": "number", "due": "date", "tags": "list", "link": "url", "on": "bool"}}],
        "root": {"type": "body", "children": [{"type": "section", "children": [{"type": "column", "children": [
            {"type": "each", "in": "xs", "as": "x", "children": [used]}]}]}]},
    }));
    checked.document.expect("a document without errors")
}

/// What the guide says that a language cannot do.
fn differs(dialect: &str, used: &str, value: &str) -> bool {
    let text = value.starts_with("string");
    let compares = used.starts_with("count ") || used == "not gt";
    let formats = used.contains("money") || used.contains("number");
    match dialect {
        // Numbers that come as text are compared as the engine likes.
        "liquid" => text && compares,
        // Nothing counts as zero, and texts are compared too.
        "sendgrid" => {
            (text || matches!(value, "missing" | "null")) && (compares || used.starts_with("name "))
        }
        // Only `float64` is a number, and halves are those of its binary digits.
        "go" => formats && (text || ["2.5", "-0.5", "1.005", "2.675", "-2.675"].contains(&value)),
        _ => false,
    }
}

/// Adds a case for each use, value, target and dialect.
pub(crate) fn add(cases: &mut Vec<Value>) {
    let values = values();
    for (name, used) in uses() {
        for (target_name, target) in [("html", Target::Html), ("text", Target::Text)] {
            let run = |value: &Value, dialect| {
                let document = document(&used, value);
                let fragment = true;
                (
                    compile(
                        &document,
                        &Options {
                            target,
                            dialect,
                            fragment,
                            ..Options::default()
                        },
                    ),
                    sample_data(&document),
                )
            };
            let expected: Vec<_> = values
                .iter()
                .map(|(_, value)| run(value, Dialect::None))
                .collect();
            for (dialect_name, dialect) in Dialect::NAMES
                .iter()
                .filter(|(_, dialect)| *dialect != Dialect::None)
            {
                let made = run(&values[0].1, *dialect).0;
                if !made.is_whole() {
                    continue;
                }
                for ((label, value), (wanted, data)) in values.iter().zip(&expected) {
                    let label = if *label == "number" {
                        value["count"].to_string()
                    } else {
                        (*label).to_owned()
                    };
                    if differs(dialect_name, &name, &label) {
                        continue;
                    }
                    cases.push(json!({
                        "id": format!("{name} x {label} x {dialect_name} x {target_name}"),
                        "document": name, "variant": label, "dialect": dialect_name, "target": target_name,
                        "code": made.code, "expected": wanted.code, "data": data, "dates": [],
                    }));
                }
            }
        }
    }
}
