//! Lists of what a block holds: their names, and what stands in them instead of blocks.

use super::{Parent, keys::told, tables};
use crate::{
    draft::{Node, Object, Value},
    grammar::BlockRow,
    issue::Code,
    pass::{Pass, adopt},
};

/// Names that writers give to the list of what a block holds.
pub(super) const CHILDREN: &[&str] = &[
    "blocks",
    "content",
    "contents",
    "items",
    "elements",
    "rows",
    "columns",
    "cols",
    "cells",
    "nodes",
    "body",
    "sections",
    "links",
    "options",
    "socials",
    "networks",
    "components",
    "modules",
    "widgets",
    "slots",
    "inner",
    "groups",
    "stories",
    "cards",
    "paragraphs",
    "icons",
    "images",
    "photos",
    "pictures",
    "posts",
    "plans",
    "articles",
    "steps",
    "points",
    "features",
    "products",
    "questions",
    "faqs",
    "events",
    "tasks",
    "actions",
    "buttons",
    "menu",
];

/// Whether a list of blocks stands in it, by whatever name.
pub(crate) fn holds_children(object: &Object) -> bool {
    let has_objects = |key: &&str| {
        let items = object.find(key).and_then(Node::as_array);
        items.is_some_and(|items| items.iter().any(|item| item.as_object().is_some()))
    };
    object.has("children") || CHILDREN.iter().any(has_objects)
}

/// Gives the lists of what a block holds our names.
pub(super) fn children_keys(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.name == "social" {
        by_network(object, row, pass);
    }
    for holder in row.children {
        if let Some(own) = object.find(holder.key)
            && own.as_object().is_some()
            && matches!(row.name, "social" | "menu")
        {
            let list = listed(own.clone(), row);
            object.put(holder.key, list);
        }
        if object.has(holder.key) {
            continue;
        }
        let others: &[&str] = match (row.name, holder.key) {
            ("if", "then") => &["children", "blocks", "content", "do", "body"],
            ("if", _) => &["otherwise", "elseThen", "fallback", "elseChildren"],
            ("each", "children") => &[
                "blocks", "content", "body", "template", "do", "then", "block", "items", "item",
            ],
            ("each", _) => &["else", "otherwise", "fallback", "ifEmpty"],
            ("table", _) => tables::ROWS,
            ("row", _) => tables::CELLS,
            _ => CHILDREN,
        };
        let found = others.iter().find(|other| {
            let fits = |node: &Node| matches!(node.value, Value::Array(_) | Value::Object(_));
            // A string of a container is text in it; of `each` it may be the list's path.
            // Of a list it is its lines.
            let text = |node: &Node| {
                node.as_str().is_some()
                    && row.name != "each"
                    && (**other == "content"
                        || row.name == "list" && row.attribute(other).is_none())
            };
            object
                .find(other)
                .is_some_and(|node| fits(node) || text(node))
                && row.attribute(other).is_none()
        });
        let Some(other) = found else {
            continue;
        };
        if row.name == "table"
            && matches!(*other, "columns" | "cols" | "fields" | "cells")
            && object.find(other).is_some_and(tables::is_headers)
        {
            continue;
        }
        if let Some(node) = object.remove(other) {
            told(other, holder.key, row.name, node.origin, pass);
            object.put(holder.key, listed(node, row));
        }
    }
}

/// Profiles as keys of the block: `{"type": "social", "facebook": "https://…"}`.
fn by_network(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let holds = |key: &&str| object.has(key);
    if holds(&"children") || CHILDREN.iter().any(holds) {
        return;
    }
    let (links, rest): (Vec<_>, Vec<_>) =
        std::mem::take(&mut object.0)
            .into_iter()
            .partition(|(key, node)| {
                key != "type" && row.attribute(key).is_none() && adopt::is_address(node)
            });
    object.0 = rest;
    if let Some((_, first)) = links.first() {
        let at = first.origin;
        told("a network", "children", row.name, at, pass);
        let links = Node::new(at, Value::Object(Object(links)));
        object.put("children", listed(links, row));
    }
}

/// A list that stands in an object of its own, and profiles as an object of addresses.
fn listed(node: Node, row: &BlockRow) -> Node {
    let at = node.origin;
    let Value::Object(inner) = &node.value else {
        return node;
    };
    if inner.has("type") {
        return node;
    }
    if let [(key, list)] = inner.0.as_slice()
        && list.as_array().is_some()
        && CHILDREN.contains(&key.as_str())
    {
        return list.clone();
    }
    let part = match row.name {
        "social" => ("socialItem", "network"),
        "menu" => ("menuItem", "label"),
        _ => return node,
    };
    if !inner.0.iter().all(|(_, node)| adopt::is_address(node)) {
        return node;
    }
    let links = inner.0.iter().map(|(name, href)| {
        let name = Node::string(href.origin, name.as_str());
        Node::block(
            href.origin,
            part.0,
            vec![(part.1, name), ("href", href.clone())],
        )
    });
    Node::array(at, links.collect())
}

/// The lines of a string that has several, without the markers of a list.
fn lines(node: &Node) -> Vec<Node> {
    let lines = node.as_str().unwrap_or_default().lines();
    let marked = |line: &&str| line.trim_start().starts_with(['-', '*', '•']);
    if !lines
        .clone()
        .all(|line| marked(&line) || line.trim().is_empty())
    {
        return Vec::new();
    }
    lines
        .map(|line| line.trim().trim_start_matches(['-', '*', '•']).trim())
        .filter(|line| !line.is_empty())
        .map(|line| Node::string(node.origin, line))
        .collect()
}

/// Whether blocks stand in an object under names of their own: `{"intro": {"type": "text"}}`.
pub(crate) fn is_blocks_by_name(node: &Node) -> bool {
    node.as_object().is_some_and(|object| {
        !object.0.is_empty() && object.0.iter().all(|(_, block)| block.kind().is_some())
    })
}

/// A list of blocks, out of one block or text, or of blocks by name.
pub(super) fn into_list(node: &mut Node, key: &str, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    match node.value {
        Value::Array(_) => {}
        Value::Null => node.value = Value::Array(Vec::new()),
        Value::Object(_) | Value::String(_) => {
            pass.findings.mend(
                Code::SchemaType,
                at,
                format!("{key} is a list of blocks, not {}.", node.what()),
                "coerce.list",
                if is_blocks_by_name(node) {
                    "blocks by name put into a list"
                } else {
                    "one block put into a list"
                },
            );
            node.value = Value::Array(match std::mem::take(node) {
                named if is_blocks_by_name(&named) => {
                    let Value::Object(named) = named.value else {
                        return;
                    };
                    named.0.into_iter().map(|(_, block)| block).collect()
                }
                // Lines of a string.
                inner if key == "children" && lines(&inner).len() > 1 => lines(&inner),
                inner => vec![inner],
            });
            node.origin = at;
        }
        Value::Bool(_) | Value::Number(_) => {
            let message = format!("{key} is a list of blocks, not {}.", node.what());
            pass.findings.report(Code::SchemaType, at, message);
        }
    }
}

/// Whether an address is that of a picture by its ending.
fn is_picture(node: &Node) -> bool {
    let path = node.as_str().unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.to_ascii_lowercase();
    [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// Makes a block of a text or list that stands where blocks do.
pub(super) fn into_block(node: &mut Node, parent: Parent, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    if adopt::leads("src", node)
        && parent.is_none_or(|parent| {
            !matches!(parent.name, "list" | "table" | "row" | "menu" | "social")
        })
        && is_picture(node)
    {
        pass.findings.mend(
            Code::SchemaType,
            at,
            "A block is an object, not the address of a picture.",
            "text.string",
            format!("{} made the src of a new image", node.excerpt()),
        );
        let src = std::mem::take(node);
        *node = Node::block(at, "image", vec![("src", src)]);
        return;
    }
    let kind = match (&node.value, parent.map(|row| row.name)) {
        (Value::String(_) | Value::Number(_), Some("list")) => "item",
        (Value::String(_) | Value::Number(_) | Value::Bool(_), Some("row")) => "cell",
        (Value::String(_) | Value::Number(_), _) => "text",
        (Value::Array(_), Some("table")) => "row",
        (Value::Array(_), Some("section")) => "column",
        (Value::Array(_), Some("list")) => "item",
        _ => return,
    };
    let key = if matches!(kind, "row" | "column") {
        "children"
    } else {
        "text"
    };
    pass.findings.mend(
        Code::SchemaType,
        at,
        format!("A block is an object, not {}.", node.what()),
        "text.string",
        format!("{} made the {key} of a new {kind}", node.excerpt()),
    );
    let key = if matches!(kind, "row" | "column") {
        "children"
    } else {
        "text"
    };
    let mut inner = std::mem::replace(node, Node::new(at, Value::Null));
    if let Value::Bool(bool) = inner.value {
        inner.value = Value::String(bool.to_string());
    }
    *node = Node::block(at, kind, vec![(key, inner)]);
}
