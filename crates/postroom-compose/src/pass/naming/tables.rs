//! Tables as others write them: headers and totals apart, rows as objects by column.

mod columns;

pub(super) use columns::is_headers;
use columns::{Column, by_names, cells_of, first_row, headers};

use super::keys::told;
use crate::{
    draft::{Node, Object, Origin, Value},
    issue::Code,
    pass::{Pass, plain},
};

/// Names of the list of rows; `columns` come last, which beside rows are headers.
pub(super) const ROWS: &[&str] = &[
    "rows",
    "data",
    "tbody",
    "body",
    "values",
    "records",
    "entries",
    "items",
    "content",
    "contents",
    "lines",
    "elements",
    "blocks",
    "pairs",
    "fields",
    "columns",
    "cols",
    "cells",
    "nodes",
    "facts",
    "stats",
    "products",
    "lineItems",
    "line_items",
    "charges",
];

/// Names of sums, in the order in which bills have them.
const SUMS: &[&str] = &[
    "subtotal",
    "subTotal",
    "discount",
    "shipping",
    "delivery",
    "fees",
    "tax",
    "taxes",
    "vat",
    "tip",
    "total",
    "grandTotal",
    "amountDue",
];

/// Names of rows that come last.
const LAST: &[&str] = &[
    "subtotal",
    "subTotal",
    "discount",
    "shipping",
    "delivery",
    "fees",
    "tax",
    "taxes",
    "vat",
    "tip",
    "footer",
    "footers",
    "foot",
    "tfoot",
    "footerRow",
    "summary",
    "summaryRow",
    "total",
    "totals",
    "totalRow",
    "grandTotal",
    "amountDue",
];

/// Lists of the cells of a row.
pub(super) const CELLS: &[&str] = &[
    "children", "cells", "columns", "cols", "values", "data", "items", "content", "tds",
];

/// Puts headers, rows of objects and totals of a table into rows of cells.
pub(super) fn rows_of(object: &mut Object, at: Origin, pass: &mut Pass<'_, '_>) {
    let mut columns = headers(object, at, pass);
    if let Some(rows) = object.find_mut("children") {
        pairs(rows, pass);
        turned(rows, pass);
        text_rows(rows, pass);
        if let Some(rows) = rows.as_array_mut() {
            if columns.is_empty() {
                columns = first_row(rows);
            }
            if columns.is_empty() {
                columns = by_names(rows);
            }
            for row in rows {
                row_of(row, &columns, pass);
            }
        }
    }
    for key in LAST {
        last_rows(object, key, &columns, at, pass);
    }
}

/// Rows as an object, each a name and a value.
fn pairs(rows: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = rows.origin;
    let Value::Object(object) = &rows.value else {
        return;
    };
    let scalar = |node: &Node| matches!(node.value, Value::String(_) | Value::Number(_));
    if object.has("type") || object.0.is_empty() || !object.0.iter().all(|(_, node)| scalar(node)) {
        return;
    }
    pass.findings.mend(
        Code::SchemaType,
        at,
        "The rows of a table are a list, not an object.",
        "coerce.list",
        "each name and value to a row",
    );
    let made = object.0.iter().map(|(key, node)| {
        let cells = vec![Node::string(node.origin, key.as_str()), node.clone()];
        Node::array(node.origin, cells)
    });
    rows.value = Value::Array(made.collect());
}

/// Columns that hold their values become rows.
fn turned(rows: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = rows.origin;
    let column = |node: &Node| {
        let object = node.as_object().filter(|object| !object.has("type"))?;
        let title = ["title", "header", "label", "name"]
            .into_iter()
            .find_map(|key| object.find(key))?;
        let values = ["values", "data", "cells", "rows"]
            .into_iter()
            .find_map(|key| object.find(key))?
            .as_array()?;
        (object.0.len() == 2).then(|| (title.clone(), values.to_vec()))
    };
    let Some(columns) = rows
        .as_array()
        .filter(|columns| !columns.is_empty())
        .and_then(|columns| columns.iter().map(column).collect::<Option<Vec<_>>>())
    else {
        return;
    };
    let longest = columns.iter().map(|(_, values)| values.len()).max();
    let titles = columns.iter().map(|(title, _)| title.clone()).collect();
    let mut turned = vec![Node::block(
        at,
        "row",
        vec![
            ("header", Node::bool(at, true)),
            ("children", Node::array(at, titles)),
        ],
    )];
    for index in 0..longest.unwrap_or(0) {
        let cells = columns
            .iter()
            .map(|(_, values)| match values.get(index) {
                Some(value) if !value.is_null() => value.clone(),
                _ => cell(None, at),
            })
            .collect();
        turned.push(Node::array(at, cells));
    }
    pass.findings.mend(
        Code::SchemaType,
        at,
        "A table holds rows, not columns.",
        "coerce.list",
        "columns to rows",
    );
    rows.value = Value::Array(turned);
}

/// Rows as lines of text, their cells between bars.
fn text_rows(rows: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = rows.origin;
    if let Some(text) = rows.as_str()
        && text.contains('|')
    {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let lines = lines.map(|line| Node::string(at, line)).collect();
        rows.value = Value::Array(lines);
    }
    let Some(items) = rows.as_array_mut() else {
        return;
    };
    let rule = |text: &str| {
        text.contains('-')
            && text
                .chars()
                .all(|char| matches!(char, '|' | '-' | ':' | ' '))
    };
    let headed = items.get(1).and_then(Node::as_str).is_some_and(rule);
    items.retain(|item| !item.as_str().is_some_and(rule));
    for (index, item) in items.iter_mut().enumerate() {
        let Some(text) = item.as_str() else {
            continue;
        };
        let at = item.origin;
        let bare = text.trim().trim_start_matches('|').trim_end_matches('|');
        let cells: Vec<Node> = bare
            .split('|')
            .map(|cell| Node::string(at, cell.trim()))
            .collect();
        pass.findings.mend(
            Code::SchemaType,
            at,
            "A row is an object, not a string.",
            "text.string",
            format!("{} to a row", item.excerpt()),
        );
        let mut keys = vec![("children", Node::array(at, cells))];
        if headed && index == 0 {
            keys.push(("header", Node::bool(at, true)));
        }
        *item = Node::block(at, "row", keys);
    }
}

/// Place of a key in a row whose columns nobody named.
fn rank(key: &str) -> u32 {
    match plain(key).as_str() {
        "label" | "name" | "title" | "item" | "product" | "key" | "term" | "field" => 0,
        "description" | "desc" | "details" => 1,
        "quantity" | "qty" | "count" => 3,
        "price" | "unitprice" | "rate" => 4,
        "value" | "amount" | "total" | "cost" | "subtotal" => 5,
        _ => 2,
    }
}

/// Keys of a row that are not cells.
fn is_about(key: &str) -> bool {
    matches!(
        key,
        "type" | "header" | "id" | "isHeader" | "style" | "attrs" | "align" | "bg" | "bold"
    ) || key.starts_with(['_', '$'])
}

/// A row that is an object of values by column becomes a row of cells.
fn row_of(row: &mut Node, columns: &[Column], pass: &mut Pass<'_, '_>) {
    let at = row.origin;
    let Some(object) = row.as_object_mut() else {
        return;
    };
    let is_row = object.string("type").is_none_or(|kind| {
        matches!(
            plain(kind).as_str(),
            "row" | "tr" | "tablerow" | "header" | "headerrow" | "total" | "footer" | "data"
        )
    });
    let is_cell = |node: &Node| match &node.value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => true,
        Value::Object(inner) => {
            inner.has("md") || inner.has("text") || inner.has("content") || inner.has("value")
        }
        Value::Array(_) => false,
    };
    let lists = CELLS.iter().any(|key| {
        object
            .find(key)
            .is_some_and(|node| node.as_array().is_some())
    });
    let nested = ["each", "in", "cond", "then", "props", "attributes"];
    if !is_row || lists || nested.iter().any(|key| object.has(key)) {
        return;
    }
    let mut keys: Vec<String> = object
        .0
        .iter()
        .filter(|(key, node)| !is_about(key) && is_cell(node))
        .map(|(key, _)| key.clone())
        .collect();
    if keys.is_empty() {
        return;
    }
    let mut cells = Vec::new();
    for column in columns {
        let found = keys
            .iter()
            .position(|key| column.names.contains(&plain(key)));
        let node = found.and_then(|at| object.remove(&keys.remove(at)));
        cells.push(cell(node, at));
    }
    if columns.is_empty() {
        keys.sort_by_key(|key| rank(key));
    }
    cells.extend(keys.iter().map(|key| cell(object.remove(key), at)));
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        "The row says its cells by name, not as a list.",
        "key.alias",
        format!("{} cells made of names and values", cells.len()),
    );
    object.put("type", Node::string(at, "row"));
    object.put("children", Node::array(at, cells));
}

fn cell(node: Option<Node>, at: Origin) -> Node {
    match node {
        Some(node) if node.as_object().is_some_and(|object| object.has("type")) => node,
        Some(node) if !node.is_null() => {
            let at = node.origin;
            let node = match node.value {
                Value::Bool(bool) => Node::string(at, bool.to_string()),
                _ => node,
            };
            Node::block(at, "cell", vec![("text", node)])
        }
        _ => Node::block(
            at,
            "cell",
            vec![("text", Node::new(at, Value::Array(Vec::new())))],
        ),
    }
}

/// How many cells a row has.
fn row_width(row: &Node) -> usize {
    let cells = row.as_object().and_then(cells_of).unwrap_or(row);
    cells.as_array().map_or(0, <[Node]>::len)
}

/// The name of a sum in words: `grandTotal` is Grand total.
fn sum_name(key: &str) -> String {
    let mut name = String::new();
    for char in key.chars() {
        if name.is_empty() {
            name.extend(char.to_uppercase());
        } else if char.is_uppercase() {
            name.push(' ');
            name.extend(char.to_lowercase());
        } else {
            name.push(char);
        }
    }
    name
}

/// Totals that the table states apart become its last rows.
fn last_rows(
    object: &mut Object,
    key: &str,
    columns: &[Column],
    at: Origin,
    pass: &mut Pass<'_, '_>,
) {
    let Some(node) = object.find(key).filter(|node| !node.is_null()) else {
        return;
    };
    let at_row = node.origin;
    let own = object.find("children").and_then(Node::as_array);
    let width = own.unwrap_or_default().iter().map(row_width).max();
    let width = width.unwrap_or(0);
    let is_rows = |items: &[Node]| {
        items
            .iter()
            .all(|item| matches!(item.value, Value::Array(_) | Value::Object(_)))
    };
    let mut rows = match &node.value {
        Value::Array(items) if items.is_empty() => return,
        Value::Array(items) if is_rows(items) => items.clone(),
        Value::Array(_) | Value::Object(_) => vec![node.clone()],
        Value::String(_) | Value::Number(_) if SUMS.contains(&key) => {
            // The name is the writer's own word for the value.
            let mut cells = vec![Node::string(at_row, sum_name(key))];
            for _ in 2..columns.len().max(width) {
                cells.push(cell(None, at_row));
            }
            cells.push(node.clone());
            vec![Node::array(at_row, cells)]
        }
        _ => return,
    };
    if let [one] = rows.as_slice()
        && let Some(object) = one.as_object()
        && !object.has("type")
        && let Some(inner) = ["rows", "children"]
            .into_iter()
            .filter_map(|key| object.find(key))
            .find_map(Node::as_array)
        && is_rows(inner)
    {
        rows = inner.to_vec();
    }
    for row in &mut rows {
        row_of(row, columns, pass);
    }
    object.remove(key);
    told(key, "children", "table", at_row, pass);
    match object.find_mut("children").and_then(Node::as_array_mut) {
        Some(own) => own.append(&mut rows),
        None => object.put("children", Node::array(at, rows)),
    }
}
