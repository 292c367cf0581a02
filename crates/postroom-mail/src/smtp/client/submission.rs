//! What became of one outgoing message.

use postroom_types::Tainted;

/// What a server said: the code, the enhanced code (RFC 3463) and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The reply code of SMTP, or the status of HTTP where a provider was asked by HTTP.
    pub code: u16,
    /// The enhanced code, such as `5.1.1`, where the server gave one of the reply's own class.
    pub enhanced: Option<String>,
    /// The server's words, cut to [`postroom_types::limit::RELAY_ANSWER_CHARS`]; an outsider's text.
    pub text: Tainted,
}

/// What became of the message for one recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The server took it and is responsible now.
    Accepted,
    /// It is refused for good; trying again would be refused again.
    Refused,
    /// It was certainly not taken; the same message may be tried again later.
    Retry,
    /// It may have been taken or not. It must not be sent again.
    Uncertain,
}

/// One recipient's fate with what the server said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The fate.
    pub fate: Fate,
    /// What the server said about this recipient, about the sender or about the whole message;
    /// `None` where [`Submission::fault`] tells it.
    pub answer: Option<Answer>,
}

/// What became of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// One outcome for each recipient, in the order of the envelope.
    pub recipients: Vec<Outcome>,
    /// What went wrong where the server did not say all there was to say.
    pub fault: Option<Fault>,
    /// Whether the end of the message may have left. Without it nobody has the message, and no
    /// recipient is [`Fate::Accepted`] or [`Fate::Uncertain`].
    pub handed_over: bool,
    /// The id under which a provider keeps the message, where it gave one.
    pub provider_message_id: Option<String>,
}

/// Why a transport did not come to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    /// The host has no addresses now.
    #[error("the relay's host name could not be resolved")]
    NotResolved,
    /// The host is this server itself, or a rule for outbound requests refuses it.
    #[error("the relay's address must not be dialled")]
    NotAllowed,
    /// No address took the connection in time.
    #[error("the relay could not be reached")]
    Unreachable,
    /// All connections were in use for the whole time.
    #[error("no connection to the relay came free in time")]
    Busy,
    /// The TLS handshake or the certificate.
    #[error("no TLS connection to the relay could be made")]
    Tls,
    /// The server does not offer STARTTLS, or refuses it.
    #[error("the relay offers no STARTTLS")]
    TlsNotOffered,
    /// The server offers no way to authenticate that is known here.
    #[error("the relay offers neither AUTH PLAIN nor AUTH LOGIN")]
    AuthNotOffered,
    /// The server does not take the user name and password.
    #[error("the relay refused the user name or password")]
    AuthRefused,
    /// The server takes no mail now: a greeting or hello that was refused, or 421.
    #[error("the relay takes no mail now")]
    Unavailable,
    /// An answer that is not what the protocol has at this place.
    #[error("the relay's answer was not SMTP")]
    Protocol,
    /// No answer in time.
    #[error("the transport did not answer in time")]
    Timeout,
    /// The connection ended too early.
    #[error("the connection to the transport was lost")]
    ConnectionLost,
    /// An extension is missing that the message cannot do without (8BITMIME, SMTPUTF8).
    #[error("the relay lacks an extension that the message needs")]
    ExtensionMissing,
    /// The message is larger than the server says it takes.
    #[error("the message is larger than the relay takes")]
    TooLarge,
    /// The message has a CR or LF that is no CRLF: two servers could read two messages out of it.
    #[error("the message has a line end that is not CRLF")]
    Malformed,
    /// A provider gave an answer that does not say whether it took the message.
    #[error("the provider's answer does not say whether it took the message")]
    OutcomeUnknown,
}

impl Fault {
    /// The stable word for a row and a log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotResolved => "transport_not_resolved",
            Self::NotAllowed => "transport_not_allowed",
            Self::Unreachable => "transport_unreachable",
            Self::Busy => "transport_busy",
            Self::Tls => "transport_tls_failed",
            Self::TlsNotOffered => "transport_tls_not_offered",
            Self::AuthNotOffered => "transport_auth_not_offered",
            Self::AuthRefused => "transport_auth_refused",
            Self::Unavailable => "transport_unavailable",
            Self::Protocol => "transport_protocol",
            Self::Timeout => "transport_timeout",
            Self::ConnectionLost => "transport_connection_lost",
            Self::ExtensionMissing => "transport_extension_missing",
            Self::TooLarge => "message_too_large",
            Self::Malformed => "message_malformed",
            Self::OutcomeUnknown => "provider_outcome_unknown",
        }
    }

    /// Whether the same message would meet the same fault again, whenever it is tried.
    pub fn is_permanent(self) -> bool {
        matches!(
            self,
            Self::ExtensionMissing | Self::TooLarge | Self::Malformed
        )
    }
}

impl Submission {
    /// Nothing was handed over: everybody may be tried again, or is refused where the fault would
    /// be met again.
    pub fn not_handed_over(recipients: usize, fault: Fault) -> Self {
        let fate = match fault.is_permanent() {
            true => Fate::Refused,
            false => Fate::Retry,
        };
        Self {
            recipients: vec![Outcome { fate, answer: None }; recipients],
            fault: Some(fault),
            handed_over: false,
            provider_message_id: None,
        }
    }

    /// Whether a recipient's fate is unknown.
    pub fn is_uncertain(&self) -> bool {
        let uncertain = |outcome: &Outcome| outcome.fate == Fate::Uncertain;
        self.recipients.iter().any(uncertain)
    }

    /// Why the outcome is unknown: `transport_timeout`, `transport_connection_lost` or
    /// `provider_outcome_unknown`; `None` when it is known.
    pub fn uncertain_reason(&self) -> Option<&'static str> {
        if !self.is_uncertain() {
            return None;
        }
        Some(match self.fault {
            Some(fault @ (Fault::Timeout | Fault::ConnectionLost)) => fault.as_str(),
            _ => Fault::OutcomeUnknown.as_str(),
        })
    }
}
