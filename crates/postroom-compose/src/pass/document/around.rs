//! Blocks that stand beside the body: a header before it, a footer after it.

use crate::{
    draft::{Node, Object, Value},
    grammar,
    issue::Code,
    pass::{Pass, adopt},
};

/// Names of what stands above the body, and of what stands below it, in order.
const ABOVE: &[&str] = &["header", "hero", "greeting", "intro"];
const BELOW: &[&str] = &["cta", "closing", "signature", "footer"];

/// Takes blocks beside the body into it.
pub(super) fn bring_in(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let fits = object
        .find("root")
        .and_then(Node::as_object)
        .is_some_and(|body| {
            body.find("children")
                .is_some_and(|list| list.as_array().is_some())
        });
    if !fits {
        return;
    }
    let mut take = |keys: &[&str]| -> Vec<Node> {
        let found = keys
            .iter()
            .filter_map(|key| brought(object, key, pass))
            .collect::<Vec<_>>();
        found.concat()
    };
    let (above, mut below) = (take(ABOVE), take(BELOW));
    let body = object.find_mut("root").and_then(Node::as_object_mut);
    let children = body.and_then(|body| body.find_mut("children"));
    if let Some(children) = children.and_then(Node::as_array_mut) {
        children.splice(0..0, above);
        children.append(&mut below);
    }
}

/// The blocks under `key`, taken out of the document.
fn brought(object: &mut Object, key: &str, pass: &mut Pass<'_, '_>) -> Option<Vec<Node>> {
    let node = object.find(key)?;
    if !adopt::may_be_read(key, node) {
        return None;
    }
    let at = node.origin;
    let kind = match key {
        "footer" => "footer",
        "cta" => "button",
        "hero" if has_ground(node) => "hero",
        "header" | "hero" if node.as_str().is_some() => "heading",
        "header" | "hero" => "section",
        _ => "text",
    };
    let blocks = match object.remove(key)?.value {
        Value::Array(items) => items,
        Value::Object(mut inner) => {
            if !inner.has("type") {
                let holds = ["children", "blocks", "sections", "columns", "rows"];
                let holds = holds.iter().any(|key| inner.has(key));
                let kind = if holds { "section" } else { kind };
                inner.put("type", Node::string(at, kind));
            }
            vec![Node::new(at, Value::Object(inner))]
        }
        value => {
            let row = grammar::block(kind)?;
            let words = row.attributes.iter().find(|attribute| attribute.required);
            let words = words.map_or("text", |attribute| attribute.name);
            vec![Node::block(at, kind, vec![(words, Node::new(at, value))])]
        }
    };
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("{key} stands in the body."),
        "adopt",
        format!("{key} put into the body"),
    );
    Some(blocks)
}

/// Whether a hero says which colour stands behind its words.
fn has_ground(node: &Node) -> bool {
    let object = node.as_object();
    object.is_some_and(|object| {
        let keys = ["fallbackColor", "bg", "background", "backgroundColor"];
        keys.iter().any(|key| object.has(key))
    })
}
