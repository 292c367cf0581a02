//! Conditions on columns, checked document by document: message sets, dates, flags.
//!
//! They are cheap to check and dear to walk, so they tell the engine that walking them costs as
//! much as the whole segment, and it lets rarer conditions lead.

use std::{fmt, sync::Arc};

use roaring::RoaringTreemap;
use tantivy::{
    DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED,
    columnar::ColumnValues,
    query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight},
};

use crate::schema::{DATE, FLAGS, NUM};

/// A condition on one column.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// The message number is one of these.
    NumIn(Arc<RoaringTreemap>),
    /// The message number is at most this.
    NumUpto(u64),
    /// The date is at or after this, milliseconds.
    DateFrom(i64),
    /// The date is before this, milliseconds.
    DateBefore(i64),
    /// One of these bits is set.
    AnyFlag(u64),
}

/// Messages for which a [`Test`] holds; they score zero.
#[derive(Debug, Clone)]
pub(crate) struct ColumnQuery(pub(crate) Test);

impl Query for ColumnQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ColumnWeight(self.0.clone())))
    }
}

struct ColumnWeight(Test);

impl ColumnWeight {
    /// The check of a segment's documents; `None` when it holds for none of them.
    fn check(&self, reader: &SegmentReader) -> tantivy::Result<Option<Check>> {
        let columns = reader.fast_fields();
        Ok(match &self.0 {
            Test::NumIn(set) => Some(Check::NumIn(
                columns.column_first_or_default(NUM)?,
                Arc::clone(set),
            )),
            Test::NumUpto(upto) => {
                Some(Check::NumUpto(columns.column_first_or_default(NUM)?, *upto))
            }
            Test::DateFrom(from) => dates(reader, *from, i64::MAX)?,
            Test::DateBefore(before) => match before.checked_sub(1) {
                Some(last) => dates(reader, i64::MIN, last)?,
                None => None,
            },
            Test::AnyFlag(bits) => Some(Check::AnyFlag(
                columns.column_first_or_default(FLAGS)?,
                *bits,
            )),
        })
    }
}

/// A check of dates. Mail lies in the index about as it came, so most segments hold only dates on one
/// side of an end.
fn dates(reader: &SegmentReader, from: i64, to: i64) -> tantivy::Result<Option<Check>> {
    let columns = reader.fast_fields();
    if let Some(dates) = columns.column_opt::<i64>(DATE)? {
        let (first, last) = (dates.min_value(), dates.max_value());
        if last < from || to < first {
            return Ok(None);
        }
        if from <= first && last <= to {
            return Ok(Some(Check::Always));
        }
    }
    let dates = columns.column_first_or_default(DATE)?;
    Ok(Some(Check::Date(dates, from, to)))
}

impl Weight for ColumnWeight {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(check) = self.check(reader)? else {
            return Ok(Box::new(EmptyScorer));
        };
        let mut docs = ColumnDocs::new(check, reader.max_doc());
        docs.settle(0);
        Ok(Box::new(ConstScorer::new(docs, 0.0)))
    }

    /// To look for the first match would walk the documents that other conditions leave out.
    fn scorer_danger(
        &self,
        reader: &SegmentReader,
        target: DocId,
        _: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let Some(check) = self.check(reader)? else {
            let none = SeekDangerResult::SeekLowerBound(TERMINATED);
            return Ok((none, Box::new(EmptyScorer)));
        };
        let mut docs = ColumnDocs::new(check, reader.max_doc());
        let found = docs.seek_danger(target);
        Ok((found, Box::new(ConstScorer::new(docs, 0.0))))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("a condition on a column", 0.0))
    }
}

enum Check {
    NumIn(Arc<dyn ColumnValues<u64>>, Arc<RoaringTreemap>),
    NumUpto(Arc<dyn ColumnValues<u64>>, u64),
    Date(Arc<dyn ColumnValues<i64>>, i64, i64),
    AnyFlag(Arc<dyn ColumnValues<u64>>, u64),
    Always,
}

impl Check {
    fn holds(&self, doc: DocId) -> bool {
        match self {
            Self::NumIn(nums, set) => set.contains(nums.get_val(doc)),
            Self::NumUpto(nums, upto) => nums.get_val(doc) <= *upto,
            Self::Date(dates, from, to) => (*from..=*to).contains(&dates.get_val(doc)),
            Self::AnyFlag(flags, bits) => flags.get_val(doc) & bits != 0,
            Self::Always => true,
        }
    }
}

struct ColumnDocs {
    check: Check,
    doc: DocId,
    max_doc: DocId,
}

impl fmt::Debug for ColumnDocs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColumnDocs at {}", self.doc)
    }
}

impl ColumnDocs {
    /// Stands nowhere yet.
    fn new(check: Check, max_doc: DocId) -> Self {
        Self {
            check,
            doc: 0,
            max_doc,
        }
    }

    /// Goes to the first match at or after `doc`.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        while doc < self.max_doc && !self.check.holds(doc) {
            doc += 1;
        }
        self.doc = if doc < self.max_doc { doc } else { TERMINATED };
        self.doc
    }
}

impl DocSet for ColumnDocs {
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
        if target >= self.max_doc {
            self.doc = TERMINATED;
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        self.doc = target;
        if self.check.holds(target) {
            SeekDangerResult::Found
        } else {
            SeekDangerResult::SeekLowerBound(target + 1)
        }
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.max_doc
    }
}
