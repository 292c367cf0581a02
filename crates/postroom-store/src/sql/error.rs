//! What can go wrong with a database.

use std::error::Error as _;

/// An error of a database.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Of SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Of PostgreSQL, or of the connection to it.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// A column is not there or holds something else than was asked for.
    #[error("a column holds something else")]
    Column,
    /// No connection was free in time.
    #[error("no connection was free in time")]
    TimedOut,
    /// The connections were closed.
    #[error("the connections are closed")]
    Closed,
}

/// What an error means for the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A constraint refused a row: one command is at fault, the others are not.
    Constraint,
    /// Two nodes met: the same again may work.
    Serialization,
    /// Anything else.
    Other,
}

impl Error {
    /// What it means for the writer.
    pub(crate) fn fault(&self) -> Fault {
        if let Self::Sqlite(error) = self {
            return match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::ConstraintViolation) => Fault::Constraint,
                _ => Fault::Other,
            };
        }
        match self.code().as_deref() {
            // serialization_failure and deadlock_detected
            Some("40001" | "40P01") => Fault::Serialization,
            // Class 22, data exceptions: a value that the database does not take. Class 23,
            // constraints.
            Some(code) if code.starts_with("22") || code.starts_with("23") => Fault::Constraint,
            _ => Fault::Other,
        }
    }

    /// The database's own code.
    pub(crate) fn code(&self) -> Option<String> {
        match self {
            Self::Sqlite(error) => error.sqlite_error().map(|it| it.extended_code.to_string()),
            Self::Postgres(error) => error.code().map(|code| code.code().to_owned()),
            _ => None,
        }
    }

    /// Whether it only says that a statement before failed (in_failed_sql_transaction).
    pub(crate) fn is_aftermath(&self) -> bool {
        matches!(self, Self::Postgres(error) if error.code().is_some_and(|it| it.code() == "25P02"))
    }

    /// Whether nobody knows what became of the statement: the server did not answer, or said that
    /// it goes away (class 57P), which it may do after it has committed.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Postgres(error) => error
                .code()
                .is_none_or(|code| code.code().starts_with("57P")),
            _ => false,
        }
    }

    /// Whether there is no connection to the server, or no longer.
    pub(crate) fn is_unreachable(&self) -> bool {
        match self {
            Self::Postgres(error) => {
                let mut source = error.source();
                while let Some(error) = source {
                    if error.is::<std::io::Error>() {
                        return true;
                    }
                    source = error.source();
                }
                error.is_closed()
            }
            Self::TimedOut => true,
            _ => false,
        }
    }

    /// What it says with all that lies behind it, for whoever opens a database.
    pub(crate) fn told(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(error) = source {
            let more = error.to_string();
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            source = error.source();
        }
        text
    }

    /// A word for the log: some errors carry values in their text, the word never does.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "database",
            Self::Postgres(error) if error.code().is_some() => "database",
            Self::Postgres(error) if error.is_closed() => "closed",
            Self::Postgres(_) => "connection",
            Self::Column => "decode",
            Self::TimedOut => "pool timed out",
            Self::Closed => "pool closed",
        }
    }
}
