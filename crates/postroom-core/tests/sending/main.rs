//! What must hold of mail that is sent: once, by one claim, with an honest fate.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly, as the tests do"
)]

mod early;
mod fate;
mod intake;
mod office;
mod order;
mod property;
mod rules;
mod scope;
