//! Replies: three digits, an enhanced code (RFC 2034) and a sentence of ours.
//!
//! No reply repeats what the client sent.

use super::{MessageAnswer, RecipientAnswer};

/// One reply line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) code: u16,
    enhanced: &'static str,
    text: &'static str,
}

const fn reply(code: u16, enhanced: &'static str, text: &'static str) -> Reply {
    Reply {
        code,
        enhanced,
        text,
    }
}

pub(super) const HELP: Reply = reply(214, "2.0.0", "See RFC 5321");
pub(super) const READY_FOR_TLS: Reply = reply(220, "2.0.0", "Ready to start TLS");
pub(super) const BYE: Reply = reply(221, "2.0.0", "Bye");
pub(super) const OK: Reply = reply(250, "2.0.0", "Ok");
pub(super) const SENDER_OK: Reply = reply(250, "2.1.0", "Sender ok");
pub(super) const RECIPIENT_OK: Reply = reply(250, "2.1.5", "Recipient ok");
pub(super) const STORED: Reply = reply(250, "2.0.0", "Stored");
pub(super) const NOT_VERIFIED: Reply = reply(252, "2.5.2", "Not verified here; send to it and see");

pub(super) const SHUTTING_DOWN: Reply = reply(421, "4.3.2", "Shutting down; try again later");
pub(super) const TIMED_OUT: Reply = reply(421, "4.4.2", "Timed out; closing");
pub(super) const TOO_MANY_ERRORS: Reply = reply(421, "4.7.0", "Too many errors; closing");
pub(super) const TOO_MANY_UNKNOWN: Reply =
    reply(421, "4.7.0", "Too many refused recipients; closing");
pub(super) const TOO_MANY_IDLE: Reply =
    reply(421, "4.7.0", "Too many commands without mail; closing");
pub(super) const UNAVAILABLE: Reply = reply(451, "4.3.0", "Cannot take this now; try again later");
pub(super) const NO_SPACE: Reply = reply(452, "4.3.1", "No room for this now; try again later");
pub(super) const TOO_MANY_RECIPIENTS: Reply = reply(
    452,
    "4.5.3",
    "Too many recipients; send the rest in another transaction",
);

pub(super) const LINE_TOO_LONG: Reply = reply(500, "5.5.2", "Line too long");
pub(super) const BARE_LINE_END: Reply = reply(
    500,
    "5.5.2",
    "A line ends with CRLF, and CR or LF stand nowhere else; closing",
);
pub(super) const NOT_A_COMMAND: Reply = reply(500, "5.5.1", "Command not known");
pub(super) const NOT_HTTP: Reply = reply(500, "5.5.1", "This is not HTTP; closing");
pub(super) const NOT_TEXT: Reply = reply(500, "5.5.2", "Command is not text");
pub(super) const NO_ARGUMENT: Reply = reply(501, "5.5.4", "This command has no argument");
pub(super) const ARGUMENT_MISSING: Reply = reply(501, "5.5.4", "This command needs an argument");
pub(super) const BAD_HELO: Reply = reply(501, "5.5.4", "Give one domain or address literal");
pub(super) const BAD_PARAMETER: Reply = reply(501, "5.5.4", "Parameter is not valid");
pub(super) const BAD_SENDER: Reply = reply(
    501,
    "5.1.7",
    "Sender is not valid: MAIL FROM:<local@domain>",
);
pub(super) const BAD_RECIPIENT: Reply = reply(
    501,
    "5.1.3",
    "Recipient is not valid: RCPT TO:<local@domain>",
);
pub(super) const NOT_OFFERED: Reply = reply(502, "5.5.1", "Command not offered");
pub(super) const HELO_FIRST: Reply = reply(503, "5.5.1", "Say hello first");
pub(super) const MAIL_FIRST: Reply = reply(503, "5.5.1", "MAIL comes first");
pub(super) const MAIL_TWICE: Reply = reply(503, "5.5.1", "A transaction is open; RSET ends it");
pub(super) const NO_RECIPIENTS: Reply = reply(503, "5.5.1", "No valid recipients");
pub(super) const TLS_ALREADY: Reply = reply(503, "5.5.1", "The connection is encrypted already");
pub(super) const DISABLED: Reply = reply(550, "5.2.1", "This mailbox takes no mail");
pub(super) const RETIRED: Reply = reply(550, "5.1.6", "This address is no longer in use");
pub(super) const UNKNOWN: Reply = reply(550, "5.1.1", "No such address here");
pub(super) const BARE_IN_DATA: Reply = reply(
    550,
    "5.6.0",
    "The message has a CR or LF that is no CRLF; not accepted",
);
pub(super) const TOO_LARGE: Reply = reply(552, "5.3.4", "The message is larger than allowed");
pub(super) const NEEDS_UTF8: Reply = reply(553, "5.6.7", "An address outside ASCII needs SMTPUTF8");
pub(super) const PARAMETER_UNKNOWN: Reply = reply(555, "5.5.4", "Parameter not known");

/// The reply that starts the data; it has no enhanced code (RFC 2034 section 4).
pub(super) const START_DATA: &str = "354 End the data with <CRLF>.<CRLF>\r\n";

impl Reply {
    /// Appends the reply as it goes over the wire.
    pub(super) fn write(self, output: &mut Vec<u8>) {
        let line = format!("{} {} {}\r\n", self.code, self.enhanced, self.text);
        output.extend_from_slice(line.as_bytes());
    }
}

impl From<RecipientAnswer> for Reply {
    fn from(answer: RecipientAnswer) -> Self {
        match answer {
            RecipientAnswer::Accepted => RECIPIENT_OK,
            RecipientAnswer::Disabled => DISABLED,
            RecipientAnswer::Retired => RETIRED,
            RecipientAnswer::Unavailable => UNAVAILABLE,
            RecipientAnswer::Unknown => UNKNOWN,
        }
    }
}

impl From<MessageAnswer> for Reply {
    fn from(answer: MessageAnswer) -> Self {
        match answer {
            MessageAnswer::Stored => STORED,
            MessageAnswer::Unavailable => UNAVAILABLE,
            MessageAnswer::Unknown => UNKNOWN,
        }
    }
}
