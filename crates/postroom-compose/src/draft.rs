//! A document as it was written: any JSON, each value with its place.

mod json;
mod origin;
mod value;

pub(crate) use json::{Double, parse};
pub(crate) use origin::{Origins, Step};
pub(crate) use value::from_value;

use serde_json::Map;
use serde_json::Number;

/// Where a value was written: a row of [`Origins`].
pub(crate) type Origin = u32;

/// A JSON value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    pub(crate) value: Value,
}

/// The value of a [`Node`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    Object(Object),
}

/// Keys and values as they were written. Objects of documents are small; look-ups walk.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object(pub(crate) Vec<(String, Node)>);

impl Object {
    pub(crate) fn find(&self, key: &str) -> Option<&Node> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, node)| node)
    }

    pub(crate) fn find_mut(&mut self, key: &str) -> Option<&mut Node> {
        let found = self.0.iter_mut().find(|(name, _)| name == key);
        found.map(|(_, node)| node)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Node> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Puts `node` under `key`, over what stands there.
    pub(crate) fn put(&mut self, key: &str, node: Node) {
        match self.find_mut(key) {
            Some(place) => *place = node,
            None => self.0.push((key.to_owned(), node)),
        }
    }

    pub(crate) fn string(&self, key: &str) -> Option<&str> {
        self.find(key).and_then(Node::as_str)
    }
}

impl Default for Node {
    fn default() -> Self {
        Self::new(0, Value::Null)
    }
}

impl Node {
    pub(crate) fn new(origin: Origin, value: Value) -> Self {
        Self { origin, value }
    }

    pub(crate) fn string(origin: Origin, text: impl Into<String>) -> Self {
        Self::new(origin, Value::String(text.into()))
    }

    pub(crate) fn array(origin: Origin, items: Vec<Self>) -> Self {
        Self::new(origin, Value::Array(items))
    }

    /// A whole number where `number` is one.
    pub(crate) fn number(origin: Origin, number: f64) -> Self {
        Self::new(origin, Value::Number(tidy(number)))
    }

    pub(crate) fn bool(origin: Origin, bool: bool) -> Self {
        Self::new(origin, Value::Bool(bool))
    }

    /// An object of type `kind` with these keys.
    pub(crate) fn block(origin: Origin, kind: &str, keys: Vec<(&str, Self)>) -> Self {
        let mut object = Object(Vec::with_capacity(keys.len() + 1));
        object.put("type", Self::string(origin, kind));
        for (key, node) in keys {
            object.put(key, node);
        }
        Self::new(origin, Value::Object(object))
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match &self.value {
            Value::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_array_mut(&mut self) -> Option<&mut Vec<Self>> {
        match &mut self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object> {
        match &self.value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn as_object_mut(&mut self) -> Option<&mut Object> {
        match &mut self.value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// How deep values nest: 1 for a value without others in it.
    pub(crate) fn depth(&self) -> usize {
        1 + match &self.value {
            Value::Array(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Value::Object(object) => {
                let nodes = object.0.iter().map(|(_, node)| node.depth());
                nodes.max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Values, and least number of bytes of the JSON text.
    pub(crate) fn weight(&self) -> (usize, usize) {
        let add = |(nodes, bytes): (usize, usize), (key, node): (usize, &Self)| {
            let (more, wider) = node.weight();
            (nodes + more, bytes + wider + key)
        };
        match &self.value {
            Value::Array(items) => items.iter().map(|item| (1, item)).fold((1, 1), add),
            Value::Object(object) => {
                let keys = object.0.iter().map(|(key, node)| (key.len() + 4, node));
                keys.fold((1, 1), add)
            }
            Value::String(text) => (1, text.len() + 2),
            _ => (1, 1),
        }
    }

    /// Makes the value and all inside it stand at `origin`.
    pub(crate) fn settle_at(&mut self, origin: Origin) {
        self.origin = origin;
        match &mut self.value {
            Value::Array(items) => items.iter_mut().for_each(|item| item.settle_at(origin)),
            Value::Object(object) => {
                for (_, node) in &mut object.0 {
                    node.settle_at(origin);
                }
            }
            _ => {}
        }
    }

    /// Type of the block that the value is.
    pub(crate) fn kind(&self) -> Option<&str> {
        self.as_object()?.string("type")
    }

    /// What the value is, in words.
    pub(crate) fn what(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }

    /// The value as JSON, keys in order.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(bool) => serde_json::Value::Bool(*bool),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::String(text) => serde_json::Value::String(text.clone()),
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Object(object) => {
                let mut keys: Vec<&(String, Self)> = object.0.iter().collect();
                keys.sort_by(|one, two| one.0.cmp(&two.0));
                let entries = keys
                    .into_iter()
                    .map(|(key, node)| (key.clone(), node.to_json()));
                serde_json::Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// A short form for messages.
    pub(crate) fn excerpt(&self) -> String {
        let text = match &self.value {
            Value::String(text) => format!("{text:?}"),
            _ => self.to_json().to_string(),
        };
        if text.chars().count() <= 60 {
            return text;
        }
        let cut: String = text.chars().take(57).collect();
        format!("{cut}...")
    }
}

/// `number` as JSON has it, whole where it is whole.
#[expect(
    clippy::cast_possible_truncation,
    reason = "whole numbers below 2^53 are exact"
)]
pub(crate) fn tidy(number: f64) -> Number {
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return Number::from(number as i64);
    }
    Number::from_f64(number).unwrap_or_else(|| Number::from(0))
}
