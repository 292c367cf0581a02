//! The room: store, indexes, clock and rates behind every operation.

use std::sync::Arc;

use crate::{clock::Clock, rate::Rates};

/// The running room.
pub struct Room {
    /// The process clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// The rate buckets.
    pub(crate) rates: Rates,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}
