//! From an intent to the bytes that leave.
//!
//! What a caller does, in the order of the checks of sending:
//!
//! 1. For an answer or a forward: [`Parent::read`] the raw bytes of the message that is answered.
//!    Its ids stand there to the letter; stored ids are normalised, and other programs compare ids
//!    byte by byte.
//! 2. Who gets it: [`reply_target`], [`reply_recipients`], [`reply_all_recipients`].
//! 3. [`Headers::check`] and [`Unsubscribe::check`] for what the caller wants in the header.
//! 4. A [`Content`]: made by hand for a new mail and for an answer (subject by [`reply_subject`]),
//!    by [`forward`] for a forward; [`Content::check`] says what is wrong with it.
//! 5. [`references_for`] (an answer, a new mail in a thread) or [`forward_references`].
//! 6. [`compose`], which repeats every check and adds the one of size.
//!
//! Bcc has no place here: a blind copy is an envelope recipient and nothing else.
//!
//! No header can be injected. Every byte of a header is written by one writer, which takes words
//! and gives printable ASCII: text outside ASCII becomes encoded words (RFC 2047) or extended
//! parameters (RFC 2231), and a line end is only ever written by its own folding. What the caller
//! gives and cannot stand on one line is refused with its path; what an outsider wrote (names,
//! subjects, file names of an answered mail) is made one line.
//!
//! Pure: date, Message-ID and the seed of the boundaries are arguments, so that the same intent
//! gives the same bytes. There is a writer of our own because the library for it writes file names as
//! encoded words inside quotes (RFC 2047 section 5 forbids them there) and takes header values as
//! they come.

mod body;
mod content;
mod encode;
mod error;
mod forward;
mod headers;
mod parent;
mod recipients;
mod references;
mod tree;
mod unsubscribe;
mod write;

pub use content::{Content, File, History};
pub use error::{ComposeError, Fault};
pub use forward::{forward, forward_subject, is_program_name};
pub use headers::Headers;
pub use parent::Parent;
pub use recipients::{
    Recipients, ReplyToTrust, reply_all_recipients, reply_recipients, reply_target,
    same_organisation,
};
pub use references::{References, forward_references, references_for};
pub use unsubscribe::Unsubscribe;

pub(crate) use encode::one_line;

use postroom_types::{Mailbox, Timestamp, limit};

/// One mail that is to leave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outgoing {
    /// The address that sends, with the name that people see.
    pub from: Mailbox,
    /// Where answers go, when that is another address than [`Outgoing::from`]: usually the same
    /// one with the token of the thread ([`crate::thread_token`]).
    pub reply_to: Option<Mailbox>,
    /// Recipients of the To field.
    pub to: Vec<Mailbox>,
    /// Recipients of the Cc field.
    pub cc: Vec<Mailbox>,
    /// Subject, texts and files.
    pub content: Content,
    /// In-Reply-To and References.
    pub references: References,
    /// Header fields of the caller's own.
    pub headers: Headers,
    /// How many programs this exchange has passed: 1 for a new mail, else one more than the
    /// answered mail has ([`Parent::hop`]).
    pub hop: u32,
    /// Whether a program answers by itself: `Auto-Submitted: auto-replied` (RFC 3834 section 5)
    /// and a request to other responders to stay silent.
    pub auto_reply: bool,
    /// How a reader of marketing mail leaves.
    pub unsubscribe: Option<Unsubscribe>,
    /// How the mail says that a program wrote it.
    pub disclosure: Disclosure,
    /// What stands under the text.
    pub signature: Option<Signature>,
    /// The Message-ID without angle brackets, `left@right`. Fixed once for all tries of one send.
    pub message_id: String,
    /// The Date field, written in UTC.
    pub date: Timestamp,
    /// What the boundaries are made of; unknown to whoever writes the parts, so that no part can
    /// hold a boundary.
    pub boundary_seed: [u8; 16],
}

/// Name and words under a mail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signature {
    /// As text; made of the HTML when it is missing.
    pub text: Option<String>,
    /// As HTML; made of the text, escaped, when it is missing.
    pub html: Option<String>,
}

/// How a mail says that a program wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Disclosure {
    /// It does not.
    #[default]
    None,
    /// By a line under the text; a sentence of our own when the text is blank.
    Footer(String),
    /// By the header field `X-AI-Generated: true`.
    Header,
}

/// A composed mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The very bytes that leave and are kept: CRLF line ends, seven bits, no line longer than 998
    /// octets (RFC 5322 section 2.1.1), no Bcc field.
    pub bytes: Vec<u8>,
    /// The text part as it was written.
    pub text: String,
}

/// Composes a mail.
///
/// # Errors
/// [`ComposeError`] for the first thing that is wrong, in the order of the checks of sending:
/// Message-ID and addresses, content, size (at most
/// [`limit::SENT_MAIL_BYTES`]; a relay's own limit may be smaller). Header fields and the way out
/// of marketing were checked when they were made.
pub fn compose(outgoing: &Outgoing) -> Result<Composed, ComposeError> {
    let mut bytes = write::header(outgoing)?;
    outgoing.content.check()?;
    // Before anything large is written.
    let files = outgoing.content.attachments.iter();
    check_size(files.map(|file| encode::base64_len(file.bytes.len())).sum())?;
    let body = body::write(outgoing);
    tree::write(outgoing, &body, &mut bytes);
    check_size(bytes.len())?;
    Ok(Composed {
        bytes,
        text: body.text,
    })
}

fn check_size(size_bytes: usize) -> Result<(), ComposeError> {
    let max_bytes = limit::SENT_MAIL_BYTES;
    if size_bytes > max_bytes {
        return Err(ComposeError::TooLarge {
            size_bytes,
            max_bytes,
        });
    }
    Ok(())
}

/// The subject of an answer: exactly one `Re: `, whatever prefixes of whatever language stood
/// there.
///
/// ```
/// use postroom_mail::compose::reply_subject;
/// assert_eq!(reply_subject(Some("AW: Re: Invoice")), "Re: Invoice");
/// assert_eq!(reply_subject(None), "Re: (no subject)");
/// ```
pub fn reply_subject(subject: Option<&str>) -> String {
    prefixed("Re: ", subject)
}

/// One prefix and the normalised subject on one line, within [`limit::SUBJECT_CHARS`].
fn prefixed(prefix: &str, subject: Option<&str>) -> String {
    let normal = crate::normalize_subject(&encode::one_line(subject.unwrap_or_default()));
    let room = limit::SUBJECT_CHARS - prefix.len();
    format!("{prefix}{}", crate::cut::chars(&normal, room).trim_end())
}
