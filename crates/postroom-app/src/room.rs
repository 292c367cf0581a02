//! The room: store, indexes, clock and rates behind every operation, and the workers that follow
//! the store.
//!
//! [`Room::open`] takes the data folder (one owner per folder, by lock), migrates, and starts the
//! workers, each a file beside this one: `ingest` makes messages of the mail that was received,
//! `deliveries` of the mail that webhooks carry, `outbox` hands over what is due (in a server only),
//! `sweep` ends what ran out of time, `retention` removes what is too old, and `indexing` keeps the
//! search index up with the feed. Each goes on where it stopped, whatever ended the process before.

mod abuse;
mod arrive;
mod deliveries;
mod first_start;
pub mod import;
mod indexing;
mod ingest;
mod mail_rules;
mod open;
mod outbox;
mod position;
mod receive;
mod reports;
mod retention;
mod smtp;
mod sweep;
mod tenants;
pub(crate) mod tokens;

pub use arrive::{Door, WebhookRequest};
pub(crate) use arrive::{ingest_url, mail_url, secret_origin};
pub use first_start::FirstStart;
pub use indexing::ReindexProgress;
pub(crate) use indexing::{attachments, searchable};
pub use open::{OpenError, RoomOptions};
pub use postroom_webhook::Answer as IngestAnswer;
pub use receive::{ArchiveMail, Arrival, Received, RecipientVerdict, Via};
pub use retention::{Removed, Retention};

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use postroom_net::egress::Egress;
use postroom_search::Indexes;
use postroom_store::{Store, WorkerScope};
use postroom_types::{TenantId, Timestamp};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    clock::Clock,
    finding::{Kept, Labels},
    rate::Rates,
    source::Sources,
    transport::Transport,
};
use indexing::Indexing;
use position::Positions;
use tenants::Tenants;

/// The running room.
pub struct Room {
    /// The process clock.
    pub(crate) clock: Arc<dyn Clock>,
    /// The rate buckets.
    pub(crate) rates: Rates,
    /// The truth.
    pub(crate) store: Store,
    /// The search indexes.
    pub(crate) indexes: Indexes,
    /// How far the indexes are.
    pub(crate) indexing: Indexing,
    /// Mails received since the start: who waits for an acknowledgement goes before who reads them.
    received: AtomicU64,
    /// Where the feeds stand.
    pub(crate) positions: Positions,
    pub(crate) tenants: Tenants,
    /// Ranked results kept for later pages.
    pub(crate) kept: Kept,
    /// Labels as sets of message numbers.
    pub(crate) labels: Labels,
    /// What is kept in memory of sources.
    pub(crate) sources: Sources,
    /// The only dialler for URLs that somebody gave us.
    pub(crate) egress: Arc<Egress>,
    retention: Retention,
    /// By which way sent mail leaves.
    pub(crate) transport: Transport,
    /// Whether reply addresses carry the token of their thread.
    pub(crate) reply_tokens: bool,
    /// Which transports are left alone for a while.
    breakers: outbox::Breakers,
    /// Tokens that were not signed.
    token_faults: tokens::TokenFaults,
    /// The address under which others reach this server, without a slash at the end.
    url: String,
    /// The right to read across tenants; no request can take it.
    pub(crate) workers: WorkerScope,
    data_dir: std::path::PathBuf,
    hostname: String,
    default_tenant: TenantId,
    /// Fires when the room closes.
    stop: CancellationToken,
    /// Workers and writes that nobody waits for.
    pub(crate) tasks: TaskTracker,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").finish_non_exhaustive()
    }
}

impl Room {
    /// The instant now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The rate buckets.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// The right to read across tenants, for commands that hold the data folder themselves.
    pub fn worker_scope(&self) -> &WorkerScope {
        &self.workers
    }

    /// The only dialler for URLs that somebody gave us.
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// The address under which others reach this server, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The name of this host in mail, and the domain of usernames.
    pub fn hostname(&self) -> &str {
        &self.hostname
    }

    /// The deployment's first tenant, slug `default`.
    pub fn default_tenant(&self) -> TenantId {
        self.default_tenant
    }

    /// Fires when the room closes; long calls end with it.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Runs a write that no answer waits for; closing waits for it.
    pub(crate) fn beside(&self, write: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(write);
    }

    /// Stops the workers, waits for what is being written, and lets go of the data folder. Calls
    /// that come later answer `unavailable`.
    pub async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let indexes = self.indexes.clone();
        let _ = tokio::task::spawn_blocking(move || indexes.close()).await;
        self.store.close().await;
    }
}
