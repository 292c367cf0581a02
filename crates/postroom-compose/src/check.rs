//! Check and repair.

use postroom_types::limit;
use serde::Serialize;

use crate::{
    draft::{self, Double, Node, Origins},
    findings::{Applied, Findings},
    issue::{self, Code, Issue, Severity},
    lint,
    model::Document,
    pass::{self, RepairOptions},
    read, sense,
};

/// A document as it comes: text, or JSON that was read already.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// JSON text; issues then have lines and columns.
    Text(&'a str),
    /// A JSON value; a string is taken as JSON text.
    Value(&'a serde_json::Value),
}

impl<'a> From<&'a str> for Input<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Input<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a serde_json::Value> for Input<'a> {
    fn from(value: &'a serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(text),
            value => Self::Value(value),
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// No issue is an error.
    pub ok: bool,
    /// In order: severity, place, code.
    pub issues: Vec<Issue>,
    /// The document, if no issue is an error.
    #[serde(skip)]
    pub document: Option<Document>,
    /// The input is no JSON, or past a bound: nothing in it was looked at.
    #[serde(skip)]
    pub unusable: bool,
}

/// What a repair made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Repaired {
    /// No issue of the repaired document is an error.
    pub ok: bool,
    /// The document in canonical form with everything mended that can be; null when the input is
    /// unusable.
    pub document: serde_json::Value,
    /// What was changed, in document order.
    pub applied: Vec<Applied>,
    /// What the repaired document still has.
    pub issues: Vec<Issue>,
    /// The repaired document, leaving out what is still wrong in it.
    #[serde(skip)]
    pub model: Option<Document>,
    /// The input is no JSON, or past a bound.
    #[serde(skip)]
    pub unusable: bool,
}

/// Rounds of passes after which a repair stops; two are usual, the second finding nothing.
const ROUNDS: usize = 5;

/// Finds everything that is wrong with a document. Never fails: what is no document at all gives
/// one issue and `unusable`.
#[must_use]
pub fn check<'i>(input: impl Into<Input<'i>>) -> Checked {
    check_with(input, &lint::Options::default())
}

/// The same for the mail programs that `looks` names.
#[must_use]
pub fn check_with<'i>(input: impl Into<Input<'i>>, looks: &lint::Options) -> Checked {
    let (mut root, origins, doubles) = match take(input.into()) {
        Ok(taken) => taken,
        Err(issue) => {
            return Checked {
                ok: false,
                issues: vec![*issue],
                document: None,
                unusable: true,
            };
        }
    };
    let mode = Mode {
        repairing: false,
        options: RepairOptions::default(),
        looks,
    };
    let examined = examine(&mut root, origins, doubles, mode);
    let ok = !examined.issues.iter().any(Issue::is_error);
    let document = examined.document.filter(|_| ok);
    Checked {
        ok,
        issues: issue::ordered(examined.issues),
        document: document.map(|document| Document {
            draft: root,
            ..document
        }),
        unusable: false,
    }
}

/// Mends what can be mended and says what it did.
#[must_use]
pub fn repair<'i>(input: impl Into<Input<'i>>) -> Repaired {
    repair_with(input, RepairOptions::default())
}

/// The same with what the caller allows beyond.
#[must_use]
pub fn repair_with<'i>(input: impl Into<Input<'i>>, options: RepairOptions) -> Repaired {
    let (mut root, origins, doubles) = match take(input.into()) {
        Ok(taken) => taken,
        Err(issue) => {
            return unusable(vec![*issue]);
        }
    };
    let mode = Mode {
        repairing: true,
        options,
        looks: &lint::Options::default(),
    };
    let mut examined = examine(&mut root, origins, doubles, mode);
    let mut applied = std::mem::take(&mut examined.applied);
    let mut json = root.to_json();
    // What the text lost before anybody could read it is not in what comes of it.
    let mut lost: Vec<Issue> = examined
        .issues
        .iter()
        .filter(|issue| issue.is_error() && is_lost(issue))
        .cloned()
        .collect();
    // A mended document may show what was hidden before, so it is looked at again.
    for _ in 0..ROUNDS {
        let Ok((again, origins)) = draft::from_value(&json) else {
            return unusable(examined.issues);
        };
        root = again;
        examined = examine(&mut root, origins, Vec::new(), mode);
        if examined.applied.is_empty() {
            break;
        }
        lost.extend(
            examined
                .issues
                .iter()
                .filter(|issue| is_lost(issue))
                .cloned(),
        );
        applied.append(&mut examined.applied);
        json = root.to_json();
    }
    examined.issues.extend(lost);
    let ok = !examined.issues.iter().any(Issue::is_error);
    Repaired {
        ok,
        document: json,
        applied,
        issues: issue::ordered(examined.issues),
        model: examined.document.map(|document| Document {
            draft: root,
            ..document
        }),
        unusable: false,
    }
}

/// Whether an issue tells of what the repaired document does not have.
fn is_lost(issue: &Issue) -> bool {
    [Code::ParseDuplicateKey, Code::TextLost]
        .iter()
        .any(|code| issue.code == code.name())
}

/// What is said of a document that is inside the bounds as a draft and past them once ids and spans
/// are written out.
fn too_heavy(before: (usize, usize), after: (usize, usize)) -> Option<String> {
    let past = after.0 > limit::COMPOSE_NODES || after.1 > limit::COMPOSE_BYTES;
    (past && after != before).then(|| {
        format!(
            "With ids and spans written out the document has {} values and {} bytes; {} and {} are allowed.",
            after.0,
            after.1,
            limit::COMPOSE_NODES,
            limit::COMPOSE_BYTES
        )
    })
}

/// The document as the passes leave it.
pub(crate) fn hydrated(input: Input<'_>) -> Option<serde_json::Value> {
    let (mut root, origins, _) = take(input).ok()?;
    let mut findings = Findings::new(origins);
    pass::run(&mut root, &mut findings, true, RepairOptions::default());
    Some(root.to_json())
}

/// The answer when nothing can be made of the input.
fn unusable(issues: Vec<Issue>) -> Repaired {
    let limits = issues
        .iter()
        .filter(|issue| issue.code.starts_with("limit."));
    let limits: Vec<Issue> = limits.cloned().collect();
    Repaired {
        ok: false,
        document: serde_json::Value::Null,
        applied: Vec::new(),
        issues: if limits.is_empty() {
            issue::ordered(issues)
        } else {
            limits
        },
        model: None,
        unusable: true,
    }
}

/// How a document is looked at.
#[derive(Clone, Copy)]
struct Mode<'m> {
    repairing: bool,
    options: RepairOptions,
    looks: &'m lint::Options,
}

struct Examined {
    issues: Vec<Issue>,
    applied: Vec<Applied>,
    document: Option<Document>,
}

type Taken<'a> = (Node, Origins<'a>, Vec<Double>);

/// Reads the input.
fn take(input: Input<'_>) -> Result<Taken<'_>, Box<Issue>> {
    match input {
        Input::Text(text) => draft::parse(text).map_err(|refusal| {
            let origins = Origins::new(Some(text));
            let source = crate::Source {
                position: origins.position_at(refusal.offset.min(text.len())),
                ..crate::Source::default()
            };
            let issue = Issue::new(refusal.code, &source, refusal.message);
            Box::new(match why_no_json(text, refusal.offset) {
                Some(hint) if refusal.code == Code::ParseJson => issue.hint(hint),
                _ => issue,
            })
        }),
        Input::Value(value) => match draft::from_value(value) {
            Ok((root, origins)) => Ok((root, origins, Vec::new())),
            Err(refusal) => {
                let source = crate::Source::default();
                Err(Box::new(Issue::new(refusal.code, &source, refusal.message)))
            }
        },
    }
}

/// What writers usually do to JSON so that it is none.
fn why_no_json(text: &str, offset: usize) -> Option<&'static str> {
    let begin = text.trim_start_matches('\u{feff}').trim_start();
    let rest = text.get(offset..).unwrap_or_default();
    if begin.starts_with("```") || rest.starts_with("```") {
        return Some("Send the JSON alone, without the fence of Markdown (```) around it.");
    }
    if !begin.starts_with(['{', '[']) && !begin.contains('{') {
        return Some("Send a document as JSON, from { to }; describe_blocks shows one.");
    }
    if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        return Some("JSON has no comments; take them out.");
    }
    if rest.starts_with(['\'', '\u{2018}', '\u{201c}', '\u{201d}']) {
        return Some("Keys and strings of JSON stand in straight double quotes.");
    }
    if rest.starts_with([']', '}']) {
        return Some("JSON has no comma after the last element.");
    }
    if !begin.starts_with(['{', '[']) && begin.contains('{') {
        return Some("Send the JSON alone, without words before or after it.");
    }
    let ended = text
        .get(..offset)
        .unwrap_or_default()
        .trim_end()
        .ends_with('}');
    (begin.starts_with('{') && ended && !rest.trim_start().starts_with([',', ']', '}', '"']))
        .then_some("Send one JSON value alone, without anything after it.")
}

fn examine(
    root: &mut Node,
    origins: Origins<'_>,
    doubles: Vec<Double>,
    mode: Mode<'_>,
) -> Examined {
    let mut findings = Findings::new(origins);
    for Double {
        object: at,
        key,
        lost,
    } in doubles
    {
        let shown: String = key.chars().take(60).collect();
        if pass::adopt::says_something(&key, &lost) {
            let message = format!(
                "The key {shown:?} stands twice; the last one counts, and this is lost: {}.",
                lost.excerpt()
            );
            let issue = Issue::new(
                Code::ParseDuplicateKey,
                &findings.origins.source(at),
                message,
            );
            findings.push(at, issue.severity(Severity::Error));
            continue;
        }
        findings.mend(
            Code::ParseDuplicateKey,
            at,
            format!("The key {shown:?} stands twice; the last one counts."),
            "key.drop",
            format!("first {shown} removed"),
        );
    }
    let before = root.weight();
    let readable = pass::run(root, &mut findings, mode.repairing, mode.options);
    let document = readable.then(|| read::document(root, &findings.origins));
    if let Some(message) = too_heavy(before, root.weight()) {
        findings.report(Code::LimitNodes, root.origin, message);
    }
    let (mut issues, applied) = findings.finish();
    if let Some(document) = &document {
        issues.extend(sense::document(document));
        issues.extend(lint::document(document, mode.looks));
    }
    Examined {
        issues,
        applied,
        document,
    }
}
