//! Words that a writer put under keys which their block has not. A title, a text or a button of a
//! container goes into it, of a leaf beside it; whatever else holds words is never removed.

mod names;
mod said;

use names::{ALTS, Becomes, TARGETS, UNSUBSCRIBE_TARGETS, becomes, is_last, rank};
use said::{has_words_in, speaks};
pub(crate) use said::{is_address, is_look, is_target, leads, may_be_read, says_something};

use super::{Pass, plain};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, BlockRow, Form, Level},
    issue::Code,
};

/// Whether something under a key that `row` has not would be missed.
pub(crate) fn has_words_left(object: &Object, row: &BlockRow) -> bool {
    object
        .0
        .iter()
        .any(|(key, node)| is_stray(key, row) && says_something(key, node))
}

fn is_stray(key: &str, row: &BlockRow) -> bool {
    key != "type" && row.attribute(key).is_none() && row.holds(key).is_none()
}

/// Blocks that stood as keys of another one.
#[derive(Debug, Default)]
pub(crate) struct Adopted {
    /// Those that come before its own content.
    pub(crate) before: Vec<Node>,
    /// Those that come after it.
    pub(crate) after: Vec<Node>,
}

/// Takes words out of keys that `row` has not. What is around the block takes them when it has no
/// list of blocks of its own.
pub(crate) fn adopt(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) -> Adopted {
    let holds_blocks = holds_blocks(row);
    let mut adopted = Adopted::default();
    let mut keys: Vec<String> = object.0.iter().map(|(key, _)| key.clone()).collect();
    // JSON objects have no order that a writer could rely on.
    keys.sort_by_key(|key| rank(key));
    for key in keys {
        if !is_stray(&key, row) {
            continue;
        }
        let Some(node) = object.find(&key) else {
            continue;
        };
        // Of a code to type in the label says what it is.
        let label = row.name == "code" && plain(&key) == "label";
        let kind = becomes(&key).or(label.then_some(Becomes::Text));
        let found = match kind {
            Some(Becomes::Image) if !holds_blocks => None,
            // A company of a button, or its unsubscribe, is none of a mail.
            Some(
                Becomes::Unsubscribe
                | Becomes::Address
                | Becomes::Social
                | Becomes::Menu
                | Becomes::Facts
                | Becomes::List,
            ) if !holds_blocks && row.name != "footer" => None,
            // A tooltip, which is no caption.
            Some(Becomes::Heading(_)) if row.name == "image" => None,
            Some(kind) => made(kind, node, object, row),
            None if holds_blocks && is_blocks(node) => Some(blocks_of(node)),
            None => None,
        };
        let Some(mut found) = found.filter(|found| !found.is_empty()) else {
            continue;
        };
        // Who signs says more than words: name, title, company.
        if plain(&key) == "signature" && node.as_object().is_some_and(|node| !node.has("type")) {
            for block in found.iter_mut().filter_map(Node::as_object_mut) {
                block.put("type", Node::string(node.origin, "signature"));
            }
        }
        let at = node.origin;
        object.remove(&key);
        if found.iter().any(|node| node.kind() == Some("button")) {
            for target in TARGETS {
                if is_stray(target, row) && object.string(target).is_some() {
                    object.remove(target);
                }
            }
        }
        let led = |node: &Node| {
            node.kind() == Some("unsubscribe")
                && node.as_object().is_some_and(|object| object.has("text"))
        };
        if kind == Some(Becomes::Unsubscribe) && found.iter().any(led) {
            for target in UNSUBSCRIBE_TARGETS {
                if is_stray(target, row) && object.find(target).is_some_and(is_address) {
                    object.remove(target);
                }
            }
        }
        if kind == Some(Becomes::Image) && found.iter().any(has_alt) {
            for alt in ALTS {
                if is_stray(alt, row) && object.string(alt).is_some() {
                    object.remove(alt);
                }
            }
        }
        let shown: String = key.chars().take(60).collect();
        pass.findings.mend(
            Code::SchemaUnknownKey,
            at,
            format!(
                "{} has no key {shown:?}; its words are blocks of their own.",
                row.name
            ),
            "adopt",
            format!("{shown} of {} put into a block", row.name),
        );
        let first = match kind {
            Some(Becomes::Heading(3..)) if row.name == "heading" => false,
            Some(Becomes::Heading(_) | Becomes::Image) => true,
            Some(Becomes::Text) => {
                (holds_blocks || label || rank(&key) < 10) && !is_last(&key) || is_intro(row, &key)
            }
            Some(Becomes::Menu) => holds_blocks,
            Some(
                Becomes::Button
                | Becomes::Unsubscribe
                | Becomes::Address
                | Becomes::Social
                | Becomes::Facts
                | Becomes::List,
            )
            | None => false,
        };
        if first {
            adopted.before.extend(found);
        } else {
            adopted.after.extend(found);
        }
    }
    picture_target(object, row, &mut adopted, pass);
    adopted
}

/// The one address that is left beside a picture and no button is where the picture leads.
fn picture_target(
    object: &mut Object,
    row: &BlockRow,
    adopted: &mut Adopted,
    pass: &mut Pass<'_, '_>,
) {
    let mut made = adopted.before.iter_mut().chain(&mut adopted.after);
    if !holds_blocks(row) || made.any(|block| block.kind() == Some("button")) {
        return;
    }
    let mut targets = object
        .0
        .iter()
        .filter(|(key, node)| is_stray(key, row) && is_target(key, node));
    let (Some((key, _)), None) = (targets.next(), targets.next()) else {
        return;
    };
    let key = key.clone();
    let image = adopted
        .before
        .iter_mut()
        .find(|block| block.kind() == Some("image"))
        .and_then(Node::as_object_mut)
        .filter(|image| !["href", "link"].iter().any(|name| image.has(name)));
    let Some(image) = image else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    rename(pass, image, row, (&key, "href"), node);
}

/// The address of a block that has none under its own name: the only one beside its keys.
pub(crate) fn own_address(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let own = row
        .attributes
        .iter()
        .find(|own| own.required && matches!(own.form, Form::Url(_)));
    let Some(own) = own.filter(|_| row.name != "video") else {
        return;
    };
    let mut names = std::iter::once(&own.name).chain(own.aliases);
    if names.any(|name| object.find(name).is_some_and(|node| !node.is_null())) {
        return;
    }
    let known = |key: &str| {
        let mut all = row.all();
        all.any(|own| own.name == key || own.aliases.contains(&key))
    };
    // Also inside an object that only says what a press does.
    let inner = |node: &Node| {
        let object = node.as_object()?;
        let found = ["url", "href", "link"]
            .into_iter()
            .find_map(|key| object.find(key))?;
        let others = object.0.iter().all(|(key, other)| {
            matches!(
                key.as_str(),
                "url" | "href" | "link" | "type" | "target" | "kind"
            ) || other.is_null()
        });
        (others && is_address(found)).then(|| found.clone())
    };
    let mut found: Vec<(String, Node)> = object
        .0
        .iter()
        .filter(|(key, _)| !known(key) && is_stray(key, row))
        .filter_map(|(key, node)| {
            if is_target(key, node) {
                return Some((key.clone(), node.clone()));
            }
            Some((key.clone(), inner(node)?))
        })
        .collect();
    if found.len() != 1 {
        return;
    }
    let Some((key, node)) = found.pop() else {
        return;
    };
    object.remove(&key);
    rename(pass, object, row, (&key, own.name), node);
}

/// A table of names and values; `None` when it is something else.
fn facts(node: &Node) -> Option<Vec<Node>> {
    let at = node.origin;
    let scalar = |node: &Node| matches!(node.value, Value::String(_) | Value::Number(_));
    let fits = match &node.value {
        Value::Object(inner) => {
            !inner.has("type")
                && !inner.0.is_empty()
                && inner.0.iter().all(|(_, node)| scalar(node))
        }
        Value::Array(items) => {
            !items.is_empty()
                && items.iter().all(|item| {
                    item.as_object().is_some_and(|object| {
                        !object.has("type")
                            && (2..=4).contains(&object.0.len())
                            && object.0.iter().all(|(_, node)| scalar(node))
                    })
                })
        }
        Value::String(text) if has_words_in(text) => {
            return Some(vec![worded(Becomes::Text, node.clone(), at)]);
        }
        _ => false,
    };
    fits.then(|| vec![worded(Becomes::Facts, node.clone(), at)])
}

/// Whether a picture was made with the words beside its address.
fn has_alt(node: &Node) -> bool {
    node.as_object()
        .is_some_and(|object| object.has("alt") && object.0.len() == 3)
}

/// The words of a leaf that has none under its own name: those of the first key that tells some.
pub(crate) fn own_words(object: &mut Object, row: &BlockRow, pass: &mut Pass<'_, '_>) {
    let own = row.attributes.iter().find(|own| {
        own.required && matches!(own.form, Form::Text(_)) && matches!(row.level, Level::Leaf)
    });
    let Some(own) = own else {
        return;
    };
    let mut names = std::iter::once(&own.name).chain(own.aliases);
    if names.any(|name| object.find(name).is_some_and(|node| !node.is_null())) || object.has("md") {
        return;
    }
    let heads = matches!(row.name, "heading" | "button");
    let fits = |key: &str, node: &Node| {
        let kind = becomes(key);
        let fits = match kind {
            Some(Becomes::Heading(_) | Becomes::Text) => true,
            Some(Becomes::Button) => row.name == "button",
            _ => matches!(
                (row.name, plain(key).as_str()),
                ("quote", "quote" | "testimonial" | "statement" | "review")
                    | ("text", "lines" | "defaulttext")
                    | ("button", "name")
                    | ("heading" | "text" | "button", "label")
            ),
        };
        fits && is_stray(key, row) && says_something(key, node)
            || fits && kind.is_none() && speaks(node, 1)
    };
    let place = |key: &str| match becomes(key) {
        Some(Becomes::Heading(level)) if heads => level,
        Some(Becomes::Heading(level)) => 20 + level,
        Some(Becomes::Button) => 1,
        None => 2,
        _ => 10,
    };
    let keys = object.0.iter().filter(|(key, node)| fits(key, node));
    let Some(key) = keys
        .map(|(key, _)| key.clone())
        .min_by_key(|key| place(key))
    else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    rename(pass, object, row, (&key, own.name), node);
}

/// Gives what stood under a stray key the name that the block has for it, and says so.
fn rename(
    pass: &mut Pass<'_, '_>,
    object: &mut Object,
    row: &BlockRow,
    (key, name): (&str, &'static str),
    node: Node,
) {
    let shown: String = key.chars().take(60).collect();
    pass.findings.mend(
        Code::SchemaUnknownKey,
        node.origin,
        format!("The key of {} is {name}, not {shown}.", row.name),
        "key.alias",
        format!("{shown} to {name}"),
    );
    object.put(name, node);
}

/// Whether blocks of a column can stand in it, once wrapped.
pub(crate) fn holds_blocks(row: &BlockRow) -> bool {
    row.level == Level::Control
        || matches!(row.name, "body" | "panel" | "section" | "hero" | "column")
}

/// Whether the words of a list or table come before it.
fn is_intro(row: &BlockRow, key: &str) -> bool {
    matches!(row.name, "list" | "table" | "menu" | "social")
        && becomes(key) == Some(Becomes::Text)
        && plain(key) != "caption"
}

/// Whether a value is a list of blocks, or a block.
fn is_blocks(node: &Node) -> bool {
    let is_block = |node: &Node| node.as_object().is_some_and(|object| object.has("type"));
    match &node.value {
        Value::Array(items) => !items.is_empty() && items.iter().all(is_block),
        _ => is_block(node),
    }
}

fn blocks_of(node: &Node) -> Vec<Node> {
    match &node.value {
        Value::Array(items) => items.clone(),
        _ => vec![node.clone()],
    }
}

/// The blocks that a value under a telling key means.
fn made(kind: Becomes, node: &Node, object: &Object, row: &BlockRow) -> Option<Vec<Node>> {
    let at = node.origin;
    if matches!(kind, Becomes::Social | Becomes::Menu) {
        let holds = match &node.value {
            Value::Array(items) => items.iter().all(|item| item.as_object().is_some()),
            Value::Object(inner) => !inner.has("type"),
            _ => false,
        };
        if !holds {
            return None;
        }
    }
    if kind == Becomes::Facts {
        return facts(node);
    }
    match &node.value {
        Value::Array(_) if matches!(kind, Becomes::Social | Becomes::Menu) => {
            Some(vec![worded(kind, node.clone(), at)])
        }
        Value::Object(inner) if matches!(kind, Becomes::Social | Becomes::Menu) => {
            let mut inner = inner.clone();
            if inner.0.iter().all(|(_, node)| node.as_str().is_some()) {
                let links = Node::new(at, Value::Object(inner));
                return Some(vec![worded(kind, links, at)]);
            }
            inner.put("type", Node::string(at, kind.block()));
            Some(vec![Node::new(at, Value::Object(inner))])
        }
        // Blocks, not spans.
        Value::Array(items) if items.iter().any(is_other_block) => Some(items.clone()),
        Value::Array(items) if kind == Becomes::Button => {
            let all = items.iter().map(|item| made(kind, item, object, row));
            all.collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
        Value::Object(inner) if is_other_block(node) => {
            Some(vec![Node::new(at, Value::Object(inner.clone()))])
        }
        Value::Object(inner) if inner.has("md") && kind != Becomes::Button => {
            Some(vec![worded(kind, node.clone(), at)])
        }
        Value::Object(inner) if has_words(inner) => {
            let mut inner = inner.clone();
            inner.put("type", Node::string(at, kind.block()));
            Some(vec![Node::new(at, Value::Object(inner))])
        }
        Value::Object(inner) if kind == Becomes::Address && !inner.0.is_empty() => {
            let lines: Vec<Node> = inner
                .0
                .iter()
                .map(|(_, line)| line.clone())
                .filter(|line| speaks(line, 1))
                .collect();
            let said = lines.len() == inner.0.len();
            said.then(|| vec![worded(kind, Node::array(at, lines), at)])
        }
        Value::String(_) if kind == Becomes::Unsubscribe && is_address(node) => {
            let href = vec![("href", node.clone())];
            Some(vec![Node::block(at, "unsubscribe", href)])
        }
        Value::String(text) if kind == Becomes::Unsubscribe && has_words_in(text) => {
            let mut block = worded(kind, node.clone(), at);
            let stray =
                |key: &&&str| is_stray(key, row) && object.find(key).is_some_and(is_address);
            let target = UNSUBSCRIBE_TARGETS.iter().find(stray);
            let target = target.and_then(|key| object.find(key));
            if let (Some(block), Some(target)) = (block.as_object_mut(), target) {
                block.put("href", target.clone());
            }
            Some(vec![block])
        }
        Value::Number(_) if matches!(kind, Becomes::Heading(_) | Becomes::Text) => {
            Some(vec![worded(kind, node.clone(), at)])
        }
        Value::String(_) if kind == Becomes::Image && is_address(node) => {
            let mut image = worded(kind, node.clone(), at);
            let stray = |key: &&&str| is_stray(key, row) && object.string(key).is_some();
            let alt = ALTS.iter().find(stray).and_then(|key| object.find(key));
            if let (Some(image), Some(alt)) = (image.as_object_mut(), alt) {
                image.put("alt", alt.clone());
            }
            Some(vec![image])
        }
        Value::String(_) if kind == Becomes::Image => None,
        Value::String(text) if kind == Becomes::Button && has_words_in(text) => {
            let stray = |key: &&&str| is_stray(key, row) && object.string(key).is_some();
            let target = TARGETS.iter().find(stray).and_then(|key| object.find(key));
            let mut button = worded(kind, node.clone(), at);
            if let (Some(button), Some(target)) = (button.as_object_mut(), target) {
                button.put("href", target.clone());
            }
            Some(vec![button])
        }
        Value::String(text) if has_words_in(text) => Some(vec![worded(kind, node.clone(), at)]),
        Value::Array(items) if !items.is_empty() && kind != Becomes::Image => {
            let spoken = items
                .iter()
                .any(|item| speaks(item, 1) || item.as_object().is_some());
            spoken.then(|| vec![worded(kind, node.clone(), at)])
        }
        _ => None,
    }
}

/// Whether a value is a block that no text takes as a span.
fn is_other_block(node: &Node) -> bool {
    let Some(object) = node.as_object() else {
        return false;
    };
    let kind = object.string("type");
    let known =
        kind.is_some_and(|kind| grammar::block(kind).is_some() || grammar::alias(kind).is_some());
    known
        && (super::text::is_block(node)
            || kind == Some("text")
                && object.has("type")
                && !object.has("marks")
                && object
                    .find("text")
                    .is_some_and(|text| text.as_str().is_none()))
}

fn has_words(object: &Object) -> bool {
    object.0.iter().any(|(key, node)| {
        (becomes(key).is_some()
            || matches!(
                plain(key).as_str(),
                "label" | "src" | "url" | "href" | "value"
            ))
            && node.as_str().is_some()
    })
}

fn worded(kind: Becomes, node: Node, at: Origin) -> Node {
    let key = match kind {
        Becomes::Heading(_) | Becomes::Text | Becomes::Unsubscribe => "text",
        Becomes::Address => "lines",
        Becomes::Social | Becomes::Menu | Becomes::Facts | Becomes::List => "children",
        Becomes::Button => "label",
        Becomes::Image => "src",
    };
    let mut keys = vec![(key, node)];
    if let Becomes::Heading(level @ 3..) = kind {
        keys.push(("level", Node::number(at, f64::from(level))));
    }
    Node::block(at, kind.block(), keys)
}
