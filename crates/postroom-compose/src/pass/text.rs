//! Texts: strings, `{"md": ...}` and lists of spans become lists of spans in one form.

mod branches;
mod html;
mod markdown;
mod piece;
mod span;

use piece::Piece;
use span::span_pieces;

use super::Pass;
use crate::{
    draft::{Node, Object, Origin, Value},
    grammar::{self, TextUse},
    issue::Code,
    model::{Marks, VariableUse},
    notation::{self, Part, Reading},
};

/// How a stretch of words is set.
#[derive(Debug, Clone, PartialEq, Default)]
struct Style {
    marks: Marks,
    color: Option<String>,
}

/// `node` as a list of spans; `None` when it is no text and cannot be made one.
pub(crate) fn read(node: &Node, usage: TextUse, pass: &mut Pass<'_, '_>) -> Option<Node> {
    let mark = pass.findings.mark();
    let Some(pieces) = pieces(node, pass) else {
        pass.findings.revoke(mark);
        return None;
    };
    let pieces = branches::fold(pieces, pass);
    let pieces = piece::settle(piece::restrict(pieces, usage, node.origin, pass));
    let spans = piece::print(&pieces, node.origin, pass);
    Some(Node::array(node.origin, spans))
}

/// Whether something is a block that got among spans.
pub(crate) fn is_block(node: &Node) -> bool {
    let Some(kind) = node.kind() else {
        return false;
    };
    let span = matches!(
        kind,
        "text"
            | "link"
            | "a"
            | "anchor"
            | "if"
            | "code"
            | "strong"
            | "span"
            | "title"
            | "plain_text"
            | "plaintext"
            | "mrkdwn"
            | "label"
            | "em"
            | "small"
            | "br"
            | "linebreak"
            | "div"
            | "fragment"
    );
    !span && (grammar::block(kind).is_some() || grammar::alias(kind).is_some())
}

fn pieces(node: &Node, pass: &mut Pass<'_, '_>) -> Option<Vec<Piece>> {
    match &node.value {
        Value::String(text) => Some(string(text, node.origin, pass)),
        Value::Number(number) => {
            let text = number.to_string();
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                "A text is needed here, not a number.",
                "text.string",
                format!("{text} to \"{text}\""),
            );
            Some(string(&text, node.origin, pass))
        }
        Value::Array(spans) => Some(
            spans
                .iter()
                .enumerate()
                .flat_map(|(at, span)| {
                    let broken = at > 0 && are_lines(spans);
                    let mut pieces: Vec<Piece> = broken
                        .then_some(Piece::Break(span.origin))
                        .into_iter()
                        .collect();
                    pieces.extend(span_pieces(span, pass));
                    pieces
                })
                .collect(),
        ),
        Value::Object(object) => match markdown_of(object) {
            Some(source) => markdown_pieces(source, object, pass),
            _ => {
                pass.findings.mend(
                    Code::SchemaType,
                    node.origin,
                    "A text is a string, a list of spans, or {\"md\": ...}.",
                    "text.string",
                    "one span put into a list",
                );
                Some(span_pieces(node, pass))
            }
        },
        Value::Null | Value::Bool(_) => {
            let message = format!("A text is needed here, not {}.", node.what());
            pass.findings.report(Code::SchemaType, node.origin, message);
            None
        }
    }
}

/// Whether a list of bare strings is one of lines, as no blank leads from one to the next.
fn are_lines(spans: &[Node]) -> bool {
    let mut strings = spans.iter().map(Node::as_str);
    let apart = |text: &str| {
        let sign = |char: char| char.is_whitespace() || char.is_ascii_punctuation();
        !text.is_empty()
            && !text.starts_with(sign)
            && !text.ends_with(|char: char| char.is_whitespace() || matches!(char, '(' | '{'))
    };
    spans.len() > 1 && strings.all(|text| text.is_some_and(apart))
}

/// The Markdown of an object that is nothing else.
fn markdown_of(object: &Object) -> Option<&Node> {
    let source = object.find("md").or_else(|| object.find("markdown"));
    source.filter(|_| !object.has("type"))
}

fn markdown_pieces(source: &Node, object: &Object, pass: &mut Pass<'_, '_>) -> Option<Vec<Piece>> {
    if !span::rest(object, &["md", "markdown"], "md", pass) {
        return None;
    }
    let Some(text) = source.as_str() else {
        let message = format!("md is a string, not {}.", source.what());
        pass.findings
            .report(Code::SchemaType, source.origin, message);
        return None;
    };
    Some(markdown::read(text, source.origin, pass))
}

/// A plain string: words and variables, line breaks as breaks.
fn string(text: &str, origin: Origin, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    if html::has_tags(text) {
        let message = "The string holds HTML tags, which readers would see as they are.";
        let issue = crate::Issue::new(
            Code::TextHtml,
            &pass.findings.origins.source(origin),
            message,
        );
        pass.findings.push(origin, issue.fixable());
        if pass.repairing {
            pass.findings
                .change(origin, "text.string", "HTML tags to spans");
            return html::read(text, origin, pass);
        }
    }
    words(text, origin, &Style::default(), pass)
}

/// Words with variables in `style`.
fn words(text: &str, origin: Origin, style: &Style, pass: &mut Pass<'_, '_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let text = text.replace("\r\n", "\n");
    let parts = if style.marks.code {
        notation::parse(&text, Reading::Ours)
    } else {
        pass.reading(|reading| notation::parse(&text, reading))
    };
    for part in parts {
        match part {
            Part::Text(text) => {
                for (at, line) in text.split(['\n', '\r']).enumerate() {
                    if at > 0 {
                        pieces.push(Piece::Break(origin));
                    }
                    if !line.is_empty() {
                        pieces.push(Piece::words(Part::Text(line.to_owned()), style));
                    }
                }
            }
            Part::Variable(used) => pieces.push(variable(used, origin, style)),
            Part::Foreign(used, written) => {
                foreign(&used, &written, origin, pass);
                pieces.push(variable(used, origin, style));
            }
            Part::Bad(written, why) => pieces.push(Piece::Tag {
                written,
                why,
                style: style.clone(),
                origin,
            }),
        }
    }
    pieces
}

fn variable(mut used: VariableUse, origin: Origin, style: &Style) -> Piece {
    used.marks = style.marks;
    Piece::Variable { used, origin }
}

/// Tells of a variable in another notation, which is taken as ours.
pub(crate) fn foreign(used: &VariableUse, written: &str, at: Origin, pass: &mut Pass<'_, '_>) {
    let ours = notation::print(used);
    pass.findings.mend(
        Code::VarSyntax,
        at,
        format!("{written} is the notation of another template language."),
        "var.syntax",
        format!("{written} to {ours}"),
    );
}

/// Tells of something that looks like a variable and is none.
pub(crate) fn bad(written: &str, why: &str, at: Origin, pass: &mut Pass<'_, '_>) {
    let shown: String = written.chars().take(60).collect();
    pass.findings.report_with(
        Code::VarSyntax,
        at,
        format!("{shown} is no variable."),
        format!("{why} For the characters themselves write a backslash before them."),
    );
}

/// The path inside braces, if somebody wrote braces.
pub(crate) fn path_of(text: &str) -> &str {
    text.trim()
        .trim_start_matches(['{', '$'])
        .trim_end_matches('}')
        .trim()
}

/// Whether HTML tags stand in a string.
pub(crate) fn has_tags(text: &str) -> bool {
    html::has_tags(text)
}
