//! Raw mail taken in, and events given up.

use super::{Context, Tick, active_tenant, known_identity};
use crate::{
    Arrival, ArrivalOutcome, Change, Decision, Disposition, EventRow, EventState, FailEvent,
    Family, Outcome, RawMail, Receive, Recipient, Refusal, SendDetail, State, TrustMode,
    row::FeedKind,
};
use postroom_types::{ErrorCode, TenantId, Timestamp, limit};
use std::collections::{BTreeMap, HashSet};

pub(super) fn receive(
    receive: &Receive,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    match receive.arrival.provider == Arrival::LOOPBACK {
        true => check_most(&receive.raw, limit::SENT_MAIL_BYTES)?,
        false => check_size(&receive.raw)?,
    }
    if receive.recipients.is_empty() || receive.recipients.len() > limit::SMTP_RECIPIENTS {
        return Err(Refusal::invalid("recipients", "1 to 100 recipients"));
    }
    let mut ticks: BTreeMap<TenantId, Tick> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut outcomes: Vec<ArrivalOutcome> = Vec::new();
    let mut blobs = HashSet::new();
    for recipient in &receive.recipients {
        active_tenant(state, recipient.tenant)?;
        known_identity(state, recipient.tenant, recipient.identity)?;
        // Two addresses of one mailbox are one arrival.
        let twice = outcomes
            .iter()
            .find(|outcome| outcome.identity_id == recipient.identity)
            .cloned();
        if let Some(outcome) = twice.or_else(|| known_arrival(recipient, &receive.raw, state)) {
            outcomes.push(outcome);
            continue;
        }
        let tick = ticks
            .entry(recipient.tenant)
            .or_insert_with(|| Tick::new(state, recipient.tenant, context.now));
        let feed = tick.next_numbered(FeedKind::EventReceived, Some(recipient.identity), None);
        let row = event(
            recipient,
            &receive.raw,
            &receive.arrival,
            feed.position,
            tick.at,
        );
        outcomes.push(ArrivalOutcome {
            identity_id: recipient.identity,
            event_id: row.id,
            duplicate: false,
            message_id: None,
        });
        if blobs.insert(recipient.tenant) {
            changes.push(blob(recipient.tenant, &receive.raw));
        }
        changes.push(Change::PutEvent(Box::new(row)));
        changes.push(Change::Feed(feed));
    }
    Ok(Decision {
        changes,
        outcome: Outcome::Received(outcomes),
    })
}

pub(super) fn check_size(raw: &RawMail) -> Result<(), Refusal> {
    check_most(raw, limit::RAW_MAIL_BYTES)
}

fn check_most(raw: &RawMail, most: usize) -> Result<(), Refusal> {
    let most = most as u64;
    match raw.size > most {
        true => Err(Refusal::Send {
            code: ErrorCode::MessageTooLarge,
            reason: "",
            detail: SendDetail::Most(most),
        }),
        false => Ok(()),
    }
}

pub(super) fn blob(tenant: TenantId, raw: &RawMail) -> Change {
    Change::AddBlob {
        tenant_id: tenant,
        sha256: raw.sha256,
        size: raw.size,
    }
}

/// The event with the very bytes that the mailbox has already.
pub(super) fn known_arrival(
    recipient: &Recipient,
    raw: &RawMail,
    state: &State,
) -> Option<ArrivalOutcome> {
    let key = state.event_digests.get(&(recipient.identity, raw.sha256))?;
    Some(ArrivalOutcome {
        identity_id: recipient.identity,
        event_id: key.1,
        duplicate: true,
        message_id: state.events.get(key).and_then(|event| event.message_id),
    })
}

/// The event of one raw mail for one mailbox.
pub(super) fn event(
    recipient: &Recipient,
    raw: &RawMail,
    arrival: &Arrival,
    id: u64,
    received_at: Timestamp,
) -> EventRow {
    EventRow {
        tenant_id: recipient.tenant,
        id,
        identity_id: Some(recipient.identity),
        provider: arrival.provider.clone(),
        family: Family::Mail,
        event_type: Some("message.received".to_owned()),
        external_key: None,
        trust_mode: arrival.trust_mode,
        // Only a provider's signature over these very bytes says so; SMTP proves nothing of them.
        verified: arrival.trust_mode == TrustMode::Signed,
        verify_detail: arrival.verify_detail.clone(),
        content_type: Some("message/rfc822".to_owned()),
        headers: arrival.headers.clone(),
        sha256: raw.sha256,
        payload_size: raw.size,
        source_ip: arrival.source_ip.clone(),
        mail_from: arrival.mail_from.clone(),
        delivered_to: recipient.delivered_to.clone(),
        received_at,
        occurred_at: None,
        disposition: Disposition::Routed,
        state: EventState::Pending,
        message_id: None,
        detail: None,
        source_id: None,
        carries_mail: true,
        redeliveries: 0,
        last_redelivered_at: None,
        routing_trace: None,
        todo_id: None,
        tries: 0,
        next_try_at: None,
    }
}

pub(super) fn fail(
    fail: &FailEvent,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = state
        .events
        .get(&(fail.tenant, fail.event_id))
        .ok_or(Refusal::new(ErrorCode::NotFound))?;
    if known.state != EventState::Pending {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let row = EventRow {
        state: EventState::Failed,
        disposition: Disposition::Faulted,
        detail: Some(fail.detail.clone()),
        ..known.clone()
    };
    let mut tick = Tick::new(state, fail.tenant, context.now);
    let mut feed = tick.next(FeedKind::EventChanged, row.identity_id, None);
    feed.num = Some(row.id);
    Ok(Decision {
        changes: vec![Change::PutEvent(Box::new(row)), Change::Feed(feed)],
        outcome: Outcome::Done,
    })
}
