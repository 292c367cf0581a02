//! Blocks whose type is the key that holds all of them.

use super::keys::told;
use crate::{
    draft::{Node, Object, Value},
    grammar,
    pass::Pass,
};

/// Types that a key can name whose value is all of the block.
const TYPES: &[&str] = &[
    "body", "section", "column", "panel", "hero", "heading", "button", "image", "divider",
    "spacer", "list", "table", "quote", "video", "social", "menu", "code", "footer", "text",
];

/// Tags of HTML that do so where nothing stands beside them.
const TAGS: &[(&str, &str)] = &[
    ("h1", "heading"),
    ("h2", "heading"),
    ("h3", "heading"),
    ("h4", "heading"),
    ("h5", "heading"),
    ("h6", "heading"),
    ("p", "text"),
    ("paragraph", "text"),
    ("small", "text"),
    ("ul", "list"),
    ("ol", "list"),
    ("hr", "divider"),
    ("br", "spacer"),
    ("img", "image"),
    ("blockquote", "quote"),
    ("pre", "code"),
];

/// A block whose type is a key that holds all of it: `{"button": {"label": "Go"}}`.
pub(super) fn key_typed(object: &mut Object, pass: &mut Pass<'_, '_>) {
    if object.has("type") {
        return;
    }
    let found = object.0.iter().find_map(|(key, node)| {
        let kind = TYPES
            .iter()
            .find(|kind| key.eq_ignore_ascii_case(kind))
            .copied();
        let tag = TAGS
            .iter()
            .find(|(tag, _)| tag == key)
            .map(|(_, kind)| *kind);
        match (kind, tag) {
            (Some(kind), _) if holds_all_of(kind, key, node, object) => Some((key.clone(), kind)),
            (None, Some(kind)) if is_all_of_tag(kind, node, object) => Some((key.clone(), kind)),
            _ => None,
        }
    });
    let Some((key, kind)) = found else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    let at = node.origin;
    told(&key, "type", "a block", at, pass);
    match node.value {
        Value::Object(inner) => {
            for (key, node) in inner.0 {
                object.put(&key, node);
            }
        }
        Value::Array(_) => object.put("children", node),
        Value::String(_) => {
            let own =
                grammar::block(kind).and_then(|row| row.attributes.iter().find(|own| own.required));
            object.put(own.map_or("text", |own| own.name), node);
        }
        _ => {}
    }
    // Of a tag the level and the marker of a list are in the name.
    let name = if kind == "button" || grammar::alias(&key) != Some(kind) {
        kind
    } else {
        key.as_str()
    };
    object.put("type", Node::string(at, name));
}

/// Whether the value under the name of a type is all of the block, keys of its own aside.
fn holds_all_of(kind: &str, key: &str, node: &Node, object: &Object) -> bool {
    let only = object.0.len() == 1;
    match &node.value {
        Value::Object(inner) => {
            only && !inner.has("type") && !inner.has("md") && kind != "text"
                || only && inner.has("text")
        }
        Value::Array(_) => only && matches!(kind, "list" | "section" | "column" | "body"),
        Value::Bool(true) => only && matches!(kind, "divider" | "spacer"),
        Value::String(_) => {
            let own = |name: &str| {
                grammar::block(kind).is_some_and(|row| {
                    row.all()
                        .any(|own| own.name == name || own.aliases.contains(&name))
                })
            };
            matches!(kind, "button" | "image" | "quote" | "footer" | "code")
                && object.0.iter().all(|(other, _)| other == key || own(other))
        }
        _ => false,
    }
}

/// Whether the value under a tag is all of the block.
fn is_all_of_tag(kind: &str, node: &Node, object: &Object) -> bool {
    let fits = match &node.value {
        Value::Object(inner) => {
            !inner.has("type") && !inner.has("md") && kind != "text" || inner.has("text")
        }
        Value::Array(_) => kind == "list",
        Value::Bool(true) => matches!(kind, "divider" | "spacer"),
        Value::String(_) => !matches!(kind, "list" | "divider" | "spacer"),
        _ => false,
    };
    fits && object.0.len() == 1
}
