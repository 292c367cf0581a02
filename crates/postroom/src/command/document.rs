//! Commands on e-mail documents and on HTML: pure work on files, no data folder, key or network.

mod files;
mod report;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand, ValueEnum};
use postroom_compose::{
    self as compose, Detail, Issue, SchemaKind,
    dialect::Dialect,
    emit::{Envelope, Options, Target},
    lint::{self, Foreign},
};

use super::Done;
use crate::cli::{terminal::Terminal, trouble::Trouble};
use files::{Named, write};
use report::Report;

/// What can be done with documents.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Document {
    /// Say what is wrong with e-mail documents
    #[command(after_help = EXITS)]
    Check(Check),
    /// Mend what can be mended in an e-mail document
    #[command(
        after_help = "Exit status: 0 nothing is left, 1 errors are left for you, 2 a file cannot be used."
    )]
    Repair(Repair),
    /// Turn an e-mail document into HTML, MJML, text, JSON or a whole mail
    #[command(
        after_help = "Exit status: 0 compiled, 1 the document has errors, 2 a file cannot be used."
    )]
    Compile(Compile),
    /// Say what e-mail documents may hold
    Describe(Describe),
    /// Say what mail programs will make of HTML files
    #[command(after_help = EXITS)]
    Lint(Lint),
    /// Say what differs between two documents, block by block
    #[command(after_help = "Exit status: 0 no difference, 1 differences, 2 a file cannot be used.")]
    Diff(Diff),
    /// Print a JSON Schema of e-mail documents
    Schema(Schema),
    /// Print a finished e-mail document to begin with
    Example(Example),
}

const EXITS: &str =
    "Exit status: 0 no errors, 1 errors or more warnings than allowed, 2 a file cannot be used.";

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// How findings are told and judged.
#[derive(Debug, Clone, Args)]
pub(crate) struct Judging {
    /// How findings are printed
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// More warnings than this are a failure
    #[arg(long, value_name = "COUNT")]
    max_warnings: Option<usize>,
    /// Mail programs whose support is looked up, separated by commas, or all [default: gmail,outlook,apple-mail]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    clients: Vec<String>,
}

impl Judging {
    fn options(&self) -> Result<lint::Options, Trouble> {
        lint::clients_named(&self.clients).map_err(|name| {
            Trouble::usage(
                format!("There is no mail program `{name}`."),
                format!("Choose from {}.", lint::CLIENTS.join(", ")),
            )
        })?;
        Ok(lint::Options {
            clients: self.clients.clone(),
        })
    }

    fn format(&self, terminal: Terminal) -> Format {
        if terminal.json {
            Format::Json
        } else {
            self.format
        }
    }
}

/// Documents to check.
#[derive(Debug, Clone, Args)]
pub(crate) struct Check {
    /// Files, patterns such as 'emails/**/*.email.json', or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    #[command(flatten)]
    judging: Judging,
}

/// A document to repair.
#[derive(Debug, Clone, Args)]
pub(crate) struct Repair {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Where the repaired document goes; standard output without it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A document to compile.
#[derive(Debug, Clone, Args)]
pub(crate) struct Compile {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// What it becomes: html, mjml, text, json, eml
    #[arg(long, value_name = "TARGET", default_value = "html", value_parser = named(Target::NAMES.iter().map(|(name, _)| *name)))]
    target: String,
    /// The template language of the sending system
    #[arg(long, value_name = "DIALECT", default_value = "none", value_parser = named(Dialect::NAMES.iter().map(|(name, _)| *name)))]
    variables: String,
    /// Where it goes; standard output without it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Of HTML only what stands inside the body
    #[arg(long)]
    fragment: bool,
    /// Leave out what only classic Outlook reads
    #[arg(long)]
    without_mso: bool,
    /// Compile the repaired copy although errors stand
    #[arg(long)]
    force: bool,
    /// From of a whole mail
    #[arg(long, value_name = "MAILBOX")]
    from: Option<String>,
    /// To of a whole mail
    #[arg(long, value_name = "MAILBOX")]
    to: Option<String>,
}

/// What to describe.
#[derive(Debug, Clone, Args)]
pub(crate) struct Describe {
    /// Kinds of blocks [default: all]
    #[arg(value_name = "BLOCK")]
    names: Vec<String>,
    /// How much: brief, usual, examples
    #[arg(long, value_name = "DETAIL", default_value = "usual", value_parser = named(Detail::NAMES.iter().map(|(name, _)| *name)))]
    verbosity: String,
}

/// HTML files to look at.
#[derive(Debug, Clone, Args)]
pub(crate) struct Lint {
    /// Files, patterns, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Subject of the mail, when it is known
    #[arg(long)]
    subject: Option<String>,
    /// Preview line of the mail, when it is known
    #[arg(long)]
    preheader: Option<String>,
    #[command(flatten)]
    judging: Judging,
}

/// Two documents.
#[derive(Debug, Clone, Args)]
pub(crate) struct Diff {
    /// The document as it was
    #[arg(value_name = "OLD")]
    old: String,
    /// The document as it is
    #[arg(value_name = "NEW")]
    new: String,
}

/// Which schema.
#[derive(Debug, Clone, Args)]
pub(crate) struct Schema {
    /// For whom: full, ai, ai-flat, all-required
    #[arg(value_name = "KIND", default_value = "full", value_parser = named(SchemaKind::NAMES.iter().map(|(name, _)| *name)))]
    kind: String,
}

/// Which example.
#[derive(Debug, Clone, Args)]
pub(crate) struct Example {
    /// The example; all are listed without it
    #[arg(value_name = "NAME", value_parser = named(compose::STARTERS.iter().map(|starter| starter.name)))]
    name: Option<String>,
}

fn named(names: impl Iterator<Item = &'static str>) -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(names.collect::<Vec<_>>())
}

/// Runs one of them.
pub(super) fn run(document: &Document, terminal: Terminal) -> Done {
    match document {
        Document::Check(options) => check(options, terminal),
        Document::Repair(options) => repair(options, terminal),
        Document::Compile(options) => compile(options, terminal),
        Document::Describe(options) => describe(options, terminal),
        Document::Lint(options) => lint_files(options, terminal),
        Document::Diff(options) => diff(options, terminal),
        Document::Schema(options) => Ok(schema(options, terminal)),
        Document::Example(options) => Ok(example(options, terminal)),
    }
}

fn check(options: &Check, terminal: Terminal) -> Done {
    let lint = options.judging.options()?;
    let mut report = Report::default();
    for file in files::all(&options.files)? {
        match file.text() {
            Ok(text) => {
                let checked = compose::check_with(&text, &lint);
                report.add(file, checked.issues, checked.unusable);
            }
            Err(trouble) => report.miss(trouble),
        }
    }
    Ok(report.tell(&options.judging, terminal))
}

fn lint_files(options: &Lint, terminal: Terminal) -> Done {
    let lint_options = options.judging.options()?;
    let mut report = Report::default();
    for file in files::all(&options.files)? {
        let text = match file.text() {
            Ok(text) => text,
            Err(trouble) => {
                report.miss(trouble);
                continue;
            }
        };
        let mail = Foreign {
            html: &text,
            subject: options.subject.as_deref(),
            preheader: options.preheader.as_deref(),
            kind: None,
        };
        let issues = lint::html(&mail, &lint_options);
        report.add(file, issues, false);
    }
    Ok(report.tell(&options.judging, terminal))
}

fn repair(options: &Repair, terminal: Terminal) -> Done {
    let options = &Repair {
        out: named_out(options.out.as_ref()),
        ..options.clone()
    };
    let file = Named::one(&options.file);
    let repaired = compose::repair(&file.text()?);
    if repaired.unusable {
        return Err(unusable(&file, &repaired.issues));
    }
    let text = compose::print(&repaired.document);
    match &options.out {
        Some(out) => write(out, text.as_bytes())?,
        None if terminal.json => {}
        None => terminal.bytes(text.as_bytes()),
    }
    if terminal.json {
        terminal.value(&serde_json::to_value(&repaired).unwrap_or_default());
    } else {
        for change in &repaired.applied {
            terminal.note(&format!(
                "{}  {}  {}",
                change.path, change.code, change.change
            ));
        }
        report::lines(&file.name, &repaired.issues, &mut |line| {
            terminal.note(line)
        });
    }
    Ok(exit(repaired.ok))
}

/// The file that a result goes to; `-` is standard output, as without one.
fn named_out(out: Option<&PathBuf>) -> Option<PathBuf> {
    out.filter(|out| out.as_os_str() != "-").cloned()
}

fn compile(options: &Compile, terminal: Terminal) -> Done {
    let options = &Compile {
        out: named_out(options.out.as_ref()),
        ..options.clone()
    };
    let file = Named::one(&options.file);
    let how = Options {
        target: Target::named(&options.target).unwrap_or_default(),
        dialect: Dialect::named(&options.variables).unwrap_or_default(),
        fragment: options.fragment,
        mso: !options.without_mso,
        envelope: Envelope {
            from: options.from.clone(),
            to: options.to.clone(),
            ..Envelope::default()
        },
        ..Options::default()
    };
    let made = compose::compile(&file.text()?, &how, options.force);
    if made.unusable {
        return Err(unusable(&file, &made.issues));
    }
    let has_code = made.ok || options.force;
    if has_code && let Some(out) = &options.out {
        if file.is_at(out) {
            return Err(Trouble::usage(
                "The compiled mail would take the place of its document.",
                "Name another file with --out.",
            ));
        }
        write(out, made.compiled.code.as_bytes())?;
    }
    if terminal.json {
        terminal.value(&made.to_json(how.target));
    } else {
        if has_code && options.out.is_none() {
            terminal.bytes(made.compiled.code.as_bytes());
        }
        report::lines(&file.name, &made.issues, &mut |line| terminal.note(line));
    }
    if has_code && how.target == Target::Eml && options.from.is_none() {
        terminal.note(
            "The mail names no author, which every mail has to: add --from 'Name <address>' before it is handed to a server.",
        );
    }
    Ok(exit(made.ok))
}

fn describe(options: &Describe, terminal: Terminal) -> Done {
    let names: Vec<&str> = options.names.iter().map(String::as_str).collect();
    let detail = Detail::named(&options.verbosity).unwrap_or_default();
    let described = compose::describe(&names, detail);
    if let Some(unknown) = described
        .pointer("/unknown/0")
        .and_then(|name| name.as_str())
    {
        return Err(Trouble::usage(
            format!("There is no block `{unknown}`."),
            "`postroom describe` lists all of them.",
        ));
    }
    if terminal.json {
        terminal.value(&described);
    } else {
        terminal.line(&format!("{described:#}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn diff(options: &Diff, terminal: Terminal) -> Done {
    let (old, new) = (Named::one(&options.old), Named::one(&options.new));
    let (before, after) = (old.text()?, new.text()?);
    let found = compose::diff(&before, &after);
    if !found.ok {
        // Which of the two it was is told by reading each alone.
        let checked = compose::check(&before);
        return Err(if checked.unusable {
            unusable(&old, &checked.issues)
        } else {
            unusable(&new, &found.issues)
        });
    }
    if terminal.json {
        terminal.value(
            &serde_json::json!({"equal": found.equal, "ops": found.ops, "changes": found.changes}),
        );
    } else {
        for change in &found.changes {
            terminal.line(change);
        }
    }
    Ok(exit(found.equal))
}

fn schema(options: &Schema, terminal: Terminal) -> ExitCode {
    let kind = SchemaKind::named(&options.kind).unwrap_or(SchemaKind::Full);
    let schema = compose::schema(kind);
    if terminal.json {
        terminal.value(&schema);
    } else {
        terminal.line(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    }
    ExitCode::SUCCESS
}

fn example(options: &Example, terminal: Terminal) -> ExitCode {
    if let Some(starter) = options.name.as_deref().and_then(compose::starter) {
        terminal.bytes(starter.text.as_bytes());
        return ExitCode::SUCCESS;
    }
    if terminal.json {
        let names: Vec<_> = compose::STARTERS
            .iter()
            .map(|one| serde_json::json!({"name": one.name, "description": one.description}))
            .collect();
        terminal.value(&serde_json::json!({ "examples": names }));
        return ExitCode::SUCCESS;
    }
    for one in compose::STARTERS {
        terminal.line(&format!("{:<16}{}", one.name, one.description));
    }
    ExitCode::SUCCESS
}

fn exit(fine: bool) -> ExitCode {
    if fine {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(crate::cli::trouble::PROBLEMS)
    }
}

/// What is no JSON, or past a bound, is no document with issues.
fn unusable(file: &Named, issues: &[Issue]) -> Trouble {
    let said = issues.first();
    let at = said
        .and_then(|issue| {
            Some(format!(
                " at line {}, column {}",
                issue.line?, issue.column?
            ))
        })
        .unwrap_or_default();
    let what = said.map_or("It is no JSON.", |issue| issue.message.as_str());
    Trouble::io(
        format!("{} cannot be read as a document{at}: {what}", file.name),
        said.map_or_else(String::new, |issue| issue.hint.clone()),
    )
}
