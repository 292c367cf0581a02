//! Keeps the best matches of a search and counts all.

use tantivy::{
    DocAddress, DocId, Score, SegmentOrdinal, SegmentReader,
    collector::{Collector, SegmentCollector},
    columnar::ColumnValues,
};

use std::{cmp::Ordering, sync::Arc};

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
    pub(crate) keep: usize,
    /// How many of them are needed in order, the best first.
    pub(crate) ordered: usize,
    /// Without words every match scores the same.
    pub(crate) scored: bool,
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
            least: (Score::NEG_INFINITY, i64::MIN),
            found: Collected::default(),
        })
    }

    fn requires_scoring(&self) -> bool {
        self.scored
    }

    fn merge_fruits(&self, parts: Vec<Collected>) -> tantivy::Result<Collected> {
        let mut all = Collected::default();
        for part in parts {
            all.total += part.total;
            all.best.extend(part.best);
        }
        cut(&mut all.best, self.keep);
        if self.ordered < all.best.len() && self.ordered > 0 {
            all.best
                .select_nth_unstable_by(self.ordered - 1, Candidate::order);
        }
        let ordered = self.ordered.min(all.best.len());
        if let Some(best) = all.best.get_mut(..ordered) {
            best.sort_unstable_by(Candidate::order);
        }
        Ok(all)
    }
}

/// Collects in one segment.
pub(crate) struct SegmentBest {
    segment: SegmentOrdinal,
    keep: usize,
    dates: Arc<dyn ColumnValues<i64>>,
    nums: Arc<dyn ColumnValues<u64>>,
    /// What a match must score, and where that is equal how new it must be, to be among the best,
    /// once there are enough.
    least: (Score, i64),
    found: Collected,
}

impl SegmentBest {
    /// Drops all but the best. Done when twice as many were gathered, so that each match costs a
    /// constant on average.
    fn cut(&mut self) {
        if let Some(worst) = cut(&mut self.found.best, self.keep) {
            self.least = worst;
        }
    }
}

/// Keeps the `keep` best, in no order, and gives score and date of the worst of them when any was
/// dropped.
fn cut(best: &mut Vec<Candidate>, keep: usize) -> Option<(Score, i64)> {
    if best.len() <= keep {
        return None;
    }
    if keep == 0 {
        best.clear();
        return None;
    }
    let (_, worst, _) = best.select_nth_unstable_by(keep - 1, Candidate::order);
    let worst = (worst.score, worst.date);
    best.truncate(keep);
    Some(worst)
}

impl SegmentCollector for SegmentBest {
    type Fruit = Collected;

    fn collect(&mut self, doc: DocId, score: Score) {
        self.found.total += 1;
        let (least, oldest) = self.least;
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
        if self.found.best.len() >= 2 * self.keep.max(512) {
            self.cut();
        }
    }

    fn harvest(mut self) -> Collected {
        self.cut();
        self.found
    }
}
