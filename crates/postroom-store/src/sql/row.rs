//! Rows of answers.

use super::{Error, Result};
use std::{ops::Range, sync::Arc};
use tokio_postgres::types::{FromSql, Type};

/// One row of an answer; columns go by their place.
#[derive(Clone)]
pub(crate) enum Row {
    /// Of SQLite.
    Sqlite(SqliteRow),
    /// Of PostgreSQL; several readers may have it.
    Postgres(Arc<tokio_postgres::Row>),
}

/// A row copied out of SQLite.
#[derive(Clone)]
pub(crate) struct SqliteRow {
    pub(super) cells: Vec<Cell>,
    /// Texts and bytes of all columns.
    pub(super) bytes: Vec<u8>,
}

/// What a column of SQLite holds.
#[derive(Clone)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Bytes(Range<usize>),
}

/// An integer of whatever width the server computed it in.
struct Integer(i64);

impl<'a> FromSql<'a> for Integer {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::INT2 => i16::from_sql(kind, raw)?.into(),
            Type::INT4 => i32::from_sql(kind, raw)?.into(),
            _ => i64::from_sql(kind, raw)?,
        }))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8)
    }
}

impl SqliteRow {
    fn bytes(&self, place: usize) -> Result<Option<&[u8]>> {
        match self.cells.get(place) {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Bytes(range)) => Ok(self.bytes.get(range.clone())),
            Some(Cell::Int(_)) | None => Err(Error::Column),
        }
    }
}

impl Row {
    pub(crate) fn opt_int(&self, place: usize) -> Result<Option<i64>> {
        match self {
            Self::Sqlite(row) => match row.cells.get(place) {
                Some(Cell::Int(value)) => Ok(Some(*value)),
                Some(Cell::Null) => Ok(None),
                Some(Cell::Bytes(_)) | None => Err(Error::Column),
            },
            Self::Postgres(row) => {
                let found: Option<Integer> = row.try_get(place)?;
                Ok(found.map(|value| value.0))
            }
        }
    }

    pub(crate) fn opt_str(&self, place: usize) -> Result<Option<&str>> {
        match self {
            Self::Sqlite(row) => {
                let bytes = row.bytes(place)?;
                let text = bytes.map(std::str::from_utf8).transpose();
                text.map_err(|_| Error::Column)
            }
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    pub(crate) fn opt_bytes(&self, place: usize) -> Result<Option<&[u8]>> {
        match self {
            Self::Sqlite(row) => row.bytes(place),
            Self::Postgres(row) => Ok(row.try_get(place)?),
        }
    }

    pub(crate) fn int(&self, place: usize) -> Result<i64> {
        self.opt_int(place)?.ok_or(Error::Column)
    }

    pub(crate) fn str(&self, place: usize) -> Result<&str> {
        self.opt_str(place)?.ok_or(Error::Column)
    }

    pub(crate) fn text(&self, place: usize) -> Result<String> {
        self.str(place).map(str::to_owned)
    }

    pub(crate) fn opt_text(&self, place: usize) -> Result<Option<String>> {
        Ok(self.opt_str(place)?.map(str::to_owned))
    }

    pub(crate) fn bytes(&self, place: usize) -> Result<&[u8]> {
        self.opt_bytes(place)?.ok_or(Error::Column)
    }

    pub(crate) fn blob(&self, place: usize) -> Result<Vec<u8>> {
        self.bytes(place).map(<[u8]>::to_vec)
    }

    pub(crate) fn opt_blob(&self, place: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.opt_bytes(place)?.map(<[u8]>::to_vec))
    }
}
