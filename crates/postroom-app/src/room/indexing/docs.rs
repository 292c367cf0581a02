//! Messages as the index takes them.

use std::collections::HashMap;

use futures_util::{StreamExt as _, stream};
use postroom_core::{Attachment, MessageDoc, MessageRow};
use postroom_search::{Doc, DocAttachment};
use postroom_store::{
    StoreError,
    read::{self, Message},
};
use postroom_types::{IdentityId, MessageId, TenantScope, Timestamp};

use crate::{finding, room::Room};

/// The documents of messages: those handed over, and the rest from the store, in pages.
pub(super) async fn load(
    room: &Room,
    scope: &TenantScope,
    added: &[(MessageId, u64)],
    page: usize,
) -> Result<Vec<Doc>, StoreError> {
    let lanes = std::thread::available_parallelism().map_or(2, usize::from);
    let mut docs = Vec::with_capacity(added.len());
    for some in added.chunks(page) {
        let mut held: HashMap<u64, Doc> = HashMap::new();
        let mut missing: Vec<u64> = Vec::new();
        for (message, num) in some {
            match room.indexing.handover.take(*message) {
                Some(doc) => {
                    held.insert(*num, doc);
                }
                None => missing.push(*num),
            }
        }
        if !held.is_empty() {
            let nums: Vec<u64> = held.keys().copied().collect();
            let rows = read::rows_of_nums(&room.store, scope, &nums).await?;
            docs.extend(
                rows.iter()
                    .filter_map(|row| Some(placed(held.remove(&row.num)?, row))),
            );
        }
        if !missing.is_empty() {
            let messages = read::messages_of_nums(&room.store, scope, &missing).await?;
            let mut made = stream::iter(
                messages
                    .into_iter()
                    .map(|message| doc(room, scope, message)),
            )
            .buffered(lanes);
            while let Some(doc) = made.next().await {
                docs.push(doc?);
            }
        }
    }
    Ok(docs)
}

async fn doc(room: &Room, scope: &TenantScope, message: Message) -> Result<Doc, StoreError> {
    let attachments = attachments(room, scope, &message).await?;
    Ok(placed(searchable(&message.doc, attachments), &message.row))
}

/// A document with what the message's row says of it.
fn placed(doc: Doc, row: &MessageRow) -> Doc {
    Doc {
        num: row.num,
        identity: row.identity_id,
        direction: finding::direction(row.direction),
        date: row.sort_at,
        ..doc
    }
}

/// The words of a message as the index takes them; its row is not known here yet.
pub(crate) fn searchable(doc: &MessageDoc, attachments: Vec<DocAttachment>) -> Doc {
    Doc {
        num: 0,
        identity: IdentityId::from_parts(0, 0),
        direction: postroom_query::Direction::Inbound,
        date: Timestamp::default(),
        subject: doc.subject.clone().unwrap_or_default(),
        from: doc.from.iter().cloned().collect(),
        to: finding::recipients(doc),
        extracted_text: doc.extracted_text().unwrap_or_default().to_owned(),
        // Without quotes the whole text is the new text, and the index keeps it once.
        text: doc
            .extracted
            .as_ref()
            .and(doc.text.clone())
            .unwrap_or_default(),
        attachments,
    }
}

/// Names and, where they are read, texts of a stored message's attachments.
pub(crate) async fn attachments(
    room: &Room,
    scope: &TenantScope,
    message: &Message,
) -> Result<Vec<DocAttachment>, StoreError> {
    let attachments = message.doc.attachments.clone();
    if !attachments.iter().any(finding::has_text) {
        return Ok(attachments.iter().map(finding::named).collect());
    }
    let raw = match read::raw(&room.store, scope, message.row.id).await {
        Ok(Some(raw)) => raw,
        // The names can still be found.
        Ok(None) | Err(StoreError::Damaged(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let names: Vec<DocAttachment> = attachments.iter().map(finding::named).collect();
    let read = tokio::task::spawn_blocking(move || attachments_of(&raw, &attachments));
    Ok(read.await.unwrap_or(names))
}

/// The same out of the mail itself; takes as long as the mail is large.
pub(crate) fn attachments_of(raw: &[u8], attachments: &[Attachment]) -> Vec<DocAttachment> {
    let read = |attachment: &Attachment| {
        let mut named = finding::named(attachment);
        if !raw.is_empty() && finding::has_text(attachment) {
            let text = postroom_mail::attachment_text(raw, attachment.index);
            let pages: Vec<String> = text.pages.into_iter().map(|page| page.text).collect();
            named.text = Some(pages.join("\n")).filter(|text| !text.is_empty());
        }
        named
    };
    attachments.iter().map(read).collect()
}
