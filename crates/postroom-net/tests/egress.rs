//! The outbound guard: every form of a URL, and what a target may do to whoever dials it.

#[path = "egress/exchange.rs"]
mod exchange;
#[path = "egress/forms.rs"]
mod forms;
#[path = "egress/world.rs"]
mod world;
