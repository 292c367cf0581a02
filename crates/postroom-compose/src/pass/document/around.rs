//! What stands around a document or beside its body: strings that are the whole document or all of
//! its words, a header before the body, a footer after it.

use crate::{
    draft::{self, Node, Object, Value},
    grammar,
    issue::Code,
    pass::{Pass, adopt},
};

/// Names of what stands above the body, and of what stands below it, in order.
const ABOVE: &[&str] = &["header", "hero", "greeting", "intro"];
const BELOW: &[&str] = &[
    "cta",
    "button",
    "buttons",
    "actions",
    "closing",
    "signature",
    "footer",
];

/// Whether a list is the body of a document, not anything else.
pub(super) fn is_body(items: &[Node]) -> bool {
    let is_block = |node: &Node| {
        node.as_object()
            .is_some_and(|object| object.string("type").is_some())
    };
    !items.is_empty() && items.iter().all(is_block)
}

/// Whether a string is the JSON text of a document.
pub(super) fn is_document_text(node: &Node) -> bool {
    node.as_str().is_some_and(|text| {
        let text = text.trim();
        text.starts_with('{') && text.ends_with('}') && text.contains(':')
    })
}

/// A document that is given as a string with its JSON text.
pub(super) fn out_of_string(root: &mut Node, pass: &mut Pass<'_, '_>) {
    if !is_document_text(root) {
        return;
    }
    let at = root.origin;
    let Some(Ok((mut inner, ..))) = root.as_str().map(draft::parse) else {
        return;
    };
    if inner.as_object().is_none() {
        return;
    }
    inner.settle_at(at);
    pass.findings.mend(
        Code::SchemaType,
        at,
        "A document is an object, not a string.",
        "coerce.list",
        "the string read as JSON",
    );
    *root = inner;
}

/// A mail that is words in one string, as HTML, Markdown or plain, becomes a body of one text.
pub(super) fn words_only(object: &mut Object, pass: &mut Pass<'_, '_>) {
    if object.has("root") {
        return;
    }
    let has_blocks = super::BODIES.iter().any(|key| {
        object
            .find(key)
            .is_some_and(|node| matches!(node.value, Value::Array(_) | Value::Object(_)))
    });
    let key = [
        "markdown", "md", "html", "htmlBody", "body", "content", "text", "message", "bodyText",
    ]
    .into_iter()
    .find(|key| {
        object
            .string(key)
            .is_some_and(|text| !text.trim().is_empty())
    });
    let Some((key, node)) = key
        .filter(|_| !has_blocks)
        .and_then(|key| Some((key, object.remove(key)?)))
    else {
        return;
    };
    let at = node.origin;
    pass.findings.mend(
        Code::SchemaMissing,
        at,
        format!("The document has no root; its words stand under {key}."),
        "wrap",
        format!("{key} put into a text"),
    );
    let words = if matches!(key, "markdown" | "md") {
        Node::new(at, Value::Object(Object(vec![("md".to_owned(), node)])))
    } else {
        node
    };
    let text = Node::block(at, "text", vec![("text", words)]);
    let children = Node::array(at, vec![text]);
    object.put(
        "root",
        Node::block(at, "body", vec![("children", children)]),
    );
}

/// Takes blocks beside the body into it.
pub(super) fn bring_in(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let fits = object
        .find("root")
        .and_then(Node::as_object)
        .is_some_and(|body| {
            body.find("children")
                .is_some_and(|list| list.as_array().is_some())
        });
    if !fits {
        return;
    }
    let mut take = |keys: &[&str]| -> Vec<Node> {
        let found = keys
            .iter()
            .filter_map(|key| brought(object, key, pass))
            .collect::<Vec<_>>();
        found.concat()
    };
    let (above, mut below) = (take(ABOVE), take(BELOW));
    let body = object.find_mut("root").and_then(Node::as_object_mut);
    let children = body.and_then(|body| body.find_mut("children"));
    if let Some(children) = children.and_then(Node::as_array_mut) {
        children.splice(0..0, above);
        children.append(&mut below);
    }
}

/// The blocks under `key`, taken out of the document.
fn brought(object: &mut Object, key: &str, pass: &mut Pass<'_, '_>) -> Option<Vec<Node>> {
    let node = object.find(key)?;
    let leads = node
        .as_object()
        .is_some_and(|object| object.0.iter().any(|(_, node)| adopt::is_address(node)));
    if !adopt::may_be_read(key, node) && !leads {
        return None;
    }
    let at = node.origin;
    let kind = match key {
        "footer" => "footer",
        "cta" | "button" => "button",
        "hero" if has_ground(node) => "hero",
        "header" | "hero" if node.as_str().is_some() => "heading",
        "header" | "hero" => "section",
        _ => "text",
    };
    let blocks = match object.remove(key)?.value {
        Value::Array(items) => items,
        Value::Object(mut inner) => {
            if !inner.has("type") {
                let holds = ["children", "blocks", "sections", "columns", "rows"];
                let holds = holds.iter().any(|key| inner.has(key));
                let kind = match key {
                    _ if holds => "section",
                    "signature" => key,
                    _ => kind,
                };
                inner.put("type", Node::string(at, kind));
            }
            vec![Node::new(at, Value::Object(inner))]
        }
        value => {
            let row = grammar::block(kind)?;
            let words = row.attributes.iter().find(|attribute| attribute.required);
            let words = words.map_or("text", |attribute| attribute.name);
            vec![Node::block(at, kind, vec![(words, Node::new(at, value))])]
        }
    };
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        format!("{key} stands in the body."),
        "adopt",
        format!("{key} put into the body"),
    );
    Some(blocks)
}

/// Whether a hero says which colour stands behind its words.
fn has_ground(node: &Node) -> bool {
    let object = node.as_object();
    object.is_some_and(|object| {
        let keys = ["fallbackColor", "bg", "background", "backgroundColor"];
        keys.iter().any(|key| object.has(key))
    })
}
