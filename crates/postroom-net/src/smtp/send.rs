//! Mail going out through the operator's relay.
//!
//! The host is the operator's, from the configuration; no tenant's word reaches it. [`Relay`] keeps
//! a few connections open and pumps bytes through [`postroom_mail::smtp::client::Client`], which
//! knows the protocol and what was handed over; the time limits are kept here.

mod connection;
mod options;
mod pool;
mod wire;

use std::sync::Arc;

use bytes::Bytes;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

pub use options::{Credentials, RelayError, RelayLimits, RelayOptions, Security};
pub use postroom_mail::smtp::client::{
    Answer, Envelope, EnvelopeError, Fate, Fault, Outcome, Submission,
};

use crate::egress::Egress;
use connection::Connection;
use pool::Pool;

/// The operator's relay, with the connections that are open to it.
#[derive(Debug)]
pub struct Relay {
    options: RelayOptions,
    egress: Arc<Egress>,
    tls: Arc<rustls::ClientConfig>,
    places: Semaphore,
    pool: Arc<Pool>,
}

impl Relay {
    /// A relay; nothing is dialled yet. Its name is resolved, its port allowed and its certificate
    /// checked by the rules of `egress`.
    ///
    /// # Errors
    /// [`RelayError`] when the options cannot be used.
    pub fn new(options: RelayOptions, egress: Arc<Egress>) -> Result<Self, RelayError> {
        options.check(&egress)?;
        Ok(Self {
            tls: egress.relay_tls(),
            places: Semaphore::new(options.limits.connections),
            pool: Arc::new(Pool::new(options.limits.idle)),
            options,
            egress,
        })
    }

    /// Connections that may be open at once, so many messages are handed over at the same time.
    pub fn connections(&self) -> usize {
        self.options.limits.connections
    }

    /// Hands over one message, the very bytes, and tells what became of it for each recipient.
    /// Never sends twice what may have been taken once.
    ///
    /// The future has to be run to its end: one that is dropped leaves an unknown outcome.
    pub async fn submit(&self, envelope: &Envelope, message: Bytes) -> Submission {
        let submission = self.hand_over(envelope, message).await;
        let host = self.options.host.as_str();
        let (recipients, handed_over) = (submission.recipients.len(), submission.handed_over);
        match submission.fault {
            None => tracing::debug!(host, recipients, "message answered by the relay"),
            Some(fault) => {
                let reason = fault.as_str();
                tracing::warn!(host, recipients, reason, handed_over, "relay failed");
            }
        }
        submission
    }

    async fn hand_over(&self, envelope: &Envelope, message: Bytes) -> Submission {
        let deadline = Instant::now() + self.options.limits.total;
        let nothing = |fault| Submission::not_handed_over(envelope.recipients().len(), fault);
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return nothing(Fault::Busy);
        };
        if let Some(mut kept) = self.pool.take() {
            let heard = kept.replies();
            let submission = kept.submit(envelope, message.clone(), deadline).await;
            // A server may close a connection that was kept, at any time. It said nothing about
            // this message and cannot have it: a new connection is the same attempt.
            let stale = kept.replies() == heard
                && !submission.handed_over
                && submission.fault == Some(Fault::ConnectionLost);
            if !stale {
                self.keep(kept);
                return submission;
            }
        }
        let connected = Connection::open(&self.options, &self.egress, &self.tls, deadline).await;
        match connected {
            Ok(mut connection) => {
                let submission = connection.submit(envelope, message, deadline).await;
                self.keep(connection);
                submission
            }
            Err(fault) => nothing(fault),
        }
    }

    /// Keeps a connection for the next message, when there can be one.
    fn keep(&self, connection: Connection) {
        if connection.is_ready() && connection.messages() < self.options.limits.messages {
            self.pool.put(connection);
        }
    }
}
