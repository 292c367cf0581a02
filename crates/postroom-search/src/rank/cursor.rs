//! The documents of one field that hold words in a row.

use tantivy::{
    DocId, DocSet, SegmentReader, TERMINATED,
    postings::{Postings, SegmentPostings},
    schema::IndexRecordOption,
};

use super::{Column, dictionary::Entries, near::expand_beginning};

/// Terms that the beginning at the end of a phrase may stand for; more are not looked at.
const PHRASE_ENDINGS: usize = 1_000;

/// A walk over the documents that hold a leaf in one field.
pub(super) enum Cursor {
    /// One word.
    Word(Box<SegmentPostings>),
    /// Several in a row.
    Phrase(Box<Phrase>),
}

impl Cursor {
    /// Opens the walk; `None` when a word is not in this field of this segment.
    pub(super) fn open(
        reader: &SegmentReader,
        column: &Column,
        entries: &Entries,
    ) -> tantivy::Result<Option<Self>> {
        let segment = reader.segment_id();
        let mut infos = Vec::with_capacity(entries.words.len());
        for (word, entry) in &entries.words {
            match entry.in_segment(segment, column) {
                Some(info) => infos.push((info, word.position)),
                None => return Ok(None),
            }
        }
        let index = reader.inverted_index(column.field)?;
        if let ([(info, _)], None) = (infos.as_slice(), &entries.stem) {
            let postings = index.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            return Ok(Some(Self::Word(Box::new(postings))));
        }
        let mut words = Vec::with_capacity(infos.len());
        for (info, position) in infos {
            let option = IndexRecordOption::WithFreqsAndPositions;
            words.push((index.read_postings_from_terminfo(info, option)?, position));
        }
        // The rarest word leads.
        words.sort_by_key(|(postings, _)| postings.doc_freq());
        let mut endings = Vec::new();
        if let Some(stem) = &entries.stem {
            expand_beginning(&index, &stem.text, |info| {
                if endings.len() < PHRASE_ENDINGS {
                    endings.push(index.read_postings_from_terminfo(
                        info,
                        IndexRecordOption::WithFreqsAndPositions,
                    )?);
                }
                Ok(())
            })?;
            if endings.is_empty() {
                return Ok(None);
            }
        }
        let last = entries.words.iter().map(|(word, _)| word);
        let last = last.chain(&entries.stem);
        let mut phrase = Phrase {
            words,
            endings,
            ending_at: entries.stem.as_ref().map_or(0, |stem| stem.position),
            last: last.map(|word| word.position).max().unwrap_or(0),
            doc: 0,
            times: 0,
            starts: Vec::new(),
            next: Vec::new(),
        };
        phrase.settle();
        Ok(Some(Self::Phrase(Box::new(phrase))))
    }

    pub(super) fn doc(&self) -> DocId {
        match self {
            Self::Word(postings) => postings.doc(),
            Self::Phrase(phrase) => phrase.doc,
        }
    }

    pub(super) fn advance(&mut self) {
        match self {
            Self::Word(postings) => {
                postings.advance();
            }
            Self::Phrase(phrase) => {
                if let Some((lead, _)) = phrase.words.first_mut() {
                    lead.advance();
                }
                phrase.settle();
            }
        }
    }

    /// Goes to the first document at or behind `target`.
    pub(super) fn seek(&mut self, target: DocId) {
        if self.doc() >= target {
            return;
        }
        match self {
            Self::Word(postings) => {
                postings.seek(target);
            }
            Self::Phrase(phrase) => {
                if let Some((lead, _)) = phrase.words.first_mut() {
                    lead.seek(target);
                }
                phrase.settle();
            }
        }
    }

    /// How often the leaf stands in the document.
    pub(super) fn times(&self) -> u32 {
        match self {
            Self::Word(postings) => postings.term_freq(),
            Self::Phrase(phrase) => phrase.times,
        }
    }

    pub(super) fn size_hint(&self) -> u32 {
        match self {
            Self::Word(postings) => postings.size_hint(),
            // Reading positions costs more than walking documents.
            Self::Phrase(phrase) => phrase.words.first().map_or(0, |(lead, _)| lead.size_hint()),
        }
    }
}

/// Words that must stand at fixed distances.
pub(super) struct Phrase {
    /// Each word with its place, the rarest first.
    words: Vec<(SegmentPostings, u32)>,
    /// What the beginning at the end may stand for.
    endings: Vec<SegmentPostings>,
    ending_at: u32,
    /// The largest place.
    last: u32,
    doc: DocId,
    times: u32,
    starts: Vec<u32>,
    next: Vec<u32>,
}

impl Phrase {
    /// Goes to the first document at or behind the lead's in which the words stand in a row.
    fn settle(&mut self) {
        loop {
            let Some((lead, others)) = self.words.split_first_mut() else {
                self.doc = TERMINATED;
                return;
            };
            let doc = lead.0.doc();
            if doc == TERMINATED {
                self.doc = TERMINATED;
                return;
            }
            let mut behind = None;
            for (postings, _) in others {
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                if postings.doc() > doc {
                    behind = Some(postings.doc());
                    break;
                }
            }
            if let Some(target) = behind {
                lead.0.seek(target);
                continue;
            }
            self.times = self.count(doc);
            if self.times > 0 {
                self.doc = doc;
                return;
            }
            if let Some((lead, _)) = self.words.first_mut() {
                lead.advance();
            }
        }
    }

    /// How often the words stand in a row in a document that holds them all.
    fn count(&mut self, doc: DocId) -> u32 {
        self.starts.clear();
        for (place, (postings, at)) in self.words.iter_mut().enumerate() {
            // Shifted by what is missing to the largest place, words in a row fall together.
            let shift = self.last.saturating_sub(*at);
            if place == 0 {
                postings.positions_with_offset(shift, &mut self.starts);
            } else {
                postings.positions_with_offset(shift, &mut self.next);
                keep_common(&mut self.starts, &self.next);
            }
        }
        if !self.endings.is_empty() {
            self.next.clear();
            for postings in &mut self.endings {
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                if postings.doc() == doc {
                    let shift = self.last.saturating_sub(self.ending_at);
                    postings.append_positions_with_offset(shift, &mut self.next);
                }
            }
            self.next.sort_unstable();
            keep_common(&mut self.starts, &self.next);
        }
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}

fn keep_common(places: &mut Vec<u32>, others: &[u32]) {
    places.retain(|place| others.binary_search(place).is_ok());
}
