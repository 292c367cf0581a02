//! Objects and lists of them.

use super::{drop_key, expect, missed as missed_of, table};
use crate::{
    draft::{Node, Object, Value},
    grammar::Attribute,
    issue::Code,
    pass::Pass,
};

/// Dark mode as one word or truth value.
pub(super) fn dark_word(node: &Node, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let mode = match &node.value {
        Value::Bool(true) => "auto",
        Value::Bool(false) => "off",
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "auto" | "on" | "true" | "dark" => "auto",
            "authored" => "authored",
            "off" | "none" | "false" | "light" => "off",
            _ => return None,
        },
        _ => return None,
    };
    pass.findings.mend(
        Code::SchemaType,
        node.origin,
        format!("dark is an object, not {}.", node.what()),
        "coerce.bool",
        format!("{} to mode {mode}", node.excerpt()),
    );
    let mode = ("mode".to_owned(), Node::string(node.origin, mode));
    Some(Node::new(node.origin, Value::Object(Object(vec![mode]))))
}

pub(super) fn object(
    node: &Node,
    name: &str,
    rows: &[&'static Attribute],
    pass: &mut Pass<'_, '_>,
) -> Node {
    let word = if name == "dark" {
        dark_word(node, pass)
    } else {
        None
    };
    let node = word.as_ref().unwrap_or(node);
    let mut node = expect(node, name, "an object", node.as_object().is_some(), pass);
    let at = node.origin;
    if let Some(object) = node.as_object_mut() {
        let mut missed = Vec::new();
        if name == "meta" {
            let known = |key: &str| {
                rows.iter()
                    .any(|row| row.name == key || row.aliases.contains(&key))
            };
            missed = missed_of(object, &known, name, pass);
        }
        table(object, rows, name, at, pass);
        object.0.extend(missed);
    }
    node
}

pub(super) fn objects(
    node: &Node,
    name: &str,
    rows: &[&'static Attribute],
    most: usize,
    pass: &mut Pass<'_, '_>,
) -> Node {
    let mut node = expect(node, name, "a list", node.as_array().is_some(), pass);
    let at = node.origin;
    let Some(items) = node.as_array_mut() else {
        return node;
    };
    if items.len() > most {
        let message = format!("{name} has {} elements; {most} are allowed.", items.len());
        pass.findings.report(Code::SchemaRange, at, message);
    }
    let singular = name.strip_suffix('s').unwrap_or(name);
    for item in items {
        *item = object(item, singular, rows, pass);
    }
    node
}

/// A sample of a list or object that is given as its JSON text, for writers whose schema has no open
/// objects; anything else as it is.
pub(crate) fn sample(node: &Node) -> Node {
    let text = node.as_str().unwrap_or_default().trim_start();
    if !text.starts_with(['[', '{']) {
        return node.clone();
    }
    match crate::draft::parse(text) {
        Ok((mut inner, ..)) if inner.depth() <= SAMPLE_DEPTH => {
            inner.settle_at(node.origin);
            inner
        }
        _ => node.clone(),
    }
}

/// Deepest nesting of a sample that is given as text.
pub(super) const SAMPLE_DEPTH: usize = 8;

/// Attributes that are passed through; `None` when none is left.
pub(super) fn attrs(node: &Node, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let Some(object) = node.as_object() else {
        return Some(expect(node, "attrs", "an object", false, pass));
    };
    let mut kept = Object::default();
    for (key, value) in &object.0 {
        let known = is_passed_through(key);
        let text = value
            .as_str()
            .filter(|text| text.chars().count() <= 200 && !text.chars().any(char::is_control));
        match text {
            Some(_) if known => kept.put(key, value.clone()),
            _ => drop_key(key, value, "attrs", pass),
        }
    }
    (!kept.0.is_empty()).then(|| Node::new(node.origin, Value::Object(kept)))
}

/// Whether an attribute of that name may be passed through: `mc:*` and `data-*`.
pub(super) fn is_passed_through(name: &str) -> bool {
    let rest = name
        .strip_prefix("mc:")
        .or_else(|| name.strip_prefix("data-"));
    rest.is_some_and(|rest| {
        (1..=40).contains(&rest.len())
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    })
}
