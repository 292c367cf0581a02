//! Names: types and keys that writers call otherwise, words that stand where blocks do, attributes
//! in objects of their own. After this pass every block that can be known has its type and keys.

mod looped;

use super::{
    Pass,
    adopt::{self, Adopted},
};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, Attribute, BlockRow, Form},
    issue::Code,
};

/// Objects that hold what belongs to the block itself.
const NESTED: &[&str] = &[
    "props",
    "properties",
    "attributes",
    "settings",
    "data",
    "style",
    "styles",
    "attrs",
    "values",
];

/// Names that writers give to the list of what a block holds.
const CHILDREN: &[&str] = &[
    "blocks",
    "content",
    "contents",
    "items",
    "elements",
    "rows",
    "columns",
    "cols",
    "cells",
    "nodes",
    "body",
    "sections",
    "links",
    "options",
    "socials",
    "networks",
    "components",
    "modules",
    "widgets",
    "slots",
    "inner",
    "groups",
    "stories",
    "cards",
    "paragraphs",
];

/// Keys under which writers name the type.
const TYPE_KEYS: &[&str] = &[
    "kind",
    "component",
    "blockType",
    "tagName",
    "tag",
    "element",
    "widget",
    "block",
    "node",
];

/// Gives blocks of the body their types and keys.
pub(crate) fn rename(root: &mut Node, pass: &mut Pass<'_, '_>) {
    if let Some(body) = super::body(root) {
        block(body, None, pass);
    }
}

/// What is around a block, `if` and `each` aside.
type Parent = Option<&'static BlockRow>;

/// Names a block and all in it; what it said under keys that it has not stands beside it.
fn block(node: &mut Node, parent: Parent, pass: &mut Pass<'_, '_>) -> Adopted {
    let at = node.origin;
    let Some(object) = node.as_object_mut() else {
        return Adopted::default();
    };
    lower(object, "The block", pass);
    flatten(object, pass);
    name_type(object, at, parent, pass);
    let Some(row) = object.string("type").and_then(grammar::block) else {
        return Adopted::default();
    };
    children_keys(object, row, pass);
    if row.name == "table" {
        header_row(object, at, pass);
    }
    markdown_key(object, row, pass);
    if row.name == "each" {
        looped::name_element(object, at, pass);
    }
    let attributes: Vec<&'static Attribute> = row.all().collect();
    rename_keys(object, &attributes, row.name, pass);
    let beside = adopted(object, row, parent, at, pass);
    let inner = if row.level == grammar::Level::Control {
        parent
    } else {
        Some(row)
    };
    for holder in row.children {
        let Some(list) = object.find_mut(holder.key) else {
            continue;
        };
        into_list(list, holder.key, pass);
        if let Some(children) = list.as_array_mut() {
            for mut child in std::mem::take(children) {
                into_block(&mut child, inner, pass);
                let beside = block(&mut child, inner, pass);
                children.extend(beside.before);
                children.push(child);
                children.extend(beside.after);
            }
        }
    }
    condition_around(node, row, pass);
    beside
}

/// Puts words under stray keys into a container; gives those that go beside a leaf.
fn adopted(
    object: &mut Object,
    row: &'static BlockRow,
    parent: Parent,
    at: Origin,
    pass: &mut Pass<'_, '_>,
) -> Adopted {
    let in_parts = parent
        .is_some_and(|parent| matches!(parent.name, "list" | "table" | "row" | "menu" | "social"));
    if in_parts || (!adopt::holds_blocks(row) && parent.is_none()) {
        return Adopted::default();
    }
    let mut beside = adopt::adopt(object, row, pass);
    if !adopt::holds_blocks(row) {
        for one in beside.before.iter_mut().chain(&mut beside.after) {
            block(one, parent, pass);
        }
        return beside;
    }
    let Some(holder) = row.children.first() else {
        return beside;
    };
    if beside.before.is_empty() && beside.after.is_empty() {
        return beside;
    }
    let mut own = match object.remove(holder.key).map(|node| node.value) {
        Some(Value::Array(children)) => children,
        Some(Value::Null) | None => Vec::new(),
        Some(value) => vec![Node::new(at, value)],
    };
    let mut children = beside.before;
    children.append(&mut own);
    children.append(&mut beside.after);
    object.put(holder.key, Node::array(at, children));
    Adopted::default()
}

/// Markdown under a key of its own is the text of the block.
fn markdown_key(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let ours = row
        .attributes
        .iter()
        .find(|attribute| attribute.required && matches!(attribute.form, Form::Text(_)));
    let Some(ours) = ours.filter(|ours| !object.has(ours.name)) else {
        return;
    };
    for key in ["md", "markdown"] {
        if object.string(key).is_some()
            && let Some(source) = object.remove(key)
        {
            let at = source.origin;
            told(key, ours.name, row.name, at, pass);
            let md = Object(vec![("md".to_owned(), source)]);
            object.put(ours.name, Node::new(at, Value::Object(md)));
            return;
        }
    }
}

/// Keys in capitals as ours are written.
pub(crate) fn lower(object: &mut Object, owner: &str, pass: &mut Pass<'_, '_>) {
    for at in 0..object.0.len() {
        let Some((key, node)) = object.0.get(at) else {
            continue;
        };
        let mut chars = key.chars();
        let Some(first) = chars.next().filter(|first| first.is_ascii_uppercase()) else {
            continue;
        };
        let whole = !key.chars().any(char::is_lowercase);
        let lower = if whole {
            key.to_lowercase()
        } else {
            format!("{}{}", first.to_ascii_lowercase(), chars.as_str())
        };
        if object.has(&lower) {
            continue;
        }
        let (was, origin) = (key.clone(), node.origin);
        told(&was, &lower, owner, origin, pass);
        if let Some(place) = object.0.get_mut(at) {
            place.0 = lower;
        }
    }
}

/// A condition on a block that has none of its own becomes an `if` around it.
fn condition_around(node: &mut Node, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if row.attribute("visibleIf").is_some() || matches!(row.name, "body" | "cell") {
        return;
    }
    let at = node.origin;
    let Some(object) = node.as_object_mut() else {
        return;
    };
    let condition = ["visibleIf", "showIf"]
        .into_iter()
        .find_map(|key| object.remove(key))
        .filter(|condition| !condition.is_null());
    let Some(condition) = condition else {
        return;
    };
    pass.findings.mend(
        Code::SchemaUnknownKey,
        condition.origin,
        format!("{} has no visibleIf; an if goes around it.", row.name),
        "key.alias",
        format!("{} put into an if", row.name),
    );
    let inner = std::mem::replace(node, Node::new(at, Value::Null));
    let then = Node::array(at, vec![inner]);
    *node = Node::block(at, "if", vec![("cond", condition), ("then", then)]);
}

/// Takes attributes out of objects that hold nothing else.
fn flatten(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let kind = object.string("type").and_then(|kind| {
        grammar::block(kind).or_else(|| grammar::alias(kind).and_then(grammar::block))
    });
    for name in NESTED {
        if object.find(name).and_then(Node::as_object).is_none() {
            continue;
        }
        let Some(nested) = object.remove(name) else {
            continue;
        };
        let origin = nested.origin;
        let Value::Object(inner) = nested.value else {
            continue;
        };
        let mut stay = Object::default();
        let mut moved = Vec::new();
        for (key, node) in inner.0 {
            let passed = *name == "attrs" && (key.starts_with("mc:") || key.starts_with("data-"));
            if passed || object.has(&key) {
                stay.0.push((key, node));
            } else {
                moved.push(key.clone());
                object.put(&key, node);
            }
        }
        if !moved.is_empty() {
            pass.findings.mend(
                Code::SchemaUnknownKey,
                origin,
                format!("Attributes stand in the block itself, not in {name}."),
                "key.alias",
                format!("{} moved out of {name}", moved.join(", ")),
            );
        }
        let known = kind.is_some_and(|row| row.attribute(name).is_some());
        if !stay.0.is_empty() || (moved.is_empty() && !known) {
            object.put(name, Node::new(origin, Value::Object(stay)));
        }
    }
}

/// Gives the block its type under our name.
fn name_type(object: &mut Object, at: Origin, parent: Parent, pass: &mut Pass<'_, '_>) {
    if !object.has("type") {
        let named = TYPE_KEYS.iter().find(|key| {
            let name = object.string(key);
            name.is_some_and(|name| {
                grammar::block(name).is_some() || grammar::alias(name).is_some()
            })
        });
        if let Some(key) = named
            && let Some(node) = object.remove(key)
        {
            told(key, "type", "a block", node.origin, pass);
            object.put("type", node);
        }
    }
    let written = match object.find("type") {
        Some(node) => match node.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                let message = format!("type is a string, not {}.", node.what());
                pass.findings.report(Code::SchemaType, node.origin, message);
                return;
            }
        },
        None => None,
    };
    let found = match written.as_deref() {
        Some(name) => match grammar::block(name).map(|row| row.name) {
            Some(name) => Some(name),
            None => grammar::alias(name),
        },
        None => guess(object, parent),
    };
    let Some(mut found) = found else {
        if written.is_none() {
            pass.findings
                .report(Code::SchemaMissing, at, "The block has no type.");
        }
        return;
    };
    // A row that holds no cells, outside a table, is what others call a section.
    let in_table = parent.is_some_and(|row| matches!(row.name, "table" | "row"));
    if found == "row" && !in_table && !holds_cells(object) {
        found = "section";
    }
    if written.as_deref() == Some(found) {
        return;
    }
    let was = written.as_deref().unwrap_or("nothing");
    particulars(object, was, at);
    pass.findings.mend(
        if written.is_some() {
            Code::BlockUnknown
        } else {
            Code::SchemaMissing
        },
        at,
        format!("The block's type is {was}, which we call {found}."),
        "alias",
        format!("{was} to {found}"),
    );
    object.put("type", Node::string(at, found));
}

fn holds_cells(object: &Object) -> bool {
    let children = ["children", "cells"]
        .into_iter()
        .find_map(|key| object.find(key));
    let children = children.and_then(Node::as_array).unwrap_or_default();
    object.has("cells")
        || children
            .iter()
            .any(|child| matches!(child.kind(), Some("cell" | "td" | "th" | "tablecell")))
}

/// What another name says besides the type.
fn particulars(object: &mut Object, was: &str, at: Origin) {
    let was = was.to_ascii_lowercase();
    let level = was
        .strip_prefix('h')
        .and_then(|level| level.parse::<u32>().ok());
    if let Some(level) = level
        && !object.has("level")
    {
        object.put("level", Node::number(at, f64::from(level)));
    }
    if matches!(
        was.as_str(),
        "ol" | "orderedlist" | "numberedlist" | "ordered-list" | "numbered-list"
    ) && !object.has("style")
    {
        object.put("style", Node::string(at, "decimal"));
    }
    if matches!(was.as_str(), "markdown" | "md") {
        let key = ["text", "content", "body", "value", "markdown", "md"]
            .into_iter()
            .find(|key| object.string(key).is_some());
        if let Some(source) = key.and_then(|key| object.remove(key)) {
            let md = Object(vec![("md".to_owned(), source)]);
            object.put("text", Node::new(at, Value::Object(md)));
        }
    }
}

/// The type of a block that states none.
fn guess(object: &Object, parent: Parent) -> Option<&'static str> {
    let has = |key: &str| object.has(key);
    let said = |keys: &[&str]| keys.iter().any(|key| has(key));
    let holds = holds_children(object);
    let titled = said(&["title", "headline", "heading", "subtitle"]);
    let worded = said(&[
        "content",
        "description",
        "body",
        "copy",
        "paragraph",
        "caption",
    ]);
    match parent.map(|row| row.name) {
        Some("list") => return Some("item"),
        Some("table") => return Some("row"),
        Some("row") => return Some("cell"),
        Some("menu") => return Some("menuItem"),
        Some("social") => return Some("socialItem"),
        Some("section") if holds || titled && worded => return Some("column"),
        Some("body" | "panel") if holds || titled || worded && !has("src") => {
            return Some("section");
        }
        Some("column" | "hero") if holds => return Some("section"),
        None if holds => return Some("body"),
        _ => {}
    }
    [
        ("cond", "if"),
        ("poster", "video"),
        ("src", "image"),
        ("href", "button"),
        ("lines", "footer"),
        ("level", "heading"),
        ("text", "text"),
        ("md", "text"),
        ("markdown", "text"),
        ("content", "text"),
        ("description", "text"),
        ("body", "text"),
        ("copy", "text"),
        ("paragraph", "text"),
        ("title", "heading"),
        ("headline", "heading"),
        ("heading", "heading"),
    ]
    .into_iter()
    .find(|(key, _)| has(key))
    .map(|(_, kind)| kind)
}

/// Whether a list of blocks stands in it, by whatever name.
pub(crate) fn holds_children(object: &Object) -> bool {
    let has_objects = |key: &&str| {
        let items = object.find(key).and_then(Node::as_array);
        items.is_some_and(|items| items.iter().any(|item| item.as_object().is_some()))
    };
    object.has("children") || CHILDREN.iter().any(has_objects)
}

/// Gives the lists of what a block holds our names.
fn children_keys(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    for holder in row.children {
        if object.has(holder.key) {
            continue;
        }
        let others: &[&str] = match (row.name, holder.key) {
            ("if", "then") => &["children", "blocks", "content", "do", "body"],
            ("if", _) => &["otherwise", "elseThen", "fallback", "elseChildren"],
            ("each", "children") => &[
                "blocks", "content", "body", "template", "do", "then", "block", "items", "item",
            ],
            ("each", _) => &["else", "otherwise", "fallback", "ifEmpty"],
            _ => CHILDREN,
        };
        let found = others.iter().find(|other| {
            let fits = |node: &Node| matches!(node.value, Value::Array(_) | Value::Object(_));
            // A string of a container is text in it; of `each` it may be the list's path.
            let text =
                |node: &Node| node.as_str().is_some() && row.name != "each" && **other == "content";
            object
                .find(other)
                .is_some_and(|node| fits(node) || text(node))
                && row.attribute(other).is_none()
        });
        let Some(other) = found else {
            continue;
        };
        if row.name == "table" && *other == "columns" && object.has("rows") {
            continue;
        }
        if let Some(node) = object.remove(other) {
            told(other, holder.key, row.name, node.origin, pass);
            object.put(holder.key, node);
        }
    }
    // `rows` of a table come before `columns`, which are its header.
    if row.name == "table"
        && !object.has("children")
        && let Some(rows) = object.remove("rows")
    {
        told("rows", "children", row.name, rows.origin, pass);
        object.put("children", rows);
    }
}

fn told(other: &str, ours: &str, owner: &str, at: Origin, pass: &mut Pass<'_, '_>) {
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("The key of {owner} is {ours}, not {other}."),
        "key.alias",
        format!("{other} to {ours}"),
    );
}

/// Headers that a table states apart become its first row.
fn header_row(object: &mut Object, at: Origin, pass: &mut Pass<'_, '_>) {
    let is_words = |node: &Node| {
        node.as_array().is_some_and(|items| {
            !items.is_empty() && items.iter().all(|item| item.as_str().is_some())
        })
    };
    let key = ["headers", "header", "head", "columns"]
        .into_iter()
        .find(|key| object.find(key).is_some_and(is_words));
    let Some((key, headers)) = key.and_then(|key| Some((key, object.remove(key)?))) else {
        return;
    };
    told(key, "children", "table", headers.origin, pass);
    let row = Node::block(
        headers.origin,
        "row",
        vec![
            ("header", Node::bool(headers.origin, true)),
            ("children", headers),
        ],
    );
    match object.find_mut("children").and_then(Node::as_array_mut) {
        Some(rows) => rows.insert(0, row),
        None => object.put("children", Node::array(at, vec![row])),
    }
}

/// A list of blocks, out of one block or text.
fn into_list(node: &mut Node, key: &str, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    match node.value {
        Value::Array(_) => {}
        Value::Null => node.value = Value::Array(Vec::new()),
        Value::Object(_) | Value::String(_) => {
            pass.findings.mend(
                Code::SchemaType,
                at,
                format!("{key} is a list of blocks, not {}.", node.what()),
                "coerce.list",
                "one block put into a list",
            );
            let inner = std::mem::replace(node, Node::array(at, Vec::new()));
            node.value = Value::Array(vec![inner]);
        }
        Value::Bool(_) | Value::Number(_) => {
            let message = format!("{key} is a list of blocks, not {}.", node.what());
            pass.findings.report(Code::SchemaType, at, message);
        }
    }
}

/// Makes a block of a text or list that stands where blocks do.
fn into_block(node: &mut Node, parent: Parent, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    let kind = match (&node.value, parent.map(|row| row.name)) {
        (Value::String(_), Some("list")) => "item",
        (Value::String(_) | Value::Number(_), Some("row")) => "cell",
        (Value::String(_), _) => "text",
        (Value::Array(_), Some("table")) => "row",
        (Value::Array(_), Some("section")) => "column",
        _ => return,
    };
    let key = if matches!(kind, "row" | "column") {
        "children"
    } else {
        "text"
    };
    pass.findings.mend(
        Code::SchemaType,
        at,
        format!("A block is an object, not {}.", node.what()),
        "text.string",
        format!("{} made the {key} of a new {kind}", node.excerpt()),
    );
    let key = if matches!(kind, "row" | "column") {
        "children"
    } else {
        "text"
    };
    let inner = std::mem::replace(node, Node::new(at, Value::Null));
    *node = Node::block(at, kind, vec![(key, inner)]);
}

/// `background-color` and `background_color` as `backgroundColor`.
fn camel(key: &str) -> String {
    let mut camel = String::with_capacity(key.len());
    let mut upper = false;
    for char in key.chars().take(100) {
        match char {
            '-' | '_' => upper = !camel.is_empty(),
            char if upper => {
                camel.extend(char.to_uppercase());
                upper = false;
            }
            char => camel.push(char),
        }
    }
    camel
}

/// Gives the keys of an object our names.
pub(crate) fn rename_keys(
    object: &mut Object,
    rows: &[&'static Attribute],
    owner: &str,
    pass: &mut Pass<'_, '_>,
) {
    if rows.iter().any(|row| row.name == "pad") {
        padding(object, pass);
    }
    for at in 0..object.0.len() {
        let Some((key, node)) = object.0.get(at) else {
            continue;
        };
        if rows.iter().any(|row| row.name == key)
            || matches!(key.as_str(), "type" | "children")
                && rows.iter().all(|row| !row.aliases.contains(&key.as_str()))
        {
            continue;
        }
        let camel = camel(key);
        let row = rows.iter().find(|row| {
            row.name == camel
                || row.aliases.contains(&key.as_str())
                || row.aliases.contains(&camel.as_str())
        });
        let Some(row) = row.filter(|row| !object.has(row.name)) else {
            continue;
        };
        // A path is a string; a list under such a name is something else.
        if matches!(row.form, Form::Path | Form::Name) && node.as_str().is_none() {
            continue;
        }
        let (key, origin) = (key.clone(), node.origin);
        told(&key, row.name, owner, origin, pass);
        if let Some(place) = object.0.get_mut(at) {
            row.name.clone_into(&mut place.0);
        }
    }
}

/// Blank space that is stated edge by edge.
fn padding(object: &mut Object, pass: &mut Pass<'_, '_>) {
    const SIDES: [[&str; 3]; 4] = [
        ["paddingTop", "padding-top", "padTop"],
        ["paddingRight", "padding-right", "padRight"],
        ["paddingBottom", "padding-bottom", "padBottom"],
        ["paddingLeft", "padding-left", "padLeft"],
    ];
    let mut at = None;
    let sides = SIDES.map(|names| {
        let found = names.into_iter().find_map(|name| object.remove(name));
        at = at.or(found.as_ref().map(|node| node.origin));
        found
    });
    let Some(at) = at else {
        return;
    };
    let whole = ["pad", "padding"]
        .into_iter()
        .find_map(|name| object.find(name).cloned());
    let base = match whole.map(|node| node.value) {
        Some(Value::Number(number)) => Value::Number(number),
        Some(Value::String(text)) if !text.trim().contains(' ') => Value::String(text),
        _ => Value::Number(0.into()),
    };
    object.remove("padding");
    let sides = sides.map(|side| side.unwrap_or_else(|| Node::new(at, base.clone())));
    told("padding by edges", "pad", "the block", at, pass);
    object.put("pad", Node::array(at, sides.to_vec()));
}
