//! Further branches of an `if`, which stand inside its `else` here.

use super::keys::{camel, told};
use crate::{
    draft::{Node, Object, Value},
    grammar::BlockRow,
    issue::Code,
    pass::{Pass, values},
};

/// Names of further branches.
const BRANCHES: &[&str] = &["elseif", "elseIf", "elseIfs", "elif", "elsif", "elifs"];

/// Puts each further branch as an `if` into the `else` of the one before it.
pub(super) fn nest(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.name != "if" {
        return;
    }
    let found = object.0.iter().find(|(key, node)| {
        let branches = match &node.value {
            Value::Array(items) => !items.is_empty() && items.iter().all(is_branch),
            _ => is_branch(node),
        };
        branches && BRANCHES.contains(&camel(key).as_str())
    });
    let Some(key) = found.map(|(key, _)| key.clone()) else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    let at = node.origin;
    told(&key, "else", "if", at, pass);
    let branches = match node.value {
        Value::Array(items) => items,
        value => vec![Node::new(at, value)],
    };
    let mut rest = object.remove("else");
    for mut branch in branches.into_iter().rev() {
        let origin = branch.origin;
        if let Some(inner) = branch.as_object_mut() {
            inner.put("type", Node::string(origin, "if"));
            if let Some(rest) = rest.take() {
                inner.put("else", rest);
            }
        }
        rest = Some(Node::array(origin, vec![branch]));
    }
    if let Some(rest) = rest {
        object.put("else", rest);
    }
}

/// What an `if` shows whose condition always holds and that has nothing else to show.
pub(super) fn always(node: &Node) -> Option<Vec<Node>> {
    let object = node.as_object()?;
    if object.string("type") != Some("if") || !object.find("cond").is_some_and(values::always) {
        return None;
    }
    let list = |key: &str| object.find(key).and_then(Node::as_array);
    list("else")
        .is_none_or(<[Node]>::is_empty)
        .then(|| list("then").map(<[Node]>::to_vec))?
}

/// Tells that an `if` is taken away from around what it always shows.
pub(super) fn told_always(node: &Node, pass: &mut Pass<'_, '_>) {
    pass.findings.mend(
        Code::CondInvalid,
        node.origin,
        "What is always shown stands in no if.",
        "unwrap",
        "the if taken away",
    );
}

/// Whether a value can be an `if` with no `else` of its own.
fn is_branch(node: &Node) -> bool {
    node.as_object().is_some_and(|object| {
        !object.has("else") && object.string("type").is_none_or(|kind| kind == "if")
    })
}
