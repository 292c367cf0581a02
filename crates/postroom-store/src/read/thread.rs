//! Threads.

use crate::{Store, StoreError, read::Message};
use postroom_core::{Direction, ThreadRow};
use postroom_types::{TenantScope, ThreadId, Timestamp};

/// A thread with its labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The thread.
    pub row: ThreadRow,
    /// Union of its messages' labels, sorted.
    pub labels: Vec<String>,
}

/// Which threads to list; latest first.
#[derive(Debug, Clone, Default)]
pub struct ThreadFilter {
    /// Only with a message that has this label.
    pub label: Option<String>,
    /// Only with (or without) unread messages.
    pub unread: Option<bool>,
    /// Only whose latest message went this way.
    pub direction: Option<Direction>,
    /// Only whose latest message is at or after.
    pub after: Option<Timestamp>,
    /// Only whose latest message is before.
    pub before: Option<Timestamp>,
    /// Those put away, or the others.
    pub archived: bool,
    /// Only those below this place: `last_at` and id of the last row of the page before.
    pub below: Option<(Timestamp, ThreadId)>,
    /// At most so many.
    pub limit: usize,
}

/// Threads, latest first.
pub async fn threads(
    store: &Store,
    scope: &TenantScope,
    filter: &ThreadFilter,
) -> Result<Vec<Thread>, StoreError> {
    let _ = (store, scope, filter);
    Err(StoreError::Unavailable)
}

/// One thread, by its id or an alias.
pub async fn thread(
    store: &Store,
    scope: &TenantScope,
    id: ThreadId,
) -> Result<Option<Thread>, StoreError> {
    let _ = (store, scope, id);
    Err(StoreError::Unavailable)
}

/// Several threads by their own ids (no aliases), in no order.
pub async fn threads_of_ids(
    store: &Store,
    scope: &TenantScope,
    ids: &[ThreadId],
) -> Result<Vec<Thread>, StoreError> {
    let _ = (store, scope, ids);
    Err(StoreError::Unavailable)
}

/// Messages of a thread (its own id), oldest first, after a place (`sort_at` and number).
pub async fn thread_messages(
    store: &Store,
    scope: &TenantScope,
    thread: ThreadId,
    after: Option<(Timestamp, u64)>,
    limit: usize,
) -> Result<Vec<Message>, StoreError> {
    let _ = (store, scope, thread, after, limit);
    Err(StoreError::Unavailable)
}
