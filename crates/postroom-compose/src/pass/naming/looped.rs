//! Loops that do not say what an element is called.

use crate::{
    draft::{Node, Object, Origin, Value},
    grammar,
    issue::Code,
    notation,
    pass::Pass,
};

/// Our name and the others of a key of `each`: `in` for the list, `as` for its element.
fn names(key: &str) -> impl Iterator<Item = &'static str> {
    grammar::block("each")
        .and_then(|row| row.attribute(key))
        .into_iter()
        .flat_map(|own| std::iter::once(own.name).chain(own.aliases.iter().copied()))
}

/// Names the element of a loop that names none.
pub(super) fn name_element(object: &mut Object, at: Origin, pass: &mut Pass<'_, '_>) {
    let list = |object: &Object| {
        let path = names("in").find_map(|key| object.string(key));
        path.map(str::to_owned)
    };
    // `{"each": "order", "in": "orders"}`, and `{"each": "orders"}`.
    if let Some(node) = object.remove("each") {
        let ours = if list(object).is_some() { "as" } else { "in" };
        if object.has(ours) || node.as_str().is_none() {
            object.put("each", node);
        } else {
            super::told("each", ours, "each", node.origin, pass);
            object.put(ours, node);
        }
    }
    in_words(object, pass);
    if names("as")
        .chain(["each"])
        .any(|key| object.string(key).is_some())
    {
        return;
    }
    let list = list(object);
    let name = element_name(object, list.as_deref().unwrap_or_default());
    pass.findings.mend(
        Code::SchemaMissing,
        at,
        "The each does not say what an element is called.",
        "each.as",
        format!("elements are called {name}"),
    );
    for (key, node) in &mut object.0 {
        if matches!(node.value, Value::Array(_) | Value::Object(_)) && key != "empty" {
            rename_this(node, &name);
        }
    }
    object.put("as", Node::string(at, name));
}

/// `item in items`, as template languages write it.
fn in_words(object: &mut Object, pass: &mut Pass<'_, '_>) {
    for key in ["for", "each", "in", "loop", "repeat", "expression"] {
        let parts = object.string(key).map(|text| {
            let words: Vec<&str> = super::super::text::path_of(text)
                .split_whitespace()
                .collect();
            match words.as_slice() {
                [name, "in" | "of", list] if notation::is_name(name) && notation::is_path(list) => {
                    Some(((*name).to_owned(), (*list).to_owned()))
                }
                [list] if key == "for" && notation::is_path(list) => {
                    Some((String::new(), (*list).to_owned()))
                }
                _ => None,
            }
        });
        let Some(Some((name, list))) = parts else {
            continue;
        };
        let Some(node) = object.remove(key) else {
            continue;
        };
        super::told(key, "in", "each", node.origin, pass);
        object.put("in", Node::string(node.origin, list));
        if !name.is_empty() && !object.has("as") {
            object.put("as", Node::string(node.origin, name));
        }
        return;
    }
}

/// The name that the body uses, else one for an element of the list.
fn element_name(object: &Object, list: &str) -> String {
    let body: Vec<&Node> = object
        .0
        .iter()
        .filter(|(_, node)| matches!(node.value, Value::Array(_) | Value::Object(_)))
        .map(|(_, node)| node)
        .collect();
    if body.iter().any(|node| mentions(node, "item.")) {
        return "item".to_owned();
    }
    let last = list.rsplit('.').next().unwrap_or(list);
    let one = match last.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => last.strip_suffix('s').unwrap_or_default().to_owned(),
    };
    if notation::is_path(&one) && notation::is_name(&one) {
        one
    } else {
        "item".to_owned()
    }
}

fn mentions(node: &Node, what: &str) -> bool {
    match &node.value {
        Value::String(text) => text.contains(what),
        Value::Array(items) => items.iter().any(|item| mentions(item, what)),
        Value::Object(object) => object.0.iter().any(|(_, node)| mentions(node, what)),
        _ => false,
    }
}

/// Makes `this` the element's name, but not inside a loop of its own.
fn rename_this(node: &mut Node, name: &str) {
    match &mut node.value {
        Value::String(text) => {
            if let Some(renamed) = renamed(text, name) {
                *text = renamed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_this(item, name)),
        Value::Object(object) => {
            let kind = object.string("type");
            let inner =
                kind.is_some_and(|kind| kind == "each" || grammar::alias(kind) == Some("each"));
            for (key, node) in &mut object.0 {
                if !inner || names("in").any(|name| name == key) {
                    rename_this(node, name);
                }
            }
        }
        _ => {}
    }
}

/// `text` with `this` as a path, or at the start of a variable, renamed.
fn renamed(text: &str, name: &str) -> Option<String> {
    if text == "this" || text.starts_with("this.") && notation::is_path(text) {
        return Some(text.replacen("this", name, 1));
    }
    if !text.contains("this") || !text.contains("{{") {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let after = rest.get(at..).unwrap_or_default();
        let start = after.len() - after.trim_start_matches(['{', ' ']).len();
        let (head, tail) = after.split_at(start);
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push_str(head);
        rest = tail;
        if let Some(more) = tail.strip_prefix("this")
            && !more.starts_with(|char: char| char.is_alphanumeric() || char == '_')
        {
            out.push_str(name);
            rest = more;
        }
    }
    out.push_str(rest);
    Some(out)
}
