//! What a transaction is about, and what may be answered to it.

use postroom_types::{Address, Tainted};

/// Which of the two protocols a listener speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// RFC 5321: one reply after the data for all recipients together.
    Smtp,
    /// RFC 2033: one reply after the data for each accepted recipient.
    Lmtp,
}

impl Protocol {
    /// The name an event's provider has: `smtp` or `lmtp`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Smtp => "smtp",
            Self::Lmtp => "lmtp",
        }
    }
}

/// One recipient as named by `RCPT TO`, source route taken off.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// An address, its `+detail` apart.
    Address(Address),
    /// `<postmaster>` without a domain (RFC 5321 section 4.5.1).
    Postmaster,
}

/// The envelope of one message: who is said to send it, and whom the sink accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The reverse path as given, `local@domain`; empty for the null sender `<>`.
    pub mail_from: Tainted,
    /// The accepted recipients, each once, in the order in which they were first named.
    pub recipients: Vec<Recipient>,
    /// The name the client gave with EHLO, HELO or LHLO.
    pub helo: Tainted,
    /// The protocol the listener speaks.
    pub protocol: Protocol,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Whether the client asked for internationalised mail (RFC 6531).
    pub smtputf8: bool,
}

/// One whole message with its envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// Who and whom.
    pub envelope: Envelope,
    /// The message: every byte of the data with dot-stuffing undone (RFC 5321 section 4.5.2), and
    /// nothing added.
    pub raw: Vec<u8>,
}

/// What the sink says about one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecipientAnswer {
    /// Mail for it is taken: 250 2.1.5.
    Accepted,
    /// It exists and takes no mail now: 550 5.2.1.
    Disabled,
    /// It was an address once and is none any more: 550 5.1.6.
    Retired,
    /// It cannot be told now: 451 4.3.0.
    Unavailable,
    /// There is no such address here: 550 5.1.1.
    Unknown,
}

/// What the sink says about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageAnswer {
    /// It is stored and synced: 250 2.0.0.
    Stored,
    /// It could not be stored now, and nothing of it will show: 451 4.3.0.
    Unavailable,
    /// The recipient has gone since it was accepted: 550 5.1.1.
    Unknown,
}
