//! Carries the Model Context Protocol: over HTTP, over standard input and output, and from one to
//! the other.
//!
//! `postroom-mcp` knows what a message means; this room knows how it travels. It stands apart from
//! the other surfaces so that anything with a [`postroom_mcp::Registry`] can be served, the
//! fixture server of the conformance suite as well as the product, and neither can drift from the
//! other.
//!
//! - [`http`]: one endpoint, POST only, JSON or a stream of events per request.
//! - [`serve`]: an HTTP/1.1 listener whose open streams cost little memory.
//! - [`stdio`]: one message per line.
//! - `bridge` (feature): lines in, requests to an HTTP endpoint out.
//!
//! It must never decide what a caller may do: a [`Gate`] authenticates and limits, the registry
//! offers. No error leaves it as anything but a JSON-RPC message.

mod answer;
#[cfg(feature = "bridge")]
pub mod bridge;
mod gate;
pub mod http;
mod link;
mod rest;
pub mod serve;
mod sse;
pub mod stdio;
mod streams;

pub use gate::{Denial, Gate};
pub use http::{Endpoint, Hosts, bearer, mount, says_utf8};
pub use serve::serve_http;
pub use streams::{StreamPermit, Streams};
