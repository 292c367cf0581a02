//! How the deployment stands, for its owner: the database, how much there is, how far the index is.

use postroom_store::{DatabaseKind, read};
use postroom_types::{TenantId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Failure, Room};

/// What the deployment runs on and how far it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Status {
    /// The version of this program.
    pub version: &'static str,
    /// The database.
    pub database: Database,
    /// How much there is in all tenants.
    pub counts: Counts,
    /// Each tenant's feed and index.
    pub indexes: Vec<IndexStatus>,
    /// How mail leaves.
    pub outbox: Outbox,
}

/// How mail leaves.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Outbox {
    /// `sandbox`, `smtp` or `resend`.
    pub transport: &'static str,
    /// Whether it reaches anybody outside.
    pub leaves: bool,
    /// The relay that takes it, with its port; null where there is none.
    pub host: Option<String>,
    /// Domains that mail may leave from.
    pub domains: Vec<String>,
    /// Until when the transport is left alone, because it did not say what became of mail; null while it is
    /// not.
    pub paused_until: Option<Timestamp>,
    /// When the mail that is due next is due; long past when mail waits for its transport.
    pub next_due_at: Option<Timestamp>,
    /// Mails that wait after a try that failed.
    pub put_off: u64,
    /// Mailboxes that are paused because too much of their mail came back or was called spam.
    pub paused_for_abuse: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Counts {
    /// Tenants.
    pub tenants: u64,
    /// Mailboxes that are not deleted.
    pub identities: u64,
    /// Messages.
    pub messages: u64,
    /// Unread messages.
    pub unread: u64,
    /// Threads.
    pub threads: u64,
    /// Arrivals.
    pub events: u64,
    /// Arrivals that wait to be read.
    pub pending_events: u64,
    /// Arrivals that could not be read.
    pub failed_events: u64,
    /// Mails that imports could not take in.
    pub import_failures: u64,
}

impl From<read::Counts> for Counts {
    fn from(counts: read::Counts) -> Self {
        Self {
            tenants: counts.tenants,
            identities: counts.identities,
            messages: counts.messages,
            unread: counts.unread,
            threads: counts.threads,
            events: counts.events,
            pending_events: counts.pending_events,
            failed_events: counts.failed_events,
            import_failures: counts.import_failures,
        }
    }
}

/// The database in use.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Database {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// Its version.
    pub version: String,
    /// The durability in force.
    pub durability: String,
}

/// How far one tenant's index is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct IndexStatus {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The feed's last position.
    pub feed_position: u64,
    /// The position up to which the index is complete.
    pub index_position: u64,
    /// Positions the index has still to apply.
    pub backlog: u64,
}

impl Room {
    /// The database in use.
    pub fn database(&self) -> Database {
        let info = self.store().database();
        Database {
            kind: match info.kind {
                DatabaseKind::Sqlite => "sqlite",
                DatabaseKind::Postgres => "postgresql",
            },
            version: info.version,
            durability: info.durability,
        }
    }

    /// How the deployment stands. For its owner only: it counts across tenants.
    ///
    /// # Errors
    /// `unavailable` when the store cannot say.
    pub async fn status(&self) -> Result<Status, Failure> {
        let counts = read::deployment_counts(self.store(), &self.workers.platform()).await?;
        let positions = read::positions(self.store(), &self.workers).await?;
        let mut indexes = Vec::with_capacity(positions.len());
        for (tenant, feed_position) in positions {
            let index_position = self.index_position(tenant).await.min(feed_position);
            indexes.push(IndexStatus {
                tenant_id: tenant,
                feed_position,
                index_position,
                backlog: feed_position - index_position,
            });
        }
        let sending = read::sending_trouble(self.store(), &self.workers).await?;
        Ok(Status {
            version: env!("CARGO_PKG_VERSION"),
            database: self.database(),
            counts: counts.into(),
            indexes,
            outbox: Outbox {
                transport: self.transport.configured(),
                leaves: self.transport.leaves(),
                host: self.transport.host(),
                domains: self.transport.domains().to_vec(),
                paused_until: self.transport_paused_until(),
                next_due_at: read::next_due_send(self.store(), &self.workers).await?,
                put_off: sending.put_off,
                paused_for_abuse: sending.paused_for_abuse,
            },
        })
    }

    /// What the database finds wrong in its own file; nothing when it is sound, or a server's. Reads
    /// the whole file.
    ///
    /// # Errors
    /// `unavailable` when the store cannot say.
    pub async fn damage(&self) -> Result<Vec<String>, Failure> {
        Ok(read::quick_check(self.store(), &self.workers).await?)
    }

    /// How far a tenant's index is; right after the start the worker has not looked yet, and the
    /// index itself says it.
    async fn index_position(&self, tenant: TenantId) -> u64 {
        if let Some(position) = self.indexing.known(tenant) {
            return position;
        }
        let indexes = self.indexes.clone();
        let opened = tokio::task::spawn_blocking(move || {
            indexes.tenant(tenant).map(|index| index.position())
        });
        opened.await.ok().and_then(Result::ok).unwrap_or(0)
    }
}
