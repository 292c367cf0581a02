//! All indexes of the process, within the bounds of open writers and readers.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use postroom_types::{
    TenantId,
    limit::{INDEX_READERS, INDEX_WRITERS},
};
use tantivy::IndexWriter;

use crate::{SearchError, TenantIndex, tenant::Entry};

/// The indexes of every tenant under one folder. Clones share them.
#[derive(Clone)]
pub struct Indexes {
    shared: Arc<Shared>,
}

impl fmt::Debug for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexes")
            .field("dir", &self.shared.dir)
            .finish_non_exhaustive()
    }
}

/// What the handles share.
pub(crate) struct Shared {
    dir: PathBuf,
    writers: usize,
    readers: usize,
    pool: Mutex<Pool>,
    /// Held while a folder is made, opened for the first time or thrown away: what one thread makes
    /// there, another must not take for left-overs.
    folders: Mutex<()>,
    /// Signalled when a writer becomes free.
    freed: Condvar,
}

#[derive(Default)]
struct Pool {
    closed: bool,
    /// Counts uses; the least recently used has the smallest.
    clock: u64,
    entries: HashMap<TenantId, Arc<Entry>>,
    writers: HashMap<TenantId, WriterSlot>,
    /// Tenants whose files are open for reading, with their last use.
    readers: HashMap<TenantId, u64>,
}

struct WriterSlot {
    /// The writer while nobody uses it.
    idle: Option<IndexWriter>,
    used: u64,
}

impl Indexes {
    /// Uses `dir`, one folder per tenant in it; made when it is not there. Bounds are those of the
    /// limits table.
    ///
    /// # Errors
    /// [`SearchError::Io`] when the folder cannot be made.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, SearchError> {
        Self::open_bounded(dir, INDEX_WRITERS, INDEX_READERS)
    }

    /// As [`Indexes::open`] with other bounds, each at least one.
    ///
    /// # Errors
    /// [`SearchError::Io`] when the folder cannot be made.
    pub fn open_bounded(
        dir: impl Into<PathBuf>,
        writers: usize,
        readers: usize,
    ) -> Result<Self, SearchError> {
        let dir = dir.into();
        std::fs::create_dir_all(&dir)?;
        let shared = Shared {
            dir,
            writers: writers.max(1),
            readers: readers.max(1),
            pool: Mutex::default(),
            folders: Mutex::default(),
            freed: Condvar::new(),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The index of a tenant, empty at position 0 when it is new. A cheap handle; files are opened
    /// when used and closed when others need the room.
    ///
    /// # Errors
    /// [`SearchError::Rebuild`] when what is on disk cannot be used.
    pub fn tenant(&self, tenant: TenantId) -> Result<TenantIndex, SearchError> {
        if let Some(entry) = self.shared.lock().entry(tenant)? {
            return Ok(TenantIndex::new(Arc::clone(&self.shared), entry));
        }
        let folders = self.shared.lock_folders();
        let known = self.shared.lock().entry(tenant)?;
        let entry = match known {
            // Another thread was faster.
            Some(known) => known,
            None => {
                let entry = Arc::new(Entry::open(tenant, self.shared.folder(tenant))?);
                self.shared
                    .lock()
                    .entries
                    .insert(tenant, Arc::clone(&entry));
                entry
            }
        };
        drop(folders);
        self.shared.note_reader(tenant);
        Ok(TenantIndex::new(Arc::clone(&self.shared), entry))
    }

    /// Throws a tenant's index away and gives an empty one at position 0. Handles taken before stop
    /// working.
    ///
    /// # Errors
    /// [`SearchError::Io`] when the folder cannot be emptied.
    pub fn reset(&self, tenant: TenantId) -> Result<TenantIndex, SearchError> {
        let lease = self.shared.lease(tenant)?;
        let folders = self.shared.lock_folders();
        let known = self.shared.lock().entries.remove(&tenant);
        if let Some(entry) = known {
            entry.retire();
        }
        let folder = self.shared.folder(tenant);
        let remove = |folder: &std::path::Path| match folder.is_dir() {
            true => std::fs::remove_dir_all(folder),
            false => std::fs::remove_file(folder),
        };
        lease.discard(|| match remove(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })?;
        drop(folders);
        self.tenant(tenant)
    }

    /// Closes every writer after its merges, and every reader. Handles stop working.
    pub fn close(&self) {
        let mut pool = self.shared.lock();
        pool.closed = true;
        self.shared.freed.notify_all();
        let busy = |pool: &Pool| pool.writers.values().any(|slot| slot.idle.is_none());
        while busy(&pool) {
            pool = self
                .shared
                .freed
                .wait(pool)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let writers: Vec<IndexWriter> = pool
            .writers
            .drain()
            .filter_map(|(_, slot)| slot.idle)
            .collect();
        let entries: Vec<Arc<Entry>> = pool.entries.drain().map(|(_, entry)| entry).collect();
        pool.readers.clear();
        drop(pool);
        for writer in writers {
            if let Err(error) = writer.wait_merging_threads() {
                tracing::warn!(%error, "a merge of the search index did not finish");
            }
        }
        entries.iter().for_each(|entry| entry.retire());
    }

    /// Writers and readers that are open now.
    #[cfg(test)]
    pub(crate) fn open_counts(&self) -> (usize, usize) {
        let pool = self.shared.lock();
        (pool.writers.len(), pool.readers.len())
    }
}

impl Pool {
    fn entry(&self, tenant: TenantId) -> Result<Option<Arc<Entry>>, SearchError> {
        if self.closed {
            return Err(SearchError::Closed);
        }
        Ok(self.entries.get(&tenant).cloned())
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

impl Shared {
    fn folder(&self, tenant: TenantId) -> PathBuf {
        self.dir.join(tenant.to_string())
    }

    fn lock_folders(&self) -> MutexGuard<'_, ()> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that a tenant's files are open for reading, and closes those of the tenant that read
    /// least recently when there are too many.
    pub(crate) fn note_reader(&self, tenant: TenantId) {
        let mut pool = self.lock();
        let tick = pool.tick();
        pool.readers.insert(tenant, tick);
        let mut closing = Vec::new();
        while pool.readers.len() > self.readers {
            let Some(oldest) = least_recent(pool.readers.iter().map(|(id, used)| (*id, *used)))
            else {
                break;
            };
            pool.readers.remove(&oldest);
            closing.extend(pool.entries.get(&oldest).cloned());
        }
        drop(pool);
        closing.iter().for_each(|entry| entry.close_reader());
    }

    /// Takes the right to write a tenant's index, waiting for it: one writer per tenant, so many in
    /// the process.
    pub(crate) fn lease(self: &Arc<Self>, tenant: TenantId) -> Result<Lease, SearchError> {
        let mut pool = self.lock();
        loop {
            if pool.closed {
                return Err(SearchError::Closed);
            }
            let used = pool.tick();
            if let Some(slot) = pool.writers.get_mut(&tenant) {
                if let Some(writer) = slot.idle.take() {
                    slot.used = used;
                    return Ok(Lease::new(self, tenant, Some(writer)));
                }
            } else {
                if pool.writers.len() < self.writers {
                    pool.writers.insert(tenant, WriterSlot { idle: None, used });
                    return Ok(Lease::new(self, tenant, None));
                }
                let idle = pool.writers.iter().filter(|(_, slot)| slot.idle.is_some());
                if let Some(oldest) = least_recent(idle.map(|(id, slot)| (*id, slot.used))) {
                    // Its slot stays taken until its files are unlocked.
                    let slot = pool.writers.get_mut(&oldest);
                    let writer = slot.and_then(|slot| slot.idle.take());
                    drop(pool);
                    drop(Lease::new(self, oldest, writer));
                    pool = self.lock();
                    continue;
                }
            }
            pool = self
                .freed
                .wait(pool)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn least_recent(used: impl Iterator<Item = (TenantId, u64)>) -> Option<TenantId> {
    used.min_by_key(|(_, used)| *used).map(|(tenant, _)| tenant)
}

/// The right to write one tenant's index. Dropping it without giving the writer back closes the
/// writer.
pub(crate) struct Lease {
    shared: Arc<Shared>,
    tenant: TenantId,
    writer: Option<IndexWriter>,
    keep: bool,
}

impl Lease {
    fn new(shared: &Arc<Shared>, tenant: TenantId, writer: Option<IndexWriter>) -> Self {
        Self {
            shared: Arc::clone(shared),
            tenant,
            writer,
            keep: false,
        }
    }

    /// The writer, opened when it is not open yet.
    pub(crate) fn writer(
        &mut self,
        open: impl FnOnce() -> Result<IndexWriter, SearchError>,
    ) -> Result<&mut IndexWriter, SearchError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => open()?,
        };
        Ok(self.writer.insert(writer))
    }

    /// Keeps the writer open for the next use.
    pub(crate) fn keep(mut self) {
        self.keep = true;
    }

    /// Closes the writer and does something before anybody else may write.
    fn discard<T, E>(mut self, then: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.writer = None;
        then()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A writer that is not kept is closed before anybody may open another.
        let idle = self.writer.take().filter(|_| self.keep);
        let mut pool = self.shared.lock();
        if idle.is_some() {
            if let Some(slot) = pool.writers.get_mut(&self.tenant) {
                slot.idle = idle;
            }
        } else {
            pool.writers.remove(&self.tenant);
        }
        drop(pool);
        self.shared.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_writers_and_readers_stay_open_than_allowed() {
        let dir = tempfile::tempdir().expect("folder");
        let indexes = Indexes::open_bounded(dir.path(), 2, 3).expect("indexes");
        for number in 0..6 {
            let index = indexes
                .tenant(TenantId::from_parts(1, number))
                .expect("index");
            index.apply(Vec::new(), &[9], 1).expect("applied");
            assert_eq!(index.message_count().expect("count"), 0);
            let (writers, readers) = indexes.open_counts();
            assert!(writers <= 2 && readers <= 3);
        }
        assert_eq!(indexes.open_counts(), (2, 3));
    }
}
