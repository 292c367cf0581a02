//! Whom one outgoing message goes to.

use postroom_types::limit;

use super::super::path::{self, Path};

/// The envelope of one outgoing message. Its paths are checked, so that none of them can end a
/// command and begin another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    mail_from: String,
    recipients: Vec<String>,
}

/// Why there is no envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The return address is neither empty nor `local@domain`.
    #[error("the return address is not local@domain")]
    MailFrom,
    /// The recipient at this place is not `local@domain`.
    #[error("recipient {0} is not local@domain")]
    Recipient(usize),
    /// Nobody, or more than [`limit::SMTP_RECIPIENTS`].
    #[error("a message has from 1 to {} recipients", limit::SMTP_RECIPIENTS)]
    Count,
}

impl Envelope {
    /// The return address, empty for the null sender, and the recipients in the order in which
    /// their outcomes are told; each is `local@domain` without brackets.
    ///
    /// # Errors
    /// [`EnvelopeError`] when a path is none or there are too few or too many recipients.
    pub fn new(
        mail_from: impl Into<String>,
        recipients: Vec<String>,
    ) -> Result<Self, EnvelopeError> {
        let mail_from = mail_from.into();
        if !mail_from.is_empty() && !is_mailbox(&mail_from) {
            return Err(EnvelopeError::MailFrom);
        }
        if recipients.is_empty() || recipients.len() > limit::SMTP_RECIPIENTS {
            return Err(EnvelopeError::Count);
        }
        match recipients.iter().position(|path| !is_mailbox(path)) {
            Some(at) => Err(EnvelopeError::Recipient(at)),
            None => Ok(Self {
                mail_from,
                recipients,
            }),
        }
    }

    /// The return address; empty for the null sender.
    pub fn mail_from(&self) -> &str {
        &self.mail_from
    }

    /// The recipients.
    pub fn recipients(&self) -> &[String] {
        &self.recipients
    }

    /// Whether a path has letters outside ASCII, which only SMTPUTF8 carries (RFC 6531).
    pub fn needs_utf8(&self) -> bool {
        !self.mail_from.is_ascii() || self.recipients.iter().any(|path| !path.is_ascii())
    }
}

/// Whether the text is one whole mailbox of RFC 5321 section 4.1.2, without a source route.
fn is_mailbox(text: &str) -> bool {
    let bracketed = format!("<{text}>");
    !text.starts_with('@') && matches!(path::parse(&bracketed), Ok((Path::Mailbox(_), "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipients(count: usize) -> Vec<String> {
        (0..count)
            .map(|at| format!("r{at}@there.example"))
            .collect()
    }

    #[test]
    fn a_path_that_could_end_its_command_is_none() {
        for (text, good) in [
            ("bob@there.example", true),
            ("bob+tag@there.example", true),
            ("\"bob smith\"@there.example", true),
            ("bob@[192.0.2.1]", true),
            ("b\u{fc}cher@there.example", true),
            ("bob", false),
            ("", false),
            ("bob@there.example>", false),
            ("bob@there.example> SIZE=1", false),
            ("bob@there.example>\r\nRCPT TO:<eve@there.example", false),
            ("bob\r\n@there.example", false),
            ("\"bob\r\n\"@there.example", false),
            ("\"bob\0\"@there.example", false),
            ("bob\u{2028}@there.example", false),
            ("bob\u{85}@there.example", false),
            ("@relay.example:bob@there.example", false),
            ("bob@there.example,eve@there.example", false),
            (" bob@there.example", false),
        ] {
            let made = Envelope::new("me@here.example", vec![text.to_owned()]);
            assert_eq!(made.is_ok(), good, "{text:?}");
            let sender = Envelope::new(text, recipients(1));
            assert_eq!(sender.is_ok(), good || text.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn recipients_are_counted() {
        let most = limit::SMTP_RECIPIENTS;
        for (count, good) in [(0, false), (1, true), (most, true), (most + 1, false)] {
            let made = Envelope::new("", recipients(count));
            assert_eq!(made.is_ok(), good, "{count}");
        }
    }
}
