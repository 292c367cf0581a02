//! SMTP and LMTP without sockets: as a server speaks them, and as a client does ([`client`]).
//!
//! [`Server`] is fed bytes and asked what to do next; it never reads, writes or waits. The room
//! with the sockets asks its sink about recipients and messages and hands the answers back, so
//! every rule of the protocol (RFC 5321, RFC 2033, RFC 3207) can be tested with plain slices.
//!
//! Command lines are read by our own small grammar and not by a general SMTP parser, because what
//! matters here is to be strict where peers may disagree: a line ends with CRLF and nothing else, a
//! quoted local part is never flattened into another address, and an argument that a command does
//! not have is refused.

pub mod client;
mod command;
mod data;
mod envelope;
mod path;
mod reply;
pub mod server;

pub use envelope::{Envelope, Incoming, MessageAnswer, Protocol, Recipient, RecipientAnswer};
pub use path::is_hostname;
pub use server::{Action, Server, ServerOptions};

#[cfg(test)]
mod tests;
