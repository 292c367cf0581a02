//! What the operations on documents share: how a document is given, and how issues are shown.

use postroom_compose::{self as compose, Input, dialect::Dialect, emit::Target};
use postroom_types::Dialect as Errors;
use serde_json::{Value, json};

use crate::Failure;

/// How serious an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Severity {
    /// It must be put right before the document can be compiled.
    Error,
    /// Some readers will suffer.
    Warning,
    /// Worth knowing.
    Info,
}

/// Something wrong, or worth knowing, at a place of a document.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct Issue {
    /// How serious it is.
    severity: Severity,
    /// Stable name of what it is.
    code: String,
    /// Where: `root.children.0.children.2`.
    path: String,
    /// The same place as a JSON pointer.
    pointer: String,
    /// What is wrong here.
    message: String,
    /// How to put it right.
    hint: String,
    /// Id of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    block_id: Option<String>,
    /// `repair_ir` when that tool puts it right.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
    /// Mail programs that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clients: Vec<String>,
    /// Line of the JSON text, from 1, when text was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Column in characters, from 1, when text was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

impl From<compose::Issue> for Issue {
    fn from(issue: compose::Issue) -> Self {
        Self {
            severity: match issue.severity {
                compose::Severity::Error => Severity::Error,
                compose::Severity::Warning => Severity::Warning,
                compose::Severity::Info => Severity::Info,
            },
            code: issue.code.into_owned(),
            path: issue.path,
            pointer: issue.pointer,
            message: issue.message,
            hint: issue.hint,
            block_id: issue.block_id,
            fix: issue.fix,
            clients: issue.clients,
            line: issue.line,
            column: issue.column,
        }
    }
}

/// Issues as they are shown.
pub(super) fn shown(issues: Vec<compose::Issue>) -> Vec<Issue> {
    issues.into_iter().map(Issue::from).collect()
}

/// A document as it was given: an object, or its JSON text.
pub(super) fn given(document: &Value) -> Input<'_> {
    Input::from(document)
}

/// The failure for what is no document at all: no JSON, or past a bound.
pub(super) fn unusable(argument: &str, issues: Vec<compose::Issue>) -> Failure {
    let said = issues
        .first()
        .map_or_else(|| "it is no JSON".to_owned(), |issue| issue.message.clone());
    let issues = serde_json::to_value(shown(issues)).unwrap_or_default();
    Failure::argument(Errors::Events, argument, &said)
        .with("issues", issues)
        .saying("This cannot be read as a document.")
        .advising("Give an EmailDocument as a JSON object, or its JSON text; describe_blocks says what it may hold.")
}

/// Mail programs that caniemail.com knows, or a bad argument that names those.
pub(super) fn checked_clients(clients: Option<Vec<String>>) -> Result<Vec<String>, Failure> {
    let clients = clients.unwrap_or_default();
    match compose::lint::clients_named(&clients) {
        Ok(_) => Ok(clients),
        Err(unknown) => Err(Failure::argument(
            Errors::Events,
            "clients",
            "names a mail program that is not known; families such as gmail, single ones such as outlook.windows, or all",
        )
        .with("unknown", json!(unknown))),
    }
}

/// The dialect of that name.
pub(super) fn dialect(name: Option<&str>) -> Result<Dialect, Failure> {
    match name {
        None => Ok(Dialect::None),
        Some(name) => Dialect::named(name)
            .ok_or_else(|| Failure::argument(Errors::Events, "variables", "is no dialect")),
    }
}

/// The target of that name.
pub(super) fn target(name: &str) -> Result<Target, Failure> {
    Target::named(name).ok_or_else(|| Failure::argument(Errors::Events, "target", "is no target"))
}
