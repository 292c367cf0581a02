//! The index of one tenant.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use postroom_types::TenantId;
use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, SegmentMeta,
    TantivyError, index::SegmentId, indexer::IndexWriterOptions, merge_policy::LogMergePolicy,
    store::Compressor, tokenizer::TextAnalyzer,
};

use crate::{
    Doc, Ranked, RebuildReason, Related, RelatedRequest, SearchError, SearchRequest,
    analysis::{MailTokenizer, TOKENIZER},
    columns::{ColumnQuery, Test},
    indexes::Shared,
    kept_terms::KeptTerms,
    rank::{Corpus, TOO_WIDE},
    related, schema,
    schema::{Fields, SHAPE},
    search,
    senders::Senders,
};

/// Bytes of terms that a writer gathers before it makes a segment of them.
const WRITER_BYTES: usize = 50_000_000;

/// Segments with fewer documents than this count as equally small when merges are chosen.
const MERGE_FLOOR_DOCS: u32 = 300;

/// Segments of an index at rest. A search reads the dictionary of each.
const SETTLED_SEGMENTS: usize = 8;

/// A handle on the index of one tenant. Clones share it. Its methods block.
#[derive(Clone)]
pub struct TenantIndex {
    shared: Arc<Shared>,
    entry: Arc<Entry>,
}

impl fmt::Debug for TenantIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantIndex")
            .field("tenant", &self.entry.tenant)
            .field("position", &self.position())
            .finish_non_exhaustive()
    }
}

/// What all handles on one index share.
pub(crate) struct Entry {
    tenant: TenantId,
    folder: PathBuf,
    fields: Fields,
    position: AtomicU64,
    retired: AtomicBool,
    /// The files, while they are open for reading.
    open: Mutex<Option<Open>>,
}

#[derive(Clone)]
struct Open {
    index: Index,
    reader: IndexReader,
    snapshot: Snapshot,
}

/// One state of the index, and what ranking knows of it.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    pub(crate) senders: Arc<Senders>,
    pub(crate) kept_terms: Arc<KeptTerms>,
    corpus: Arc<OnceLock<Arc<Corpus>>>,
}

impl Snapshot {
    fn of(searcher: Searcher, fields: Fields) -> Self {
        Self {
            searcher,
            fields,
            senders: Arc::default(),
            kept_terms: Arc::default(),
            corpus: Arc::default(),
        }
    }

    /// A later state, which keeps what was read of the segments that are still there.
    fn then(&self, searcher: Searcher) -> Self {
        self.senders.keep_only(&searcher);
        self.kept_terms.keep_only(&searcher);
        Self {
            searcher,
            corpus: Arc::default(),
            ..self.clone()
        }
    }

    /// Sizes and lengths over the whole index, gathered at the first search of a snapshot.
    pub(crate) fn corpus(&self) -> tantivy::Result<Arc<Corpus>> {
        if let Some(known) = self.corpus.get() {
            return Ok(Arc::clone(known));
        }
        let corpus = Arc::new(Corpus::of(&self.searcher, &self.fields)?);
        Ok(Arc::clone(self.corpus.get_or_init(|| corpus)))
    }
}

/// What each commit carries.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Payload {
    shape: u32,
    /// The feed position that the index has applied.
    position: u64,
    /// The largest message number in it: a larger one needs no look for an older copy.
    max_num: u64,
}

impl Entry {
    /// Opens a tenant's folder, or makes an empty index in it.
    pub(crate) fn open(tenant: TenantId, folder: PathBuf) -> Result<Self, SearchError> {
        let (open, fields, payload) = open_folder(&folder)?;
        Ok(Self {
            tenant,
            folder,
            fields,
            position: AtomicU64::new(payload.position),
            retired: AtomicBool::new(false),
            open: Mutex::new(Some(open)),
        })
    }

    fn files(&self) -> Result<Open, SearchError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.retired.load(Ordering::Acquire) {
            return Err(SearchError::Closed);
        }
        if let Some(open) = open.as_ref() {
            return Ok(open.clone());
        }
        let (opened, _, _) = open_folder(&self.folder)?;
        Ok(open.insert(opened).clone())
    }

    /// Closes the files; running searches keep theirs until they end.
    pub(crate) fn close_reader(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Closes the files for good.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        self.close_reader();
    }

    /// Makes the last commit visible.
    fn reload(&self) -> Result<(), SearchError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = open.as_mut() {
            open.reader.reload().map_err(|e| self.failed(e))?;
            open.snapshot = open.snapshot.then(open.reader.searcher());
        }
        Ok(())
    }

    fn failed(&self, error: TantivyError) -> SearchError {
        failure(&self.folder, error)
    }
}

impl TenantIndex {
    pub(crate) fn new(shared: Arc<Shared>, entry: Arc<Entry>) -> Self {
        Self { shared, entry }
    }

    /// Adds (or replaces, by number) documents, removes others, and commits with the feed position
    /// that this reaches. The commit is on disk and visible to searches when this returns. Waits
    /// while other tenants use the writers.
    ///
    /// Applying the same changes again changes nothing, so a feed may be replayed from
    /// [`TenantIndex::position`]. With nothing to add or remove only the position moves, and reaches
    /// the disk with the next commit.
    ///
    /// # Errors
    /// [`SearchError::Engine`] when nothing of it was committed.
    pub fn apply(&self, docs: Vec<Doc>, deletes: &[u64], position: u64) -> Result<(), SearchError> {
        if docs.is_empty() && deletes.is_empty() {
            self.entry.position.fetch_max(position, Ordering::AcqRel);
            return Ok(());
        }
        let mut lease = self.shared.lease(self.entry.tenant)?;
        // Looked at under the lease: a reset needs it too.
        if self.entry.retired.load(Ordering::Acquire) {
            lease.keep();
            return Err(SearchError::Closed);
        }
        let writer = lease.writer(|| {
            let open = self.entry.files()?;
            open_writer(&open.index).map_err(|e| self.entry.failed(e))
        })?;
        // On an error the lease closes the writer, and with it goes all that was not committed.
        write(writer, &self.entry.fields, docs, deletes, position)
            .map_err(|e| self.entry.failed(e))?;
        lease.keep();
        self.entry.position.fetch_max(position, Ordering::AcqRel);
        self.entry.reload()
    }

    /// Makes few segments of many, for an index that nothing is added to at the moment. One that
    /// holds most of the messages already is left alone, so that what little comes behind it costs
    /// little. Says whether there was anything to do.
    ///
    /// # Errors
    /// [`SearchError::Engine`] when the segments stay as they are.
    pub fn settle(&self) -> Result<bool, SearchError> {
        if scattered(&self.entry.files()?.index)
            .map_err(|e| self.entry.failed(e))?
            .is_empty()
        {
            return Ok(false);
        }
        let mut lease = self.shared.lease(self.entry.tenant)?;
        if self.entry.retired.load(Ordering::Acquire) {
            lease.keep();
            return Err(SearchError::Closed);
        }
        let writer = lease.writer(|| {
            let open = self.entry.files()?;
            open_writer(&open.index).map_err(|e| self.entry.failed(e))
        })?;
        // The engine may have merged some meanwhile.
        let segments = scattered(writer.index()).map_err(|e| self.entry.failed(e))?;
        let merging = match segments.as_slice() {
            [] | [_] => None,
            segments => Some(writer.merge(segments)),
        };
        // Whoever adds to the index meanwhile need not wait for this.
        lease.keep();
        if let Some(merging) = merging {
            merging.wait().map_err(|e| self.entry.failed(e))?;
        }
        self.entry.reload()?;
        Ok(true)
    }

    /// The feed position that searches see.
    pub fn position(&self) -> u64 {
        self.entry.position.load(Ordering::Acquire)
    }

    /// Messages in the index.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be opened.
    pub fn message_count(&self) -> Result<u64, SearchError> {
        Ok(self.snapshot()?.searcher.num_docs())
    }

    /// Finds and ranks.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be read.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<Ranked, SearchError> {
        let snapshot = self.snapshot()?;
        self.guarded(|| search::search(&snapshot, request))
    }

    /// Finds messages like one: any of its distinctive words, outside `exclude`.
    ///
    /// # Errors
    /// [`SearchError`] when the files cannot be read.
    pub fn related(&self, request: &RelatedRequest<'_>) -> Result<Related, SearchError> {
        let snapshot = self.snapshot()?;
        self.guarded(|| related::related(&snapshot, request))
    }

    /// Reads every file of the index and compares checksums.
    ///
    /// # Errors
    /// [`SearchError::Rebuild`] when one is damaged.
    pub fn verify(&self) -> Result<(), SearchError> {
        let open = self.entry.files()?;
        let damaged = open
            .index
            .validate_checksum()
            .map_err(|e| self.entry.failed(e))?;
        match damaged.iter().next() {
            None => Ok(()),
            Some(file) => Err(SearchError::Rebuild {
                path: self.entry.folder.clone(),
                reason: RebuildReason::Damaged(format!("checksum of {}", file.display())),
            }),
        }
    }

    /// Reads behind a guard: at some damage that it did not see when it opened the files the engine
    /// panics, and some it takes for a fault of the disk. The checksums tell.
    fn guarded<T>(&self, read: impl FnOnce() -> tantivy::Result<T>) -> Result<T, SearchError> {
        let reading = std::panic::AssertUnwindSafe(read);
        let failed = match std::panic::catch_unwind(reading) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => match self.entry.failed(error) {
                failed @ SearchError::Engine(_) => failed,
                other => return Err(other),
            },
            Err(_) => SearchError::Engine("it gave up".to_owned()),
        };
        let verify = std::panic::AssertUnwindSafe(|| self.verify());
        match std::panic::catch_unwind(verify) {
            Ok(Ok(())) => Err(failed),
            Ok(Err(damaged)) => Err(damaged),
            Err(_) => Err(SearchError::Rebuild {
                path: self.entry.folder.clone(),
                reason: RebuildReason::Damaged("the engine cannot read it".to_owned()),
            }),
        }
    }

    fn snapshot(&self) -> Result<Snapshot, SearchError> {
        let open = self.entry.files()?;
        self.shared.note_reader(self.entry.tenant);
        Ok(open.snapshot)
    }
}

/// The segments that would better be one; none when there are few.
fn scattered(index: &Index) -> tantivy::Result<Vec<SegmentId>> {
    let segments = index.searchable_segment_metas()?;
    if segments.len() <= SETTLED_SEGMENTS {
        return Ok(Vec::new());
    }
    let docs: u64 = segments.iter().map(|it| u64::from(it.num_docs())).sum();
    Ok(segments
        .iter()
        .filter(|segment| 2 * u64::from(segment.num_docs()) < docs)
        .map(SegmentMeta::id)
        .collect())
}

/// Puts changes into a writer and commits them.
fn write(
    writer: &mut IndexWriter,
    fields: &Fields,
    docs: Vec<Doc>,
    deletes: &[u64],
    position: u64,
) -> tantivy::Result<()> {
    let last = payload_of(writer.index())?.unwrap_or_default();
    // The last of several copies of one message counts.
    let latest: HashMap<u64, usize> = docs.iter().map(|doc| doc.num).zip(0..).collect();
    let mut gone: RoaringTreemap = deletes.iter().copied().collect();
    gone.extend(docs.iter().map(|doc| doc.num));
    gone.remove_range(last.max_num.saturating_add(1)..=u64::MAX);
    if !gone.is_empty() {
        writer.delete_query(Box::new(ColumnQuery(Test::NumIn(Arc::new(gone)))))?;
    }
    let deleted: RoaringTreemap = deletes.iter().copied().collect();
    let mut max_num = last.max_num;
    for (place, doc) in docs.iter().enumerate() {
        if latest.get(&doc.num) == Some(&place) && !deleted.contains(doc.num) {
            max_num = max_num.max(doc.num);
            writer.add_document(schema::document(fields, doc))?;
        }
    }
    let payload = Payload {
        shape: SHAPE,
        position: position.max(last.position),
        max_num,
    };
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&serde_json::to_string(&payload).unwrap_or_default());
    commit.commit()?;
    Ok(())
}

fn open_writer(index: &Index) -> tantivy::Result<IndexWriter> {
    // One thread: documents keep the order of the feed, and memory one budget.
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .num_merge_threads(1)
        .memory_budget_per_thread(WRITER_BYTES)
        .build();
    let writer = index.writer_with_options(options)?;
    let mut policy = LogMergePolicy::default();
    // Commits of an import are merged eight at a time, and the merged ones not again with the next.
    policy.set_min_layer_size(MERGE_FLOOR_DOCS);
    policy.set_del_docs_ratio_before_merge(0.3);
    writer.set_merge_policy(Box::new(policy));
    Ok(writer)
}

/// Opens an index, or makes an empty one where there is none. The engine takes some damage for a
/// fault of its own and panics; that is damage all the same.
fn open_folder(folder: &Path) -> Result<(Open, Fields, Payload), SearchError> {
    let opening = std::panic::AssertUnwindSafe(|| open_files(folder));
    std::panic::catch_unwind(opening).unwrap_or_else(|_| {
        Err(SearchError::Rebuild {
            path: folder.to_owned(),
            reason: RebuildReason::Damaged("the engine cannot read it".to_owned()),
        })
    })
}

/// Bytes that every file of a segment ends with: the length of its footer and a mark.
const FOOTER_BYTES: u64 = 8;

/// A file of the last commit that is too short to be one.
fn short_file(index: &Index, folder: &Path) -> tantivy::Result<Option<String>> {
    let segments = index.searchable_segment_metas()?;
    let ids: Vec<String> = segments
        .iter()
        .map(|segment| segment.id().uuid_string())
        .collect();
    let short = |file: &std::fs::DirEntry| {
        let name = file.file_name().to_string_lossy().into_owned();
        let committed = ids.iter().any(|id| name.starts_with(id));
        let bytes = file.metadata().map_or(FOOTER_BYTES, |meta| meta.len());
        (committed && bytes < FOOTER_BYTES).then_some(name)
    };
    Ok(std::fs::read_dir(folder)?
        .flatten()
        .find_map(|file| short(&file)))
}

fn open_files(folder: &Path) -> Result<(Open, Fields, Payload), SearchError> {
    let (schema, fields) = schema::schema();
    let rebuild = |reason| SearchError::Rebuild {
        path: folder.to_owned(),
        reason,
    };
    let failed = |error| failure(folder, error);
    if folder.exists() && !folder.is_dir() {
        return Err(rebuild(RebuildReason::Damaged(
            "it is no folder".to_owned(),
        )));
    }
    let index = if folder.join("meta.json").exists() {
        let index = Index::open_in_dir(folder).map_err(failed)?;
        if index.schema() != schema {
            return Err(rebuild(RebuildReason::OtherShape));
        }
        if let Some(file) = short_file(&index, folder).map_err(failed)? {
            let what = format!("{file} is cut short");
            return Err(rebuild(RebuildReason::Damaged(what)));
        }
        index
    } else {
        // Whatever else lies there was never committed.
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        Index::builder()
            .schema(schema)
            .settings(IndexSettings {
                docstore_compression: Compressor::None,
                docstore_compress_dedicated_thread: false,
                ..IndexSettings::default()
            })
            .create_in_dir(folder)
            .map_err(failed)?
    };
    index
        .tokenizers()
        .register(TOKENIZER, TextAnalyzer::from(MailTokenizer::default()));
    let payload = payload_of(&index).map_err(failed)?.unwrap_or(Payload {
        shape: SHAPE,
        ..Payload::default()
    });
    if payload.shape != SHAPE {
        return Err(rebuild(RebuildReason::OtherShape));
    }
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .map_err(failed)?;
    let snapshot = Snapshot::of(reader.searcher(), fields);
    let open = Open {
        index,
        reader,
        snapshot,
    };
    Ok((open, fields, payload))
}

/// What the last commit carries; `None` before the first.
fn payload_of(index: &Index) -> tantivy::Result<Option<Payload>> {
    match index.load_metas()?.payload {
        None => Ok(None),
        Some(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| TantivyError::SchemaError(format!("unreadable commit payload: {e}"))),
    }
}

/// Sorts the engine's errors: those that only a rebuild helps against, and the others.
fn failure(folder: &Path, error: TantivyError) -> SearchError {
    let rebuild = |reason| SearchError::Rebuild {
        path: folder.to_owned(),
        reason,
    };
    match error {
        TantivyError::DataCorruption(_)
        | TantivyError::OpenReadError(_)
        | TantivyError::OpenDirectoryError(_) => rebuild(RebuildReason::Damaged(error.to_string())),
        TantivyError::IncompatibleIndex(_) | TantivyError::SchemaError(_) => {
            rebuild(RebuildReason::OtherShape)
        }
        TantivyError::InvalidArgument(said) if said == TOO_WIDE => SearchError::TooWide,
        other => SearchError::Engine(other.to_string()),
    }
}
