//! How many exchanges may be open at once, for a caller and for the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use postroom_types::limit::{STREAMS_PER_KEY, STREAMS_PER_PROCESS};

/// Counts open exchanges.
#[derive(Debug)]
pub struct Streams {
    per_principal: usize,
    counts: Mutex<Counts>,
}

impl Default for Streams {
    fn default() -> Self {
        Self::new(STREAMS_PER_KEY)
    }
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_principal: HashMap<Box<str>, usize>,
}

/// The right to one open exchange; dropping it gives it back.
#[derive(Debug)]
pub struct StreamPermit {
    streams: Arc<Streams>,
    principal: Box<str>,
}

impl Streams {
    /// Counts with another limit per principal, for endpoints where everybody is the same one.
    pub fn new(per_principal: usize) -> Self {
        Self {
            per_principal,
            counts: Mutex::default(),
        }
    }

    /// Takes a permit; `None` at the limit of the principal or of the process.
    pub fn open(self: &Arc<Self>, principal: &str) -> Option<StreamPermit> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let own = counts.by_principal.get(principal).copied().unwrap_or(0);
        if counts.total >= STREAMS_PER_PROCESS || own >= self.per_principal {
            return None;
        }
        counts.total += 1;
        counts.by_principal.insert(principal.into(), own + 1);
        Some(StreamPermit {
            streams: Arc::clone(self),
            principal: principal.into(),
        })
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .total
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut counts = self
            .streams
            .counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        counts.total = counts.total.saturating_sub(1);
        if let Some(own) = counts.by_principal.get_mut(&self.principal) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                counts.by_principal.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_opens_its_limit_and_not_one_more() {
        let streams = Arc::new(Streams::default());
        let mut open: Vec<_> = (0..STREAMS_PER_KEY)
            .map(|_| streams.open("key_a").unwrap())
            .collect();
        assert!(streams.open("key_a").is_none());
        assert!(streams.open("key_b").is_some());
        open.pop();
        assert!(streams.open("key_a").is_some());
    }

    #[test]
    fn the_process_opens_its_limit_and_not_one_more() {
        let streams = Arc::new(Streams::default());
        let open: Vec<_> = (0..STREAMS_PER_PROCESS)
            .map(|n| streams.open(&(n / STREAMS_PER_KEY).to_string()).unwrap())
            .collect();
        assert!(streams.open("another").is_none());
        drop(open);
        assert_eq!(streams.count(), 0);
        assert!(streams.open("another").is_some());
    }
}
