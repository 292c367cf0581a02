//! Subject, preview line and language by other names, and outside `meta`.

use crate::{
    draft::{Node, Object, Value},
    grammar,
    issue::Code,
    pass::{Pass, naming, plain},
};

/// Names of the object around them.
const AROUND: &[&str] = &[
    "metadata", "head", "headers", "header", "info", "envelope", "settings",
];

/// Keys of `meta`.
const KEYS: &[&str] = &["subject", "preheader", "title", "lang", "dir"];

/// Other names, by letters and digits in lower case.
const NAMES: &[(&str, &str)] = &[
    ("subjectline", "subject"),
    ("subjecttext", "subject"),
    ("emailsubject", "subject"),
    ("mailsubject", "subject"),
    ("preview", "preheader"),
    ("previewtext", "preheader"),
    ("previewline", "preheader"),
    ("preheadertext", "preheader"),
    ("preheaderline", "preheader"),
    ("inboxpreview", "preheader"),
    ("snippet", "preheader"),
    ("language", "lang"),
    ("locale", "lang"),
    ("langcode", "lang"),
    ("direction", "dir"),
];

/// Names that mean the same inside `meta` when nothing else there does.
const LOOSE: &[(&str, &str)] = &[
    ("headline", "subject"),
    ("topic", "subject"),
    ("teaser", "preheader"),
    ("description", "preheader"),
    ("summary", "preheader"),
];

/// Our name of a key of `meta`, if it is near to one.
fn ours(key: &str) -> Option<&'static str> {
    let plain = plain(key);
    let same = KEYS.iter().find(|name| **name == plain).copied();
    let other = || NAMES.iter().find(|(name, _)| *name == plain);
    same.or_else(|| other().map(|(_, ours)| *ours))
        .or_else(|| grammar::nearest(&plain, ["subject", "preheader"].into_iter()))
}

/// Our name of a key that says something like it.
fn loosely(key: &str) -> Option<&'static str> {
    let plain = plain(key);
    let found = LOOSE.iter().find(|(name, _)| *name == plain);
    found.map(|(_, ours)| *ours)
}

/// Gives `meta` and its keys our names, and puts what belongs there into it.
pub(super) fn settle(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let is_meta = |node: &Node| {
        let mut keys = node.as_object().into_iter().flat_map(|inner| &inner.0);
        keys.any(|(key, _)| matches!(ours(key), Some("subject" | "preheader")))
    };
    if !object.has("meta")
        && let Some(key) = AROUND
            .iter()
            .find(|key| object.find(key).is_some_and(is_meta))
        && let Some(node) = object.remove(key)
    {
        told(key, "meta", "the document", node.origin, pass);
        object.put("meta", node);
    }
    if let Some(meta) = object.find_mut("meta").and_then(Node::as_object_mut) {
        naming::lower(meta, "meta", pass);
        rename(meta, ours, pass);
        rename(meta, loosely, pass);
    }
    let keys: Vec<String> = object.0.iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        let known = grammar::DOCUMENT.iter().any(|row| row.name == key);
        if !known && let Some(ours) = ours(&key) {
            into_meta(object, &key, ours, pass);
        }
    }
}

/// Takes subject and preview line out of the body: under keys of its own, or as blocks that are no
/// blocks but a preview line.
pub(super) fn out_of_body(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let mut found: Vec<(&'static str, Node)> = Vec::new();
    if let Some(body) = object.find_mut("root").and_then(Node::as_object_mut) {
        take_named(body, &mut found);
        for key in ["values", "props", "settings", "data"] {
            if let Some(inner) = body.find_mut(key).and_then(Node::as_object_mut) {
                take_named(inner, &mut found);
            }
        }
        let children = body.find_mut("children").and_then(Node::as_array_mut);
        for child in children.into_iter().flatten() {
            take_preview(child, &mut found, 0);
        }
        if let Some(children) = body.find_mut("children").and_then(Node::as_array_mut) {
            children.retain(|child| !child.is_null());
        }
    }
    for (ours, node) in found {
        let key = format!("{ours} of the body");
        let has = object
            .find("meta")
            .and_then(Node::as_object)
            .is_some_and(|meta| meta.has(ours));
        if has {
            // It says something else than what is there: words of the mail, where they stood.
            let at = node.origin;
            let body = object.find_mut("root").and_then(Node::as_object_mut);
            let children = body.and_then(|body| body.find_mut("children"));
            if let Some(children) = children.and_then(Node::as_array_mut) {
                children.insert(0, Node::block(at, "text", vec![("text", node)]));
            }
            continue;
        }
        object.put(&key, node);
        into_meta(object, &key, ours, pass);
    }
}

fn take_named(object: &mut Object, found: &mut Vec<(&'static str, Node)>) {
    let keys: Vec<(String, &'static str)> = object
        .0
        .iter()
        .filter(|(_, node)| node.as_str().is_some())
        .filter_map(|(key, _)| Some((key.clone(), ours(key)?)))
        .filter(|(_, ours)| matches!(*ours, "subject" | "preheader"))
        .collect();
    for (key, ours) in keys {
        if let Some(node) = object.remove(&key) {
            found.push((ours, node));
        }
    }
}

/// Takes blocks that are a preview line out of the head of a body, and of what is called a head.
fn take_preview(node: &mut Node, found: &mut Vec<(&'static str, Node)>, depth: usize) {
    let Some(object) = node.as_object_mut() else {
        return;
    };
    let kind = ["type", "tagName", "component"]
        .into_iter()
        .find_map(|key| object.string(key));
    let kind = plain(kind.unwrap_or_default());
    let ours = match kind.strip_prefix("mj").unwrap_or(&kind) {
        "preview" | "preheader" => "preheader",
        "title" if depth > 0 => "title",
        "head" if depth == 0 => {
            let list = object.find_mut("children").and_then(Node::as_array_mut);
            let list = list.map(std::mem::take).unwrap_or_default();
            let mut left = Vec::new();
            for mut child in list {
                take_preview(&mut child, found, depth + 1);
                if !child.is_null() {
                    left.push(child);
                }
            }
            let nothing = left.is_empty()
                && object.0.iter().all(|(key, _)| {
                    matches!(key.as_str(), "type" | "tagName" | "children" | "component")
                });
            if nothing {
                *node = Node::new(node.origin, Value::Null);
            } else {
                object.put("children", Node::array(0, left));
            }
            return;
        }
        _ => return,
    };
    let inner = object.find("props").and_then(Node::as_object);
    let words = ["text", "content", "children", "value"]
        .into_iter()
        .find_map(|key| {
            object
                .find(key)
                .or_else(|| inner.and_then(|inner| inner.find(key)))
        });
    let words = match words.map(|words| (words, &words.value)) {
        Some((words, Value::String(_))) => Some(words.clone()),
        Some((_, Value::Array(items))) => match items.as_slice() {
            [one] if one.as_str().is_some() => Some(one.clone()),
            _ => None,
        },
        _ => None,
    };
    if let Some(words) = words {
        found.push((ours, words));
        *node = Node::new(node.origin, Value::Null);
    }
}

fn rename(meta: &mut Object, named: fn(&str) -> Option<&'static str>, pass: &mut Pass<'_, '_>) {
    for at in 0..meta.0.len() {
        let Some((key, node)) = meta.0.get(at) else {
            continue;
        };
        let Some(ours) = named(key).filter(|ours| !meta.has(ours)) else {
            continue;
        };
        let (was, origin) = (key.clone(), node.origin);
        told(&was, ours, "meta", origin, pass);
        if let Some(place) = meta.0.get_mut(at) {
            ours.clone_into(&mut place.0);
        }
    }
}

/// Moves a key of the document into `meta`.
fn into_meta(object: &mut Object, key: &str, ours: &str, pass: &mut Pass<'_, '_>) {
    let Some(node) = object.remove(key) else {
        return;
    };
    let at = node.origin;
    if !object.has("meta") {
        object.put("meta", Node::new(at, Value::Object(Object::default())));
    }
    let meta = object.find_mut("meta").and_then(Node::as_object_mut);
    match meta {
        Some(meta) if !meta.has(ours) => {
            meta.put(ours, node);
            pass.findings.mend(
                Code::SchemaUnknownKey,
                at,
                format!("{key} stands in meta."),
                "key.alias",
                format!("{key} to meta.{ours}"),
            );
        }
        // The same once more says nothing.
        Some(meta) if meta.find(ours).is_some_and(|own| own.value == node.value) => {
            pass.findings.mend(
                Code::SchemaUnknownKey,
                at,
                format!("{key} stands in meta, and there it is."),
                "key.drop",
                format!("{key} removed, meta.{ours} says the same"),
            );
        }
        _ => object.put(key, node),
    }
}

fn told(other: &str, ours: &str, owner: &str, at: u32, pass: &mut Pass<'_, '_>) {
    let shown: String = other.chars().take(60).collect();
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("The key of {owner} is {ours}, not {shown}."),
        "key.alias",
        format!("{shown} to {ours}"),
    );
}
