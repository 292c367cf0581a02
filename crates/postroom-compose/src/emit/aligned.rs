//! Data tables in plain text, their columns aligned.

use crate::model::{Align, BlockKind, Table};

use super::{
    flow::{Flow, Sink},
    lists::parts,
    plain::{COLUMNS, Plain, one_line, text},
    runs::Runs,
};

/// A line of a table: cells, or a tag between rows.
#[derive(Debug, Clone)]
enum Line {
    Cells(Vec<Runs>),
    Tag(String),
}

#[derive(Debug, Clone, Default)]
struct Lines(Vec<Line>);

impl Sink for Lines {
    fn tag(&mut self, tag: &str) {
        self.0.push(Line::Tag(tag.to_owned()));
    }

    fn literal(&mut self, words: &str) {
        self.tag(words);
    }

    fn empty(&self) -> Self {
        Self::default()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

pub(super) fn table<'a>(flow: &mut Flow<'a>, out: &mut Plain, table: &'a Table) {
    if let Some(caption) = &table.caption {
        out.words(&one_line(caption));
        out.newline();
    }
    let mut lines = Lines::default();
    parts(flow, &mut lines, &table.children, &|flow, block, lines| {
        let cells = block
            .kind
            .content()
            .iter()
            .filter_map(|cell| match &cell.kind {
                BlockKind::Cell(cell) => {
                    let mut out = Plain::default();
                    text(flow, &mut out, &cell.text);
                    Some(out.out.on_one_line())
                }
                _ => None,
            });
        let cells = cells.collect();
        lines.0.push(Line::Cells(cells));
    });
    let mut widths: Vec<usize> = Vec::new();
    for line in &lines.0 {
        let Line::Cells(cells) = line else { continue };
        for (index, cell) in cells.iter().enumerate() {
            let len = cell.chars().min(COLUMNS / 2);
            match widths.get_mut(index) {
                Some(width) => *width = (*width).max(len),
                None => widths.push(len),
            }
        }
    }
    for line in &lines.0 {
        match line {
            Line::Tag(tag) => out.tag(tag),
            Line::Cells(cells) => {
                out.out.append(row(cells, &widths, &table.align));
                out.newline();
            }
        }
    }
}

fn row(cells: &[Runs], widths: &[usize], align: &[Align]) -> Runs {
    let mut out = Runs::default();
    for (index, cell) in cells.iter().enumerate() {
        let width = widths.get(index).copied().unwrap_or(0);
        let blanks = " ".repeat(width.saturating_sub(cell.chars()));
        if index > 0 {
            out.words("  ");
        }
        if align.get(index) == Some(&Align::Right) {
            out.words(&blanks);
            out.append(cell.clone());
        } else {
            out.append(cell.clone());
            out.words(&blanks);
        }
    }
    out.trim_end();
    out
}
