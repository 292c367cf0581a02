//! Conditions, also as expressions of template languages write them.

mod expression;

pub(crate) use expression::stated;

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
    ("if", "var"),
    ("when", "var"),
    ("operator", "op"),
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

/// Names of a flag beside a comparison that turns it round.
const NEGATIONS: &[&str] = &["negate", "negated", "invert", "inverted"];

/// Keys beside a condition that restrict nothing.
const REMARKS: &[&str] = &["id", "comment", "note", "description", "label"];

/// A condition in its form; what says nothing stays as it was written.
pub(crate) fn condition(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    let mark = pass.findings.mark();
    read_condition(node, pass).unwrap_or_else(|| {
        pass.findings.revoke(mark);
        node.clone()
    })
}

/// A condition in its form; `None` after telling what is wrong with it.
fn read_condition(node: &Node, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let object = match &node.value {
        Value::Object(object) => named(object, pass),
        Value::String(text) => return expression::expression(node, text, pass),
        _ => {
            let message = format!("A condition is an object, not {}.", node.what());
            return refuse(node, message, pass);
        }
    };
    let shape = ["var", "all", "any", "not"]
        .into_iter()
        .filter(|key| object.has(key));
    match shape.collect::<Vec<_>>().as_slice() {
        ["var"] | ["var", "not"] => tests(node, &object, pass),
        [key @ ("all" | "any")] => several(node, &object, key, pass),
        ["not"] => {
            only(&object, &["not"], pass)?;
            let inner = condition(object.find("not")?, pass);
            let mut kept = Object::default();
            kept.put("not", inner);
            Some(Node::new(node.origin, Value::Object(kept)))
        }
        _ => refuse(node, format!("{} is no condition.", node.excerpt()), pass),
    }
}

/// Tells what is wrong at `node`.
fn refuse<T>(node: &Node, message: String, pass: &mut Pass<'_, '_>) -> Option<T> {
    pass.findings
        .report(Code::CondInvalid, node.origin, message);
    None
}

/// The object with our names of keys.
fn named(object: &Object, pass: &mut Pass<'_, '_>) -> Object {
    let mut renamed = Object::default();
    for (key, node) in &object.0 {
        // A comparison with null is no absence of a comparison.
        if node.is_null() && (key == "not" || operator(key).is_none()) {
            continue;
        }
        let ours = KEYS
            .iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(key));
        let says_how = key == "is" && node.as_str().and_then(operator).is_some();
        let ours = ours.map(|(_, ours)| *ours).or(says_how.then_some("op"));
        let ours = ours.filter(|ours| !object.has(ours));
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

/// Drops remarks; `None` when another key stands there, which may restrict what was meant.
fn only(object: &Object, keys: &[&str], pass: &mut Pass<'_, '_>) -> Option<()> {
    for (key, node) in &object.0 {
        if keys.contains(&key.as_str()) {
            continue;
        }
        if REMARKS.contains(&key.as_str()) || key.starts_with('_') {
            super::drop_key(key, node, "a condition", pass);
            continue;
        }
        let shown: String = key.chars().take(60).collect();
        let message = format!("A condition has no key {shown:?}: {}.", node.excerpt());
        refuse(node, message, pass)?;
    }
    Some(())
}

fn several(node: &Node, object: &Object, key: &str, pass: &mut Pass<'_, '_>) -> Option<Node> {
    only(object, &[key], pass)?;
    let parts = object.find(key).and_then(Node::as_array);
    let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
        return refuse(node, format!("{key} takes a list of conditions."), pass);
    };
    let parts = parts.iter().map(|part| condition(part, pass)).collect();
    let mut kept = Object::default();
    kept.put(key, Node::array(node.origin, parts));
    Some(Node::new(node.origin, Value::Object(kept)))
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

/// All comparisons of one variable: under `op` and `value`, and under names of operators.
fn tests(node: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let mut plain = Object::default();
    let mut found = Vec::new();
    let mut negated = false;
    for (key, value) in &object.0 {
        if let Some(negates) = negation(key, value) {
            mended_key(key, value, "not", pass);
            negated ^= negates;
        } else if let Some(name) = comparison(key) {
            found.push((key, name, value));
        } else {
            plain.put(key, value.clone());
        }
    }
    only(&plain, &["var", "op", "value"], pass)?;
    let stated = plain.has("op") || plain.has("value");
    if stated || found.iter().any(|(_, _, value)| !value.is_null()) {
        found.retain(|(_, _, value)| !value.is_null());
    }
    let mut parts = Vec::new();
    if stated || found.is_empty() {
        parts.push(test(node, &plain, pass)?);
    }
    for (key, name, value) in found {
        mended_key(key, value, name, pass);
        let mut one = Object::default();
        one.put("var", plain.find("var")?.clone());
        one.put("op", Node::string(value.origin, name));
        one.put("value", value.clone());
        let flag = value.as_bool().is_some();
        if !flag && !Operator::named(name).is_some_and(Operator::takes_value) {
            let message = format!("{key} is true or false, not {}.", value.excerpt());
            return refuse(value, message, pass);
        }
        parts.push(test(node, &one, pass)?);
    }
    let whole = if parts.len() > 1 {
        around(node, "all", Node::array(node.origin, parts))
    } else {
        parts.pop()?
    };
    Some(if negated {
        around(node, "not", whole)
    } else {
        whole
    })
}

/// `inner` as the only thing that a condition holds.
fn around(node: &Node, key: &str, inner: Node) -> Node {
    let mut kept = Object::default();
    kept.put(key, inner);
    Node::new(node.origin, Value::Object(kept))
}

/// Whether a flag turns a comparison round; `None` when the key is no such flag.
fn negation(key: &str, value: &Node) -> Option<bool> {
    let named = key == "not" || NEGATIONS.iter().any(|name| name.eq_ignore_ascii_case(key));
    named.then(|| value.as_bool()).flatten()
}

/// The operator that a key beside `var` names.
fn comparison(key: &str) -> Option<&'static str> {
    match key {
        "var" | "op" | "value" => None,
        "not" => Some("ne"),
        key => operator(key),
    }
}

/// Tells that `key` says what `ours` says.
fn mended_key(key: &str, node: &Node, ours: &str, pass: &mut Pass<'_, '_>) {
    let shown: String = key.chars().take(60).collect();
    pass.findings.mend(
        Code::CondInvalid,
        node.origin,
        format!("A condition compares by op and value, not by {shown}."),
        "cond",
        format!("{shown} {} to {ours}", node.excerpt()),
    );
}

/// One comparison, of `var`, `op` and `value`.
fn test(node: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let variable = object.find("var")?;
    let path = variable.as_str().map(text::path_of).unwrap_or_default();
    if !notation::is_path(path) {
        let message = format!("{} is no path of a variable.", variable.excerpt());
        return refuse(variable, message, pass);
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
    let value = object.find("value");
    let name = match object.find("op") {
        None if value.is_some() => "eq",
        None => "exists",
        Some(op) => written_operator(op, value, pass)?,
    };
    let mut kept = Object::default();
    kept.put("var", Node::string(variable.origin, path));
    kept.put("op", Node::string(node.origin, name));
    let takes_value = Operator::named(name).is_some_and(Operator::takes_value);
    match value {
        Some(value) if !takes_value && says_nothing(value) => {
            super::drop_key("value", value, "a condition", pass);
        }
        Some(value) if !takes_value => {
            let message = format!("{name} takes no value, not {}.", value.excerpt());
            return refuse(value, message, pass);
        }
        Some(value) => {
            let Some(operand) = operand(value, name, pass) else {
                let message = format!("{name} does not compare with {}.", value.excerpt());
                return refuse(value, message, pass);
            };
            kept.put("value", operand);
        }
        None if takes_value => return refuse(node, format!("{name} needs a value."), pass),
        None => {}
    }
    Some(Node::new(node.origin, Value::Object(kept)))
}

/// Whether a value beside an operator that takes none says no more than the operator.
fn says_nothing(value: &Node) -> bool {
    value.as_bool().is_some() || matches!(value.as_str(), Some("" | "true"))
}

/// The operator under our name. One that takes no value and is given `false` means its opposite.
fn written_operator(
    node: &Node,
    value: Option<&Node>,
    pass: &mut Pass<'_, '_>,
) -> Option<&'static str> {
    let written = node.as_str().unwrap_or_default();
    let names = || Operator::NAMES.iter().map(|(name, _)| *name);
    let Some(name) = operator(written) else {
        let near = grammar::nearest(written, names());
        let near = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
        let known: Vec<&str> = names().collect();
        let message = format!(
            "op is one of {}, not {}.{near}",
            known.join(", "),
            node.excerpt()
        );
        return refuse(node, message, pass);
    };
    let denied = value.and_then(Node::as_bool) == Some(false);
    let meant = match name {
        "exists" if denied => "empty",
        "empty" if denied => "exists",
        name => name,
    };
    if meant != written {
        pass.findings.mend(
            Code::CondInvalid,
            node.origin,
            format!("The condition is written {meant}, not {}.", node.excerpt()),
            "enum-case",
            format!("{} to {meant}", node.excerpt()),
        );
    }
    Some(meant)
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
