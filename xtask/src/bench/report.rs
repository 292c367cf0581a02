//! A table with what is needed to judge it: command, machine, date, versions.

use std::{fmt::Write as _, process::Command};

use anyhow::Result;

use crate::process;

/// Figures of one run.
pub(crate) struct Report {
    name: &'static str,
    command: String,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Report {
    /// An empty table.
    pub(crate) fn new(name: &'static str, command: String, columns: &[&'static str]) -> Self {
        Self {
            name,
            command,
            columns: columns.to_vec(),
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Says in the command that the peers were left out.
    pub(crate) fn without_peers(&mut self) {
        self.command.push_str(" --no-peers");
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        eprintln!("{}", cells.join(" | "));
        self.rows.push(cells);
    }

    /// Adds a sentence below the table.
    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Prints the page and writes it to `docs/benchmarks/NAME.md`.
    pub(crate) fn print_and_write(&self) -> Result<()> {
        let mut page = format!("# {}\n\n`{}`\n\n", self.name, self.command);
        let _ = writeln!(
            page,
            "| {} |\n|{}",
            self.columns.join(" | "),
            "---|".repeat(self.columns.len())
        );
        for row in &self.rows {
            let _ = writeln!(page, "| {} |", row.join(" | "));
        }
        for note in &self.notes {
            let _ = writeln!(page, "\n{note}");
        }
        let _ = writeln!(page, "\n{}", machine());
        print!("{page}");
        let folder = process::root().join("docs").join("benchmarks");
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("{}.md", self.name)), page)?;
        Ok(())
    }
}

/// Machine, date and versions in a line.
fn machine() -> String {
    let said = |program: &str, arguments: &[&str]| {
        process::output(Command::new(program).args(arguments))
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map(|rest| rest.trim_start_matches([' ', '\t', ':']))
        .unwrap_or("unknown CPU");
    format!(
        "Machine: {} cores of {model}, {}. {}. Date: {}.",
        said("nproc", &[]),
        said("uname", &["-sr"]),
        said("rustc", &["--version"]),
        said("date", &["-u", "+%Y-%m-%d"])
    )
}
