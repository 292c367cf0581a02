//! The outbound guard: every form of a URL, and what a target may do to whoever dials it.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says why and ends"
)]

#[path = "egress/exchange.rs"]
mod exchange;
#[path = "egress/forms.rs"]
mod forms;
#[path = "egress/world.rs"]
mod world;
