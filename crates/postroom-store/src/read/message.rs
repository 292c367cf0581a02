//! Messages: by id, by number, as sets of numbers.

use crate::{Store, StoreError};
use postroom_core::{MessageDoc, MessageRow};
use postroom_types::{MessageId, TenantScope, ThreadId, Timestamp};
use roaring::RoaringTreemap;
use std::collections::HashMap;

/// A message whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its columns.
    pub row: MessageRow,
    /// Its words.
    pub doc: MessageDoc,
    /// Its labels, sorted.
    pub labels: Vec<String>,
}

impl Message {
    /// Flags as surfaces show them, sorted.
    pub fn flags(&self) -> Vec<&'static str> {
        let mut flags: Vec<&'static str> =
            self.doc.flags.iter().map(|flag| flag.as_str()).collect();
        if self.row.id_conflict {
            flags.push("message_id_conflict");
        }
        flags.sort_unstable();
        flags
    }
}

/// Which messages somebody waits for.
#[derive(Debug, Clone)]
pub struct WaitFilter {
    /// Only received here at or after this instant.
    pub since: Timestamp,
    /// Only of this thread (its own id).
    pub thread: Option<ThreadId>,
    /// Only with a number above this.
    pub above: u64,
    /// At most so many.
    pub limit: usize,
}

/// One message.
pub async fn message(
    store: &Store,
    scope: &TenantScope,
    id: MessageId,
) -> Result<Option<Message>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// Messages by number, in the order of `nums`; those out of reach are left out.
pub async fn messages_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<Vec<Message>, StoreError> {
    let _ = (store, scope, nums);
    Err(StoreError::Unavailable)
}

/// The same without words and labels.
pub async fn rows_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<Vec<MessageRow>, StoreError> {
    let _ = (store, scope, nums);
    Err(StoreError::Unavailable)
}

/// Inbound messages in the order they came (archives left out), oldest first.
pub async fn messages_after(
    store: &Store,
    scope: &TenantScope,
    filter: &WaitFilter,
) -> Result<Vec<Message>, StoreError> {
    let _ = (store, scope, filter);
    Err(StoreError::Unavailable)
}

/// Numbers of the messages that have a label.
pub async fn nums_with_label(
    store: &Store,
    scope: &TenantScope,
    label: &str,
) -> Result<RoaringTreemap, StoreError> {
    let _ = (store, scope, label);
    Err(StoreError::Unavailable)
}

/// Numbers of the unread messages.
pub async fn nums_unread(store: &Store, scope: &TenantScope) -> Result<RoaringTreemap, StoreError> {
    let _ = (store, scope);
    Err(StoreError::Unavailable)
}

/// Numbers of the messages of a thread (its id or an alias).
pub async fn nums_in_thread(
    store: &Store,
    scope: &TenantScope,
    thread: ThreadId,
) -> Result<RoaringTreemap, StoreError> {
    let _ = (store, scope, thread);
    Err(StoreError::Unavailable)
}

/// Labels by number; numbers without labels are left out.
pub async fn labels_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<HashMap<u64, Vec<String>>, StoreError> {
    let _ = (store, scope, nums);
    Err(StoreError::Unavailable)
}

/// Threads by number.
pub async fn thread_ids_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<HashMap<u64, ThreadId>, StoreError> {
    let _ = (store, scope, nums);
    Err(StoreError::Unavailable)
}

/// The very bytes of a message; the digest is checked.
pub async fn raw(
    store: &Store,
    scope: &TenantScope,
    id: MessageId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}
