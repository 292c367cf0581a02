//! The room: store, indexes, clock and rates behind every operation.

use postroom_store::Store;
use postroom_types::Timestamp;

use crate::rate::Rates;

/// The running room.
pub struct Room {
    pub(crate) store: Store,
    pub(crate) rates: Rates,
}

impl Room {
    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The rate buckets.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The instant now.
    pub fn now(&self) -> Timestamp {
        self.store.now()
    }
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}
