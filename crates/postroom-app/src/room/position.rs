//! Where a tenant's feed stands, without asking the database each time.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use postroom_store::{FeedPosition, StoreError, read};
use postroom_types::{TenantId, TenantScope};
use tokio::sync::watch;

use super::Room;

/// The feeds that were asked for: where each stood then, and what was told since.
#[derive(Default)]
pub(crate) struct Positions(Mutex<HashMap<TenantId, Followed>>);

struct Followed {
    began_at: u64,
    told: watch::Receiver<FeedPosition>,
}

impl Positions {
    fn known(&self, tenant: TenantId) -> Option<FeedPosition> {
        let feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let feed = feeds.get(&tenant)?;
        let told = *feed.told.borrow();
        Some(FeedPosition {
            last: told.last.max(feed.began_at),
            indexed: told.indexed.max(feed.began_at),
        })
    }

    fn follow(&self, tenant: TenantId, feed: Followed) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tenant, feed);
    }
}

impl Room {
    /// Where the feed of the scope's tenant stands; every commit that was answered in this process
    /// is counted.
    pub(crate) async fn position(&self, scope: &TenantScope) -> Result<FeedPosition, StoreError> {
        let tenant = scope.tenant();
        if let Some(known) = self.positions.known(tenant) {
            return Ok(known);
        }
        // Listening begins before the look, so that nothing falls in between.
        let told = self.store.feed(tenant);
        let began_at = read::position(&self.store, scope).await?;
        self.positions.follow(tenant, Followed { began_at, told });
        Ok(FeedPosition::at(began_at))
    }
}
