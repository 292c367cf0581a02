//! Documents as they are printed and stored.

use serde_json::{Map, Value};

use crate::{
    check::{Input, hydrated},
    grammar::{self, Attribute, Form},
    pass::CHILD_KEYS,
    schema,
};

/// The document in canonical form: ids assigned, texts as spans, keys sorted, defaults left out,
/// what can be mended mended. `None` when it is unusable.
#[must_use]
pub fn canonical<'i>(document: impl Into<Input<'i>>) -> Option<Value> {
    hydrated(document.into())
}

/// JSON as files hold it: two blanks a level, keys sorted, a line break at the end.
#[must_use]
pub fn print(document: &Value) -> String {
    format!("{:#}\n", sorted(document))
}

/// The value with the keys of all objects in order, whatever map the JSON library uses.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            let entries = keys
                .into_iter()
                .filter_map(|key| Some((key.clone(), sorted(object.get(key)?))));
            Value::Object(entries.collect())
        }
        value => value.clone(),
    }
}

/// A canonical document with every default written out.
#[must_use]
pub fn with_defaults(document: &Value) -> Value {
    let mut full = document.clone();
    let Some(object) = full.as_object_mut() else {
        return full;
    };
    for part in grammar::DOCUMENT {
        if let Form::Object(rows) = part.form {
            let place = object
                .entry(part.name)
                .or_insert_with(|| Value::Object(Map::new()));
            fill(place, rows.iter());
        }
    }
    if let Some(object) = full.as_object_mut() {
        let rows = grammar::DOCUMENT.iter();
        add(
            object,
            rows.filter(|row| !matches!(row.form, Form::Object(_))),
        );
    }
    if let Some(body) = full.get_mut("root") {
        block(body);
    }
    sorted(&full)
}

fn fill<'a>(value: &mut Value, rows: impl Iterator<Item = &'a Attribute>) {
    if let Some(object) = value.as_object_mut() {
        add(object, rows);
    }
}

fn add<'a>(object: &mut Map<String, Value>, rows: impl Iterator<Item = &'a Attribute>) {
    for row in rows {
        // A text's default is words, which stand in spans.
        if matches!(row.form, Form::Text(_)) {
            continue;
        }
        if let Some(default) = schema::default(row.default) {
            object.entry(row.name).or_insert(default);
        }
    }
}

fn block(value: &mut Value) {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(row) = grammar::block(kind) else {
        return;
    };
    fill(value, row.all());
    for key in CHILD_KEYS {
        let children = value.get_mut(*key).and_then(Value::as_array_mut);
        for child in children.into_iter().flatten() {
            block(child);
        }
    }
}
