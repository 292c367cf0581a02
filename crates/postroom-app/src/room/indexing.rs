//! The worker that keeps the search indexes up with the feed.
//!
//! The index is a projection: it holds the position it has applied inside its own commits, so the
//! worker goes on from there after any end of the process, and an index that is damaged or of an
//! older shape is emptied and filled again. Labels, read state and merged threads are not in the
//! index, so changes of them cost nothing here.

mod docs;
mod handover;

pub(crate) use docs::{attachments, attachments_of, searchable};

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use postroom_search::{SearchError, TenantIndex};
use postroom_store::{FeedPosition, StoreError, Wake, read};
use postroom_types::{MessageId, TenantId, limit::INDEX_COMMIT_DOCS};
use tokio::sync::watch;

use super::Room;
use crate::clock::monotonic;
use handover::Handover;

/// Positions of the feed that one read takes.
const READ_POSITIONS: usize = 1_000;
/// While mail pours in, commits are at least so far apart; a single mail never waits for this.
const COMMIT_PACE: Duration = Duration::from_millis(500);
/// How long a round waits after a failure.
const RETRY: Duration = Duration::from_secs(1);
/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(5);

/// How far the indexes are, as searches and callers see it.
pub(crate) struct Indexing {
    seen: Mutex<HashMap<TenantId, u64>>,
    /// Tenants whose index is to be built anew.
    anew: Mutex<HashSet<TenantId>>,
    /// Where labels of a tenant last changed.
    labelled: Mutex<HashMap<TenantId, u64>>,
    moved: watch::Sender<u64>,
    asked: watch::Sender<u64>,
    /// Documents of messages that were just stored.
    pub(crate) handover: Handover,
}

impl Default for Indexing {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            anew: Mutex::default(),
            labelled: Mutex::default(),
            moved: watch::channel(0).0,
            asked: watch::channel(0).0,
            handover: Handover::default(),
        }
    }
}

impl Indexing {
    /// The feed position up to which a tenant's index is complete.
    pub(crate) fn position(&self, tenant: TenantId) -> u64 {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.get(&tenant).copied().unwrap_or(0)
    }

    /// Waits until a tenant's index is complete up to `position`, at most `patience`; says whether
    /// it is.
    pub(crate) async fn reached(
        &self,
        tenant: TenantId,
        position: FeedPosition,
        patience: Duration,
    ) -> bool {
        // What says nothing to the index need not have been looked at.
        let target = position.indexed;
        if self.position(tenant) >= target {
            return true;
        }
        let mut moved = self.moved.subscribe();
        // The worker sleeps through commits that say nothing to the index, so where it stands may be
        // behind a target that was read from the feed.
        self.asked.send_modify(|asks| *asks += 1);
        let reached = moved.wait_for(|_| self.position(tenant) >= target);
        tokio::time::timeout(patience, reached)
            .await
            .is_ok_and(|reached| reached.is_ok())
    }

    fn set(&self, tenant: TenantId, position: u64) {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tenant, position);
        self.moved.send_modify(|moves| *moves += 1);
    }

    /// What is known of a tenant; `None` before its index was first opened.
    pub(crate) fn known(&self, tenant: TenantId) -> Option<u64> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&tenant)
            .copied()
    }

    /// The position at which a label of the tenant was last seen to change; good up to where the
    /// index is.
    pub(crate) fn labels_changed_at(&self, tenant: TenantId) -> u64 {
        let labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        labelled.get(&tenant).copied().unwrap_or(0)
    }

    fn note_labels(&self, tenant: TenantId, position: u64) {
        let mut labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        let known = labelled.entry(tenant).or_default();
        *known = position.max(*known);
    }

    pub(crate) fn ask_anew(&self, tenant: TenantId) {
        self.anew
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tenant);
        self.asked.send_modify(|asks| *asks += 1);
    }

    fn is_asked_anew(&self, tenant: TenantId) -> bool {
        self.anew
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&tenant)
    }

    fn begun_anew(&self, tenant: TenantId) {
        self.anew
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&tenant);
    }
}

/// How far a rebuild is, in positions of the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReindexProgress {
    /// Applied.
    pub position: u64,
    /// Where the feed stood when the rebuild began.
    pub target: u64,
}

impl Room {
    /// Empties a tenant's index and fills it again from the feed; `progress` is told how far it is.
    /// Searches meanwhile answer from what is there and say so.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say how far the feed is, or the room closes.
    pub async fn reindex(
        &self,
        tenant: TenantId,
        mut progress: impl FnMut(ReindexProgress) + Send,
    ) -> Result<ReindexProgress, StoreError> {
        let target = read::position(&self.store, &self.workers.tenant(tenant)).await?;
        self.indexing.ask_anew(tenant);
        let mut moved = self.indexing.moved.subscribe();
        loop {
            moved.borrow_and_update();
            let asked = self.indexing.is_asked_anew(tenant);
            let position = if asked {
                0
            } else {
                self.indexing.position(tenant)
            };
            let state = ReindexProgress { position, target };
            progress(state);
            if !asked && position >= target {
                return Ok(state);
            }
            tokio::select! {
                () = self.stop.cancelled() => return Err(StoreError::Unavailable),
                changed = moved.changed() => changed.map_err(|_| StoreError::Unavailable)?,
            }
        }
    }

    /// Waits until everything that is in the feed now can be found; says whether it can.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot say how far the feed is.
    pub async fn indexed(&self, tenant: TenantId, patience: Duration) -> Result<bool, StoreError> {
        let position = read::position(&self.store, &self.workers.tenant(tenant)).await?;
        let target = FeedPosition::at(position);
        Ok(self.indexing.reached(tenant, target, patience).await)
    }
}

pub(super) async fn run(room: Arc<Room>) {
    let mut unsettled = HashSet::new();
    let mut wake = room.store.wake(Wake::Index);
    let mut asked = room.indexing.asked.subscribe();
    loop {
        wake.borrow_and_update();
        asked.borrow_and_update();
        let began = monotonic();
        let (pause, busy) = match round(&room, &mut unsettled).await {
            Ok(Round::Idle) => {
                room.indexing.handover.clear();
                (POLL, false)
            }
            Ok(Round::Moved) => (Duration::ZERO, false),
            Ok(Round::Pouring) => (COMMIT_PACE.saturating_sub(began.elapsed()), true),
            // What a closing room takes away under the worker is no fault.
            Err(_) if room.stop.is_cancelled() => return,
            Err(error) => {
                tracing::error!(%error, "the search index could not be kept up; trying again");
                (RETRY, true)
            }
        };
        if busy || pause.is_zero() {
            tokio::select! {
                () = room.stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            continue;
        }
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => settle(&room, &mut unsettled),
            changed = wake.changed() => if changed.is_err() { return },
            changed = asked.changed() => if changed.is_err() { return },
        }
    }
}

/// Puts one index in order that was added to since; the worker does not wait for it.
fn settle(room: &Arc<Room>, unsettled: &mut HashSet<TenantId>) {
    let Some(tenant) = unsettled.iter().next().copied() else {
        return;
    };
    unsettled.remove(&tenant);
    let indexes = room.indexes.clone();
    tokio::task::spawn_blocking(move || {
        match indexes.tenant(tenant).and_then(|index| index.settle()) {
            Ok(settled) => tracing::debug!(%tenant, settled, "a search index was put in order"),
            // It answers as it is, and is tried again when more has come in.
            Err(error) => {
                tracing::info!(%tenant, %error, "a search index could not be put in order");
            }
        }
    });
}

/// What a round over all tenants found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Round {
    /// Nothing new.
    Idle,
    /// A few messages; more may have come meanwhile.
    Moved,
    /// So many that it is better to gather before the next commit.
    Pouring,
}

#[derive(Debug, thiserror::Error)]
enum IndexingError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error("a thread of the index ended early")]
    Ended,
}

/// Messages in one commit from which on mail pours: a commit costs as much as some hundred messages.
const POURING_DOCS: usize = 8;

async fn round(
    room: &Arc<Room>,
    unsettled: &mut HashSet<TenantId>,
) -> Result<Round, IndexingError> {
    let mut found = Round::Idle;
    for (tenant, target) in read::positions(&room.store, &room.workers).await? {
        if room.stop.is_cancelled() {
            return Ok(Round::Idle);
        }
        let anew = room.indexing.is_asked_anew(tenant);
        if !anew
            && room
                .indexing
                .known(tenant)
                .is_some_and(|position| position >= target)
        {
            continue;
        }
        unsettled.insert(tenant);
        found = found.max(follow(room, tenant, anew).await?);
    }
    Ok(found)
}

/// Applies what is next in one tenant's feed, one commit's worth.
async fn follow(room: &Arc<Room>, tenant: TenantId, anew: bool) -> Result<Round, IndexingError> {
    let index = open(room, tenant, anew).await?;
    let scope = room.workers.tenant(tenant);
    let mut position = room.indexing.position(tenant);
    let mut added: Vec<(MessageId, u64)> = Vec::new();
    loop {
        let changes = read::changes(&room.store, &scope, position, READ_POSITIONS).await?;
        let adding = changes.iter().filter(|row| row.kind.adds_message());
        added.extend(adding.filter_map(|row| Some((row.message_id()?, row.num?))));
        let mut labelled = changes.iter().filter(|row| row.kind.changes_labels());
        if let Some(last) = labelled.next_back() {
            room.indexing.note_labels(tenant, last.position);
        }
        let Some(last) = changes.last() else { break };
        position = last.position;
        if changes.len() < READ_POSITIONS || added.len() >= INDEX_COMMIT_DOCS {
            break;
        }
    }
    if added.is_empty() {
        // Nothing for the index itself; its own position follows with the next message.
        let moved = position > room.indexing.position(tenant);
        room.indexing.set(tenant, position);
        return Ok(if moved { Round::Moved } else { Round::Idle });
    }
    let docs = docs::load(room, &scope, &added, READ_POSITIONS).await?;
    let applied = tokio::task::spawn_blocking(move || index.apply(docs, &[], position))
        .await
        .map_err(|_| IndexingError::Ended)?;
    if let Err(SearchError::Rebuild { reason, .. }) = &applied {
        tracing::warn!(%tenant, %reason, "a damaged search index is built anew");
        room.indexing.ask_anew(tenant);
    }
    applied?;
    room.indexing.set(tenant, position);
    Ok(if added.len() >= POURING_DOCS {
        Round::Pouring
    } else {
        Round::Moved
    })
}

/// A tenant's index, emptied when asked or when what is on disk cannot be used.
async fn open(
    room: &Arc<Room>,
    tenant: TenantId,
    anew: bool,
) -> Result<TenantIndex, IndexingError> {
    let indexes = room.indexes.clone();
    let opened = tokio::task::spawn_blocking(move || {
        if anew {
            return indexes.reset(tenant).map(|index| (index, true));
        }
        match indexes.tenant(tenant) {
            Err(SearchError::Rebuild { reason, .. }) => {
                tracing::warn!(%tenant, %reason, "the search index is built anew");
                indexes.reset(tenant).map(|index| (index, true))
            }
            opened => opened.map(|index| (index, false)),
        }
    });
    let (index, emptied) = opened.await.map_err(|_| IndexingError::Ended)??;
    // What is known here may run ahead of the index by positions that hold no message.
    if emptied || room.indexing.known(tenant).is_none() {
        room.indexing.set(tenant, index.position());
    }
    if anew {
        room.indexing.begun_anew(tenant);
    }
    Ok(index)
}
