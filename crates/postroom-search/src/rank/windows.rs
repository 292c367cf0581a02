//! A word that stands in many messages, read a window of documents at a time.
//!
//! Walked document by document, such a word moves a cursor in each field for each of them. A window
//! is read block by block, one field after the other, into one sum for each document.

use std::sync::Arc;

use tantivy::{
    DocId, DocSet, Score, SeekDangerResult, TERMINATED, fieldnorm::FieldNormReader,
    postings::BlockSegmentPostings, query::Scorer,
};

use super::{count_of, dampened};

/// Documents of a window: their sums stay in the processor's nearest memory.
const WINDOW: u32 = 4_096;

/// One field of the word.
pub(super) struct FieldPostings {
    pub(super) postings: BlockSegmentPostings,
    pub(super) counts: Arc<[f32]>,
    pub(super) norms: FieldNormReader,
}

/// A walk over the documents of a word.
pub(super) struct Windows {
    fields: Vec<FieldPostings>,
    rarity: f32,
    /// The first document of the window.
    base: DocId,
    /// Weighed counts of the window's documents.
    sums: Vec<f32>,
    /// A bit for each document of the window that has the word.
    held: Vec<u64>,
    /// The first document behind the window that has the word.
    next: DocId,
    doc: DocId,
}

impl Windows {
    pub(super) fn new(fields: Vec<FieldPostings>, rarity: f32) -> Self {
        let mut windows = Self {
            fields,
            rarity,
            base: 0,
            sums: vec![0.0; WINDOW as usize],
            held: vec![0; WINDOW as usize / 64],
            next: TERMINATED,
            doc: 0,
        };
        windows.read(0);
        windows.settle(0);
        windows
    }

    /// Reads the window that begins at `base`.
    fn read(&mut self, base: DocId) {
        self.sums.fill(0.0);
        self.held.fill(0);
        self.base = base;
        self.next = TERMINATED;
        for field in &mut self.fields {
            let behind = add(field, base, &mut self.sums, &mut self.held);
            self.next = self.next.min(behind);
        }
    }

    fn is_behind(&self, target: DocId) -> bool {
        target >= self.base.saturating_add(WINDOW)
    }

    /// The first document of the window at or behind `target` that has the word.
    fn first_held(&self, target: DocId) -> Option<DocId> {
        let offset = target.checked_sub(self.base)?;
        let mut place = offset as usize / 64;
        let mut bits = self.held.get(place)? & (u64::MAX << (offset % 64));
        while bits == 0 {
            place += 1;
            bits = *self.held.get(place)?;
        }
        let offset = u32::try_from(place).ok()? * 64 + bits.trailing_zeros();
        Some(self.base + offset)
    }

    /// Goes to the first document at or behind `target`.
    fn settle(&mut self, target: DocId) -> DocId {
        let mut target = target;
        self.doc = loop {
            if target >= TERMINATED {
                break TERMINATED;
            }
            if self.is_behind(target) {
                self.read(target);
            }
            match self.first_held(target) {
                Some(doc) => break doc,
                None => target = self.next,
            }
        };
        self.doc
    }
}

/// Adds the counts of one field to the window that begins at `base`; gives the field's first document
/// behind it.
fn add(field: &mut FieldPostings, base: DocId, sums: &mut [f32], held: &mut [u64]) -> DocId {
    let FieldPostings {
        postings,
        counts,
        norms,
    } = field;
    let mut from = postings.seek(base);
    loop {
        let docs = postings.docs();
        if docs.is_empty() {
            return TERMINATED;
        }
        for (&doc, &times) in docs.iter().zip(postings.freqs()).skip(from) {
            let offset = doc.saturating_sub(base) as usize;
            let (Some(sum), Some(bits)) = (sums.get_mut(offset), held.get_mut(offset / 64)) else {
                return doc;
            };
            *sum += times as f32 * count_of(counts, norms, doc);
            *bits |= 1 << (offset % 64);
        }
        postings.advance();
        from = 0;
    }
}

impl DocSet for Windows {
    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED {
            return TERMINATED;
        }
        self.settle(self.doc + 1)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        self.settle(target)
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if target >= TERMINATED {
            self.doc = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        if target < self.base {
            // A window that begins behind the target was come to by a walk, which ended at a match.
            return SeekDangerResult::SeekLowerBound(self.doc);
        }
        if self.is_behind(target) {
            self.read(target);
        }
        let first = self.first_held(target).unwrap_or(self.next);
        if first == target {
            self.doc = target;
            SeekDangerResult::Found
        } else {
            SeekDangerResult::SeekLowerBound(first)
        }
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let docs = self.fields.iter().map(|field| field.postings.doc_freq());
        docs.fold(0, u32::saturating_add)
    }
}

impl Scorer for Windows {
    fn score(&mut self) -> Score {
        let offset = self.doc.saturating_sub(self.base) as usize;
        dampened(self.rarity, self.sums.get(offset).copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::{MailTokenizer, TOKENIZER, Wanted},
        rank::{Corpus, Dictionary, columns, words::WordsWeight},
        schema::{Fields, schema},
    };
    use tantivy::{Index, Searcher, TantivyDocument, query::Weight, tokenizer::TextAnalyzer};

    const DOCS: u32 = 3 * WINDOW;

    /// One segment: a word in most bodies and in some subjects, but for a gap longer than a window.
    fn searcher() -> (Searcher, Fields) {
        let (schema, fields) = schema();
        let index = Index::create_in_ram(schema);
        index
            .tokenizers()
            .register(TOKENIZER, TextAnalyzer::from(MailTokenizer::default()));
        let mut writer = index
            .writer_with_num_threads(1, 50_000_000)
            .expect("a writer");
        for n in 0..DOCS {
            let mut doc = TantivyDocument::default();
            doc.add_u64(fields.num, u64::from(n));
            let gap = (1_000..1_000 + WINDOW + 700).contains(&n);
            if n % 4 != 0 && !gap {
                let more = "word other ".repeat(n as usize % 5);
                doc.add_text(fields.body, format!("word {more}"));
            }
            if n % 7 == 0 && !gap {
                doc.add_text(fields.subject, "a word");
            }
            writer.add_document(doc).expect("adds");
        }
        writer.commit().expect("commits");
        let searcher = index.reader().expect("a reader").searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        (searcher, fields)
    }

    /// The word walked and in windows.
    fn both(searcher: &Searcher, fields: &Fields) -> [Box<dyn Scorer>; 2] {
        let wanted = Wanted::of("word", false).expect("a word");
        let corpus = Corpus::of(searcher, fields).expect("reads");
        let dictionary = Dictionary::new(searcher, fields);
        let columns = columns(fields);
        [0, u64::MAX].map(|visits| {
            let weight = WordsWeight {
                entries: dictionary.entries(wanted.clone()).expect("reads"),
                columns: columns.to_vec(),
                counts: columns
                    .iter()
                    .map(|column| corpus.counts(column.field))
                    .collect(),
                rarity: 1.5,
                visits,
            };
            let scorer = weight.scorer(searcher.segment_reader(0), 1.0);
            scorer.expect("opens")
        })
    }

    #[test]
    fn windows_hold_what_a_walk_meets_with_the_same_scores() {
        let (searcher, fields) = searcher();
        let [mut walked, mut windows] = both(&searcher, &fields);
        assert!(windows.is::<Windows>() && !walked.is::<Windows>());
        let mut met = 0;
        while walked.doc() != TERMINATED {
            assert_eq!(windows.doc(), walked.doc());
            assert_eq!(windows.score(), walked.score(), "{}", walked.doc());
            assert_eq!(windows.advance(), walked.advance());
            met += 1;
        }
        assert!(met > DOCS / 3, "{met}");
        assert_eq!(windows.advance(), TERMINATED);
    }

    #[test]
    fn going_to_a_document_finds_what_a_walk_finds() {
        let (searcher, fields) = searcher();
        for step in [1, 3, 61, WINDOW - 1, WINDOW, WINDOW + 1] {
            let [mut walked, mut windows] = both(&searcher, &fields);
            let [_, mut asked] = both(&searcher, &fields);
            let mut target = step / 2;
            while target < DOCS {
                let expected = walked.seek(target);
                assert_eq!(windows.seek(target), expected, "{target}");
                match asked.seek_danger(target) {
                    SeekDangerResult::Found => {
                        assert_eq!((expected, asked.doc()), (target, target));
                        assert_eq!(asked.score(), walked.score());
                    }
                    SeekDangerResult::SeekLowerBound(bound) => {
                        assert!(expected != target && (target + 1..=expected).contains(&bound));
                    }
                }
                target += step;
            }
        }
    }
}
