//! How words are ranked: BM25 over weighted fields (BM25F).
//!
//! A word's counts in the fields of a message are weighed by field, each set against the length of
//! that field, added up, and only then dampened. So a word in the subject counts for much, and a
//! word that stands in subject and body alike is still one word.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tantivy::{
    DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED,
    fieldnorm::FieldNormReader,
    index::{InvertedIndexReader, SegmentId},
    postings::TermInfo,
    query::{EnableScoring, Explanation, Query, Scorer, Weight},
    schema::{Field, IndexRecordOption},
};

use crate::{
    schema::{Fields, NUM},
    terms::read_postings,
};

mod cursor;
mod dictionary;
mod near;
mod windows;
mod words;

pub(crate) use dictionary::{Dictionary, Entries};
pub(crate) use near::{NEAR_CHARS, Near, quality};
use words::WordsWeight;

/// Dampening of counts. The field weights below raise every count, and this with them.
const K1: f32 = 1.2;

/// A word that stands in fewer messages than this is looked for inside other words, too.
const FEW: u64 = 3;

/// A field's weight and how much its length matters (0 not at all, 1 fully).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) field: Field,
    /// Its place among [`columns`].
    place: usize,
    weight: f32,
    length: f32,
}

/// The fields that free text looks in.
pub(crate) fn columns(fields: &Fields) -> [Column; COLUMNS] {
    let column = |place, field, weight, length| Column {
        field,
        place,
        weight,
        length,
    };
    [
        column(0, fields.subject, 8.0, 0.3),
        column(1, fields.people, 4.0, 0.3),
        column(2, fields.body, 3.0, 0.8),
        column(3, fields.attachment, 1.5, 0.8),
        column(4, fields.quoted, 1.0, 0.8),
    ]
}

/// How many fields free text looks in.
pub(crate) const COLUMNS: usize = 5;

/// What ranking has to know of the whole index. Good for one snapshot of it.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    docs: f32,
    /// The largest message number.
    pub(crate) max_num: u64,
    /// What one occurrence in a field counts for, by the length of the field as the index writes it.
    counts: HashMap<Field, Arc<[f32]>>,
}

impl Corpus {
    pub(crate) fn of(searcher: &Searcher, fields: &Fields) -> tantivy::Result<Self> {
        let mut counts = HashMap::new();
        for column in columns(fields) {
            let mut tokens = 0;
            let mut filled = 0_u64;
            for reader in searcher.segment_readers() {
                tokens += reader.inverted_index(column.field)?.total_num_tokens();
                let norms = reader.get_fieldnorms_reader(column.field)?;
                filled += (0..reader.max_doc())
                    .filter(|doc| norms.fieldnorm_id(*doc) > 0)
                    .count() as u64;
            }
            // The mean among the messages that have the field at all.
            let mean = (tokens as f32 / filled.max(1) as f32).max(1.0);
            let count = |id| {
                let length = FieldNormReader::id_to_fieldnorm(id) as f32 / mean;
                column.weight / (1.0 - column.length + column.length * length)
            };
            counts.insert(column.field, (0..=u8::MAX).map(count).collect());
        }
        let mut max_num = 0;
        for reader in searcher.segment_readers() {
            let nums = reader.fast_fields().u64(NUM)?;
            max_num = max_num.max(nums.max_value());
        }
        Ok(Self {
            docs: searcher.num_docs() as f32,
            max_num,
            counts,
        })
    }

    /// How rare a word is that stands in so many messages.
    pub(crate) fn rarity(&self, docs_with: u64) -> f32 {
        let with = (docs_with as f32).min(self.docs);
        (1.0 + (self.docs - with + 0.5) / (with + 0.5)).ln()
    }

    fn counts(&self, field: Field) -> Arc<[f32]> {
        self.counts.get(&field).cloned().unwrap_or_default()
    }
}

/// What a leaf looks for.
#[derive(Debug, Clone)]
pub(crate) enum Lookup {
    /// Words in a row, the last perhaps a beginning only.
    Words(Entries),
    /// Documents that were read ahead.
    Listed(Arc<Listed>),
}

/// One leaf of free text over some fields.
#[derive(Debug, Clone)]
pub(crate) struct LeafQuery {
    pub(crate) lookup: Lookup,
    pub(crate) columns: Vec<Column>,
    pub(crate) corpus: Arc<Corpus>,
    pub(crate) beginnings: Arc<Beginnings>,
    /// How many documents the whole search looks at, at most.
    pub(crate) visits: u64,
}

/// What beginnings may still read in one search: a short one stands for half of the dictionary.
#[derive(Debug)]
pub(crate) struct Beginnings(AtomicU64);

/// What the search fails with when they read more; [`crate::SearchError::TooWide`] outside.
pub(crate) const TOO_WIDE: &str = "the beginnings stand for too much";

impl Beginnings {
    pub(crate) fn new(left: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(left)))
    }

    /// Takes what one term costs.
    fn take(&self, entries: u64) -> tantivy::Result<()> {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(entries)
            });
        taken
            .map(drop)
            .map_err(|_| tantivy::TantivyError::InvalidArgument(TOO_WIDE.to_owned()))
    }
}

impl Query for LeafQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let searcher = match scoring {
            EnableScoring::Enabled { searcher, .. } => Some(searcher),
            EnableScoring::Disabled { searcher_opt, .. } => searcher_opt,
        };
        let Some(searcher) = searcher else {
            return Err(tantivy::TantivyError::InvalidArgument(
                "a text leaf needs a searcher".to_owned(),
            ));
        };
        match &self.lookup {
            Lookup::Words(entries) if !entries.words.is_empty() => Ok(Box::new(WordsWeight {
                rarity: self.corpus.rarity(entries.docs_with(&self.columns)),
                entries: entries.clone(),
                counts: self
                    .columns
                    .iter()
                    .map(|column| self.corpus.counts(column.field))
                    .collect(),
                columns: self.columns.clone(),
                visits: self.visits,
            })),
            Lookup::Words(entries) => {
                let stem = entries.stem.as_ref().map_or("", |stem| &stem.text);
                let columns = Columns {
                    columns: &self.columns,
                    corpus: &self.corpus,
                };
                let listed = columns.list(searcher, |index, _, add| {
                    near::expand_beginning(index, stem, |info| {
                        self.beginnings.take(info.doc_freq.into())?;
                        add(info, 1.0)
                    })
                })?;
                Ok(Box::new(ListWeight::of(Arc::new(listed), &self.corpus)))
            }
            Lookup::Listed(listed) => {
                Ok(Box::new(ListWeight::of(Arc::clone(listed), &self.corpus)))
            }
        }
    }
}

/// Takes a term that a leaf stands for, and how well it does, 0 to 1.
type AddTerm<'a> = dyn FnMut(&TermInfo, f32) -> tantivy::Result<()> + 'a;

/// The fields of a leaf and what counts in them.
pub(crate) struct Columns<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) corpus: &'a Corpus,
}

impl Columns<'_> {
    /// Reads the documents in which a word stands that is one letter off or cut.
    pub(crate) fn list_near(&self, searcher: &Searcher, near: &Near) -> tantivy::Result<Listed> {
        let found = self.list(searcher, |index, _, add| near.expand(index, add))?;
        if found.docs_with >= FEW {
            return Ok(found);
        }
        self.list(searcher, |index, field, add| {
            near.expand(index, &mut *add)?;
            near.expand_inside(index, field, add)
        })
    }

    /// Reads every posting of all terms that a leaf stands for, ahead of scoring: only then is it
    /// known how rare the leaf is.
    fn list(
        &self,
        searcher: &Searcher,
        expand: impl Fn(&InvertedIndexReader, Field, &mut AddTerm<'_>) -> tantivy::Result<()>,
    ) -> tantivy::Result<Listed> {
        let mut lists = HashMap::new();
        let mut docs_with = 0;
        for reader in searcher.segment_readers() {
            let mut sums = vec![0.0_f32; reader.max_doc() as usize];
            for column in self.columns {
                let index = reader.inverted_index(column.field)?;
                let norms = reader.get_fieldnorms_reader(column.field)?;
                let counts = self.corpus.counts(column.field);
                let mut reused = None;
                expand(&index, column.field, &mut |info, quality| {
                    let postings =
                        read_postings(&index, info, IndexRecordOption::WithFreqs, &mut reused)?;
                    while !postings.docs().is_empty() {
                        for (&doc, &times) in postings.docs().iter().zip(postings.freqs()) {
                            let count = count_of(&counts, &norms, doc);
                            if let Some(sum) = sums.get_mut(doc as usize) {
                                *sum += times as f32 * count * quality;
                            }
                        }
                        postings.advance();
                    }
                    Ok(())
                })?;
            }
            let list: Vec<(DocId, f32)> = (0..).zip(sums).filter(|(_, sum)| *sum > 0.0).collect();
            docs_with += list.len() as u64;
            lists.insert(reader.segment_id(), list.into());
        }
        Ok(Listed { lists, docs_with })
    }
}

/// Documents read ahead, by segment, with the weighed counts of a leaf.
#[derive(Debug)]
pub(crate) struct Listed {
    lists: HashMap<SegmentId, Arc<[(DocId, f32)]>>,
    /// How many there are.
    pub(crate) docs_with: u64,
}

fn count_of(counts: &[f32], norms: &FieldNormReader, doc: DocId) -> f32 {
    let id = norms.fieldnorm_id(doc);
    counts.get(usize::from(id)).copied().unwrap_or(0.0)
}

fn dampened(rarity: f32, sum: f32) -> Score {
    rarity * (K1 + 1.0) * sum / (K1 + sum)
}

/// The weight of [`Listed`] documents.
struct ListWeight {
    listed: Arc<Listed>,
    rarity: f32,
}

impl ListWeight {
    fn of(listed: Arc<Listed>, corpus: &Corpus) -> Self {
        Self {
            rarity: corpus.rarity(listed.docs_with),
            listed,
        }
    }
}

impl Weight for ListWeight {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let list = self.listed.lists.get(&reader.segment_id());
        Ok(Box::new(ListScorer {
            list: list.cloned().unwrap_or_default(),
            at: 0,
            rarity: self.rarity,
        }))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("words read ahead", self.rarity))
    }
}

struct ListScorer {
    list: Arc<[(DocId, f32)]>,
    at: usize,
    rarity: f32,
}

impl DocSet for ListScorer {
    fn advance(&mut self) -> DocId {
        self.at = (self.at + 1).min(self.list.len());
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let rest = self.list.get(self.at..).unwrap_or_default();
        self.at += rest.partition_point(|(doc, _)| *doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.list.get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }
}

impl Scorer for ListScorer {
    fn score(&mut self) -> Score {
        let sum = self.list.get(self.at).map_or(0.0, |(_, sum)| *sum);
        dampened(self.rarity, sum)
    }
}
