//! The worker that makes messages of the mail that was received.
//!
//! It takes pending events in order, reads their bytes on threads that may block, and hands the
//! drafts to the store. An event stays pending until its message is in, so that a crash at any
//! point repeats work and loses none. A mail that cannot become a message is marked failed, with
//! its bytes kept, and never holds up those behind it.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use postroom_core::{Command, Draft, EventRow, FailEvent, Ingest, Outcome, Refusal};
use postroom_mail::{Flag, dsn::Report};
use postroom_search::Doc;
use postroom_store::{
    StoreError, Wake,
    read::{self, KeptBytes},
};
use postroom_types::TenantId;

use super::{
    Room,
    indexing::{attachments_of, searchable},
    mail_rules::{MailSources, Ready},
    reports,
    tokens::{self, Filing},
};
use crate::clock::monotonic;

/// Events that one round takes.
const ROUND_EVENTS: usize = 128;
/// Bytes of mails, unpacked, that one read takes; a mail larger than this is read alone.
const ROUND_BYTES: u64 = 8 * 1024 * 1024;
/// Events in one round from which on mail pours.
const POURING_EVENTS: usize = 4;
/// While mail pours in, rounds are at least so far apart: each costs a commit, which those who wait
/// for their 250 pay for. A single mail never waits for this.
const ROUND_PACE: Duration = Duration::from_millis(50);
/// Mails that come in during one round from which on their senders go first.
const POURING_MAILS: u64 = 16;
/// The longest pause that those get.
const LULL: Duration = Duration::from_millis(250);
/// How long a round waits after the store failed.
const RETRY: Duration = Duration::from_secs(1);
/// A lost wake-up costs no more than this.
const POLL: Duration = Duration::from_secs(5);

pub(super) async fn run(room: Arc<Room>) {
    let mut wake = room.store.wake(Wake::Mail);
    let mut after = None;
    let mut sources = MailSources::default();
    loop {
        wake.borrow_and_update();
        let began = monotonic();
        let received = room.received.load(Ordering::Relaxed);
        let outcome = round(&room, &mut sources, &mut after).await;
        let came = room.received.load(Ordering::Relaxed) - received;
        let pause = match outcome {
            Ok(0) => {
                tokio::select! {
                    () = room.stop.cancelled() => return,
                    () = tokio::time::sleep(POLL) => {}
                    changed = wake.changed() => if changed.is_err() { return },
                }
                continue;
            }
            // While it pours, at least half of the time is theirs who wait for an acknowledgement.
            Ok(POURING_EVENTS..) if came >= POURING_MAILS => {
                began.elapsed().clamp(ROUND_PACE, LULL)
            }
            Ok(POURING_EVENTS..ROUND_EVENTS) => ROUND_PACE.saturating_sub(began.elapsed()),
            Ok(_) => Duration::ZERO,
            Err(error) => {
                tracing::error!(%error, "received mail could not be read; trying again");
                RETRY
            }
        };
        tokio::select! {
            () = room.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Works off one batch behind `after`; says how many events there were, 0 when none waits.
async fn round(
    room: &Room,
    sources: &mut MailSources,
    after: &mut Option<(TenantId, u64)>,
) -> Result<usize, StoreError> {
    let mut events = read::pending_events(&room.store, &room.workers, *after, ROUND_EVENTS).await?;
    if events.is_empty() && after.take().is_some() {
        // Once more from the beginning: a place behind `after` says nothing of other tenants.
        events = read::pending_events(&room.store, &room.workers, None, ROUND_EVENTS).await?;
    }
    let Some(last) = events.last() else {
        return Ok(0);
    };
    let next = (last.tenant_id, last.id);
    let tenants: BTreeSet<TenantId> = events.iter().map(|event| event.tenant_id).collect();
    sources.refresh(room, &tenants).await?;
    let mut prepared = prepare_all(room, sources, &events).await?;
    // Before the messages are in: a crash between the two repeats what a report says, and it says the
    // same again.
    tell_fates(room, &events, &mut prepared).await?;
    store(room, &events, prepared).await?;
    *after = Some(next);
    Ok(events.len())
}

/// Reads the mail of each event and makes the command that takes it in, on all cores.
async fn prepare_all(
    room: &Room,
    sources: &MailSources,
    events: &[EventRow],
) -> Result<Vec<Prepared>, StoreError> {
    let filings = tokens::filings(room, events).await?;
    let mut filings = filings.into_iter();
    let lanes = std::thread::available_parallelism().map_or(2, usize::from);
    let mut prepared = Vec::with_capacity(events.len());
    for some in read_together(events) {
        let Some(first) = some.first() else { continue };
        let bytes = read::kept_bytes(&room.store, &room.workers, first.tenant_id, some).await?;
        let ready = some
            .iter()
            .map(|event| (sources.of(event), filings.next().unwrap_or_default()));
        let mut waiting: Vec<_> = some
            .iter()
            .cloned()
            .zip(bytes)
            .zip(ready.collect::<Vec<_>>())
            .collect();
        // One turn of a thread for many mails: a turn costs more than a small mail.
        let share = waiting.len().div_ceil(lanes);
        let mut lane = Vec::new();
        while !waiting.is_empty() {
            let rest = waiting.split_off(share.min(waiting.len()));
            lane.push(tokio::task::spawn_blocking(move || {
                waiting
                    .into_iter()
                    .map(|((event, kept), (source, filing))| {
                        prepare(event, kept, source.as_deref(), filing)
                    })
                    .collect::<Vec<_>>()
            }));
            waiting = rest;
        }
        for done in lane {
            prepared.extend(done.await.map_err(|_| StoreError::Unavailable)?);
        }
    }
    Ok(prepared)
}

/// Records what reports among the mails say of mail that was sent, and marks those that did.
async fn tell_fates(
    room: &Room,
    events: &[EventRow],
    prepared: &mut [Prepared],
) -> Result<(), StoreError> {
    let told = events.iter().zip(&mut *prepared);
    let told: Vec<_> = told
        .filter_map(|(event, prepared)| Some((event, prepared.report.take()?)))
        .collect();
    let matched = reports::record(room, told).await?;
    for (event, prepared) in events.iter().zip(prepared) {
        if matched.contains(&(event.tenant_id, event.id))
            && let Command::Ingest(ingest) = &mut prepared.command
        {
            ingest.draft.doc.tells_fate = true;
        }
    }
    Ok(())
}

/// Makes the messages, hands their texts to the index, and notes which became none.
async fn store(
    room: &Room,
    events: &[EventRow],
    prepared: Vec<Prepared>,
) -> Result<(), StoreError> {
    let (commands, docs): (Vec<_>, Vec<_>) = prepared
        .into_iter()
        .map(|prepared| (prepared.command, prepared.doc))
        .unzip();
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
            // Rules that changed meanwhile judge it in a later round.
            (Ok(_) | Err(Refusal::Deferred | Refusal::SourceChanged), _) => {}
            (Err(refusal), _) => {
                tracing::warn!(event = event.id, code = %refusal.code(), "a received mail became no message");
                failures.push(fail(event, "it could not become a message"));
            }
        }
    }
    if !failures.is_empty() {
        room.store.transact_all(failures).await?;
    }
    Ok(())
}

/// Runs of events of one tenant whose bytes are read in one go, each with at least one event.
fn read_together(events: &[EventRow]) -> Vec<&[EventRow]> {
    let mut runs = Vec::new();
    let mut rest = events;
    while let Some(first) = rest.first() {
        let mut bytes = first.payload_size;
        let more = rest.iter().skip(1).take_while(|event| {
            bytes = bytes.saturating_add(event.payload_size);
            event.tenant_id == first.tenant_id && bytes <= ROUND_BYTES
        });
        let (run, behind) = rest.split_at(1 + more.count());
        runs.push(run);
        rest = behind;
    }
    runs
}

/// One event's mail, read.
struct Prepared {
    command: Command,
    doc: Option<Doc>,
    /// What it says of mail that was sent.
    report: Option<Report>,
}

impl From<Command> for Prepared {
    fn from(command: Command) -> Self {
        Self {
            command,
            doc: None,
            report: None,
        }
    }
}

/// Reads one event's mail.
fn prepare(
    event: EventRow,
    kept: Option<KeptBytes>,
    source: Option<&Ready>,
    filing: Filing,
) -> Prepared {
    let Some(identity) = event.identity_id else {
        return fail(&event, "it belongs to no mailbox").into();
    };
    let bytes = kept.ok_or(StoreError::Damaged("a blob that is missing"));
    let Ok(raw) = bytes.and_then(KeptBytes::unpack) else {
        tracing::error!(
            event = event.id,
            "the bytes of a received mail cannot be read back"
        );
        return fail(&event, "its bytes cannot be read back").into();
    };
    // The parser has a guard of its own; this is the second one.
    let read = catch_unwind(AssertUnwindSafe(|| {
        let parsed = postroom_mail::parse_enveloped(&raw, event.mail_from.as_deref());
        let mut draft = Draft::new(parsed, event.delivered_to.clone());
        draft.thread = filing.thread;
        if filing.unverified {
            draft.doc.flags.push(Flag::ThreadJoinUnverified);
        }
        draft.doc.unvouched = !event.trust_mode.vouches();
        let attachments = attachments_of(&raw, &draft.doc.attachments);
        let doc = searchable(&draft.doc, attachments);
        let report = reports::read(&event, &raw, draft.kind);
        // What became of a mail stands in its thread; few reports name it in a header.
        let about = report
            .as_ref()
            .and_then(|report| report.original_message_id.as_deref());
        if let Some(original) = about {
            draft.joins(original);
        }
        (draft, doc, report)
    }));
    let Ok((draft, doc, report)) = read else {
        tracing::error!(event = event.id, "reading a received mail failed");
        return fail(&event, "reading it failed").into();
    };
    let ingest = Ingest {
        tenant: event.tenant_id,
        event_id: event.id,
        identity,
        work: source.and_then(|source| source.judge(&event, &draft)),
        draft,
    };
    Prepared {
        command: Command::Ingest(Box::new(ingest)),
        doc: Some(doc),
        report,
    }
}

fn fail(event: &EventRow, detail: &str) -> Command {
    Command::FailEvent(FailEvent {
        tenant: event.tenant_id,
        event_id: event.id,
        detail: detail.to_owned(),
    })
}
