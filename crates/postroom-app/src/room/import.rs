//! Taking in an archive: files and folders become messages of one mailbox.
//!
//! [`walk`] reads mails one at a time, [`run`] hashes and reads them on every core and hands them
//! to the store in batches. What a mailbox has already is skipped by digest before it is parsed, so
//! an import that was stopped goes on where it was when it is repeated.

mod mbox;
mod walk;

pub use walk::{Extent, FailureReason, ItemFailure, RawItem, Walk, measure, walk};

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use postroom_core::{
    Command, CreateIdentity, Draft, Import, ImportOutcome, NewAddress, Outcome, RawMail, Recipient,
    RecordImportFailure, Refusal, Sha256Bytes,
};
use postroom_search::Doc;
use postroom_store::{StoreError, read};
use postroom_types::{
    Address, IdentityId, Reach, TenantId, TenantScope, Timestamp,
    limit::{IMPORT_BATCH_MAILS, IMPORT_KEPT_BYTES},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    Room,
    indexing::{attachments_of, searchable},
};

/// Bytes of one batch, unless one mail is larger.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Batches that the store works on at once, so that it never waits for the parser.
const BATCHES_IN_STORE: usize = 3;

/// How to import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The tenant.
    pub tenant: TenantId,
    /// The mailbox.
    pub identity: IdentityId,
    /// Stops the import after the batches that are on their way.
    pub cancel: CancellationToken,
}

/// What became of the mails; `read` is always the sum of the other three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct ImportCounts {
    /// Mails and unreadable files that were looked at.
    pub read: u64,
    /// New in the mailbox.
    pub stored: u64,
    /// In the mailbox already, byte for byte.
    pub duplicate: u64,
    /// Not taken in; kept and listed.
    pub failed: u64,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportProgress {
    /// The mails.
    pub counts: ImportCounts,
    /// What was read of the source; see [`measure`] for how much there is.
    pub done: Extent,
    /// Files of folders that hold no mail and were passed over.
    pub skipped: u64,
}

/// How an import ended.
#[derive(Debug, Default)]
pub struct ImportReport {
    /// The mails.
    pub counts: ImportCounts,
    /// Files of folders that hold no mail and were passed over.
    pub skipped: u64,
    /// The first failures, at most 100; all are listed in the store.
    pub failures: Vec<ItemFailure>,
    /// Why it ended early: the store could not go on. Repeating the import goes on from here.
    pub stopped: Option<StoreError>,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Whether all of it can be found; if not, the index goes on with it.
    pub searchable: bool,
}

/// How long the end of an import waits for the index; it is seconds behind at most.
const INDEX_PATIENCE: Duration = Duration::from_secs(600);
/// Failures that a report names.
const FAILURES_NAMED: usize = 100;

impl Room {
    /// The mailbox that has `address`, made when there is none.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the address is taken elsewhere or cannot be one.
    pub async fn mailbox(
        &self,
        tenant: TenantId,
        address: &Address,
    ) -> Result<IdentityId, StoreError> {
        let scope = TenantScope::granted(tenant, Reach::Tenant);
        if let Some(identity) = read::identity_by_address(&self.store, &scope, address).await? {
            return Ok(identity.row.id);
        }
        let create = CreateIdentity {
            tenant,
            address: NewAddress::Address(address.clone()),
            display_name: String::new(),
            purpose: None,
            owner: None,
            metadata: std::collections::BTreeMap::new(),
            client_id: None,
        };
        match self.store.transact(Command::CreateIdentity(create)).await? {
            Outcome::Identity { row, .. } => Ok(row.id),
            _ => Err(StoreError::Damaged("a created identity has no row")),
        }
    }
}

/// Imports everything under `paths`; `progress` is told after each batch.
///
/// Never fails as a whole: what could not be taken in is counted and listed, and a store that
/// cannot go on ends the import with [`ImportReport::stopped`].
pub async fn run(
    room: &Arc<Room>,
    paths: Vec<PathBuf>,
    options: ImportOptions,
    mut progress: impl FnMut(&ImportProgress) + Send,
) -> ImportReport {
    let lanes = std::thread::available_parallelism().map_or(2, usize::from);
    let (sender, receiver) = mpsc::channel(lanes);
    let stop = options.cancel.child_token();
    let reading = stop.clone();
    let reader = tokio::task::spawn_blocking(move || read_batches(walk(paths), &sender, &reading));
    let read_ahead = stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|batch| (batch, receiver))
    });
    let settled = read_ahead
        .map(|batch| prepare(room, &options, batch))
        .buffered(lanes)
        .map(|prepared| settle(room, &options, prepared))
        .buffered(BATCHES_IN_STORE);
    let mut settled = std::pin::pin!(settled);
    let mut report = ImportReport::default();
    let mut state = ImportProgress::default();
    while let Some(batch) = settled.next().await {
        state.done = batch.done;
        state.skipped = batch.skipped;
        report.take(batch);
        if report.stopped.is_some() {
            stop.cancel();
        }
        state.counts = report.counts;
        progress(&state);
    }
    if let Ok((done, skipped)) = reader.await {
        report.skipped = skipped;
        progress(&ImportProgress {
            counts: report.counts,
            done,
            skipped,
        });
    }
    report.searchable = report.stopped.is_none() && searchable_soon(room, &options).await;
    report.cancelled = options.cancel.is_cancelled();
    report
}

/// Waits until the index has what was stored, unless the import is cancelled meanwhile.
async fn searchable_soon(room: &Room, options: &ImportOptions) -> bool {
    tokio::select! {
        biased;
        () = options.cancel.cancelled() => false,
        indexed = room.indexed(options.tenant, INDEX_PATIENCE) => indexed.unwrap_or(false),
    }
}

impl ImportReport {
    fn take(&mut self, batch: Settled) {
        let failed = batch.failures.len() as u64;
        self.counts.read += batch.stored + batch.duplicate + failed;
        self.counts.stored += batch.stored;
        self.counts.duplicate += batch.duplicate;
        self.counts.failed += failed;
        let room = FAILURES_NAMED.saturating_sub(self.failures.len());
        self.failures.extend(batch.failures.into_iter().take(room));
        self.stopped = self.stopped.take().or(batch.stopped);
    }
}

/// Where an item was read.
#[derive(Clone)]
struct Origin {
    path: PathBuf,
    offset: Option<u64>,
}

struct Hashed {
    origin: Origin,
    raw: RawMail,
    read: bool,
    file_time: Option<Timestamp>,
}

struct Batch {
    mails: Vec<Hashed>,
    failures: Vec<ItemFailure>,
    done: Extent,
    skipped: u64,
}

/// Reads the source to its end, in batches; gives how much was read.
fn read_batches(
    mut walk: Walk,
    sender: &mpsc::Sender<Batch>,
    stop: &CancellationToken,
) -> (Extent, u64) {
    let mut bytes = 0;
    let mut mails = Vec::new();
    let mut failures = Vec::new();
    while !stop.is_cancelled() {
        let item = walk.next();
        let ended = item.is_none();
        match item {
            Some(Ok(item)) => {
                bytes += item.raw.len();
                mails.push(Hashed {
                    origin: Origin {
                        path: item.path,
                        offset: item.offset,
                    },
                    raw: RawMail::new(item.raw),
                    read: item.read,
                    file_time: item.file_time,
                });
            }
            Some(Err(failure)) => failures.push(failure),
            None => {}
        }
        let full = mails.len() + failures.len() >= IMPORT_BATCH_MAILS || bytes >= BATCH_BYTES;
        if full || (ended && !(mails.is_empty() && failures.is_empty())) {
            bytes = 0;
            let batch = Batch {
                mails: std::mem::take(&mut mails),
                failures: std::mem::take(&mut failures),
                done: walk.done(),
                skipped: walk.skipped(),
            };
            if sender.blocking_send(batch).is_err() {
                break;
            }
        }
        if ended {
            break;
        }
    }
    (walk.done(), walk.skipped())
}

struct Prepared {
    /// Where each command's mail was read.
    origins: Vec<Origin>,
    /// What the index takes of each command's mail.
    docs: Vec<Doc>,
    commands: Vec<Command>,
    known: u64,
    failures: Vec<ItemFailure>,
    done: Extent,
    skipped: u64,
}

/// Drops what the mailbox has, and reads the rest on a thread that may block.
async fn prepare(room: &Room, options: &ImportOptions, batch: Batch) -> Prepared {
    let scope = TenantScope::granted(options.tenant, Reach::Identity(options.identity));
    let digests: Vec<Sha256Bytes> = batch.mails.iter().map(|mail| mail.raw.sha256).collect();
    // Only a saving: the store tells duplicates itself.
    let known = read::known_digests(&room.store, &scope, options.identity, &digests)
        .await
        .unwrap_or_default();
    let mut mails = batch.mails;
    let read = mails.len();
    mails.retain(|mail| !known.contains(&mail.raw.sha256));
    let mut prepared = Prepared {
        origins: mails.iter().map(|mail| mail.origin.clone()).collect(),
        docs: Vec::new(),
        commands: Vec::new(),
        known: (read - mails.len()) as u64,
        failures: batch.failures,
        done: batch.done,
        skipped: batch.skipped,
    };
    let recipient = Recipient {
        tenant: options.tenant,
        identity: options.identity,
        delivered_to: None,
    };
    match tokio::task::spawn_blocking(move || parse(mails, &recipient)).await {
        Ok((commands, docs)) => {
            prepared.commands = commands;
            prepared.docs = docs;
        }
        Err(_) => {
            // The parser guards itself; this keeps the sum right if it ever does not.
            let reason = FailureReason::NotStored("reading it failed".to_owned());
            let origins = std::mem::take(&mut prepared.origins);
            prepared
                .failures
                .extend(origins.into_iter().map(|origin| failure(origin, &reason)));
        }
    }
    prepared
}

fn parse(mails: Vec<Hashed>, recipient: &Recipient) -> (Vec<Command>, Vec<Doc>) {
    let read = |mail: Hashed| {
        let draft = Draft::new(postroom_mail::parse(&mail.raw.bytes), None);
        let attachments = attachments_of(&mail.raw.bytes, &draft.doc.attachments);
        let doc = searchable(&draft.doc, attachments);
        let import = Command::Import(Box::new(Import {
            recipient: recipient.clone(),
            raw: mail.raw,
            draft,
            provider: "import".to_owned(),
            file_time: mail.file_time,
            unread: !mail.read,
            labels: Vec::new(),
        }));
        (import, doc)
    };
    mails.into_iter().map(read).unzip()
}

#[derive(Default)]
struct Settled {
    stored: u64,
    duplicate: u64,
    failures: Vec<ItemFailure>,
    stopped: Option<StoreError>,
    done: Extent,
    skipped: u64,
}

/// Hands a batch to the store and counts what came of it.
async fn settle(room: &Room, options: &ImportOptions, prepared: Prepared) -> Settled {
    let mut settled = Settled {
        duplicate: prepared.known,
        done: prepared.done,
        skipped: prepared.skipped,
        ..Settled::default()
    };
    match room.store.transact_all(prepared.commands).await {
        Ok(answers) => {
            let mails = prepared.origins.into_iter().zip(prepared.docs);
            for ((origin, doc), answer) in mails.zip(answers) {
                if let Ok(Outcome::Imported(ImportOutcome::Stored { message_id, .. })) = &answer {
                    room.indexing.handover.put(*message_id, doc);
                }
                settled.count(origin, answer);
            }
        }
        Err(error) => {
            let reason = FailureReason::NotStored(error.code().to_string());
            settled.failures.extend(
                prepared
                    .origins
                    .into_iter()
                    .map(|origin| failure(origin, &reason)),
            );
            settled.stopped = Some(error);
        }
    }
    for failed in &prepared.failures {
        if let Err(error) = record(room, options, failed).await {
            settled.stopped = settled.stopped.or(Some(error));
        }
    }
    for failed in &settled.failures {
        // Already failing; the list of failures is the lesser loss.
        let _ = record(room, options, failed).await;
    }
    settled.failures.extend(prepared.failures);
    settled
}

impl Settled {
    fn count(&mut self, origin: Origin, answer: Result<Outcome, Refusal>) {
        match answer {
            Ok(Outcome::Imported(ImportOutcome::Stored { .. })) => self.stored += 1,
            Ok(Outcome::Imported(ImportOutcome::Duplicate { .. })) => self.duplicate += 1,
            Ok(_) => self.failures.push(failure(
                origin,
                &FailureReason::NotStored("no outcome".to_owned()),
            )),
            Err(refusal) => {
                let reason = FailureReason::NotStored(refusal.code().to_string());
                self.failures.push(failure(origin, &reason));
            }
        }
    }
}

fn failure(origin: Origin, reason: &FailureReason) -> ItemFailure {
    ItemFailure {
        path: origin.path,
        offset: origin.offset,
        length: None,
        reason: reason.clone(),
    }
}

/// Lists a failure in the store, with the bytes of a mail that is too large.
async fn record(
    room: &Room,
    options: &ImportOptions,
    failed: &ItemFailure,
) -> Result<(), StoreError> {
    let kept = failed.clone();
    let raw = tokio::task::spawn_blocking(move || oversized_bytes(&kept))
        .await
        .ok()
        .flatten();
    let location = match failed.offset {
        Some(offset) => format!("{}:{offset}", failed.path.display()),
        None => failed.path.display().to_string(),
    };
    let record = RecordImportFailure {
        tenant: options.tenant,
        identity: options.identity,
        location,
        reason: failed.reason.to_string(),
        raw,
    };
    room.store
        .transact(Command::RecordImportFailure(record))
        .await
        .map(|_| ())
}

fn oversized_bytes(failed: &ItemFailure) -> Option<RawMail> {
    let length = failed
        .length
        .filter(|length| *length <= IMPORT_KEPT_BYTES)?;
    if failed.reason != FailureReason::Oversized {
        return None;
    }
    let mut file = File::open(&failed.path).ok()?;
    file.seek(SeekFrom::Start(failed.offset.unwrap_or(0)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    Some(RawMail::new(bytes))
}
