//! What of a message is searched.

use postroom_core::{Attachment, MessageDoc};
use postroom_mail::TextStatus;
use postroom_search::DocAttachment;
use postroom_types::{Address, Mailbox};

/// The direction as queries know it.
pub(crate) fn direction(direction: postroom_core::Direction) -> postroom_query::Direction {
    match direction {
        postroom_core::Direction::Inbound => postroom_query::Direction::Inbound,
        postroom_core::Direction::Outbound => postroom_query::Direction::Outbound,
    }
}

/// Whom `to:` finds: To, Cc and the envelope's recipient, with its detail and without.
pub(crate) fn recipients(doc: &MessageDoc) -> Vec<Mailbox> {
    let mut all: Vec<Mailbox> = doc.to.iter().chain(&doc.cc).cloned().collect();
    if let Some(delivered) = doc.delivered_to.as_deref() {
        let base = Address::parse(delivered).map(|address| address.base().to_owned());
        for delivered in std::iter::once(delivered).chain(base.as_deref().ok()) {
            let delivered = Mailbox::from_header(delivered, "");
            if all.iter().all(|known| known.address != delivered.address) {
                all.push(delivered);
            }
        }
    }
    all
}

/// An attachment without its text.
pub(crate) fn named(attachment: &Attachment) -> DocAttachment {
    DocAttachment {
        filename: attachment.filename.clone(),
        content_type: attachment.content_type.clone(),
        inline: attachment.disposition == Some(postroom_mail::Disposition::Inline),
        text: None,
    }
}

/// Whether an attachment is of a type that is read.
pub(crate) fn has_text(attachment: &Attachment) -> bool {
    text_status(attachment) == TextStatus::Ready
}

/// Whether an attachment's text can be read, by its type alone.
pub(crate) fn text_status(attachment: &Attachment) -> TextStatus {
    let kind = attachment.content_type.as_str();
    if attachment.nested || kind.starts_with("text/") || kind == "message/rfc822" {
        TextStatus::Ready
    } else {
        TextStatus::Skipped
    }
}
