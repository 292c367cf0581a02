//! SMTP and LMTP listeners.
//!
//! [`serve`] accepts on a bound socket until it is told to stop; each connection is a task of its
//! own that feeds the protocol machine and asks the [`MailSink`].

mod accept;
mod bounds;
pub mod send;
mod session;
mod sink;

pub use accept::serve;
pub use bounds::SmtpLimits;
pub use postroom_mail::smtp::{Envelope, MessageAnswer, Protocol, Recipient, RecipientAnswer};
pub use sink::{Arrival, MailSink, RecipientQuery};

use std::sync::Arc;

/// What one listener is.
#[derive(Debug, Clone)]
pub struct SmtpOptions {
    /// The name in the banner and in the answer to EHLO: a domain or an address literal.
    pub hostname: String,
    /// SMTP or LMTP.
    pub protocol: Protocol,
    /// With a certificate STARTTLS is offered; see [`crate::tls`].
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// The bounds; [`SmtpLimits::default`] is the limits table.
    pub limits: SmtpLimits,
}

impl SmtpOptions {
    /// A listener with the bounds of the limits table and without STARTTLS.
    pub fn new(hostname: impl Into<String>, protocol: Protocol) -> Self {
        Self {
            hostname: hostname.into(),
            protocol,
            tls: None,
            limits: SmtpLimits::default(),
        }
    }
}
