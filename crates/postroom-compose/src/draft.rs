//! A document as it was written: any JSON, each value with its place.

mod json;
mod value;

pub(crate) use json::{Double, parse};
pub(crate) use value::from_value;

use serde_json::{Map, Number};

use crate::{Position, Source};

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

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Whole,
    Key(Box<str>),
    Index(usize),
}

#[derive(Debug, Clone)]
struct Row {
    parent: Origin,
    step: Step,
    offset: Option<usize>,
    /// Value of the key `id`, if the value is an object with one.
    id: Option<Box<str>>,
}

/// Places of all values of a document, in document order; a value's row is made before those inside.
#[derive(Debug, Default)]
pub(crate) struct Origins<'a> {
    text: Option<&'a str>,
    rows: Vec<Row>,
    /// Made when the first position is asked for.
    index: std::cell::OnceCell<Index>,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(text: Option<&'a str>) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, parent: Origin, step: Step, offset: Option<usize>) -> Origin {
        let origin = Origin::try_from(self.rows.len()).unwrap_or(Origin::MAX);
        self.rows.push(Row {
            parent,
            step,
            offset,
            id: None,
        });
        origin
    }

    fn name(&mut self, origin: Origin, id: &str) {
        if let Some(row) = self.rows.get_mut(origin as usize) {
            row.id = Some(id.into());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, origin: Origin) -> Option<&Row> {
        self.rows.get(origin as usize)
    }

    /// Whether `is` holds for `origin` or for something around it.
    pub(crate) fn inside(&self, mut origin: Origin, is: impl Fn(Origin) -> bool) -> bool {
        loop {
            if is(origin) {
                return true;
            }
            match self.row(origin) {
                Some(row) if row.step != Step::Whole => origin = row.parent,
                _ => return false,
            }
        }
    }

    /// The steps from the whole document to `origin`.
    fn steps(&self, origin: Origin) -> Vec<&Step> {
        let mut steps = Vec::with_capacity(16);
        let mut at = origin;
        while let Some(row) = self.row(at) {
            if row.step == Step::Whole {
                break;
            }
            steps.push(&row.step);
            at = row.parent;
        }
        steps.reverse();
        steps
    }

    /// Where `origin` stands, told as issues tell it.
    pub(crate) fn source(&self, origin: Origin) -> Source {
        // A usual place, as `root.children.12.children.0`, takes no second allocation.
        let (mut path, mut pointer) = (String::with_capacity(64), String::with_capacity(64));
        for step in self.steps(origin) {
            if !path.is_empty() {
                path.push('.');
            }
            pointer.push('/');
            match step {
                Step::Whole => {}
                Step::Key(key) => {
                    path.push_str(key);
                    if key.contains(['~', '/']) {
                        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    } else {
                        pointer.push_str(key);
                    }
                }
                Step::Index(index) => {
                    push_number(&mut path, *index);
                    push_number(&mut pointer, *index);
                }
            }
        }
        Source {
            path,
            pointer,
            position: self.position(origin),
            order: origin,
            block_id: self.block_id(origin),
        }
    }

    fn block_id(&self, origin: Origin) -> Option<String> {
        let mut at = origin;
        loop {
            let row = self.row(at)?;
            if let Some(id) = &row.id {
                return Some(id.to_string());
            }
            if row.step == Step::Whole {
                return None;
            }
            at = row.parent;
        }
    }

    fn position(&self, origin: Origin) -> Option<Position> {
        self.position_at(self.row(origin)?.offset?)
    }

    /// Line and column of `offset`.
    pub(crate) fn position_at(&self, offset: usize) -> Option<Position> {
        let text = self.text?;
        let index = self.index.get_or_init(|| Index::of(text));
        let line = index.lines.partition_point(|start| *start <= offset);
        let start = index
            .lines
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let chars = |offset| index.chars_before(text, offset);
        Some(Position {
            offset,
            line: line.max(1),
            column: chars(offset).saturating_sub(chars(start)) + 1,
        })
    }
}

/// Writes a number that is small as a rule.
fn push_number(out: &mut String, number: usize) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(&number.to_string()),
    }
}

/// Bytes between the marks of [`Index`].
const STRIDE: usize = 1_024;

/// Where lines begin and how many characters stand before every mark, so that a place in one long
/// line is found without reading the line.
#[derive(Debug)]
struct Index {
    lines: Vec<usize>,
    chars: Vec<usize>,
}

impl Index {
    fn of(text: &str) -> Self {
        let mut lines = vec![0];
        let mut chars = Vec::new();
        let mut count = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STRIDE == 0 {
                chars.push(count);
            }
            count += usize::from(!is_continuation(byte));
            if byte == b'\n' {
                lines.push(at + 1);
            }
        }
        Self { lines, chars }
    }

    fn chars_before(&self, text: &str, offset: usize) -> usize {
        let mark = (offset / STRIDE).min(self.chars.len().saturating_sub(1));
        let rest = text
            .as_bytes()
            .get(mark * STRIDE..offset)
            .unwrap_or_default();
        let rest = rest.iter().filter(|byte| !is_continuation(**byte)).count();
        self.chars.get(mark).copied().unwrap_or(0) + rest
    }
}

/// Whether `byte` goes on with a character that an earlier byte began.
fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
