//! What a transport gives to one request while it is being answered.

use std::future::Future;
use std::pin::Pin;

use crate::Latch;

/// A boxed future, for traits that are used as objects.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Why an exchange ends before its work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client cancelled the request, or, in the modern era, closed the response stream.
    Cancelled,
    /// The server stops.
    Shutdown,
    /// The stream has lived as long as a stream may.
    Expired,
    /// The caller's credential is no longer valid.
    Revoked,
}

/// The transport's side of one request.
pub trait Link: Send + Sync + 'static {
    /// Whether the client takes messages before the reply.
    fn streams(&self) -> bool;

    /// Hands over one complete JSON-RPC message without waiting. `false` when the queue is full or
    /// the client is gone; the message is then dropped.
    fn send(&self, message: String) -> bool;

    /// Waits until the queue has room; `false` when the client is gone.
    fn ready(&self) -> LocalFuture<'_, bool>;

    /// Whether nothing that is said now can reach the client any more.
    fn is_gone(&self) -> bool {
        self.end().value() == Some(End::Cancelled)
    }

    /// Set when the exchange should end early.
    fn end(&self) -> &Latch<End>;

    /// Milliseconds of a clock that never goes back.
    fn now_ms(&self) -> u64;

    /// An id nobody can guess, at least 128 random bits; empty when there is no randomness.
    fn fresh_id(&self) -> String;
}
