//! Cursors of lists: sealed by the store, bound to operation, filters and key.

use postroom_store::cursor::{self, Binding, CursorError};
use postroom_types::{Dialect, ErrorCode};
use serde::{Serialize, de::DeserializeOwned};

use super::Call;
use crate::Failure;

impl Call<'_> {
    /// Makes a cursor that goes on behind `place` under the same `filters`.
    ///
    /// # Errors
    /// `internal_error` when a value has no JSON form: a fault of the operation.
    pub fn seal_cursor(
        &self,
        filters: &impl Serialize,
        place: &impl Serialize,
    ) -> Result<String, Failure> {
        let filters = json(filters)?;
        let key = self.cursor_key();
        let binding = Binding {
            operation: self.operation.name,
            filters: &filters,
            key: &key,
        };
        let keys = self.room.store().keys();
        Ok(cursor::seal(keys, &binding, &json(place)?, self.now()))
    }

    /// Reads the place out of a cursor; `None` without one.
    ///
    /// # Errors
    /// A bad argument for one that was not made here, or for other filters or another key;
    /// `cursor_expired` (in the events dialect a bad argument) for one older than 24 hours.
    pub fn open_cursor<P: DeserializeOwned>(
        &self,
        filters: &impl Serialize,
        text: Option<&str>,
    ) -> Result<Option<P>, Failure> {
        let Some(text) = text else { return Ok(None) };
        let dialect = self.operation.dialect;
        let filters = json(filters)?;
        let key = self.cursor_key();
        let binding = Binding {
            operation: self.operation.name,
            filters: &filters,
            key: &key,
        };
        let refused = |words: &str| Failure::argument(dialect, "cursor", words);
        let payload = cursor::open(self.room.store().keys(), &binding, text, self.now());
        let payload = payload.map_err(|error| match (error, dialect) {
            (CursorError::Expired, Dialect::Mail) => Failure::new(ErrorCode::CursorExpired),
            (CursorError::Expired, Dialect::Events) => refused("is older than 24 hours"),
            (CursorError::Mismatch, _) => refused("belongs to a different query or another key"),
            (CursorError::Invalid, _) => refused("is not a cursor of this list"),
        })?;
        serde_json::from_slice(&payload)
            .map(Some)
            .map_err(|_| refused("is not a cursor of this list"))
    }

    fn cursor_key(&self) -> Vec<u8> {
        match self.actor.key {
            Some(key) => key.bits().to_be_bytes().to_vec(),
            None => Vec::new(),
        }
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(value).map_err(|_| ErrorCode::InternalError.into())
}
