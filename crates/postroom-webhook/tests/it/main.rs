//! The room from outside.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why and ends"
)]

mod forgery;
mod inbound;
mod vector;
mod vectors;
