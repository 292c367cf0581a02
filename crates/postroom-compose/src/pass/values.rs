//! Values of attributes: each in the form that its row states, or made so.

mod color;
mod condition;
mod enumeration;
mod font;
mod number;
mod object;
mod pad;
mod string;
mod url;

pub(crate) use color::color;
pub(crate) use condition::{condition, stated};
pub(crate) use number::two_decimals;
pub(crate) use pad::sides;
pub(crate) use url::{address_fault, scheme_fault, url};

pub(crate) use object::sample;
use object::{attrs, object, objects};
use string::{line, path, template, texts, verbatim};

use super::{Pass, adopt, naming, plain, text, walk_mut};
use crate::{
    draft::{Node, Object, Value},
    grammar::{self, Attribute, Default, Form},
    issue::Code,
    model::Color,
    notation,
};

/// Checks the values of the document and of every block.
pub(crate) fn document(root: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = root.origin;
    let Some(object) = root.as_object_mut() else {
        return;
    };
    let mut kept = Object::default();
    for key in ["$schema", "root", "version"] {
        if let Some(node) = object.remove(key) {
            kept.put(key, node);
        }
    }
    let rows: Vec<&'static Attribute> = grammar::DOCUMENT.iter().collect();
    let known = |key: &str| rows.iter().any(|row| row.name == key);
    let missed = missed(object, &known, "the document", pass);
    table(object, &rows, "the document", at, pass);
    kept.0.extend(missed);
    default_lang(object, pass);
    for (key, node) in kept.0 {
        object.put(&key, node);
    }
    if let Some(body) = object.find_mut("root") {
        walk_mut(body, &mut |node| block(node, pass));
    }
}

/// A language that is stated as unknown gives way to the one of the policy.
fn default_lang(object: &mut Object, pass: &mut Pass<'_, '_>) {
    let policy = object.find("policy").and_then(Node::as_object);
    let usual = policy.and_then(|policy| policy.string("defaultLang"));
    let Some(usual) = usual.map(str::to_owned) else {
        return;
    };
    let meta = object.find_mut("meta").and_then(Node::as_object_mut);
    let Some(lang) = meta.and_then(|meta| meta.find_mut("lang")) else {
        return;
    };
    if lang.as_str() == Some("und") && usual != "und" {
        pass.findings.mend(
            Code::A11yLangMissing,
            lang.origin,
            "The language is stated as unknown.",
            "lang.default",
            format!("und to {usual}"),
        );
        lang.value = Value::String(usual);
    }
}

/// Checks the values of one block.
fn block(node: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    let Some(row) = node.kind().and_then(grammar::block) else {
        return;
    };
    let Some(object) = node.as_object_mut() else {
        return;
    };
    let mut own = Object::default();
    let mut children = Vec::new();
    for (key, value) in std::mem::take(&mut object.0) {
        if key == "type" || row.holds(&key).is_some() {
            children.push((key, value));
        } else {
            own.0.push((key, value));
        }
    }
    let attributes: Vec<&'static Attribute> = row.all().collect();
    naming::rename_keys(&mut own, &attributes, row.name, pass);
    let missed = missed(
        &mut own,
        &|key| row.attribute(key).is_some(),
        row.name,
        pass,
    );
    table(&mut own, &attributes, row.name, at, pass);
    own.0.extend(missed);
    if row.name == "image" {
        decorative(&mut own, at, pass);
    }
    if row.name == "hero" && !own.has("fallbackColor") {
        let light = children.iter().any(|(_, node)| has_light_words(node));
        let name = if light { "text" } else { "surface" };
        let ground = pass.palette.iter().find(|(known, _)| known == name);
        let ground = ground.map_or(Color::WHITE, |(_, color)| *color).to_string();
        pass.findings.mend(
            Code::SchemaMissing,
            at,
            "hero has no fallbackColor.",
            "hero.ground",
            format!("fallbackColor: {ground} added"),
        );
        own.put("fallbackColor", Node::string(at, ground));
    }
    object.0 = children;
    object.0.append(&mut own.0);
}

/// Whether words in a light colour stand anywhere in it.
fn has_light_words(node: &Node) -> bool {
    match &node.value {
        Value::Array(items) => items.iter().any(has_light_words),
        Value::Object(object) => object.0.iter().any(|(key, node)| match node.as_str() {
            Some(written) if key == "color" => {
                color::read(written, Color::WHITE).is_some_and(|color| color.luminance() > 0.4)
            }
            _ => has_light_words(node),
        }),
        _ => false,
    }
}

/// Takes out what stands under no known key and would be missed: it is told of and stays, for
/// somebody to say where it belongs.
fn missed(
    object: &mut Object,
    known: &dyn Fn(&str) -> bool,
    owner: &str,
    pass: &mut Pass<'_, '_>,
) -> Vec<(String, Node)> {
    let is_block = grammar::block(owner).is_some();
    let targets: Vec<Node> = object
        .0
        .iter()
        .filter(|(key, _)| known(key))
        .map(|(_, node)| node.clone())
        .collect();
    let miss = |key: &str, node: &Node| {
        if known(key) || owner == "meta" && !is_told(key, node) && node.as_str().is_some() {
            return None;
        }
        let twice = || targets.iter().any(|target| target.value == node.value);
        if owner == "each" && NARROWS.contains(&plain(key).as_str()) && !node.is_null() {
            return Some(Missed::Narrows);
        }
        if owner != "meta" && naming::is_condition(key, node) && !twice()
            || is_block && naming::restricts(key, node)
        {
            Some(Missed::Condition)
        } else if matches!(owner, "list" | "table" | "menu" | "social") && names_a_list(node)
            || adopt::says_something(key, node)
            || owner == "meta" && is_told(key, node)
        {
            Some(Missed::Words)
        } else if adopt::is_target(key, node)
            && !matches!(owner, "meta" | "the document")
            && targets.iter().all(|target| target.value != node.value)
        {
            Some(Missed::Target)
        } else {
            None
        }
    };
    let mut missed = Vec::new();
    for (key, node) in std::mem::take(&mut object.0) {
        let Some(what) = miss(&key, &node) else {
            object.0.push((key, node));
            continue;
        };
        let shown: String = key.chars().take(60).collect();
        let (is, hint) = match what {
            Missed::Words => (
                "holds words",
                "Put the words into a block, or remove the key.",
            ),
            Missed::Condition => (
                "says when it is shown",
                "Put the block into an if, or remove the key.",
            ),
            Missed::Narrows => (
                "narrows or orders what is shown",
                "Give the list as it is to be shown, or put an if inside.",
            ),
            Missed::Target => (
                "leads somewhere",
                "Put the address into a button, a link or a picture, or remove the key.",
            ),
        };
        let message = format!(
            "{owner} has no key {shown:?}, and it {is}: {}.",
            node.excerpt()
        );
        let code = match what {
            Missed::Condition | Missed::Narrows => Code::CondInvalid,
            Missed::Words | Missed::Target => Code::SchemaUnknownKey,
        };
        pass.findings.report_with(code, node.origin, message, hint);
        missed.push((key, node));
    }
    missed
}

/// Whether a value is a variable and nothing else, which beside a list can only be what it shows.
fn names_a_list(node: &Node) -> bool {
    node.as_str().is_some_and(|text| {
        let inner = text
            .trim()
            .strip_prefix("{{")
            .and_then(|text| text.strip_suffix("}}"));
        inner.is_some_and(|inner| notation::is_path(inner.trim()))
    })
}

/// Keys that show less of a list, or in another order, by letters in lower case.
const NARROWS: &[&str] = &[
    "filter", "where", "limit", "max", "maxitems", "take", "first", "last", "skip", "offset",
    "sort", "sortby", "orderby", "order", "reverse", "slice",
];

/// Why what stands under no known key would be missed.
enum Missed {
    Words,
    Condition,
    /// What a loop shows of its list.
    Narrows,
    Target,
}

/// Whether a string beside subject and preview line may be meant for readers; what tells of the
/// document itself is not.
pub(crate) fn is_told(key: &str, node: &Node) -> bool {
    const ABOUT: &[&str] = &[
        "audience",
        "bcc",
        "brand",
        "campaign",
        "category",
        "cc",
        "charset",
        "date",
        "from",
        "fromemail",
        "fromname",
        "generator",
        "id",
        "keywords",
        "name",
        "purpose",
        "recipient",
        "replyto",
        "sender",
        "slug",
        "tags",
        "template",
        "theme",
        "to",
        "tone",
        "type",
        "viewport",
    ];
    const STARTS: &[&str] = &[
        "author",
        "created",
        "generated",
        "updated",
        "modified",
        "version",
    ];
    let letters = node
        .as_str()
        .is_some_and(|text| text.chars().any(char::is_alphabetic));
    let plain: String = key
        .chars()
        .filter(|char| char.is_alphanumeric())
        .take(60)
        .flat_map(char::to_lowercase)
        .collect();
    letters
        && !ABOUT.contains(&plain.as_str())
        && !STARTS.iter().any(|start| plain.starts_with(start))
}

/// Parts of the names of pictures that say nothing.
const DECORATIONS: &[&str] = &[
    "spacer",
    "divider",
    "shadow",
    "border",
    "decor",
    "ornament",
    "separator",
    "curve",
    "pattern",
    "background",
];

/// A picture without words that by its name is there for the look only.
fn decorative(object: &mut Object, at: u32, pass: &mut Pass<'_, '_>) {
    // An empty alt is how HTML says so.
    let empty = object.string("alt") == Some("");
    let said = object.has("alt") && !empty || object.has("decorative") || object.has("href");
    let src = object.string("src").unwrap_or_default();
    let file = src.split(['?', '#']).next().unwrap_or_default();
    let file = file
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if said || !(empty || DECORATIONS.iter().any(|part| file.contains(part))) {
        return;
    }
    object.remove("alt");
    pass.findings.mend(
        Code::ImageNoAlt,
        at,
        if empty {
            "The alt is empty: the image decorates."
        } else {
            "The image has no alt; by its name it decorates."
        },
        "alt.decorative",
        "decorative: true added",
    );
    object.put("decorative", Node::bool(at, true));
}

/// Checks an object against the rows of its keys.
fn table(
    object: &mut Object,
    rows: &[&'static Attribute],
    owner: &str,
    at: u32,
    pass: &mut Pass<'_, '_>,
) {
    naming::rename_keys(object, rows, owner, pass);
    let mut checked = Object(Vec::with_capacity(object.0.len()));
    for (key, node) in std::mem::take(&mut object.0) {
        let Some(row) = rows.iter().find(|row| row.name == key) else {
            unknown(&key, &node, rows, owner, pass);
            continue;
        };
        if node.is_null() {
            if row.required {
                let message = format!("{key} of {owner} is null.");
                pass.findings
                    .report(Code::SchemaMissing, node.origin, message);
            }
            continue;
        }
        if let Some(node) = value(&node, row, pass)
            && !is_default(row, &node)
        {
            checked.put(&key, node);
        } else if row.required {
            checked.put(&key, node);
        }
    }
    for row in rows.iter().filter(|row| row.required) {
        if !checked.has(row.name) {
            let message = format!("{owner} has no {}.", row.name);
            let hint = format!("Add \"{}\": {}", row.name, row.doc);
            pass.findings
                .report_with(Code::SchemaMissing, at, message, hint);
        }
    }
    *object = checked;
}

/// Drops a key that nothing knows.
fn unknown(
    key: &str,
    node: &Node,
    rows: &[&'static Attribute],
    owner: &str,
    pass: &mut Pass<'_, '_>,
) {
    match grammar::nearest(key, rows.iter().map(|row| row.name)) {
        Some(near) => {
            let message = format!("{owner} has no key {key:?}; did you mean {near}?");
            let change = format!("{key} removed, it was {}", node.excerpt());
            pass.findings.mend(
                Code::SchemaUnknownKey,
                node.origin,
                message,
                "key.drop",
                change,
            );
        }
        None => drop_key(key, node, owner, pass),
    }
}

/// Tells that a key is removed.
pub(crate) fn drop_key(key: &str, node: &Node, owner: &str, pass: &mut Pass<'_, '_>) {
    let shown: String = key.chars().take(60).collect();
    pass.findings.mend(
        Code::SchemaUnknownKey,
        node.origin,
        format!("{owner} has no key {shown:?}."),
        "key.drop",
        format!("{shown} removed, it was {}", node.excerpt()),
    );
}

/// Whether a value says what its absence says.
fn is_default(row: &Attribute, node: &Node) -> bool {
    match row.default {
        Default::None => false,
        Default::Bool(bool) => node.as_bool() == Some(bool),
        Default::Number(number) => node.as_f64() == Some(number),
        Default::Text(text) => node.as_str() == Some(text),
        Default::Pad(pad) => pad::sides(node) == Some(pad.map(f64::from)),
    }
}

/// A value in the form of its row; `None` to leave it out. What cannot be mended stays as it is.
fn value(node: &Node, row: &Attribute, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let name = row.name;
    let kept = || Some(node.clone());
    match row.form {
        Form::Text(usage) => text::read(node, usage, pass).or_else(kept),
        Form::Texts => Some(texts(node, pass)),
        Form::Template => Some(template(node, name, pass)),
        Form::Verbatim => Some(verbatim(node, name, pass)),
        Form::Url(usage) => Some(url(node, usage, pass)),
        Form::Line(most) if matches!(name, "font" | "headingFont") => {
            let stated = line(node, name, most, pass);
            font::families(&stated, name, pass)
        }
        Form::Line(most) => Some(line(node, name, most, pass)),
        Form::Html => Some(expect(
            node,
            name,
            "a string",
            node.as_str().is_some(),
            pass,
        )),
        Form::Color => color(node, pass).or_else(|| row.required.then(|| node.clone())),
        Form::Bool => Some(number::bool(node, name, pass)),
        Form::Integer(least, most) => number::integer(node, name, least, most, pass),
        Form::Decimal(least, most) => Some(number::decimal(node, name, least, most, pass)),
        Form::Percent => Some(number::percent(node, name, pass)),
        Form::Enum(words) => Some(enumeration::word(node, name, words, pass)),
        Form::Enums(words) => Some(enumeration::list(node, name, words, pass)),
        Form::Pad => Some(pad::read(node, pass)),
        // The cond of an if is another matter: without it there is no if.
        Form::Condition if !row.required && always(node) => {
            pass.findings.mend(
                Code::CondInvalid,
                node.origin,
                format!("{name} is a condition; what is always shown has none."),
                "cond",
                format!("{name} removed"),
            );
            None
        }
        Form::Condition => Some(condition(node, pass)),
        Form::Lang => Some(enumeration::lang(node, pass)),
        Form::Object(rows) => {
            Some(object(node, name, &rows.iter().collect::<Vec<_>>(), pass)).filter(says_something)
        }
        Form::Objects(rows, most) => Some(objects(
            node,
            name,
            &rows.iter().collect::<Vec<_>>(),
            most,
            pass,
        ))
        .filter(says_something),
        Form::Attrs => attrs(node, pass),
        Form::Name => Some(path(node, name, false, pass)),
        Form::Path => Some(path(node, name, true, pass)),
        Form::Item => Some(enumeration::item(node, pass)),
        Form::Any => kept(),
    }
}

/// Whether a condition says that something is shown always.
pub(crate) fn always(node: &Node) -> bool {
    node.as_bool() == Some(true)
        || node
            .as_str()
            .is_some_and(|text| matches!(text.trim(), "true" | "True" | "always" | ""))
}

/// Whether a list or object holds anything.
fn says_something(node: &Node) -> bool {
    match &node.value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.0.is_empty(),
        _ => true,
    }
}

/// Reports a value of the wrong type; the value as it is.
fn expect(node: &Node, name: &str, wanted: &str, is: bool, pass: &mut Pass<'_, '_>) -> Node {
    if !is {
        let message = format!("{name} is {wanted}, not {}.", node.what());
        pass.findings.report(Code::SchemaType, node.origin, message);
    }
    node.clone()
}
