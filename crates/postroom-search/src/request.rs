//! What a search asks and answers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use postroom_query::{Plan, State};
use postroom_types::{
    IdentityId, Timestamp,
    limit::{RANKED_IDS, SEARCH_BEGINNINGS},
};
use roaring::RoaringTreemap;

use crate::IndexFacets;

/// One search.
#[derive(Debug, Clone)]
pub struct SearchRequest<'a> {
    /// What to find.
    pub plan: &'a Plan,
    /// The mailboxes to look in; all of the tenant when `None`.
    pub identities: Option<&'a BTreeSet<IdentityId>>,
    /// The message numbers of each state of the plan ([`Plan::states`]); a missing one is empty.
    pub states: &'a BTreeMap<State, RoaringTreemap>,
    /// Messages that do not exist for this caller, such as quarantined ones.
    pub hidden: Option<&'a RoaringTreemap>,
    /// The highest message number that may appear.
    pub upto: Option<u64>,
    /// Hits wanted, at most [`RANKED_IDS`].
    pub limit: usize,
    /// Whether words one letter off or cut may match when fewer than three messages match exactly.
    pub fuzzy: bool,
    /// Whether more than three words may be a question in plain language: behind the messages that
    /// have them all come those with some of them. A keyword search leaves it off.
    pub relaxed: bool,
    /// Counts facets, with months in this time zone.
    pub facets: Option<&'a TimeZone>,
    /// Entries of the index that beginnings (`in*`) may stand for, all of the search together.
    pub beginnings: u64,
}

impl<'a> SearchRequest<'a> {
    /// A search of the whole tenant with the fuzzy fallback, without facets.
    pub fn new(plan: &'a Plan, states: &'a BTreeMap<State, RoaringTreemap>) -> Self {
        Self {
            plan,
            identities: None,
            states,
            hidden: None,
            upto: None,
            limit: RANKED_IDS,
            fuzzy: true,
            relaxed: false,
            facets: None,
            beginnings: SEARCH_BEGINNINGS,
        }
    }
}

/// How a message came to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    /// Every condition holds.
    Exact,
    /// A word is one letter off or cut.
    Fuzzy,
    /// Only some of the words are there.
    Relaxed,
}

/// One message found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its number.
    pub num: u64,
    /// Its score, 0 to 1; 1 when the query has no words.
    pub score: f32,
    /// Its date.
    pub date: Timestamp,
    /// How it matched.
    pub how: Match,
}

/// The answer of a search.
#[derive(Debug, Clone, Default)]
pub struct Ranked {
    /// Best first: by score, then date, then number, each descending.
    pub hits: Vec<Hit>,
    /// How many messages match, those beyond the limit included.
    pub total: u64,
    /// Facets, when asked for, over at most `FACET_CANDIDATES` of the best matches.
    pub facets: Option<IndexFacets>,
    /// The matches that the facets count, for the facets that only the caller can count (label).
    /// Empty when no facets were asked for.
    pub candidates: RoaringTreemap,
}

/// A search for messages like one that the caller holds.
#[derive(Debug, Clone)]
pub struct RelatedRequest<'a> {
    /// The subject of the source.
    pub subject: &'a str,
    /// The new text of the source.
    pub extracted_text: &'a str,
    /// The mailboxes to look in; all of the tenant when `None`.
    pub identities: Option<&'a BTreeSet<IdentityId>>,
    /// Messages never answered: the source's thread and what is hidden.
    pub exclude: &'a RoaringTreemap,
    /// The highest message number that may appear.
    pub upto: Option<u64>,
    /// Hits wanted, at most [`RANKED_IDS`].
    pub limit: usize,
}

/// Messages like another.
#[derive(Debug, Clone, Default)]
pub struct Related {
    /// The distinctive words that were looked for, folded, most distinctive first.
    pub words: Vec<String>,
    /// A plan of any of those words, for [`crate::why`] and [`crate::snippet`].
    pub plan: Option<Plan>,
    /// Best first.
    pub hits: Vec<Hit>,
}
