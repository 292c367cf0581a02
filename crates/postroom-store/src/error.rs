//! What can go wrong at the store's edge.

use crate::sql;
use postroom_core::Refusal;
use postroom_types::ErrorCode;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The command broke a rule; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The database could not answer or store; what it said was logged. Nothing was acknowledged.
    #[error("the store cannot answer now")]
    Unavailable,
    /// Another process owns the data folder.
    #[error("another process is using the data folder {0}")]
    Locked(std::path::PathBuf),
    /// The database was written by a newer version of this program.
    #[error(
        "the database has schema {found}, this program knows up to {known}: use a newer program"
    )]
    NewerSchema {
        /// What the database has.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// The secret key is not the one this database was made with.
    #[error(
        "the secret key is not the one this database was made with: restore secret.key or set POSTROOM_SECRET_KEY"
    )]
    SecretMismatch,
    /// The database was made with a secret key, and the file that held it is gone.
    #[error("the database was made with a secret key, and {0} is not there; no new one was made")]
    SecretMissing(std::path::PathBuf),
    /// The options cannot work.
    #[error("{0}")]
    Configuration(String),
    /// The data folder or database could not be opened.
    #[error("cannot open {what}: {reason}")]
    Open {
        /// What was opened.
        what: String,
        /// What the system said.
        reason: String,
    },
    /// The database server cannot be reached now.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// A stored row or blob cannot be read back.
    #[error("stored data is damaged: {0}")]
    Damaged(&'static str),
}

impl StoreError {
    /// The code for surfaces.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Damaged(_) => ErrorCode::InternalError,
            Self::NewerSchema { .. }
            | Self::SecretMismatch
            | Self::SecretMissing(_)
            | Self::Configuration(_)
            | Self::Open { .. } => ErrorCode::Misconfigured,
            Self::Unavailable | Self::Locked(_) | Self::Unreachable(_) => ErrorCode::Unavailable,
        }
    }
}

impl From<sql::Error> for StoreError {
    /// What the database said goes to the log, without any value of a row.
    fn from(error: sql::Error) -> Self {
        tracing::error!(
            code = error.code(),
            kind = error.kind(),
            "the database failed"
        );
        Self::Unavailable
    }
}
