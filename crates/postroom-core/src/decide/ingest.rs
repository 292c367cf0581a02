//! Messages made of parsed mail, with their threads and contacts.

use super::{
    Context, Tick, active_tenant, arrival, known_identity,
    todo::{Opening, open},
};
use crate::{
    Arrival, Change, ContactRow, Decision, Direction, Disposition, Draft, EventRow, EventState,
    Import, ImportOutcome, Ingest, LabelRow, MailWork, MessageRow, MessageStatus, Outcome, Refusal,
    State, ThreadKeyRow, ThreadRow, TrustMode, fold, is_label,
    needs::once_hash,
    row::{FeedKind, FeedRow},
    thread,
};
use postroom_types::{ErrorCode, IdentityId, MessageId, ThreadId, Timestamp, limit};
use std::collections::{BTreeMap, BTreeSet};

/// How far a Date header may lie before the arrival and be believed: ten years.
const DATE_OLDEST_MS: i64 = 3_652 * 24 * 3_600_000;
/// How far it may lie after the arrival: one day.
const DATE_NEWEST_MS: i64 = 24 * 3_600_000;
/// How far after its arrival a message may stand in lists.
const SORT_AHEAD_MS: i64 = 5 * 60_000;

pub(super) fn ingest(
    ingest: &Ingest,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let event = state
        .events
        .get(&(ingest.tenant, ingest.event_id))
        .filter(|event| event.identity_id == Some(ingest.identity))
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    if let Some(message_id) = event.message_id {
        return repeated(message_id, state);
    }
    // An event that was given up may be worked off after all, by hand or by a better parser.
    known_identity(state, ingest.tenant, ingest.identity)?;
    let received_at = event.received_at;
    let sent_at = ingest.draft.date.filter(|date| {
        *date >= received_at.plus_ms(-DATE_OLDEST_MS)
            && *date <= received_at.plus_ms(DATE_NEWEST_MS)
    });
    let mut tick = Tick::new(state, ingest.tenant, context.now);
    let id = MessageId::from_parts(context.now.ulid_ms(), context.bits());
    let feed = tick.next_numbered(
        FeedKind::MessageReceived,
        Some(ingest.identity),
        Some(id.bits()),
    );
    let facts = Facts {
        id,
        feed,
        sent_at,
        received_at,
        unread: true,
        archive: false,
    };
    let mut made = make_message(event, &ingest.draft, facts, &mut tick, state, context);
    let mut event = EventRow {
        state: EventState::Done,
        message_id: Some(id),
        detail: None,
        ..event.clone()
    };
    if let Some(work) = &ingest.work {
        let opened = open_work(work, &mut event, state, &mut tick, context)?;
        made.changes.extend(opened);
    }
    made.changes.push(Change::PutEvent(Box::new(event)));
    Ok(Decision {
        changes: made.changes,
        outcome: Outcome::Ingested {
            message_id: id,
            thread_id: made.thread_id,
            repeated: false,
        },
    })
}

/// Opens the work of a mail as its source's rules said. What cannot be opened is left out and said of
/// the event: the mail is in all the same.
fn open_work(
    judged: &MailWork,
    event: &mut EventRow,
    state: &State,
    tick: &mut Tick,
    context: &mut Context<'_>,
) -> Result<Vec<Change>, Refusal> {
    let source = state
        .sources
        .get(&judged.source)
        .filter(|row| row.tenant_id == event.tenant_id && row.version == judged.source_version)
        .ok_or(Refusal::SourceChanged)?;
    let routing = &judged.routing;
    event.source_id = Some(source.id);
    event.disposition = routing.disposition;
    event.routing_trace = routing.trace.clone();
    let mut changes = vec![Change::CountDelivery {
        tenant_id: event.tenant_id,
        source_id: source.id,
        at: context.now,
        repeated: false,
    }];
    let once = routing.once.as_deref().map(once_hash);
    let repeat = once.is_some_and(|key| state.once_keys.contains(&(source.id, key)));
    let wanted = routing.disposition != Disposition::Dropped && !repeat;
    let Some(work) = routing.work.as_ref().filter(|_| wanted) else {
        return Ok(changes);
    };
    let opening = Opening {
        tenant: event.tenant_id,
        identity: event.identity_id,
        queue: work.queue.as_deref().unwrap_or(&source.queue),
        work,
        source_id: Some(source.id),
        source: Some(&source.provider),
        event_id: Some(event.id),
        payload_size: event.payload_size,
        trace: routing.trace.as_deref(),
    };
    match open(&opening, None, state, tick, context) {
        Ok(opened) => {
            event.todo_id = Some(opened.row.id);
            changes.extend(opened.changes);
            changes.extend(once.map(|key| Change::AddOnce {
                tenant_id: event.tenant_id,
                source_id: source.id,
                key,
                event_id: event.id,
            }));
        }
        Err(refusal) => event.detail = Some(format!("no work was opened: {}", refusal.reason())),
    }
    Ok(changes)
}

fn repeated(message_id: MessageId, state: &State) -> Result<Decision, Refusal> {
    let Some(known) = state.messages.get(&message_id) else {
        // The message was made earlier in this round or is not loaded: look again.
        return Err(Refusal::Deferred);
    };
    Ok(Decision::unchanged(Outcome::Ingested {
        message_id,
        thread_id: state.canonical(known.row.thread_id),
        repeated: true,
    }))
}

pub(super) fn import(
    import: &Import,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    arrival::check_size(&import.raw)?;
    let labels: BTreeSet<&String> = import.labels.iter().collect();
    if labels.len() > limit::LABELS_PER_MESSAGE || !labels.iter().all(|label| is_label(label)) {
        return Err(Refusal::invalid("labels", "at most 64 labels"));
    }
    let recipient = &import.recipient;
    active_tenant(state, recipient.tenant)?;
    known_identity(state, recipient.tenant, recipient.identity)?;
    if let Some(known) = arrival::known_arrival(recipient, &import.raw, state) {
        return Ok(Decision::unchanged(Outcome::Imported(
            ImportOutcome::Duplicate {
                event_id: known.event_id,
            },
        )));
    }
    let mut tick = Tick::new(state, recipient.tenant, context.now);
    let id = MessageId::from_parts(context.now.ulid_ms(), context.bits());
    let feed = tick.next_numbered(
        FeedKind::MessageImported,
        Some(recipient.identity),
        Some(id.bits()),
    );
    let (event_id, num) = (feed.position, feed.position);
    let at = archive_time(import, context.now);
    let event = EventRow {
        occurred_at: Some(at),
        state: EventState::Done,
        message_id: Some(id),
        ..arrival::event(recipient, &import.raw, &archive(import), event_id, tick.at)
    };
    let facts = Facts {
        id,
        feed,
        sent_at: import.draft.date,
        received_at: at,
        unread: import.unread,
        archive: true,
    };
    let made = make_message(&event, &import.draft, facts, &mut tick, state, context);
    let mut changes = vec![
        arrival::blob(recipient.tenant, &import.raw),
        Change::PutEvent(Box::new(event)),
    ];
    changes.extend(made.changes);
    changes.extend(labels.into_iter().map(|label| {
        let row = LabelRow {
            tenant_id: recipient.tenant,
            identity_id: recipient.identity,
            label: label.clone(),
            num,
        };
        Change::AddLabel(row, made.thread_id)
    }));
    Ok(Decision {
        changes,
        outcome: Outcome::Imported(ImportOutcome::Stored {
            event_id,
            message_id: id,
            thread_id: made.thread_id,
        }),
    })
}

/// When a mail of an archive came in there: its topmost Received header, else its Date, else the
/// file's time; never in the future.
fn archive_time(import: &Import, now: Timestamp) -> Timestamp {
    let draft = &import.draft;
    draft
        .received_at
        .or(draft.date)
        .or(import.file_time)
        .unwrap_or(now)
        .min(now)
}

fn archive(import: &Import) -> Arrival {
    Arrival {
        provider: import.provider.clone(),
        trust_mode: match import.draft.doc.unvouched {
            true => TrustMode::Agent,
            false => TrustMode::Queue,
        },
        verify_detail: Some("taken from an archive".to_owned()),
        source_ip: None,
        mail_from: None,
        headers: BTreeMap::new(),
    }
}

/// What the two ways in know of a message besides its words.
struct Facts {
    id: MessageId,
    feed: FeedRow,
    sent_at: Option<Timestamp>,
    received_at: Timestamp,
    unread: bool,
    archive: bool,
}

struct Made {
    changes: Vec<Change>,
    thread_id: ThreadId,
}

fn make_message(
    event: &EventRow,
    draft: &Draft,
    facts: Facts,
    tick: &mut Tick,
    state: &State,
    context: &mut Context<'_>,
) -> Made {
    let identity = event.identity_id.unwrap_or(IdentityId::from_parts(0, 0));
    let joined = joined_threads(identity, draft, state);
    let thread_id = joined
        .first()
        .copied()
        .unwrap_or_else(|| ThreadId::from_parts(context.now.ulid_ms(), context.bits()));
    let conflict = draft
        .keys
        .first()
        .and_then(|own| state.thread_keys.get(&(identity, *own)))
        .and_then(|row| row.holder)
        // A mailbox that writes to itself has its own mail twice: as it left and as it came.
        .filter(|_| event.provider != Arrival::LOOPBACK);
    let row = MessageRow {
        id: facts.id,
        tenant_id: event.tenant_id,
        identity_id: identity,
        num: facts.feed.position,
        thread_id,
        event_id: Some(event.id),
        direction: Direction::Inbound,
        status: MessageStatus::Received,
        kind: draft.kind,
        rfc_message_id: draft.rfc_message_id.clone(),
        from_address: draft.from_address().map(str::to_owned),
        sent_at: facts.sent_at,
        received_at: facts.received_at,
        sort_at: sort_at(&facts, &joined, state),
        unread: facts.unread && !draft.doc.tells_fate,
        id_conflict: conflict.is_some(),
        sha256: event.sha256,
        size: event.payload_size,
    };
    let mut changes = vec![Change::AddMessage(row.clone()), Change::Feed(facts.feed)];
    join(
        &row,
        draft,
        &joined,
        facts.archive,
        tick,
        state,
        &mut changes,
    );
    put_keys(&row, draft, thread_id, state, &mut changes);
    if let Some(num) = conflict {
        changes.push(Change::MarkConflict {
            tenant_id: row.tenant_id,
            num,
        });
        let mut feed = tick.next(FeedKind::MessageChanged, Some(identity), None);
        feed.num = Some(num);
        changes.push(Change::Feed(feed));
    }
    changes.extend(contact(&row, draft, state).map(Change::PutContact));
    Made { changes, thread_id }
}

/// Where a mail stands in its thread: by its author's clock, as far as it goes neither far ahead of ours
/// nor before a mail of ours that the thread ended with when this one came in. What comes after our
/// mail is read after it, however late its author's clock is.
fn sort_at(facts: &Facts, joined: &[ThreadId], state: &State) -> Timestamp {
    let by_clock = facts
        .sent_at
        .unwrap_or(facts.received_at)
        .min(facts.received_at.plus_ms(SORT_AHEAD_MS));
    let thread = joined.first().and_then(|id| state.threads.get(id));
    let ours = thread.filter(|thread| {
        !facts.archive
            && thread.last_direction == Direction::Outbound
            && thread.last_at <= facts.received_at
    });
    ours.map_or(by_clock, |thread| by_clock.max(thread.last_at.plus_ms(1)))
}

/// The thread that a token in the envelope names, if it is one of the mailbox; else the threads that
/// a mail's keys name, oldest first.
fn joined_threads(identity: IdentityId, draft: &Draft, state: &State) -> Vec<ThreadId> {
    let named = draft.thread.map(|thread| state.canonical(thread));
    let own = named
        .and_then(|thread| state.threads.get(&thread))
        .filter(|thread| thread.identity_id == identity);
    if let Some(thread) = own {
        return vec![thread.id];
    }
    let found: BTreeSet<ThreadId> = draft
        .keys
        .iter()
        .filter_map(|key| state.thread_of_key(identity, key))
        .collect();
    found.into_iter().collect()
}

/// Adds the message to the oldest of its threads and merges the others into it.
fn join(
    row: &MessageRow,
    draft: &Draft,
    joined: &[ThreadId],
    archive: bool,
    tick: &mut Tick,
    state: &State,
    changes: &mut Vec<Change>,
) {
    let identity = row.identity_id;
    let one = thread::single(row, draft, |address| state.is_own(identity, address));
    let known: Vec<ThreadRow> = joined
        .iter()
        .filter_map(|id| state.threads.get(id).cloned())
        .collect();
    let mut known = known.into_iter();
    let Some(mut sum) = known.next() else {
        changes.push(Change::PutThread(one));
        return;
    };
    let mut one = one;
    if draft.doc.tells_fate {
        thread::hide(&mut one);
    }
    thread::combine(&mut sum, one);
    // An arrival brings a thread back that was put away; an archive's mail does not, nor what only tells
    // the fate of a mail.
    sum.archived = sum.archived && (archive || draft.doc.tells_fate);
    let mut merges = Vec::new();
    for other in known {
        let from = other.id;
        sum.archived = sum.archived && other.archived;
        thread::combine(&mut sum, other);
        let feed = tick.next(FeedKind::ThreadChanged, Some(identity), Some(sum.id.bits()));
        merges.push(Change::Feed(feed));
        merges.push(Change::MergeThread {
            tenant_id: row.tenant_id,
            identity_id: identity,
            from,
            into: sum.id,
        });
    }
    changes.push(Change::PutThread(sum));
    changes.extend(merges);
}

/// Notes the mail's keys: all of them lead to its thread, and its own id has it as holder.
pub(super) fn put_keys(
    row: &MessageRow,
    draft: &Draft,
    thread_id: ThreadId,
    state: &State,
    changes: &mut Vec<Change>,
) {
    for (place, key) in draft.keys.iter().enumerate() {
        let known = state.thread_keys.get(&(row.identity_id, *key));
        let holder = (place == 0).then_some(row.num);
        let holds = known.is_some_and(|known| known.holder.is_some() || holder.is_none());
        if holds {
            continue;
        }
        changes.push(Change::PutThreadKey(ThreadKeyRow {
            identity_id: row.identity_id,
            key: *key,
            thread_id,
            holder,
        }));
    }
}

/// The author as a contact, counted once more unless the mail vouches for nobody: such a contact is
/// shown, and not known to the mailbox.
fn contact(row: &MessageRow, draft: &Draft, state: &State) -> Option<ContactRow> {
    let from = draft.doc.from.as_ref()?;
    let address = draft.from_address()?;
    let domain = from.domain()?;
    if state.is_own(row.identity_id, address) || draft.doc.tells_fate {
        return None;
    }
    let name = Some(from.name.trim()).filter(|name| !name.is_empty());
    let at = row.received_at;
    let known = state.contacts.get(&(row.identity_id, address.to_owned()));
    let mut contact = known.cloned().unwrap_or_else(|| ContactRow {
        tenant_id: row.tenant_id,
        identity_id: row.identity_id,
        address: address.to_owned(),
        name: None,
        folded: String::new(),
        domain: domain.to_owned(),
        first_seen_at: at,
        last_seen_at: at,
        inbound_count: 0,
        outbound_count: 0,
        last_thread_id: None,
    });
    contact.inbound_count += u64::from(!draft.doc.unvouched);
    contact.first_seen_at = contact.first_seen_at.min(at);
    let latest = at >= contact.last_seen_at;
    if latest {
        contact.last_seen_at = at;
        contact.last_thread_id = Some(row.thread_id);
    }
    if let Some(name) = name.filter(|_| latest || contact.name.is_none()) {
        contact.folded = fold(name);
        contact.name = Some(name.to_owned());
    }
    Some(contact)
}
