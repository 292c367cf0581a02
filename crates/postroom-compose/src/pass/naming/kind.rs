//! Types: by another name, or told by parent and keys.

use super::{
    Parent,
    held::holds_children,
    keys::{camel, told},
    particulars::{level_words, particulars},
    shown::{is_condition, is_inverse},
};
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar,
    issue::Code,
    pass::Pass,
};

/// Keys under which writers name the type, in any spelling: `block_type` too.
const TYPE_KEYS: &[&str] = &[
    "type",
    "kind",
    "component",
    "blockType",
    "componentType",
    "elementType",
    "nodeType",
    "tagName",
    "tag",
    "element",
    "widget",
    "block",
    "node",
];

/// Gives the block its type under our name.
pub(super) fn name_type(object: &mut Object, at: Origin, parent: Parent, pass: &mut Pass<'_, '_>) {
    if !object.has("type") {
        let known = |node: &Node| {
            node.as_str().is_some_and(|name| {
                grammar::block(name).is_some() || grammar::alias(name).is_some()
            })
        };
        let spelled = |key: &str| camel(key.trim_start_matches(['_', '@', '$']));
        let named = TYPE_KEYS.iter().find_map(|name| {
            let found = object
                .0
                .iter()
                .find(|(key, node)| spelled(key) == *name && known(node))?;
            Some(found.0.clone())
        });
        if let Some(key) = named
            && let Some(node) = object.remove(&key)
        {
            told(&key, "type", "a block", node.origin, pass);
            object.put("type", node);
        }
    }
    key_typed(object, pass);
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
    // Of a name like news-modules-text the last part tells.
    let last = written
        .as_deref()
        .and_then(|name| name.rsplit_once("-modules-"))
        .map(|(_, last)| last.to_owned());
    let written = last.or(written);
    // A profile that is called by its network.
    if parent.is_some_and(|row| row.name == "social")
        && let Some(name) = written.as_deref()
        && grammar::block(name).is_none()
        && grammar::alias(name).is_none()
        && !object.has("network")
        && let Some(node) = object.remove("type")
    {
        told("type", "network", "socialItem", node.origin, pass);
        object.put("network", node);
        object.put("type", Node::string(at, "socialItem"));
        return;
    }
    let found = match written.as_deref() {
        Some(name) => match grammar::block(name).map(|row| row.name) {
            Some(name) => Some(name),
            None => grammar::alias(name).or_else(|| near(name)),
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
    // HTML that holds blocks is no HTML.
    let listed = object
        .find("children")
        .is_some_and(|node| node.as_array().is_some());
    if found == "raw" && listed {
        found = if parent.is_none() { "body" } else { "section" };
    }
    // A row that holds no cells, outside a table, is what others call a section.
    let in_table = parent.is_some_and(|row| matches!(row.name, "table" | "row"));
    if found == "row" && !in_table && !holds_cells(object) {
        found = "section";
    }
    // A grid of things with titles or pictures is no table.
    let grid = written
        .as_deref()
        .is_some_and(|name| name.eq_ignore_ascii_case("grid"));
    if found == "table" && grid && holds_things(object) {
        found = "section";
    }
    // A call to action with words of its own is a band with a button in it.
    let called = written.as_deref().is_some_and(|name| {
        matches!(
            name.to_ascii_lowercase().as_str(),
            "cta" | "calltoaction" | "call-to-action" | "cta-section" | "ctablock"
        )
    });
    if found == "button" && called && is_band(object) {
        found = "section";
    }
    // Small print that holds blocks is one too.
    let holds_blocks = object
        .find("children")
        .and_then(Node::as_array)
        .is_some_and(|list| {
            list.iter().any(|child| {
                child.kind().is_some_and(|kind| {
                    !matches!(kind, "text" | "link" | "var" | "br" | "if" | "a" | "span")
                })
            })
        });
    if found == "footer" && holds_blocks {
        found = "section";
    }
    // What is a box in HTML holds blocks, or is words.
    let boxed = written.as_deref().is_some_and(|name| {
        matches!(
            name.to_ascii_lowercase().as_str(),
            "div" | "center" | "block" | "fragment" | "article" | "main"
        )
    });
    if boxed && !holds_children(object) {
        let words = ["text", "content", "children", "html", "value"]
            .iter()
            .any(|key| object.string(key).is_some());
        if words {
            found = "text";
        }
    }
    // Of a header one is a heading, another a band.
    if found == "section"
        && written
            .as_deref()
            .is_some_and(|name| name.eq_ignore_ascii_case("header"))
        && is_heading(object)
    {
        found = "heading";
    }
    if found == "if"
        && written
            .as_deref()
            .is_some_and(|name| name.eq_ignore_ascii_case("unless"))
    {
        let shown = object
            .0
            .iter_mut()
            .find(|(key, node)| is_condition(key, node) && !is_inverse(key));
        if let Some((key, _)) = shown {
            "unless".clone_into(key);
        }
    }
    if found == "heading" {
        level_words(object);
    }
    if object.string("type") == Some(found) {
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

/// The type whose name is a slip away.
fn near(name: &str) -> Option<&'static str> {
    if name.chars().count() < 4 {
        return matches!(name.to_ascii_lowercase().as_str(), "txt").then_some("text");
    }
    let rows = grammar::BLOCKS.iter().map(|row| row.name);
    grammar::nearest(name, rows).or_else(|| {
        let others = grammar::BLOCKS
            .iter()
            .flat_map(|row| row.aliases)
            .filter(|alias| alias.len() > 6)
            .copied();
        grammar::nearest(name, others).and_then(grammar::alias)
    })
}

/// A block whose type is a key that holds all of it: `{"button": {"label": "Go"}}`.
fn key_typed(object: &mut Object, pass: &mut Pass<'_, '_>) {
    const TYPES: &[&str] = &[
        "body", "section", "column", "panel", "hero", "heading", "button", "image", "divider",
        "spacer", "list", "table", "quote", "video", "social", "menu", "code", "footer", "text",
    ];
    const TAGS: &[(&str, &str)] = &[
        ("h1", "heading"),
        ("h2", "heading"),
        ("h3", "heading"),
        ("h4", "heading"),
        ("h5", "heading"),
        ("h6", "heading"),
        ("p", "text"),
        ("paragraph", "text"),
        ("small", "text"),
        ("ul", "list"),
        ("ol", "list"),
        ("hr", "divider"),
        ("br", "spacer"),
        ("img", "image"),
        ("blockquote", "quote"),
        ("pre", "code"),
    ];
    if object.has("type") {
        return;
    }
    let only = object.0.len() == 1;
    let found = object.0.iter().find_map(|(key, node)| {
        let kind = TYPES
            .iter()
            .find(|kind| key.eq_ignore_ascii_case(kind))
            .copied();
        // A tag of HTML says what it is only where nothing stands beside it.
        let tag = || {
            TAGS.iter()
                .find(|(tag, _)| only && tag == key)
                .map(|(_, kind)| *kind)
        };
        let named = kind.is_some();
        let kind = kind.or_else(tag)?;
        let fits = match &node.value {
            Value::Object(inner) => {
                only && !inner.has("type") && !inner.has("md") && kind != "text"
                    || only && inner.has("text")
            }
            Value::Array(_) => only && matches!(kind, "list" | "section" | "column" | "body"),
            Value::Bool(true) => only && matches!(kind, "divider" | "spacer"),
            Value::String(_) if !named => !matches!(kind, "list" | "divider" | "spacer"),
            Value::String(_) => {
                let others = object.0.iter().all(|(other, _)| {
                    other == key
                        || grammar::block(kind).is_some_and(|row| {
                            row.all().any(|own| {
                                own.name == other || own.aliases.contains(&other.as_str())
                            })
                        })
                });
                others && matches!(kind, "button" | "image" | "quote" | "footer" | "code")
            }
            _ => false,
        };
        fits.then(|| (key.clone(), kind))
    });
    let Some((key, kind)) = found else {
        return;
    };
    let Some(node) = object.remove(&key) else {
        return;
    };
    let at = node.origin;
    told(&key, "type", "a block", at, pass);
    match node.value {
        Value::Object(inner) => {
            for (key, node) in inner.0 {
                object.put(&key, node);
            }
        }
        Value::Array(_) => object.put("children", node),
        Value::String(_) => {
            let own =
                grammar::block(kind).and_then(|row| row.attributes.iter().find(|own| own.required));
            object.put(own.map_or("text", |own| own.name), node);
        }
        _ => {}
    }
    // Of a tag the level and the marker of a list are in the name.
    let name = if kind == "button" || grammar::alias(&key) != Some(kind) {
        kind
    } else {
        key.as_str()
    };
    object.put("type", Node::string(at, name));
}

/// Whether a call to action says more than its button does.
fn is_band(object: &Object) -> bool {
    let own = [
        "buttonText",
        "button_text",
        "buttonLabel",
        "button",
        "buttons",
        "headline",
        "heading",
        "description",
        "subtitle",
        "children",
        "blocks",
    ];
    own.iter().any(|key| object.has(key)) || object.has("title") && object.has("text")
}

/// Whether what is called a header is words and nothing else.
fn is_heading(object: &Object) -> bool {
    let text = ["text", "content"]
        .into_iter()
        .find_map(|key| object.find(key));
    let words = text.is_some_and(|text| match &text.value {
        Value::String(_) => true,
        Value::Object(inner) => inner.string("text").is_some(),
        _ => false,
    });
    let more = [
        "logo", "image", "title", "subtitle", "children", "links", "menu", "nav", "button", "cta",
    ];
    words && !more.iter().any(|key| object.has(key))
}

/// Whether it holds blocks, or objects that say a title, a picture or a price.
fn holds_things(object: &Object) -> bool {
    let is_thing = |item: &Node| {
        let Some(item) = item.as_object() else {
            return false;
        };
        let block = item
            .string("type")
            .is_some_and(|kind| !matches!(kind, "row" | "tr" | "cell" | "td" | "th" | "tablerow"));
        let keys = [
            "title",
            "image",
            "imageUrl",
            "image_url",
            "src",
            "icon",
            "blocks",
            "children",
        ];
        block || !item.has("type") && !item.has("cells") && keys.iter().any(|key| item.has(key))
    };
    let lists = [
        "children", "items", "cells", "columns", "cards", "blocks", "elements",
    ];
    let mut lists = lists.iter().filter_map(|key| object.find(key)?.as_array());
    lists.any(|items| items.iter().any(is_thing))
}

pub(super) fn holds_cells(object: &Object) -> bool {
    let children = ["children", "cells"]
        .into_iter()
        .find_map(|key| object.find(key));
    let children = children.and_then(Node::as_array).unwrap_or_default();
    object.has("cells")
        || children
            .iter()
            .any(|child| matches!(child.kind(), Some("cell" | "td" | "th" | "tablecell")))
}

/// The type of a block that states none.
pub(super) fn guess(object: &Object, parent: Parent) -> Option<&'static str> {
    let has = |key: &str| object.has(key);
    let said = |keys: &[&str]| keys.iter().any(|key| has(key));
    let holds = holds_children(object);
    let named = has("name") && said(&["price", "description", "bio", "role", "cta", "features"]);
    let titled = named || said(&["title", "headline", "heading", "subtitle"]);
    let worded = said(&[
        "content",
        "description",
        "body",
        "copy",
        "paragraph",
        "caption",
    ]);
    let pictured = said(&["image", "imageUrl", "image_url", "img", "thumbnail"]);
    match parent.map(|row| row.name) {
        Some("list") => return Some("item"),
        Some("table") => return Some("row"),
        Some("row") => return Some("cell"),
        Some("menu") => return Some("menuItem"),
        Some("social") => return Some("socialItem"),
        Some("section") if holds || titled && (worded || named || pictured) => {
            return Some("column");
        }
        Some("body" | "panel") if holds || titled || worded && !has("src") => {
            return Some("section");
        }
        Some("column" | "hero") if holds => return Some("section"),
        None if holds => return Some("body"),
        _ => {}
    }
    [
        ("cond", "if"),
        ("then", "if"),
        ("poster", "video"),
        ("src", "image"),
        ("href", "button"),
        ("label", "button"),
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
