//! The workers that hand sent mail over.
//!
//! Each transport has a lane. It takes sends that are due, claims them, and hands each over exactly
//! once: nothing leaves that was not claimed in a commit before, and what came of it is a commit
//! again. A claim whose outcome nobody knows, because the process ended or the transport did not
//! answer, becomes `uncertain` and is never handed over again by itself.

mod breaker;
mod handover;
mod lane;

use std::{sync::Arc, time::Duration};

use postroom_core::{Command, ExpireClaims};
use postroom_store::{StoreError, read};
use postroom_types::{Timestamp, limit};

use super::Room;
use crate::transport::Transport;
pub(super) use breaker::Breakers;

/// How often claims that nobody speaks for are looked for.
const EXPIRY: Duration = Duration::from_secs(30);

pub(super) async fn run(room: Arc<Room>) {
    let Ok(process) = crate::random::bits() else {
        tracing::error!("no randomness: nothing is sent");
        return;
    };
    let outbox = Arc::new(Outbox { process, room });
    for transport in outbox.room.transports() {
        let (name, at_once) = (transport.name(), transport.at_once());
        let lane = lane::run(Arc::clone(&outbox), name, at_once);
        outbox.room.tasks.spawn(lane);
    }
    outbox.give_up_claims().await;
}

struct Outbox {
    room: Arc<Room>,
    /// Names this process in its claims.
    process: u128,
}

impl Outbox {
    /// Gives claims up that nobody speaks for: those of a former process at once, where only one can
    /// run, and all that are too old.
    async fn give_up_claims(&self) {
        loop {
            if let Err(error) = self.expire().await {
                tracing::error!(%error, "old claims of sends could not be given up; trying again");
            }
            tokio::select! {
                () = self.room.stop.cancelled() => return,
                () = tokio::time::sleep(EXPIRY) => {}
            }
        }
    }

    async fn expire(&self) -> Result<(), StoreError> {
        let room = &self.room;
        let claims = read::open_claims(&room.store, &room.workers).await?;
        if claims.is_empty() {
            return Ok(());
        }
        let age = i64::try_from(limit::SEND_CLAIM_MS).unwrap_or(i64::MAX);
        let expire = ExpireClaims {
            sends: claims.into_iter().map(|claim| claim.send).collect(),
            claimed_before: room.now().plus_ms(-age),
            // The data folder has one owner; a database server may have several nodes.
            only_process: room.owns_database_alone().then_some(self.process),
        };
        room.store
            .transact(Command::ExpireClaims(expire))
            .await
            .map(drop)
    }
}

impl Room {
    /// The transports that take mail now: the one for what stays here, and the operator's.
    fn transports(&self) -> impl Iterator<Item = &Transport> {
        let inside = self.transport_for(true);
        let outside = Some(&self.transport).filter(|outside| outside.name() != inside.name());
        std::iter::once(inside).chain(outside)
    }

    /// Until when the operator's transport is left alone.
    pub(crate) fn transport_paused_until(&self) -> Option<Timestamp> {
        let name = self.transport.name();
        self.breakers.paused_until(name, self.now())
    }

    /// Whether no other process can use the database.
    fn owns_database_alone(&self) -> bool {
        self.database().kind == "sqlite"
    }
}
