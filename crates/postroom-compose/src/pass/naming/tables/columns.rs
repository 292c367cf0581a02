//! Columns of a table: by headers that stand apart, by a first row, by the names of cells.

use super::{CELLS, is_about, rank};
use crate::{
    draft::{Node, Object, Origin, Value},
    pass::{Pass, naming::keys::told, plain},
};

/// Names of the row of headers.
const HEADERS: &[&str] = &[
    "headers",
    "header",
    "head",
    "thead",
    "columns",
    "cols",
    "headings",
    "columnHeaders",
    "headerRow",
];

/// Names of what a column is called in rows, and of its heading.
const COLUMN_KEYS: &[&str] = &[
    "key",
    "field",
    "accessor",
    "dataIndex",
    "dataKey",
    "id",
    "name",
    "prop",
];
const COLUMN_WORDS: &[&str] = &[
    "label", "header", "title", "text", "heading", "content", "name", "key", "field",
];

/// Whether a list holds words only, so that it names columns.
pub(in crate::pass::naming) fn is_headers(node: &Node) -> bool {
    let is_words = |item: &Node| {
        item.as_str().is_some()
            || item.as_object().is_some_and(|object| {
                !object.has("type")
                    && ["header", "accessor", "dataIndex", "dataKey", "key", "field"]
                        .iter()
                        .any(|key| object.has(key))
                    && !["value", "cells", "children"]
                        .iter()
                        .any(|key| object.has(key))
            })
    };
    node.as_array()
        .is_some_and(|items| !items.is_empty() && items.iter().all(is_words))
}

/// A column: what rows call it, and its heading.
pub(super) struct Column {
    pub(super) names: Vec<String>,
    pub(super) words: Option<Node>,
}

/// What one element of a list of headers says.
fn column(node: &Node) -> Option<Column> {
    match &node.value {
        Value::String(text) => Some(Column {
            names: vec![plain(text)],
            words: Some(node.clone()),
        }),
        Value::Number(number) => Some(Column {
            names: vec![number.to_string()],
            words: Some(node.clone()),
        }),
        Value::Object(object) => {
            if object.has("children") && !object.has("type") || object.has("rows") {
                return None;
            }
            let words = COLUMN_WORDS.iter().find_map(|key| object.find(key));
            let mut names: Vec<String> = COLUMN_KEYS
                .iter()
                .filter_map(|key| object.string(key))
                .map(plain)
                .collect();
            names.extend(words.and_then(Node::as_str).map(plain));
            words.map(|words| Column {
                names,
                words: Some(words.clone()),
            })
        }
        _ => None,
    }
}

/// Takes headers that the table states apart, makes them its first row and tells the columns.
pub(super) fn headers(object: &mut Object, at: Origin, pass: &mut Pass<'_, '_>) -> Vec<Column> {
    for key in HEADERS {
        let Some(node) = object.find(key) else {
            continue;
        };
        // A row in a list, and cells in an object.
        let mut list = node;
        if let Some([one]) = list.as_array() {
            let inner = one.as_object().and_then(cells_of);
            list = inner
                .or_else(|| one.as_array().map(|_| one))
                .unwrap_or(list);
        } else if let Some(inner) = list.as_object().and_then(cells_of) {
            list = inner;
        }
        let Some(items) = list.as_array().filter(|items| !items.is_empty()) else {
            continue;
        };
        let Some(columns) = items.iter().map(column).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some(headers) = object.remove(key) else {
            continue;
        };
        told(key, "children", "table", headers.origin, pass);
        let cells: Vec<Node> = columns
            .iter()
            .filter_map(|column| column.words.clone())
            .collect();
        let row = Node::block(
            headers.origin,
            "row",
            vec![
                ("header", Node::bool(headers.origin, true)),
                ("children", Node::array(headers.origin, cells)),
            ],
        );
        match object.find_mut("children") {
            Some(rows) => {
                if rows.as_array().is_none() {
                    let inner = std::mem::take(rows);
                    *rows = Node::array(at, vec![inner]);
                }
                if let Some(rows) = rows.as_array_mut() {
                    rows.insert(0, row);
                }
            }
            None => object.put("children", Node::array(at, vec![row])),
        }
        return columns;
    }
    Vec::new()
}

/// The list of cells of a row that is an object.
pub(super) fn cells_of(object: &Object) -> Option<&Node> {
    CELLS
        .iter()
        .chain(&["rows"])
        .filter_map(|key| object.find(key))
        .find(|node| node.as_array().is_some())
}

/// Columns by a first row that says that it is a header.
pub(super) fn first_row(rows: &[Node]) -> Vec<Column> {
    let first = rows.first().and_then(Node::as_object);
    let header = first.filter(|row| {
        row.find("header").and_then(Node::as_bool) == Some(true)
            || matches!(row.string("type"), Some("header" | "headerRow" | "head"))
    });
    let cells = header.and_then(cells_of).and_then(Node::as_array);
    let columns = cells.unwrap_or_default().iter().map(column);
    columns.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Columns by the names of cells, where rows leave some out or say them in another order: what a row
/// says stays in its column.
pub(super) fn by_names(rows: &[Node]) -> Vec<Column> {
    let mut names: Vec<&str> = Vec::new();
    let mut first: Option<Vec<&str>> = None;
    let mut uneven = false;
    for object in rows.iter().filter_map(Node::as_object) {
        if object.has("type") || CELLS.iter().any(|key| object.has(key)) {
            return Vec::new();
        }
        let keys = object.0.iter().map(|(key, _)| key.as_str());
        let said: Vec<&str> = keys.filter(|key| !is_about(key)).collect();
        for key in &said {
            if !names.contains(key) {
                names.push(key);
            }
        }
        uneven |= first.as_ref().is_some_and(|first| *first != said);
        first.get_or_insert(said);
    }
    if !uneven {
        return Vec::new();
    }
    names.sort_by_key(|name| rank(name));
    let column = |name: &&str| Column {
        names: vec![plain(name)],
        words: None,
    };
    names.iter().map(column).collect()
}
