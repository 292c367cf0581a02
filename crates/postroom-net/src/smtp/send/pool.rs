//! Connections that wait for the next message.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::connection::Connection;

/// Connections that are kept, each for a while.
#[derive(Debug)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
    life: Duration,
}

#[derive(Debug, Default)]
struct Kept {
    /// The longest kept first.
    connections: Vec<(Connection, Instant)>,
    /// Whether a task closes those whose time is over.
    watched: bool,
}

impl Pool {
    pub(super) fn new(life: Duration) -> Self {
        Self {
            kept: Mutex::default(),
            life,
        }
    }

    /// A connection on which the server has said nothing meanwhile; the last used first, so that
    /// those not needed any more grow old.
    pub(super) fn take(&self) -> Option<Connection> {
        let mut kept = self.lock();
        loop {
            let (mut connection, until) = kept.connections.pop()?;
            if until > Instant::now() && connection.is_silent() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection.
    pub(super) fn put(self: &Arc<Self>, connection: Connection) {
        let until = Instant::now() + self.life;
        let mut kept = self.lock();
        kept.connections.push((connection, until));
        if !kept.watched {
            kept.watched = true;
            tokio::spawn(Arc::clone(self).watch(until));
        }
    }

    /// Closes connections as they grow old, and ends with the last of them.
    async fn watch(self: Arc<Self>, mut next: Instant) {
        loop {
            sleep_until(next).await;
            let (old, left) = self.take_old();
            for (connection, _) in old {
                connection.close().await;
            }
            match left {
                Some(until) => next = until,
                None => return,
            }
        }
    }

    /// The connections whose time is over, and when that of the next one is.
    fn take_old(&self) -> (Vec<(Connection, Instant)>, Option<Instant>) {
        let mut kept = self.lock();
        let now = Instant::now();
        let (old, young): (Vec<_>, Vec<_>) = kept
            .connections
            .drain(..)
            .partition(|(_, until)| *until <= now);
        let next = young.first().map(|(_, until)| *until);
        kept.connections = young;
        kept.watched = next.is_some();
        (old, next)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
