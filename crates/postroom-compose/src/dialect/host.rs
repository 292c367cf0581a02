//! What is known of the system that fills templates in, where a language leaves it open.

use std::collections::{BTreeMap, BTreeSet};

/// A system that fills templates in. The default is what every one of its language has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// `mailchimp`: merge field by path of the variable, of up to 10 capitals, digits and `_`. A
    /// variable that is not listed has the last part of its path in capitals.
    pub merge_fields: BTreeMap<String, String>,
    /// `handlebars`: comparisons that are registered as helpers.
    pub helpers: BTreeSet<Helper>,
    /// `liquid`: values in HTML are escaped by the engine (`outputEscape` of liquidjs, `autoescape`
    /// of python-liquid), so the template does not. `erb`: values are escaped by the engine unless
    /// they are marked, as in Rails, so values of type `html` are written with `<%==`. Subject and text are still written for an engine
    /// that leaves values alone.
    pub escapes: bool,
    /// `go`: the HTML is filled in by `html/template`, which escapes values by their place and takes
    /// comments out. Values are not escaped by the template, and what only Outlook reads goes through
    /// `safeHTML`, a function of one string that gives it as `template.HTML` and that the sender
    /// registers. Subject and text are still written for `text/template`.
    pub html_template: bool,
    /// `erb`: fields are methods (`user.name`), as of models and of `Struct`, and not looked up with
    /// `[:name]`.
    pub fields_are_methods: bool,
}

/// A helper of Handlebars that compares two values and gives true or false. A missing value is
/// neither more nor less than a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Helper {
    /// `eq`: the same type and value.
    Eq,
    /// `gt`: more.
    Gt,
    /// `gte`: more, or the same.
    Gte,
    /// `lt`: less.
    Lt,
    /// `lte`: less, or the same.
    Lte,
}

impl Helper {
    /// Every helper with the name that it is called by.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("eq", Self::Eq),
        ("gt", Self::Gt),
        ("gte", Self::Gte),
        ("lt", Self::Lt),
        ("lte", Self::Lte),
    ];

    /// The helper of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, helper)| *helper)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, helper)| *helper == self);
        found.map_or("eq", |(name, _)| name)
    }
}
