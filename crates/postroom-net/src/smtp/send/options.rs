//! What the operator says about the relay.

use std::time::Duration;

use postroom_mail::smtp::{Protocol, is_hostname};
use postroom_types::{
    ErrorCode, Secret,
    limit::{
        RELAY_ANSWER_MS, RELAY_COMMAND_MS, RELAY_CONNECT_MS, RELAY_CONNECTIONS, RELAY_IDLE_MS,
        RELAY_MESSAGES, RELAY_TOTAL_MS,
    },
};

use crate::egress::Egress;

/// Ports for handing over mail (RFC 8314, RFC 6409); any other is the operator's to allow.
const SUBMISSION_PORTS: [u16; 2] = [465, 587];

/// How a connection to the relay is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Security {
    /// TLS from the first byte (RFC 8314 section 3.3), usual on port 465.
    Tls,
    /// STARTTLS before anything else, and no mail without it; usual on port 587.
    StartTls,
    /// No encryption, and so no credentials: for a relay on this host or a network of one's own.
    Plain,
}

/// Who we are to the relay.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The user name.
    pub username: String,
    /// The password.
    pub password: Secret<String>,
}

/// The operator's relay.
#[derive(Debug, Clone)]
pub struct RelayOptions {
    /// A host name or an address without brackets.
    pub host: String,
    /// 465 or 587; another one only where `[egress] allow_ports` names it.
    pub port: u16,
    /// How the connection is protected.
    pub security: Security,
    /// Given with AUTH PLAIN or LOGIN, never before TLS.
    pub credentials: Option<Credentials>,
    /// What we call ourselves: a domain or an address literal.
    pub hostname: String,
    /// SMTP or LMTP.
    pub protocol: Protocol,
    /// The bounds; [`RelayLimits::default`] is the limits table.
    pub limits: RelayLimits,
}

impl RelayOptions {
    /// A relay by SMTP without credentials: TLS from the first byte on port 465, STARTTLS on any
    /// other; the bounds of the limits table.
    pub fn new(host: impl Into<String>, port: u16, hostname: impl Into<String>) -> Self {
        let security = match port {
            465 => Security::Tls,
            _ => Security::StartTls,
        };
        Self {
            host: host.into(),
            port,
            security,
            credentials: None,
            hostname: hostname.into(),
            protocol: Protocol::Smtp,
            limits: RelayLimits::default(),
        }
    }

    /// Whether these options can be used at all.
    pub(super) fn check(&self, egress: &Egress) -> Result<(), RelayError> {
        let is_address = self.host.parse::<std::net::IpAddr>().is_ok();
        if !is_address && (self.host.starts_with('[') || !is_hostname(&self.host)) {
            return Err(RelayError::Host);
        }
        if !is_hostname(&self.hostname) {
            return Err(RelayError::Hostname);
        }
        if !SUBMISSION_PORTS.contains(&self.port) && !egress.allows_port(self.port) {
            return Err(RelayError::Port(self.port));
        }
        match &self.credentials {
            Some(_) if self.security == Security::Plain => Err(RelayError::PlainCredentials),
            // AUTH PLAIN ends each of them with a NUL (RFC 4616).
            Some(given)
                if given.username.is_empty()
                    || given.username.contains('\0')
                    || given.password.expose().contains('\0') =>
            {
                Err(RelayError::Credentials)
            }
            _ => Ok(()),
        }
    }
}

/// Bounds of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayLimits {
    /// Time to connect, TLS included.
    pub connect: Duration,
    /// Time for the answer to one command.
    pub command: Duration,
    /// Time for the answer to the end of the message.
    pub answer: Duration,
    /// Time for one message, waiting for a connection included.
    pub total: Duration,
    /// Connections open at once.
    pub connections: usize,
    /// How long a connection is kept without a message.
    pub idle: Duration,
    /// Messages of one connection.
    pub messages: usize,
}

impl Default for RelayLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_millis(RELAY_CONNECT_MS),
            command: Duration::from_millis(RELAY_COMMAND_MS),
            answer: Duration::from_millis(RELAY_ANSWER_MS),
            total: Duration::from_millis(RELAY_TOTAL_MS),
            connections: RELAY_CONNECTIONS,
            idle: Duration::from_millis(RELAY_IDLE_MS),
            messages: RELAY_MESSAGES,
        }
    }
}

/// Why a relay cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RelayError {
    /// The host is neither a name nor an address.
    #[error("the relay's host is neither a host name nor an address")]
    Host,
    /// Our own name is none.
    #[error("the name given to the relay is not a domain name")]
    Hostname,
    /// The port is not for handing over mail and the operator does not allow it.
    #[error("the relay's port {0} is neither 465 nor 587; [egress] allow_ports may allow it")]
    Port(u16),
    /// Credentials would go over the wire for everybody to read.
    #[error("the relay's user name and password need TLS")]
    PlainCredentials,
    /// A user name that is empty, or a NUL in one of them.
    #[error("the relay's user name is empty, or it or the password holds a NUL")]
    Credentials,
}

impl RelayError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::InvalidArgument
    }
}
