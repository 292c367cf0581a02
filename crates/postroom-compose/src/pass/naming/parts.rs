//! Elements of lists and cells of tables that say more than one text, and words that are links.

use super::keys::told;
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{BlockRow, Form, TextUse},
    issue::Code,
    pass::{Pass, adopt},
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
];

/// Targets of a link around words.
const TARGETS: &[&str] = &["href", "url", "link", "to"];

fn plain(key: &str) -> String {
    let letters = key.chars().filter(|char| char.is_alphanumeric()).take(60);
    letters.flat_map(char::to_lowercase).collect()
}

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
