//! Counts over what a search found.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;
use tantivy::{DocId, Searcher, SegmentReader, columnar::StrColumn, index::SegmentId};

use crate::{
    collect::Candidate,
    schema::{FLAGS, SENDER, flags},
    senders::{Directory, Senders, read},
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
    senders: &Senders,
    candidates: &[Candidate],
    zone: &TimeZone,
) -> tantivy::Result<IndexFacets> {
    let mut columns = Vec::new();
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
        columns.extend(SegmentSenders::of(reader, &docs)?);
        let bits = reader.fast_fields().column_first_or_default::<u64>(FLAGS)?;
        for doc in docs {
            for class in flags::classes(bits.get_val(doc)) {
                *classes.entry(class.name()).or_default() += 1;
            }
        }
    }
    let (sender, sender_domain) = count_senders(senders, &columns)?;
    Ok(IndexFacets {
        sender,
        sender_domain,
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

/// The senders of some documents of one segment.
struct SegmentSenders {
    segment: SegmentId,
    column: StrColumn,
    /// Their numbers in the segment, one for each document that has one.
    ords: Vec<u64>,
}

impl SegmentSenders {
    fn of(reader: &SegmentReader, docs: &[DocId]) -> tantivy::Result<Option<Self>> {
        let Some(column) = reader.fast_fields().str(SENDER)? else {
            return Ok(None);
        };
        let numbers = column.ords();
        let ords = docs.iter().filter_map(|doc| numbers.first(*doc)).collect();
        Ok(Some(Self {
            segment: reader.segment_id(),
            column,
            ords,
        }))
    }
}

type Counts = Vec<(String, u64)>;

/// The most frequent senders and their domains.
fn count_senders(
    senders: &Senders,
    columns: &[SegmentSenders],
) -> tantivy::Result<(Counts, Counts)> {
    let segments = columns.iter().map(|it| (it.segment, &it.column));
    if senders.learn(segments)?
        && let Some(counted) = count_numbers(&senders.read(), columns)
    {
        return Ok(counted);
    }
    count_addresses(columns)
}

/// Counts by number; `None` when senders of a segment are not kept.
fn count_numbers(directory: &Directory, columns: &[SegmentSenders]) -> Option<(Counts, Counts)> {
    let mut found = Vec::new();
    for column in columns {
        let numbers = directory.of_segment(column.segment)?;
        for ord in &column.ords {
            found.push((*numbers.get(usize::try_from(*ord).ok()?)?, 1));
        }
    }
    let senders = sum_equal(found);
    let domains = senders
        .iter()
        .filter_map(|(sender, count)| Some((directory.domain_of(*sender)?, *count)));
    let domains = sum_equal(domains.collect());
    let named = |(sender, count)| (directory.address(sender), count);
    let domain_named = |(domain, count)| (directory.domain(domain), count);
    Some((
        top_borrowed(senders.into_iter().map(named).collect()),
        top_borrowed(domains.into_iter().map(domain_named).collect()),
    ))
}

/// Adds up the counts of equal numbers.
fn sum_equal(mut counts: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    counts.sort_unstable_by_key(|(number, _)| *number);
    counts.dedup_by(|next, sum| {
        let equal = next.0 == sum.0;
        if equal {
            sum.1 += next.1;
        }
        equal
    });
    counts
}

/// Counts by address, where there are too many senders to keep.
fn count_addresses(columns: &[SegmentSenders]) -> tantivy::Result<(Counts, Counts)> {
    let mut senders: HashMap<Box<str>, u64> = HashMap::new();
    for column in columns {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for ord in &column.ords {
            *counts.entry(*ord).or_default() += 1;
        }
        let addresses = read(&column.column, counts.keys().copied())?;
        for (address, count) in addresses.into_iter().zip(counts.values()) {
            *senders.entry(address).or_default() += count;
        }
    }
    let mut domains: HashMap<&str, u64> = HashMap::new();
    for (sender, count) in &senders {
        if let Some((_, domain)) = sender.rsplit_once('@') {
            *domains.entry(domain).or_default() += count;
        }
    }
    let named = senders
        .iter()
        .map(|(sender, count)| (sender.as_ref(), *count));
    Ok((
        top_borrowed(named.collect()),
        top_borrowed(domains.into_iter().collect()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_equal_numbers_are_added_up() {
        let counts = vec![(3, 1), (1, 2), (3, 4), (2, 1), (1, 1)];
        assert_eq!(sum_equal(counts), [(1, 3), (2, 1), (3, 5)]);
        assert_eq!(sum_equal(Vec::new()), []);
    }
}
