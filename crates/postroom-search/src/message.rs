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
    let media = content_type.to_ascii_lowercase();
    let (kind, sub) = media.split_once('/').unwrap_or((media.as_str(), ""));
    let by_media = match (kind, sub) {
        ("application", "pdf" | "x-pdf") => Some(AttachmentType::Pdf),
        ("image", _) => Some(AttachmentType::Image),
        ("audio", _) => Some(AttachmentType::Audio),
        ("video", _) => Some(AttachmentType::Video),
        ("message", _) => Some(AttachmentType::Eml),
        ("text", "calendar") | ("application", "ics") => Some(AttachmentType::Ics),
        ("text", "csv" | "tab-separated-values") => Some(AttachmentType::Sheet),
        ("text", "html") | ("application", "xhtml+xml") => Some(AttachmentType::Html),
        ("application" | "text", "rtf") => Some(AttachmentType::Doc),
        ("application", sub) => application_class(sub),
        _ => None,
    };
    by_media
        .or_else(|| class_of_name(filename?))
        .unwrap_or(if kind == "text" {
            AttachmentType::Text
        } else {
            AttachmentType::Other
        })
}

fn application_class(sub: &str) -> Option<AttachmentType> {
    let has = |parts: &[&str]| parts.iter().any(|part| sub.contains(part));
    if has(&["spreadsheet", "ms-excel", "opendocument.spreadsheet"]) {
        Some(AttachmentType::Sheet)
    } else if has(&["presentation", "powerpoint"]) {
        Some(AttachmentType::Slides)
    } else if has(&["wordprocessing", "msword", "ms-word", "opendocument.text"]) {
        Some(AttachmentType::Doc)
    } else if has(&[
        "zip",
        "x-tar",
        "x-rar",
        "vnd.rar",
        "x-7z",
        "compressed",
        "x-bzip",
    ]) {
        Some(AttachmentType::Archive)
    } else {
        None
    }
}

/// The class that a file name's ending says.
fn class_of_name(filename: &str) -> Option<AttachmentType> {
    let (_, ending) = filename.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "pdf" => Some(AttachmentType::Pdf),
        "doc" | "docx" | "odt" | "rtf" => Some(AttachmentType::Doc),
        "xls" | "xlsx" | "xlsm" | "ods" | "csv" => Some(AttachmentType::Sheet),
        "ppt" | "pptx" | "odp" => Some(AttachmentType::Slides),
        "jpg" | "jpeg" | "png" | "gif" | "heic" | "webp" | "tif" | "tiff" | "bmp" | "svg" => {
            Some(AttachmentType::Image)
        }
        "zip" | "rar" | "7z" | "tar" | "gz" | "tgz" | "bz2" | "xz" | "zst" => {
            Some(AttachmentType::Archive)
        }
        "ics" => Some(AttachmentType::Ics),
        "eml" => Some(AttachmentType::Eml),
        "txt" | "md" | "log" => Some(AttachmentType::Text),
        "htm" | "html" => Some(AttachmentType::Html),
        "mp3" | "wav" | "m4a" | "ogg" | "flac" => Some(AttachmentType::Audio),
        "mp4" | "mov" | "avi" | "mkv" | "webm" => Some(AttachmentType::Video),
        _ => None,
    }
}
