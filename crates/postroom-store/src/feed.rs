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

/// Where a tenant's feed stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeedPosition {
    /// The last position.
    pub last: u64,
    /// The last one that may say something to the search index. What others have committed may.
    pub indexed: u64,
}

impl FeedPosition {
    /// A position that may say something to the search index.
    pub fn at(position: u64) -> Self {
        Self {
            last: position,
            indexed: position,
        }
    }
}

/// What a worker waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Mail that was received and is to be read.
    Mail,
    /// A delivery that may carry mail.
    Delivery,
    /// A send that waits for a transport.
    Send,
    /// Something that the search index follows.
    Index,
    /// A tenant that was made or changed. Told before whoever changed it is answered.
    Tenant,
}

/// What a commit has to say to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stirred {
    pub(crate) mail: bool,
    pub(crate) delivery: bool,
    pub(crate) send: bool,
    pub(crate) index: bool,
    pub(crate) tenant: bool,
}

impl Stirred {
    /// What others committed may be anything.
    const ALL: Self = Self {
        mail: true,
        delivery: true,
        send: true,
        index: true,
        tenant: true,
    };
}

/// Who waits for which tenant, and for what.
pub(crate) struct Feed {
    /// Only tenants that somebody waits for.
    tenants: Mutex<HashMap<TenantId, watch::Sender<FeedPosition>>>,
    mail: watch::Sender<u64>,
    delivery: watch::Sender<u64>,
    send: watch::Sender<u64>,
    index: watch::Sender<u64>,
    tenant: watch::Sender<u64>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        let told = || watch::Sender::new(0);
        Self {
            tenants: Mutex::new(HashMap::new()),
            mail: told(),
            delivery: told(),
            send: told(),
            index: told(),
            tenant: told(),
        }
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, watch::Sender<FeedPosition>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribe(&self, tenant: TenantId) -> watch::Receiver<FeedPosition> {
        let mut tenants = self.tenants();
        // Channels whose last listener went away are dropped here and when they are published to.
        tenants.retain(|id, sender| *id == tenant || sender.receiver_count() > 0);
        tenants
            .entry(tenant)
            .or_insert_with(|| watch::Sender::new(FeedPosition::default()))
            .subscribe()
    }

    pub(crate) fn subscribe_to(&self, wake: Wake) -> watch::Receiver<u64> {
        match wake {
            Wake::Mail => &self.mail,
            Wake::Delivery => &self.delivery,
            Wake::Send => &self.send,
            Wake::Index => &self.index,
            Wake::Tenant => &self.tenant,
        }
        .subscribe()
    }

    /// Tells the new position of each tenant; a position never goes back.
    pub(crate) fn publish(
        &self,
        positions: impl IntoIterator<Item = (TenantId, FeedPosition)>,
        stirred: Stirred,
    ) {
        let mut news = false;
        let tenants = self.tenants();
        for (tenant, position) in positions {
            news = true;
            if let Some(sender) = tenants.get(&tenant) {
                sender.send_if_modified(|known| {
                    let newer = position.last > known.last;
                    known.last = position.last.max(known.last);
                    known.indexed = position.indexed.max(known.indexed);
                    newer
                });
            }
        }
        drop(tenants);
        for (told, sender) in [
            (stirred.mail, &self.mail),
            (stirred.delivery, &self.delivery),
            (stirred.send, &self.send),
            (stirred.index, &self.index),
            (stirred.tenant, &self.tenant),
        ] {
            if news && told {
                sender.send_modify(|count| *count = count.wrapping_add(1));
            }
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
        let told = FeedPosition::at(position);
        (known.insert(tenant, position) != Some(position)).then_some((tenant, told))
    });
    let moved: Vec<_> = moved.collect();
    feed.publish(moved, Stirred::ALL);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last: u64, indexed: u64) -> FeedPosition {
        FeedPosition { last, indexed }
    }

    #[test]
    fn a_listener_sees_the_latest_position_and_never_an_older_one() {
        let feed = Feed::new();
        let tenant = TenantId::from_parts(1, 1);
        let mut listener = feed.subscribe(tenant);
        let other = (TenantId::from_parts(1, 2), at(9, 9));
        feed.publish([(tenant, at(3, 2)), other], Stirred::ALL);
        feed.publish([(tenant, at(2, 2))], Stirred::ALL);
        assert_eq!(*listener.borrow_and_update(), at(3, 2));
        assert!(!listener.has_changed().expect("open"));
    }

    #[test]
    fn a_worker_is_woken_by_its_own_kind_of_commit() {
        let feed = Feed::new();
        let kinds = [
            Wake::Mail,
            Wake::Delivery,
            Wake::Send,
            Wake::Index,
            Wake::Tenant,
        ];
        let mut wakes = kinds.map(|kind| feed.subscribe_to(kind));
        let mut woken = |stirred| {
            feed.publish([(TenantId::from_parts(1, 1), at(1, 0))], stirred);
            wakes.each_mut().map(|wake| {
                let woken = wake.has_changed().expect("open");
                wake.mark_unchanged();
                woken
            })
        };
        assert_eq!(woken(Stirred::default()), [false; 5]);
        assert_eq!(woken(Stirred::ALL), [true; 5]);
        let mail = Stirred {
            mail: true,
            ..Stirred::default()
        };
        assert_eq!(woken(mail), [true, false, false, false, false]);
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
