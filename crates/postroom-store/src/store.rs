//! The open store.

use crate::{
    StoreError, Subkeys, WorkerScope,
    blob::{self, BlobFolder},
    commit::{Answers, Job, Packed, Plans, Randomness, Writer},
    connect::{self, Target},
    feed::{self, Feed, FeedPosition, Wake},
    schema, secret,
    sql::{Conn, Pool},
};
use postroom_core::{Command, Outcome, RawMail, Refusal};
use postroom_types::{Secret, TenantId, Timestamp, limit};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinHandle,
};

/// Where the process reads its clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How to open a store.
#[derive(Clone)]
pub struct StoreOptions {
    /// The data folder; created when missing. It holds the lock, `secret.key`, blobs and, on
    /// SQLite, the database `postroom.sqlite`.
    pub data_dir: PathBuf,
    /// `postgres://...` for PostgreSQL 15 or newer; SQLite in the data folder without it.
    pub database_url: Option<Secret<String>>,
    /// The secret key; `secret.key` of the data folder without it.
    pub secret: Option<Secret<[u8; 32]>>,
    /// The clock.
    pub clock: Clock,
    /// Read connections, at least one.
    pub readers: u32,
}

/// Which database is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// What the store runs on, for `doctor` and `serve --json`.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// Which.
    pub kind: DatabaseKind,
    /// Its version.
    pub version: String,
    /// The durability in force: `synchronous=FULL` or `synchronous_commit=on`.
    pub durability: String,
}

/// The file whose lock says who owns a data folder; a folder with one in it is a data folder.
pub const LOCK_FILE: &str = "postroom.lock";

/// The store. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    keys: Subkeys,
    pool: Pool,
    blobs: Option<BlobFolder>,
    feed: Arc<Feed>,
    clock: Clock,
    database: DatabaseInfo,
    is_new: bool,
    worker_scope_taken: AtomicBool,
    /// `None` once the store is closed.
    queue: Mutex<Option<mpsc::Sender<Job>>>,
    /// Room for waiting bytes, in units of [`ROOM_UNIT`].
    room: Arc<Semaphore>,
    /// Resolves when the writer has ended.
    writer: Mutex<Option<oneshot::Receiver<()>>>,
    follower: Mutex<Option<JoinHandle<()>>>,
    /// Held as long as the store is open.
    _lock: File,
}

/// Waiting bytes are counted in kibibytes.
const ROOM_UNIT: usize = 1_024;
/// A mail up to this size is packed where it is; a larger one on a thread that may block.
const PACK_INLINE_BYTES: u64 = 64 * 1_024;

impl Store {
    /// Opens the data folder and database, migrates, and starts the writer.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::NewerSchema`], [`StoreError::SecretMismatch`],
    /// [`StoreError::SecretMissing`], [`StoreError::Configuration`], [`StoreError::Open`],
    /// [`StoreError::Unreachable`].
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let data_dir = &options.data_dir;
        let lock = lock_folder(data_dir)?;
        let target = Target::new(options.database_url.as_ref(), data_dir)?;
        let given = match &options.secret {
            Some(secret) => Some(secret.clone()),
            None => secret::load(data_dir)?,
        };
        let conn = target.writer().await?;
        let secret = match given {
            Some(secret) => secret,
            None if schema::has_fingerprint(&conn).await? => {
                return Err(StoreError::SecretMissing(
                    data_dir.join(secret::SECRET_FILE),
                ));
            }
            None => secret::create(data_dir)?,
        };
        let keys = Subkeys::new(&secret);
        let is_new = schema::migrate(&conn, (options.clock)()).await?;
        check_fingerprint(&conn, &keys).await?;
        let (kind, blobs) = match &target {
            Target::Sqlite(_) => {
                let folder =
                    BlobFolder::open(data_dir).map_err(|error| folder_error(data_dir, &error))?;
                // Where a new database stands beside old files, somebody has mislaid the old one.
                if !is_new {
                    blob::sweep(&folder, &conn, (options.clock)()).await?;
                }
                (DatabaseKind::Sqlite, Some(folder))
            }
            Target::Postgres(_) => (DatabaseKind::Postgres, None),
        };
        let (version, durability) = connect::describe(&conn).await?;
        let pool = target.readers(options.readers).await?;
        let feed = Arc::new(Feed::new());
        let (sender, queue) = mpsc::channel(limit::WRITER_QUEUE);
        let mut random = Randomness::new()?;
        let node = format!("{:032x}", random.next());
        let follower = match &target {
            Target::Sqlite(_) => None,
            Target::Postgres(server) => {
                let server = (**server).clone();
                let following = feed::follow(Arc::clone(&feed), pool.clone(), server, node.clone());
                Some(tokio::spawn(following))
            }
        };
        let conn = match kind {
            DatabaseKind::Sqlite => Some(conn),
            // The writer opens one in its own runtime.
            DatabaseKind::Postgres => {
                conn.close().await;
                None
            }
        };
        let writer = Writer {
            target,
            conn,
            plans: Plans::default(),
            feed: Arc::clone(&feed),
            clock: Arc::clone(&options.clock),
            random,
            node,
        };
        let writer = start(writer, queue)?;
        let inner = Inner {
            keys,
            pool,
            blobs,
            feed,
            clock: options.clock,
            database: DatabaseInfo {
                kind,
                version,
                durability,
            },
            is_new,
            worker_scope_taken: AtomicBool::new(false),
            queue: Mutex::new(Some(sender)),
            room: Arc::new(Semaphore::new(limit::WRITER_QUEUE_BYTES / ROOM_UNIT)),
            writer: Mutex::new(Some(writer)),
            follower: Mutex::new(follower),
            _lock: lock,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Decides one command, commits it synced, and answers. Dropping the future once the command
    /// is queued does not stop the commit.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it breaks a rule, [`StoreError::Unavailable`] when nothing was
    /// stored.
    pub async fn transact(&self, command: Command) -> Result<Outcome, StoreError> {
        let answers = self.transact_all(vec![command]).await?;
        match answers.into_iter().next() {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(Refusal::Deferred)) | None => Err(StoreError::Unavailable),
            Some(Err(refusal)) => Err(StoreError::Refused(refusal)),
        }
    }

    /// Decides many commands in order, in as few commits as the limits allow; each has an answer
    /// of its own.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when a commit failed; commands of earlier commits are stored.
    pub async fn transact_all(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Outcome, Refusal>>, StoreError> {
        let mut waiting = Vec::new();
        let mut commands = commands.into_iter();
        loop {
            let part: Vec<Command> = commands.by_ref().take(limit::COMMIT_BATCH).collect();
            if part.is_empty() {
                break;
            }
            let packed = self.pack(part).await?;
            for job in split(packed) {
                waiting.push(self.enqueue(job).await?);
            }
        }
        let mut answers = Vec::new();
        for reply in waiting {
            // The writer drops a reply only when it is gone itself.
            answers.extend(reply.await.map_err(|_| StoreError::Unavailable)??);
        }
        Ok(answers)
    }

    /// Packs bytes and documents in the caller's task, so that the writer has nothing to compute.
    async fn pack(&self, commands: Vec<Command>) -> Result<Vec<Packed>, StoreError> {
        let small = commands.iter().map(raw_size).sum::<u64>() <= PACK_INLINE_BYTES;
        let folder = self.inner.blobs.clone();
        let pack_all = move || {
            commands
                .into_iter()
                .map(|command| pack(command, folder.as_ref()))
                .collect::<std::io::Result<Vec<Packed>>>()
        };
        let packed = if small {
            pack_all()
        } else {
            tokio::task::spawn_blocking(pack_all)
                .await
                .map_err(|_| StoreError::Unavailable)?
        };
        packed.map_err(|error| {
            tracing::error!(kind = ?error.kind(), "a mail's bytes cannot be kept");
            StoreError::Unavailable
        })
    }

    async fn enqueue(
        &self,
        commands: Vec<Packed>,
    ) -> Result<oneshot::Receiver<Result<Answers, StoreError>>, StoreError> {
        let sender = self.queue().clone().ok_or(StoreError::Unavailable)?;
        let bytes: usize = commands.iter().map(Packed::weight).sum();
        let units = (bytes / ROOM_UNIT).min(limit::WRITER_QUEUE_BYTES / ROOM_UNIT);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let (reply, answer) = oneshot::channel();
        let send = async {
            let room = Arc::clone(&self.inner.room)
                .acquire_many_owned(units)
                .await
                .map_err(|_| StoreError::Unavailable)?;
            let job = Job {
                commands,
                reply,
                _room: room,
            };
            sender.send(job).await.map_err(|_| StoreError::Unavailable)
        };
        tokio::time::timeout(Duration::from_millis(limit::WRITER_WAIT_MS), send)
            .await
            .map_err(|_| StoreError::Unavailable)??;
        Ok(answer)
    }

    fn queue(&self) -> MutexGuard<'_, Option<mpsc::Sender<Job>>> {
        self.inner
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The feed position of a tenant, with a wake-up after each commit. It begins at 0 or at the
    /// last position told, so read [`crate::read::position`] after subscribing. Losing a wake-up
    /// costs latency, never truth: where several nodes write, positions are looked up each second.
    pub fn feed(&self, tenant: TenantId) -> watch::Receiver<FeedPosition> {
        self.inner.feed.subscribe(tenant)
    }

    /// A wake-up after each commit of any tenant that has something for a worker; the number only
    /// says that there was one.
    pub fn wake(&self, wake: Wake) -> watch::Receiver<u64> {
        self.inner.feed.subscribe_to(wake)
    }

    /// The worker's scope, given out once.
    pub fn take_worker_scope(&self) -> Option<WorkerScope> {
        let taken = self.inner.worker_scope_taken.swap(true, Ordering::AcqRel);
        (!taken).then_some(WorkerScope(()))
    }

    /// Keys for cursors and hashes.
    pub fn keys(&self) -> &Subkeys {
        &self.inner.keys
    }

    /// The instant now, by the store's clock.
    pub fn now(&self) -> Timestamp {
        (self.inner.clock)()
    }

    /// What it runs on.
    pub fn database(&self) -> DatabaseInfo {
        self.inner.database.clone()
    }

    /// Whether this opening created the database.
    pub fn is_new(&self) -> bool {
        self.inner.is_new
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.inner.pool
    }

    pub(crate) fn blobs(&self) -> Option<&BlobFolder> {
        self.inner.blobs.as_ref()
    }

    /// Takes no more commands, ends the writer after what it has, and closes the connections. The
    /// data folder is free once the last clone of the store is dropped.
    pub async fn close(&self) {
        drop(self.queue().take());
        let follower = lock(&self.inner.follower).take();
        if let Some(follower) = follower {
            follower.abort();
        }
        let writer = lock(&self.inner.writer).take();
        if let Some(writer) = writer {
            // Its sender goes with the writer's thread.
            let _ended = writer.await;
        }
        self.inner.pool.close();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(follower) = lock(&self.follower).take() {
            follower.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the writer on a thread of its own, on which its connection is served too: a statement goes
/// to the database without a turn of another thread. What it gives resolves when the writer ends.
fn start(writer: Writer, queue: mpsc::Receiver<Job>) -> Result<oneshot::Receiver<()>, StoreError> {
    let failed = |error: std::io::Error| StoreError::Open {
        what: "the writer's thread".to_owned(),
        reason: error.to_string(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
    let (ends, ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("postroom-writer".to_owned())
        .spawn(move || {
            runtime.block_on(writer.run(queue));
            let _nobody_waits = ends.send(());
        })
        .map_err(failed)?;
    Ok(ended)
}

/// Parts that each fit one commit.
fn split(packed: Vec<Packed>) -> Vec<Vec<Packed>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut bytes = 0;
    for item in packed {
        bytes += item.weight();
        part.push(item);
        if bytes >= limit::COMMIT_BATCH_BYTES {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

fn raw_size(command: &Command) -> u64 {
    match command {
        Command::Receive(receive) => receive.raw.size,
        Command::Import(import) => import.raw.size,
        Command::Arrive(arrive) => arrive.raw.size,
        Command::QueueMessage(queue) => queue.mail.as_ref().map_or(0, |mail| mail.raw.size),
        Command::PutUpload(upload) => upload.raw.size,
        Command::Ingest(ingest) => ingest.draft.doc.text.as_ref().map_or(0, String::len) as u64,
        Command::RecordImportFailure(failure) => failure.raw.as_ref().map_or(0, |raw| raw.size),
        _ => 0,
    }
}

fn pack(mut command: Command, folder: Option<&BlobFolder>) -> std::io::Result<Packed> {
    let passing = matches!(command, Command::PutUpload(_));
    let raw: Option<&mut RawMail> = match &mut command {
        Command::Receive(receive) => Some(&mut receive.raw),
        Command::Import(import) => Some(&mut import.raw),
        Command::Arrive(arrive) => Some(&mut arrive.raw),
        Command::RecordImportFailure(failure) => failure.raw.as_mut(),
        Command::QueueMessage(queue) if !queue.dry_run => {
            queue.mail.as_mut().map(|mail| &mut mail.raw)
        }
        Command::PutUpload(upload) => Some(&mut upload.raw),
        _ => None,
    };
    // What is kept for a day stands in its own row.
    let folder = folder.filter(|_| !passing);
    let blob = raw.map(|raw| blob::pack(raw, folder)).transpose()?;
    let draft = match &mut command {
        Command::Ingest(ingest) => Some(&mut ingest.draft),
        Command::Import(import) => Some(&mut import.draft),
        Command::QueueMessage(queue) if !queue.dry_run => {
            queue.mail.as_mut().map(|mail| &mut mail.draft)
        }
        _ => None,
    };
    let doc = match draft {
        Some(draft) => blob::pack_doc(&draft.doc)?,
        None => Vec::new(),
    };
    Ok(Packed { command, blob, doc })
}

/// Creates the folder and takes its lock; one process owns a data folder.
fn lock_folder(data_dir: &Path) -> Result<File, StoreError> {
    let wrong = |error: std::io::Error| folder_error(data_dir, &error);
    private_folder(data_dir).map_err(wrong)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(data_dir.join(LOCK_FILE))
        .map_err(wrong)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::Locked(data_dir.to_owned())),
        Err(std::fs::TryLockError::Error(error)) => Err(folder_error(data_dir, &error)),
    }
}

/// Creates a folder that only its owner may enter: the mail in it is nobody else's. A folder that
/// exists keeps the mode it was given.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn folder_error(data_dir: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Open {
        what: format!("the data folder {}", data_dir.display()),
        reason: error.to_string(),
    }
}

/// Keeps the secret key's fingerprint in a new database, and compares it in a known one.
async fn check_fingerprint(conn: &Conn, keys: &Subkeys) -> Result<(), StoreError> {
    conn.execute(
        "INSERT INTO meta (name, value) VALUES ('secret_fingerprint', $1) \
         ON CONFLICT (name) DO NOTHING",
        vec![keys.fingerprint().into()],
    )
    .await?;
    let rows = conn
        .fetch(
            "SELECT value FROM meta WHERE name = 'secret_fingerprint'",
            vec![],
        )
        .await?;
    let known = rows.first().map(|row| row.text(0)).transpose()?;
    if known.as_deref() != Some(keys.fingerprint()) {
        return Err(StoreError::SecretMismatch);
    }
    Ok(())
}
