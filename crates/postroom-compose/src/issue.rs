//! The one shape in which everything that is wrong, or worth knowing, is told.

mod code;

use std::borrow::Cow;

pub use code::{Code, Page};
use postroom_types::limit;
use serde::Serialize;

use crate::Source;

/// How much an issue matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document cannot be compiled.
    Error,
    /// It can, and some readers will suffer.
    Warning,
    /// Worth knowing.
    Info,
}

/// Something wrong, or worth knowing, at a place of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// How much it matters.
    pub severity: Severity,
    /// Stable name of what it is, as `color.invalid`.
    pub code: Cow<'static, str>,
    /// Dotted place, as `root.children.0.children.2`.
    pub path: String,
    /// The same place by RFC 6901.
    pub pointer: String,
    /// What is wrong here.
    pub message: String,
    /// How to put it right.
    pub hint: String,
    /// Id of the block that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// `repair_ir` when a repair puts it right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<&'static str>,
    /// Mail programs that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// Line of the document's text, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column of the document's text in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Bytes before it in the document's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// Rank of its place in document order.
    #[serde(skip)]
    pub order: u32,
}

impl Issue {
    /// An issue of `code` at `source` with the code's severity and hint.
    #[must_use]
    pub fn new(code: Code, source: &Source, message: impl Into<String>) -> Self {
        Self {
            severity: code.severity(),
            code: Cow::Borrowed(code.name()),
            path: source.path.clone(),
            pointer: source.pointer.clone(),
            message: message.into(),
            hint: code.page().hint.to_owned(),
            block_id: source.block_id.clone(),
            fix: None,
            clients: Vec::new(),
            line: source.position.map(|position| position.line),
            column: source.position.map(|position| position.column),
            offset: source.position.map(|position| position.offset),
            order: source.order,
        }
    }

    /// The same at another place.
    #[must_use]
    pub(crate) fn at(self, source: &Source) -> Self {
        Self {
            path: source.path.clone(),
            pointer: source.pointer.clone(),
            block_id: source.block_id.clone(),
            line: source.position.map(|position| position.line),
            column: source.position.map(|position| position.column),
            offset: source.position.map(|position| position.offset),
            order: source.order,
            ..self
        }
    }

    /// The same with another severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same with a hint for this very place.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The same, and a repair puts it right.
    #[must_use]
    pub fn fixable(mut self) -> Self {
        self.fix = Some("repair_ir");
        self
    }

    /// The same about these mail programs.
    #[must_use]
    pub fn clients(mut self, clients: Vec<String>) -> Self {
        self.clients = clients;
        self
    }

    /// The same under a code that ends in a name of its own, as `compat.css-gap`.
    #[must_use]
    pub fn about(mut self, feature: &str) -> Self {
        self.code = Cow::Owned(format!("{}.{feature}", self.code));
        self
    }

    /// Whether it keeps the document from being compiled.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Puts issues in order (severity, place, code), removes doubles, and cuts what is past
/// [`limit::COMPOSE_ISSUES`], saying so in a last `issues.truncated`.
#[must_use]
pub fn ordered(mut issues: Vec<Issue>) -> Vec<Issue> {
    issues.sort_by(|one, two| {
        (one.severity, one.order, &one.code, &one.path, &one.message).cmp(&(
            two.severity,
            two.order,
            &two.code,
            &two.path,
            &two.message,
        ))
    });
    issues.dedup_by(|one, two| {
        one.code == two.code && one.path == two.path && one.message == two.message
    });
    if issues.len() > limit::COMPOSE_ISSUES {
        let more = issues.len() - limit::COMPOSE_ISSUES;
        issues.truncate(limit::COMPOSE_ISSUES);
        let message = format!("{more} more issues are not listed.");
        issues.push(Issue::new(
            Code::IssuesTruncated,
            &Source::default(),
            message,
        ));
    }
    issues
}
