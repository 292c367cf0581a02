//! From what a type says to what is published.

use serde_json::{Map, Value};

/// An argument that may be left out is not one that may be null, so `null` goes out of types, and
/// formats that only say how a number is kept go too.
pub(super) fn input(mut schema: Value) -> Value {
    plain(&mut schema, &|object| {
        without_null(object);
        object.retain(|name, value| !(name == "default" && value.is_null()));
    });
    if let Value::Object(object) = &mut schema {
        // An operation without arguments says so.
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// As generated, without the formats that only say how a number is kept.
pub(super) fn output(mut schema: Value) -> Value {
    plain(&mut schema, &|_| {});
    schema
}

fn plain(schema: &mut Value, also: &dyn Fn(&mut Map<String, Value>)) {
    let Value::Object(object) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(|item| plain(item, also));
        }
        return;
    };
    object.remove("$schema");
    object.remove("title");
    let number_format = object
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| !matches!(format, "date-time" | "uri"));
    if number_format {
        object.remove("format");
    }
    words_as_enum(object);
    also(object);
    for (name, value) in object.iter_mut() {
        match name.as_str() {
            // Names of properties are not keywords.
            "properties" => {
                if let Value::Object(properties) = value {
                    properties
                        .values_mut()
                        .for_each(|property| plain(property, also));
                }
            }
            "default" | "enum" | "const" | "required" => {}
            _ => plain(value, also),
        }
    }
}

/// A list of documented words comes as `oneOf` of constants; it is published as one `enum`.
fn words_as_enum(object: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = object.get("oneOf") else {
        return;
    };
    let words: Option<Vec<Value>> = choices
        .iter()
        .map(|choice| choice.get("const").cloned())
        .collect();
    if let Some(words) = words {
        object.remove("oneOf");
        object.insert("type".to_owned(), "string".into());
        object.insert("enum".to_owned(), words.into());
    }
}

fn without_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (name, value) in only {
            object.entry(name).or_insert(value);
        }
        // What came up may itself be a list of documented words.
        words_as_enum(object);
    }
}
