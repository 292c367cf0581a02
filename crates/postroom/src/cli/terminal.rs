//! What the command writes: plain aligned text for people, one line of JSON for programs.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::Value;

/// Whether something that was to be written to standard output got lost.
static LOST: AtomicBool = AtomicBool::new(false);

/// Notes a write that failed. A reader that went away is no fault of ours; a full disk is.
fn noted(written: io::Result<()>) {
    if written.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Where output goes and how it looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// JSON instead of text.
    pub(crate) json: bool,
    /// Bold and dim text on a terminal that shows them.
    pub(crate) colour: bool,
}

impl Terminal {
    /// The process's terminal.
    pub(crate) fn new(json: bool, no_color: bool) -> Self {
        Self {
            json,
            colour: !json && !no_color && std::io::stdout().is_terminal(),
        }
    }

    /// Writes one line to standard output.
    pub(crate) fn line(self, text: &str) {
        noted(writeln!(io::stdout().lock(), "{text}"));
    }

    /// Whether all that was written to standard output is there.
    pub(crate) fn wrote_all(self) -> bool {
        noted(io::stdout().lock().flush());
        !LOST.load(Ordering::Relaxed)
    }

    /// Writes bytes to standard output as they are.
    pub(crate) fn bytes(self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        noted(out.write_all(bytes).and_then(|()| out.flush()));
    }

    /// Writes one JSON value on one line.
    pub(crate) fn value(self, value: &Value) {
        self.line(&value.to_string());
    }

    /// Writes one line to standard error.
    pub(crate) fn note(self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// Text in bold where the terminal shows it.
    pub(crate) fn bold(self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Text dimmed where the terminal shows it.
    pub(crate) fn dim(self, text: &str) -> String {
        self.styled("2", text)
    }

    fn styled(self, style: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{style}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// An outsider's text as a terminal may show it: no control characters, no bidirectional
/// overrides; line ends become spaces.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\n' | '\r' | '\t' => Some(' '),
            c if hidden(c) => None,
            c => Some(c),
        })
        .collect()
}

/// As [`plain`], keeping line ends and tabs.
pub(crate) fn plain_lines(text: &str) -> String {
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !hidden(*c))
        .collect()
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns of a terminal that a character takes: two for the wide scripts, none for marks.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200d | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text cut to `limit` columns, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += columns(c);
        if used > limit {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// Rows in aligned columns, each column at most `limit` wide; the heading first.
pub(crate) fn table(
    terminal: Terminal,
    heading: &[&str],
    rows: &[Vec<String>],
    limit: usize,
) -> String {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| cut(&plain(cell), limit)).collect())
        .collect();
    let widths: Vec<usize> = heading
        .iter()
        .enumerate()
        .map(|(place, title)| {
            let widest = cells
                .iter()
                .filter_map(|row| row.get(place))
                .map(|cell| width(cell))
                .max();
            widest.unwrap_or(0).max(title.len())
        })
        .collect();
    let line = |cells: Vec<&str>| {
        let mut out = String::new();
        for (cell, wanted) in cells.iter().zip(&widths) {
            out.push_str(cell);
            out.push_str(&" ".repeat(wanted.saturating_sub(width(cell)) + 2));
        }
        out.trim_end().to_owned()
    };
    let mut lines = vec![terminal.bold(&line(heading.to_vec()))];
    lines.extend(
        cells
            .iter()
            .map(|row| line(row.iter().map(String::as_str).collect())),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outsiders_text_cannot_steer_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\u{202e}c\nd"), "a[2Jbc d");
        assert_eq!(plain_lines("a\u{7}\nb"), "a\nb");
    }

    #[test]
    fn wide_scripts_are_aligned_and_cut_by_columns() {
        assert_eq!(width("上海"), 4);
        assert_eq!(cut("上海市长宁区", 6), "上海…");
        assert_eq!(cut("short", 5), "short");
        let terminal = Terminal {
            json: false,
            colour: false,
        };
        let shown = table(
            terminal,
            &["a", "b"],
            &[
                vec!["上海".into(), "x".into()],
                vec!["ab".into(), "y".into()],
            ],
            20,
        );
        assert_eq!(shown, "a     b\n上海  x\nab    y");
    }
}
