//! Words in a row, read as the search walks.

use std::sync::Arc;

use tantivy::{
    DocId, DocSet, Score, SegmentReader, TERMINATED,
    fieldnorm::FieldNormReader,
    query::{EmptyScorer, Explanation, Scorer, Weight},
    schema::IndexRecordOption,
};

use super::{
    Column, count_of,
    cursor::Cursor,
    dampened,
    dictionary::{Entries, Entry},
    windows::{FieldPostings, Windows},
};

/// With fewer documents than this in a segment a word is walked.
const FEW_DOCS: u64 = 512;

/// Documents that are read in a row in the time that going to one of them takes.
const READ_PER_SEEK: u64 = 64;

/// Words that must stand in a row, or one word.
pub(super) struct WordsWeight {
    pub(super) entries: Entries,
    pub(super) columns: Vec<Column>,
    pub(super) counts: Vec<Arc<[f32]>>,
    pub(super) rarity: f32,
    /// How many documents the search looks at, at most.
    pub(super) visits: u64,
}

impl WordsWeight {
    /// Whether reading all documents of a word costs less than going to those that are looked at.
    fn is_read_whole(&self, word: &Entry) -> bool {
        let docs: u64 = self
            .columns
            .iter()
            .map(|column| word.docs_with(column))
            .sum();
        self.visits.saturating_mul(READ_PER_SEEK) >= docs
    }

    /// The word as windows; `None` where it should be walked.
    fn windows(
        &self,
        word: &Entry,
        reader: &SegmentReader,
    ) -> tantivy::Result<Option<Box<dyn Scorer>>> {
        let segment = reader.segment_id();
        let infos = self.columns.iter().zip(&self.counts);
        let infos: Vec<_> = infos
            .filter_map(|(column, counts)| {
                Some((column, counts, word.in_segment(segment, column)?))
            })
            .collect();
        let docs: u64 = infos
            .iter()
            .map(|(_, _, info)| u64::from(info.doc_freq))
            .sum();
        if docs < FEW_DOCS {
            return Ok(None);
        }
        let mut fields = Vec::with_capacity(infos.len());
        for (column, counts, info) in infos {
            let index = reader.inverted_index(column.field)?;
            let option = IndexRecordOption::WithFreqs;
            fields.push(FieldPostings {
                postings: index.read_block_postings_from_terminfo(info, option)?,
                counts: Arc::clone(counts),
                norms: reader.get_fieldnorms_reader(column.field)?,
            });
        }
        Ok(Some(Box::new(Windows::new(fields, self.rarity))))
    }
}

impl Weight for WordsWeight {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        if let Some(word) = self.entries.single()
            && self.is_read_whole(word)
            && let Some(windows) = self.windows(word, reader)?
        {
            return Ok(windows);
        }
        let mut parts = Vec::new();
        for (column, counts) in self.columns.iter().zip(&self.counts) {
            if let Some(cursor) = Cursor::open(reader, column, &self.entries)? {
                parts.push(Part {
                    cursor,
                    counts: Arc::clone(counts),
                    norms: reader.get_fieldnorms_reader(column.field)?,
                });
            }
        }
        if parts.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer = WordsScorer {
            parts,
            rarity: self.rarity,
            doc: 0,
        };
        scorer.settle();
        Ok(Box::new(scorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("words over weighted fields", self.rarity))
    }
}

struct Part {
    cursor: Cursor,
    counts: Arc<[f32]>,
    norms: FieldNormReader,
}

struct WordsScorer {
    parts: Vec<Part>,
    rarity: f32,
    doc: DocId,
}

impl WordsScorer {
    fn settle(&mut self) -> DocId {
        let docs = self.parts.iter().map(|part| part.cursor.doc());
        self.doc = docs.min().unwrap_or(TERMINATED);
        self.doc
    }
}

impl DocSet for WordsScorer {
    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED {
            return TERMINATED;
        }
        let doc = self.doc;
        for part in &mut self.parts {
            if part.cursor.doc() == doc {
                part.cursor.advance();
            }
        }
        self.settle()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for part in &mut self.parts {
            part.cursor.seek(target);
        }
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.parts
            .iter()
            .map(|part| part.cursor.size_hint())
            .fold(0, u32::saturating_add)
    }
}

impl Scorer for WordsScorer {
    fn score(&mut self) -> Score {
        let mut sum = 0.0;
        for part in &self.parts {
            if part.cursor.doc() == self.doc {
                let count = count_of(&part.counts, &part.norms, self.doc);
                sum += part.cursor.times() as f32 * count;
            }
        }
        dampened(self.rarity, sum)
    }
}
