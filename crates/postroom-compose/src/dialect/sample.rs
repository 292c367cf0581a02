//! The dialect `none`: values are the samples of the declarations.

use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use crate::model::{BlockKind, Document, VariableType};

use super::{Atom, Logic, Test};

/// Variable with the address where readers unsubscribe, where neither the document nor the sender's
/// system says one.
pub(crate) const UNSUBSCRIBE: &str = "unsubscribe_url";

/// The data that a document's samples make, nested by the dots of their names. Where a variable has
/// no sample, its default stands, else its name in brackets.
#[must_use]
pub fn sample_data(document: &Document) -> Json {
    let mut root = Json::Object(Map::new());
    for variable in &document.variables {
        let stand_in = || match variable.kind {
            VariableType::Number => Json::from(0),
            VariableType::Bool => Json::from(true),
            VariableType::List => Json::Array(Vec::new()),
            VariableType::Object => Json::Object(Map::new()),
            _ => Json::from(format!("[{}]", variable.name)),
        };
        let stated = variable.sample.clone().or_else(|| variable.default.clone());
        insert(&mut root, &variable.name, stated.unwrap_or_else(stand_in));
    }
    let mut leaves = false;
    document.walk(&mut |block| {
        leaves |= matches!(&block.kind, BlockKind::Unsubscribe(node) if node.href.is_none());
    });
    if leaves {
        insert(
            &mut root,
            UNSUBSCRIBE,
            Json::from("https://example.com/unsubscribe"),
        );
    }
    root
}

fn insert(root: &mut Json, path: &str, value: Json) {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    if !root.is_object() {
        *root = Json::Object(Map::new());
    }
    let Some(fields) = root.as_object_mut() else {
        return;
    };
    if rest.is_empty() {
        fields.entry(head).or_insert(value);
    } else {
        insert(fields.entry(head).or_insert(Json::Null), rest, value);
    }
}

/// The value at a dotted path.
pub(crate) fn lookup<'a>(root: &'a Json, path: &str) -> Option<&'a Json> {
    if path.is_empty() {
        return Some(root);
    }
    path.split('.').try_fold(root, |value, key| value.get(key))
}

/// Whether a value is not missing, null, false, zero or empty.
pub(crate) fn is_truthy(value: Option<&Json>) -> bool {
    match value {
        None | Some(Json::Null | Json::Bool(false)) => false,
        Some(Json::Bool(true)) => true,
        Some(Json::Number(number)) => number.as_f64() != Some(0.0),
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Array(list)) => !list.is_empty(),
        Some(Json::Object(fields)) => !fields.is_empty(),
    }
}

/// A value as text.
pub(crate) fn print(value: Option<&Json>) -> String {
    match value {
        None | Some(Json::Null) => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(Json::Number(number)) => match number.as_f64() {
            Some(float) if number.is_f64() => format!("{float}"),
            _ => number.to_string(),
        },
        Some(other) => other.to_string(),
    }
}

/// Whether a condition holds for the values that `find` gives.
pub(crate) fn holds(logic: &Logic, find: &dyn Fn(&str) -> Option<Json>) -> bool {
    match logic {
        Logic::Constant(value) => *value,
        Logic::All(parts) => parts.iter().all(|part| holds(part, find)),
        Logic::Any(parts) => parts.iter().any(|part| holds(part, find)),
        Logic::Atom(Atom { path, test }) => passes(find(path).as_ref(), test),
    }
}

fn passes(value: Option<&Json>, test: &Test) -> bool {
    let order = |with: &Json| compare(value, with);
    match test {
        Test::Exists => is_truthy(value),
        Test::Empty => !is_truthy(value),
        Test::Eq(with) => order(with) == Some(Ordering::Equal),
        Test::Ne(with) => order(with) != Some(Ordering::Equal),
        Test::Gt(with) => order(with) == Some(Ordering::Greater),
        Test::Gte(with) => order(with).is_some_and(Ordering::is_ge),
        Test::Lt(with) => order(with) == Some(Ordering::Less),
        Test::Lte(with) => order(with).is_some_and(Ordering::is_le),
        Test::Contains(with) => contains(value, with),
        Test::Lacks(with) => !contains(value, with),
    }
}

fn compare(value: Option<&Json>, with: &Json) -> Option<Ordering> {
    match (value?, with) {
        (Json::Number(one), Json::Number(two)) => one.as_f64()?.partial_cmp(&two.as_f64()?),
        (Json::String(one), Json::String(two)) => Some(one.cmp(two)),
        (one, two) => (one == two).then_some(Ordering::Equal),
    }
}

fn contains(value: Option<&Json>, part: &Json) -> bool {
    match value {
        Some(Json::Array(list)) => list
            .iter()
            .any(|one| compare(Some(one), part) == Some(Ordering::Equal)),
        Some(Json::String(text)) => part.as_str().is_some_and(|part| text.contains(part)),
        _ => false,
    }
}
