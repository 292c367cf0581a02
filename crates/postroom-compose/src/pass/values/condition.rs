//! Conditions, also as expressions of template languages write them.

use serde_json::Value as Json;

use crate::{
    draft::{Node, Object, Value},
    grammar,
    issue::Code,
    model::Operator,
    notation,
    pass::{Pass, text},
};

/// Other names of the keys of a condition.
const KEYS: &[(&str, &str)] = &[
    ("variable", "var"),
    ("name", "var"),
    ("path", "var"),
    ("field", "var"),
    ("operator", "op"),
    ("is", "op"),
    ("than", "value"),
    ("and", "all"),
    ("or", "any"),
];

/// Other names of operators.
const OPERATORS: &[(&str, &str)] = &[
    ("==", "eq"),
    ("===", "eq"),
    ("=", "eq"),
    ("equals", "eq"),
    ("equal", "eq"),
    ("is", "eq"),
    ("!=", "ne"),
    ("!==", "ne"),
    ("<>", "ne"),
    ("neq", "ne"),
    ("notequals", "ne"),
    ("isnot", "ne"),
    (">", "gt"),
    ("greaterthan", "gt"),
    (">=", "gte"),
    ("ge", "gte"),
    ("<", "lt"),
    ("lessthan", "lt"),
    ("<=", "lte"),
    ("le", "lte"),
    ("present", "exists"),
    ("isset", "exists"),
    ("set", "exists"),
    ("defined", "exists"),
    ("truthy", "exists"),
    ("true", "exists"),
    ("notempty", "exists"),
    ("isempty", "empty"),
    ("blank", "empty"),
    ("missing", "empty"),
    ("notexists", "empty"),
    ("falsy", "empty"),
    ("false", "empty"),
    ("oneof", "in"),
    ("includes", "contains"),
    ("has", "contains"),
];

/// A condition in its form; what says nothing stays as it is.
pub(crate) fn condition(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    let object = match &node.value {
        Value::Object(object) => object,
        Value::String(text) => return expression(node, text, pass),
        _ => {
            let message = format!("A condition is an object, not {}.", node.what());
            pass.findings
                .report(Code::CondInvalid, node.origin, message);
            return node.clone();
        }
    };
    let object = named(object, pass);
    let is = |key: &str| object.has(key);
    let shape = ["var", "all", "any", "not"]
        .into_iter()
        .filter(|key| is(key));
    match shape.collect::<Vec<_>>().as_slice() {
        ["var"] => test(node, &object, pass),
        [key @ ("all" | "any")] => several(node, &object, key, pass),
        ["not"] => {
            only(&object, &["not"], pass);
            let inner = object.find("not").map(|inner| condition(inner, pass));
            let mut kept = Object::default();
            if let Some(inner) = inner {
                kept.put("not", inner);
            }
            Node::new(node.origin, Value::Object(kept))
        }
        _ => {
            let message = format!("{} is no condition.", node.excerpt());
            pass.findings
                .report(Code::CondInvalid, node.origin, message);
            Node::new(node.origin, Value::Object(object))
        }
    }
}

/// The object with our names of keys.
fn named(object: &Object, pass: &mut Pass<'_, '_>) -> Object {
    let mut renamed = Object::default();
    for (key, node) in &object.0 {
        if node.is_null() {
            continue;
        }
        let ours = KEYS
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(key));
        let ours = ours.map(|(_, ours)| *ours).filter(|ours| !object.has(ours));
        if let Some(ours) = ours {
            pass.findings.mend(
                Code::SchemaUnknownKey,
                node.origin,
                format!("The key is {ours}, not {key}."),
                "key.alias",
                format!("{key} to {ours}"),
            );
        }
        renamed.put(ours.unwrap_or(key), node.clone());
    }
    renamed
}

/// Drops keys that the condition does not have.
fn only(object: &Object, keys: &[&str], pass: &mut Pass<'_, '_>) {
    for (key, node) in &object.0 {
        if !keys.contains(&key.as_str()) {
            super::drop_key(key, node, "a condition", pass);
        }
    }
}

fn several(node: &Node, object: &Object, key: &str, pass: &mut Pass<'_, '_>) -> Node {
    only(object, &[key], pass);
    let parts = object.find(key);
    let Some(parts) = parts
        .and_then(Node::as_array)
        .filter(|parts| !parts.is_empty())
    else {
        let message = format!("{key} takes a list of conditions.");
        pass.findings
            .report(Code::CondInvalid, node.origin, message);
        return Node::new(node.origin, Value::Object(object.clone()));
    };
    let parts = parts.iter().map(|part| condition(part, pass)).collect();
    let mut kept = Object::default();
    kept.put(key, Node::array(node.origin, parts));
    Node::new(node.origin, Value::Object(kept))
}

/// The operator that a name stands for.
fn operator(name: &str) -> Option<&'static str> {
    let lower: String = name
        .chars()
        .filter(|char| !matches!(char, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    let ours = Operator::NAMES.iter().find(|(known, _)| *known == lower);
    ours.map(|(name, _)| *name).or_else(|| {
        let other = OPERATORS.iter().find(|(other, _)| *other == lower);
        other.map(|(_, ours)| *ours)
    })
}

fn test(node: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Node {
    only(object, &["var", "op", "value"], pass);
    let mut kept = Object::default();
    let refuse = |pass: &mut Pass<'_, '_>, at, message: String| {
        pass.findings.report(Code::CondInvalid, at, message);
        Node::new(node.origin, Value::Object(object.clone()))
    };
    let Some(variable) = object.find("var") else {
        return node.clone();
    };
    let path = variable.as_str().map(text::path_of).unwrap_or_default();
    if !notation::is_path(path) {
        let message = format!("{} is no path of a variable.", variable.excerpt());
        return refuse(pass, variable.origin, message);
    }
    if variable.as_str() != Some(path) {
        pass.findings.mend(
            Code::VarSyntax,
            variable.origin,
            "var takes the path without braces.",
            "var.syntax",
            format!("{} to {path}", variable.excerpt()),
        );
    }
    kept.put("var", Node::string(variable.origin, path));
    let value = object.find("value");
    let written = object
        .find("op")
        .map(|op| (op, op.as_str().unwrap_or_default()));
    let name = match written {
        None if value.is_some() => "eq",
        None => "exists",
        Some((op, written)) => {
            let Some(name) = operator(written) else {
                let names: Vec<&str> = Operator::NAMES.iter().map(|(name, _)| *name).collect();
                let near = grammar::nearest(written, names.iter().copied());
                let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
                let message = format!(
                    "op is one of {}, not {}.{near}",
                    names.join(", "),
                    op.excerpt()
                );
                return refuse(pass, op.origin, message);
            };
            if name != written {
                pass.findings.mend(
                    Code::CondInvalid,
                    op.origin,
                    format!("{} is no operator.", op.excerpt()),
                    "enum-case",
                    format!("{} to {name}", op.excerpt()),
                );
            }
            name
        }
    };
    kept.put("op", Node::string(node.origin, name));
    let takes_value = Operator::named(name).is_some_and(Operator::takes_value);
    match value {
        Some(value) if !takes_value => super::drop_key("value", value, "a condition", pass),
        Some(value) => {
            let Some(value) = operand(value, name, pass) else {
                let message = format!("{name} does not compare with {}.", value.excerpt());
                return refuse(pass, value.origin, message);
            };
            kept.put("value", value);
        }
        None if takes_value => return refuse(pass, node.origin, format!("{name} needs a value.")),
        None => {}
    }
    Node::new(node.origin, Value::Object(kept))
}

/// What a variable is compared with.
fn operand(node: &Node, operator: &str, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let scalar = |node: &Node| {
        matches!(
            node.value,
            Value::Bool(_) | Value::Number(_) | Value::String(_)
        )
    };
    match (&node.value, operator) {
        (Value::Array(items), "in") if !items.is_empty() && items.iter().all(scalar) => {
            Some(node.clone())
        }
        (_, "in") if scalar(node) => {
            pass.findings.mend(
                Code::CondInvalid,
                node.origin,
                "in compares with a list.",
                "coerce.list",
                format!("{} put into a list", node.excerpt()),
            );
            Some(Node::array(node.origin, vec![node.clone()]))
        }
        (_, "in") => None,
        _ => scalar(node).then(|| node.clone()),
    }
}

/// An expression in a string: `plan`, `!plan`, `plan == "pro"`.
fn expression(node: &Node, text: &str, pass: &mut Pass<'_, '_>) -> Node {
    let bare = text::path_of(text);
    let message = format!("A condition is an object, not {}.", node.excerpt());
    match read(bare) {
        Some((path, operator, value)) => {
            let mut object = Object::default();
            object.put("var", Node::string(node.origin, path));
            object.put("op", Node::string(node.origin, operator));
            if let Some(value) = value {
                let value = match value {
                    Json::Number(number) => Value::Number(number),
                    Json::Bool(bool) => Value::Bool(bool),
                    Json::String(text) => Value::String(text),
                    _ => Value::Null,
                };
                object.put("value", Node::new(node.origin, value));
            }
            let mended = Node::new(node.origin, Value::Object(object));
            let change = format!("{} to {}", node.excerpt(), mended.excerpt());
            pass.findings
                .mend(Code::CondInvalid, node.origin, message, "cond", change);
            mended
        }
        None => {
            pass.findings
                .report(Code::CondInvalid, node.origin, message);
            node.clone()
        }
    }
}

fn read(text: &str) -> Option<(&str, &'static str, Option<Json>)> {
    if notation::is_path(text) {
        return Some((text, "exists", None));
    }
    for negation in ["!", "not "] {
        if let Some(path) = text.strip_prefix(negation).map(str::trim)
            && notation::is_path(path)
        {
            return Some((path, "empty", None));
        }
    }
    for sign in ["===", "!==", "==", "!=", ">=", "<=", ">", "<"] {
        let Some((path, value)) = text.split_once(sign) else {
            continue;
        };
        let (path, value) = (path.trim(), value.trim());
        if !notation::is_path(path) {
            return None;
        }
        let quoted = ['"', '\''].into_iter().find_map(|quote| {
            let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
            (!inner.contains(quote)).then(|| Json::String(inner.to_owned()))
        });
        let value = quoted.or_else(|| {
            let value: Json = serde_json::from_str(value).ok()?;
            matches!(value, Json::Number(_) | Json::Bool(_)).then_some(value)
        })?;
        return Some((path, operator(sign)?, Some(value)));
    }
    None
}
