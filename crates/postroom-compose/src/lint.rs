//! What mail programs, filters and readers will make of a mail: of a document, or of HTML that
//! somebody else made. Nothing is fetched.

mod address;
mod compat;
mod compiled;
mod css;
mod dark;
mod document;
mod look;
mod markup;
mod page;
mod raw;
mod subject;
mod words;

use crate::{Issue, emit, issue, model::Document};

pub use compat::{CLIENTS, clients_named};
pub use page::Foreign;

/// What is looked at, and for whom.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Mail programs as caniemail.com names them (`gmail.ios`), their families (`gmail`), or `all`;
    /// Gmail, Outlook and Apple Mail when empty.
    pub clients: Vec<String>,
}

/// Looks at a document that has no errors. Its HTML is compiled with the samples, so that sizes are
/// those of a real mail.
#[must_use]
pub fn document(document: &Document, options: &Options) -> Vec<Issue> {
    issue::ordered(document::all(document, options))
}

/// Looks at what a document was compiled into with `how`.
pub(crate) fn compiled(
    document: &Document,
    compiled: &emit::Compiled,
    how: &emit::Options,
) -> Vec<Issue> {
    compiled::all(document, compiled, how)
}

/// Looks at HTML that somebody else made.
#[must_use]
pub fn html(mail: &Foreign<'_>, options: &Options) -> Vec<Issue> {
    issue::ordered(page::all(mail, options))
}
