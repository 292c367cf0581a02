//! What the dictionaries say of the words of a search.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use tantivy::{Searcher, Term, index::SegmentId, postings::TermInfo};

use super::{COLUMNS, Column, columns};
use crate::{
    analysis::{Wanted, Word},
    schema::Fields,
};

/// Where a word stands in each field that free text looks in.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    docs_with: [u64; COLUMNS],
    segments: Vec<(SegmentId, [Option<TermInfo>; COLUMNS])>,
}

impl Entry {
    /// In how many messages the word stands in a field.
    pub(super) fn docs_with(&self, column: &Column) -> u64 {
        self.docs_with.get(column.place).copied().unwrap_or(0)
    }

    /// The word's documents in a field of one segment; `None` when there are none.
    pub(super) fn in_segment(&self, segment: SegmentId, column: &Column) -> Option<&TermInfo> {
        let (_, infos) = self.segments.iter().find(|(id, _)| *id == segment)?;
        infos.get(column.place)?.as_ref()
    }
}

/// The words of a leaf with what the dictionaries say of them.
#[derive(Debug, Clone)]
pub(crate) struct Entries {
    /// Words that must stand at these distances from each other.
    pub(super) words: Vec<(Word, Arc<Entry>)>,
    /// A beginning of one more word behind them.
    pub(super) stem: Option<Word>,
}

impl Entries {
    /// In how many messages the rarest word stands, at most: words in a row are at least that rare.
    /// A beginning alone counts as nothing known.
    pub(crate) fn docs_with(&self, columns: &[Column]) -> u64 {
        let most = |entry: &Entry| columns.iter().map(|column| entry.docs_with(column)).max();
        let rarest = self.words.iter().filter_map(|(_, entry)| most(entry)).min();
        rarest.unwrap_or(1)
    }

    /// In how many messages all words can stand at most; all messages when nothing is known.
    pub(crate) fn docs_at_most(&self, columns: &[Column]) -> u64 {
        let all = |entry: &Entry| columns.iter().map(|column| entry.docs_with(column)).sum();
        let rarest = self.words.iter().map(|(_, entry)| all(entry)).min();
        rarest.unwrap_or(u64::MAX)
    }

    /// The one word of a leaf that is no more than that.
    pub(super) fn single(&self) -> Option<&Entry> {
        match (self.words.as_slice(), &self.stem) {
            ([(_, entry)], None) => Some(entry),
            _ => None,
        }
    }
}

/// Looks up each word of a search once, however many of its parts ask.
pub(crate) struct Dictionary<'a> {
    searcher: &'a Searcher,
    columns: [Column; COLUMNS],
    known: RefCell<HashMap<String, Arc<Entry>>>,
}

impl<'a> Dictionary<'a> {
    pub(crate) fn new(searcher: &'a Searcher, fields: &Fields) -> Self {
        Self {
            searcher,
            columns: columns(fields),
            known: RefCell::default(),
        }
    }

    /// Looks up the words of a leaf.
    pub(crate) fn entries(&self, wanted: Wanted) -> tantivy::Result<Entries> {
        let words = wanted.words.into_iter();
        let found = words.map(|word| Ok((word.clone(), self.entry(&word.text)?)));
        Ok(Entries {
            words: found.collect::<tantivy::Result<_>>()?,
            stem: wanted.stem,
        })
    }

    fn entry(&self, word: &str) -> tantivy::Result<Arc<Entry>> {
        if let Some(known) = self.known.borrow().get(word) {
            return Ok(Arc::clone(known));
        }
        let mut entry = Entry::default();
        for reader in self.searcher.segment_readers() {
            let mut infos: [Option<TermInfo>; COLUMNS] = Default::default();
            let places = infos.iter_mut().zip(&mut entry.docs_with);
            for (column, (info, docs_with)) in self.columns.iter().zip(places) {
                let term = Term::from_field_text(column.field, word);
                *info = reader.inverted_index(column.field)?.get_term_info(&term)?;
                *docs_with += info.as_ref().map_or(0, |info| u64::from(info.doc_freq));
            }
            entry.segments.push((reader.segment_id(), infos));
        }
        let entry = Arc::new(entry);
        let mut known = self.known.borrow_mut();
        known.insert(word.to_owned(), Arc::clone(&entry));
        Ok(entry)
    }
}
