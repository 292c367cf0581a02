//! Filters on plain terms: exact ones, and those for which the dictionary of a field is read.

use std::{fmt, ops::Bound, sync::Arc};

use tantivy::{
    BitSet, DocId, Score, SegmentReader, Term,
    index::InvertedIndexReader,
    postings::{BlockSegmentPostings, TermInfo},
    query::{
        BitSetDocSet, ConstScoreQuery, ConstScorer, EnableScoring, Explanation, Query, Scorer,
        TermQuery, Weight,
    },
    schema::{Field, IndexRecordOption},
};

use crate::kept_terms::KeptTerms;

/// Messages with exactly this term; they score zero.
pub(crate) fn exact(field: Field, term: &str) -> Box<dyn Query> {
    let term = TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::Basic);
    Box::new(ConstScoreQuery::new(Box::new(term), 0.0))
}

/// Messages with a term that a test accepts, among the terms of a field that begin so or hold a part;
/// they score zero.
#[derive(Clone)]
pub(crate) struct TermScan {
    pub(crate) field: Field,
    pub(crate) among: Among,
    pub(crate) accepts: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

/// Which terms a [`TermScan`] looks at.
#[derive(Clone, Debug)]
pub(crate) enum Among {
    /// Those with this beginning.
    Beginning(String),
    /// Those that hold this part somewhere.
    Part(String, Arc<KeptTerms>),
}

impl fmt::Debug for TermScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TermScan")
            .field("field", &self.field)
            .finish_non_exhaustive()
    }
}

impl Query for TermScan {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl TermScan {
    /// Calls `add` with every term that is accepted.
    fn expand(
        &self,
        reader: &SegmentReader,
        index: &InvertedIndexReader,
        mut add: impl FnMut(&TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let beginning = match &self.among {
            Among::Beginning(beginning) => beginning.as_str(),
            Among::Part(part, kept) if !part.is_empty() => match kept.of(reader, self.field)? {
                Some(terms) => {
                    return terms.for_each_with(part, |term| {
                        let info = match (self.accepts)(term) {
                            true => index.terms().get(term)?,
                            false => None,
                        };
                        info.map_or(Ok(()), |info| add(&info))
                    });
                }
                None => "",
            },
            Among::Part(..) => "",
        };
        for_each_term(index, beginning, |term, info| {
            if (self.accepts)(term) {
                add(info)?;
            }
            Ok(())
        })
    }
}

impl Weight for TermScan {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let index = reader.inverted_index(self.field)?;
        let mut docs = BitSet::with_max_value(reader.max_doc());
        let mut reused = None;
        self.expand(reader, &index, |info| {
            let postings = read_postings(&index, info, IndexRecordOption::Basic, &mut reused)?;
            while !postings.docs().is_empty() {
                for &doc in postings.docs() {
                    docs.insert(doc);
                }
                postings.advance();
            }
            Ok(())
        })?;
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(docs), 0.0)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("a scan of terms", 0.0))
    }
}

/// Calls `visit` with every term of a field that begins so.
pub(crate) fn for_each_term(
    index: &InvertedIndexReader,
    beginning: &str,
    mut visit: impl FnMut(&str, &TermInfo) -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    let mut range = index.terms().range();
    if !beginning.is_empty() {
        range = range.ge(beginning);
        if let Bound::Excluded(end) = end_of_prefix(beginning) {
            range = range.lt(end);
        }
    }
    let mut terms = range.into_stream()?;
    while terms.advance() {
        if let Ok(term) = std::str::from_utf8(terms.key()) {
            visit(term, terms.value())?;
        }
    }
    Ok(())
}

/// The first key behind all keys with a prefix.
fn end_of_prefix(prefix: &str) -> Bound<Vec<u8>> {
    let mut end = prefix.as_bytes().to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return Bound::Excluded(end);
        }
    }
    Bound::Unbounded
}

/// The postings of a term, in a buffer that is used again: most terms of a dictionary stand in one
/// document, and making the buffer would cost more than reading them.
pub(crate) fn read_postings<'a>(
    index: &InvertedIndexReader,
    info: &TermInfo,
    option: IndexRecordOption,
    reused: &'a mut Option<BlockSegmentPostings>,
) -> tantivy::Result<&'a mut BlockSegmentPostings> {
    let postings = match reused.take() {
        Some(mut postings) => {
            index.reset_block_postings_from_terminfo(info, &mut postings)?;
            postings
        }
        None => index.read_block_postings_from_terminfo(info, option)?,
    };
    Ok(reused.insert(postings))
}
