//! Data tables in plain text, their columns aligned, and wrapped where they are wider than a line.

use crate::model::{Align, BlockKind, Table};

use super::{
    flow::{Flow, Sink},
    lists::parts,
    plain::{COLUMNS, Plain, one_line, text},
    runs::Runs,
};

/// Blanks between columns.
const GAP: usize = 2;
/// Characters below which no column is made narrower.
const NARROW: usize = 8;

/// A cell, and whether a value or a branch is in it, whose length nobody knows yet.
#[derive(Debug, Clone)]
struct Cell {
    runs: Runs,
    fixed: bool,
}

/// A line of a table: cells, or a tag between rows.
#[derive(Debug, Clone)]
enum Line {
    Cells(Vec<Cell>),
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
    // Every row once and no values: the same in every language and with every sample, so that all
    // of them wrap the same words.
    let bare = widths(&lines(&mut flow.silent(), table));
    let most = narrowed(&bare);
    let lines = lines(flow, table);
    let mut widths = widths(&lines);
    if let Some(most) = &most {
        for (width, most) in widths.iter_mut().zip(most) {
            *width = (*width).min(*most);
        }
    }
    for line in &lines.0 {
        match line {
            Line::Tag(tag) => out.tag(tag),
            Line::Cells(cells) => {
                row(out, cells, &widths, &table.align, most.is_some());
            }
        }
    }
}

fn lines<'a>(flow: &mut Flow<'a>, table: &'a Table) -> Lines {
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
                    let fixed = out.has_tags();
                    let runs = out.out.on_one_line();
                    Some(Cell { runs, fixed })
                }
                _ => None,
            });
        let cells = cells.collect();
        lines.0.push(Line::Cells(cells));
    });
    lines
}

/// Characters of the widest cell of each column.
fn widths(lines: &Lines) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for line in &lines.0 {
        let Line::Cells(cells) = line else { continue };
        for (index, cell) in cells.iter().enumerate() {
            let len = cell.runs.chars().min(COLUMNS);
            match widths.get_mut(index) {
                Some(width) => *width = (*width).max(len),
                None => widths.push(len),
            }
        }
    }
    widths
}

/// Widths with which the columns fit on a line; `None` when they do already.
fn narrowed(widths: &[usize]) -> Option<Vec<usize>> {
    let room = COLUMNS.saturating_sub(GAP * widths.len().saturating_sub(1));
    if widths.iter().sum::<usize>() <= room {
        return None;
    }
    let mut widths = widths.to_vec();
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max();
        let Some(widest) = widest.filter(|widest| **widest > NARROW) else {
            break;
        };
        *widest -= 1;
    }
    Some(widths)
}

/// Writes a row, on as many lines as its longest cell has.
fn row(out: &mut Plain, cells: &[Cell], widths: &[usize], align: &[Align], wraps: bool) {
    let width = |index: usize| widths.get(index).copied().unwrap_or(0);
    let cells: Vec<Vec<Runs>> = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            if wraps && !cell.fixed {
                cell.runs.wrapped(width(index))
            } else {
                vec![cell.runs.clone()]
            }
        })
        .collect();
    let deepest = cells.iter().map(Vec::len).max().unwrap_or(0);
    let nothing = Runs::default();
    for depth in 0..deepest.max(1) {
        let mut line = Runs::default();
        for (index, cell) in cells.iter().enumerate() {
            let piece = cell.get(depth).unwrap_or(&nothing);
            let blanks = " ".repeat(width(index).saturating_sub(piece.chars()));
            if index > 0 {
                line.words(&" ".repeat(GAP));
            }
            if align.get(index) == Some(&Align::Right) {
                line.words(&blanks);
                line.append(piece.clone());
            } else {
                line.append(piece.clone());
                line.words(&blanks);
            }
        }
        line.trim_end();
        out.out.append(line);
        out.newline();
    }
}
