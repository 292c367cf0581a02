//! Hearing of changes: what a caller's part of the feed says about resources.

use std::collections::{HashSet, VecDeque};

use postroom_core::{FeedRow, Worker};
use postroom_store::{FeedPosition, read};
use postroom_types::{IdentityId, TenantScope, limit};
use tokio::sync::watch;

use crate::{
    Actor, Failure, Room, authorise,
    op::working::worker_of,
    resource::{Located, locate},
};

/// Positions of the feed that one look takes.
const LOOK: usize = 500;

/// The changes of some resources, as one caller may see them.
pub struct ResourceWatch {
    /// The addresses that are watched, as they were asked for.
    accepted: Vec<String>,
    watched: Vec<Watched>,
    room: std::sync::Arc<Room>,
    wake: Option<watch::Receiver<FeedPosition>>,
    scope: Option<TenantScope>,
    position: u64,
    ready: VecDeque<String>,
}

struct Watched {
    uri: String,
    located: Located,
    identity: Option<IdentityId>,
    /// Only what happens in this queue, and who asks for it.
    queue: Option<(String, Worker)>,
}

impl std::fmt::Debug for ResourceWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceWatch")
            .field("accepted", &self.accepted)
            .finish_non_exhaustive()
    }
}

impl Room {
    /// Watches the resources at `uris` from now on. What there is not, or what the caller may not
    /// read, is left out without a word.
    ///
    /// # Errors
    /// A bad argument past the bound on resources; `unavailable` when the store cannot say.
    pub async fn watch(
        self: &std::sync::Arc<Self>,
        actor: &Actor,
        uris: &[String],
    ) -> Result<ResourceWatch, Failure> {
        if uris.len() > limit::SUBSCRIPTION_RESOURCES {
            return Err(Failure::invalid(
                "resourceSubscriptions",
                "names too many resources",
            ));
        }
        let mut watched = Vec::new();
        let mut scope = None;
        for uri in uris {
            let Some(located) = locate(uri) else { continue };
            let Some(operation) = located.resource.operation_for(actor) else {
                continue;
            };
            let Ok(granted) =
                authorise::authorise(self, actor, operation, &located.arguments()).await
            else {
                continue;
            };
            let Some(granted_scope) = granted.scope else {
                continue;
            };
            // One stream follows one tenant's feed.
            if scope.is_some_and(|known: TenantScope| known.tenant() != granted_scope.tenant()) {
                continue;
            }
            scope = Some(widest(scope, granted_scope));
            let identity = located.part("identity").and(granted.identity);
            let queue = located.part("queue").map(|queue| {
                let worker = worker_of(actor, granted_scope);
                (queue.to_owned(), worker)
            });
            watched.push(Watched {
                uri: uri.clone(),
                located,
                identity,
                queue,
            });
        }
        let position = match &scope {
            Some(scope) => read::position(self.store(), scope).await?,
            None => 0,
        };
        Ok(ResourceWatch {
            accepted: watched.iter().map(|watched| watched.uri.clone()).collect(),
            wake: scope.map(|scope| self.store().feed(scope.tenant())),
            watched,
            room: std::sync::Arc::clone(self),
            scope,
            position,
            ready: VecDeque::new(),
        })
    }
}

fn widest(known: Option<TenantScope>, other: TenantScope) -> TenantScope {
    match known {
        Some(known) if known.reach() == postroom_types::Reach::Tenant => known,
        Some(known) if known.reach() == other.reach() => known,
        Some(_) => TenantScope::granted(other.tenant(), postroom_types::Reach::Tenant),
        None => other,
    }
}

impl ResourceWatch {
    /// The addresses that are watched.
    pub fn accepted(&self) -> &[String] {
        &self.accepted
    }

    /// The address of the next resource that changed; `None` when there will be no more. Dropping
    /// the future loses nothing.
    pub async fn next(&mut self) -> Option<String> {
        let scope = self.scope?;
        loop {
            if let Some(uri) = self.ready.pop_front() {
                return Some(uri);
            }
            if let Some(wake) = &mut self.wake {
                wake.borrow_and_update();
            }
            match self.look(&scope).await {
                Ok(true) => continue,
                Ok(false) => {}
                // The store is closing or cannot answer: the client reads again when it comes back.
                Err(_) => return None,
            }
            if self.wake.as_mut()?.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Reads the feed on and notes what changed; whether there was anything.
    async fn look(&mut self, scope: &TenantScope) -> Result<bool, Failure> {
        let rows = read::changes(self.room.store(), scope, self.position, LOOK).await?;
        let Some(last) = rows.last() else {
            return Ok(false);
        };
        let position = last.position;
        for watched in &self.watched {
            if watched.is_hit(&self.room, &rows).await? {
                self.ready.push_back(watched.uri.clone());
            }
        }
        self.position = position;
        Ok(true)
    }
}

impl Watched {
    /// Whether one of the changes is one of its own.
    async fn is_hit(&self, room: &Room, rows: &[FeedRow]) -> Result<bool, Failure> {
        let mut asked = HashSet::new();
        for row in rows {
            let resource = self.located.resource;
            let own = self
                .identity
                .is_none_or(|identity| row.identity_id == Some(identity));
            if !own || !resource.changes_with(row.kind) {
                continue;
            }
            let Some((queue, worker)) = &self.queue else {
                return Ok(true);
            };
            // The feed names the todo and not its queue, which never changes.
            let Some(todo) = row.todo_id().filter(|id| asked.insert(*id)) else {
                continue;
            };
            let found = read::todo_row(room.store(), worker, todo).await?;
            if found.is_some_and(|found| found.queue == *queue) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
