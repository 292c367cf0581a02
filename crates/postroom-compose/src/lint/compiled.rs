//! What only the result of a compilation shows.

use std::collections::HashMap;

use crate::{
    Code, Issue, Severity, Source,
    dialect::{Dialect, UNSUBSCRIBE},
    emit::{Compiled, Options, Target},
    model::{Block, BlockKind, Document},
};

/// Bytes of a line up to which whoever passes the mail on has room for marks of their own.
const LINE_BYTES: usize = 900;

/// Everything wrong with what a document became.
pub(super) fn all(document: &Document, compiled: &Compiled, options: &Options) -> Vec<Issue> {
    let mut issues = Vec::new();
    if options.target == Target::Html {
        lines(document, compiled, &mut issues);
    }
    if options.dialect == Dialect::None && options.target != Target::Json {
        document.walk(&mut |block| {
            if leads_nowhere(document, block) {
                let message = "Compiled without a dialect, the link to unsubscribe leads to https://example.com/unsubscribe.";
                let hint = "Compile for the dialect of whoever sends the mail, or state href.";
                issues.push(Issue::new(Code::LinkPlaceholder, &block.source, message).hint(hint));
            }
        });
    }
    issues
}

/// The same before there is a dialect.
pub(super) fn unsubscribing(document: &Document) -> Vec<Issue> {
    let mut issues = Vec::new();
    document.walk(&mut |block| {
        if leads_nowhere(document, block) {
            let message = "Where readers unsubscribe is up to the dialect; without one the link leads to https://example.com/unsubscribe.";
            let hint = "Compile for the dialect of whoever sends the mail, or state href.";
            let issue = Issue::new(Code::LinkPlaceholder, &block.source, message).hint(hint);
            issues.push(issue.severity(Severity::Info));
        }
    });
    issues
}

/// Whether a block is a way to unsubscribe of which nobody says where it leads.
fn leads_nowhere(document: &Document, block: &Block) -> bool {
    let BlockKind::Unsubscribe(node) = &block.kind else {
        return false;
    };
    let declared = |name: &str| {
        let mut variables = document.variables.iter();
        variables.any(|variable| variable.name == name && variable.sample.is_some())
    };
    node.href.is_none() && !declared(UNSUBSCRIBE)
}

/// Lines that could not be broken, told once for each block.
fn lines(document: &Document, compiled: &Compiled, issues: &mut Vec<Issue>) {
    let mut long: Vec<(usize, usize)> = Vec::new();
    let mut offset = 0;
    for line in compiled.code.split('\n') {
        if line.len() > LINE_BYTES {
            long.push((offset, line.len()));
        }
        offset += line.len() + 1;
    }
    if long.is_empty() {
        return;
    }
    let mut sources: HashMap<&str, &Source> = HashMap::new();
    document.walk(&mut |block| {
        sources.insert(&block.id, &block.source);
    });
    let mut told = Vec::new();
    for (start, bytes) in long {
        // The line may begin before its block does; what is too long stands at its end.
        let end = start + bytes - 1;
        let around = compiled
            .source_map
            .iter()
            .filter(|span| span.start <= end && end < span.end);
        let id = around
            .max_by_key(|span| span.start)
            .map(|span| span.block_id.as_str());
        let source = id
            .and_then(|id| sources.get(id).copied())
            .unwrap_or(&document.meta.source);
        if told.contains(&id) {
            continue;
        }
        told.push(id);
        let message =
            format!("A line of the HTML has {bytes} bytes and no place where it could be broken.");
        issues.push(Issue::new(Code::SizeLongLine, source, message));
    }
}
