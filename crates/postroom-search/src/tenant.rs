//! The index of one tenant.

use crate::{Doc, Ranked, Related, RelatedRequest, SearchError, SearchRequest};

/// A handle on the index of one tenant. Clones share it. Its methods block.
#[derive(Debug, Clone)]
pub struct TenantIndex {}

impl TenantIndex {
    /// Adds (or replaces, by number) documents, removes others, and commits with the feed position
    /// that this reaches. The commit is on disk and visible to searches when this returns. Waits
    /// while other tenants use the writers.
    ///
    /// Applying the same changes again changes nothing, so a feed may be replayed from
    /// [`TenantIndex::position`].
    ///
    /// # Errors
    /// [`SearchError::Engine`] when nothing of it was committed.
    pub fn apply(&self, docs: Vec<Doc>, deletes: &[u64], position: u64) -> Result<(), SearchError> {
        let _ = (docs, deletes, position);
        Err(SearchError::Closed)
    }

    /// The feed position of the last commit.
    pub fn position(&self) -> u64 {
        0
    }

    /// Messages in the index.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be opened.
    pub fn message_count(&self) -> Result<u64, SearchError> {
        Err(SearchError::Closed)
    }

    /// Finds and ranks.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be read.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<Ranked, SearchError> {
        let _ = request;
        Err(SearchError::Closed)
    }

    /// Finds messages like one: any of its distinctive words, outside `exclude`.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be read.
    pub fn related(&self, request: &RelatedRequest<'_>) -> Result<Related, SearchError> {
        let _ = request;
        Err(SearchError::Closed)
    }

    /// Reads every file of the index and compares checksums.
    ///
    /// # Errors
    /// [`SearchError::Rebuild`] when one is damaged.
    pub fn verify(&self) -> Result<(), SearchError> {
        Ok(())
    }
}
