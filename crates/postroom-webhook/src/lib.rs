//! Webhook verification: who really sent this, and what arrived.
//!
//! A delivery goes through this room in one direction. The caller hands in a [`Request`] (method,
//! public URL, raw headers, raw body), the [`Provider`] row of its source, the secrets that may
//! have signed it and the clock. [`receive`] answers one of three things: a [`Verified`]
//! [`Delivery`], a [`Handshake`] to answer at once, or a [`Rejection`] that explains itself and
//! never says what the right signature would have been.
//!
//! What a provider does is data: a row of [`provider::TABLE`] names its schemes in the small
//! grammar of [`scheme`] (what is signed, with what, how the header is laid out, where time, event
//! type and delivery id are). Code exists only where data cannot say it: tokens signed by a third
//! party, certificates, and two providers that sign fields inside the body.
//!
//! What must never happen here: a body parsed before it is verified (an outsider's JSON decides
//! nothing but where a signature stands), a comparison that ends early, a timed scheme that falls
//! back to an untimed one, a `Verified` value made anywhere else, and any IO. Keys that live behind
//! a URL are an argument: without them [`receive`] answers [`Reason::KeyNeeded`] with the URL, after
//! the URL has passed an exact host rule.

mod answer;
mod delivery;
mod handshake;
pub mod inbound;
pub mod provider;
mod redact;
mod rejection;
mod request;
pub mod scheme;
mod verify;

pub use answer::Answer;
pub use delivery::{Delivery, Part, SecretUsed, TrustMode, Verified};
pub use handshake::{Handshake, HandshakeKind, Next};
pub use provider::Provider;
pub use redact::{REDACTED, redact};
pub use rejection::{KeyKind, KeyNeeded, Reason, Rejection};
pub use request::{Candidate, Fetched, Options, Request};
pub use verify::{Received, receive, verify};
