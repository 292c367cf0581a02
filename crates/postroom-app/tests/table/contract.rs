//! Names, words, hints and schemas of the rows.

use std::collections::HashSet;

use postroom_app::operation::{Annotations, Operation, TABLE, Toolset};
use serde_json::{Value, json};

const CONTRACT: &str = include_str!("../../test_data/contract/mail-tool-schemas.json");

/// The mail tools in the contract's order; those that are not built yet are left out of the table.
const MAIL_TOOLS: &[&str] = &[
    "mail_list_identities",
    "mail_list_threads",
    "mail_search",
    "mail_deep_search",
    "mail_get_thread",
    "mail_get_message",
    "mail_get_attachment_text",
    "mail_find_related",
    "mail_search_contacts",
    "mail_wait",
    "mail_get_usage",
    "mail_send",
    "mail_reply",
    "mail_forward",
    "mail_update_labels",
    "mail_sign_assertion",
    "mail_sign_http_request",
];

fn contract() -> Value {
    serde_json::from_str(CONTRACT).expect("the contract is JSON")
}

/// A schema without what is ours to write: descriptions; and with `required` in one order.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut out = serde_json::Map::new();
            for (name, value) in object {
                match name.as_str() {
                    "description" if value.is_string() => {}
                    "required" => {
                        let mut names = value.as_array().cloned().unwrap_or_default();
                        names.sort_by_key(Value::to_string);
                        if !names.is_empty() {
                            out.insert(name.clone(), names.into());
                        }
                    }
                    "properties" => {
                        let properties = value.as_object().expect("properties");
                        let bare = properties
                            .iter()
                            .map(|(name, value)| (name.clone(), bare(value)));
                        out.insert(name.clone(), Value::Object(bare.collect()));
                    }
                    _ => {
                        out.insert(name.clone(), bare(value));
                    }
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        // 0 and 0.0 are the same bound.
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

/// A schema of the contract as it is published: with what it refers to in place.
fn whole(schema: &Value, defs: &Value, contract: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut out = serde_json::Map::new();
            if let Some(name) = object.get("$ref").and_then(Value::as_str) {
                let name = name.trim_start_matches("#/$defs/");
                let Value::Object(found) = whole(&defs[name], defs, contract) else {
                    panic!("{name} is no schema");
                };
                out.extend(found);
            }
            if object
                .get("$comment")
                .is_some_and(|words| words == "as mail_send")
            {
                return contract["mail_send"]["input"]["properties"]["attachments"]["items"]
                    .clone();
            }
            for (name, value) in object {
                if !matches!(name.as_str(), "$ref" | "$defs") {
                    out.insert(name.clone(), whole(value, defs, contract));
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => items
            .iter()
            .map(|item| whole(item, defs, contract))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn every_mail_tool_takes_exactly_what_the_contract_says() {
    let contract = contract();
    for row in TABLE.iter().filter(|row| row.toolset == Toolset::Mail) {
        let input = &contract[row.name]["input"];
        let expected = bare(&whole(input, &input["$defs"], &contract));
        let found = bare(row.input_schema());
        assert_eq!(found, expected, "{}", row.name);
    }
}

#[test]
fn published_outputs_hold_what_the_contract_says_of_them() {
    let contract = contract();
    for row in TABLE {
        let Value::Object(expected) = &contract[row.name]["output"] else {
            continue;
        };
        let found = row.output_schema();
        for (name, property) in expected["properties"].as_object().expect("properties") {
            let ours = &found["properties"][name];
            assert_eq!(ours["type"], property["type"], "{} {name}", row.name);
        }
        for name in expected["required"].as_array().expect("required") {
            let required = found["required"].as_array().expect("required");
            assert!(required.contains(name), "{} {name}", row.name);
        }
    }
}

#[test]
fn mail_tools_stand_first_and_in_the_contracts_order() {
    let names: Vec<&str> = TABLE
        .iter()
        .filter(|row| row.toolset == Toolset::Mail)
        .map(|row| row.name)
        .collect();
    let expected: Vec<&str> = MAIL_TOOLS
        .iter()
        .copied()
        .filter(|name| names.contains(name))
        .collect();
    assert_eq!(names, expected);
    assert!(names.iter().zip(TABLE).all(|(name, row)| *name == row.name));
    for name in [
        "mail_list_threads",
        "mail_search",
        "mail_get_thread",
        "mail_get_message",
        "mail_wait",
        "mail_get_usage",
        "mail_send",
        "mail_reply",
        "mail_forward",
        "mail_update_labels",
    ] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn events_tools_are_the_contracts() {
    let names: Vec<&str> = TABLE
        .iter()
        .filter(|row| row.toolset == Toolset::Events)
        .map(|row| row.name)
        .collect();
    assert_eq!(
        names,
        [
            "list_webhook_events",
            "get_webhook_event",
            "replay_webhook_event"
        ]
    );
}

#[test]
fn names_titles_and_descriptions_are_there_and_differ() {
    let mut seen = HashSet::new();
    for row in TABLE {
        for words in [row.name, row.title, row.description] {
            assert!(!words.trim().is_empty(), "{}", row.name);
            assert!(seen.insert(words), "{words} stands twice");
            assert!(
                !words.contains("  "),
                "{}: two spaces in {words:?}",
                row.name
            );
        }
        assert!(row.description.ends_with('.'), "{}", row.name);
        assert!(
            row.name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_'),
            "{}",
            row.name
        );
    }
}

#[test]
fn hints_are_those_of_the_contract() {
    for row in TABLE {
        let hints = row.annotations;
        if row.name == "mail_update_labels" {
            assert_eq!(hints, Annotations::CHANGE);
        } else if row.name == "replay_webhook_event" {
            assert!(hints.open_world && !hints.read_only && !hints.destructive);
        } else if matches!(row.name, "mail_send" | "mail_reply" | "mail_forward") {
            let sends = Annotations {
                open_world: true,
                ..Annotations::ADD
            };
            assert_eq!(hints, sends, "{}", row.name);
        } else if matches!(row.toolset, Toolset::Mail | Toolset::Events) {
            assert_eq!(hints, Annotations::READ, "{}", row.name);
        }
        let reads = row.routes.iter().all(|route| route.method == "GET");
        assert!(!reads || hints.read_only, "{}", row.name);
        assert!(!(hints.read_only && hints.destructive), "{}", row.name);
    }
}

/// Words that have no place at the top of a published schema, because clients refuse them there.
const NOT_ON_TOP: &[&str] = &["oneOf", "anyOf", "allOf", "not", "$ref", "$defs", "enum"];

#[test]
fn schemas_are_plain_objects_without_references() {
    for row in TABLE {
        for (what, schema) in [
            ("input", row.input_schema()),
            ("output", row.output_schema()),
        ] {
            if what == "output" && !row.is_tool() && schema.is_null() {
                continue;
            }
            let at = format!("{} {what}", row.name);
            assert_eq!(schema["type"], "object", "{at}");
            assert!(schema["properties"].is_object(), "{at}");
            for word in NOT_ON_TOP {
                assert!(schema.get(*word).is_none(), "{at} has {word} on top");
            }
            let text = schema.to_string();
            assert!(!text.contains("\"$ref\""), "{at} refers");
            assert!(!text.contains("\"$schema\""), "{at} names a dialect");
            jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{at}: {error}"));
        }
        assert_eq!(
            row.input_schema()["additionalProperties"],
            false,
            "{}",
            row.name
        );
    }
}

#[test]
fn every_property_is_described() {
    fn undescribed(schema: &Value, at: &str, out: &mut Vec<String>) {
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                let at = format!("{at}.{name}");
                if property.get("description").is_none() {
                    out.push(at.clone());
                }
                undescribed(property, &at, out);
            }
        }
        if let Some(items) = schema.get("items") {
            undescribed(items, at, out);
        }
    }
    let mut out = Vec::new();
    for row in TABLE {
        undescribed(row.input_schema(), row.name, &mut out);
    }
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn the_default_list_stays_under_twelve_thousand_tokens() {
    let bytes: usize = TABLE
        .iter()
        .filter(|row| row.is_tool() && row.toolset.by_default())
        .map(|row| row.name.len() + row.description.len() + row.input_schema().to_string().len())
        .sum();
    // Four characters a token is what English and JSON come to.
    assert!(bytes / 4 < 12_000, "{} tokens", bytes / 4);
}

#[test]
fn every_row_has_a_route_and_a_path_parameter_is_an_argument() {
    for row in TABLE {
        assert!(row.route().is_some(), "{}", row.name);
        for route in row.routes {
            for part in route.path.split('/') {
                let Some(name) = part
                    .strip_prefix('{')
                    .and_then(|part| part.strip_suffix('}'))
                else {
                    continue;
                };
                let argument = route.argument(name);
                assert!(
                    row.input_schema()["properties"].get(argument).is_some(),
                    "{} {}: {argument}",
                    row.name,
                    route.path
                );
            }
        }
    }
}

#[test]
fn routes_that_are_shared_can_be_told_apart() {
    let mut seen: Vec<(&str, &str, &Operation)> = Vec::new();
    for row in TABLE {
        for route in row.routes {
            assert!(
                !seen
                    .iter()
                    .any(|(method, path, _)| *method == route.method && *path == route.path),
                "{} {} of {}",
                route.method,
                route.path,
                row.name
            );
            seen.push((route.method, route.path, row));
        }
    }
}

#[test]
fn the_openapi_document_has_every_route_with_unique_ids() {
    let document = postroom_app::openapi("http://127.0.0.1:8025");
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = HashSet::new();
    for row in TABLE {
        for route in row.routes {
            let entry = &document["paths"][route.path][route.method.to_ascii_lowercase()];
            let id = entry["operationId"].as_str().expect("an id");
            assert!(ids.insert(id.to_owned()), "{id}");
            assert!(entry["responses"][route.status.to_string()].is_object());
        }
    }
}

#[test]
fn the_reference_page_names_every_operation_and_argument() {
    let page = postroom_app::reference_markdown();
    for row in TABLE {
        assert!(page.contains(&format!("\n### {}\n", row.name)));
        for name in row.input_schema()["properties"]
            .as_object()
            .expect("properties")
            .keys()
        {
            assert!(page.contains(&format!("| `{name}`")), "{} {name}", row.name);
        }
    }
}
