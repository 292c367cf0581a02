//! Style sheets and style attributes, as far as the lints look at them.

use crate::model::Color;

/// A declaration; names are lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) value: String,
}

/// An at-rule around rules, or one without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) name: String,
    pub(super) prelude: String,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) at: Option<At>,
    pub(super) selector: String,
    pub(super) declarations: Vec<Declaration>,
}

/// A style sheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sheet {
    /// Where it begins in the HTML.
    pub(super) offset: usize,
    pub(super) rules: Vec<Rule>,
    pub(super) has_comment: bool,
}

/// Declarations of a style attribute or a block.
pub(super) fn declarations(text: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for part in split(text, ';') {
        if let Some((name, value)) = part.split_once(':') {
            let name = name.trim().to_ascii_lowercase();
            if !name.is_empty() {
                let value = value.trim().to_ascii_lowercase();
                found.push(Declaration { name, value });
            }
        }
    }
    found
}

/// Splits at `separator` outside of quotes and brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_u32, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, c) if c == separator && depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// Reads a style sheet. Rules inside at-rules keep the outermost of those.
pub(super) fn sheet(text: &str, offset: usize) -> Sheet {
    let (clean, has_comment) = without_comments(text);
    let mut rules = Vec::new();
    read(&clean, None, &mut rules, 0);
    Sheet {
        offset,
        rules,
        has_comment,
    }
}

fn read(text: &str, at: Option<&At>, rules: &mut Vec<Rule>, depth: usize) {
    let mut rest = text;
    while let Some(brace) = rest.find(['{', ';', '}']) {
        let (head, tail) = rest.split_at(brace);
        let tail_body = tail.get(1..).unwrap_or_default();
        let head = head.trim();
        if !tail.starts_with('{') {
            if let Some(at_rule) = at_rule(head) {
                rules.push(Rule {
                    at: Some(at_rule),
                    selector: String::new(),
                    declarations: Vec::new(),
                });
            }
            rest = tail_body;
            continue;
        }
        let end = closing(tail_body);
        let body = tail_body.get(..end).unwrap_or_default();
        rest = tail_body.get(end + 1..).unwrap_or_default();
        match at_rule(head) {
            Some(inner) if matches!(inner.name.as_str(), "media" | "supports") && depth < 4 => {
                rules.push(Rule {
                    at: Some(inner.clone()),
                    selector: String::new(),
                    declarations: Vec::new(),
                });
                read(body, Some(at.unwrap_or(&inner)), rules, depth + 1);
            }
            Some(inner) => {
                let declarations = if inner.name == "font-face" {
                    declarations(body)
                } else {
                    Vec::new()
                };
                rules.push(Rule {
                    at: Some(inner),
                    selector: String::new(),
                    declarations,
                });
            }
            None => rules.push(Rule {
                at: at.cloned(),
                selector: head.to_owned(),
                declarations: declarations(body),
            }),
        }
    }
}

fn at_rule(head: &str) -> Option<At> {
    let rule = head.strip_prefix('@')?;
    let end = rule
        .find(|c: char| !(c.is_alphanumeric() || c == '-'))
        .unwrap_or(rule.len());
    let (name, prelude) = rule.split_at(end);
    Some(At {
        name: name.to_ascii_lowercase(),
        prelude: prelude.trim().to_ascii_lowercase(),
    })
}

/// Offset of the brace that closes a block.
fn closing(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

fn without_comments(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some(start) = rest.find("/*") {
        found = true;
        out.push_str(rest.get(..start).unwrap_or_default());
        let comment = rest.get(start + 2..).unwrap_or_default();
        rest = comment
            .find("*/")
            .and_then(|end| comment.get(end + 2..))
            .unwrap_or_default();
    }
    out.push_str(rest);
    (out, found)
}

/// Reads a colour; `None` for one that cannot be told.
pub(super) fn color(value: &str) -> Option<Color> {
    let value = value.trim_end_matches("!important").trim();
    let value = value
        .split_whitespace()
        .find(|part| part.starts_with('#') || named(part).is_some() || part.starts_with("rgb"))?;
    if let Some(digits) = value.strip_prefix('#') {
        return match digits.len() {
            3 => Color::from_hex(&format!(
                "#{}",
                digits.chars().flat_map(|c| [c, c]).collect::<String>()
            )),
            _ => Color::from_hex(value),
        };
    }
    if let Some(numbers) = value
        .strip_prefix("rgb(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let parts: Vec<u8> = numbers
            .split(',')
            .filter_map(|part| part.trim().parse().ok())
            .collect();
        let [red, green, blue] = parts.as_slice() else {
            return None;
        };
        return Some(Color::rgb(*red, *green, *blue));
    }
    named(value)
}

fn named(name: &str) -> Option<Color> {
    Some(match name {
        "white" => Color::WHITE,
        "black" => Color::BLACK,
        "red" => Color::rgb(255, 0, 0),
        "green" => Color::rgb(0, 128, 0),
        "blue" => Color::rgb(0, 0, 255),
        "yellow" => Color::rgb(255, 255, 0),
        "orange" => Color::rgb(255, 165, 0),
        "navy" => Color::rgb(0, 0, 128),
        "gray" | "grey" => Color::rgb(128, 128, 128),
        "silver" => Color::rgb(192, 192, 192),
        "lightgray" | "lightgrey" => Color::rgb(211, 211, 211),
        "whitesmoke" => Color::rgb(245, 245, 245),
        "purple" => Color::rgb(128, 0, 128),
        _ => return None,
    })
}

/// A length in pixels.
pub(super) fn px(value: &str) -> Option<f64> {
    let value = value.trim_end_matches("!important").trim();
    let digits = value.strip_suffix("px").unwrap_or(value);
    digits.trim().parse().ok()
}
