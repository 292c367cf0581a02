//! The text of attachments that are text, HTML or mail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use postroom_types::limit;

use crate::{
    Attachment, AttachmentBody, AttachmentText, Page, TextStatus, cut, html, invisible,
    mail::{self, Mail},
    transfer,
    walk::Part,
    word,
};

/// Decoded bytes by index.
pub(crate) fn body(raw: &[u8], index: usize) -> Option<AttachmentBody> {
    let bytes = mail::prepare(raw, &mut Vec::new());
    let mail = Mail::read(&bytes, &mut Vec::new());
    let part = mail.part(mail.attachments.get(index).copied())?;
    Some(AttachmentBody {
        attachment: mail.attachment(index, &mut Vec::new())?,
        bytes: transfer::unwrap(&part.body, part.encoding)
            .bytes
            .into_owned(),
    })
}

/// Text by index; [`TextStatus::Unavailable`] when there is no such attachment.
pub(crate) fn text(raw: &[u8], index: usize) -> AttachmentText {
    let guarded = catch_unwind(AssertUnwindSafe(|| {
        let bytes = mail::prepare(raw, &mut Vec::new());
        let mail = Mail::read(&bytes, &mut Vec::new());
        let part = mail.part(mail.attachments.get(index).copied())?;
        Some(match part_text(part, 0) {
            Some(text) => ready(&text),
            None => empty(TextStatus::Skipped),
        })
    }));
    guarded
        .ok()
        .flatten()
        .unwrap_or_else(|| empty(TextStatus::Unavailable))
}

fn empty(status: TextStatus) -> AttachmentText {
    AttachmentText {
        status,
        pages: Vec::new(),
        total_pages: None,
        truncated: false,
    }
}

fn ready(text: &str) -> AttachmentText {
    let kept = cut::bytes(text, limit::ATTACHMENT_TEXT_BYTES);
    AttachmentText {
        status: TextStatus::Ready,
        pages: vec![Page {
            page: 1,
            text: kept.to_owned(),
        }],
        total_pages: Some(1),
        truncated: kept.len() < text.len(),
    }
}

/// `None` for types that are not read. `level` counts the mails around this part.
fn part_text(part: &Part<'_>, level: usize) -> Option<String> {
    if part.is_message() {
        if level >= limit::NESTED_MESSAGES {
            return None;
        }
        let inner = transfer::unwrap(&part.body, part.encoding).bytes;
        return Some(mail_text(&inner, level + 1));
    }
    if part.is("text/html") {
        let source = mail::text_of(part, &mut Vec::new());
        return Some(html::html_to_text(&source).text);
    }
    is_text(&part.media.value).then(|| {
        let text = mail::text_of(part, &mut Vec::new());
        invisible::strip(&text).text.trim_end().to_owned()
    })
}

/// Types whose bytes are text.
fn is_text(media: &str) -> bool {
    media.starts_with("text/")
        || matches!(
            media,
            "application/ics"
                | "application/json"
                | "application/xml"
                | "message/delivery-status"
                | "message/disposition-notification"
                | "message/global-delivery-status"
        )
}

impl Attachment {
    /// Whether [`crate::attachment_text`] reads this type: text, HTML, calendars and mails.
    pub fn text_status(&self) -> TextStatus {
        if self.nested || is_text(&self.content_type) {
            TextStatus::Ready
        } else {
            TextStatus::Skipped
        }
    }
}

/// A mail as one page: the fields people look at, the text, the names of what is attached, and the
/// text of the mails inside it. At most [`limit::NESTED_MESSAGES`] deep.
fn mail_text(raw: &[u8], level: usize) -> String {
    const FIELDS: [&str; 5] = ["From", "To", "Cc", "Date", "Subject"];
    let bytes = mail::prepare(raw, &mut Vec::new());
    let mail = Mail::read(&bytes, &mut Vec::new());
    let mut out = String::new();
    for name in FIELDS {
        let value = mail.parts.first().and_then(|root| root.block.first(name));
        if let Some(value) = value {
            let value = word::decode(value).0;
            out.push_str(&format!("{name}: {}\n", invisible::strip(&value).text));
        }
    }
    let body = mail.part(mail.text).or_else(|| mail.part(mail.html));
    if let Some(text) = body.and_then(|part| part_text(part, level)) {
        out.push('\n');
        out.push_str(text.trim());
        out.push('\n');
    }
    for index in 0..mail.attachments.len() {
        if out.len() > limit::ATTACHMENT_TEXT_BYTES {
            break;
        }
        let Some(part) = mail.part(mail.attachments.get(index).copied()) else {
            continue;
        };
        if let Some(facts) = mail.attachment(index, &mut Vec::new()) {
            let name = facts.filename.unwrap_or(facts.content_type);
            out.push_str(&format!("\n[attachment: {name}]\n"));
        }
        if part.is_message()
            && let Some(text) = part_text(part, level)
        {
            out.push('\n');
            out.push_str(&text);
        }
    }
    out
}

/// The sanitised HTML body.
pub(crate) fn html_body(raw: &[u8]) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| {
        let bytes = mail::prepare(raw, &mut Vec::new());
        let mail = Mail::read(&bytes, &mut Vec::new());
        let part = mail.part(mail.html)?;
        let source = mail::text_of(part, &mut Vec::new());
        Some(html::clean(&source, limit::HTML_BYTES).0)
    }))
    .ok()
    .flatten()
}

/// The text and the HTML body as the mail carries them, decoded.
pub(crate) fn sources(raw: &[u8]) -> [Option<String>; 2] {
    catch_unwind(AssertUnwindSafe(|| {
        let bytes = mail::prepare(raw, &mut Vec::new());
        let mail = Mail::read(&bytes, &mut Vec::new());
        [mail.text, mail.html].map(|index| {
            let part = mail.part(index)?;
            Some(mail::text_of(part, &mut Vec::new()))
        })
    }))
    .unwrap_or_default()
}
