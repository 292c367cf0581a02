//! Why a query string is no query.

/// Characters of [`QueryError::found`].
const FOUND_CHARS: usize = 32;

/// A query that does not parse, or that asks for something that is not there yet.
///
/// Maps to the code `invalid_query`; the three fields are its `details`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid query at character {position}: expected {expected}")]
pub struct QueryError {
    /// Where, as an offset in characters from the start of the query.
    pub position: usize,
    /// What would have been right there, a short text of our own words.
    pub expected: String,
    /// What stands there, at most 32 characters; `None` at the end of the query.
    pub found: Option<String>,
}

impl QueryError {
    /// An error at `position`, with `found` cut to what an error carries.
    pub(crate) fn new(position: usize, expected: impl Into<String>, found: &str) -> Self {
        let found: String = found.chars().take(FOUND_CHARS).collect();
        Self {
            position,
            expected: expected.into(),
            found: (!found.is_empty()).then_some(found),
        }
    }
}
