//! Sockets.
//!
//! For: everything that listens or dials for mail. [`smtp`] accepts SMTP and LMTP connections and
//! hands whole messages to a [`smtp::MailSink`]; [`smtp::send`] hands mail to the operator's relay;
//! [`egress`] dials URLs that somebody gave us, after checking where they lead, and the relay;
//! [`tls`] loads a certificate or makes one.
//!
//! Never: no decision about mail. Whether a recipient exists and whether a message is stored is
//! the sink's answer, and no message is acknowledged before the sink has said that it is stored
//! and synced. Only [`egress`] dials out. A message that may have been handed over is never handed
//! over again.
//!
//! How data passes through: a connection's task reads into a bounded buffer and feeds
//! [`postroom_mail::smtp::Server`], which knows the protocol and has no sockets; the task does
//! what the machine asks for (read, ask the sink, shake hands, close) and writes its replies.
//!
//! Modules: `egress` (the guarded dialler), `smtp` (accepting, one connection, bounds, and sending),
//! `resend` (sending through a provider's interface), `tls` (certificates).

pub mod egress;
mod error;
pub mod resend;
pub mod smtp;
pub mod tls;

pub use error::NetError;
