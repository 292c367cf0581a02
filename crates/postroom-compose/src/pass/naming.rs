//! Names: types and keys that writers call otherwise, words that stand where blocks do, attributes
//! in objects of their own. After this pass every block that can be known has its type and keys.

mod branches;
mod held;
mod keyed;
mod keys;
mod kind;
mod looks;
mod looped;
mod particulars;
mod parts;
mod repeated;
mod screens;
mod shown;
mod tables;

use held::{children_keys, into_block, into_list};
pub(crate) use held::{holds_children, is_blocks_by_name};
use keys::{flatten, markdown_key, told};
pub(crate) use keys::{lower, rename_keys};
use kind::name_type;
use shown::is_inverse;
pub(crate) use shown::{is_condition, restricts};

use super::{
    Pass,
    adopt::{self, Adopted},
};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, Attribute, BlockRow},
    issue::Code,
};

/// Gives blocks of the body their types and keys.
pub(crate) fn rename(root: &mut Node, pass: &mut Pass<'_, '_>) {
    if let Some(body) = super::body(root) {
        block(body, None, pass);
    }
}

/// What is around a block, `if` and `each` aside.
type Parent = Option<&'static BlockRow>;

/// Names a block and all in it; what it said under keys that it has not stands beside it.
fn block(node: &mut Node, parent: Parent, pass: &mut Pass<'_, '_>) -> Adopted {
    branches::switched(node, pass);
    let at = node.origin;
    let Some(object) = node.as_object_mut() else {
        return Adopted::default();
    };
    lower(object, "The block", pass);
    looks::css(object, pass);
    flatten(object, pass);
    name_type(object, at, parent, pass);
    let Some(row) = object.string("type").and_then(grammar::block) else {
        return Adopted::default();
    };
    if repeated::is_told(object, row) {
        repeated::around(node, row, pass);
        return block(node, parent, pass);
    }
    looks::measures(object, row, pass);
    screens::hide_on(object, row, pass);
    inline_condition(object, row, pass);
    condition_key(object, row, pass);
    repeated::inside(object, row, at, pass);
    branches::nest(object, row, pass);
    keys::own_name(object, row, pass);
    children_keys(object, row, pass);
    if row.name == "table" {
        looks::csv(object, row, pass);
        looks::header_row(object, row, pass);
        tables::rows_of(object, at, pass);
    }
    parts::nested_items(object, row, pass);
    parts::join_words(object, row, at, pass);
    parts::link_words(object, row, pass);
    parts::cite(object, row, pass);
    parts::small_print(object, row, at, pass);
    parts::words_with_target(object, row, pass);
    adopt::own_address(object, row, pass);
    keys::near_keys(object, row, pass);
    if parent.is_none_or(|parent| parent.level != grammar::Level::Leaf) {
        adopt::own_words(object, row, pass);
    }
    markdown_key(object, row, pass);
    if row.name == "each" {
        looped::name_element(object, at, pass);
    }
    let attributes: Vec<&'static Attribute> = row.all().collect();
    rename_keys(object, &attributes, row.name, pass);
    let beside = adopted(object, row, parent, at, pass);
    let inner = if row.level == grammar::Level::Control {
        parent
    } else {
        Some(row)
    };
    for holder in row.children {
        let Some(list) = object.find_mut(holder.key) else {
            continue;
        };
        into_list(list, holder.key, pass);
        if let Some(children) = list.as_array_mut() {
            for mut child in std::mem::take(children) {
                into_block(&mut child, inner, pass);
                let beside = block(&mut child, inner, pass);
                children.extend(beside.before);
                match branches::always(&child) {
                    Some(shown) => {
                        branches::told_always(&child, pass);
                        children.extend(shown);
                    }
                    None => children.push(child),
                }
                children.extend(beside.after);
            }
        }
    }
    condition_around(node, row, pass);
    beside
}

/// Puts words under stray keys into a container; gives those that go beside a leaf.
fn adopted(
    object: &mut Object,
    row: &'static BlockRow,
    parent: Parent,
    at: Origin,
    pass: &mut Pass<'_, '_>,
) -> Adopted {
    let in_parts = parent
        .is_some_and(|parent| matches!(parent.name, "list" | "table" | "row" | "menu" | "social"));
    if in_parts || (!adopt::holds_blocks(row) && parent.is_none()) {
        return Adopted::default();
    }
    let mut beside = adopt::adopt(object, row, pass);
    if !adopt::holds_blocks(row) {
        for one in beside.before.iter_mut().chain(&mut beside.after) {
            block(one, parent, pass);
        }
        return beside;
    }
    let Some(holder) = row.children.first() else {
        return beside;
    };
    if beside.before.is_empty() && beside.after.is_empty() {
        return beside;
    }
    let mut own = match object.remove(holder.key).map(|node| node.value) {
        Some(Value::Array(children)) => children,
        Some(Value::Null) | None => Vec::new(),
        Some(value) => vec![Node::new(at, value)],
    };
    let mut children = beside.before;
    children.append(&mut own);
    children.append(&mut beside.after);
    object.put(holder.key, Node::array(at, children));
    Adopted::default()
}

/// A condition whose parts stand in the `if` itself: `{"type": "if", "var": "vip", "then": …}`.
fn inline_condition(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    const PARTS: &[&str] = &[
        "var",
        "variable",
        "field",
        "path",
        "op",
        "operator",
        "value",
        "equals",
        "eq",
        "notEquals",
        "ne",
        "in",
        "contains",
        "gt",
        "gte",
        "lt",
        "lte",
        "exists",
        "empty",
        "all",
        "any",
        "not",
    ];
    let tested = ["var", "variable", "field", "path", "all", "any"];
    let said = row.attributes.iter().any(|own| {
        std::iter::once(&own.name)
            .chain(own.aliases)
            .any(|name| object.has(name))
    });
    if row.name != "if" || said || !tested.iter().any(|key| object.has(key)) {
        return;
    }
    let mut condition = Object::default();
    for key in PARTS {
        if let Some(node) = object.remove(key) {
            told(key, "cond", "if", node.origin, pass);
            condition.put(key, node);
        }
    }
    let at = condition.0.first().map_or(0, |(_, node)| node.origin);
    object.put("cond", Node::new(at, Value::Object(condition)));
}

/// Gives the condition of a block our name.
fn condition_key(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let ours = if row.name == "if" {
        "cond"
    } else {
        "visibleIf"
    };
    if object.has(ours) {
        return;
    }
    let other = object.0.iter().find(|(key, node)| {
        let around = row.name == "if" && matches!(key.as_str(), "visibleIf" | "showIf");
        !around
            && row.attribute(key).is_none()
            && row.holds(key).is_none()
            && (is_condition(key, node) || key != "visible" && restricts(key, node))
    });
    let Some(other) = other.map(|(key, _)| key.clone()) else {
        return;
    };
    let Some(node) = object.remove(&other) else {
        return;
    };
    told(&other, ours, row.name, node.origin, pass);
    let holder = if is_inverse(&other) {
        Some("not")
    } else if is_condition(&other, &node) {
        None
    } else {
        // It goes where its block goes, and stays to be decided on.
        Some(other.as_str())
    };
    let node = if let Some(holder) = holder {
        let at = node.origin;
        Node::new(at, Value::Object(Object(vec![(holder.to_owned(), node)])))
    } else {
        node
    };
    object.put(ours, node);
}

/// A condition on a block that has none of its own becomes an `if` around it.
fn condition_around(node: &mut Node, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.attribute("visibleIf").is_some() || matches!(row.name, "body" | "cell") {
        return;
    }
    let at = node.origin;
    let Some(object) = node.as_object_mut() else {
        return;
    };
    let condition = ["visibleIf", "showIf"]
        .into_iter()
        .find_map(|key| object.remove(key))
        .filter(|condition| !condition.is_null());
    let Some(condition) = condition else {
        return;
    };
    pass.findings.mend(
        Code::SchemaUnknownKey,
        condition.origin,
        format!("{} has no visibleIf; an if goes around it.", row.name),
        "key.alias",
        format!("{} put into an if", row.name),
    );
    let inner = std::mem::replace(node, Node::new(at, Value::Null));
    let then = Node::array(at, vec![inner]);
    *node = Node::block(at, "if", vec![("cond", condition), ("then", then)]);
}
