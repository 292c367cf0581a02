//! A room in a fresh folder: mail in, kept, found, read, and the same after it was closed.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod finding;
mod importing;
mod leaving;
mod reading;
mod receiving;
mod sending;
mod waiting;
mod world;
