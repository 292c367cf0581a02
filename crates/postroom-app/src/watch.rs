//! Hearing of changes: what a caller's part of the feed says about resources.

use std::collections::VecDeque;

use postroom_store::read;
use postroom_types::{TenantScope, limit};
use tokio::sync::watch;

use crate::{
    Actor, Failure, Room, authorise,
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
    wake: Option<watch::Receiver<u64>>,
    scope: Option<TenantScope>,
    position: u64,
    ready: VecDeque<String>,
}

struct Watched {
    uri: String,
    located: Located,
    identity: Option<postroom_types::IdentityId>,
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
            let identity = located.identity.as_ref().and(granted.identity);
            watched.push(Watched {
                uri: uri.clone(),
                located,
                identity,
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
            let hit = rows.iter().any(|row| {
                watched.located.resource.changes_with(row.kind)
                    && watched
                        .identity
                        .is_none_or(|identity| row.identity_id == Some(identity))
            });
            if hit {
                self.ready.push_back(watched.uri.clone());
            }
        }
        self.position = position;
        Ok(true)
    }
}
