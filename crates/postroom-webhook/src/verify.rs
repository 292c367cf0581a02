//! From a request to a verdict.

use crate::{Candidate, Delivery, Handshake, Options, Provider, Reason, Rejection, Request, Verified};

/// What a request turned out to be.
#[derive(Debug)]
pub enum Received {
    /// A delivery that passed.
    Delivery(Box<Verified<Delivery>>),
    /// A request that sets the webhook up.
    Handshake(Box<Handshake>),
}

/// Reads one request: a delivery, a handshake, or a refusal.
pub fn receive(
    provider: &'static Provider,
    candidates: &[Candidate],
    request: &Request<'_>,
    options: &Options,
) -> Result<Received, Rejection> {
    let _ = (provider, candidates, request, options);
    Err(Rejection::new(Reason::NotConfigured, "x", "x"))
}

/// Verifies a delivery; a handshake is refused as [`Reason::Unsupported`].
pub fn verify(
    provider: &'static Provider,
    candidates: &[Candidate],
    request: &Request<'_>,
    options: &Options,
) -> Result<Verified<Delivery>, Rejection> {
    match receive(provider, candidates, request, options)? {
        Received::Delivery(delivery) => Ok(*delivery),
        Received::Handshake(_) => Err(Rejection::new(
            Reason::Unsupported,
            "handshake",
            "This request sets the webhook up; it carries no event.",
        )),
    }
}
