//! Numbers, sizes and truth values, also as CSS writes them.

use crate::{
    draft::{Node, Value},
    issue::Code,
    pass::Pass,
};

/// True or false.
pub(super) fn bool(node: &Node, name: &str, pass: &mut Pass<'_, '_>) -> Node {
    let said = match &node.value {
        Value::Bool(_) => return node.clone(),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" | "none" => Some(false),
            _ => None,
        },
        Value::Number(_) => match node.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => None,
        },
        _ => None,
    };
    let message = format!("{name} is true or false, not {}.", node.excerpt());
    match said {
        Some(said) => {
            let change = format!("{} to {said}", node.excerpt());
            pass.findings.mend(
                Code::SchemaType,
                node.origin,
                message,
                "coerce.bool",
                change,
            );
            Node::bool(node.origin, said)
        }
        None => {
            pass.findings.report(Code::SchemaType, node.origin, message);
            node.clone()
        }
    }
}

/// A length or number as it may be written: px, or what an em is to 16 px.
pub(super) fn length(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, factor) = ["px", "rem", "em", "pt"]
        .into_iter()
        .zip([1.0, 16.0, 16.0, 4.0 / 3.0])
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))
        .unwrap_or((text.as_str(), 1.0));
    let number: f64 = digits.trim().parse().ok()?;
    number.is_finite().then_some(number * factor)
}

/// Sizes of text that are told by a word.
fn by_word(word: &str) -> Option<f64> {
    Some(match word.to_ascii_lowercase().as_str() {
        "xs" | "x-small" | "xsmall" => 12.0,
        "sm" | "small" => 14.0,
        "md" | "medium" | "normal" | "base" => 16.0,
        "lg" | "large" => 20.0,
        "xl" | "x-large" | "xlarge" => 24.0,
        _ => return None,
    })
}

/// Heights of blank space that are told by a word.
fn blank_by_word(word: &str) -> Option<f64> {
    Some(match word.to_ascii_lowercase().as_str() {
        "xs" | "x-small" | "xsmall" => 8.0,
        "sm" | "small" => 16.0,
        "md" | "medium" | "normal" | "base" => 24.0,
        "lg" | "large" => 40.0,
        "xl" | "x-large" | "xlarge" => 64.0,
        _ => return None,
    })
}

/// A whole number inside bounds; `None` when it says what its absence says.
pub(super) fn integer(
    node: &Node,
    name: &str,
    least: i64,
    most: i64,
    pass: &mut Pass<'_, '_>,
) -> Option<Node> {
    let written = match &node.value {
        Value::Number(_) => node.as_f64(),
        Value::String(text) => match text.trim() {
            // As wide as the column is what leaving it out means.
            "100%" | "auto" if name == "width" && most > 100 => {
                let message = format!("{name} is a whole number of px.");
                let change = format!("{} removed", node.excerpt());
                pass.findings
                    .mend(Code::SchemaType, node.origin, message, "coerce.px", change);
                return None;
            }
            // What CSS says where nothing is said.
            "auto" | "inherit" | "initial" | "unset" | "default" | "" => {
                let message = format!("{name} is a whole number, not {}.", node.excerpt());
                let change = format!("{} removed", node.excerpt());
                pass.findings
                    .mend(Code::SchemaType, node.origin, message, "coerce.px", change);
                return None;
            }
            word if name == "size" && by_word(word).is_some() => by_word(word),
            word if name == "height" && most == 200 && blank_by_word(word).is_some() => {
                blank_by_word(word)
            }
            "normal" if name == "weight" => Some(400.0),
            "bold" if name == "weight" => Some(700.0),
            text if most == 100 => length(text.trim_end_matches('%')),
            // Of the usual width of a mail, 600 px.
            text if name == "width" && text.ends_with('%') => {
                length(text.trim_end_matches('%')).map(|percent| percent * 6.0)
            }
            text => length(text),
        },
        _ => None,
    };
    let Some(number) = written else {
        let message = format!("{name} is a whole number, not {}.", node.excerpt());
        pass.findings.report(Code::SchemaType, node.origin, message);
        return Some(node.clone());
    };
    let whole = number.round();
    if node.as_str().is_some() || number.fract() != 0.0 {
        pass.findings.mend(
            Code::SchemaType,
            node.origin,
            format!("{name} is a whole number, not {}.", node.excerpt()),
            "coerce.px",
            format!("{} to {whole}", node.excerpt()),
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "bounds are small")]
    Some(clamp(node, name, whole, (least as f64, most as f64), pass))
}

/// A number with up to two decimals inside bounds.
pub(super) fn decimal(
    node: &Node,
    name: &str,
    least: f64,
    most: f64,
    pass: &mut Pass<'_, '_>,
) -> Node {
    let written = match &node.value {
        Value::Number(_) => node.as_f64(),
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percent) => percent
                .trim()
                .parse()
                .ok()
                .map(|percent: f64| percent / 100.0),
            None => match text.trim() {
                "normal" => Some(1.5),
                // Of text of the usual size.
                text => match text.strip_suffix("px") {
                    Some(px) => px.trim().parse().ok().map(|px: f64| px / 16.0),
                    None => text.trim_end_matches("em").parse().ok(),
                },
            },
        },
        _ => None,
    };
    let Some(number) = written.filter(|number| number.is_finite()) else {
        let message = format!("{name} is a number, not {}.", node.excerpt());
        pass.findings.report(Code::SchemaType, node.origin, message);
        return node.clone();
    };
    if node.as_str().is_some() {
        pass.findings.mend(
            Code::SchemaType,
            node.origin,
            format!("{name} is a number, not {}.", node.excerpt()),
            "coerce.px",
            format!("{} to {}", node.excerpt(), two_decimals(number)),
        );
    }
    clamp(node, name, two_decimals(number), (least, most), pass)
}

/// A share in percent.
pub(super) fn percent(node: &Node, name: &str, pass: &mut Pass<'_, '_>) -> Node {
    let written = match &node.value {
        Value::Number(_) => node.as_f64(),
        Value::String(text) => {
            let text = text.trim();
            match text.split_once('/') {
                Some((part, whole)) => {
                    let number = |text: &str| text.trim().parse::<f64>().ok();
                    match (number(part), number(whole)) {
                        (Some(part), Some(whole)) if whole > 0.0 => Some(part / whole * 100.0),
                        _ => None,
                    }
                }
                None => text.trim_end_matches('%').trim().parse().ok(),
            }
        }
        _ => None,
    };
    let Some(number) = written.filter(|number| number.is_finite()) else {
        let message = format!("{name} is a number in percent, not {}.", node.excerpt());
        pass.findings.report(Code::SchemaType, node.origin, message);
        return node.clone();
    };
    // Nobody wants a column of less than one percent; a share of one is meant.
    let number = match &node.value {
        Value::Number(_) if number > 0.0 && number < 1.0 => number * 100.0,
        _ => number,
    };
    let number = two_decimals(number);
    if node.as_f64().map(two_decimals) != Some(number) {
        pass.findings.mend(
            Code::SchemaType,
            node.origin,
            format!("{name} is a number in percent, not {}.", node.excerpt()),
            "coerce.px",
            format!("{} to {number}", node.excerpt()),
        );
    }
    clamp(node, name, number, (1.0, 100.0), pass)
}

pub(crate) fn two_decimals(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// `number` moved into its bounds.
fn clamp(
    node: &Node,
    name: &str,
    number: f64,
    (least, most): (f64, f64),
    pass: &mut Pass<'_, '_>,
) -> Node {
    let inside = number.clamp(least, most);
    if number < least || number > most {
        pass.findings.mend(
            Code::SchemaRange,
            node.origin,
            format!("{name} is {number}; {least} to {most} are allowed."),
            "clamp",
            format!("{number} to {inside}"),
        );
    }
    Node::number(node.origin, inside)
}
