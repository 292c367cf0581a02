//! Counts over what a search found.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;
use tantivy::{DocId, Searcher, SegmentReader};

use crate::{
    collect::Candidate,
    schema::{FLAGS, SENDER, flags},
    senders::{SegmentSenders, Senders},
};

/// Values of one facet, except months.
pub const FACET_VALUES: usize = 10;
/// Values of the month facet, the most recent ones.
pub const MONTH_VALUES: usize = 24;

/// The facets that the index can count. Each list is ready to show: capped and in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexFacets {
    /// Addresses of senders.
    pub sender: Vec<(String, u64)>,
    /// Domains of senders.
    pub sender_domain: Vec<(String, u64)>,
    /// Months as `YYYY-MM`, newest first.
    pub month: Vec<(String, u64)>,
    /// Attachment classes.
    pub attachment_type: Vec<(String, u64)>,
}

/// The ten most frequent values, ties by value: the order and cap of every facet but months.
pub fn top_counts(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    top_borrowed(
        counts
            .iter()
            .map(|(value, count)| (value.as_str(), *count))
            .collect(),
    )
}

/// Orders only what is shown, and copies only that.
fn top_borrowed(mut counts: Vec<(&str, u64)>) -> Vec<(String, u64)> {
    let order = |a: &(&str, u64), b: &(&str, u64)| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0));
    if counts.len() > FACET_VALUES {
        counts.select_nth_unstable_by(FACET_VALUES - 1, order);
        counts.truncate(FACET_VALUES);
    }
    counts.sort_unstable_by(order);
    let shown = counts.into_iter();
    shown
        .map(|(value, count)| (value.to_owned(), count))
        .collect()
}

/// Counts the facets of matches.
pub(crate) fn count(
    searcher: &Searcher,
    names: &Senders,
    candidates: &[Candidate],
    zone: &TimeZone,
) -> tantivy::Result<IndexFacets> {
    let mut counted: Vec<(SegmentSenders, Vec<(u64, u64)>)> = Vec::new();
    let mut months = Months::new(zone);
    let mut classes: HashMap<&str, u64> = HashMap::new();
    let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
    for candidate in candidates {
        let docs = by_segment.entry(candidate.at.segment_ord).or_default();
        docs.push(candidate.at.doc_id);
        months.add(candidate.date);
    }
    for (segment, docs) in by_segment {
        let reader = searcher.segment_reader(segment);
        counted.extend(count_senders(reader, names, &docs)?);
        let bits = reader.fast_fields().column_first_or_default::<u64>(FLAGS)?;
        for doc in docs {
            for class in flags::classes(bits.get_val(doc)) {
                *classes.entry(class.name()).or_default() += 1;
            }
        }
    }
    let mut senders: HashMap<&str, u64> = HashMap::new();
    for (names, counts) in &counted {
        for (ord, count) in counts {
            if let Some(sender) = names.name(*ord) {
                *senders.entry(sender).or_default() += count;
            }
        }
    }
    let mut domains: HashMap<&str, u64> = HashMap::new();
    for (sender, count) in &senders {
        if let Some((_, domain)) = sender.rsplit_once('@') {
            *domains.entry(domain).or_default() += count;
        }
    }
    let domains: Vec<(&str, u64)> = domains.into_iter().collect();
    Ok(IndexFacets {
        sender_domain: top_borrowed(domains),
        sender: top_borrowed(
            senders
                .iter()
                .map(|(sender, count)| (*sender, *count))
                .collect(),
        ),
        month: months.newest(),
        attachment_type: top_borrowed(classes.into_iter().collect()),
    })
}

/// Counts by month. A month is worked out once; the instants in it are compared with its ends.
struct Months<'a> {
    zone: &'a TimeZone,
    /// By the first instant: the first instant behind, the name, the count.
    seen: BTreeMap<i64, (i64, String, u64)>,
}

impl<'a> Months<'a> {
    fn new(zone: &'a TimeZone) -> Self {
        Self {
            zone,
            seen: BTreeMap::new(),
        }
    }

    fn add(&mut self, date: i64) {
        if let Some((_, (end, _, count))) = self.seen.range_mut(..=date).next_back()
            && date < *end
        {
            *count += 1;
            return;
        }
        let Ok(instant) = jiff::Timestamp::from_millisecond(date) else {
            return;
        };
        let first = self.zone.to_datetime(instant).date().first_of_month();
        let start_of = |day: jiff::civil::Date| self.zone.to_timestamp(day.at(0, 0, 0, 0));
        let next = first.checked_add(jiff::Span::new().months(1));
        // At the ends of time a month has no next one.
        let start = start_of(first).map_or(date, |start| start.as_millisecond());
        let end = next.and_then(start_of);
        let end = end.map_or(date, |end| end.as_millisecond());
        let name = format!("{:04}-{:02}", first.year(), first.month());
        let month = self.seen.entry(start.min(date)).or_insert((end, name, 0));
        month.2 += 1;
    }

    fn newest(self) -> Vec<(String, u64)> {
        let newest = self.seen.into_values().rev().take(MONTH_VALUES);
        newest.map(|(_, name, count)| (name, count)).collect()
    }
}

/// Counts by the sender's number in a segment, in its order.
type SenderCounts = Vec<(u64, u64)>;

/// How often each sender of a segment stands among some documents.
fn count_senders(
    reader: &SegmentReader,
    names: &Senders,
    docs: &[DocId],
) -> tantivy::Result<Option<(SegmentSenders, SenderCounts)>> {
    let Some(column) = reader.fast_fields().str(SENDER)? else {
        return Ok(None);
    };
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for doc in docs {
        if let Some(ord) = column.ords().first(*doc) {
            *counts.entry(ord).or_default() += 1;
        }
    }
    let mut counts: SenderCounts = counts.into_iter().collect();
    counts.sort_unstable();
    let ords = counts.iter().map(|(ord, _)| *ord);
    let names = names.of(reader.segment_id(), &column, ords)?;
    Ok(Some((names, counts)))
}
