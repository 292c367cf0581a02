//! Elements of lists and cells of tables that say more than one text, and words that are links.

use super::keys::told;
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{BlockRow, Form, TextUse},
    issue::Code,
    pass::{Pass, adopt, plain},
};

/// What comes before the words of an element, and after them, by letters in lower case.
const BEFORE: &[&str] = &[
    "title", "heading", "headline", "term", "name", "date", "time", "step", "question", "label",
];
const WORDS: &[&str] = &[
    "text", "content", "body", "html", "value", "label", "markdown", "children",
];
const AFTER: &[&str] = &[
    "subtitle",
    "value",
    "description",
    "desc",
    "details",
    "detail",
    "definition",
    "answer",
    "copy",
    "caption",
    "note",
    "summary",
    "message",
    "price",
    "amount",
    "location",
    "place",
    "venue",
    "role",
];

/// Targets of a link around words.
const TARGETS: &[&str] = &["href", "url", "link", "to"];

/// Whether a value is words that can be put beside others.
fn is_words(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(_) => true,
        Value::Array(spans) => !spans.is_empty() && spans.iter().all(|span| !is_list(span)),
        Value::Object(object) => object.has("md") || object.has("text"),
        _ => false,
    }
}

fn is_list(node: &Node) -> bool {
    node.as_array().is_some()
}

fn spans(node: Node) -> Vec<Node> {
    match node.value {
        Value::Array(spans) => spans,
        Value::Number(number) => vec![Node::string(node.origin, number.to_string())],
        value => vec![Node::new(node.origin, value)],
    }
}

/// Elements that stand inside another one follow it: lists have one level.
pub(super) fn nested_items(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    const INNER: &[&str] = &["items", "children", "subitems", "sublist", "list"];
    if row.name != "list" {
        return;
    }
    let Some(items) = object.find_mut("children").and_then(Node::as_array_mut) else {
        return;
    };
    let mut all = Vec::with_capacity(items.len());
    for mut item in std::mem::take(items) {
        let at = item.origin;
        let mut inner = None;
        if let Some(object) = item.as_object_mut()
            && WORDS
                .iter()
                .chain(BEFORE)
                .any(|key| *key != "children" && object.has(key))
            && let Some(key) = INNER.iter().find(|key| {
                let list = object.find(key).and_then(Node::as_array);
                list.is_some_and(|list| {
                    let is_item = |node: &Node| {
                        node.as_str().is_some()
                            || matches!(node.kind(), Some("item" | "li" | "listItem"))
                            || node.as_object().is_some_and(|object| !object.has("type"))
                    };
                    !list.is_empty() && list.iter().all(is_item)
                })
            })
        {
            inner = object.remove(key);
        }
        all.push(item);
        if let Some(Value::Array(inner)) = inner.map(|node| node.value) {
            pass.findings.mend(
                Code::Grammar,
                at,
                "A list stands in an item; lists have one level.",
                "unwrap",
                "inner items put after it",
            );
            all.extend(inner);
        }
    }
    *items = all;
}

/// Puts title, words and description of an element of a list or of a cell into its one text.
pub(super) fn join_words(object: &mut Object, row: &BlockRow, at: Origin, pass: &mut Pass<'_, '_>) {
    if !matches!(row.name, "item" | "cell") {
        return;
    }
    let found: Vec<String> = object
        .0
        .iter()
        .filter(|(key, node)| {
            let key = plain(key);
            let known = [BEFORE, WORDS, AFTER].concat().contains(&key.as_str());
            known && is_words(node)
        })
        .map(|(key, _)| key.clone())
        .collect();
    let strays = found.iter().any(|key| {
        row.attributes
            .iter()
            .all(|own| own.name != key && !own.aliases.contains(&key.as_str()))
    });
    if found.len() < 2 && !strays {
        return;
    }
    let has = |key: &str| found.iter().any(|name| plain(name) == key);
    // A label beside a value is its name.
    let labelled = has("label") && found.len() > 1;
    let place = |key: &str| -> usize {
        let key = plain(key);
        let at = |list: &[&str]| list.iter().position(|name| *name == key);
        if let Some(at) = at(BEFORE).filter(|_| key != "label" || labelled) {
            at
        } else if let Some(at) = at(WORDS) {
            100 + at
        } else {
            200 + at(AFTER).unwrap_or(0)
        }
    };
    let mut ordered = found.clone();
    ordered.sort_by_key(|key| place(key));
    let several = ordered.len() > 1;
    let mut text = Vec::new();
    for key in &ordered {
        let Some(node) = object.remove(key) else {
            continue;
        };
        let origin = node.origin;
        if !text.is_empty() {
            text.push(Node::block(origin, "br", Vec::new()));
        }
        match node.value {
            Value::String(words) if several && place(key) < 100 => {
                let bold = Node::array(origin, vec![Node::string(origin, "bold")]);
                let keys = vec![("text", Node::string(origin, words)), ("marks", bold)];
                text.push(Node::block(origin, "text", keys));
            }
            value => text.extend(spans(Node::new(origin, value))),
        }
    }
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("The words of one {} are its text.", row.name),
        "adopt",
        format!("{} joined to text", ordered.join(", ")),
    );
    object.put("text", Node::array(at, text));
}

/// Words of a button or link that bring their target along: `{"label": .., "href": ..}`.
pub(super) fn words_with_target(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    if !matches!(row.name, "button" | "menuItem") {
        return;
    }
    for key in ["label", "text", "content", "value"] {
        let inner = object.find(key).and_then(Node::as_object);
        let Some(inner) = inner
            .filter(|inner| !inner.has("type") && TARGETS.iter().any(|target| inner.has(target)))
        else {
            continue;
        };
        let (inner, at) = (
            inner.clone(),
            object.find(key).map_or(0, |node| node.origin),
        );
        object.remove(key);
        told(key, "the block itself", row.name, at, pass);
        for (key, node) in inner.0 {
            if !object.has(&key) {
                object.put(&key, node);
            }
        }
        return;
    }
}

/// An address beside words that cannot be followed makes them a link.
pub(super) fn link_words(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let Some(words) = row
        .attributes
        .iter()
        .find(|own| own.required && matches!(own.form, Form::Text(TextUse::Rich)))
    else {
        return;
    };
    let target = TARGETS.iter().find(|key| {
        row.attribute(key).is_none() && object.find(key).is_some_and(adopt::is_address)
    });
    let Some(target) = target else {
        return;
    };
    let text = std::iter::once(&words.name)
        .chain(words.aliases)
        .find(|key| object.find(key).is_some_and(is_words));
    let Some(text) = text else {
        return;
    };
    let linked = |node: &Node| {
        let spans = node.as_array().unwrap_or_default();
        spans.iter().any(|span| span.kind() == Some("link"))
    };
    if object.find(text).is_some_and(linked) {
        return;
    }
    let (Some(inner), Some(address)) = (object.remove(text), object.remove(target)) else {
        return;
    };
    let at = inner.origin;
    told(target, "a link", row.name, address.origin, pass);
    let children = Node::array(at, spans(inner));
    let link = Node::block(at, "link", vec![("href", address), ("children", children)]);
    object.put(words.name, Node::array(at, vec![link]));
}

/// Who said it, as what and where, in one line.
pub(super) fn cite(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    const WHO: &[&str] = &[
        "cite",
        "author",
        "name",
        "citation",
        "source",
        "attribution",
        "person",
        "speaker",
    ];
    const WHAT: &[&str] = &[
        "role",
        "title",
        "position",
        "jobTitle",
        "company",
        "organization",
    ];
    if row.name != "quote" {
        return;
    }
    // A person as an object, with keys of the same names.
    let mut inner = Object::default();
    for key in WHO {
        if let Some(found) = object.find(key).and_then(Node::as_object)
            && found.0.iter().any(|(key, node)| {
                node.as_str().is_some() && WHO.iter().chain(WHAT).any(|known| known == key)
            })
            && !found.has("type")
            && !found.has("md")
        {
            inner = found.clone();
            object.remove(key);
            break;
        }
    }
    for (key, node) in inner.0 {
        if !object.has(&key) {
            object.put(&key, node);
        }
    }
    let said = |key: &&&str| {
        object
            .string(key)
            .is_some_and(|text| !text.trim().is_empty())
    };
    let who: Vec<&&str> = WHO.iter().filter(said).take(1).collect();
    let what: Vec<&&str> = WHAT.iter().filter(said).collect();
    let keys: Vec<&str> = who.into_iter().chain(what).copied().collect();
    if keys.is_empty() || keys == ["cite"] {
        return;
    }
    let words: Vec<String> = keys
        .iter()
        .filter_map(|key| object.string(key).map(|text| text.trim().to_owned()))
        .collect();
    let mut at = None;
    for key in &keys {
        at = at.or(object.remove(key).map(|node| node.origin));
    }
    let Some(at) = at else {
        return;
    };
    told(&keys.join(", "), "cite", row.name, at, pass);
    object.put("cite", Node::string(at, words.join(", ")));
}

/// Names of lines of small print, in order.
const LINES: &[&str] = &[
    "lines",
    "text",
    "content",
    "company",
    "companyName",
    "company_name",
    "address",
    "companyAddress",
    "postalAddress",
    "phone",
    "email",
    "links",
    "copyright",
    "legal",
    "disclaimer",
    "note",
    "legalText",
];

/// Puts what small print says under other keys into its lines.
pub(super) fn small_print(
    object: &mut Object,
    row: &BlockRow,
    at: Origin,
    pass: &mut Pass<'_, '_>,
) {
    if row.name != "footer" && row.name != "address" {
        return;
    }
    let keys: Vec<&str> = if row.name == "footer" {
        LINES.to_vec()
    } else {
        vec![
            "lines",
            "text",
            "content",
            "name",
            "company",
            "companyName",
            "street",
            "line1",
            "line2",
            "address",
            "zip",
            "postalCode",
            "city",
            "state",
            "region",
            "country",
        ]
    };
    let found: Vec<&str> = keys
        .into_iter()
        .filter(|key| {
            object
                .find(key)
                .is_some_and(|node| line_of(key, node).is_some())
        })
        .collect();
    if found
        .iter()
        .all(|key| matches!(*key, "lines" | "text" | "content"))
        && found.len() < 2
    {
        return;
    }
    let mut lines = Vec::new();
    for key in &found {
        let line = object.remove(key).and_then(|node| line_of(key, &node));
        lines.extend(line.unwrap_or_default());
    }
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("What a {} says are its lines.", row.name),
        "adopt",
        format!("{} joined to lines", found.join(", ")),
    );
    object.put("lines", Node::array(at, lines));
}

/// The lines that a value of small print makes; `None` when it makes none.
fn line_of(key: &str, node: &Node) -> Option<Vec<Node>> {
    let at = node.origin;
    match &node.value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| Node::string(at, line))
                .collect(),
        ),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) if key == "links" => items.iter().map(link_of).collect(),
        Value::Array(items) => items.iter().all(is_words).then(|| items.clone()),
        Value::Object(object) if key.to_lowercase().contains("address") => object
            .0
            .iter()
            .map(|(_, line)| line.as_str().map(|_| line.clone()))
            .collect(),
        Value::Object(object) if object.has("md") => Some(vec![node.clone()]),
        _ => None,
    }
}

/// A link that is words and a target.
fn link_of(node: &Node) -> Option<Node> {
    let at = node.origin;
    let object = node.as_object()?;
    let words = ["text", "label", "title", "name", "content"]
        .into_iter()
        .find_map(|key| object.find(key))
        .filter(|words| is_words(words))?;
    let target = TARGETS.iter().find_map(|key| object.find(key))?;
    if object.0.len() != 2 + usize::from(object.has("type")) {
        return None;
    }
    let children = Node::array(at, spans(words.clone()));
    Some(Node::block(
        at,
        "link",
        vec![("href", target.clone()), ("children", children)],
    ))
}
