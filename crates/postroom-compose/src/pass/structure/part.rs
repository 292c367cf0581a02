//! What blocks have to become when they go elsewhere, and conditions that go with them.

use super::take;
use crate::{
    draft::{Node, Object, Value},
    grammar::{self, BlockRow},
    pass::{self, Pass, adopt, naming},
};

/// The condition that a block has of its own.
pub(super) fn condition_of(node: &Node) -> Option<Node> {
    let condition = node.as_object()?.find("visibleIf")?;
    (!condition.is_null()).then(|| condition.clone())
}

/// `node` in an `if` when what it is lifted out of had a condition.
pub(super) fn under(condition: Option<&Node>, node: Node) -> Node {
    let Some(condition) = condition else {
        return node;
    };
    let at = node.origin;
    let then = Node::array(at, vec![node]);
    Node::block(at, "if", vec![("cond", condition.clone()), ("then", then)])
}

/// What a block holds, without the block; a condition of its own goes on to hold.
pub(super) fn dissolved(mut node: Node, row: &BlockRow) -> Vec<Node> {
    let at = node.origin;
    let condition = condition_of(&node);
    let children: Vec<Node> = row
        .children
        .iter()
        .flat_map(|holder| take(&mut node, holder.key))
        .collect();
    match condition {
        Some(condition) if !children.is_empty() => {
            let then = Node::array(at, children);
            vec![Node::block(
                at,
                "if",
                vec![("cond", condition), ("then", then)],
            )]
        }
        _ => children,
    }
}

/// The block as one of another type, with the keys that both know; in an `if` when it had a
/// condition that the other type has not.
pub(super) fn convert(mut node: Node, kind: &'static str) -> Node {
    let condition = condition_of(&node).filter(|_| kind != "cell");
    let ours: Vec<&str> = grammar::block(kind)
        .map(|row| row.all().map(|attribute| attribute.name).collect())
        .unwrap_or_default();
    if let Some(object) = node.as_object_mut() {
        object.0.retain(|(key, node)| {
            key == "type" || ours.contains(&key.as_str()) || adopt::says_something(key, node)
        });
        if let Some(node) = object.find_mut("type") {
            node.value = Value::String(kind.to_owned());
        }
    }
    under(condition.as_ref(), node)
}

/// A block that stood among spans, with our names of type and keys.
pub(super) fn renamed(span: Node, pass: &mut Pass<'_, '_>) -> Node {
    let at = span.origin;
    let body = Node::block(at, "body", vec![("children", Node::array(at, vec![span]))]);
    let mut root = Node::new(at, Value::Object(Object(vec![("root".to_owned(), body)])));
    naming::rename(&mut root, pass);
    let body = pass::body(&mut root);
    let found = body.map(|body| take(body, "children")).unwrap_or_default();
    found
        .into_iter()
        .next()
        .unwrap_or_else(|| Node::new(at, Value::Null))
}

/// Whether a text, or one of its spans, holds no words.
pub(super) fn is_blank(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.trim().is_empty(),
        Value::Array(spans) => spans.iter().all(is_blank),
        Value::Object(object) => match object.find("md") {
            Some(md) => is_blank(md),
            None => {
                object.string("type") == Some("text") && object.find("text").is_some_and(is_blank)
                    || object.string("type") == Some("br")
            }
        },
        _ => false,
    }
}
