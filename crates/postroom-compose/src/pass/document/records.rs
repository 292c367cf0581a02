//! Blocks as records by id, which name their children by ids.

use std::collections::HashSet;

use crate::{
    draft::{Node, Object, Value},
    issue::Code,
    pass::Pass,
};

/// The key of the ids of children.
const CHILDREN_IDS: &str = "childrenIds";

/// How deep values nest in which ids are looked for; what lies deeper stays beside the root, and is
/// told of.
const LEVELS: usize = 40;

/// Puts blocks that stand as records beside the root into the places that name them.
pub(super) fn link(object: &mut Object, pass: &mut Pass<'_, '_>) {
    if !object.find("root").is_some_and(names_children) {
        return;
    }
    let Some(mut root) = object.remove("root") else {
        return;
    };
    let mut used = HashSet::new();
    resolve(&mut root, object, &mut used, 0);
    for id in &used {
        object.remove(id);
    }
    pass.findings.mend(
        Code::SchemaUnknownKey,
        root.origin,
        "Blocks stand in what holds them, not beside it under their ids.",
        "key.alias",
        format!("{} blocks put into their places", used.len()),
    );
    object.put("root", root);
}

fn names_children(node: &Node) -> bool {
    match &node.value {
        Value::Object(object) => {
            object.has(CHILDREN_IDS) || object.0.iter().any(|(_, inner)| names_children(inner))
        }
        Value::Array(items) => items.iter().any(names_children),
        _ => false,
    }
}

/// Puts children in place of their ids; each stands once.
fn resolve(node: &mut Node, records: &Object, used: &mut HashSet<String>, depth: usize) {
    if depth > LEVELS {
        return;
    }
    match &mut node.value {
        Value::Object(object) => {
            if let Some(ids) = object.remove(CHILDREN_IDS) {
                let at = ids.origin;
                let ids = ids.as_array().unwrap_or_default();
                let mut children = Vec::new();
                for id in ids.iter().filter_map(Node::as_str) {
                    if let Some(child) = records.find(id)
                        && used.insert(id.to_owned())
                    {
                        children.push(child.clone());
                    }
                }
                object.put("children", Node::array(at, children));
            }
            for (_, inner) in &mut object.0 {
                resolve(inner, records, used, depth + 1);
            }
        }
        Value::Array(items) => {
            for item in items {
                resolve(item, records, used, depth + 1);
            }
        }
        _ => {}
    }
}
