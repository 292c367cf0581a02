//! Terms of a field of names, kept in memory as one text for each segment.
//!
//! A part of a name stands anywhere in a term, so all terms must be looked at. To look through a text
//! costs a hundredth of walking the dictionary term by term. A segment never changes, so its text is
//! made once and kept as long as the segment is there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use memchr::memmem;
use postroom_types::limit::TERMS_KEPT_BYTES;
use tantivy::{Searcher, SegmentReader, index::SegmentId, schema::Field, termdict::TermDictionary};

/// The terms of one field of one segment.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    text: String,
    /// Where each term ends, in order.
    ends: Vec<u32>,
}

impl Terms {
    /// Reads a dictionary; `None` when its text is longer than `max_bytes`.
    fn read(dictionary: &TermDictionary, max_bytes: usize) -> tantivy::Result<Option<Self>> {
        let mut terms = Self::default();
        let mut stream = dictionary.stream()?;
        while stream.advance() {
            let Ok(term) = std::str::from_utf8(stream.key()) else {
                continue;
            };
            terms.text.push_str(term);
            let Ok(end) = u32::try_from(terms.text.len()) else {
                return Ok(None);
            };
            terms.ends.push(end);
            if terms.bytes() > max_bytes {
                return Ok(None);
            }
        }
        Ok(Some(terms))
    }

    fn bytes(&self) -> usize {
        self.text.len() + size_of_val(self.ends.as_slice())
    }

    /// Calls `visit` with every term that holds `part`, which is not empty.
    pub(crate) fn for_each_with(
        &self,
        part: &str,
        mut visit: impl FnMut(&str) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let finder = memmem::Finder::new(part);
        let mut from = 0;
        while let Some(rest) = self.text.as_bytes().get(from..)
            && let Some(at) = finder.find(rest)
        {
            let at = from + at;
            let place = self.ends.partition_point(|end| *end as usize <= at);
            let Some(end) = self.ends.get(place).map(|end| *end as usize) else {
                break;
            };
            if at + part.len() > end {
                // It begins in one term and ends in the next.
                from = at + 1;
                continue;
            }
            let before = place.checked_sub(1).and_then(|it| self.ends.get(it));
            let start = before.map_or(0, |end| *end as usize);
            visit(self.text.get(start..end).unwrap_or_default())?;
            from = end;
        }
        Ok(())
    }
}

/// The terms of the segments in which parts of names were looked for; `None` for those that are too
/// many to keep.
#[derive(Debug, Default)]
pub(crate) struct KeptTerms(Mutex<BySegment>);

type BySegment = HashMap<(SegmentId, Field), Option<Arc<Terms>>>;

impl KeptTerms {
    /// Lets go of segments that are no more.
    pub(crate) fn keep_only(&self, searcher: &Searcher) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.is_empty() {
            let readers = searcher.segment_readers();
            let is_there = |id| readers.iter().any(|reader| reader.segment_id() == id);
            kept.retain(|(id, _), _| is_there(*id));
        }
    }

    /// The terms of a field; `None` when they are too many to keep.
    pub(crate) fn of(
        &self,
        reader: &SegmentReader,
        field: Field,
    ) -> tantivy::Result<Option<Arc<Terms>>> {
        self.within(reader, field, TERMS_KEPT_BYTES)
    }

    fn within(
        &self,
        reader: &SegmentReader,
        field: Field,
        max_bytes: usize,
    ) -> tantivy::Result<Option<Arc<Terms>>> {
        let key = (reader.segment_id(), field);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(&key) {
            return Ok(known.clone());
        }
        let held: usize = kept.values().flatten().map(|terms| terms.bytes()).sum();
        let left = max_bytes.saturating_sub(held);
        let terms = Terms::read(reader.inverted_index(field)?.terms(), left)?.map(Arc::new);
        kept.insert(key, terms.clone());
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tantivy::{
        Index, doc,
        schema::{STRING, Schema},
    };

    const NAMES: [&str; 5] = ["ab", "abba", "b", "bab", "käse"];

    fn index() -> (Index, Field) {
        let mut schema = Schema::builder();
        let name = schema.add_text_field("name", STRING);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index
            .writer_with_num_threads(1, 15_000_000)
            .expect("a writer");
        for text in NAMES {
            writer.add_document(doc!(name => text)).expect("adds");
        }
        writer.commit().expect("commits");
        (index, name)
    }

    fn found(terms: &Terms, part: &str) -> Vec<String> {
        let mut found = Vec::new();
        let visit = |term: &str| {
            found.push(term.to_owned());
            Ok(())
        };
        terms.for_each_with(part, visit).expect("visits");
        found
    }

    #[test]
    fn every_term_with_the_part_is_found_once_and_none_over_a_border() {
        let (index, name) = index();
        let searcher = index.reader().expect("a reader").searcher();
        let kept = KeptTerms::default();
        let terms = kept.of(searcher.segment_reader(0), name).expect("reads");
        let terms = terms.expect("few");
        for part in ["a", "b", "ab", "ba", "bb", "bbab", "aab", "ä", "käse", "x"] {
            let names = NAMES.iter().filter(|term| term.contains(part));
            let expected: Vec<String> = names.map(|term| (*term).to_owned()).collect();
            assert_eq!(found(&terms, part), expected, "{part}");
        }
    }

    #[test]
    fn terms_are_kept_up_to_the_limit_and_no_further() {
        let (index, name) = index();
        let searcher = index.reader().expect("a reader").searcher();
        let reader = searcher.segment_reader(0);
        let bytes = NAMES.iter().map(|name| name.len() + 4).sum();
        let within = |max_bytes| KeptTerms::default().within(reader, name, max_bytes);
        assert!(within(bytes).expect("reads").is_some());
        assert!(within(bytes - 1).expect("reads").is_none());
    }

    #[test]
    fn a_segment_that_is_gone_is_let_go() {
        let (index, name) = index();
        let searcher = index.reader().expect("a reader").searcher();
        let kept = KeptTerms::default();
        kept.of(searcher.segment_reader(0), name).expect("reads");
        kept.keep_only(&searcher);
        assert_eq!(kept.0.lock().expect("lock").len(), 1);
        let (other, _) = self::index();
        kept.keep_only(&other.reader().expect("a reader").searcher());
        assert_eq!(kept.0.lock().expect("lock").len(), 0);
    }
}
