//! One search from plan to ranked messages.

use std::{cell::Cell, collections::BTreeSet, sync::Arc};

use postroom_query::Plan;
use postroom_types::{
    IdentityId, Timestamp,
    limit::{FACET_CANDIDATES, RANKED_IDS},
};
use tantivy::{Term, query::Query};

use crate::{
    Hit, Match, Ranked, SearchRequest,
    analysis::words,
    collect::{Best, Candidate, Collected},
    columns::Test,
    compile::{
        Clauses, Compiled, Compiler, NEAR_WORDS, Reading, any_of, column, everything, may_be_near,
    },
    facets,
    rank::{Beginnings, Dictionary},
    schema::identity_term,
    tenant::Snapshot,
    terms::exact,
};

/// Fewer matches than this and the fallbacks are tried.
const FEW: u64 = 3;

/// With more words than this a relaxed search takes them for a question, of which a message may have
/// some words rather than all.
const QUESTION_WORDS: usize = 3;

/// Finds, ranks and counts.
pub(crate) fn search(snapshot: &Snapshot, request: &SearchRequest<'_>) -> tantivy::Result<Ranked> {
    let limit = request.limit.min(RANKED_IDS);
    let keep = match request.facets {
        Some(_) => limit.max(FACET_CANDIDATES),
        None => limit,
    };
    let worded = request
        .plan
        .positive_text()
        .iter()
        .any(|leaf| words(&leaf.words.text).next().is_some());
    // One budget for all readings of the query.
    let beginnings = &Beginnings::new(request.beginnings);
    let dictionary = &Dictionary::new(&snapshot.searcher, &snapshot.fields);
    let run = |reading| {
        let known = (beginnings, dictionary);
        run(
            snapshot,
            request,
            reading,
            known,
            Best::new(keep, limit, worded),
        )
    };
    let mut found = Found::default();
    let exact = run(Reading::Exact)?;
    found.add(exact, Match::Exact, worded);
    let texts = request.plan.positive_text();
    let loose = texts.iter().filter(|leaf| leaf.is_loose()).count();
    let question = request.relaxed && loose > QUESTION_WORDS;
    if worded && question {
        let some = run(Reading::Some)?;
        // What has all the words is what was asked for; the rest is shown behind it and not counted.
        let counted = found.candidates.len();
        found.add(some, Match::Relaxed, worded);
        if counted > 0 {
            found.candidates.truncate(counted);
        }
    } else if request.fuzzy && found.total < FEW && may_read_near(request.plan) {
        let near = run(Reading::Near)?;
        found.add(near, Match::Fuzzy, worded);
    }
    found.candidates.truncate(keep);
    let mut ranked = Ranked {
        total: found.total,
        ..Ranked::default()
    };
    if let Some(zone) = request.facets {
        let best = found.candidates.get(..FACET_CANDIDATES);
        let best = best.unwrap_or(&found.candidates);
        ranked.facets = Some(facets::count(
            &snapshot.searcher,
            &snapshot.senders,
            best,
            zone,
        )?);
        let mut nums: Vec<u64> = best.iter().map(|candidate| candidate.num).collect();
        nums.sort_unstable();
        ranked.candidates = nums.into_iter().collect();
    }
    found.hits.truncate(limit);
    ranked.hits = found.hits;
    Ok(ranked)
}

/// Whether a plan has a bare word that may be written otherwise.
fn may_read_near(plan: &Plan) -> bool {
    plan.positive_text().iter().any(|leaf| {
        leaf.words.form == postroom_query::TextForm::Term
            && words(&leaf.words.text).any(|word| may_be_near(&word))
    })
}

fn run(
    snapshot: &Snapshot,
    request: &SearchRequest<'_>,
    reading: Reading,
    (beginnings, dictionary): (&Arc<Beginnings>, &Dictionary<'_>),
    best: Best,
) -> tantivy::Result<Collected> {
    let compiler = Compiler {
        fields: &snapshot.fields,
        corpus: &snapshot.corpus()?,
        searcher: &snapshot.searcher,
        states: request.states,
        reading,
        beginnings: Arc::clone(beginnings),
        near_words: Cell::new(NEAR_WORDS),
        dictionary,
        kept_terms: &snapshot.kept_terms,
        visits: Cell::new(u64::MAX),
    };
    let mut clauses = Clauses::default();
    let compiled = match compiler.compile(request.plan) {
        // Words were asked for, and there is nothing in them.
        Compiled::Silent => Compiled::Nothing,
        compiled => compiled,
    };
    clauses.must(compiled);
    if let Some(identities) = request.identities {
        if identities.is_empty() {
            return Ok(Collected::default());
        }
        if !are_all(snapshot, identities)? {
            clauses.must(any_of(identities.iter().map(|identity| {
                Compiled::Query(exact(snapshot.fields.identity, &identity_term(*identity)))
            })));
        }
    }
    if let Some(upto) = request.upto.filter(|upto| *upto < compiler.corpus.max_num) {
        clauses.must(column(Test::NumUpto(upto)));
    }
    if let Some(hidden) = request.hidden.filter(|hidden| !hidden.is_empty()) {
        clauses.must_not(column(Test::NumIn(Arc::new(hidden.clone()))));
    }
    let query: Box<dyn Query> = match clauses.finish() {
        Compiled::Nothing | Compiled::Silent => return Ok(Collected::default()),
        Compiled::All => everything(),
        Compiled::Query(query) => query,
        Compiled::Failed(error) => return Err(error),
    };
    snapshot.searcher.search(query.as_ref(), &best)
}

/// Whether every message of the index is in one of some mailboxes, so that nobody need ask it of each.
fn are_all(snapshot: &Snapshot, identities: &BTreeSet<IdentityId>) -> tantivy::Result<bool> {
    let mut held = 0;
    for identity in identities {
        let term = Term::from_field_text(snapshot.fields.identity, &identity_term(*identity));
        held += snapshot.searcher.doc_freq(&term)?;
    }
    // A message is in one mailbox. Those that were removed are counted here until a merge drops them.
    let readers = snapshot.searcher.segment_readers();
    let all: u64 = readers
        .iter()
        .map(|reader| u64::from(reader.max_doc()))
        .sum();
    Ok(held == all)
}

/// What the readings found so far, best first.
#[derive(Default)]
struct Found {
    hits: Vec<Hit>,
    candidates: Vec<Candidate>,
    total: u64,
}

impl Found {
    /// Adds what a looser reading found behind what is there.
    fn add(&mut self, collected: Collected, how: Match, worded: bool) {
        let known: Vec<u64> = self.hits.iter().map(|hit| hit.num).collect();
        // What matches as written stands before what does not, whatever its words weigh.
        let ceiling = self.hits.last().map_or(1.0, |hit| hit.score);
        for candidate in collected.best {
            if known.contains(&candidate.num) {
                continue;
            }
            let score = if worded {
                score(how, candidate.score).min(ceiling)
            } else {
                1.0
            };
            self.hits.push(Hit {
                num: candidate.num,
                score,
                date: Timestamp::from_ms(candidate.date),
                how,
            });
            self.candidates.push(candidate);
        }
        self.total += collected.total.saturating_sub(known.len() as u64);
    }
}

/// The weight of a sum of words on the scale of the answer, 0 to 1.
fn score(how: Match, sum: f32) -> f32 {
    let top = match how {
        Match::Exact => 0.7,
        Match::Fuzzy => 0.5,
        Match::Relaxed => 0.5,
    };
    top * sum / (sum + 4.0)
}
