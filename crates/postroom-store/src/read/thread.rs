//! Threads.

use crate::{
    Store, StoreError,
    read::Message,
    rows::{self, columns},
    select::{self, Select},
};
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
    let mut select = Select::new(concat!("SELECT ", columns!(thread), " FROM threads WHERE "))
        .scope(scope)
        .text(" AND archived = ")
        .value(filter.archived);
    if let Some(label) = &filter.label {
        select = select
            .text(" AND id IN (SELECT thread_id FROM message_labels WHERE label = ")
            .value(label.as_str())
            .text(" AND ")
            .scope(scope)
            .text(")");
    }
    select = match filter.unread {
        Some(true) => select.text(" AND unread_count > 0"),
        Some(false) => select.text(" AND unread_count = 0"),
        None => select,
    };
    select = select
        .filter(
            " AND last_direction = ",
            filter.direction.map(|direction| direction.as_str()),
        )
        .filter(" AND last_at >= ", filter.after.map(Timestamp::ms))
        .filter(" AND last_at < ", filter.before.map(Timestamp::ms));
    if let Some((at, id)) = filter.below {
        select = select
            .text(" AND (last_at, id) < (")
            .value(at.ms())
            .text(", ")
            .value(id.bits())
            .text(")");
    }
    let found = select
        .text(" ORDER BY last_at DESC, id DESC LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, rows::thread)
        .await?;
    with_labels(store, scope, found).await
}

/// One thread, by its id or an alias.
pub async fn thread(
    store: &Store,
    scope: &TenantScope,
    id: ThreadId,
) -> Result<Option<Thread>, StoreError> {
    let id = own_id(store, scope, id).await?;
    Ok(threads_of_ids(store, scope, &[id]).await?.pop())
}

/// Several threads by their own ids (no aliases), in no order.
pub async fn threads_of_ids(
    store: &Store,
    scope: &TenantScope,
    ids: &[ThreadId],
) -> Result<Vec<Thread>, StoreError> {
    let mut out = Vec::new();
    for ids in ids.chunks(LIST) {
        let found = Select::new(concat!("SELECT ", columns!(thread), " FROM threads WHERE "))
            .scope(scope)
            .text(" AND id IN ")
            .list(ids.iter().map(|id| id.bits().into()))
            .all(store, rows::thread)
            .await?;
        out.extend(with_labels(store, scope, found).await?);
    }
    Ok(out)
}

/// Messages of a thread (its own id), oldest first, after a place (`sort_at` and number).
pub async fn thread_messages(
    store: &Store,
    scope: &TenantScope,
    thread: ThreadId,
    after: Option<(Timestamp, u64)>,
    limit: usize,
) -> Result<Vec<Message>, StoreError> {
    let mut select = Select::new(concat!(
        "SELECT ",
        columns!(message),
        ", doc FROM messages WHERE "
    ))
    .scope(scope)
    .text(" AND thread_id = ")
    .value(thread.bits());
    if let Some((at, num)) = after {
        select = select
            .text(" AND (sort_at, num) > (")
            .value(at.ms())
            .text(", ")
            .value(num)
            .text(")");
    }
    let found = select
        .text(" ORDER BY sort_at, num LIMIT ")
        .value(select::rows(limit))
        .all(store, super::message::with_doc)
        .await?;
    super::message::with_labels(store, scope, found).await
}

/// Values of one list in a statement.
const LIST: usize = 256;

/// A thread's own id, given that id or an alias.
pub(super) async fn own_id(
    store: &Store,
    scope: &TenantScope,
    id: ThreadId,
) -> Result<ThreadId, StoreError> {
    let alias = Select::new("SELECT thread_id FROM thread_aliases WHERE alias = ")
        .value(id.bits())
        .text(" AND ")
        .scope(scope)
        .first(store, |row| rows::thread_id(row, 0))
        .await?;
    Ok(alias.unwrap_or(id))
}

async fn with_labels(
    store: &Store,
    scope: &TenantScope,
    found: Vec<ThreadRow>,
) -> Result<Vec<Thread>, StoreError> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids = found.iter().map(|row| row.id.bits().into());
    let labels = Select::new("SELECT DISTINCT thread_id, label FROM message_labels WHERE ")
        .scope(scope)
        .text(" AND thread_id IN ")
        .list(ids)
        .all(store, |row| Ok((rows::thread_id(row, 0)?, row.text(1)?)))
        .await?;
    let mut threads: Vec<Thread> = found
        .into_iter()
        .map(|row| Thread {
            row,
            labels: Vec::new(),
        })
        .collect();
    for thread in &mut threads {
        let own = labels.iter().filter(|(id, _)| *id == thread.row.id);
        thread.labels = own.map(|(_, label)| label.clone()).collect();
        thread.labels.sort_unstable();
    }
    Ok(threads)
}
