//! What stands behind a listener.

use std::{future::Future, net::SocketAddr};

use bytes::Bytes;
use postroom_mail::smtp::{Envelope, MessageAnswer, Protocol, Recipient, RecipientAnswer};

/// A question about one `RCPT TO`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientQuery {
    /// Whom the client named.
    pub recipient: Recipient,
    /// The protocol the listener speaks.
    pub protocol: Protocol,
    /// Where the client connects from.
    pub client: SocketAddr,
}

/// A message to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Who and whom. With LMTP exactly one recipient: each is its own arrival.
    pub envelope: Envelope,
    /// Where the client connects from.
    pub client: SocketAddr,
    /// The message as received, dot-stuffing undone and nothing added.
    pub raw: Bytes,
}

/// Who knows the recipients and keeps the messages.
pub trait MailSink: Send + Sync + 'static {
    /// Whether mail for a recipient is taken. Every recipient is asked for, so nothing is relayed.
    fn recipient(&self, query: &RecipientQuery) -> impl Future<Output = RecipientAnswer> + Send;

    /// Stores a message for all of its recipients or for none.
    ///
    /// [`MessageAnswer::Stored`] promises that it is synced: the client is told 250 and forgets
    /// the message. Several arrivals may be in work at once, those of one LMTP transaction too. The
    /// future is always run to its end, even when the client has gone.
    fn receive(&self, arrival: Arrival) -> impl Future<Output = MessageAnswer> + Send;
}
