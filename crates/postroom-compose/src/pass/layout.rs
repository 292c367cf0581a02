//! What blocks have to agree on with their neighbours: widths of columns, lengths of rows.

use super::{Pass, values::two_decimals, walk_mut};
use crate::{
    draft::{Node, Value},
    issue::Code,
};

/// Makes widths add up and rows equally long.
pub(crate) fn arrange(root: &mut Node, pass: &mut Pass<'_, '_>) {
    if let Some(body) = super::body(root) {
        walk_mut(body, &mut |node| match node.kind() {
            Some("section") => section(node, pass),
            Some("table") => table(node, pass),
            _ => {}
        });
    }
}

/// Calls `visit` for the children of `node` of type `kind`, also inside `if` (its first branch) and,
/// if `all`, in every branch of `if` and `each`.
fn each_child(node: &mut Node, kind: &str, all: bool, visit: &mut dyn FnMut(&mut Node)) {
    let Some(object) = node.as_object_mut() else {
        return;
    };
    for (key, list) in &mut object.0 {
        let counts = match key.as_str() {
            "children" | "then" => true,
            "else" | "empty" => all,
            _ => false,
        };
        if !counts {
            continue;
        }
        for child in list.as_array_mut().into_iter().flatten() {
            match child.kind() {
                Some(found) if found == kind => visit(child),
                Some("if" | "each") => each_child(child, kind, all, visit),
                _ => {}
            }
        }
    }
}

fn section(node: &mut Node, pass: &mut Pass<'_, '_>) {
    let at = node.origin;
    let children = node.as_object().and_then(|object| object.find("children"));
    let loops: Vec<(u32, bool)> = children
        .and_then(Node::as_array)
        .unwrap_or_default()
        .iter()
        .filter(|child| child.kind() == Some("each"))
        .map(|child| {
            let stated = child
                .as_object()
                .is_some_and(|object| object.has("columnWidth"));
            (child.origin, stated)
        })
        .collect();
    for (origin, stated) in &loops {
        if !stated {
            let message = "The each repeats columns and does not say how wide they are.";
            pass.findings.report(Code::EachColumns, *origin, message);
        }
    }
    if !loops.is_empty() {
        return;
    }
    let mut widths: Vec<Option<f64>> = Vec::new();
    let mut readable = true;
    each_child(node, "column", false, &mut |column| {
        let width = column.as_object().and_then(|object| object.find("width"));
        readable &= width.is_none_or(|width| width.as_f64().is_some());
        widths.push(width.and_then(Node::as_f64));
    });
    let stated: Vec<f64> = widths.iter().copied().flatten().collect();
    let sum: f64 = stated.iter().sum();
    let blank = widths.len() - stated.len();
    // Blank columns need at least one percent each.
    #[expect(clippy::cast_precision_loss, reason = "a few columns")]
    let wrong = match blank {
        0 => (sum - 100.0).abs() > 0.5,
        blank => sum > 100.0 - blank as f64,
    };
    if stated.is_empty() || !readable || !wrong {
        return;
    }
    let shown: Vec<String> = widths
        .iter()
        .map(|width| width.map_or_else(|| "blank".to_owned(), |width| width.to_string()))
        .collect();
    let message = format!(
        "The columns are {} wide, together {} percent.",
        shown.join(", "),
        two_decimals(sum)
    );
    let scaled = scale(&widths);
    let told: Vec<String> = scaled.iter().map(f64::to_string).collect();
    let change = format!("{} to {}", shown.join(", "), told.join(", "));
    pass.findings
        .mend(Code::ColumnWidthSum, at, message, "width.share", change);
    let mut scaled = scaled.into_iter();
    each_child(node, "column", false, &mut |column| {
        let origin = column.origin;
        if let (Some(object), Some(width)) = (column.as_object_mut(), scaled.next()) {
            object.put("width", Node::number(origin, width));
        }
    });
}

/// Widths scaled to 100, blank ones as wide as the others on average; the last takes what rounding
/// leaves.
#[expect(clippy::cast_precision_loss, reason = "a few columns")]
fn scale(widths: &[Option<f64>]) -> Vec<f64> {
    let stated: Vec<f64> = widths.iter().copied().flatten().collect();
    let mean = stated.iter().sum::<f64>() / stated.len().max(1) as f64;
    let full: Vec<f64> = widths.iter().map(|width| width.unwrap_or(mean)).collect();
    let sum: f64 = full.iter().sum();
    let mut scaled: Vec<f64> = full
        .iter()
        .map(|width| two_decimals(width / sum * 100.0).max(1.0))
        .collect();
    let rest: f64 = 100.0 - scaled.iter().sum::<f64>();
    // The widest takes the rest, so that none falls below what is allowed.
    let widest = scaled
        .iter_mut()
        .max_by(|one, two| one.partial_cmp(two).unwrap_or(std::cmp::Ordering::Equal));
    if let Some(widest) = widest {
        *widest = two_decimals(*widest + rest);
    }
    scaled
}

fn table(node: &mut Node, pass: &mut Pass<'_, '_>) {
    let mut longest = 0;
    let mut shortest = usize::MAX;
    each_child(node, "row", true, &mut |row| {
        let cells = row.as_object().and_then(|object| object.find("children"));
        let count = cells.and_then(Node::as_array).map_or(0, <[Node]>::len);
        longest = longest.max(count);
        shortest = shortest.min(count);
    });
    if shortest >= longest {
        return;
    }
    each_child(node, "row", true, &mut |row| {
        let at = row.origin;
        let cells = row
            .as_object_mut()
            .and_then(|object| object.find_mut("children"));
        let Some(cells) = cells.and_then(Node::as_array_mut) else {
            return;
        };
        let count = cells.len();
        if count == longest {
            return;
        }
        pass.findings.mend(
            Code::TableRagged,
            at,
            format!("The row has {count} cells, the longest has {longest}."),
            "table.pad",
            format!("{} empty cells added", longest - count),
        );
        cells.resize_with(longest, || {
            Node::block(
                at,
                "cell",
                vec![("text", Node::new(at, Value::Array(Vec::new())))],
            )
        });
    });
}
