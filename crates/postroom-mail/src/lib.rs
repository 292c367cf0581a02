//! Bytes to message.
//!
//! For: reading a raw mail of any quality into a [`Parsed`] message: header mailboxes, dates,
//! charsets, text, visible text of HTML, the new words apart from quoted history, attachments,
//! threading keys, the kind of automation, and a list of what was wrong with it. The SMTP server's
//! state machine ([`smtp`]) lives here too.
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

mod model;
pub mod smtp;

pub use model::{
    Attachment, AttachmentBody, AttachmentText, Calendar, Defect, DefectCode, Disposition, Flag,
    HeaderField, Kind, Page, Parsed, TextStatus,
};

/// Reads a mail. Total: any bytes give a message; see [`Parsed::defects`].
pub fn parse(raw: &[u8]) -> Parsed {
    parse_enveloped(raw, None)
}

/// Reads a mail whose SMTP envelope sender is known; `Some("")` is the null sender of bounces.
pub fn parse_enveloped(raw: &[u8], envelope_sender: Option<&str>) -> Parsed {
    let _ = envelope_sender;
    Parsed {
        size: raw.len() as u64,
        ..Parsed::default()
    }
}

/// The HTML body, made safe to show: `None` when the mail has none.
pub fn html(raw: &[u8]) -> Option<String> {
    let _ = raw;
    None
}

/// One attachment's decoded bytes by [`Attachment::index`].
pub fn attachment(raw: &[u8], index: usize) -> Option<AttachmentBody> {
    let _ = (raw, index);
    None
}

/// One attachment's text by [`Attachment::index`]: text, HTML, calendar and mail parts.
pub fn attachment_text(raw: &[u8], index: usize) -> AttachmentText {
    let _ = (raw, index);
    AttachmentText {
        status: TextStatus::Unavailable,
        pages: Vec::new(),
        total_pages: None,
        truncated: false,
    }
}

/// The keys that join a mail to its thread: its own id, then In-Reply-To, then References newest
/// first, each once.
pub fn thread_keys(parsed: &Parsed) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let ids = std::iter::once(&parsed.message_id)
        .chain(&parsed.in_reply_to)
        .chain(parsed.references.iter().rev());
    for id in ids {
        if !id.is_empty() && !keys.contains(id) {
            keys.push(id.clone());
        }
    }
    keys
}
