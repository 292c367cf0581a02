//! How blocks look, in the words of others: CSS in one string, headings that are texts of a variant,
//! columns by spans of twelve, numbered lists and header rows as flags.

use super::keys::told;
use crate::{
    draft::{Node, Object, Value},
    grammar::BlockRow,
    issue::Code,
    pass::{Pass, plain},
};

/// Columns that grids count.
const GRID: f64 = 12.0;

/// Makes an object of `"style": "color: red; font-size: 14px"`.
pub(super) fn css(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let Some(node) = object.find_mut("style") else {
        return;
    };
    let declarations: Vec<(String, Node)> = node
        .as_str()
        .unwrap_or_default()
        .split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(key, value)| (key.trim(), value.trim()))
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .map(|(key, value)| (key.to_owned(), Node::string(node.origin, value)))
        .collect();
    if declarations.is_empty() {
        return;
    }
    pass.findings.mend(
        Code::SchemaType,
        node.origin,
        "Looks are keys of the block, not CSS.",
        "key.alias",
        format!("{} read as keys", node.excerpt()),
    );
    node.value = Value::Object(Object(declarations));
}

/// A text whose variant is a level is a heading.
pub(super) fn heading_variant(object: &mut Object) -> bool {
    if object.string("type") != Some("text") {
        return false;
    }
    let found = ["variant", "as", "tag", "style"].into_iter().find(|key| {
        let variant = object.string(key).map(str::to_ascii_lowercase);
        variant.is_some_and(|variant| {
            matches!(variant.as_str(), "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
        })
    });
    let Some(node) = found.and_then(|key| object.remove(key)) else {
        return false;
    };
    let at = node.origin;
    object.put("type", Node::string(at, "heading"));
    object.put("tag", node);
    true
}

/// Gives flags and measures of others our keys.
pub(super) fn measures(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    match row.name {
        "list" => numbered(object, row, pass),
        "column" => span(object, row, pass),
        "image" => {
            sizes(object, row, pass);
            source(object, row, pass);
        }
        "hero" => source(object, row, pass),
        _ => {}
    }
}

/// `"ordered": true`, and the marker under another name.
fn numbered(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if object.has("style") {
        return;
    }
    let found = object
        .0
        .iter()
        .find(|(key, node)| match plain(key).as_str() {
            "ordered" | "numbered" => node.as_bool().is_some(),
            "listtype" | "liststyle" | "liststyletype" | "bulletstyle" | "marker" => {
                node.as_str().is_some()
            }
            _ => false,
        });
    let Some(key) = found.map(|(key, _)| key.clone()) else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    told(&key, "style", row.name, node.origin, pass);
    match node.as_bool() {
        Some(true) => object.put("style", Node::string(node.origin, "decimal")),
        Some(false) => {}
        None => object.put("style", node),
    }
}

/// Columns of a grid of twelve.
fn span(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if object.has("width") {
        return;
    }
    let found = ["span", "colSpan", "colspan", "cols", "size"]
        .into_iter()
        .find_map(|key| {
            let columns = object.find(key)?.as_f64()?;
            (1.0..=GRID).contains(&columns).then_some((key, columns))
        });
    if let Some((key, columns)) = found
        && let Some(node) = object.remove(key)
    {
        told(key, "width", row.name, node.origin, pass);
        let percent = (columns / GRID * 10_000.0).round() / 100.0;
        object.put("width", Node::number(node.origin, percent));
    }
}

/// Width and height in an object of their own.
fn sizes(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    for key in ["size", "dimensions"] {
        if object.find(key).and_then(Node::as_object).is_none() {
            continue;
        }
        if let Some(node) = object.remove(key) {
            told(key, "width", row.name, node.origin, pass);
            if let Value::Object(inner) = node.value {
                for (key, node) in inner.0 {
                    if !object.has(&key) {
                        object.put(&key, node);
                    }
                }
            }
        }
    }
}

/// The address of a picture with its alt and sizes in an object of their own.
fn source(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    for key in ["src", "url", "image", "source", "backgroundImage"] {
        let inner = object.find(key).and_then(Node::as_object);
        let leads = inner.is_some_and(|inner| {
            ["src", "url", "href"]
                .iter()
                .any(|key| inner.string(key).is_some())
        });
        if !leads {
            continue;
        }
        if let Some(node) = object.remove(key) {
            told(key, "src", row.name, node.origin, pass);
            if let Value::Object(inner) = node.value {
                for (key, node) in inner.0 {
                    let key = if matches!(key.as_str(), "url" | "href") {
                        "src"
                    } else {
                        key.as_str()
                    };
                    if !object.has(key) {
                        object.put(key, node);
                    }
                }
            }
        }
    }
}

/// Rows as lines of values with commas.
pub(super) fn csv(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let quoted = |text: &str| text.contains('"');
    if object.has("children") || object.string("csv").is_none_or(quoted) {
        return;
    }
    let Some(node) = object.remove("csv") else {
        return;
    };
    told("csv", "children", row.name, node.origin, pass);
    let rows = node
        .as_str()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let cells = line
                .split(',')
                .map(|cell| Node::string(node.origin, cell.trim()));
            Node::array(node.origin, cells.collect())
        })
        .collect();
    object.put("children", Node::array(node.origin, rows));
}

/// A flag that says that the first row has the headings.
pub(super) fn header_row(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let found = object.0.iter().find(|(key, node)| {
        node.as_bool().is_some()
            && matches!(
                plain(key).as_str(),
                "hasheader"
                    | "hasheaderrow"
                    | "headerrow"
                    | "firstrowheader"
                    | "header"
                    | "firstrowisheader"
            )
    });
    let Some(key) = found.map(|(key, _)| key.clone()) else {
        return;
    };
    let Some(flag) = object.remove(&key) else {
        return;
    };
    told(&key, "header of its first row", row.name, flag.origin, pass);
    let rows = object.find_mut("children").and_then(Node::as_array_mut);
    if flag.as_bool() == Some(true)
        && let Some(first) = rows.and_then(|rows| rows.first_mut())
    {
        let at = first.origin;
        match &mut first.value {
            Value::Object(row) if !row.has("header") => row.put("header", Node::bool(at, true)),
            Value::Array(_) => {
                let cells = std::mem::take(first);
                *first = Node::block(
                    at,
                    "row",
                    vec![("header", Node::bool(at, true)), ("children", cells)],
                );
            }
            _ => {}
        }
    }
}
