//! What passes over a draft find and mend.

use std::collections::HashSet;

use serde::Serialize;

use crate::{
    draft::{Origin, Origins},
    issue::{Code, Issue, Severity},
};

/// A change that a repair made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Where, in the document as it was.
    pub path: String,
    /// Name of the rule.
    pub code: &'static str,
    /// What was changed into what.
    pub change: String,
}

/// A moment in the life of [`Findings`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    issues: usize,
    applied: usize,
}

/// Collects issues and changes.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    pub(crate) origins: Origins<'a>,
    issues: Vec<(Origin, Issue)>,
    applied: Vec<(Origin, Applied)>,
    rejected: HashSet<Origin>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(origins: Origins<'a>) -> Self {
        Self {
            origins,
            issues: Vec::new(),
            applied: Vec::new(),
            rejected: HashSet::new(),
        }
    }

    /// Something that a repair leaves.
    pub(crate) fn report(&mut self, code: Code, at: Origin, message: impl Into<String>) {
        self.push(at, Issue::new(code, &self.origins.source(at), message));
    }

    /// The same with a hint of its own.
    pub(crate) fn report_with(
        &mut self,
        code: Code,
        at: Origin,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let issue = Issue::new(code, &self.origins.source(at), message).hint(hint);
        self.push(at, issue);
    }

    /// Something that was mended by `rule`, `change` saying how.
    pub(crate) fn mend(
        &mut self,
        code: Code,
        at: Origin,
        message: impl Into<String>,
        rule: &'static str,
        change: impl Into<String>,
    ) {
        let issue = Issue::new(code, &self.origins.source(at), message).fixable();
        self.push(at, issue);
        self.change(at, rule, change);
    }

    pub(crate) fn push(&mut self, at: Origin, issue: Issue) {
        self.issues.push((at, issue));
    }

    /// A change without an issue of its own.
    pub(crate) fn change(&mut self, at: Origin, rule: &'static str, change: impl Into<String>) {
        let path = self.origins.source(at).path;
        let applied = Applied {
            path,
            code: rule,
            change: change.into(),
        };
        self.applied.push((at, applied));
    }

    /// The block at `at` stands where it may not: what is wrong inside is not worth telling yet.
    pub(crate) fn reject(&mut self, at: Origin) {
        self.rejected.insert(at);
    }

    /// How much was found so far.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            issues: self.issues.len(),
            applied: self.applied.len(),
        }
    }

    /// Takes back what was mended since `mark`: the value around it stays as it was written.
    pub(crate) fn revoke(&mut self, mark: Mark) {
        self.applied.truncate(mark.applied);
        let mut at = 0;
        self.issues.retain(|(_, issue)| {
            at += 1;
            at <= mark.issues || issue.fix.is_none()
        });
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.applied.is_empty()
    }

    /// Issues without those that follow from a rejected block, and the changes in document order.
    pub(crate) fn finish(self) -> (Vec<Issue>, Vec<Applied>) {
        let Self {
            origins,
            issues,
            mut applied,
            rejected,
        } = self;
        let follows = |at: Origin, issue: &Issue| {
            issue.severity == Severity::Error
                && issue.code.starts_with("schema.")
                && origins.inside(at, |outer| rejected.contains(&outer))
        };
        let kept = issues
            .into_iter()
            .filter(|(at, issue)| !follows(*at, issue));
        applied.sort_by_key(|(at, _)| *at);
        (
            kept.map(|(_, issue)| issue).collect(),
            applied.into_iter().map(|(_, applied)| applied).collect(),
        )
    }
}
