//! Further branches of an `if`, which stand inside its `else` here.

use super::keys::{camel, told};
use crate::{
    draft::{Node, Object, Value},
    grammar::BlockRow,
    issue::Code,
    notation,
    pass::{Pass, text, values},
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

/// Keys of a switch, and of a case.
const SWITCH: &[&str] = &[
    "type",
    "id",
    "on",
    "value",
    "var",
    "variable",
    "field",
    "expression",
    "switch",
    "cases",
    "default",
    "else",
    "otherwise",
];
const CASE: &[&str] = &[
    "case", "when", "value", "is", "equals", "children", "then", "blocks", "content", "do", "body",
];

/// Makes an `if` for each case of a `switch`, one in the `else` of the other.
pub(super) fn switched(node: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    if !node
        .kind()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("switch"))
    {
        return;
    }
    // What else is said, a condition of the whole perhaps, has no place in what comes of it.
    let Some(object) = node.as_object().filter(|object| {
        object
            .0
            .iter()
            .all(|(key, _)| SWITCH.contains(&key.as_str()))
    }) else {
        return;
    };
    let variable = [
        "on",
        "value",
        "var",
        "variable",
        "field",
        "expression",
        "switch",
    ]
    .into_iter()
    .find_map(|key| object.string(key))
    .map(text::path_of);
    let Some(variable) = variable.filter(|path| notation::is_path(path)) else {
        return;
    };
    let cases: Option<Vec<(Node, Node)>> = match object.find("cases").map(|cases| &cases.value) {
        Some(Value::Object(cases)) => Some(
            cases
                .0
                .iter()
                .map(|(name, shown)| (Node::string(shown.origin, name.as_str()), shown.clone()))
                .collect(),
        ),
        Some(Value::Array(cases)) => cases.iter().map(case).collect(),
        _ => None,
    };
    let Some(cases) = cases.filter(|cases| !cases.is_empty()) else {
        return;
    };
    let mut rest = ["default", "else", "otherwise"]
        .into_iter()
        .find_map(|key| object.find(key).cloned());
    for (value, shown) in cases.into_iter().rev() {
        let origin = shown.origin;
        let mut condition = Object::default();
        condition.put("var", Node::string(origin, variable));
        condition.put("op", Node::string(origin, "eq"));
        condition.put("value", value);
        let mut keys = vec![
            ("cond", Node::new(origin, Value::Object(condition))),
            ("then", shown),
        ];
        if let Some(rest) = rest.take() {
            keys.push(("else", rest));
        }
        rest = Some(Node::block(origin, "if", keys));
    }
    if let Some(mut first) = rest {
        pass.findings.mend(
            Code::BlockUnknown,
            at,
            "Cases of a switch are an if in the else of another.",
            "alias",
            "switch to if",
        );
        first.origin = at;
        *node = first;
    }
}

/// The value and the blocks of a case.
fn case(node: &Node) -> Option<(Node, Node)> {
    let object = node
        .as_object()
        .filter(|object| object.0.iter().all(|(key, _)| CASE.contains(&key.as_str())))?;
    let find = |keys: &[&str]| keys.iter().find_map(|key| object.find(key).cloned());
    let value = find(&["case", "when", "value", "is", "equals"])?;
    let shown = find(&["children", "then", "blocks", "content", "do", "body"])?;
    Some((value, shown))
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
