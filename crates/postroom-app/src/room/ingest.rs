//! The worker that makes messages of the mail that was received.
//!
//! It takes pending events in order, reads their bytes on threads that may block, and hands the
//! drafts to the store. An event stays pending until its message is in, so that a crash at any
//! point repeats work and loses none. A mail that cannot become a message is marked failed, with
//! its bytes kept, and never holds up those behind it.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use postroom_core::{Command, Draft, EventRow, FailEvent, Ingest, Outcome, Refusal};
use postroom_search::Doc;
use postroom_store::{StoreError, read};
use postroom_types::TenantId;

use super::{
    Room,
    indexing::{attachments_of, searchable},
};

/// Events that one round takes.
const ROUND_EVENTS: usize = 128;
/// How long a round waits after the store failed.
const RETRY: Duration = Duration::from_secs(1);
/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(5);

pub(super) async fn run(room: Arc<Room>) {
    let mut wake = room.store.feed_any();
    let mut after = None;
    loop {
        wake.borrow_and_update();
        let pause = match round(&room, &mut after).await {
            Ok(true) => None,
            Ok(false) => Some(POLL),
            Err(error) => {
                tracing::error!(%error, "received mail could not be read; trying again");
                Some(RETRY)
            }
        };
        let Some(pause) = pause else {
            if room.stop.is_cancelled() {
                return;
            }
            continue;
        };
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
            changed = wake.changed() => if changed.is_err() { return },
        }
    }
}

/// Works off one batch behind `after`; says whether there may be more right now.
async fn round(room: &Room, after: &mut Option<(TenantId, u64)>) -> Result<bool, StoreError> {
    let events = read::pending_events(&room.store, &room.workers, *after, ROUND_EVENTS).await?;
    let Some(last) = events.last() else {
        // From the beginning next time: a place behind `after` says nothing of other tenants.
        return Ok(after.take().is_some());
    };
    let next = (last.tenant_id, last.id);
    let lanes = std::thread::available_parallelism().map_or(2, usize::from);
    let prepared: Vec<Result<(Command, Option<Doc>), StoreError>> =
        stream::iter(events.iter().cloned().map(|event| prepare(room, event)))
            .buffered(lanes)
            .collect()
            .await;
    let prepared = prepared.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (commands, docs): (Vec<_>, Vec<_>) = prepared.into_iter().unzip();
    let answers = room.store.transact_all(commands).await?;
    let mut failures = Vec::new();
    for ((event, doc), answer) in events.iter().zip(docs).zip(answers) {
        match (answer, doc) {
            (
                Ok(Outcome::Ingested {
                    message_id,
                    repeated: false,
                    ..
                }),
                Some(doc),
            ) => {
                room.indexing.handover.put(message_id, doc);
            }
            (Ok(_) | Err(Refusal::Deferred), _) => {}
            (Err(refusal), _) => {
                tracing::warn!(event = event.id, code = %refusal.code(), "a received mail became no message");
                failures.push(fail(event, "it could not become a message"));
            }
        }
    }
    if !failures.is_empty() {
        room.store.transact_all(failures).await?;
    }
    *after = Some(next);
    Ok(true)
}

/// Reads one event's mail.
async fn prepare(room: &Room, event: EventRow) -> Result<(Command, Option<Doc>), StoreError> {
    let scope = room.workers.tenant(event.tenant_id);
    let Some(identity) = event.identity_id else {
        return Ok((fail(&event, "it belongs to no mailbox"), None));
    };
    let raw = match read::event_payload(&room.store, &scope, event.id).await {
        Ok(Some(raw)) => raw,
        Ok(None) | Err(StoreError::Damaged(_)) => {
            tracing::error!(
                event = event.id,
                "the bytes of a received mail cannot be read back"
            );
            return Ok((fail(&event, "its bytes cannot be read back"), None));
        }
        Err(error) => return Err(error),
    };
    let (sender, delivered_to) = (event.mail_from.clone(), event.delivered_to.clone());
    let read = tokio::task::spawn_blocking(move || {
        let parsed = postroom_mail::parse_enveloped(&raw, sender.as_deref());
        let draft = Draft::new(parsed, delivered_to);
        let attachments = attachments_of(&raw, &draft.doc.attachments);
        let doc = searchable(&draft.doc, attachments);
        (draft, doc)
    });
    // The parser has a guard of its own; this is the second one.
    let Ok((draft, doc)) = read.await else {
        tracing::error!(event = event.id, "reading a received mail failed");
        return Ok((fail(&event, "reading it failed"), None));
    };
    let ingest = Ingest {
        tenant: event.tenant_id,
        event_id: event.id,
        identity,
        draft,
    };
    Ok((Command::Ingest(Box::new(ingest)), Some(doc)))
}

fn fail(event: &EventRow, detail: &str) -> Command {
    Command::FailEvent(FailEvent {
        tenant: event.tenant_id,
        event_id: event.id,
        detail: detail.to_owned(),
    })
}
