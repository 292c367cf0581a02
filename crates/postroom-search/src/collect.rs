//! Keeps the best matches of a search and counts all.

use tantivy::{
    DocAddress, DocId, Score, SegmentOrdinal, SegmentReader,
    collector::{Collector, SegmentCollector},
    columnar::ColumnValues,
};

use std::{
    cmp::Ordering,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::schema::{DATE, NUM};

/// One match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) score: Score,
    pub(crate) date: i64,
    pub(crate) num: u64,
    pub(crate) at: DocAddress,
}

impl Candidate {
    /// Best first: score, then date, then number, each descending.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        (other.score.total_cmp(&self.score))
            .then_with(|| other.date.cmp(&self.date))
            .then_with(|| other.num.cmp(&self.num))
    }
}

/// What was found: the best in order, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) best: Vec<Candidate>,
    pub(crate) total: u64,
}

/// Collects the `keep` best matches.
pub(crate) struct Best {
    keep: usize,
    /// How many of them are needed in order, the best first.
    ordered: usize,
    /// Without words every match scores the same.
    scored: bool,
    /// What the segments before found: what the next one finds must be better.
    found: Arc<Mutex<Found>>,
}

/// The best so far, in no order.
#[derive(Debug)]
struct Found {
    best: Vec<Candidate>,
    total: u64,
    /// What a match must score, and where that is equal how new it must be, to be among the best,
    /// once there are enough.
    least: (Score, i64),
}

impl Default for Found {
    fn default() -> Self {
        Self {
            best: Vec::new(),
            total: 0,
            least: (Score::NEG_INFINITY, i64::MIN),
        }
    }
}

impl Found {
    /// Drops all but the `keep` best.
    fn cut(&mut self, keep: usize) {
        if self.best.len() <= keep {
            return;
        }
        if keep == 0 {
            self.best.clear();
            return;
        }
        let (_, worst, _) = self.best.select_nth_unstable_by(keep - 1, Candidate::order);
        self.least = (worst.score, worst.date);
        self.best.truncate(keep);
    }
}

impl Best {
    pub(crate) fn new(keep: usize, ordered: usize, scored: bool) -> Self {
        Self {
            keep,
            ordered,
            scored,
            found: Arc::default(),
        }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Best {
    type Fruit = Collected;
    type Child = SegmentBest;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<SegmentBest> {
        let columns = reader.fast_fields();
        Ok(SegmentBest {
            segment,
            keep: self.keep,
            dates: columns.column_first_or_default(DATE)?,
            nums: columns.column_first_or_default(NUM)?,
            found: std::mem::take(&mut *self.found()),
            shared: Arc::clone(&self.found),
        })
    }

    fn requires_scoring(&self) -> bool {
        self.scored
    }

    fn merge_fruits(&self, _: Vec<()>) -> tantivy::Result<Collected> {
        let mut found = std::mem::take(&mut *self.found());
        found.cut(self.keep);
        let Found {
            mut best, total, ..
        } = found;
        let ordered = self.ordered.min(best.len());
        if ordered < best.len() && ordered > 0 {
            best.select_nth_unstable_by(ordered - 1, Candidate::order);
        }
        if let Some(first) = best.get_mut(..ordered) {
            first.sort_unstable_by(Candidate::order);
        }
        Ok(Collected { best, total })
    }
}

/// Collects in one segment.
pub(crate) struct SegmentBest {
    segment: SegmentOrdinal,
    keep: usize,
    dates: Arc<dyn ColumnValues<i64>>,
    nums: Arc<dyn ColumnValues<u64>>,
    found: Found,
    shared: Arc<Mutex<Found>>,
}

impl SegmentCollector for SegmentBest {
    type Fruit = ();

    fn collect(&mut self, doc: DocId, score: Score) {
        self.found.total += 1;
        let (least, oldest) = self.found.least;
        if score < least {
            return;
        }
        let date = self.dates.get_val(doc);
        if score == least && date < oldest {
            return;
        }
        self.found.best.push(Candidate {
            score,
            date,
            num: self.nums.get_val(doc),
            at: DocAddress::new(self.segment, doc),
        });
        // Cut when twice as many were gathered, so that each match costs a constant on average.
        if self.found.best.len() >= 2 * self.keep.max(512) {
            self.found.cut(self.keep);
        }
    }

    fn harvest(self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        // Empty, unless segments are searched side by side.
        let other = std::mem::replace(&mut *shared, self.found);
        shared.total += other.total;
        shared.best.extend(other.best);
    }
}
