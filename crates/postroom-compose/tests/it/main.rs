//! Documents from outside: what is said of them, what a repair makes of them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says why"
)]

mod code;
mod condition;
mod draft;
mod kept;
mod loss;
mod patch;
mod property;
mod repair;
mod schema;
mod starter;
mod text;
