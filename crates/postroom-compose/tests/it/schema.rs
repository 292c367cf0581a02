//! Schemas, the block contract, and that they and the checks agree.

use std::collections::BTreeSet;

use postroom_compose::{Detail, STARTERS, SchemaKind, canonical, check, describe, repair, schema};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::draft::draft;

/// Most that the contract costs an agent: 4,000 tokens of four bytes.
const CONTRACT_BYTES: usize = 16_000;

/// Deepest nesting of objects that strict modes take.
const STRICT_DEPTH: usize = 10;

#[test]
fn the_contract_names_every_block_and_is_short() {
    let contract = describe(&[], Detail::Usual);
    let blocks = contract["blocks"].as_object().expect("blocks");
    assert!(blocks.len() >= 28, "{}", blocks.len());
    // The resource has the examples too.
    for detail in [Detail::Usual, Detail::Examples] {
        let bytes = describe(&[], detail).to_string().len();
        assert!(bytes <= CONTRACT_BYTES, "{bytes}");
    }
    assert!(describe(&[], Detail::Brief).to_string().len() < contract.to_string().len());
    let some = describe(&["button", "carousel"], Detail::Examples);
    assert_eq!(some["unknown"], json!(["carousel"]));
    assert_eq!(some["blocks"]["button"]["example"]["type"], "button");
}

/// Every example of the contract is a document without errors once it stands in its place.
#[test]
fn examples_of_the_contract_are_right() {
    let contract = describe(&[], Detail::Examples);
    for (name, block) in contract["blocks"].as_object().expect("blocks") {
        let example = block["example"].clone();
        let root = if name == "body" {
            example
        } else {
            json!({ "type": "body", "children": [example] })
        };
        let document = json!({
            "version": 2,
            "policy": { "allowRaw": true },
            "variables": [
                { "name": "items", "type": "list", "sample": [{ "name": "Tea", "price": "3.00" }] },
                { "name": "plan", "sample": "pro" },
                { "name": "user.name", "sample": "Ada" },
                { "name": "order.id", "sample": "A-1" },
                { "name": "code", "sample": "482 913" }
            ],
            "root": root
        });
        let repaired = repair(&document);
        let known = ["wrap", "id.assign"];
        assert!(repaired.ok, "{name}: {:#?}", repaired.issues);
        assert!(
            repaired
                .applied
                .iter()
                .all(|applied| known.contains(&applied.code)),
            "{name}: {:#?}",
            repaired.applied
        );
    }
}

/// Nesting of objects, and that the rules of strict modes hold everywhere.
fn strict(schema: &Value, root: &Value, path: &str, open: &mut Vec<String>) -> usize {
    let object = schema.as_object().expect("a schema");
    for banned in [
        "pattern",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "maxLength",
        "minLength",
        "default",
        "format",
        "patternProperties",
        "oneOf",
        "allOf",
    ] {
        assert!(!object.contains_key(banned), "{banned} at {path}");
    }
    if let Some(name) = object.get("$ref") {
        let name = name
            .as_str()
            .expect("a name")
            .strip_prefix("#/$defs/")
            .expect("a definition")
            .to_owned();
        assert!(!open.contains(&name), "{name} holds itself at {path}");
        open.push(name.clone());
        let depth = strict(&root["$defs"][&name], root, &format!("{path}/{name}"), open);
        open.pop();
        return depth;
    }
    if let Some(any) = object.get("anyOf") {
        let depths = any
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| strict(one, root, path, open));
        return depths.max().unwrap_or(0);
    }
    match object.get("type").and_then(Value::as_str) {
        Some("object") => {
            assert_eq!(object["additionalProperties"], false, "{path}");
            let properties = object["properties"].as_object().expect("properties");
            let keys: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            let required: BTreeSet<&str> = object["required"]
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            assert_eq!(keys, required, "{path}");
            let depths = properties
                .iter()
                .map(|(key, one)| strict(one, root, &format!("{path}.{key}"), open));
            1 + depths.max().unwrap_or(0)
        }
        Some("array") => strict(&object["items"], root, &format!("{path}[]"), open),
        Some(_) => 0,
        None => panic!("no type at {path}: {schema}"),
    }
}

#[test]
fn the_schema_of_strict_modes_keeps_their_rules() {
    let schema = schema(SchemaKind::AllRequired);
    let depth = strict(&schema, &schema, "", &mut Vec::new());
    assert!(depth <= STRICT_DEPTH, "{depth}");
    let used = schema.to_string();
    for name in schema["$defs"].as_object().expect("definitions").keys() {
        assert!(
            used.contains(&format!("\"#/$defs/{name}\"")),
            "{name} is not used"
        );
    }
}

/// A draft as a strict mode writes it: every key, null where nothing is said.
fn fill(value: &Value, schema: &Value, root: &Value) -> Option<Value> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return fill(value, &root["$defs"][name.strip_prefix("#/$defs/")?], root);
    }
    if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
        return any.iter().find_map(|one| fill(value, one, root));
    }
    match (schema["type"].as_str()?, value) {
        ("object", Value::Object(object)) => {
            let properties = schema["properties"].as_object()?;
            if object.keys().any(|key| !properties.contains_key(key)) {
                return None;
            }
            let mut filled = Map::new();
            for (key, one) in properties {
                let value = object.get(key).unwrap_or(&Value::Null);
                filled.insert(key.clone(), fill(value, one, root)?);
            }
            Some(Value::Object(filled))
        }
        ("array", Value::Array(items)) => items
            .iter()
            .map(|item| fill(item, &schema["items"], root))
            .collect(),
        ("string", Value::String(text)) => match schema.get("enum").and_then(Value::as_array) {
            Some(words) if !words.contains(value) => None,
            _ => Some(json!(text)),
        },
        ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Some(value.clone())
        }
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) | ("null", Value::Null) => {
            Some(value.clone())
        }
        _ => None,
    }
}

/// What a strict mode can write is checked as the same draft without its nulls.
#[test]
fn a_document_with_every_key_is_the_same_document() {
    let schema = schema(SchemaKind::AllRequired);
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for starter in STARTERS {
        let mut draft: Value = serde_json::from_str(starter.text).expect("JSON");
        for variable in draft["variables"].as_array_mut().into_iter().flatten() {
            for key in ["sample", "item"] {
                if variable[key].is_array() || variable[key].is_object() {
                    variable[key] = json!(variable[key].to_string());
                }
            }
        }
        // Cells take strings only there.
        let text = draft.to_string().replace(
            "\"text\":{\"md\":\"**Total**\"},\"type\":\"cell\"",
            "\"text\":\"Total\",\"type\":\"cell\"",
        );
        let mut draft: Value = serde_json::from_str(&text).expect("JSON");
        plain_cells(&mut draft);
        let filled = fill(&draft, &schema, &schema)
            .unwrap_or_else(|| panic!("{} does not fit", starter.name));
        let errors: Vec<String> = validator
            .iter_errors(&filled)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", starter.name);
        assert!(
            check(&filled).ok,
            "{}: {:#?}",
            starter.name,
            check(&filled).issues
        );
        assert_eq!(canonical(&filled), canonical(&draft), "{}", starter.name);
    }
}

fn plain_cells(value: &mut Value) {
    if value["type"] == "cell"
        && let Some(md) = value["text"]["md"].as_str().map(|md| md.replace("**", ""))
    {
        value["text"] = json!(md);
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(plain_cells),
        Value::Object(object) => object.values_mut().for_each(plain_cells),
        _ => {}
    }
}

/// A document as a flat list.
fn flatten(block: &Value, parent: Option<&str>, slot: Option<&str>, list: &mut Vec<Value>) {
    let Some(object) = block.as_object() else {
        return;
    };
    let mut props = Map::new();
    for (key, value) in object {
        if !["id", "type", "children", "then", "else", "empty"].contains(&key.as_str()) {
            props.insert(key.clone(), value.clone());
        }
    }
    let id = object["id"].as_str().expect("an id");
    let mut flat = json!({ "id": id, "type": object["type"], "parent": parent, "props": props });
    if let Some(slot) = slot.filter(|slot| *slot != "children") {
        flat["slot"] = json!(slot);
    }
    list.push(flat);
    for slot in ["children", "then", "else", "empty"] {
        for child in object
            .get(slot)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            flatten(child, Some(id), Some(slot), list);
        }
    }
}

#[test]
fn the_flat_form_is_the_same_document() {
    let validator = jsonschema::validator_for(&schema(SchemaKind::AiFlat)).expect("a schema");
    for starter in STARTERS {
        let document = canonical(starter.text).expect("a document");
        let mut list = Vec::new();
        flatten(&document["root"], None, None, &mut list);
        let mut flat = document.clone();
        let object = flat.as_object_mut().expect("an object");
        object.remove("root");
        object.insert("blocks".to_owned(), Value::Array(list));
        let errors: Vec<String> = validator
            .iter_errors(&flat)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", starter.name);
        assert!(
            repair(&flat).applied.is_empty(),
            "{:#?}",
            repair(&flat).applied
        );
        assert_eq!(
            canonical(&flat).expect("a document"),
            document,
            "{}",
            starter.name
        );
    }
}

#[test]
fn a_flat_block_that_is_its_own_ancestor_goes_into_the_body() {
    let flat = json!({ "version": 2, "blocks": [
        { "id": "a", "type": "section", "parent": "b", "props": {} },
        { "id": "b", "type": "section", "parent": "a", "props": {} },
        { "id": "c", "type": "text", "parent": "nobody", "props": { "text": "Words" } }
    ] });
    let document = repair(&flat).document.to_string();
    assert!(document.contains("Words"), "{document}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What the checks find right the schema of stored documents takes.
    #[test]
    fn schema_and_checks_agree(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        thread_local! {
            static FULL: jsonschema::Validator = jsonschema::validator_for(&schema(SchemaKind::Full)).expect("a schema");
        }
        let repaired = repair(&draft(&bytes).document);
        if repaired.ok {
            let errors: Vec<String> = FULL.with(|full| full.iter_errors(&repaired.document).map(|error| error.to_string()).collect());
            prop_assert!(errors.is_empty(), "{:?} {}", errors, repaired.document);
        }
    }
}
