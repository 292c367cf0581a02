//! The Model Context Protocol, as bytes in and replies out.
//!
//! One server answers three revisions: 2025-06-18 and 2025-11-25 (the *legacy* era, opened by
//! `initialize`) and 2026-07-28 (the *modern* era, where every request carries its version in
//! `params._meta`). What a server offers is a [`Registry`]; this room knows nothing of mail.
//!
//! How a message passes through:
//!
//! 1. [`envelope::parse`] reads one JSON-RPC message and borrows from its bytes.
//! 2. The transport authenticates; a refusal there is a [`Rejection`] like every other.
//! 3. [`Server::prepare`] applies the era rule and the header rules and yields a [`Request`] that
//!    owns what it needs, or a [`Rejection`] with its HTTP status.
//! 4. [`Server::answer`] dispatches to the registry and writes the [`Reply`]. What is said before
//!    the reply (progress, log messages, requests to a legacy client, subscription updates) goes
//!    through the transport's [`Link`].
//!
//! This room holds no socket, no runtime, no clock and no randomness: the [`Link`] brings time and
//! unguessable ids. It must never panic on what a client sends.

mod call;
mod capability;
pub mod envelope;
mod era;
mod fault;
mod latch;
mod link;
mod listen;
mod pending;
mod registry;
mod result;
mod server;
mod write;

pub use call::{AskError, Call, LogLevel, Visitor};
pub use capability::{Capabilities, ListChanges, ServerInfo};
pub use era::{Field, Head, Revision, Wire};
pub use fault::{Fault, Rejection, code};
pub use latch::Latch;
pub use link::{End, Link, LocalFuture};
pub use listen::{Change, Changes, Filter, Silence, Subscription};
pub use registry::Registry;
pub use result::{
    CacheScope, Completion, CompletionArgument, CompletionContext, CompletionRequest, Content,
    InputRequest, InputRequired, Outcome, PromptMessage, PromptResult, ReadResult, Reference,
    ResourceBody, ResourceContents, Role, ToolResult,
};
pub use server::{Reply, Request, Server};
