//! Blank space inside edges.

use super::number;
use crate::{
    draft::{Node, Value},
    issue::Code,
    pass::Pass,
};

/// Most blank space at an edge, px.
const MOST: f64 = 80.0;

/// Top, right, bottom and left of a value in canonical form.
pub(crate) fn sides(node: &Node) -> Option<[f64; 4]> {
    match &node.value {
        Value::Number(_) => node.as_f64().map(|side| [side; 4]),
        Value::Array(items) => match items.as_slice() {
            [top, right, bottom, left] => Some([
                top.as_f64()?,
                right.as_f64()?,
                bottom.as_f64()?,
                left.as_f64()?,
            ]),
            _ => None,
        },
        _ => None,
    }
}

/// One, two, three or four values as CSS expands them.
fn expand(values: &[f64]) -> Option<[f64; 4]> {
    match *values {
        [all] => Some([all; 4]),
        [vertical, horizontal] => Some([vertical, horizontal, vertical, horizontal]),
        [top, horizontal, bottom] => Some([top, horizontal, bottom, horizontal]),
        [top, right, bottom, left] => Some([top, right, bottom, left]),
        _ => None,
    }
}

/// A value as it may be written.
fn written(node: &Node) -> Option<[f64; 4]> {
    match &node.value {
        Value::Number(_) => node.as_f64().map(|side| [side; 4]),
        Value::String(text) => {
            let values: Option<Vec<f64>> = text.split_whitespace().map(number::length).collect();
            expand(&values?)
        }
        Value::Array(items) => {
            let side = |item: &Node| match &item.value {
                Value::Number(_) => item.as_f64(),
                Value::String(text) => number::length(text),
                _ => None,
            };
            let values: Option<Vec<f64>> = items.iter().map(side).collect();
            expand(&values?)
        }
        Value::Object(object) => {
            let side = |names: [&str; 3]| {
                names.into_iter().find_map(|name| {
                    let node = object.find(name)?;
                    node.as_f64().or_else(|| number::length(node.as_str()?))
                })
            };
            let found = [
                side(["top", "y", "vertical"]),
                side(["right", "x", "horizontal"]),
                side(["bottom", "y", "vertical"]),
                side(["left", "x", "horizontal"]),
            ];
            let any = found.iter().any(Option::is_some);
            any.then(|| found.map(|side| side.unwrap_or(0.0)))
        }
        _ => None,
    }
}

pub(super) fn read(node: &Node, pass: &mut Pass<'_, '_>) -> Node {
    let Some(found) = written(node).filter(|found| found.iter().all(|side| side.is_finite()))
    else {
        let message = format!(
            "pad is a number or [top, right, bottom, left], not {}.",
            node.excerpt()
        );
        pass.findings.report(Code::SchemaType, node.origin, message);
        return node.clone();
    };
    let tidy = found.map(|side| side.round().clamp(0.0, MOST));
    let print = |sides: [f64; 4]| {
        let [first, ..] = sides;
        if sides == [first; 4] {
            return Node::number(node.origin, first);
        }
        let sides = sides.map(|side| Node::number(node.origin, side));
        Node::array(node.origin, sides.to_vec())
    };
    if sides(node) != Some(tidy) {
        let out_of_bounds = found.map(f64::round) != tidy;
        pass.findings.mend(
            if out_of_bounds {
                Code::SchemaRange
            } else {
                Code::SchemaType
            },
            node.origin,
            format!(
                "pad is 0 to {MOST}, or a list of four, not {}.",
                node.excerpt()
            ),
            if out_of_bounds { "clamp" } else { "coerce.px" },
            format!("{} to {}", node.excerpt(), print(tidy).excerpt()),
        );
    }
    print(tidy)
}
