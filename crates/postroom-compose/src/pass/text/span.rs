//! Spans as they are written.

use super::{
    Style, is_block, markdown_of, markdown_pieces, path_of,
    piece::{self, Piece},
    pieces, words,
};
use crate::{
    draft::{Node, Object, Value},
    grammar::UrlUse,
    issue::Code,
    model::{Filter, VariableUse},
    notation,
    pass::{Pass, adopt, naming, values},
};

/// The span that `node` is. One that cannot be read stays whole as it was written.
pub(super) fn span_pieces(node: &Node, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let mark = pass.findings.mark();
    let pieces = read_span(node, pass);
    if let [Piece::Kept(_)] = pieces.as_slice() {
        pass.findings.revoke(mark);
        return vec![Piece::Kept(node.clone())];
    }
    pieces
}

pub(super) fn read_span(node: &Node, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let object = match &node.value {
        Value::String(text) => return super::string(text, node.origin, pass),
        Value::Object(object) => object,
        Value::Null => return Vec::new(),
        Value::Number(_) => return pieces(node, pass).unwrap_or_default(),
        Value::Array(spans) => {
            return spans
                .iter()
                .flat_map(|span| span_pieces(span, pass))
                .collect();
        }
        Value::Bool(_) => {
            let message = format!("A span is needed here, not {}.", node.what());
            pass.findings.report(Code::SchemaType, node.origin, message);
            return vec![Piece::Kept(node.clone())];
        }
    };
    if let Some(span) = short(object) {
        let message = format!("A span is written out, not {}.", node.excerpt());
        let whole = Node::new(node.origin, Value::Object(span));
        let change = format!("{} to {}", node.excerpt(), whole.excerpt());
        pass.findings
            .mend(Code::SchemaMissing, node.origin, message, "alias", change);
        return read_span(&whole, pass);
    }
    if let Some(source) = markdown_of(object)
        && let Some(pieces) = markdown_pieces(source, object, pass)
    {
        return pieces;
    }
    if is_block(node) {
        let kind = node.kind().unwrap_or_default();
        let message = format!("A {kind} stands inside a text, which takes spans only.");
        pass.findings.report(Code::Grammar, node.origin, message);
        pass.findings.reject(node.origin);
        return vec![Piece::Kept(node.clone())];
    }
    let Some((kind, style)) = kind_of(node, object, pass) else {
        return vec![Piece::Kept(node.clone())];
    };
    match kind {
        "text" => text_span(node, object, style, pass),
        "var" => variable_span(node, object, &style, pass),
        "link" => link_span(node, object, pass),
        "if" => if_span(node, object, pass),
        _ => {
            if rest(object, &["type"], "br", pass) {
                vec![Piece::Break(node.origin)]
            } else {
                vec![Piece::Kept(node.clone())]
            }
        }
    }
}

/// A span whose key is the tag that HTML has for it, written out: `{"strong": "now"}`,
/// `{"a": "here", "href": "…"}`, `{"br": true}`.
fn short(object: &Object) -> Option<Object> {
    let said = ["type"].iter().chain(TEXT_KEYS).any(|key| object.has(key));
    let (tag, node) = object.0.first().filter(|_| !said)?;
    let words = matches!(node.value, Value::String(_) | Value::Array(_));
    let mut span = Object::default();
    match tag.as_str() {
        "br" if object.0.len() == 1 => span.put("type", Node::string(node.origin, "br")),
        "a" | "link" if words && object.has("href") => {
            span.put("type", Node::string(node.origin, "link"));
            span.put("text", node.clone());
        }
        tag if words && piece::mark_named(tag).is_some() => {
            span.put("type", Node::string(node.origin, "text"));
            span.put("text", node.clone());
            span.put(tag, Node::bool(node.origin, true));
        }
        _ => return None,
    }
    for (key, node) in object.0.get(1..)? {
        span.put(key, node.clone());
    }
    Some(span)
}

/// Type of a span by its name, by another name for it, or by its keys.
pub(super) fn kind_of(
    node: &Node,
    object: &Object,
    pass: &mut Pass<'_, '_>,
) -> Option<(&'static str, Style)> {
    let mut style = Style::default();
    let written = object.string("type");
    let kind = match written {
        Some("text") => "text",
        Some("var") => "var",
        Some("link") => "link",
        Some("br") => "br",
        Some("if") => "if",
        Some(name) => {
            let lower = name.to_lowercase();
            let mark = piece::mark_named(&lower);
            if let Some(place) = mark.and_then(|mark| style.marks.mark(mark)) {
                *place = true;
            }
            match lower.as_str() {
                "variable" | "merge" | "placeholder" => "var",
                "a" | "anchor" => "link",
                "linebreak" | "newline" | "break" => "br",
                "conditional" => "if",
                "string" | "span" | "plain" | "title" | "plain_text" | "plaintext" | "mrkdwn"
                | "doc" | "fragment" | "div" | "small" => "text",
                _ if mark.is_some() => "text",
                _ => {
                    let message = format!("There is no span of type \"{name}\".");
                    let hint = "Spans are text, var, link, br and if.";
                    pass.findings
                        .report_with(Code::SchemaEnum, node.origin, message, hint);
                    return None;
                }
            }
        }
        None if object.has("then") => "if",
        None => ["text", "name", "var", "variable", "path", "href", "cond"]
            .into_iter()
            .find(|key| object.has(key))
            .map_or("text", |key| match key {
                "name" | "var" | "variable" | "path" => "var",
                "href" => "link",
                "cond" => "if",
                _ if object.has("href") => "link",
                _ => "text",
            }),
    };
    if written != Some(kind) {
        let was = written.unwrap_or("nothing");
        pass.findings.mend(
            if written.is_some() {
                Code::SchemaEnum
            } else {
                Code::SchemaMissing
            },
            node.origin,
            format!("The span's type is {was}."),
            "alias",
            format!("{was} to {kind}"),
        );
    }
    Some((kind, style))
}

/// The first of `keys` that the span has; all but the first are other names.
pub(super) fn key<'n>(
    object: &'n Object,
    keys: &[&str],
    pass: &mut Pass<'_, '_>,
) -> Option<&'n Node> {
    let found = keys.iter().find(|key| object.has(key))?;
    let node = object.find(found)?;
    if let Some(name) = keys.first().filter(|name| *name != found) {
        pass.findings.mend(
            Code::SchemaUnknownKey,
            node.origin,
            format!("The key is {name}, not {found}."),
            "key.alias",
            format!("{found} to {name}"),
        );
    }
    Some(node)
}

/// Drops what a span has besides `known`; false when readers would miss it, which is told of.
pub(super) fn rest(object: &Object, known: &[&str], kind: &str, pass: &mut Pass<'_, '_>) -> bool {
    let mut all = true;
    for (name, node) in &object.0 {
        if known.contains(&name.as_str()) || node.is_null() {
            continue;
        }
        if naming::is_condition(name, node) || naming::restricts(name, node) {
            let shown: String = name.chars().take(60).collect();
            let message = format!("A {kind} span has no {shown:?}: {}.", node.excerpt());
            let hint = "Put the words into an if span, or remove the key.";
            pass.findings
                .report_with(Code::CondInvalid, node.origin, message, hint);
            all = false;
        } else if adopt::may_be_read(name, node) {
            missed(name, node, kind, pass);
            all = false;
        } else {
            values::drop_key(name, node, kind, pass);
        }
    }
    all
}

/// Tells of words that a span has no place for.
fn missed(name: &str, node: &Node, kind: &str, pass: &mut Pass<'_, '_>) {
    let shown: String = name.chars().take(60).collect();
    let message = format!(
        "A {kind} span has no place for {shown:?}, and it holds words: {}.",
        node.excerpt()
    );
    let hint = "Put the words into a span of their own, or remove the key.";
    pass.findings
        .report_with(Code::SchemaUnknownKey, node.origin, message, hint);
}

/// Whether at most one of `keys` holds anything, or all hold the same; tells of others.
fn one_of(object: &Object, keys: &[&str], kind: &str, pass: &mut Pass<'_, '_>) -> bool {
    let mut first: Option<&Node> = None;
    let mut one = true;
    for key in keys {
        let said = |node: &&Node| match &node.value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        let Some(node) = object.find(key).filter(said) else {
            continue;
        };
        match first {
            None => first = Some(node),
            Some(other) if other.to_json() == node.to_json() => {}
            Some(_) => {
                missed(key, node, kind, pass);
                one = false;
            }
        }
    }
    one
}

pub(super) const TEXT_KEYS: &[&str] = &["text", "value", "content", "children", "html"];

pub(super) fn text_span(
    node: &Node,
    object: &Object,
    mut style: Style,
    pass: &mut Pass<'_, '_>,
) -> Vec<Piece> {
    let mut known = vec!["type", "marks", "color"];
    known.extend(TEXT_KEYS);
    known.extend(piece::set_marks(object, &mut style.marks, pass));
    if let Some(color) = object.find("color").filter(|color| !color.is_null()) {
        let mended = values::color(color, pass);
        style.color = mended.as_ref().and_then(Node::as_str).map(str::to_owned);
        if style.color.is_none() && mended.is_some() {
            return vec![Piece::Kept(node.clone())];
        }
    }
    let all = rest(object, &known, "text", pass);
    if !one_of(object, TEXT_KEYS, "text", pass) || !all {
        return vec![Piece::Kept(node.clone())];
    }
    let said = match key(object, TEXT_KEYS, pass).map(|text| (text, &text.value)) {
        Some((text, Value::String(_))) if object.has("html") && !object.has("text") => {
            pieces(text, pass).unwrap_or_default()
        }
        Some((text, Value::String(words_of))) => words(words_of, text.origin, &style, pass),
        Some((text, _)) => {
            let inner = pieces(text, pass).unwrap_or_default();
            inner
                .into_iter()
                .map(|piece| piece.styled(&style))
                .collect()
        }
        None => {
            pass.findings
                .report(Code::SchemaMissing, node.origin, "The span has no text.");
            return vec![Piece::Kept(node.clone())];
        }
    };
    let Some(href) = piece::link_mark(object) else {
        return said;
    };
    pass.findings.mend(
        Code::SchemaEnum,
        href.origin,
        "A link is a span, not a mark.",
        "text.string",
        format!("the mark to a link to {}", href.excerpt()),
    );
    vec![Piece::Link {
        href: values::url(href, UrlUse::Link, pass),
        children: said,
        origin: node.origin,
    }]
}

pub(super) fn variable_span(
    node: &Node,
    object: &Object,
    style: &Style,
    pass: &mut Pass<'_, '_>,
) -> Vec<Piece> {
    const NAMES: &[&str] = &["name", "path", "variable", "var", "key"];
    let mut marks = style.marks;
    let mut known = vec!["type", "marks", "default", "filter", "arg", "fallback"];
    known.extend(NAMES);
    known.extend(piece::set_marks(object, &mut marks, pass));
    if !rest(object, &known, "var", pass) {
        return vec![Piece::Kept(node.clone())];
    }
    let name = key(object, NAMES, pass);
    let Some(path) = name.and_then(Node::as_str).map(path_of) else {
        pass.findings.report(
            Code::SchemaMissing,
            node.origin,
            "The span names no variable.",
        );
        return vec![Piece::Kept(node.clone())];
    };
    if !notation::is_path(path) {
        let message = format!("{path:?} is no path of a variable.");
        pass.findings.report(Code::VarSyntax, node.origin, message);
        return vec![Piece::Kept(node.clone())];
    }
    let default = key(object, &["default", "fallback"], pass).filter(|node| !node.is_null());
    let default = default.map(|node| {
        node.as_str()
            .map_or_else(|| node.to_json().to_string(), str::to_owned)
    });
    let filter = match object.find("filter").filter(|filter| !filter.is_null()) {
        None => None,
        Some(filter) => {
            let arg = object.find("arg").filter(|arg| !arg.is_null());
            let arg = arg.map(|arg| {
                arg.as_str()
                    .map_or_else(|| arg.to_json().to_string(), str::to_owned)
            });
            let found = filter
                .as_str()
                .and_then(|name| notation::filter(name, arg, true));
            if found.is_none() {
                let message = format!("{} is no filter with that argument.", filter.excerpt());
                let hint = "Filters are upper, lower, title, trim, urlencode, and with arg date, number, money, truncate.";
                pass.findings
                    .report_with(Code::VarSyntax, filter.origin, message, hint);
                return vec![Piece::Kept(node.clone())];
            }
            if let (Some(Filter::Date(ours)), Some(arg)) = (&found, object.string("arg"))
                && ours != arg
            {
                pass.findings.mend(
                    Code::VarSyntax,
                    filter.origin,
                    format!("{arg:?} is a pattern of another notation."),
                    "var.syntax",
                    format!("{arg:?} to {ours:?}"),
                );
            }
            found
        }
    };
    vec![Piece::Variable {
        used: VariableUse {
            path: path.to_owned(),
            default,
            filter,
            marks,
        },
        origin: node.origin,
    }]
}

pub(super) fn link_span(node: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    const TARGETS: &[&str] = &["href", "url", "link", "to"];
    const WORDS: &[&str] = &["children", "text", "label", "content", "value"];
    let mut known = vec!["type"];
    known.extend(TARGETS);
    known.extend(WORDS);
    let mut style = Style::default();
    known.push("marks");
    known.extend(piece::set_marks(object, &mut style.marks, pass));
    let all = rest(object, &known, "link", pass);
    if !one_of(object, WORDS, "link", pass) || !one_of(object, TARGETS, "link", pass) || !all {
        return vec![Piece::Kept(node.clone())];
    }
    let Some(href) = key(object, TARGETS, pass).cloned() else {
        pass.findings
            .report(Code::SchemaMissing, node.origin, "The link has no href.");
        return vec![Piece::Kept(node.clone())];
    };
    let href = values::url(&href, UrlUse::Link, pass);
    let inner = match key(object, WORDS, pass) {
        Some(words) => pieces(words, pass).unwrap_or_default(),
        None => Vec::new(),
    };
    let children: Vec<Piece> = inner
        .into_iter()
        .flat_map(|piece| piece.without_links(pass))
        .map(|piece| piece.styled(&style))
        .collect();
    if children.is_empty() {
        pass.findings
            .report(Code::SchemaMissing, node.origin, "The link has no words.");
    }
    vec![Piece::Link {
        href,
        children,
        origin: node.origin,
    }]
}

pub(super) fn if_span(node: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    const THEN: &[&str] = &["then", "children", "text", "content"];
    const CONDITIONS: &[&str] = &["cond", "condition", "if", "when", "test"];
    let mut known = vec!["type", "else"];
    known.extend(CONDITIONS);
    known.extend(THEN);
    let all = rest(object, &known, "if", pass);
    let one = one_of(object, THEN, "if", pass) && one_of(object, CONDITIONS, "if", pass);
    if !one || !all {
        return vec![Piece::Kept(node.clone())];
    }
    let Some(cond) = key(object, CONDITIONS, pass).cloned() else {
        pass.findings
            .report(Code::SchemaMissing, node.origin, "The if span has no cond.");
        return vec![Piece::Kept(node.clone())];
    };
    let condition = values::condition(&cond, pass);
    let then = key(object, THEN, pass);
    let then = then.and_then(|node| pieces(node, pass)).unwrap_or_default();
    let otherwise = object.find("else").filter(|node| !node.is_null());
    let otherwise = otherwise
        .and_then(|node| pieces(node, pass))
        .unwrap_or_default();
    vec![Piece::If {
        condition,
        then,
        otherwise,
        origin: node.origin,
    }]
}
