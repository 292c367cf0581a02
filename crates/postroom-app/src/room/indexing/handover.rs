//! Documents handed from where a mail was read to the index, past the store.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use postroom_search::Doc;
use postroom_types::{MessageId, limit::INDEX_HANDOVER_BYTES};

/// Documents of messages that were just stored, so that the index need not read them back. Only a
/// saving: what is not here is loaded from the store.
#[derive(Default)]
pub(crate) struct Handover(Mutex<Held>);

#[derive(Default)]
struct Held {
    docs: HashMap<MessageId, Doc>,
    bytes: usize,
}

impl Handover {
    /// Holds a document until the index takes it. What is still held at the bound came too late
    /// for the index and is let go.
    pub(crate) fn put(&self, message: MessageId, doc: Doc) {
        let bytes = size(&doc);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.bytes + bytes > INDEX_HANDOVER_BYTES {
            *held = Held::default();
        }
        if bytes <= INDEX_HANDOVER_BYTES && held.docs.insert(message, doc).is_none() {
            held.bytes += bytes;
        }
    }

    /// Lets go of what nobody will take: the index has everything.
    pub(super) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Held::default();
    }

    /// Takes a document out.
    pub(crate) fn take(&self, message: MessageId) -> Option<Doc> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let doc = held.docs.remove(&message)?;
        held.bytes = held.bytes.saturating_sub(size(&doc));
        Some(doc)
    }
}

fn size(doc: &Doc) -> usize {
    let attached = doc
        .attachments
        .iter()
        .filter_map(|attachment| attachment.text.as_ref());
    doc.subject.len()
        + doc.extracted_text.len()
        + doc.text.len()
        + attached.map(String::len).sum::<usize>()
        + 64 * (doc.to.len() + doc.attachments.len())
        + 512
}

#[cfg(test)]
mod tests {
    use super::*;
    use postroom_query::Direction;
    use postroom_types::{IdentityId, Timestamp};

    fn doc(text_bytes: usize) -> Doc {
        Doc {
            num: 0,
            identity: IdentityId::from_parts(0, 0),
            direction: Direction::Inbound,
            date: Timestamp::default(),
            subject: String::new(),
            from: Vec::new(),
            to: Vec::new(),
            extracted_text: "x".repeat(text_bytes),
            text: String::new(),
            attachments: Vec::new(),
        }
    }

    #[test]
    fn at_the_bound_all_are_held_and_past_it_only_the_newest() {
        let handover = Handover::default();
        let (first, second) = (MessageId::from_parts(1, 1), MessageId::from_parts(2, 2));
        handover.put(first, doc(INDEX_HANDOVER_BYTES - 1_024));
        handover.put(second, doc(0));
        assert!(handover.take(second).is_some());
        handover.put(second, doc(1));
        assert!(handover.take(first).is_none());
        assert!(handover.take(second).is_some());
        handover.put(first, doc(INDEX_HANDOVER_BYTES));
        assert!(handover.take(first).is_none());
    }
}
