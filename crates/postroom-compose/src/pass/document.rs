//! The document around its blocks: its parts under their names, the flat form, the body.

mod around;
mod flat;
mod meta;
mod records;

use flat::{is_flat, nest};

use super::{Pass, naming, values, walk};
use crate::{
    draft::{Node, Object, Value},
    grammar,
    issue::Code,
    model::{Color, Theme},
};

/// Names that writers give to the body.
const BODIES: &[&str] = &[
    "body",
    "content",
    "sections",
    "children",
    "blocks",
    "document",
    "layout",
    "rows",
    "components",
    "elements",
    "modules",
    "articles",
    "stories",
    "posts",
    "cards",
    "parts",
];

/// Keys under which a whole document is wrapped.
const WRAPPERS: &[&str] = &[
    "document",
    "email",
    "template",
    "design",
    "ir",
    "result",
    "data",
    "mail",
    "props",
    "arguments",
    "input",
    "parameters",
    "output",
    "response",
    "page",
    "doc",
    "emailDocument",
    "email_document",
    "attributes",
];

/// How many objects around a document are taken off.
const LAYERS: usize = 3;

/// Takes a document out of what is only around it: objects, its JSON as a string, a list that is
/// its body.
pub(crate) fn unwrap(root: &mut Node, pass: &mut Pass<'_, '_>) {
    around::out_of_string(root, pass);
    if root.as_array().is_some_and(around::is_body) {
        let at = root.origin;
        let body = std::mem::take(root);
        pass.findings.mend(
            Code::SchemaType,
            at,
            "A document is an object, not a list.",
            "wrap",
            "the list put under root",
        );
        let body = Node::block(at, "body", vec![("children", body)]);
        root.origin = at;
        root.value = Value::Object(Object(vec![("root".to_owned(), body)]));
        return;
    }
    for _ in 0..LAYERS {
        if !unwrap_once(root, pass) {
            return;
        }
    }
}

/// Takes one object off; false when there is none.
fn unwrap_once(root: &mut Node, pass: &mut Pass<'_, '_>) -> bool {
    let Some(object) = root.as_object_mut() else {
        return false;
    };
    naming::lower(object, "the document", pass);
    if object.has("root")
        || BODIES.iter().any(|key| {
            let blocks = |node: &Node| matches!(node.value, Value::Array(_) | Value::Object(_));
            object.find(key).is_some_and(blocks) && *key != "document"
        })
    {
        return false;
    }
    let is_document = |node: &Node| {
        node.as_object().is_some_and(|inner| {
            let parts = ["root", "html", "markdown"].iter().chain(BODIES);
            let wrapped = [
                "document",
                "email",
                "emailDocument",
                "email_document",
                "attributes",
            ]
            .iter()
            .any(|key| {
                inner
                    .find(key)
                    .is_some_and(|node| node.as_object().is_some())
            });
            wrapped || parts.into_iter().any(|key| inner.has(key))
        }) || around::is_document_text(node)
    };
    let key = WRAPPERS
        .iter()
        .find(|key| object.find(key).is_some_and(is_document));
    let Some((key, mut inner)) = key.and_then(|key| Some((*key, object.remove(key)?))) else {
        return false;
    };
    around::out_of_string(&mut inner, pass);
    pass.findings.mend(
        Code::SchemaUnknownKey,
        inner.origin,
        format!("The document itself stands at the top, not under {key}."),
        "key.alias",
        format!("taken out of {key}"),
    );
    if let Value::Object(inner) = inner.value {
        for (key, node) in inner.0 {
            if !object.has(&key) {
                object.put(&key, node);
            }
        }
    }
    if key == "arguments" {
        // The name of the tool that was to be called.
        object.remove("name");
    }
    naming::lower(object, "the document", pass);
    true
}

/// Gives the parts of the document their names.
pub(crate) fn shape(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = root.origin;
    let Some(object) = root.as_object_mut() else {
        return;
    };
    if object.find("blocks").is_some_and(is_flat) && !object.has("root") {
        nest(object);
    }
    records::link(object, pass);
    kind_of_mail(object, pass);
    meta::settle(object, pass);
    around::words_only(object, pass);
    variables_list(object, pass);
    find_body(object, at, pass);
    ground_of_body(object, pass);
    meta::out_of_body(object, pass);
    around::bring_in(object, pass);
}

/// The ground of the body is the theme's.
fn ground_of_body(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let Some(body) = object.find_mut("root").and_then(Node::as_object_mut) else {
        return;
    };
    let key = [
        "bg",
        "background",
        "backgroundColor",
        "background_color",
        "background-color",
    ]
    .into_iter()
    .find(|key| body.string(key).is_some());
    let Some((key, ground)) = key.and_then(|key| Some((key, body.remove(key)?))) else {
        return;
    };
    let at = ground.origin;
    if !object.has("theme") {
        object.put("theme", Node::new(at, Value::Object(Object::default())));
    }
    let theme = object.find_mut("theme").and_then(Node::as_object_mut);
    let free = theme.filter(|theme| {
        !["background", "backgroundColor", "bg"]
            .iter()
            .any(|key| theme.has(key))
    });
    let Some(theme) = free else {
        // The theme says something else already.
        values::drop_key(key, &ground, "body", pass);
        return;
    };
    theme.put("background", ground);
    pass.findings.mend(
        Code::SchemaUnknownKey,
        at,
        "What is around the content has the theme's background.",
        "key.alias",
        format!("{key} of the body to theme.background"),
    );
}

/// What a mail is for, under the name of a type.
fn kind_of_mail(object: &mut Object, pass: &mut Pass<'_, '_>) {
    const KINDS: &[&str] = &["transactional", "marketing", "notification", "personal"];
    const NAMES: &[&str] = &[
        "type",
        "emailType",
        "email_type",
        "mailType",
        "messageType",
        "category",
    ];
    if !object.has("kind")
        && let Some(meta) = object.find_mut("meta").and_then(Node::as_object_mut)
        && meta
            .string("kind")
            .is_some_and(|kind| KINDS.contains(&kind))
        && let Some(node) = meta.remove("kind")
    {
        pass.findings.mend(
            Code::SchemaUnknownKey,
            node.origin,
            "The kind of a mail stands beside meta.",
            "key.alias",
            "meta.kind to kind",
        );
        object.put("kind", node);
    }
    for key in NAMES {
        let kind = object.string(key).map(|kind| kind.trim().to_lowercase());
        let Some(kind) = kind.filter(|kind| KINDS.contains(&kind.as_str())) else {
            continue;
        };
        if object.has("kind") {
            return;
        }
        if let Some(node) = object.remove(key) {
            pass.findings.mend(
                Code::SchemaUnknownKey,
                node.origin,
                format!("What a mail is for is its kind, not its {key}."),
                "key.alias",
                format!("{key} to kind"),
            );
            object.put("kind", Node::string(node.origin, kind));
        }
    }
}

/// Variables as a list: of names, or as an object of samples or declarations.
pub(crate) fn variables_list(object: &mut Object, pass: &mut Pass<'_, '_>) {
    if !object.has("variables")
        && let Some(vars) = object.remove("vars")
    {
        let at = vars.origin;
        pass.findings.mend(
            Code::SchemaUnknownKey,
            at,
            "The key is variables, not vars.",
            "key.alias",
            "vars to variables",
        );
        object.put("variables", vars);
    }
    let Some(node) = object.find_mut("variables") else {
        return;
    };
    let at = node.origin;
    match &mut node.value {
        Value::Object(samples) => {
            let entries = std::mem::take(&mut samples.0);
            let list = entries
                .into_iter()
                .map(|(name, value)| declaration(&name, value));
            node.value = Value::Array(list.collect());
            pass.findings.mend(
                Code::SchemaType,
                at,
                "variables is a list of declarations.",
                "coerce.list",
                "an object to a list",
            );
        }
        Value::Array(items) => {
            for item in items {
                if let Value::String(name) = &item.value {
                    let bare = super::text::path_of(name).to_owned();
                    let at = item.origin;
                    pass.findings.mend(
                        Code::SchemaType,
                        at,
                        "A variable is an object with a name.",
                        "coerce.list",
                        format!("{} to a declaration", item.excerpt()),
                    );
                    let name = Node::string(at, bare);
                    item.value = Value::Object(Object(vec![("name".to_owned(), name)]));
                }
            }
        }
        _ => {}
    }
}

/// The declaration of `name` by a sample, or by its keys without the name.
fn declaration(name: &str, value: Node) -> Node {
    let at = value.origin;
    let declared = value
        .as_object()
        .is_some_and(|object| object.has("type") || object.has("sample") || object.has("default"));
    let mut object = match value.value {
        Value::Object(object) if declared => object,
        value => {
            let kind = match &value {
                Value::Array(_) => "list",
                Value::Object(_) => "object",
                Value::Number(_) => "number",
                Value::Bool(_) => "bool",
                Value::String(text) if text.starts_with("https://") => "url",
                _ => "string",
            };
            let mut object = Object::default();
            object.put("type", Node::string(at, kind));
            if value != Value::Null {
                object.put("sample", Node::new(at, value));
            }
            object
        }
    };
    object.put("name", Node::string(at, name));
    Node::new(at, Value::Object(object))
}

/// Puts the body under `root`, as a block of type body.
fn find_body(object: &mut Object, at: u32, pass: &mut Pass<'_, '_>) {
    if !object.has("root") {
        let other = BODIES.iter().find(|key| {
            let fits = |node: &Node| matches!(node.value, Value::Array(_) | Value::Object(_));
            object.find(key).is_some_and(fits)
        });
        let found = other.and_then(|key| Some((*key, object.remove(key)?)));
        let Some((key, body)) = found else {
            let hint = "Add \"root\": {\"type\": \"body\", \"children\": [...]}.";
            pass.findings
                .report_with(Code::SchemaMissing, at, "The document has no root.", hint);
            return;
        };
        pass.findings.mend(
            Code::SchemaUnknownKey,
            body.origin,
            format!("The body stands under root, not {key}."),
            "key.alias",
            format!("{key} to root"),
        );
        if key == "children" {
            object.remove("type");
        }
        object.put("root", body);
    }
    let Some(body) = object.find_mut("root") else {
        return;
    };
    let origin = body.origin;
    let is_body = |name: &str, inner: &Object| {
        let listed = inner.find("children").and_then(Node::as_array).is_some();
        name == "body"
            || name == "document"
            || grammar::alias(name) == Some("body")
            || grammar::alias(name) == Some("raw") && listed
    };
    let wrapped = match &body.value {
        Value::Array(_) => true,
        Value::Object(inner) => match inner.string("type") {
            Some(kind) if is_body(kind, inner) => false,
            Some(_) => true,
            None => !naming::holds_children(inner),
        },
        _ => {
            let message = format!("root is a block of type body, not {}.", body.what());
            pass.findings.report(Code::SchemaType, origin, message);
            return;
        }
    };
    if wrapped {
        let inner = std::mem::replace(body, Node::new(origin, Value::Null));
        let listed = inner.as_array().is_some() || naming::is_blocks_by_name(&inner);
        let children = if listed {
            inner
        } else {
            Node::array(origin, vec![inner])
        };
        *body = Node::block(origin, "body", vec![("children", children)]);
        pass.findings.mend(
            Code::Grammar,
            origin,
            "root is a block of type body.",
            "wrap",
            "put into a new body",
        );
    } else if let Some(inner) = body.as_object_mut()
        && inner
            .string("type")
            .is_some_and(|kind| kind == "document" || grammar::alias(kind) == Some("raw"))
    {
        inner.put("type", Node::string(origin, "body"));
    }
}

/// Collects what later passes ask for: names of variables and loops, colours of the theme.
pub(crate) fn collect(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let Some(object) = root.as_object() else {
        return;
    };
    let variables = object.find("variables").and_then(Node::as_array);
    for variable in variables.unwrap_or_default() {
        if let Some(name) = variable
            .as_object()
            .and_then(|object| object.string("name"))
        {
            pass.names.insert(name.to_owned());
        }
    }
    if let Some(body) = object.find("root") {
        walk(body, &mut |node, object| {
            if node.kind() == Some("each")
                && let Some(name) = object.string("as")
            {
                pass.names.insert(name.to_owned());
            }
        });
    }
    let theme = Theme::default();
    let mut palette = vec![
        ("background", theme.background),
        ("surface", theme.surface),
        ("text", theme.text),
        ("muted", theme.muted),
        ("link", theme.link),
        ("primary", theme.primary),
        ("onPrimary", theme.on_primary),
    ];
    let stated = object.find("theme").and_then(Node::as_object);
    for (name, color) in &mut palette {
        let written = stated.and_then(|theme| theme.string(name));
        if let Some(written) = written.and_then(Color::from_hex) {
            *color = written;
        }
    }
    pass.palette = palette
        .into_iter()
        .map(|(name, color)| (name.to_owned(), color))
        .collect();
}
