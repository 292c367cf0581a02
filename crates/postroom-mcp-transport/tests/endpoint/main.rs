//! The endpoint as its clients meet it, in process; every message it emits is validated against the
//! schema of its revision.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what tests share fails by panicking, as tests do"
)]

mod edges;
mod hostile;
mod results;
mod stdio;
mod streams;
mod world;
