//! Blocks that say of themselves that they are repeated: an `each` goes around them, or into the
//! list or table that they are.

use super::{held::CHILDREN, keys::told};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{BlockRow, Level},
    notation,
    pass::{Pass, plain, text},
};

/// Keys that name the list, by letters in lower case.
const LOOPS: &[&str] = &[
    "each",
    "foreach",
    "repeat",
    "repeatfor",
    "repeatover",
    "loop",
    "for",
    "vfor",
    "ngfor",
    "dataeach",
    "datarepeat",
    "iterate",
];

/// Keys that name the element, in the order in which they count.
const NAMES: &[&str] = &["as", "itemName", "itemVar", "item", "var", "alias"];

/// Keys of what a list or table shows of each element.
const TEMPLATES: &[&str] = &[
    "item",
    "itemTemplate",
    "template",
    "row",
    "rowTemplate",
    "children",
    "items",
    "rows",
];

/// The list that a block is repeated for, and what an element is called if it says so.
struct Loop {
    key: String,
    list: String,
    name: Option<String>,
}

/// Reads `items`, `{{ items }}`, `item in items` and `{"in": "items", "as": "item"}`.
fn read(key: &str, node: &Node) -> Option<Loop> {
    if let Value::Object(object) = &node.value {
        let list = ["in", "of", "list", "items", "over"]
            .into_iter()
            .find_map(|key| object.string(key))?;
        let name = NAMES.iter().find_map(|key| object.string(key));
        let list = text::path_of(list);
        return notation::is_path(list).then(|| Loop {
            key: key.to_owned(),
            list: list.to_owned(),
            name: name.map(str::to_owned),
        });
    }
    let words: Vec<&str> = text::path_of(node.as_str()?).split_whitespace().collect();
    let (name, list) = match words.as_slice() {
        [list] => (None, *list),
        [name, "in" | "of", list] if notation::is_name(name) => (Some((*name).to_owned()), *list),
        _ => return None,
    };
    notation::is_path(list).then(|| Loop {
        key: key.to_owned(),
        list: list.to_owned(),
        name,
    })
}

/// What an object says of its repetition.
fn found(object: &Object, row: &BlockRow) -> Option<Loop> {
    object.0.iter().find_map(|(key, node)| {
        let stray = row.attribute(key).is_none() && row.holds(key).is_none();
        (stray && LOOPS.contains(&plain(key).as_str())).then(|| read(key, node))?
    })
}

/// The keys of the `each` that an object asks for, taken out of it.
fn taken(
    object: &mut Object,
    row: &BlockRow,
    pass: &mut Pass<'_, '_>,
) -> Option<Vec<(&'static str, Node)>> {
    let found = found(object, row)?;
    let node = object.remove(&found.key)?;
    let at = node.origin;
    told(&found.key, "in", "each", at, pass);
    let mut keys = vec![("in", Node::string(at, found.list))];
    let name = found.name.or_else(|| {
        let key = NAMES.iter().find(|key| {
            let name = object.string(key).map(text::path_of);
            row.attribute(key).is_none() && name.is_some_and(notation::is_name)
        })?;
        let node = object.remove(key)?;
        told(key, "as", "each", node.origin, pass);
        node.as_str().map(|name| text::path_of(name).to_owned())
    });
    if let Some(name) = name {
        keys.push(("as", Node::string(at, name)));
    }
    Some(keys)
}

/// Puts an `each` into a list or table, around what it shows of each element.
pub(super) fn inside(object: &mut Object, row: &BlockRow, at: Origin, pass: &mut Pass<'_, '_>) {
    if !matches!(row.name, "list" | "table" | "menu" | "social") {
        return;
    }
    let Some(mut keys) = taken(object, row, pass) else {
        whole(object, row, pass);
        return;
    };
    let found = TEMPLATES
        .iter()
        .find(|key| object.find(key).is_some_and(|node| !node.is_null()));
    let shown = found.and_then(|key| Some((*key, object.remove(key)?)));
    let Some((key, shown)) = shown else {
        return;
    };
    // One row is a list too.
    let one = row.name == "table"
        && matches!(
            key,
            "row" | "rowTemplate" | "item" | "itemTemplate" | "template"
        );
    let shown = if shown.as_array().is_some() && !one {
        shown
    } else {
        Node::array(at, vec![shown])
    };
    keys.push(("children", shown));
    let each = Node::block(at, "each", keys);
    object.put("children", Node::array(at, vec![each]));
}

/// A list whose elements are a variable: `"items": "{{ names }}"`.
fn whole(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.name != "list" {
        return;
    }
    let found = CHILDREN.iter().chain(&["children"]).find_map(|key| {
        let written = object.string(key)?.trim();
        let inner = written.strip_prefix("{{")?.strip_suffix("}}")?.trim();
        notation::is_path(inner).then(|| ((*key).to_owned(), inner.to_owned()))
    });
    let Some((key, list)) = found else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    let at = node.origin;
    told(&key, "in", "each", at, pass);
    let item = Node::block(at, "item", vec![("text", Node::string(at, "{{ item }}"))]);
    let each = Node::block(
        at,
        "each",
        vec![
            ("in", Node::string(at, list)),
            ("as", Node::string(at, "item")),
            ("children", Node::array(at, vec![item])),
        ],
    );
    object.put("children", Node::array(at, vec![each]));
}

/// Whether a block that holds no elements of its own says that it is repeated.
pub(super) fn is_told(object: &Object, row: &BlockRow) -> bool {
    let parts = matches!(row.name, "body" | "list" | "table" | "menu" | "social");
    row.level != Level::Control && !parts && found(object, row).is_some()
}

/// Puts an `each` around a block that says that it is repeated.
pub(super) fn around(node: &mut Node, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    let object = node.as_object_mut();
    let Some(mut keys) = object.and_then(|object| taken(object, row, pass)) else {
        return;
    };
    let inner = std::mem::replace(node, Node::new(at, Value::Null));
    keys.push(("children", Node::array(at, vec![inner])));
    *node = Node::block(at, "each", keys);
}
