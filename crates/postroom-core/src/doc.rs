//! The words of a message: everything that lists do not need as a column.

use postroom_mail::{Attachment, Calendar, Defect, Flag, HeaderField, Parsed};
use postroom_types::{AttachmentId, Mailbox, MessageId};
use serde::{Deserialize, Serialize};

/// What a message says, kept as one document beside its [`crate::MessageRow`].
///
/// Every text, name and subject in it is an outsider's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageDoc {
    /// First author.
    pub from: Option<Mailbox>,
    /// Sender header.
    pub sender: Option<Mailbox>,
    /// Recipients.
    pub to: Vec<Mailbox>,
    /// Copies.
    pub cc: Vec<Mailbox>,
    /// Where answers go.
    pub reply_to: Vec<Mailbox>,
    /// Envelope recipient as given.
    pub delivered_to: Option<String>,
    /// Subject as written, decoded.
    pub subject: Option<String>,
    /// The whole text, quotes included.
    pub text: Option<String>,
    /// The new words only; `None` when they are the whole text (see [`MessageDoc::extracted_text`]).
    pub extracted: Option<String>,
    /// Whether the mail has an HTML body (made from the raw bytes when asked for).
    pub has_html: bool,
    /// Start of the new words.
    pub snippet: String,
    /// Header fields as they came.
    pub headers: Vec<HeaderField>,
    /// Attachments; their ids come from [`attachment_id`].
    pub attachments: Vec<Attachment>,
    /// Flags that reading the mail set, sorted.
    pub flags: Vec<Flag>,
    /// Whether hidden text was removed.
    pub hidden_text: bool,
    /// Whether a program sent it.
    pub automated: bool,
    /// In-Reply-To, normalised.
    pub in_reply_to: Vec<String>,
    /// References, normalised, oldest first.
    pub references: Vec<String>,
    /// Whether the Message-ID was made up.
    pub message_id_synthetic: bool,
    /// Whether the mailbox's own agent put it in, so that it vouches for nobody it names: see
    /// [`crate::TrustMode::vouches`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unvouched: bool,
    /// Whether it tells what became of a mail of the mailbox, which is said by that mail's deliveries: lists,
    /// counts and whoever waits for mail pass over it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tells_fate: bool,
    /// Invitation.
    pub calendar: Option<Calendar>,
    /// What is wrong with the mail.
    pub defects: Vec<Defect>,
}

impl MessageDoc {
    /// Takes the words out of a parsed mail.
    pub fn new(parsed: Parsed, delivered_to: Option<String>) -> Self {
        let extracted = parsed
            .extracted_text
            .filter(|extracted| Some(extracted) != parsed.text.as_ref());
        Self {
            from: parsed.from,
            sender: parsed.sender,
            to: parsed.to,
            cc: parsed.cc,
            reply_to: parsed.reply_to,
            delivered_to,
            subject: parsed.subject,
            text: parsed.text,
            extracted,
            has_html: parsed.has_html,
            snippet: parsed.snippet,
            headers: parsed.headers,
            attachments: parsed.attachments,
            flags: parsed.flags,
            hidden_text: parsed.hidden_text,
            automated: parsed.automated,
            in_reply_to: parsed.in_reply_to,
            references: parsed.references,
            message_id_synthetic: parsed.message_id_synthetic,
            unvouched: false,
            tells_fate: false,
            calendar: parsed.calendar,
            defects: parsed.defects,
        }
    }

    /// The text without quoted history and signature.
    pub fn extracted_text(&self) -> Option<&str> {
        self.extracted.as_deref().or(self.text.as_deref())
    }

    /// The attachment with this id, given that the document is of `message`.
    pub fn attachment(&self, message: MessageId, id: AttachmentId) -> Option<&Attachment> {
        self.attachments
            .iter()
            .find(|attachment| attachment_id(message, attachment.index) == id)
    }
}

/// The id of a message's attachment by its index: the message's own id, moved on by the index, so
/// that it is the same every time without being stored.
pub fn attachment_id(message: MessageId, index: usize) -> AttachmentId {
    let bits = message.bits();
    let moved = bits.wrapping_add(1).wrapping_add(index as u128);
    AttachmentId::from_parts(crate::ulid_ms(bits), moved)
}
