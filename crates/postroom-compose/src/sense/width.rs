//! Whether blocks fit into their columns.

use crate::{
    issue::{Code, Issue},
    model::{Block, BlockKind, Document, Section},
};

pub(super) fn document(document: &Document, issues: &mut Vec<Issue>) {
    let width = f64::from(document.theme.width);
    for block in &document.body {
        band(block, width, width, issues);
    }
}

/// `whole` is the width of the mail, `room` what the place has.
fn band(block: &Block, whole: f64, room: f64, issues: &mut Vec<Issue>) {
    let inner = room - f64::from(block.pad.left + block.pad.right);
    match &block.kind {
        BlockKind::Section(section) => columns(section, whole, inner, issues),
        BlockKind::If(_) | BlockKind::Each(_) => {
            for child in block.children() {
                band(child, whole, room, issues);
            }
        }
        BlockKind::Panel(_) => {
            for child in block.children() {
                band(child, whole, inner, issues);
            }
        }
        BlockKind::Hero(_) => {
            for child in block.children() {
                leaf(child, whole, inner, issues);
            }
        }
        _ => leaf(block, whole, room, issues),
    }
}

fn columns(section: &Section, whole: f64, room: f64, issues: &mut Vec<Issue>) {
    let mut found: Vec<(&Block, Option<f64>)> = Vec::new();
    collect(
        &section.children.iter().collect::<Vec<_>>(),
        None,
        &mut found,
    );
    #[expect(clippy::cast_precision_loss, reason = "a few columns")]
    let equal = 100.0 / found.len().max(1) as f64;
    for (column, width) in found {
        let room =
            room * width.unwrap_or(equal) / 100.0 - f64::from(column.pad.left + column.pad.right);
        for child in column.children() {
            leaf(child, whole, room, issues);
        }
    }
}

fn collect<'b>(
    blocks: &[&'b Block],
    width: Option<f64>,
    found: &mut Vec<(&'b Block, Option<f64>)>,
) {
    for block in blocks {
        match &block.kind {
            BlockKind::Column(column) => found.push((block, width.or(column.width))),
            BlockKind::Each(each) => collect(&block.children(), each.column_width, found),
            // Only one branch is there at a time.
            BlockKind::If(node) => {
                collect(&node.then.iter().collect::<Vec<_>>(), width, found);
            }
            _ => {}
        }
    }
}

fn leaf(block: &Block, whole: f64, room: f64, issues: &mut Vec<Issue>) {
    let width = match &block.kind {
        BlockKind::Image(node) => node.width,
        BlockKind::Video(node) => node.width,
        BlockKind::Button(node) => node.width,
        BlockKind::If(_) | BlockKind::Each(_) => {
            for child in block.children() {
                leaf(child, whole, room, issues);
            }
            None
        }
        _ => None,
    };
    let Some(width) = width.map(f64::from) else {
        return;
    };
    let room = (room - f64::from(block.pad.left + block.pad.right))
        .max(0.0)
        .floor();
    let name = block.kind.name();
    if width > whole {
        let message = format!("The {name} is {width} px wide, the mail {whole}.");
        let hint = format!("Set width to {room} or leave it out.");
        issues.push(Issue::new(Code::ImageTooWide, &block.source, message).hint(hint));
    } else if width > room {
        let message = format!("The {name} is {width} px wide, its place {room}.");
        let hint = format!("Set width to {room} or leave it out.");
        issues.push(Issue::new(Code::WidthOverflow, &block.source, message).hint(hint));
    }
}
