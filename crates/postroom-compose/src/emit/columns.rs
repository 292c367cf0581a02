//! Columns as components, and how they share the width of their section.

use crate::model::{Block, BlockKind, Column, VerticalAlign};

use super::{
    body::{Around, Shared, direction, hiding, nodes, padding, px},
    component::{Component, Name},
    flow::Flow,
    leaves,
};

/// Widths of the columns of a section, in percent.
pub(super) struct Shares {
    stated: Vec<(String, f64)>,
    equal: f64,
}

impl Shares {
    pub(super) fn of(children: &[Block]) -> Self {
        let mut stated = Vec::new();
        let free = Self::collect(children, None, &mut stated);
        let taken: f64 = children.iter().map(|child| Self::taken(child, None)).sum();
        let equal = if free == 0 {
            100.0
        } else {
            (100.0 - taken).max(1.0) / f64::from(free)
        };
        Self { stated, equal }
    }

    /// Notes stated widths and counts columns without one; of two branches the longer counts.
    fn collect(blocks: &[Block], width: Option<f64>, stated: &mut Vec<(String, f64)>) -> u32 {
        let mut free = 0;
        for block in blocks {
            match &block.kind {
                BlockKind::Column(column) => match column.width.or(width) {
                    Some(width) => stated.push((block.id.clone(), width)),
                    None => free += 1,
                },
                BlockKind::If(node) => {
                    let then = Self::collect(&node.then, width, stated);
                    free += then.max(Self::collect(&node.otherwise, width, stated));
                }
                BlockKind::Each(node) => {
                    let width = node.column_width.or(width).or(Some(50.0));
                    Self::collect(&node.children, width, stated);
                    Self::collect(&node.empty, Some(100.0), stated);
                }
                _ => {}
            }
        }
        free
    }

    fn taken(block: &Block, width: Option<f64>) -> f64 {
        match &block.kind {
            BlockKind::Column(column) => column.width.or(width).unwrap_or(0.0),
            BlockKind::If(node) => {
                let sum = |blocks: &[Block]| -> f64 {
                    blocks.iter().map(|child| Self::taken(child, width)).sum()
                };
                sum(&node.then).max(sum(&node.otherwise))
            }
            _ => 0.0,
        }
    }

    fn share(&self, id: &str) -> f64 {
        let found = self.stated.iter().find(|(known, _)| known == id);
        found.map_or(self.equal, |(_, width)| *width)
    }
}

pub(super) fn column<'a>(
    flow: &mut Flow<'a>,
    shared: Shared<'_>,
    block: &'a Block,
    column: &'a Column,
    around: &Around,
    shares: &Shares,
) -> Component {
    let share = (shares.share(&block.id) * 100.0).floor() / 100.0;
    let own = block.background.color;
    let class = shared.borrow_mut().classes([hiding(block)]);
    let pad = block.pad;
    let padded = pad.top + pad.right + pad.bottom + pad.left > 0;
    let edges = column.border.map_or(0, |_| 2);
    let inside = Around {
        ground: own.unwrap_or(around.ground),
        themed: around.themed && own.is_none(),
        text: around.text,
        width: around.width * share / 100.0 - f64::from(pad.left + pad.right + edges),
        on_picture: around.on_picture,
    };
    let valign = match column.valign {
        VerticalAlign::Top => "top",
        VerticalAlign::Middle => "middle",
        VerticalAlign::Bottom => "bottom",
    };
    let component = Component::new(Name::Column)
        .with("width", format!("{share}%"))
        .with("vertical-align", valign)
        .with("direction", direction(flow, None))
        .with_some("background-color", own.map(|color| color.to_string()))
        .with_some(
            "border",
            column.border.map(|color| format!("1px solid {color}")),
        )
        .with_some(
            "border-radius",
            (column.radius > 0).then(|| px(column.radius)),
        )
        .with_some("padding", padded.then(|| padding(block)))
        .with_some("css-class", class);
    let mut out = Vec::new();
    nodes(
        flow,
        shared,
        &mut out,
        &column.children,
        &|flow, block, out| {
            leaves::leaf(flow, shared, block, out, &inside);
        },
    );
    component.nodes(out)
}
