//! Addresses of senders by their number in a segment.
//!
//! The index keeps them compressed in blocks, and reading those for every search would cost more
//! than the search. A segment never changes, so its addresses are read once and kept as long as it
//! is there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use postroom_types::limit::SENDERS_KEPT;
use tantivy::{Searcher, columnar::StrColumn, index::SegmentId};

/// The addresses of the segments that facets were counted over.
#[derive(Default)]
pub(crate) struct Senders(Mutex<HashMap<SegmentId, Arc<[Box<str>]>>>);

/// The addresses of one segment, or those of them that were asked for.
pub(crate) enum SegmentSenders {
    /// All, by number.
    All(Arc<[Box<str>]>),
    /// Some, with their numbers, in order.
    Some(Vec<(u64, Box<str>)>),
}

impl SegmentSenders {
    /// The address of a number.
    pub(crate) fn name(&self, ord: u64) -> Option<&str> {
        match self {
            Self::All(names) => names.get(usize::try_from(ord).ok()?).map(AsRef::as_ref),
            Self::Some(names) => {
                let place = names.binary_search_by_key(&ord, |(ord, _)| *ord).ok()?;
                names.get(place).map(|(_, name)| name.as_ref())
            }
        }
    }
}

impl Senders {
    /// Lets go of segments that are no more.
    pub(crate) fn keep_only(&self, searcher: &Searcher) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.is_empty() {
            let readers = searcher.segment_readers();
            kept.retain(|id, _| readers.iter().any(|reader| reader.segment_id() == *id));
        }
    }

    /// The addresses of a segment; where all of them would be too many to keep, those of `ords`,
    /// which are in order.
    pub(crate) fn of(
        &self,
        segment: SegmentId,
        column: &StrColumn,
        ords: impl Iterator<Item = u64>,
    ) -> tantivy::Result<SegmentSenders> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = kept.get(&segment) {
            return Ok(SegmentSenders::All(Arc::clone(names)));
        }
        let held: usize = kept.values().map(|names| names.len()).sum();
        if held.saturating_add(column.num_terms()) <= SENDERS_KEPT {
            let names = read(column, 0..column.num_terms() as u64)?;
            let names: Arc<[Box<str>]> = names.into_iter().map(|(_, name)| name).collect();
            kept.insert(segment, Arc::clone(&names));
            return Ok(SegmentSenders::All(names));
        }
        drop(kept);
        read(column, ords).map(SegmentSenders::Some)
    }
}

/// One walk over the dictionary, in its order.
fn read(
    column: &StrColumn,
    ords: impl Iterator<Item = u64>,
) -> tantivy::Result<Vec<(u64, Box<str>)>> {
    let ords: Vec<u64> = ords.collect();
    let mut names = Vec::with_capacity(ords.len());
    let mut next = ords.iter();
    column.dictionary().sorted_ords_to_term_cb(&ords, |name| {
        if let Some(ord) = next.next() {
            names.push((*ord, String::from_utf8_lossy(name).into()));
        }
    })?;
    Ok(names)
}
