//! Messages: by id, by number, as sets of numbers.

use crate::{
    Store, StoreError, blob,
    rows::{self, MESSAGE_DOC, columns},
    select::{self, Select},
    sql::Row,
};
use postroom_core::{KeyHash, MessageDoc, MessageRow};
use postroom_types::{IdentityId, MessageId, Reach, TenantScope, ThreadId, Timestamp};
use roaring::RoaringTreemap;
use std::collections::{BTreeMap, HashMap};

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
    let found = Select::new(concat!(
        "SELECT ",
        columns!(message),
        ", doc FROM messages WHERE id = "
    ))
    .value(id.bits())
    .text(" AND ")
    .scope(scope)
    .all(store, with_doc)
    .await?;
    Ok(with_labels(store, scope, found).await?.pop())
}

/// The first of some messages that is there and within reach.
pub async fn message_of_ids(
    store: &Store,
    scope: &TenantScope,
    ids: &[MessageId],
) -> Result<Option<Message>, StoreError> {
    for some in ids.chunks(LIST) {
        let found = Select::new("SELECT id FROM messages WHERE ")
            .scope(scope)
            .text(" AND id IN ")
            .list(some.iter().map(|id| id.bits().into()))
            .all(store, |row| rows::message_id(row, 0))
            .await?;
        if let Some(id) = some.iter().find(|id| found.contains(id)) {
            return message(store, scope, *id).await;
        }
    }
    Ok(None)
}

/// Messages by number, in the order of `nums`; those out of reach are left out.
pub async fn messages_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<Vec<Message>, StoreError> {
    let mut found = Vec::new();
    for nums in nums.chunks(LIST) {
        let part = Select::new(concat!(
            "SELECT ",
            columns!(message),
            ", doc FROM messages WHERE "
        ))
        .scope(scope)
        .text(" AND num IN ")
        .list(nums.iter().map(|num| (*num).into()))
        .all(store, with_doc)
        .await?;
        found.extend(part);
    }
    let found = in_order(nums, found, |(row, _)| row.num);
    with_labels(store, scope, found).await
}

/// The same without words and labels.
pub async fn rows_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<Vec<MessageRow>, StoreError> {
    let mut found = Vec::new();
    for nums in nums.chunks(LIST) {
        let part = Select::new(concat!(
            "SELECT ",
            columns!(message),
            " FROM messages WHERE "
        ))
        .scope(scope)
        .text(" AND num IN ")
        .list(nums.iter().map(|num| (*num).into()))
        .all(store, rows::message)
        .await?;
        found.extend(part);
    }
    Ok(in_order(nums, found, |row| row.num))
}

/// Inbound messages in the order they came (archives left out), oldest first.
pub async fn messages_after(
    store: &Store,
    scope: &TenantScope,
    filter: &WaitFilter,
) -> Result<Vec<Message>, StoreError> {
    let begin = super::event::position_at(store, scope, filter.since).await?;
    let above = filter.above.max(begin.saturating_sub(1));
    let select = Select::new(
        "SELECT feed.num FROM feed JOIN messages \
         ON messages.tenant_id = feed.tenant_id AND messages.num = feed.num \
         WHERE feed.kind = 'message.received' AND ",
    )
    .scope_by(scope, "feed.tenant_id", "feed.identity_id")
    .text(" AND feed.position > ")
    .value(above)
    .filter(
        " AND messages.thread_id = ",
        filter.thread.map(ThreadId::bits),
    );
    let nums = select
        .text(" ORDER BY feed.position LIMIT ")
        .value(select::rows(filter.limit))
        .all(store, |row| rows::unsigned(row, 0))
        .await?;
    messages_of_nums(store, scope, &nums).await
}

/// Numbers of the messages that have a label.
pub async fn nums_with_label(
    store: &Store,
    scope: &TenantScope,
    label: &str,
) -> Result<RoaringTreemap, StoreError> {
    let select = Select::new(NUMS)
        .text("message_labels WHERE label = ")
        .value(label);
    let select = match scope.reach() {
        Reach::Identity(_) => select,
        // The table is ordered by mailbox and label.
        Reach::Tenant => select
            .text(" AND identity_id IN (SELECT id FROM identities WHERE tenant_id = ")
            .value(scope.tenant().bits())
            .text(")"),
    };
    nums(store, select.text(" AND ").scope(scope)).await
}

/// Numbers of the labelled messages, by label.
pub async fn nums_by_label(
    store: &Store,
    scope: &TenantScope,
) -> Result<BTreeMap<String, RoaringTreemap>, StoreError> {
    let all = "SELECT label, string_agg(CAST(num AS TEXT), ',') FROM message_labels WHERE ";
    let rows = Select::new(all)
        .scope(scope)
        .text(" GROUP BY label")
        .scans()
        .all(store, |row| Ok((row.text(0)?, row.text(1)?)))
        .await?;
    rows.into_iter()
        .map(|(label, nums)| Ok((label, set_of(&nums)?)))
        .collect()
}

/// Numbers of the unread messages.
pub async fn nums_unread(store: &Store, scope: &TenantScope) -> Result<RoaringTreemap, StoreError> {
    let select = Select::new(NUMS).text("messages WHERE unread = 1 AND ");
    nums(store, select.scope(scope)).await
}

/// Numbers of the messages of a thread (its id or an alias).
pub async fn nums_in_thread(
    store: &Store,
    scope: &TenantScope,
    thread: ThreadId,
) -> Result<RoaringTreemap, StoreError> {
    let thread = super::thread::own_id(store, scope, thread).await?;
    let select = Select::new(NUMS)
        .text("messages WHERE thread_id = ")
        .value(thread.bits())
        .text(" AND ")
        .scope(scope);
    nums(store, select).await
}

/// Labels by number; numbers without labels are left out.
pub async fn labels_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<HashMap<u64, Vec<String>>, StoreError> {
    let mut out: HashMap<u64, Vec<String>> = HashMap::new();
    for nums in nums.chunks(LIST) {
        let labels = Select::new("SELECT num, label FROM message_labels WHERE ")
            .scope(scope)
            .text(" AND num IN ")
            .list(nums.iter().map(|num| (*num).into()))
            .all(store, |row| Ok((rows::unsigned(row, 0)?, row.text(1)?)))
            .await?;
        for (num, label) in labels {
            out.entry(num).or_default().push(label);
        }
    }
    for labels in out.values_mut() {
        labels.sort_unstable();
    }
    Ok(out)
}

/// Threads by number.
pub async fn thread_ids_of_nums(
    store: &Store,
    scope: &TenantScope,
    nums: &[u64],
) -> Result<HashMap<u64, ThreadId>, StoreError> {
    let mut out = HashMap::new();
    for nums in nums.chunks(LIST) {
        let found = Select::new("SELECT num, thread_id FROM messages WHERE ")
            .scope(scope)
            .text(" AND num IN ")
            .list(nums.iter().map(|num| (*num).into()))
            .all(store, |row| {
                Ok((rows::unsigned(row, 0)?, rows::thread_id(row, 1)?))
            })
            .await?;
        out.extend(found);
    }
    Ok(out)
}

/// The thread that a key leads to in a mailbox.
pub async fn thread_of_key(
    store: &Store,
    scope: &TenantScope,
    identity: IdentityId,
    key: &KeyHash,
) -> Result<Option<ThreadId>, StoreError> {
    if !scope.reaches(identity) {
        return Ok(None);
    }
    Select::new("SELECT thread_id FROM thread_keys WHERE identity_id = ")
        .value(identity.bits())
        .text(" AND hash = ")
        .value(key.as_slice())
        .first(store, |row| rows::thread_id(row, 0))
        .await
}

/// The very bytes of a message; the digest is checked.
pub async fn raw(
    store: &Store,
    scope: &TenantScope,
    id: MessageId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let found = Select::new("SELECT sha256 FROM messages WHERE id = ")
        .value(id.bits())
        .text(" AND ")
        .scope(scope)
        .first(store, |row| rows::array(&row.blob(0)?))
        .await?;
    match found {
        Some(sha256) => super::blob::bytes(store, scope.tenant(), &sha256)
            .await
            .map(Some),
        None => Ok(None),
    }
}

/// Values of one list in a statement.
const LIST: usize = 256;
/// All numbers in one row: many rows would cost far more than the numbers in them.
const NUMS: &str = "SELECT string_agg(CAST(num AS TEXT), ',') FROM ";

async fn nums(store: &Store, select: Select) -> Result<RoaringTreemap, StoreError> {
    let text = select
        .scans()
        .first(store, |row| Ok(row.opt_text(0)?))
        .await?;
    set_of(&text.flatten().unwrap_or_default())
}

fn set_of(nums: &str) -> Result<RoaringTreemap, StoreError> {
    nums.split(',')
        .filter(|num| !num.is_empty())
        .map(|num| {
            num.parse::<u64>()
                .map_err(|_| StoreError::Damaged("a number"))
        })
        .collect()
}

/// A row with its document, from a message's columns and `doc`.
pub(super) fn with_doc(row: &Row) -> Result<(MessageRow, MessageDoc), StoreError> {
    Ok((
        rows::message(row)?,
        blob::unpack_doc(&row.blob(MESSAGE_DOC)?)?,
    ))
}

pub(super) async fn with_labels(
    store: &Store,
    scope: &TenantScope,
    found: Vec<(MessageRow, MessageDoc)>,
) -> Result<Vec<Message>, StoreError> {
    let nums: Vec<u64> = found.iter().map(|(row, _)| row.num).collect();
    let mut labels = labels_of_nums(store, scope, &nums).await?;
    Ok(found
        .into_iter()
        .map(|(row, doc)| Message {
            labels: labels.remove(&row.num).unwrap_or_default(),
            row,
            doc,
        })
        .collect())
}

/// Puts what was found into the order in which it was asked for.
fn in_order<T>(nums: &[u64], found: Vec<T>, num: impl Fn(&T) -> u64) -> Vec<T> {
    let mut by_num: HashMap<u64, T> = found.into_iter().map(|item| (num(&item), item)).collect();
    nums.iter().filter_map(|num| by_num.remove(num)).collect()
}
