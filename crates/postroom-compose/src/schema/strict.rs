//! The schema for modes that need every key: no recursion, no bounds, nothing left out.

use serde_json::{Map, Value, json};

use super::{RICH, SchemaKind, reference};
use crate::{
    grammar::{self, Attribute, BLOCKS, BlockRow, Form, Level, TextUse},
    model::{Operator, VariableType},
    pass::version::VERSION,
};

pub(super) fn schema() -> Value {
    let mut definitions = Map::new();
    definitions.insert("condition".to_owned(), condition());
    definitions.insert(RICH.to_owned(), text());
    for row in BLOCKS
        .iter()
        .filter(|row| row.level != Level::Control && row.name != "body")
    {
        definitions.insert(row.name.to_owned(), block(row, children(row)));
    }
    // One `if` and one `each` around what these hold, not around each other.
    for holder in ["body", "column", "list", "table"] {
        let Some(holder) = grammar::block(holder) else {
            continue;
        };
        for control in BLOCKS.iter().filter(|row| row.level == Level::Control) {
            let held = held(holder);
            let lists = control.children.iter().map(|list| (list.key, held.clone()));
            let name = format!("{}-in-{}", control.name, holder.name);
            definitions.insert(name, block(control, lists.collect()));
        }
    }
    let mut properties = Map::new();
    properties.insert(
        "version".to_owned(),
        json!({ "type": "integer", "enum": [VERSION] }),
    );
    for attribute in grammar::DOCUMENT {
        properties.insert(attribute.name.to_owned(), self::attribute(attribute));
    }
    if let Some(body) = grammar::block("body") {
        properties.insert("root".to_owned(), block(body, children(body)));
    }
    let mut schema = closed(properties);
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), json!("EmailDocument"));
        object.insert("$id".to_owned(), json!(SchemaKind::AllRequired.uri()));
        object.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// An object with all of these keys and no others.
fn closed(properties: Map<String, Value>) -> Value {
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn nullable(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn block(row: &BlockRow, lists: Vec<(&'static str, Value)>) -> Value {
    let mut properties = Map::new();
    properties.insert(
        "type".to_owned(),
        json!({ "type": "string", "enum": [row.name] }),
    );
    for attribute in row
        .all()
        .filter(|attribute| !matches!(attribute.form, Form::Attrs))
    {
        let mut schema = self::attribute(attribute);
        if matches!(row.name, "cell") && attribute.name == "text" {
            // As deep as such modes allow.
            schema = json!({ "type": "string", "description": attribute.doc });
        }
        properties.insert(attribute.name.to_owned(), schema);
    }
    for (at, (key, list)) in lists.into_iter().enumerate() {
        properties.insert(key.to_owned(), if at == 0 { list } else { nullable(list) });
    }
    closed(properties)
}

/// What a container holds.
fn children(row: &BlockRow) -> Vec<(&'static str, Value)> {
    let controls = matches!(row.name, "body" | "column" | "list" | "table");
    let names = row.accepts().iter().filter_map(|name| {
        let level = grammar::block(name)?.level;
        match level {
            Level::Control if controls => Some(format!("{name}-in-{}", row.name)),
            Level::Control => None,
            _ => Some((*name).to_owned()),
        }
    });
    let accepted: Vec<Value> = names.map(|name| reference(&name)).collect();
    let lists = row.children.iter().map(|list| {
        let items = json!({ "type": "array", "items": { "anyOf": accepted } });
        (list.key, items)
    });
    lists.collect()
}

/// What an `if` or `each` in `holder` holds; a panel is too deep for one.
fn held(holder: &BlockRow) -> Value {
    let names = holder.accepts().iter().filter(|name| {
        **name != "panel" && grammar::block(name).is_some_and(|row| row.level != Level::Control)
    });
    let accepted: Vec<Value> = names.map(|name| reference(name)).collect();
    json!({ "type": "array", "items": { "anyOf": accepted } })
}

fn attribute(attribute: &Attribute) -> Value {
    let schema = form(attribute.form);
    let mut schema = if attribute.required {
        schema
    } else {
        nullable(schema)
    };
    if let Some(object) = schema.as_object_mut()
        && !object.contains_key("$ref")
    {
        object.insert("description".to_owned(), json!(attribute.doc));
    }
    schema
}

fn object(rows: &[Attribute]) -> Value {
    let properties = rows.iter().map(|row| (row.name.to_owned(), attribute(row)));
    closed(properties.collect())
}

fn form(form: Form) -> Value {
    let string = || json!({ "type": "string" });
    match form {
        Form::Text(TextUse::Plain) => string(),
        Form::Text(_) => reference(RICH),
        Form::Texts => json!({ "type": "array", "items": reference(RICH) }),
        Form::Bool => json!({ "type": "boolean" }),
        Form::Integer(..) => json!({ "type": "integer" }),
        Form::Decimal(..) | Form::Percent => json!({ "type": "number" }),
        Form::Enum(words) => json!({ "type": "string", "enum": words }),
        Form::Enums(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
        Form::Pad => json!({ "anyOf": [
            { "type": "integer" },
            { "type": "array", "items": { "type": "integer" } },
        ] }),
        Form::Condition => reference("condition"),
        Form::Object(rows) => object(rows),
        Form::Objects(rows, _) => json!({ "type": "array", "items": object(rows) }),
        Form::Any => json!({ "anyOf": [
            { "type": "string", "description": "Of lists and objects their JSON text." },
            { "type": "number" },
            { "type": "boolean" },
        ] }),
        Form::Item => {
            let types: Vec<&str> = VariableType::NAMES.iter().map(|(name, _)| *name).collect();
            json!({ "type": "string", "description": format!("{}, or the fields as JSON text.", types.join(", ")) })
        }
        Form::Template
        | Form::Verbatim
        | Form::Url(_)
        | Form::Line(_)
        | Form::Html
        | Form::Color
        | Form::Lang
        | Form::Attrs
        | Form::Name
        | Form::Path => string(),
    }
}

fn text() -> Value {
    let md = json!({
        "type": "string",
        "description": "Words, {{ variables }}, **bold**, *italic*, `code`, [label](address).",
    });
    let mut properties = Map::new();
    properties.insert("md".to_owned(), md);
    json!({ "anyOf": [
        { "type": "string", "description": "Words and {{ variables }}." },
        closed(properties),
    ] })
}

/// Tests, and all, any or none of several.
fn condition() -> Value {
    let operators: Vec<&str> = Operator::NAMES.iter().map(|(name, _)| *name).collect();
    let scalar = json!([{ "type": "string" }, { "type": "number" }, { "type": "boolean" }]);
    let value = json!({ "anyOf": [
        { "type": "string" },
        { "type": "number" },
        { "type": "boolean" },
        { "type": "array", "items": { "anyOf": scalar } },
        { "type": "null" },
    ] });
    let one = |key: &str, schema: Value| {
        let mut properties = Map::new();
        properties.insert(key.to_owned(), schema);
        closed(properties)
    };
    let mut test = Map::new();
    test.insert("var".to_owned(), json!({ "type": "string" }));
    test.insert(
        "op".to_owned(),
        json!({ "type": "string", "enum": operators }),
    );
    test.insert("value".to_owned(), value);
    let test = closed(test);
    let list = json!({ "type": "array", "items": test });
    json!({ "anyOf": [
        test,
        one("all", list.clone()),
        one("any", list),
        one("not", test.clone()),
    ] })
}
