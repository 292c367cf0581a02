//! Values, conditions and loops, written in a dialect or carried out on the samples.

mod branches;
mod loops;
mod shadow;
mod values;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::{
    Code, Issue, Source,
    dialect::{self, Dialect, Frames, Refusal, Syntax, lookup},
    model::Document,
    scope::Scope,
};

use super::{budget::Budget, runs::Runs};

/// What tags are written into.
pub(super) trait Sink {
    /// Writes a template tag.
    fn tag(&mut self, tag: &str);

    /// Writes words that are escaped for their place, of which nothing may become a tag.
    fn literal(&mut self, words: &str);

    /// Marks a place where another dialect writes a tag, so that what is around it comes out alike.
    fn seam(&mut self) {}

    /// An empty sink of the same kind.
    fn empty(&self) -> Self
    where
        Self: Sized;

    /// Whether nothing was written.
    fn is_empty(&self) -> bool;

    /// Writes what another was written.
    fn append(&mut self, other: Self)
    where
        Self: Sized;
}

/// What is written inside a branch or a loop.
type Body<'f, 'a, S> = &'f dyn Fn(&mut Flow<'a>, &mut S);

/// A loop being carried out.
struct Round<'a> {
    name: &'a str,
    item: &'a Json,
    index: usize,
    len: usize,
}

/// Writes values, conditions and loops.
pub(super) struct Flow<'a> {
    pub(super) document: &'a Document,
    pub(super) dialect: Dialect,
    syntax: Option<&'a dyn Syntax>,
    data: &'a Json,
    rounds: Vec<Round<'a>>,
    frames: Frames,
    scope: Scope,
    /// Where the block being written stands.
    pub(super) source: &'a Source,
    pub(super) issues: Vec<Issue>,
    told: BTreeSet<(String, String)>,
    budget: Budget,
    /// What is written stands in the query of a web address.
    pub(super) in_query: bool,
}

impl<'a> Flow<'a> {
    /// `syntax` is how `dialect` is written.
    pub(super) fn new(
        document: &'a Document,
        dialect: Dialect,
        syntax: Option<&'a dyn Syntax>,
        data: &'a Json,
    ) -> Self {
        Self {
            document,
            dialect,
            syntax,
            data,
            rounds: Vec::new(),
            frames: Frames::default(),
            scope: Scope::of(document),
            source: &document.meta.source,
            issues: Vec::new(),
            told: BTreeSet::new(),
            budget: Budget::default(),
            in_query: false,
        }
    }

    /// The same document, all of it once and without tags.
    pub(super) fn silent(&self) -> Self {
        Self::new(
            self.document,
            Dialect::None,
            Some(&dialect::Silent),
            self.data,
        )
    }

    /// Begins another result of the same document.
    pub(super) fn renew(&mut self) {
        self.budget = Budget::default();
    }

    /// Tells of something once for each place.
    pub(super) fn tell(&mut self, issue: Issue) {
        if self
            .told
            .insert((issue.path.clone(), issue.message.clone()))
        {
            self.issues.push(issue);
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        let message = format!("{} cannot say this: {}.", self.dialect.name(), refusal.0);
        self.tell(Issue::new(Code::DialectUnsupported, self.source, message));
    }

    /// Plain text as the dialect has to have it.
    pub(super) fn written(&self, runs: Runs) -> String {
        runs.written(self.syntax)
    }

    fn find(&self, path: &str) -> Option<Json> {
        let (head, rest) = path.split_once('.').unwrap_or((path, ""));
        let Some(round) = self.rounds.iter().rev().find(|round| round.name == head) else {
            return lookup(self.data, path).cloned();
        };
        match rest {
            "index" => Some(Json::from(round.index + 1)),
            "first" => Some(Json::from(round.index == 0)),
            "last" => Some(Json::from(round.index + 1 == round.len)),
            rest => lookup(round.item, rest).cloned(),
        }
    }
}
