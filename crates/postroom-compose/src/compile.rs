//! From what an author wrote to code, in one go.

use serde_json::{Value, json};

use crate::{
    Code, Input, Issue, check,
    emit::{self, Compiled, Options, OutlookBackground, Target},
    issue, lint, repair,
};

/// What became of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Made {
    /// No issue is an error, so the code is whole.
    pub ok: bool,
    /// The result; its code is empty while an error stands, unless it was asked for all the same.
    pub compiled: Compiled,
    /// What the check found and what the dialect cannot say.
    pub issues: Vec<Issue>,
    /// The input is no JSON, or past a bound: nothing in it was looked at.
    pub unusable: bool,
}

impl Made {
    /// The result as tools give it.
    #[must_use]
    pub fn to_json(&self, target: Target) -> Value {
        let compiled = &self.compiled;
        let mut out = json!({
            "ok": self.ok,
            "language": target.name(),
            "code": compiled.code,
            "issues": self.issues,
            "subject": compiled.subject,
            "preheader": compiled.preheader,
            "stats": compiled.stats,
            "sourceMap": compiled.source_map,
        });
        if let (Some(text), Some(object)) = (&compiled.text, out.as_object_mut()) {
            object.insert("text".to_owned(), text.as_str().into());
        }
        out
    }
}

/// Checks a document and compiles it. While an error stands there is no code; with `force` the
/// repaired copy is compiled, without what is still wrong in it.
#[must_use]
pub fn compile<'i>(input: impl Into<Input<'i>>, options: &Options, force: bool) -> Made {
    let input = input.into();
    let checked = check(input);
    let (document, mut issues) = match checked.document {
        _ if checked.unusable => {
            return Made {
                issues: checked.issues,
                unusable: true,
                ..Made::default()
            };
        }
        Some(document) => (Some(document), checked.issues),
        // What stands against the document as it was given; the copy is no answer to that.
        None if force => (repair(input).model, checked.issues),
        None => (None, checked.issues),
    };
    let Some(document) = document else {
        return Made {
            issues,
            ..Made::default()
        };
    };
    let mut compiled = emit::compile(&document, options);
    issues.append(&mut compiled.issues);
    // What is told more strictly now stands in place of what the check told.
    let found = lint::compiled(&document, &compiled, options);
    if options.outlook_background == OutlookBackground::Color {
        issues.retain(|issue| issue.code != Code::OutlookBgPadding.name());
    }
    issues.retain(|issue| {
        !found
            .iter()
            .any(|one| one.code == issue.code && one.path == issue.path)
    });
    issues.extend(found);
    let ok = !issues.iter().any(Issue::is_error);
    if !ok && !force {
        compiled = Compiled {
            subject: compiled.subject,
            preheader: compiled.preheader,
            ..Compiled::default()
        };
    }
    Made {
        ok,
        compiled,
        issues: issue::ordered(issues),
        unusable: false,
    }
}
