//! What must hold for every row of the operation table.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do"
)]

mod access;
mod contract;
mod log;
mod output;
mod rest;
mod retention;
mod world;
