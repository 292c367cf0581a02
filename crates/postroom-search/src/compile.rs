//! From a plan to what the engine runs.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use postroom_query::{AttachmentType, Field, Filter, Plan, State, TextForm, TextLeaf, Who};
use roaring::RoaringTreemap;
use tantivy::{
    Searcher, TantivyError, Term,
    query::{AllQuery, BooleanQuery, ConstScoreQuery, Occur, Query},
    schema::Field as IndexField,
};

use crate::{
    analysis::{Wanted, Word, fold},
    columns::{ColumnQuery, Test},
    kept_terms::KeptTerms,
    rank::{
        Beginnings, Column, Columns, Corpus, Dictionary, Entries, LeafQuery, Lookup, NEAR_CHARS,
        Near, columns,
    },
    schema::{Fields, NAME_MARK, flags},
    terms::{Among, TermScan, exact},
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
    pub(crate) dictionary: &'a Dictionary<'a>,
    pub(crate) kept_terms: &'a Arc<KeptTerms>,
    /// How many messages the search looks at, at most.
    pub(crate) visits: Cell<u64>,
}

/// Words of one search that may be read as misspelt.
pub(crate) const NEAR_WORDS: usize = 8;

/// The words of a leaf, where to look for them, and in how many messages they may stand.
struct Sought {
    wanted: Wanted,
    entries: Entries,
    columns: Vec<Column>,
}

impl Sought {
    fn docs_with(&self) -> u64 {
        self.entries.docs_with(&self.columns)
    }
}

impl Compiler<'_> {
    /// Compiles the whole of a plan.
    pub(crate) fn compile(&self, plan: &Plan) -> Compiled {
        let visits = match self.reading {
            Reading::Exact => self.docs_at_most(plan),
            // What stands for a word that is not there is not known ahead.
            Reading::Near | Reading::Some => u64::MAX,
        };
        self.visits.set(visits);
        self.plan(plan, false)
    }

    /// How many messages a plan can match, as far as dictionaries and sets tell at once.
    fn docs_at_most(&self, plan: &Plan) -> u64 {
        match plan {
            Plan::Nothing => 0,
            Plan::And(plans) => {
                let least = plans.iter().map(|plan| self.docs_at_most(plan)).min();
                least.unwrap_or(u64::MAX)
            }
            Plan::Or(plans) => plans
                .iter()
                .map(|plan| self.docs_at_most(plan))
                .fold(0, u64::saturating_add),
            Plan::Text(leaf) => match self.wanted(leaf) {
                Ok(Some(sought)) => sought.entries.docs_at_most(&sought.columns),
                _ => u64::MAX,
            },
            Plan::Filter(leaf) => match &leaf.test {
                Filter::From(who) => self.docs_of_person(self.fields.from, who),
                Filter::To(who) => self.docs_of_person(self.fields.to, who),
                _ => u64::MAX,
            },
            Plan::State(leaf) => self.states.get(&leaf.state).map_or(0, RoaringTreemap::len),
            Plan::All | Plan::Not(_) => u64::MAX,
        }
    }

    fn docs_of_person(&self, field: IndexField, who: &Who) -> u64 {
        let term = match who {
            Who::Address(address) => Term::from_field_text(field, address),
            Who::Domain(domain) => Term::from_field_text(field, &format!("@{domain}")),
            Who::Bare(_) | Who::Part(_) => return u64::MAX,
        };
        self.searcher.doc_freq(&term).unwrap_or(u64::MAX)
    }

    fn plan(&self, plan: &Plan, negated: bool) -> Compiled {
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
                Plan::Text(leaf) if leaf.is_loose() => match self.wanted(leaf) {
                    Ok(sought) => words.extend(sought.map(|sought| (leaf, sought))),
                    Err(error) => return Compiled::Failed(error),
                },
                Plan::Not(inner) => clauses.must_not(self.plan(inner, true)),
                plan => clauses.must(self.plan(plan, false)),
            }
        }
        let telling = |docs_with: u64| docs_with <= self.searcher.num_docs() / 5;
        let enough = words
            .iter()
            .filter(|(_, sought)| telling(sought.docs_with()))
            .count()
            > 1;
        let asked = words
            .into_iter()
            .filter(|(_, sought)| !enough || telling(sought.docs_with()))
            .map(|(leaf, sought)| {
                if sought.docs_with() == 0 && leaf.words.form == TextForm::Term {
                    self.near(&sought.wanted, &sought.columns)
                } else {
                    self.leaf(Lookup::Words(sought.entries), &sought.columns)
                }
            });
        clauses.must(any_of(asked));
        clauses.finish()
    }

    fn text(&self, leaf: &TextLeaf, negated: bool) -> Compiled {
        let sought = match self.wanted(leaf) {
            Ok(Some(sought)) => sought,
            Ok(None) => return Compiled::Silent,
            Err(error) => return Compiled::Failed(error),
        };
        let near = self.reading == Reading::Near && !negated && leaf.words.form == TextForm::Term;
        if near && sought.wanted.stem.is_none() {
            return self.near(&sought.wanted, &sought.columns);
        }
        self.leaf(Lookup::Words(sought.entries), &sought.columns)
    }

    fn wanted(&self, leaf: &TextLeaf) -> tantivy::Result<Option<Sought>> {
        let prefix = leaf.words.form == TextForm::Prefix;
        let Some(wanted) = Wanted::of(&leaf.words.text, prefix) else {
            return Ok(None);
        };
        let mut columns = columns(self.fields).to_vec();
        if leaf.field == Some(Field::Subject) {
            columns.retain(|column| column.field == self.fields.subject);
        }
        Ok(Some(Sought {
            entries: self.dictionary.entries(wanted.clone())?,
            wanted,
            columns,
        }))
    }

    /// A leaf of words as they are written.
    fn words(&self, wanted: Wanted, columns: &[Column]) -> Compiled {
        match self.dictionary.entries(wanted) {
            Ok(entries) => self.leaf(Lookup::Words(entries), columns),
            Err(error) => Compiled::Failed(error),
        }
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
                clauses.must(self.words(word, columns));
            }
        }
        if clauses.is_empty() {
            return self.words(wanted.clone(), columns);
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
            return self.words(wanted, columns);
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
            visits: self.visits.get(),
        }))
    }

    fn filter(&self, filter: &Filter) -> Compiled {
        let fields = self.fields;
        match filter {
            Filter::From(who) => self.person(fields.from, who),
            Filter::To(who) => self.person(fields.to, who),
            Filter::Participant(who) => {
                any_of([self.person(fields.from, who), self.person(fields.to, who)])
            }
            Filter::HasAttachment => column(Test::AnyFlag(flags::HAS_ATTACHMENT)),
            Filter::Filename(part) => {
                let part = fold(part);
                let among = Among::Part(part.clone(), Arc::clone(self.kept_terms));
                scan(fields.filename, among, move |term| term.contains(&part))
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

    fn person(&self, field: IndexField, who: &Who) -> Compiled {
        match who {
            Who::Address(address) => Compiled::Query(exact(field, address)),
            Who::Domain(domain) => Compiled::Query(exact(field, &format!("@{domain}"))),
            Who::Bare(word) => any_of([
                Compiled::Query(exact(field, &format!("@{word}"))),
                scan(field, Among::Beginning(format!("{word}@")), |_| true),
            ]),
            Who::Part(part) => {
                let part = fold(part);
                let among = Among::Part(part.clone(), Arc::clone(self.kept_terms));
                scan(field, among, move |term| {
                    !term.starts_with('@') && term.trim_start_matches(NAME_MARK).contains(&part)
                })
            }
        }
    }
}

/// Whether a word is one that may be written otherwise: long enough, and no number (another number
/// is another thing) and no pair of a script without blanks.
pub(crate) fn may_be_near(word: &str) -> bool {
    word.chars().count() >= NEAR_CHARS && word.chars().any(|c| !c.is_numeric())
}

fn scan(
    field: IndexField,
    among: Among,
    accepts: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Compiled {
    Compiled::Query(Box::new(TermScan {
        field,
        among,
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
