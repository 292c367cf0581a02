//! The open store.

use crate::{StoreError, Subkeys, WorkerScope};
use postroom_core::{Command, Outcome, Refusal};
use postroom_types::{Secret, TenantId, Timestamp};
use std::{path::PathBuf, sync::Arc};
use tokio::sync::watch;

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

/// The store. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    keys: Subkeys,
}

impl Store {
    /// Opens the data folder and database, migrates, and starts the writer.
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::NewerSchema`], [`StoreError::SecretMismatch`],
    /// [`StoreError::Configuration`], [`StoreError::Open`].
    pub async fn open(options: StoreOptions) -> Result<Self, StoreError> {
        let _ = options;
        Err(StoreError::Unavailable)
    }

    /// Decides one command, commits it synced, and answers. Dropping the future after its first
    /// poll does not stop the commit.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when it breaks a rule, [`StoreError::Unavailable`] when nothing was
    /// stored.
    pub async fn transact(&self, command: Command) -> Result<Outcome, StoreError> {
        let _ = command;
        Err(StoreError::Unavailable)
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
        let _ = commands;
        Err(StoreError::Unavailable)
    }

    /// The feed position of a tenant, with a wake-up after each commit. Losing one costs latency,
    /// never truth: the position is read from the database at least once a second where several
    /// nodes write.
    pub fn feed(&self, tenant: TenantId) -> watch::Receiver<u64> {
        let _ = tenant;
        watch::channel(0).1
    }

    /// A wake-up after each commit of any tenant; the number only says that something changed.
    pub fn feed_any(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }

    /// The worker's scope, given out once.
    pub fn take_worker_scope(&self) -> Option<WorkerScope> {
        None
    }

    /// Keys for cursors and hashes.
    pub fn keys(&self) -> &Subkeys {
        &self.inner.keys
    }

    /// The instant now, by the store's clock.
    pub fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    /// What it runs on.
    pub fn database(&self) -> DatabaseInfo {
        DatabaseInfo {
            kind: DatabaseKind::Sqlite,
            version: String::new(),
            durability: String::new(),
        }
    }

    /// Whether this opening created the database.
    pub fn is_new(&self) -> bool {
        false
    }

    /// Takes no more commands, ends the writer after what it has, and closes the connections.
    pub async fn close(&self) {}
}
