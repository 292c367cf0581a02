//! What becomes of a block inside a parent.

use crate::{
    draft::Node,
    grammar::{self, BlockRow, Level},
    pass::adopt,
};

/// The type of a block; of `if` and `each` the first type inside.
pub(super) fn content_kind(node: &Node) -> Option<&'static str> {
    let row = grammar::block(node.kind()?)?;
    if row.level != Level::Control {
        return Some(row.name);
    }
    let object = node.as_object()?;
    let lists = row
        .children
        .iter()
        .filter_map(|holder| object.find(holder.key));
    lists
        .filter_map(Node::as_array)
        .flatten()
        .find_map(content_kind)
}

/// Containers that have to be put around a block of type `kind` inside `parent`, outermost first.
pub(super) fn wrappers(parent: &'static BlockRow, kind: &str) -> Option<Vec<&'static str>> {
    let own: &[&'static str] = match kind {
        "item" => &["list"],
        "row" => &["table"],
        "cell" => &["table", "row"],
        "menuItem" => &["menu"],
        "socialItem" => &["social"],
        _ => &[],
    };
    let outer: &[&'static str] = match parent.name {
        "body" | "panel" if kind == "column" => &["section"],
        "body" | "panel" => &["section", "column"],
        "section" => &["column"],
        "column" => &[],
        "table" if kind == "cell" => return Some(vec!["row"]),
        _ => return None,
    };
    let chain: Vec<&'static str> = outer.iter().chain(own).copied().collect();
    let inner = chain.last().copied().map_or(Some(parent), grammar::block)?;
    (!chain.is_empty() && inner.accepts().contains(&kind)).then_some(chain)
}

/// The type that a block takes on inside a container of parts.
pub(super) fn converted(parent: &BlockRow, kind: &str) -> Option<&'static str> {
    match (parent.name, kind) {
        ("list", "text" | "heading") => Some("item"),
        ("row", "text" | "heading" | "item") => Some("cell"),
        ("menu", "button") => Some("menuItem"),
        _ => None,
    }
}

/// What becomes of a block inside a parent.
pub(super) enum Fate {
    Fits,
    /// Takes on another type.
    Converts(&'static str),
    /// Goes into new containers, outermost first.
    Wrap(Vec<&'static str>),
    /// Gives way to what it holds.
    Dissolves,
    /// Goes to what is around the parent.
    Lifts,
    /// Stays, and is wrong.
    Stuck,
}

pub(super) fn fate(
    parent: &'static BlockRow,
    row: &'static BlockRow,
    node: &Node,
    held: bool,
) -> Fate {
    let control = row.level == Level::Control;
    let kind = content_kind(node).unwrap_or(row.name);
    if let Some(other) = converted(parent, kind).filter(|_| !control) {
        return Fate::Converts(other);
    }
    let takes = |name: &str| parent.accepts().contains(&name);
    let empty = control && kind == row.name;
    if takes(row.name) && (empty || takes(kind)) {
        return Fate::Fits;
    }
    if let Some(chain) = wrappers(parent, kind) {
        return Fate::Wrap(chain);
    }
    if control && !takes(row.name) {
        return Fate::Stuck;
    }
    if control && held {
        // Its condition or loop has to stay; what it holds gives way instead.
        return Fate::Fits;
    }
    // Columns in columns and lists in lists only add depth; bands stand under each other.
    let doubled = row.name == parent.name && row.level != Level::Band;
    let said = node
        .as_object()
        .is_some_and(|object| adopt::has_words_left(object, row));
    if said && (doubled || row.name == "body" || held) {
        return Fate::Stuck;
    }
    if doubled || row.name == "body" || (held && !row.children.is_empty()) {
        return Fate::Dissolves;
    }
    if held || parent.name == "body" {
        return Fate::Stuck;
    }
    Fate::Lifts
}

pub(super) fn misplaced(node: &Node, parent: &BlockRow) -> String {
    let kind = node.kind().unwrap_or("block");
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "An"
    } else {
        "A"
    };
    format!(
        "{article} {kind} stands in a {}, which takes {}.",
        parent.name,
        parent.accepts().join(", ")
    )
}
