//! Types: by another name, or told by parent and keys.

use super::{
    Parent,
    held::holds_children,
    keyed::key_typed,
    keys::{camel, told},
    looks,
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
    under_type(object, pass);
    key_typed(object, pass);
    if looks::heading_variant(object) {
        told("variant", "level", "a heading", at, pass);
    }
    let written = match object.find("type") {
        Some(node) => match node.as_str() {
            // Of a name like news-modules-text the last part tells.
            Some(text) => Some(match text.rsplit_once("-modules-") {
                Some((_, last)) => last.to_owned(),
                None => text.to_owned(),
            }),
            None => {
                let message = format!("type is a string, not {}.", node.what());
                pass.findings.report(Code::SchemaType, node.origin, message);
                return;
            }
        },
        None => None,
    };
    let written = written.as_deref();
    if network_typed(object, written, at, parent, pass) {
        return;
    }
    let found = match written {
        Some(name) => match grammar::block(name).map(|row| row.name) {
            Some(name) => Some(name),
            None => grammar::alias(name).or_else(|| near(name)),
        },
        None => guess(object, parent),
    };
    let Some(found) = found else {
        if written.is_none() {
            pass.findings
                .report(Code::SchemaMissing, at, "The block has no type.");
        }
        return;
    };
    let found = by_content(found, written, object, parent);
    if found == "if" && written.is_some_and(|name| name.eq_ignore_ascii_case("unless")) {
        turn_round(object);
    }
    if found == "heading" {
        level_words(object);
    }
    if object.string("type") == Some(found) {
        return;
    }
    let was = written.unwrap_or("nothing");
    particulars(object, was, at);
    let code = if written.is_some() {
        Code::BlockUnknown
    } else {
        Code::SchemaMissing
    };
    pass.findings.mend(
        code,
        at,
        format!("The block's type is {was}, which we call {found}."),
        "alias",
        format!("{was} to {found}"),
    );
    object.put("type", Node::string(at, found));
}

/// Puts a type that stands under another key under `type`.
fn under_type(object: &mut Object, pass: &mut Pass<'_, '_>) {
    if object.has("type") {
        return;
    }
    let known = |node: &Node| {
        node.as_str()
            .is_some_and(|name| grammar::block(name).is_some() || grammar::alias(name).is_some())
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

/// Makes a profile of what is called by its network; false when it is none.
fn network_typed(
    object: &mut Object,
    written: Option<&str>,
    at: Origin,
    parent: Parent,
    pass: &mut Pass<'_, '_>,
) -> bool {
    let in_social = parent.is_some_and(|row| row.name == "social");
    let named = written
        .is_some_and(|name| grammar::block(name).is_none() && grammar::alias(name).is_none());
    if !in_social || !named || object.has("network") {
        return false;
    }
    let Some(node) = object.remove("type") else {
        return false;
    };
    told("type", "network", "socialItem", node.origin, pass);
    object.put("network", node);
    object.put("type", Node::string(at, "socialItem"));
    true
}

/// The type that is meant where a name has several meanings and what the block holds tells which.
fn by_content(
    found: &'static str,
    written: Option<&str>,
    object: &Object,
    parent: Parent,
) -> &'static str {
    let name = written.map(str::to_ascii_lowercase).unwrap_or_default();
    let children = object.find("children").and_then(Node::as_array);
    match found {
        // HTML that holds blocks is no HTML.
        "raw" if children.is_some() => {
            if parent.is_none() {
                "body"
            } else {
                "section"
            }
        }
        // A row that holds no cells, outside a table, is what others call a section.
        "row"
            if !parent.is_some_and(|parent| matches!(parent.name, "table" | "row"))
                && !holds_cells(object) =>
        {
            "section"
        }
        // A grid of things with titles or pictures is no table.
        "table" if name == "grid" && holds_things(object) => "section",
        // A call to action with words of its own is a band with a button in it.
        "button"
            if matches!(
                name.as_str(),
                "cta" | "calltoaction" | "call-to-action" | "cta-section" | "ctablock"
            ) && is_band(object) =>
        {
            "section"
        }
        // Small print that holds blocks is one too.
        "footer" if children.is_some_and(|list| list.iter().any(is_no_span)) => "section",
        // Of a header one is a heading, another a band.
        "section" if name == "header" && is_heading(object) => "heading",
        // What is a box in HTML holds blocks, or is words.
        _ if matches!(
            name.as_str(),
            "div" | "center" | "block" | "fragment" | "article" | "main"
        ) && !holds_children(object)
            && ["text", "content", "children", "html", "value"]
                .iter()
                .any(|key| object.string(key).is_some()) =>
        {
            "text"
        }
        found => found,
    }
}

/// Whether a child is a block that small print does not take as words.
fn is_no_span(child: &Node) -> bool {
    child
        .kind()
        .is_some_and(|kind| !matches!(kind, "text" | "link" | "var" | "br" | "if" | "a" | "span"))
}

/// Gives the condition of an `unless` its own name, which says that the opposite is meant.
fn turn_round(object: &mut Object) {
    let shown = object
        .0
        .iter_mut()
        .find(|(key, node)| is_condition(key, node) && !is_inverse(key));
    if let Some((key, _)) = shown {
        "unless".clone_into(key);
    }
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
