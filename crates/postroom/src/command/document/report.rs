//! Findings on files, in the forms that people, programs, code scanning and GitHub Actions read.

use std::{collections::BTreeMap, process::ExitCode};

use postroom_compose::{Issue, Severity};
use serde_json::{Value, json};

use super::{Format, Judging, files::Named};
use crate::cli::{
    terminal::{Terminal, plain},
    trouble::{PROBLEMS, Trouble, USAGE},
};

/// What was found, file by file.
#[derive(Debug, Default)]
pub(super) struct Report {
    files: Vec<(Named, Vec<Issue>)>,
    /// Some file was no document at all.
    unusable: bool,
    /// Files that could not be read, and why.
    unread: Vec<Trouble>,
}

impl Report {
    /// Adds what was found in one file.
    pub(super) fn add(&mut self, file: Named, issues: Vec<Issue>, unusable: bool) {
        self.unusable |= unusable;
        self.files.push((file, issues));
    }

    /// Notes a file that could not be read; the others are told all the same.
    pub(super) fn miss(&mut self, trouble: Trouble) {
        self.unusable = true;
        self.unread.push(trouble);
    }

    fn count(&self, severity: Severity) -> usize {
        let issues = self.files.iter().flat_map(|(_, issues)| issues);
        issues.filter(|issue| issue.severity == severity).count()
    }

    /// Prints it and judges.
    pub(super) fn tell(&self, judging: &Judging, terminal: Terminal) -> ExitCode {
        let (errors, warnings) = (self.count(Severity::Error), self.count(Severity::Warning));
        let too_many = judging.max_warnings.is_some_and(|most| warnings > most);
        match judging.format(terminal) {
            Format::Text => self.text(errors, warnings, terminal),
            Format::Json => terminal.value(&self.json(errors, warnings)),
            Format::Sarif => terminal.value(&self.sarif()),
            Format::Github => self.github(terminal),
        }
        for trouble in &self.unread {
            trouble.say(terminal);
        }
        if self.unusable {
            ExitCode::from(USAGE)
        } else if errors > 0 || too_many {
            ExitCode::from(PROBLEMS)
        } else {
            ExitCode::SUCCESS
        }
    }

    fn text(&self, errors: usize, warnings: usize, terminal: Terminal) {
        for (file, issues) in &self.files {
            lines(&file.name, issues, &mut |line| terminal.line(line));
        }
        let files = self.files.len();
        let plural = if files == 1 { "file" } else { "files" };
        terminal.line(&format!(
            "{files} {plural}: {errors} errors, {warnings} warnings"
        ));
    }

    fn json(&self, errors: usize, warnings: usize) -> Value {
        let files: Vec<Value> = self
            .files
            .iter()
            .map(|(file, issues)| {
                let ok = !issues.iter().any(Issue::is_error);
                json!({"file": file.name, "ok": ok, "issues": issues})
            })
            .collect();
        json!({"ok": errors == 0 && !self.unusable, "errors": errors, "warnings": warnings, "files": files})
    }

    fn sarif(&self) -> Value {
        let mut rules = BTreeMap::new();
        let mut results = Vec::new();
        for (file, issues) in &self.files {
            for issue in issues {
                rules
                    .entry(issue.code.as_ref())
                    .or_insert_with(|| json!({"id": issue.code, "help": {"text": issue.hint}}));
                results.push(json!({
                    "ruleId": issue.code,
                    "level": level(issue.severity),
                    "message": {"text": format!("{} {}", issue.message, issue.hint)},
                    "locations": [{
                        "physicalLocation": {
                            "artifactLocation": {"uri": reference(&file.name)},
                            "region": {"startLine": issue.line.unwrap_or(1), "startColumn": issue.column.unwrap_or(1)},
                        },
                        "logicalLocations": [{"fullyQualifiedName": issue.path}],
                    }],
                }));
            }
        }
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "postroom",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.into_values().collect::<Vec<_>>(),
                }},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        })
    }

    /// Workflow commands of GitHub Actions; `%`, line ends and, in properties, `:` and `,` are escaped.
    fn github(&self, terminal: Terminal) {
        let data = |text: &str| {
            text.replace('%', "%25")
                .replace('\r', "%0D")
                .replace('\n', "%0A")
        };
        let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
        for (file, issues) in &self.files {
            for issue in issues {
                let command = match issue.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Info => "notice",
                };
                terminal.line(&format!(
                    "::{command} file={},line={},col={},title={}::{}",
                    property(&file.name),
                    issue.line.unwrap_or(1),
                    issue.column.unwrap_or(1),
                    property(&issue.code),
                    data(&plain(&format!("{} {}", issue.message, issue.hint))),
                ));
            }
        }
    }
}

/// A file's name as a relative URI reference (RFC 3986 section 4.2). A colon in the first part would make
/// it a scheme.
fn reference(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// One line for each finding, as compilers print them.
pub(super) fn lines(name: &str, issues: &[Issue], say: &mut dyn FnMut(&str)) {
    for issue in issues {
        let place = match (issue.line, issue.column) {
            (Some(line), Some(column)) => format!("{name}:{line}:{column}"),
            _ => name.to_owned(),
        };
        let severity = match issue.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let fix = if issue.fix.is_some() {
            " (postroom repair mends it)"
        } else {
            ""
        };
        say(&plain(&format!(
            "{place}: {severity}: {} {} [{}]{fix}",
            issue.message, issue.hint, issue.code
        )));
    }
}
