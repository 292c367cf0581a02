//! Subject, texts and files of a mail, and what is wrong with them.

use std::collections::HashSet;

use postroom_types::limit;

use super::{ComposeError, Fault, encode};
use crate::{Disposition, invisible::is_invisible, param};

/// What a mail says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Content {
    /// One line, at most [`limit::SUBJECT_CHARS`] characters; no Subject field when it is empty.
    pub subject: String,
    /// The words as text; made of the HTML when missing.
    pub text: Option<String>,
    /// The words as HTML, sent as given; never made up, except around the HTML of a history.
    pub html: Option<String>,
    /// The files, at most [`limit::SENT_FILES`].
    pub attachments: Vec<File>,
    /// What stands under the words and the signature: the forwarded mail.
    pub history: Option<History>,
}

/// An older mail under the words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// As text.
    pub text: String,
    /// As HTML that is safe to show.
    pub html: Option<String>,
}

/// A file in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name without a folder, at most 255 characters.
    pub filename: String,
    /// Its media type, parameters allowed, at most 127 bytes.
    pub content_type: String,
    /// The bytes; what arrives is the same to the byte.
    pub bytes: Vec<u8>,
    /// Whether it is a file to keep or an image within the HTML.
    pub disposition: Disposition,
    /// What the HTML calls it (`cid:`), with or without angle brackets; needed when inline.
    pub content_id: Option<String>,
}

pub(super) const FILENAME_CHARS: usize = 255;
const CONTENT_TYPE_BYTES: usize = 127;
const CONTENT_ID_BYTES: usize = 255;

impl Content {
    /// Says what is wrong first, if anything.
    ///
    /// # Errors
    /// [`ComposeError::Invalid`] with the path of the argument; [`ComposeError::TooLarge`] for words that no
    /// mail can hold.
    pub fn check(&self) -> Result<(), ComposeError> {
        check_subject(&self.subject)?;
        let is_blank = |text: &Option<String>| text.as_deref().is_none_or(|t| t.trim().is_empty());
        if is_blank(&self.text) && is_blank(&self.html) && self.history.is_none() {
            return Err(ComposeError::invalid("text", Fault::NoText));
        }
        for (path, text) in [("text", &self.text), ("html", &self.html)] {
            let text = text.as_deref().unwrap_or_default();
            if text.contains('\0') {
                return Err(ComposeError::invalid(path, Fault::Nul));
            }
            if text.len() > limit::SENT_MAIL_BYTES {
                return Err(ComposeError::TooLarge {
                    size_bytes: text.len(),
                    max_bytes: limit::SENT_MAIL_BYTES,
                });
            }
        }
        if self.attachments.len() > limit::SENT_FILES {
            let fault = Fault::TooMany(limit::SENT_FILES);
            return Err(ComposeError::invalid("attachments", fault));
        }
        let mut ids = HashSet::new();
        for (index, file) in self.attachments.iter().enumerate() {
            let at = |name: &str| format!("attachments[{index}].{name}");
            file.check()
                .map_err(|(name, fault)| ComposeError::invalid(at(name), fault))?;
            if let Some(id) = file.bare_content_id()
                && !ids.insert(id)
            {
                return Err(ComposeError::invalid(at("content_id"), Fault::Twice));
            }
        }
        Ok(())
    }
}

fn check_subject(subject: &str) -> Result<(), ComposeError> {
    if !encode::is_one_line(subject) {
        return Err(ComposeError::invalid("subject", Fault::NotOneLine));
    }
    let is_blank = |c: char| c.is_whitespace() || is_invisible(c);
    if !subject.is_empty() && subject.chars().all(is_blank) {
        return Err(ComposeError::invalid("subject", Fault::Empty));
    }
    if subject.chars().count() > limit::SUBJECT_CHARS {
        let fault = Fault::TooLong(limit::SUBJECT_CHARS, "characters");
        return Err(ComposeError::invalid("subject", fault));
    }
    Ok(())
}

impl File {
    /// The field at fault and the fault.
    fn check(&self) -> Result<(), (&'static str, Fault)> {
        check_filename(&self.filename).map_err(|fault| ("filename", fault))?;
        check_content_type(&self.content_type).map_err(|fault| ("content_type", fault))?;
        match self.bare_content_id() {
            Some(id) => check_content_id(id).map_err(|fault| ("content_id", fault)),
            None if self.is_inline() => Err(("content_id", Fault::NoContentId)),
            None => Ok(()),
        }
    }

    /// Whether it is shown within the text.
    pub(super) fn is_inline(&self) -> bool {
        self.disposition == Disposition::Inline
    }

    pub(super) fn bare_content_id(&self) -> Option<&str> {
        let id = self.content_id.as_deref()?;
        let bare = id.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
        Some(bare.unwrap_or(id))
    }
}

pub(super) fn check_filename(name: &str) -> Result<(), Fault> {
    if name.trim().is_empty() || matches!(name, "." | "..") {
        Err(Fault::Empty)
    } else if !encode::is_one_line(name) {
        Err(Fault::NotOneLine)
    } else if name.contains(['/', '\\']) {
        Err(Fault::Folder)
    } else if name.chars().count() > FILENAME_CHARS {
        Err(Fault::TooLong(FILENAME_CHARS, "characters"))
    } else {
        Ok(())
    }
}

/// A token of RFC 2045 section 5.1.
pub(super) fn is_token(text: &str) -> bool {
    let special = |byte: u8| b"()<>@,;:\\\"/[]?=".contains(&byte);
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !special(byte))
}

pub(super) fn check_content_type(text: &str) -> Result<(), Fault> {
    if text.len() > CONTENT_TYPE_BYTES {
        return Err(Fault::TooLong(CONTENT_TYPE_BYTES, "bytes"));
    }
    if !encode::is_one_line(text) {
        return Err(Fault::NotOneLine);
    }
    let media = param::read(text.as_bytes()).value;
    let Some((kind, subtype)) = media.split_once('/') else {
        return Err(Fault::MediaType);
    };
    if !is_token(kind) || !is_token(subtype) {
        return Err(Fault::MediaType);
    }
    // RFC 2046 section 5.1: its boundary would have to be known.
    if kind == "multipart" {
        return Err(Fault::Composite);
    }
    Ok(())
}

pub(super) fn check_content_id(id: &str) -> Result<(), Fault> {
    let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>');
    if id.is_empty() {
        Err(Fault::Empty)
    } else if id.len() > CONTENT_ID_BYTES {
        Err(Fault::TooLong(CONTENT_ID_BYTES, "bytes"))
    } else if id.bytes().all(allowed) {
        Ok(())
    } else {
        Err(Fault::ContentId)
    }
}
