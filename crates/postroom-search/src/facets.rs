//! Counts over what a search found.

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;
use postroom_query::AttachmentType;
use tantivy::{DocId, Searcher, SegmentReader};

use crate::{
    collect::Candidate,
    schema::{FLAGS, SENDER, flags},
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
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(FACET_VALUES);
    counts
}

/// Counts the facets of matches.
pub(crate) fn count(
    searcher: &Searcher,
    candidates: &[Candidate],
    zone: &TimeZone,
) -> tantivy::Result<IndexFacets> {
    let mut senders: HashMap<String, u64> = HashMap::new();
    let mut months: HashMap<(i16, i8), u64> = HashMap::new();
    let mut classes: HashMap<&str, u64> = HashMap::new();
    let mut by_segment: BTreeMap<u32, Vec<DocId>> = BTreeMap::new();
    for candidate in candidates {
        let docs = by_segment.entry(candidate.at.segment_ord).or_default();
        docs.push(candidate.at.doc_id);
        if let Ok(instant) = jiff::Timestamp::from_millisecond(candidate.date) {
            let local = zone.to_datetime(instant);
            *months.entry((local.year(), local.month())).or_default() += 1;
        }
    }
    for (segment, docs) in by_segment {
        let reader = searcher.segment_reader(segment);
        count_senders(reader, &docs, &mut senders)?;
        let bits = reader.fast_fields().column_first_or_default::<u64>(FLAGS)?;
        for doc in docs {
            let bits = bits.get_val(doc);
            for class in AttachmentType::CLASSES {
                if bits & flags::class(class) != 0 {
                    *classes.entry(class.name()).or_default() += 1;
                }
            }
        }
    }
    let mut domains: HashMap<String, u64> = HashMap::new();
    for (sender, count) in &senders {
        if let Some((_, domain)) = sender.rsplit_once('@') {
            *domains.entry(domain.to_owned()).or_default() += count;
        }
    }
    let mut months: Vec<_> = months.into_iter().collect();
    months.sort_unstable_by_key(|(month, _)| std::cmp::Reverse(*month));
    months.truncate(MONTH_VALUES);
    let month_name = |(year, month): (i16, i8)| format!("{year:04}-{month:02}");
    Ok(IndexFacets {
        sender: top_counts(senders),
        sender_domain: top_counts(domains),
        month: months
            .into_iter()
            .map(|(month, count)| (month_name(month), count))
            .collect(),
        attachment_type: top_counts(
            classes
                .into_iter()
                .map(|(class, count)| (class.to_owned(), count)),
        ),
    })
}

fn count_senders(
    reader: &SegmentReader,
    docs: &[DocId],
    senders: &mut HashMap<String, u64>,
) -> tantivy::Result<()> {
    let Some(column) = reader.fast_fields().str(SENDER)? else {
        return Ok(());
    };
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for doc in docs {
        if let Some(ord) = column.ords().first(*doc) {
            *counts.entry(ord).or_default() += 1;
        }
    }
    // One walk over the dictionary, in its order.
    let ords: Vec<u64> = counts.keys().copied().collect();
    let mut amounts = counts.values();
    column
        .dictionary()
        .sorted_ords_to_term_cb(&ords, |sender| {
            let sender = String::from_utf8_lossy(sender).into_owned();
            *senders.entry(sender).or_default() += amounts.next().copied().unwrap_or(0);
        })?;
    Ok(())
}
