//! By which way mail leaves.
//!
//! Three ways stand behind one port: the sandbox (nothing leaves; what is for a mailbox here comes in
//! there, everything else is kept and shown), the operator's relay, and Resend as a provider with an
//! interface of its own. Which one is the operator's word alone. What the way did is told in one form,
//! [`Submission`], recipient by recipient; deciding what that means is `postroom-core`'s.

mod resend;
pub(crate) mod simulator;

use std::sync::Arc;

use bytes::Bytes;
use postroom_core::SendRow;
use postroom_net::{
    egress::Egress,
    smtp::send::{Envelope, Fault, Relay, RelayError, RelayOptions, Submission},
};
use postroom_types::{Secret, limit::SEND_AT_ONCE};

use crate::Room;

/// By which way mail leaves, as the operator says.
#[derive(Debug, Clone, Default)]
pub enum TransportOptions {
    /// Not at all.
    #[default]
    Sandbox,
    /// Through a relay.
    Relay {
        /// The relay.
        relay: RelayOptions,
        /// Domains that mail may leave from.
        domains: Vec<String>,
    },
    /// Through Resend.
    Resend(ResendOptions),
}

/// How Resend is reached.
#[derive(Debug, Clone)]
pub struct ResendOptions {
    /// The key of its interface.
    pub api_key: Secret<String>,
    /// Domains that mail may leave from.
    pub domains: Vec<String>,
}

/// The way that is open.
#[derive(Debug)]
pub(crate) enum Transport {
    /// Nothing leaves.
    Sandbox,
    /// Through a relay.
    Relay {
        /// The relay with its connections.
        relay: Box<Relay>,
        /// Its host and port, to be shown.
        host: String,
        /// Domains that mail may leave from.
        domains: Vec<String>,
    },
    /// Through Resend.
    Resend(ResendOptions),
    /// Whichever the server has that opens the folder next: this process hands nothing over.
    Later,
}

/// The name of [`Transport::Later`] in rows.
pub(crate) const LATER: &str = "later";

/// One mail to hand over.
#[derive(Debug, Clone)]
pub(crate) struct Handover<'a> {
    /// The send.
    pub(crate) row: &'a SendRow,
    /// From whom and to whom.
    pub(crate) envelope: &'a Envelope,
    /// The very bytes.
    pub(crate) raw: Bytes,
}

/// What test keys send by, and whatever was queued while nothing left.
static SANDBOX: Transport = Transport::Sandbox;

impl Room {
    /// The way that mail of a caller takes: a test key's never leaves.
    pub(crate) fn transport_for(&self, test: bool) -> &Transport {
        match test {
            true => &SANDBOX,
            false => &self.transport,
        }
    }
}

impl Transport {
    /// Opens the way; nothing is dialled yet.
    ///
    /// # Errors
    /// [`RelayError`] when the relay cannot be used.
    pub(crate) fn open(
        options: TransportOptions,
        egress: &Arc<Egress>,
    ) -> Result<Self, RelayError> {
        Ok(match options {
            TransportOptions::Sandbox => Self::Sandbox,
            TransportOptions::Relay { relay, domains } => Self::Relay {
                host: format!("{}:{}", relay.host, relay.port),
                relay: Box::new(Relay::new(relay, Arc::clone(egress))?),
                domains,
            },
            TransportOptions::Resend(options) => Self::Resend(options),
        })
    }

    /// The way that a process queues for which hands nothing over itself. What is configured here is the
    /// operator's word; where nothing is, the server may have been told elsewhere.
    #[must_use]
    pub(crate) fn of_another_process(self) -> Self {
        match self {
            Self::Sandbox => Self::Later,
            told => told,
        }
    }

    /// Hands one mail over and tells what became of it for each recipient of the envelope. To be run to
    /// its end: a call that is dropped leaves an unknown outcome.
    pub(crate) async fn submit(&self, room: &Room, handover: Handover<'_>) -> Submission {
        match self {
            // Nothing is handed to it: what is not for here is kept.
            Self::Sandbox | Self::Later => {
                Submission::not_handed_over(handover.envelope.recipients().len(), Fault::NotAllowed)
            }
            Self::Relay { relay, .. } => relay.submit(handover.envelope, handover.raw).await,
            Self::Resend(options) => resend::submit(room, options, handover).await,
        }
    }

    /// Mails that are handed over at the same time.
    pub(crate) fn at_once(&self) -> usize {
        match self {
            Self::Relay { relay, .. } => relay.connections(),
            Self::Sandbox | Self::Resend(_) | Self::Later => SEND_AT_ONCE,
        }
    }

    /// Whether it reaches people outside of the deployment.
    pub(crate) fn leaves(&self) -> bool {
        !matches!(self, Self::Sandbox | Self::Later)
    }

    /// Whether the codes of its answers are those of SMTP (RFC 5321 section 4.2).
    pub(crate) fn speaks_smtp(&self) -> bool {
        !matches!(self, Self::Resend(_))
    }

    /// The stable word, as rows and answers have it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Relay { .. } => "smtp",
            Self::Resend(_) => "resend",
            Self::Later => LATER,
        }
    }

    /// The word of the configuration.
    pub(crate) fn configured(&self) -> &'static str {
        match self {
            Self::Later => Self::Sandbox.name(),
            told => told.name(),
        }
    }

    /// The relay's host and port.
    pub(crate) fn host(&self) -> Option<String> {
        match self {
            Self::Relay { host, .. } => Some(host.clone()),
            Self::Sandbox | Self::Resend(_) | Self::Later => None,
        }
    }

    /// Domains that mail may leave from, where only some are.
    pub(crate) fn domains(&self) -> &[String] {
        match self {
            Self::Relay { domains, .. } | Self::Resend(ResendOptions { domains, .. }) => domains,
            Self::Sandbox | Self::Later => &[],
        }
    }

    /// Whether mail from a domain may leave by it: in the sandbox nothing leaves, so any may; and what leaves
    /// later is asked then.
    pub(crate) fn takes_from(&self, domain: &str) -> bool {
        match self {
            Self::Sandbox | Self::Later => true,
            Self::Relay { domains, .. } | Self::Resend(ResendOptions { domains, .. }) => {
                domains.iter().any(|known| known == domain)
            }
        }
    }
}
