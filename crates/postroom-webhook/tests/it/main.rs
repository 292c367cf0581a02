//! The room from outside.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says why and ends; one that was given a file says what it read"
)]

mod forgery;
mod inbound;
mod vector;
mod vectors;
