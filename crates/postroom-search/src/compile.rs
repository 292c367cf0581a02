//! From a plan to what the engine runs.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use postroom_query::{AttachmentType, Field, Filter, Plan, State, TextForm, TextLeaf, Who};
use roaring::RoaringTreemap;
use tantivy::{
    Searcher, TantivyError,
    query::{AllQuery, BooleanQuery, ConstScoreQuery, Occur, Query},
    schema::Field as IndexField,
};

use crate::{
    analysis::{Wanted, Word, fold},
    columns::{ColumnQuery, Test},
    rank::{
        Beginnings, Column, Columns, Corpus, LeafQuery, Lookup, NEAR_CHARS, Near, columns,
        docs_with,
    },
    schema::{Fields, NAME_MARK, flags},
    terms::{TermScan, exact},
};

/// How free text is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As written.
    Exact,
    /// Bare words may be one letter off or cut.
    Near,
    /// Some of the words that all should stand there are enough.
    Some,
}

/// What a part of a plan became.
#[derive(Debug)]
pub(crate) enum Compiled {
    All,
    Nothing,
    /// A leaf with nothing in it to look for, such as a lone `&`: it asks nothing.
    Silent,
    Query(Box<dyn Query>),
    /// The index could not be read.
    Failed(TantivyError),
}

/// Compiles plans for one snapshot of an index.
pub(crate) struct Compiler<'a> {
    pub(crate) fields: &'a Fields,
    pub(crate) corpus: &'a Arc<Corpus>,
    pub(crate) searcher: &'a Searcher,
    pub(crate) states: &'a BTreeMap<State, RoaringTreemap>,
    pub(crate) reading: Reading,
    /// What beginnings may still read.
    pub(crate) beginnings: Arc<Beginnings>,
    /// How many more words may be read as misspelt.
    pub(crate) near_words: Cell<usize>,
}

/// Words of one search that may be read as misspelt.
pub(crate) const NEAR_WORDS: usize = 8;

/// The words of a leaf, where to look for them, and in how many messages they may stand.
struct Sought {
    wanted: Wanted,
    columns: Vec<Column>,
    docs_with: u64,
}

impl Compiler<'_> {
    pub(crate) fn plan(&self, plan: &Plan, negated: bool) -> Compiled {
        match plan {
            Plan::All => Compiled::All,
            Plan::Nothing => Compiled::Nothing,
            Plan::And(plans) if self.reading == Reading::Some && !negated => self.some_of(plans),
            Plan::And(plans) => self.all_of(plans, negated),
            Plan::Or(plans) => any_of(plans.iter().map(|plan| self.plan(plan, negated))),
            Plan::Not(_) => self.all_of(std::slice::from_ref(plan), negated),
            Plan::Text(leaf) => self.text(leaf, negated),
            Plan::Filter(leaf) => self.filter(&leaf.test),
            Plan::State(leaf) => match self.states.get(&leaf.state) {
                Some(nums) if !nums.is_empty() => column(Test::NumIn(Arc::new(nums.clone()))),
                _ => Compiled::Nothing,
            },
        }
    }

    fn all_of(&self, plans: &[Plan], negated: bool) -> Compiled {
        let mut clauses = Clauses::default();
        for plan in plans {
            match plan {
                Plan::Not(inner) => clauses.must_not(self.plan(inner, !negated)),
                plan => clauses.must(self.plan(plan, negated)),
            }
            if clauses.is_settled() {
                break;
            }
        }
        clauses.finish()
    }

    /// The conditions that are not words, and at least one of the words. Words that stand in every
    /// fifth message do not count when there are others; a word that stands nowhere may be one letter
    /// off.
    fn some_of(&self, plans: &[Plan]) -> Compiled {
        let mut clauses = Clauses::default();
        let mut words = Vec::new();
        for plan in plans {
            match plan {
                Plan::Text(leaf) => words.extend(self.wanted(leaf).map(|sought| (leaf, sought))),
                Plan::Not(inner) => clauses.must_not(self.plan(inner, true)),
                plan => clauses.must(self.plan(plan, false)),
            }
        }
        let telling = |docs_with: u64| docs_with <= self.searcher.num_docs() / 5;
        let enough = words
            .iter()
            .filter(|(_, sought)| telling(sought.docs_with))
            .count()
            > 1;
        let asked = words
            .into_iter()
            .filter(|(_, sought)| !enough || telling(sought.docs_with))
            .map(|(leaf, sought)| {
                if sought.docs_with == 0 && leaf.words.form == TextForm::Term {
                    self.near(&sought.wanted, &sought.columns)
                } else {
                    self.leaf(Lookup::Wanted(sought.wanted), &sought.columns)
                }
            });
        clauses.must(any_of(asked));
        clauses.finish()
    }

    fn text(&self, leaf: &TextLeaf, negated: bool) -> Compiled {
        let Some(sought) = self.wanted(leaf) else {
            return Compiled::Silent;
        };
        let near = self.reading == Reading::Near && !negated && leaf.words.form == TextForm::Term;
        if near && sought.wanted.stem.is_none() {
            return self.near(&sought.wanted, &sought.columns);
        }
        self.leaf(Lookup::Wanted(sought.wanted), &sought.columns)
    }

    fn wanted(&self, leaf: &TextLeaf) -> Option<Sought> {
        let wanted = Wanted::of(&leaf.words.text, leaf.words.form == TextForm::Prefix)?;
        let mut columns = columns(self.fields).to_vec();
        if leaf.field == Some(Field::Subject) {
            columns.retain(|column| column.field == self.fields.subject);
        }
        // A dictionary that does not read fails the search itself, which says so.
        let docs_with = docs_with(self.searcher, &columns, &wanted).unwrap_or(1);
        Some(Sought {
            wanted,
            columns,
            docs_with,
        })
    }

    /// Every word of a leaf that is long enough, one letter off or cut.
    fn near(&self, wanted: &Wanted, columns: &[Column]) -> Compiled {
        let alone = wanted.words.len() == 1;
        let mut clauses = Clauses::default();
        for word in &wanted.words {
            if may_be_near(&word.text) {
                clauses.must(self.near_word(word, columns));
            } else if alone || word.text.chars().count() >= NEAR_CHARS {
                let word = Wanted {
                    words: vec![word.clone()],
                    stem: None,
                };
                clauses.must(self.leaf(Lookup::Wanted(word), columns));
            }
        }
        if clauses.is_empty() {
            return self.leaf(Lookup::Wanted(wanted.clone()), columns);
        }
        clauses.finish()
    }

    /// One word, one letter off or cut. Reading a dictionary for it costs the more the less there is
    /// to find, so a word that stands for nothing is told at once, and words beyond a few are looked
    /// for as written.
    fn near_word(&self, word: &Word, columns: &[Column]) -> Compiled {
        let left = self.near_words.get();
        if left == 0 {
            let wanted = Wanted {
                words: vec![word.clone()],
                stem: None,
            };
            return self.leaf(Lookup::Wanted(wanted), columns);
        }
        self.near_words.set(left - 1);
        let inside = vec![self.fields.subject, self.fields.people];
        let corpus = self.corpus;
        let listed = Near::new(&word.text, inside)
            .and_then(|near| Columns { columns, corpus }.list_near(self.searcher, &near));
        match listed {
            Ok(listed) if listed.docs_with > 0 => {
                self.leaf(Lookup::Listed(Arc::new(listed)), columns)
            }
            Ok(_) => Compiled::Nothing,
            Err(error) => Compiled::Failed(error),
        }
    }

    fn leaf(&self, lookup: Lookup, columns: &[Column]) -> Compiled {
        Compiled::Query(Box::new(LeafQuery {
            lookup,
            columns: columns.to_vec(),
            corpus: Arc::clone(self.corpus),
            beginnings: Arc::clone(&self.beginnings),
        }))
    }

    fn filter(&self, filter: &Filter) -> Compiled {
        let fields = self.fields;
        match filter {
            Filter::From(who) => person(fields.from, who),
            Filter::To(who) => person(fields.to, who),
            Filter::Participant(who) => any_of([person(fields.from, who), person(fields.to, who)]),
            Filter::HasAttachment => column(Test::AnyFlag(flags::HAS_ATTACHMENT)),
            Filter::Filename(part) => {
                let part = fold(part);
                scan(fields.filename, "", move |term| term.contains(&part))
            }
            Filter::Type(AttachmentType::Media(media)) => {
                Compiled::Query(exact(fields.media, media))
            }
            Filter::Type(class) => column(Test::AnyFlag(flags::class(class))),
            Filter::After(moment) => column(Test::DateFrom(moment.ms())),
            Filter::Before(moment) => column(Test::DateBefore(moment.ms())),
            Filter::In(direction) => column(Test::AnyFlag(flags::direction(*direction))),
        }
    }
}

/// Whether a word is one that may be written otherwise: long enough, and no number (another number
/// is another thing) and no pair of a script without blanks.
pub(crate) fn may_be_near(word: &str) -> bool {
    word.chars().count() >= NEAR_CHARS && word.chars().any(|c| !c.is_numeric())
}

fn person(field: IndexField, who: &Who) -> Compiled {
    match who {
        Who::Address(address) => Compiled::Query(exact(field, address)),
        Who::Domain(domain) => Compiled::Query(exact(field, &format!("@{domain}"))),
        Who::Bare(word) => any_of([
            Compiled::Query(exact(field, &format!("@{word}"))),
            scan(field, &format!("{word}@"), |_| true),
        ]),
        Who::Part(part) => {
            let part = fold(part);
            scan(field, "", move |term| {
                !term.starts_with('@') && term.trim_start_matches(NAME_MARK).contains(&part)
            })
        }
    }
}

fn scan(
    field: IndexField,
    beginning: &str,
    accepts: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Compiled {
    Compiled::Query(Box::new(TermScan {
        field,
        beginning: beginning.to_owned(),
        accepts: Arc::new(accepts),
    }))
}

pub(crate) fn column(test: Test) -> Compiled {
    Compiled::Query(Box::new(ColumnQuery(test)))
}

/// Any of these.
pub(crate) fn any_of(parts: impl IntoIterator<Item = Compiled>) -> Compiled {
    let mut queries = Vec::new();
    let mut nothing = false;
    for part in parts {
        match part {
            Compiled::All => return Compiled::All,
            Compiled::Nothing => nothing = true,
            Compiled::Silent => {}
            Compiled::Query(query) => queries.push((Occur::Should, query)),
            failed @ Compiled::Failed(_) => return failed,
        }
    }
    match (queries.len(), nothing) {
        (0, true) => Compiled::Nothing,
        (0, false) => Compiled::Silent,
        (1, _) => Compiled::Query(queries.remove(0).1),
        _ => Compiled::Query(Box::new(BooleanQuery::new(queries))),
    }
}

/// Conditions that must all hold.
#[derive(Debug, Default)]
pub(crate) struct Clauses {
    queries: Vec<(Occur, Box<dyn Query>)>,
    positive: bool,
    asked: bool,
    nothing: bool,
    failed: Option<TantivyError>,
}

impl Clauses {
    /// Whether nothing that is added can change the outcome.
    fn is_settled(&self) -> bool {
        self.nothing || self.failed.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queries.is_empty() && !self.is_settled()
    }

    pub(crate) fn must(&mut self, part: Compiled) {
        match part {
            Compiled::Silent => return,
            Compiled::All => {}
            Compiled::Nothing => self.nothing = true,
            Compiled::Query(query) => {
                self.queries.push((Occur::Must, query));
                self.positive = true;
            }
            Compiled::Failed(error) => self.failed = Some(error),
        }
        self.asked = true;
    }

    pub(crate) fn must_not(&mut self, part: Compiled) {
        match part {
            Compiled::Silent => return,
            Compiled::All => self.nothing = true,
            Compiled::Nothing => {}
            Compiled::Query(query) => self.queries.push((Occur::MustNot, query)),
            Compiled::Failed(error) => self.failed = Some(error),
        }
        self.asked = true;
    }

    pub(crate) fn finish(mut self) -> Compiled {
        if let Some(error) = self.failed {
            return Compiled::Failed(error);
        }
        if self.nothing {
            return Compiled::Nothing;
        }
        if !self.asked {
            return Compiled::Silent;
        }
        if self.queries.is_empty() {
            return Compiled::All;
        }
        if self.positive && self.queries.len() == 1 {
            return Compiled::Query(self.queries.remove(0).1);
        }
        if !self.positive {
            self.queries.push((Occur::Must, everything()));
        }
        Compiled::Query(Box::new(BooleanQuery::new(self.queries)))
    }
}

/// Every message, scoring zero.
pub(crate) fn everything() -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(Box::new(AllQuery), 0.0))
}
