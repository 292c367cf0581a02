//! Senders by number, over all segments of an index.
//!
//! The index keeps the addresses of a segment compressed in blocks, and reading those for every
//! search would cost more than the search. A segment never changes, so its addresses are read once.
//! Each address of the index has one number here, so that facets count numbers and not texts.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use postroom_types::limit::SENDERS_KEPT;
use tantivy::{Searcher, columnar::StrColumn, index::SegmentId};

/// The senders of the segments that facets were counted over.
#[derive(Default)]
pub(crate) struct Senders(RwLock<Directory>);

/// Texts with a number each.
#[derive(Default)]
struct Numbered {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Numbered {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    fn text(&self, number: u32) -> &str {
        let text = self.texts.get(number as usize);
        text.map_or("", AsRef::as_ref)
    }
}

/// Senders and their domains.
#[derive(Default)]
pub(crate) struct Directory {
    senders: Numbered,
    domains: Numbered,
    /// The domain of each sender; `None` for an address that has none.
    domain_of: Vec<Option<u32>>,
    /// For each segment the senders by their number in it.
    segments: HashMap<SegmentId, Box<[u32]>>,
}

impl Directory {
    /// The senders of a segment by their number in it; `None` when they are not kept.
    pub(crate) fn of_segment(&self, segment: SegmentId) -> Option<&[u32]> {
        self.segments.get(&segment).map(AsRef::as_ref)
    }

    pub(crate) fn address(&self, sender: u32) -> &str {
        self.senders.text(sender)
    }

    pub(crate) fn domain_of(&self, sender: u32) -> Option<u32> {
        self.domain_of.get(sender as usize).copied().flatten()
    }

    pub(crate) fn domain(&self, domain: u32) -> &str {
        self.domains.text(domain)
    }

    /// Takes in the addresses of a segment, unless there would be more than `most` in all.
    fn add(&mut self, segment: SegmentId, addresses: &[Box<str>], most: usize) -> bool {
        let known = |address: &str| self.senders.numbers.contains_key(address);
        let new = addresses.iter().filter(|address| !known(address)).count();
        if self.senders.texts.len().saturating_add(new) > most {
            return false;
        }
        let numbers = addresses.iter().map(|address| {
            let number = self.senders.number(address);
            if self.domain_of.len() <= number as usize {
                let domain = address.rsplit_once('@').map(|(_, domain)| domain);
                self.domain_of
                    .push(domain.map(|domain| self.domains.number(domain)));
            }
            number
        });
        let numbers = numbers.collect();
        self.segments.insert(segment, numbers);
        true
    }
}

impl Senders {
    /// Lets go of segments that are no more, and of all when most addresses were of those.
    pub(crate) fn keep_only(&self, searcher: &Searcher) {
        let mut directory = self.write();
        if directory.segments.is_empty() {
            return;
        }
        let readers = searcher.segment_readers();
        let is_there = |id| readers.iter().any(|reader| reader.segment_id() == id);
        directory.segments.retain(|id, _| is_there(*id));
        let held: usize = directory.segments.values().map(|it| it.len()).sum();
        if directory.senders.texts.len() / 2 > held {
            *directory = Directory::default();
        }
    }

    /// Reads what is not known yet of some segments; whether all of it is kept.
    pub(crate) fn learn<'a>(
        &self,
        segments: impl Iterator<Item = (SegmentId, &'a StrColumn)>,
    ) -> tantivy::Result<bool> {
        for (segment, column) in segments {
            if self.read().of_segment(segment).is_some() {
                continue;
            }
            if column.num_terms() > SENDERS_KEPT {
                return Ok(false);
            }
            let addresses = read(column, 0..column.num_terms() as u64)?;
            if !self.write().add(segment, &addresses, SENDERS_KEPT) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Directory> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Directory> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The addresses with these numbers, which are in order: one walk over the dictionary.
pub(crate) fn read(
    column: &StrColumn,
    ords: impl Iterator<Item = u64>,
) -> tantivy::Result<Vec<Box<str>>> {
    let ords: Vec<u64> = ords.collect();
    let mut names = Vec::with_capacity(ords.len());
    column.dictionary().sorted_ords_to_term_cb(&ords, |name| {
        names.push(String::from_utf8_lossy(name).into())
    })?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(n: u8) -> SegmentId {
        SegmentId::from_uuid_string(&format!("{n:032x}")).expect("an id")
    }

    #[test]
    fn an_address_has_one_number_in_all_segments() {
        let mut directory = Directory::default();
        let first = ["a@x.example".into(), "b@y.example".into()];
        let second = ["b@y.example".into(), "c@x.example".into(), "none".into()];
        assert!(directory.add(segment(1), &first, 9) && directory.add(segment(2), &second, 9));
        assert_eq!(directory.of_segment(segment(1)), Some([0, 1].as_slice()));
        assert_eq!(directory.of_segment(segment(2)), Some([1, 2, 3].as_slice()));
        let domains = [0, 1, 2, 3].map(|sender| directory.domain_of(sender));
        assert_eq!(domains, [Some(0), Some(1), Some(0), None]);
        assert_eq!(
            (directory.address(2), directory.domain(1)),
            ("c@x.example", "y.example")
        );
    }

    #[test]
    fn no_more_senders_are_kept_than_the_limit() {
        let mut directory = Directory::default();
        let addresses = ["a@x.example".into(), "b@x.example".into()];
        assert!(!directory.add(segment(1), &addresses, 1));
        assert!(directory.add(segment(1), &addresses, 2));
        // What is known already is no more.
        assert!(directory.add(segment(2), &addresses, 2));
        assert!(!directory.add(segment(3), &["c@x.example".into()], 2));
        assert_eq!(directory.of_segment(segment(3)), None);
    }
}
