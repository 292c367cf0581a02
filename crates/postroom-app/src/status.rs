//! How the deployment stands, for its owner: the database, how much there is, how far the index is.

use postroom_store::{DatabaseKind, read};
use serde::Serialize;

use crate::{Failure, Room};

/// What the deployment runs on and how far it is.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The version of this program.
    pub version: &'static str,
    /// The database.
    pub database: Database,
    /// How much there is in all tenants.
    pub counts: read::Counts,
    /// Each tenant's feed and index.
    pub indexes: Vec<IndexStatus>,
}

/// The database in use.
#[derive(Debug, Clone, Serialize)]
pub struct Database {
    /// `sqlite` or `postgresql`.
    pub kind: &'static str,
    /// Its version.
    pub version: String,
    /// The durability in force.
    pub durability: String,
}

/// How far one tenant's index is.
#[derive(Debug, Clone, Serialize)]
pub struct IndexStatus {
    /// The tenant.
    pub tenant_id: postroom_types::TenantId,
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
        let indexes = positions.into_iter().map(|(tenant, feed_position)| {
            let index_position = self.indexing.position(tenant).min(feed_position);
            IndexStatus {
                tenant_id: tenant,
                feed_position,
                index_position,
                backlog: feed_position - index_position,
            }
        });
        Ok(Status {
            version: env!("CARGO_PKG_VERSION"),
            database: self.database(),
            counts,
            indexes: indexes.collect(),
        })
    }
}
