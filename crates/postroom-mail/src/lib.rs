//! Bytes to message.
//!
//! For: reading a raw mail of any quality into a [`Parsed`] message: header mailboxes, dates,
//! charsets, text, visible text of HTML, the new words apart from quoted history, attachments,
//! threading keys, the kind of automation, and a list of what was wrong with it. The way back, from
//! an intent to the bytes that leave, is [`compose`]; reports about what left are read by [`dsn`];
//! [`thread_token`] signs the reply address of a thread. The SMTP state machines ([`smtp`]) live here
//! too.
//!
//! Never: no sockets, files, clock or randomness. Reading never fails and never panics: whatever
//! the bytes are, there is a message, and what could not be read is listed as a [`Defect`] while
//! the raw bytes stay whole with the caller. All work is bounded by the limits table and linear in
//! the size of the mail.
//!
//! How data passes through: raw bytes are walked once along their MIME boundaries under the
//! budgets, header fields and charsets are decoded by mail-parser, the body becomes text
//! ([`html_to_text`] when there is only HTML), [`split_quotes`] separates the new words from the
//! old, and [`thread_keys`] names the conversations the mail belongs to.

mod automation;
mod calendar;
mod charset;
pub mod compose;
mod cut;
mod date;
pub mod dsn;
mod field;
mod flowed;
mod html;
mod inspect;
mod invisible;
mod mail;
mod mailbox;
mod message;
mod message_id;
mod model;
mod opaque;
mod param;
mod part_text;
mod quote;
pub mod smtp;
mod subject;
pub mod thread_token;
mod tnef;
mod transfer;
mod walk;
mod word;

use std::collections::HashSet;

pub use automation::{HOP_HEADER, is_program};
pub use html::{VisibleText, html_to_text};
pub use inspect::{InspectedAttachment, InspectedTriage, InspectedTrust, Inspection, inspect};
pub use message::{archived_at, snippet};
pub use message_id::normalize_message_id;
pub use model::{
    Attachment, AttachmentBody, AttachmentText, Calendar, Defect, DefectCode, Disposition, Flag,
    HeaderField, Kind, Page, Parsed, TextStatus,
};
pub use quote::{Split, split_quotes};
pub use subject::normalize_subject;

/// Reads a mail. Total: any bytes give a message; see [`Parsed::defects`].
pub fn parse(raw: &[u8]) -> Parsed {
    message::read(raw, None)
}

/// Reads a mail whose SMTP envelope sender is known; `Some("")` is the null sender of bounces.
pub fn parse_enveloped(raw: &[u8], envelope_sender: Option<&str>) -> Parsed {
    message::read(raw, envelope_sender)
}

/// The HTML body made safe to show: no scripts, styles or hidden elements, nothing remote. At most
/// [`postroom_types::limit::HTML_BYTES`]; `None` when the mail has none.
pub fn html(raw: &[u8]) -> Option<String> {
    part_text::html_body(raw)
}

/// The text and the HTML body as the mail carries them: whole, and not safe to show. For handing a
/// mail of our own to whoever takes its parts instead of its bytes.
pub fn body_sources(raw: &[u8]) -> [Option<String>; 2] {
    part_text::sources(raw)
}

/// One attachment's decoded bytes by [`Attachment::index`].
pub fn attachment(raw: &[u8], index: usize) -> Option<AttachmentBody> {
    part_text::body(raw, index)
}

/// One attachment's text by [`Attachment::index`]: text, HTML, calendar and mail parts, mails
/// within mails up to [`postroom_types::limit::NESTED_MESSAGES`] deep.
pub fn attachment_text(raw: &[u8], index: usize) -> AttachmentText {
    part_text::text(raw, index)
}

/// The keys that join a mail to its thread: its own id, then In-Reply-To, then References newest
/// first, each once.
pub fn thread_keys(parsed: &Parsed) -> Vec<String> {
    let mut seen = HashSet::new();
    std::iter::once(&parsed.message_id)
        .chain(&parsed.in_reply_to)
        .chain(parsed.references.iter().rev())
        .filter(|id| !id.is_empty() && seen.insert(id.as_str()))
        .cloned()
        .collect()
}
