//! Words out of a few, language tags, types of elements.

use super::expect;
use crate::{
    draft::{Node, Object, Value},
    issue::Code,
    model::VariableType,
    pass::Pass,
};

/// Words that mean one of ours.
const SAME: &[(&str, &str)] = &[
    ("start", "left"),
    ("end", "right"),
    ("middle", "center"),
    ("centre", "center"),
    ("justify", "left"),
    ("center", "middle"),
    ("text", "string"),
    ("boolean", "bool"),
    ("array", "list"),
    ("datetime", "date"),
    ("time", "date"),
    ("integer", "number"),
    ("int", "number"),
    ("float", "number"),
    ("decimal", "number"),
    ("currency", "number"),
    ("uri", "url"),
    ("link", "url"),
    ("map", "object"),
    ("dict", "object"),
    ("bullet", "disc"),
    ("bullets", "disc"),
    ("unordered", "disc"),
    ("circle", "disc"),
    ("square", "disc"),
    ("ordered", "decimal"),
    ("numbered", "decimal"),
    ("number", "decimal"),
    ("numbers", "decimal"),
    ("checkmark", "check"),
    ("primary", "solid"),
    ("filled", "solid"),
    ("secondary", "outline"),
    ("outlined", "outline"),
    ("ghost", "outline"),
    ("text", "link"),
    ("newsletter", "marketing"),
    ("promotional", "marketing"),
    ("promotion", "marketing"),
    ("notice", "notification"),
    ("alert", "notification"),
    ("system", "notification"),
];

/// The word of `words` that is meant.
fn meant(text: &str, words: &[&'static str]) -> Option<&'static str> {
    let lower = text.trim().to_ascii_lowercase();
    let find = |word: &str| {
        words
            .iter()
            .copied()
            .find(|known| known.eq_ignore_ascii_case(word))
    };
    find(&lower).or_else(|| {
        let same = SAME.iter().filter(|(other, _)| *other == lower);
        same.filter_map(|(_, word)| find(word)).next()
    })
}

pub(super) fn word(
    node: &Node,
    name: &str,
    words: &[&'static str],
    pass: &mut Pass<'_, '_>,
) -> Node {
    let Some(text) = node.as_str() else {
        let wanted = format!("one of {}", words.join(", "));
        return expect(node, name, &wanted, false, pass);
    };
    if words.contains(&text) {
        return node.clone();
    }
    let message = format!(
        "{name} is one of {}, not {}.",
        words.join(", "),
        node.excerpt()
    );
    match meant(text, words) {
        Some(word) => {
            let change = format!("{} to {word}", node.excerpt());
            pass.findings
                .mend(Code::SchemaEnum, node.origin, message, "enum-case", change);
            Node::string(node.origin, word)
        }
        None => {
            pass.findings.report(Code::SchemaEnum, node.origin, message);
            node.clone()
        }
    }
}

pub(super) fn list(
    node: &Node,
    name: &str,
    words: &[&'static str],
    pass: &mut Pass<'_, '_>,
) -> Node {
    if node.as_str().is_some() {
        pass.findings.mend(
            Code::SchemaType,
            node.origin,
            format!("{name} is a list of words."),
            "coerce.list",
            format!("{} put into a list", node.excerpt()),
        );
        return Node::array(node.origin, vec![word(node, name, words, pass)]);
    }
    let mut node = expect(
        node,
        name,
        "a list of words",
        node.as_array().is_some(),
        pass,
    );
    for item in node.as_array_mut().into_iter().flatten() {
        *item = word(item, name, words, pass);
    }
    node
}

/// A language tag by its shape (RFC 5646).
pub(super) fn lang(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    let Some(text) = node.as_str() else {
        return expect(node, "lang", "a language tag", false, pass);
    };
    if is_tag(text) {
        return node.clone();
    }
    let mended = text.trim().replace('_', "-");
    let message = format!("{} is no language tag.", node.excerpt());
    if is_tag(&mended) {
        let change = format!("{} to {mended}", node.excerpt());
        pass.findings
            .mend(Code::SchemaType, node.origin, message, "enum-case", change);
        return Node::string(node.origin, mended);
    }
    let hint = "Write for example en, de-AT or zh-Hant.";
    pass.findings
        .report_with(Code::SchemaType, node.origin, message, hint);
    node.clone()
}

fn is_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    (2..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && text.len() <= 35
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Type of a list's elements, or the fields of an object.
pub(super) fn item(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    const WORDS: &[&str] = &[
        "string", "number", "bool", "date", "url", "html", "list", "object",
    ];
    match &node.value {
        Value::String(text) if VariableType::named(text).is_some() => node.clone(),
        Value::String(text) if text.trim_start().starts_with('{') => {
            let parsed = crate::draft::parse(text).ok();
            let parsed = parsed.filter(|(inner, ..)| inner.depth() <= super::object::SAMPLE_DEPTH);
            let Some((mut inner, ..)) = parsed else {
                return word(node, "item", WORDS, pass);
            };
            inner.settle_at(node.origin);
            item(&inner, pass)
        }
        Value::String(_) => word(node, "item", WORDS, pass),
        // The type of a field beside what else is said of it.
        Value::Object(object)
            if object.string("type").is_some()
                && object.0.iter().all(|(key, _)| {
                    matches!(
                        key.as_str(),
                        "type"
                            | "sample"
                            | "example"
                            | "default"
                            | "description"
                            | "required"
                            | "title"
                            | "format"
                    )
                }) =>
        {
            let Some(kind) = object.find("type") else {
                return node.clone();
            };
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                "The type of a field is a word.",
                "text.string",
                format!("{} to {}", node.excerpt(), kind.excerpt()),
            );
            item(kind, pass)
        }
        Value::Object(object) => {
            let fields = object
                .0
                .iter()
                .map(|(name, field)| (name.clone(), item(field, pass)));
            Node::new(node.origin, Value::Object(Object(fields.collect())))
        }
        // A list says that the elements are lists of what it holds.
        Value::Array(items) if items.len() == 1 => {
            let items = items.iter().map(|field| item(field, pass)).collect();
            Node::array(node.origin, items)
        }
        _ => expect(node, "item", "a type or an object of fields", false, pass),
    }
}
