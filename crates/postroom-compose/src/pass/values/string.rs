//! Strings: with variables, without, kept as they are; names and paths.

use super::expect;
use crate::{
    draft::{Node, Value},
    grammar::TextUse,
    issue::Code,
    notation::{self, Part, Reading},
    pass::{Pass, text},
};

pub(super) fn texts(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    let lines: Vec<Node> = match &node.value {
        Value::Array(lines) => lines.clone(),
        Value::String(text) => {
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                "lines is a list of texts.",
                "text.string",
                "one string to a list of its lines",
            );
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| Node::string(node.origin, line)).collect()
        }
        Value::Object(_) => {
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                "lines is a list of texts.",
                "text.string",
                "one text put into a list",
            );
            vec![node.clone()]
        }
        _ => return expect(node, "lines", "a list of texts", false, pass),
    };
    let lines = lines
        .into_iter()
        .filter(|line| !line.is_null())
        .map(|line| {
            // A span alone is a line of one span.
            let line = match &line.value {
                Value::Object(object) if !object.has("md") => {
                    Node::array(line.origin, vec![line.clone()])
                }
                _ => line,
            };
            text::read(&line, TextUse::Rich, pass).unwrap_or(line)
        })
        .collect();
    Node::array(node.origin, lines)
}

/// A string with variables.
pub(super) fn template(node: &Node, name: &str, pass: &mut Pass<'_, '_>) -> Node {
    let text = match &node.value {
        Value::String(text) => text.split(['\n', '\r']).collect::<Vec<_>>().join(" "),
        Value::Number(number) => {
            let text = number.to_string();
            let change = format!("{text} to \"{text}\"");
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                format!("{name} is a string."),
                "text.string",
                change,
            );
            text
        }
        Value::Array(_) | Value::Object(_) => match flat(node, pass) {
            Some(text) => text,
            None => return expect(node, name, "a string", false, pass),
        },
        _ => return expect(node, name, "a string", false, pass),
    };
    let parts = pass.reading(|reading| notation::parse(&text, reading));
    Node::string(node.origin, canonical(parts, node.origin, pass))
}

/// Spans that hold words and variables only, as one string.
pub(super) fn flat(node: &Node, pass: &mut Pass<'_, '_>) -> Option<String> {
    let mark = pass.findings.mark();
    let parts = text::read(node, TextUse::Plain, pass).and_then(|spans| spans_parts(&spans, pass));
    let Some(parts) = parts else {
        pass.findings.revoke(mark);
        return None;
    };
    pass.findings.mend(
        Code::SchemaType,
        node.origin,
        "A string is needed here, not spans.",
        "text.string",
        "spans to a string",
    );
    Some(pass.reading(|reading| notation::join(&parts, reading)))
}

pub(super) fn spans_parts(spans: &Node, pass: &Pass<'_, '_>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for span in spans.as_array()? {
        let object = span.as_object()?;
        match span.kind()? {
            "text" => {
                let text = object.string("text")?;
                parts.extend(pass.reading(|reading| notation::parse(text, reading)));
            }
            "var" => parts.push(Part::Variable(crate::read::variable(object)?)),
            _ => return None,
        }
    }
    Some(parts)
}

/// Tells of what is wrong with `parts` and writes them in our notation.
pub(super) fn canonical(parts: Vec<Part>, at: u32, pass: &mut Pass<'_, '_>) -> String {
    for part in &parts {
        match part {
            Part::Foreign(used, written) => text::foreign(used, written, at, pass),
            Part::Bad(written, why) => text::bad(written, why, at, pass),
            Part::Text(_) | Part::Variable(_) => {}
        }
    }
    pass.reading(|reading| notation::join(&parts, reading))
}

pub(super) fn verbatim(node: &Node, name: &str, pass: &mut Pass<'_, '_>) -> Node {
    let text = match &node.value {
        Value::String(text) => text.replace("\r\n", "\n"),
        Value::Array(_) | Value::Object(_) => match flat(node, pass) {
            Some(text) => text,
            None => return expect(node, name, "a string", false, pass),
        },
        Value::Number(_) => return template(node, name, pass),
        _ => return expect(node, name, "a string", false, pass),
    };
    let parts = notation::parse(&text, Reading::Ours);
    Node::string(node.origin, notation::join(&parts, Reading::Ours))
}

pub(super) fn line(node: &Node, name: &str, most: usize, pass: &mut Pass<'_, '_>) -> Node {
    let text = match &node.value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                format!("{name} is a string."),
                "text.string",
                format!("{text} to \"{text}\""),
            );
            text
        }
        _ => return expect(node, name, "a string", false, pass),
    };
    if text.chars().count() > most && name != "id" {
        let message = format!("{name} has more than {most} characters.");
        pass.findings
            .report(Code::SchemaRange, node.origin, message);
    }
    if name == "id" {
        return Node::string(node.origin, text);
    }
    let text = text.split(char::is_control).collect::<Vec<_>>().join(" ");
    Node::string(node.origin, text)
}

/// A name or dotted path, out of the braces that somebody put around it.
pub(super) fn path(node: &Node, name: &str, dotted: bool, pass: &mut Pass<'_, '_>) -> Node {
    let Some(written) = node.as_str() else {
        return expect(node, name, "a string", false, pass);
    };
    let bare = text::path_of(written);
    let is = if dotted {
        notation::is_path(bare)
    } else {
        notation::is_name(bare)
    };
    if !is {
        let message = format!(
            "{} is no {} of a variable.",
            node.excerpt(),
            if dotted { "path" } else { "name" }
        );
        let hint = "Letters, digits and _ after a letter, parts of a path joined by dots.";
        pass.findings
            .report_with(Code::VarSyntax, node.origin, message, hint);
        return node.clone();
    }
    if bare != written {
        pass.findings.mend(
            Code::VarSyntax,
            node.origin,
            format!("{name} takes the path without braces."),
            "var.syntax",
            format!("{written} to {bare}"),
        );
    }
    Node::string(node.origin, bare)
}
