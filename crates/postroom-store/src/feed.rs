//! Wake-ups after commits: in this process at once, from other nodes by PostgreSQL's NOTIFY, and
//! by a look each second in any case.

use crate::{
    rows,
    sql::{Listener, Pool, Server},
};
use postroom_types::TenantId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

/// The channel on which nodes wake each other.
pub(crate) const CHANNEL: &str = "postroom_feed";
/// How often positions are looked up where other nodes write.
const POLL: Duration = Duration::from_secs(1);

/// Who waits for which tenant.
pub(crate) struct Feed {
    /// Only tenants that somebody waits for.
    tenants: Mutex<HashMap<TenantId, watch::Sender<u64>>>,
    any: watch::Sender<u64>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self {
            tenants: Mutex::new(HashMap::new()),
            any: watch::Sender::new(0),
        }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, watch::Sender<u64>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, tenant: TenantId) -> watch::Receiver<u64> {
        let mut tenants = self.tenants();
        // Channels whose last listener went away are dropped here and when they are published to.
        tenants.retain(|id, sender| *id == tenant || sender.receiver_count() > 0);
        tenants
            .entry(tenant)
            .or_insert_with(|| watch::Sender::new(0))
            .subscribe()
    }

    pub(crate) fn subscribe_any(&self) -> watch::Receiver<u64> {
        self.any.subscribe()
    }

    /// Tells the new position of each tenant; a position never goes back.
    pub(crate) fn publish(&self, positions: impl IntoIterator<Item = (TenantId, u64)>) {
        let mut news = false;
        let tenants = self.tenants();
        for (tenant, position) in positions {
            news = true;
            if let Some(sender) = tenants.get(&tenant) {
                sender.send_if_modified(|known| {
                    let newer = position > *known;
                    *known = position.max(*known);
                    newer
                });
            }
        }
        drop(tenants);
        if news {
            self.any.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

/// Follows what other nodes commit: woken by NOTIFY, and each second without it. `node` is this one,
/// which needs no telling.
pub(crate) async fn follow(feed: Arc<Feed>, pool: Pool, server: Server, node: String) {
    let mut listener = None;
    let mut known: HashMap<TenantId, u64> = HashMap::new();
    loop {
        if listener.is_none() {
            listener = Listener::open(&server, CHANNEL, node.clone()).await.ok();
        }
        match &mut listener {
            Some(heard) => {
                // However many commits were told of meanwhile, positions are looked up once.
                if let Ok(Err(_)) = tokio::time::timeout(POLL, heard.heard()).await {
                    listener = None;
                }
            }
            None => tokio::time::sleep(POLL).await,
        }
        continue_polling(&feed, &pool, &mut known).await;
    }
}

/// Publishes positions that moved since the last look. A look that fails is made again in a second.
async fn continue_polling(feed: &Feed, pool: &Pool, known: &mut HashMap<TenantId, u64>) {
    let Ok(found) = pool
        .fetch("SELECT tenant_id, position FROM counters", vec![])
        .await
    else {
        return;
    };
    let moved = found.iter().filter_map(|row| {
        let tenant = rows::tenant_id(row, 0).ok()?;
        let position = rows::unsigned(row, 1).ok()?;
        (known.insert(tenant, position) != Some(position)).then_some((tenant, position))
    });
    let moved: Vec<_> = moved.collect();
    feed.publish(moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_sees_the_latest_position_and_never_an_older_one() {
        let feed = Feed::new();
        let tenant = TenantId::from_parts(1, 1);
        let mut listener = feed.subscribe(tenant);
        feed.publish([(tenant, 3), (TenantId::from_parts(1, 2), 9)]);
        feed.publish([(tenant, 2)]);
        assert_eq!(*listener.borrow_and_update(), 3);
        assert!(!listener.has_changed().expect("open"));
    }

    #[test]
    fn channels_without_listeners_are_dropped() {
        let feed = Feed::new();
        for n in 0..100 {
            drop(feed.subscribe(TenantId::from_parts(1, n)));
        }
        assert_eq!(feed.tenants().len(), 1);
    }
}
