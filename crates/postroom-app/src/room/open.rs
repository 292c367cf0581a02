//! Opening the data folder.

use std::{path::PathBuf, sync::Arc};

use postroom_core::{Command, CreateDomain, CreateTenant, DomainState, Mode, Outcome};
use postroom_net::{
    egress::{Egress, EgressPolicy, PolicyError},
    smtp::send::RelayError,
};
use postroom_search::{Indexes, SearchError};
use postroom_store::{Store, StoreError, StoreOptions, WorkerScope, read};
use postroom_types::{ErrorCode, Secret, TenantId};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Indexing, Positions, Retention, Room, deliveries, indexing, ingest, outbox, retention, sweep,
    tenants::Tenants,
};
use crate::{
    clock::Clock,
    finding::{Kept, Labels},
    rate::{RateLimits, Rates},
    source::Sources,
    transport::{Transport, TransportOptions},
};

/// Read connections of the store unless told otherwise.
const READERS: u32 = 8;
/// The address under which others reach this server, unless told otherwise.
const URL: &str = "http://127.0.0.1:8025";
/// Slug of the tenant that every deployment begins with.
const FIRST_TENANT: &str = "default";

/// How to open a room.
#[derive(Clone)]
pub struct RoomOptions {
    /// The data folder; created when missing.
    pub data_dir: PathBuf,
    /// `postgres://...`; SQLite in the data folder without it.
    pub database_url: Option<Secret<String>>,
    /// The secret key; `secret.key` of the data folder without it.
    pub secret: Option<Secret<[u8; 32]>>,
    /// The name of this host in mail, and the domain of usernames.
    pub hostname: String,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Read connections.
    pub readers: u32,
    /// Requests per minute that callers may make.
    pub rates: RateLimits,
    /// The address under which others reach this server, without a slash at the end; addresses of
    /// sources begin with it.
    pub url: String,
    /// The dialler for given URLs; one that dials public addresses only without it.
    pub egress: Option<Arc<Egress>>,
    /// By which way sent mail leaves.
    pub transport: TransportOptions,
    /// Whether mail that waits is handed over. A command that holds the folder for a moment leaves that to
    /// the server, which alone knows by which way.
    pub hands_over: bool,
    /// Whether reply addresses of mail in a thread carry its token, as `local+tag`.
    pub reply_tokens: bool,
    /// How long deliveries are kept.
    pub retention: Retention,
}

impl RoomOptions {
    /// A room in `data_dir` with the system's clock.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            database_url: None,
            secret: None,
            hostname: "localhost".to_owned(),
            clock: Arc::new(crate::clock::SystemClock),
            readers: READERS,
            rates: RateLimits::default(),
            url: URL.to_owned(),
            egress: None,
            transport: TransportOptions::default(),
            hands_over: true,
            reply_tokens: false,
            retention: Retention::default(),
        }
    }
}

/// Why a room does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store does not open, or another process has the folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder of the search indexes does not open.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The rules for dialling given URLs cannot be used.
    #[error(transparent)]
    Egress(#[from] PolicyError),
    /// The relay that sent mail leaves by cannot be used.
    #[error(transparent)]
    Transport(#[from] RelayError),
    /// The store is in use by another room of this process.
    #[error("the data folder is already open in this process")]
    InUse,
}

impl OpenError {
    /// The code for surfaces.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::Search(error) => error.code(),
            Self::Egress(_) | Self::Transport(_) => ErrorCode::Misconfigured,
            Self::InUse => ErrorCode::Unavailable,
        }
    }
}

impl Room {
    /// Opens the data folder and starts the workers.
    ///
    /// # Errors
    /// [`OpenError`]; nothing runs then.
    pub async fn open(options: RoomOptions) -> Result<Arc<Self>, OpenError> {
        let clock = Arc::clone(&options.clock);
        let store = Store::open(StoreOptions {
            data_dir: options.data_dir.clone(),
            database_url: options.database_url.clone(),
            secret: options.secret.clone(),
            clock: Arc::new(move || clock.now()),
            readers: options.readers.max(1),
        })
        .await?;
        match Self::over(store.clone(), options).await {
            Ok(room) => Ok(room),
            Err(error) => {
                store.close().await;
                Err(error)
            }
        }
    }

    async fn over(store: Store, options: RoomOptions) -> Result<Arc<Self>, OpenError> {
        let workers = store.take_worker_scope().ok_or(OpenError::InUse)?;
        let egress = match options.egress {
            Some(egress) => egress,
            None => Arc::new(Egress::new(EgressPolicy::default())?),
        };
        let mut transport = Transport::open(options.transport, &egress)?;
        if !options.hands_over {
            transport = transport.of_another_process();
        }
        let default_tenant = first_tenant(&store, &workers, &options.hostname).await?;
        let room = Arc::new(Self {
            clock: options.clock,
            rates: Rates::new(options.rates),
            indexes: Indexes::open(options.data_dir.join("index"))?,
            indexing: Indexing::default(),
            received: std::sync::atomic::AtomicU64::new(0),
            positions: Positions::default(),
            tenants: Tenants::new(&store),
            kept: Kept::default(),
            labels: Labels::default(),
            sources: Sources::default(),
            transport,
            reply_tokens: options.reply_tokens,
            breakers: Default::default(),
            token_faults: Default::default(),
            egress,
            retention: options.retention,
            url: options.url.trim_end_matches('/').to_owned(),
            store,
            workers,
            data_dir: options.data_dir,
            hostname: options.hostname,
            default_tenant,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        room.tasks.spawn(deliveries::run(Arc::clone(&room)));
        room.tasks.spawn(ingest::run(Arc::clone(&room)));
        if options.hands_over {
            room.tasks.spawn(outbox::run(Arc::clone(&room)));
        }
        room.tasks.spawn(sweep::run(Arc::clone(&room)));
        room.tasks.spawn(retention::run(Arc::clone(&room)));
        room.tasks.spawn(indexing::run(Arc::clone(&room)));
        Ok(room)
    }
}

/// The tenant that every deployment begins with, made on the first start.
async fn first_tenant(
    store: &Store,
    workers: &WorkerScope,
    hostname: &str,
) -> Result<TenantId, OpenError> {
    let platform = workers.platform();
    // Usernames of every tenant stand under this name, whatever it was at the first start. Nobody
    // proved that it is ours, so it only receives.
    let name = hostname.to_ascii_lowercase();
    if read::deployment_domain(store, &platform, &name)
        .await?
        .is_none()
    {
        let domain = CreateDomain {
            tenant: None,
            name,
            state: DomainState::Local,
        };
        store.transact(Command::CreateDomain(domain)).await?;
    }
    if let Some(row) = read::tenant_by_slug(store, &platform, FIRST_TENANT).await? {
        return Ok(row.id);
    }
    let tenant = CreateTenant {
        slug: FIRST_TENANT.to_owned(),
        name: String::new(),
        mode: Mode::Live,
        timezone: "UTC".to_owned(),
        // The only tenant of a deployment needs nothing that tells its usernames apart.
        address_suffix: Some(String::new()),
    };
    match store.transact(Command::CreateTenant(tenant)).await {
        Ok(Outcome::Tenant(row)) => return Ok(row.id),
        // Another node that started at the same moment made it.
        Err(StoreError::Refused(_)) => {}
        Ok(_) => return Err(StoreError::Damaged("a created tenant has no row").into()),
        Err(error) => return Err(error.into()),
    }
    let found = read::tenant_by_slug(store, &platform, FIRST_TENANT).await?;
    found
        .map(|row| row.id)
        .ok_or_else(|| StoreError::Damaged("the first tenant is missing").into())
}
