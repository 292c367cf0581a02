//! The rows of a mail that was taken in to be sent.

use super::{
    allow::{Filtered, status},
    ledger::usage_of,
    queue::Facts,
};
use crate::{
    Change, ContactRow, Decision, Direction, LabelRow, MessageRow, MessageStatus, Outcome,
    OutgoingMail, Refusal, SendRecipient, SendThread, SentOutcome, ThreadRow,
    decide::{Tick, ingest::put_keys},
    fold,
    row::{
        DeliveryRow, FeedKind, IdempotencyRow, Participant, SendKind, SendRow, SendState, UsageRow,
        roll_up, without_detail,
    },
    thread,
};
use postroom_types::{ErrorCode, ThreadId};
use std::collections::BTreeSet;

/// Writes a mail that passed every check.
pub(super) fn make(facts: &Facts<'_>, filtered: &[Filtered<'_>]) -> Result<Decision, Refusal> {
    let queue = facts.queue;
    let Some(mail) = &queue.mail else {
        return Err(ErrorCode::InternalError.into());
    };
    let mut tick = Tick::new(facts.state, facts.tenant.id, facts.now);
    let feed = tick.next_numbered(
        FeedKind::MessageQueued,
        Some(facts.identity.id),
        Some(queue.id.bits()),
    );
    let rolled = roll_up(false, filtered.iter().map(status));
    let thread_id = match (queue.thread, facts.thread) {
        (_, Some(known)) => known.id,
        (SendThread::New(id) | SendThread::Existing(id), None) => id,
    };
    let row = message(facts, mail, thread_id, rolled, feed.position, &tick);
    let num = row.num;
    let mut changes = vec![
        Change::AddBlob {
            tenant_id: row.tenant_id,
            sha256: mail.raw.sha256,
            size: mail.raw.size,
        },
        Change::AddMessage(row.clone()),
        Change::Feed(feed),
        Change::PutThread(thread_with(facts, mail, &row)),
    ];
    put_keys(&row, &mail.draft, thread_id, facts.state, &mut changes);
    put_labels(facts, &row, &mut changes);
    put_deliveries(facts, filtered, &mut changes);
    let sent = filtered.iter().filter(|one| one.reason.is_none());
    for one in sent.clone() {
        changes.push(Change::PutContact(contact(facts, one.recipient, &row)));
    }
    hold(facts, sent.count() as u64, &mut changes);
    changes.push(Change::AddSend(Box::new(send(facts, mail, rolled, num))));
    changes.push(Change::PutIdempotency(IdempotencyRow {
        identity_id: facts.identity.id,
        tenant_id: facts.tenant.id,
        key: queue.idempotency.key,
        fingerprint: queue.idempotency.fingerprint,
        message_id: queue.id,
        at: facts.now,
    }));
    if rolled == MessageStatus::Suppressed {
        let kind = FeedKind::MessageSuppressed;
        let mut feed = tick.next(kind, Some(facts.identity.id), Some(queue.id.bits()));
        feed.num = Some(num);
        changes.push(Change::Feed(feed));
    }
    drop_draft(facts, &mut tick, &mut changes);
    Ok(Decision {
        changes,
        outcome: Outcome::Sent(SentOutcome {
            message_id: queue.id,
            deduplicated: false,
        }),
    })
}

fn message(
    facts: &Facts<'_>,
    mail: &OutgoingMail,
    thread_id: ThreadId,
    status: MessageStatus,
    num: u64,
    tick: &Tick,
) -> MessageRow {
    let sent_at = mail.draft.date.unwrap_or(facts.now);
    let answered = facts.queue.answers;
    let answered = answered.and_then(|id| facts.state.messages.get(&id));
    MessageRow {
        id: facts.queue.id,
        tenant_id: facts.tenant.id,
        identity_id: facts.identity.id,
        num,
        thread_id,
        event_id: None,
        direction: Direction::Outbound,
        status,
        kind: facts.queue.kind.kind(),
        rfc_message_id: mail.draft.rfc_message_id.clone(),
        from_address: Some(facts.queue.from.clone()),
        sent_at: Some(sent_at),
        received_at: tick.at,
        // By the clock that answers to it are placed by, which has whole seconds; and never before
        // what it answers, whose author's clock may be ahead.
        sort_at: answered.map_or(sent_at, |known| sent_at.max(known.row.sort_at)),
        unread: false,
        id_conflict: false,
        sha256: mail.raw.sha256,
        size: mail.raw.size,
    }
}

/// Its thread with this mail in it. A mail that a person decided on ends what held the thread.
fn thread_with(facts: &Facts<'_>, mail: &OutgoingMail, row: &MessageRow) -> ThreadRow {
    let own = |address: &str| facts.state.is_own(row.identity_id, address);
    let one = thread::single(row, &mail.draft, own);
    let Some(known) = facts.thread else {
        return one;
    };
    let mut sum = known.clone();
    let mut one = one;
    // An answer goes to an address with a token; who is behind it takes part already.
    one.participants.retain(|new| {
        let base = without_detail(&new.address);
        let is_base = |p: &Participant| p.counts && Some(&p.address) == base.as_ref();
        !known.participants.iter().any(is_base)
    });
    thread::combine(&mut sum, one);
    if facts.queue.kind != SendKind::AutoReply {
        sum.hold = None;
    }
    sum
}

fn put_labels(facts: &Facts<'_>, row: &MessageRow, changes: &mut Vec<Change>) {
    let labels: BTreeSet<&String> = facts.queue.labels.iter().collect();
    for label in labels {
        let label = LabelRow {
            tenant_id: row.tenant_id,
            identity_id: row.identity_id,
            label: label.clone(),
            num: row.num,
        };
        changes.push(Change::AddLabel(label, row.thread_id));
    }
}

fn put_deliveries(facts: &Facts<'_>, filtered: &[Filtered<'_>], changes: &mut Vec<Change>) {
    for (seq, one) in filtered.iter().enumerate() {
        changes.push(Change::PutDelivery(Box::new(DeliveryRow {
            tenant_id: facts.tenant.id,
            identity_id: facts.identity.id,
            message_id: facts.queue.id,
            seq: seq as u64,
            address: one.recipient.address.clone(),
            hash: one.recipient.hash,
            base_hash: one.recipient.base_hash,
            field: one.recipient.field,
            status: status(one),
            smtp_code: None,
            enhanced_code: None,
            bounce_type: None,
            reason: one.reason.clone(),
            attempt: 0,
            updated_at: facts.now,
        })));
    }
}

fn send(facts: &Facts<'_>, mail: &OutgoingMail, status: MessageStatus, num: u64) -> SendRow {
    let queue = facts.queue;
    let waits = status == MessageStatus::Queued;
    SendRow {
        message_id: queue.id,
        tenant_id: facts.tenant.id,
        identity_id: facts.identity.id,
        num,
        key_id: queue.key,
        operation: queue.operation,
        kind: queue.kind,
        transport: queue.transport.clone(),
        envelope_from: queue
            .envelope_from
            .clone()
            .unwrap_or_else(|| queue.from.clone()),
        rfc_message_id: mail.draft.rfc_message_id.clone(),
        sha256: mail.raw.sha256,
        size: mail.raw.size,
        answers: queue.answers,
        hop: queue.hop,
        idempotency: queue.idempotency.key,
        state: match waits {
            true => SendState::Queued,
            false => SendState::Done,
        },
        attempt: 0,
        next_attempt_at: waits.then_some(facts.now),
        claim: None,
        provider_message_id: None,
        reason: None,
        reconciled: false,
        day: queue.day.date.clone(),
        metadata: queue.metadata.clone(),
        queued_at: facts.now,
        updated_at: facts.now,
    }
}

/// A recipient as a contact, counted once more. An address with a detail is a contact of its own only
/// where nobody is known without it.
fn contact(facts: &Facts<'_>, recipient: &SendRecipient, row: &MessageRow) -> ContactRow {
    let at = row.received_at;
    let of = |address: String| {
        facts
            .state
            .contacts
            .get(&(row.identity_id, address))
            .cloned()
    };
    let known =
        of(recipient.address.clone()).or_else(|| without_detail(&recipient.address).and_then(of));
    let (_, domain) = recipient.address.rsplit_once('@').unwrap_or_default();
    let mut contact = known.unwrap_or_else(|| ContactRow {
        tenant_id: row.tenant_id,
        identity_id: row.identity_id,
        address: recipient.address.clone(),
        name: None,
        folded: String::new(),
        domain: domain.to_owned(),
        first_seen_at: at,
        last_seen_at: at,
        inbound_count: 0,
        outbound_count: 0,
        last_thread_id: None,
    });
    contact.outbound_count += 1;
    contact.first_seen_at = contact.first_seen_at.min(at);
    if at >= contact.last_seen_at {
        contact.last_seen_at = at;
        contact.last_thread_id = Some(row.thread_id);
    }
    let name = recipient.name.trim();
    // What they call themselves goes before what we call them.
    if contact.name.is_none() && !name.is_empty() {
        contact.folded = fold(name);
        contact.name = Some(name.to_owned());
    }
    contact
}

/// Holds a unit of today's caps for each recipient.
fn hold(facts: &Facts<'_>, units: u64, changes: &mut Vec<Change>) {
    if units == 0 {
        return;
    }
    for identity in [Some(facts.identity.id), None] {
        let key = (facts.tenant.id, identity, facts.queue.day.date.clone());
        let known = usage_of(facts.state, &key);
        changes.push(Change::PutUsage(UsageRow {
            held: known.held.saturating_add(units),
            ..known
        }));
    }
}

fn drop_draft(facts: &Facts<'_>, tick: &mut Tick, changes: &mut Vec<Change>) {
    let Some(draft) = facts.draft else {
        return;
    };
    changes.push(Change::RemoveDraft {
        tenant_id: facts.tenant.id,
        id: draft.id,
    });
    let bits = Some(draft.id.bits());
    let feed = tick.next(FeedKind::DraftChanged, Some(facts.identity.id), bits);
    changes.push(Change::Feed(feed));
}
