//! Keys by other names, and attributes in objects of their own.

use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, Attribute, BlockRow, Form},
    issue::Code,
    pass::{Pass, adopt},
};

/// Objects that hold what belongs to the block itself.
pub(super) const NESTED: &[&str] = &[
    "props",
    "properties",
    "attributes",
    "settings",
    "data",
    "style",
    "styles",
    "attrs",
    "values",
    "descriptor",
];

/// Markdown under a key of its own is the text of the block.
pub(super) fn markdown_key(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
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

/// Whether an object under the name of its own block is the block once more.
fn is_own(node: &Node) -> bool {
    node.as_object()
        .is_some_and(|object| !object.has("type") && !object.has("md") && !object.0.is_empty())
}

/// Whether what stands under `content` are keys of the block, not its text or a block.
fn is_keys(name: &str, node: &Node) -> bool {
    const WORDS: &[&str] = &[
        "type", "md", "markdown", "text", "html", "var", "name", "spans", "children",
    ];
    node.as_object().is_some_and(|object| {
        !object.0.is_empty()
            && (name == "overlay" || !WORDS.iter().any(|key| object.has(key)))
            && !object.has("type")
            && !object.0.iter().all(|(_, node)| node.kind().is_some())
    })
}

/// Takes attributes out of objects that hold nothing else.
pub(super) fn flatten(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let kind = object.string("type").and_then(|kind| {
        grammar::block(kind).or_else(|| grammar::alias(kind).and_then(grammar::block))
    });
    let own = kind.map(|row| row.name).filter(|own| {
        !matches!(
            *own,
            "text" | "quote" | "code" | "if" | "each" | "row" | "cell"
        )
    });
    for name in NESTED
        .iter()
        .copied()
        .chain(["content", "overlay"])
        .chain(own)
    {
        let loose = matches!(name, "content" | "overlay");
        if loose && !object.find(name).is_some_and(|node| is_keys(name, node)) {
            continue;
        }
        if own == Some(name) && !object.find(name).is_some_and(is_own) {
            continue;
        }
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
            let passed = name == "attrs" && (key.starts_with("mc:") || key.starts_with("data-"));
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

/// Keys that begin with the name of their own block: `button_text` of a button is its text.
pub(super) fn own_name(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    for at in 0..object.0.len() {
        let Some((key, node)) = object.0.get(at) else {
            continue;
        };
        if key == "type" || row.attribute(key).is_some() || row.holds(key).is_some() {
            continue;
        }
        let written = camel(key);
        let rest = std::iter::once(&row.name)
            .chain(row.aliases)
            .find_map(|name| written.strip_prefix(name))
            .filter(|rest| rest.starts_with(|char: char| char.is_ascii_uppercase()));
        let Some(rest) = rest else {
            continue;
        };
        let mut rest = rest.to_owned();
        if let Some(first) = rest.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        let ours = row
            .all()
            .find(|own| own.name == rest || own.aliases.contains(&rest.as_str()));
        let known = row
            .all()
            .any(|own| own.name == written || own.aliases.contains(&written.as_str()));
        let Some(ours) = ours.filter(|ours| {
            let said = |name: &str| object.find(name).is_some_and(|node| !node.is_null());
            !known && !said(ours.name) && !ours.aliases.iter().any(|name| said(name))
        }) else {
            continue;
        };
        let (was, origin) = (key.clone(), node.origin);
        told(&was, ours.name, row.name, origin, pass);
        if let Some(place) = object.0.get_mut(at) {
            ours.name.clone_into(&mut place.0);
        }
    }
}

/// A key that is a slip of one of ours, for words and addresses that the block has not.
pub(super) fn near_keys(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let ours: Vec<&'static str> = row
        .attributes
        .iter()
        .filter(|own| {
            let said = std::iter::once(&own.name)
                .chain(own.aliases)
                .any(|name| object.find(name).is_some_and(|node| !node.is_null()));
            let words = matches!(
                own.form,
                Form::Text(_) | Form::Url(_) | Form::Template | Form::Verbatim | Form::Texts
            );
            words && !said
        })
        .map(|own| own.name)
        .collect();
    for name in ours {
        let near = object.0.iter().position(|(key, node)| {
            row.attribute(key).is_none()
                && row.holds(key).is_none()
                && key != "type"
                && key.is_ascii()
                && !matches!(node.value, Value::Array(_))
                && (grammar::nearest(key, std::iter::once(name)).is_some() || swapped(key, name))
                && (adopt::may_be_read(key, node) || adopt::is_address(node))
        });
        let Some((key, node)) = near.and_then(|at| object.0.get_mut(at)) else {
            continue;
        };
        let was = std::mem::replace(key, name.to_owned());
        let origin = node.origin;
        told(&was, name, row.name, origin, pass);
    }
}

/// Whether two words have the same letters in another order.
fn swapped(one: &str, two: &str) -> bool {
    let sorted = |word: &str| {
        let mut bytes: Vec<u8> = word.bytes().take(20).collect();
        bytes.sort_unstable();
        bytes
    };
    one.len() == two.len() && one.len() >= 4 && sorted(one) == sorted(two)
}

pub(super) fn told(other: &str, ours: &str, owner: &str, at: Origin, pass: &mut Pass<'_, '_>) {
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("The key of {owner} is {ours}, not {other}."),
        "key.alias",
        format!("{other} to {ours}"),
    );
}

/// `background-color` and `background_color` as `backgroundColor`.
pub(super) fn camel(key: &str) -> String {
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
    drop_nulls(object, rows);
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

/// Takes out keys of ours that are null where another name says something.
fn drop_nulls(object: &mut Object, rows: &[&'static Attribute]) {
    let another = |row: &Attribute| {
        object.0.iter().any(|(key, node)| {
            !node.is_null()
                && (row.aliases.contains(&key.as_str())
                    || row.aliases.contains(&camel(key).as_str()))
        })
    };
    let nulls: Vec<&str> = rows
        .iter()
        .filter(|row| object.find(row.name).is_some_and(Node::is_null) && another(row))
        .map(|row| row.name)
        .collect();
    object.0.retain(|(key, _)| !nulls.contains(&key.as_str()));
}

/// Blank space that is stated edge by edge.
pub(super) fn padding(object: &mut Object, pass: &mut Pass<'_, '_>) {
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
