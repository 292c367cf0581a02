//! Counts over what a search found.

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
