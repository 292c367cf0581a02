//! What can go wrong with an index.

use std::path::PathBuf;

use postroom_types::ErrorCode;

/// An index that could not be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The folder of the tenant's index cannot be used. Call [`crate::Indexes::reset`] and feed it
    /// from position zero.
    #[error("the search index in {path} must be rebuilt: {reason}")]
    Rebuild {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: RebuildReason,
    },
    /// The disk or the index library failed; the index stands as its last commit left it.
    #[error("the search index failed: {0}")]
    Engine(String),
    /// The folder could not be made or read.
    #[error("the search index folder failed: {0}")]
    Io(#[from] std::io::Error),
    /// The beginnings in the query stand for more than one search may read
    /// ([`postroom_types::limit::SEARCH_BEGINNINGS`]).
    #[error("the beginnings in the query stand for too much")]
    TooWide,
    /// The index was closed.
    #[error("the search index is closed")]
    Closed,
}

/// Why an index must be rebuilt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildReason {
    /// It was written with another shape of fields or another analysis.
    #[error("it has another shape than this version writes")]
    OtherShape,
    /// Its files are missing or do not read.
    #[error("it is damaged ({0})")]
    Damaged(String),
}

impl SearchError {
    /// The code for callers outside.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooWide => ErrorCode::InvalidQuery,
            Self::Rebuild { .. } | Self::Engine(_) | Self::Io(_) | Self::Closed => {
                ErrorCode::Unavailable
            }
        }
    }
}
