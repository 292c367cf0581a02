//! Claims, and what comes of them.

use super::{
    again, cut, given_up_at,
    ledger::{Held, Ledger},
    report::early,
    retry_at,
};
use crate::{
    ClaimSends, ClaimedSend, Decision, ExpireClaims, Outcome, RecipientOutcome, Refusal,
    ResolveSend, SendOutcome, SendRef, SendUpdate, State, Submission, TenantStatus, Verdict,
    decide::{Context, active_tenant},
    row::{DeliveryRow, DeliveryStatus, IdentityStatus, SendClaim, SendState},
};
use postroom_types::{ErrorCode, IdentityId, MessageId, TenantId, Timestamp, limit};

/// Why a delivery is uncertain of which nobody said anything.
const UNKNOWN: &str = "provider_outcome_unknown";

pub(in crate::decide) fn claim(
    claim: &ClaimSends,
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let now = context.now;
    let mut ledger = Ledger::new(state, now);
    let mut claimed = Vec::new();
    for send in claim.sends.iter().take(limit::SEND_BATCH) {
        let Some(held) = ledger.send(*send).filter(|held| may_go(held, state, now)) else {
            continue;
        };
        let held = match claim.asks_again(&held.row) {
            true => again::ask(held, &mut ledger, state, now),
            false => Some(held),
        };
        let Some(mut held) = held else { continue };
        held.row.state = SendState::Claimed;
        held.row.next_attempt_at = None;
        held.row.claim = Some(SendClaim {
            token: context.bits(),
            process: claim.process,
            at: now,
        });
        held.row.updated_at = now;
        let queued = |delivery: &&DeliveryRow| delivery.status == DeliveryStatus::Queued;
        claimed.push(ClaimedSend {
            row: held.row.clone(),
            recipients: held.deliveries.iter().filter(queued).cloned().collect(),
        });
        ledger.claimed(held);
    }
    ledger.finish(Outcome::SendsClaimed(claimed))
}

/// Whether a send waits, is due, and its tenant and mailbox may send.
fn may_go(held: &Held, state: &State, now: Timestamp) -> bool {
    let row = &held.row;
    let tenant = state.tenants.get(&row.tenant_id);
    let identity = state.identities.get(&row.identity_id);
    row.state == SendState::Queued
        && row.next_attempt_at.is_some_and(|at| at <= now)
        && held.any(DeliveryStatus::Queued)
        && tenant.is_some_and(|tenant| tenant.status == TenantStatus::Active)
        && identity.is_some_and(|identity| identity.status == IdentityStatus::Active)
}

pub(in crate::decide) fn record(
    outcomes: &[SendOutcome],
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let mut ledger = Ledger::new(state, context.now);
    let updates = outcomes
        .iter()
        .take(limit::SEND_BATCH)
        .map(|outcome| record_one(outcome, &mut ledger, state, context.now))
        .collect();
    ledger.finish(Outcome::SendsUpdated(updates))
}

fn record_one(
    outcome: &SendOutcome,
    ledger: &mut Ledger<'_>,
    state: &State,
    now: Timestamp,
) -> SendUpdate {
    let Some(before) = ledger.send(outcome.send) else {
        return SendUpdate {
            send: outcome.send,
            status: None,
            taken: false,
        };
    };
    let own = before
        .row
        .claim
        .is_some_and(|claim| claim.token == outcome.token);
    let mut after = before.clone();
    match (own, before.row.state) {
        (true, SendState::Claimed) => settle(&mut after, &outcome.submission, now),
        (true, SendState::Uncertain) => settle_late(&mut after, &outcome.submission),
        _ => {}
    }
    let mut status = after.status();
    let taken = ledger.put(&before, after);
    if let Some(name) = outcome.provider_name().filter(|_| own) {
        early(outcome.send, &name, ledger, state, now);
        status = ledger
            .send(outcome.send)
            .map_or(status, |held| held.status());
    }
    SendUpdate {
        send: outcome.send,
        status: Some(status),
        taken,
    }
}

/// Takes the outcome of a claim over.
fn settle(held: &mut Held, submission: &Submission, now: Timestamp) {
    if *submission == Submission::NotTried {
        held.row.claim = None;
        held.come_to_rest(now);
        return;
    }
    held.row.attempt += 1;
    let attempt = held.row.attempt;
    let mut next = retry_at(attempt, now);
    if let Submission::NotHandedOver {
        retry_after_ms: Some(ms),
        ..
    } = submission
    {
        next = now.plus_ms(i64::try_from(*ms).unwrap_or(i64::MAX).max(1_000));
    }
    let over = next > given_up_at(held.row.queued_at);
    if let Submission::Answered {
        provider_message_id: Some(name),
        ..
    } = submission
    {
        held.row.provider_message_id = Some(name.clone());
    }
    let mut why = None;
    for delivery in &mut held.deliveries {
        if delivery.status != DeliveryStatus::Queued {
            continue;
        }
        delivery.attempt = attempt;
        answer(delivery, submission);
        if delivery.status == DeliveryStatus::Queued && over {
            delivery.status = DeliveryStatus::Failed;
            delivery.reason = Some("quota_exhausted".to_owned());
        }
        if delivery.reason.is_some() {
            why.clone_from(&delivery.reason);
        }
    }
    held.row.reason = why;
    held.come_to_rest(next);
}

/// What a submission says of one recipient that was part of it.
fn answer(delivery: &mut DeliveryRow, submission: &Submission) {
    match submission {
        Submission::Answered { recipients, .. } => {
            let own = recipients
                .iter()
                .find(|answer| answer.address == delivery.address);
            match own {
                Some(own) => take(delivery, own),
                None => uncertain(delivery, UNKNOWN),
            }
        }
        Submission::NotHandedOver {
            reason, smtp_code, ..
        } => {
            delivery.reason = Some(cut(reason));
            delivery.smtp_code = *smtp_code;
        }
        Submission::NotTried => {}
        Submission::Uncertain { reason } => uncertain(delivery, reason),
    }
}

fn uncertain(delivery: &mut DeliveryRow, reason: &str) {
    delivery.status = DeliveryStatus::Uncertain;
    delivery.reason = Some(cut(reason));
}

fn take(delivery: &mut DeliveryRow, answer: &RecipientOutcome) {
    delivery.smtp_code = answer.smtp_code;
    delivery.enhanced_code.clone_from(&answer.enhanced_code);
    delivery.reason = answer.reason.as_deref().map(cut);
    match answer.verdict {
        Verdict::Submitted => delivery.status = DeliveryStatus::Submitted,
        Verdict::Delivered => delivery.status = DeliveryStatus::Delivered,
        Verdict::Rejected => {
            delivery.status = DeliveryStatus::Rejected;
            let reason = delivery.reason.take();
            delivery.reason = reason.or_else(|| Some("provider_validation".to_owned()));
        }
        Verdict::Retry => {}
        Verdict::Uncertain => {
            delivery.status = DeliveryStatus::Uncertain;
            let reason = delivery.reason.take();
            delivery.reason = reason.or_else(|| Some(UNKNOWN.to_owned()));
        }
    }
}

/// An outcome that came after its claim was given up: what it knows for certain is believed, and
/// nothing makes an uncertain delivery wait again.
fn settle_late(held: &mut Held, submission: &Submission) {
    let Submission::Answered {
        provider_message_id,
        recipients,
    } = submission
    else {
        return;
    };
    let mut known = false;
    for delivery in &mut held.deliveries {
        let own = recipients.iter().find(|answer| {
            answer.address == delivery.address
                && matches!(
                    answer.verdict,
                    Verdict::Submitted | Verdict::Delivered | Verdict::Rejected
                )
        });
        if let Some(own) = own.filter(|_| delivery.status == DeliveryStatus::Uncertain) {
            take(delivery, own);
            known = true;
        }
    }
    if !known {
        return;
    }
    held.row.reconciled = true;
    held.row.provider_message_id.clone_from(provider_message_id);
    let next = held.row.next_attempt_at.unwrap_or_default();
    held.come_to_rest(next);
}

pub(in crate::decide) fn expire(
    expire: &ExpireClaims,
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let now = context.now;
    let mut ledger = Ledger::new(state, now);
    let mut updates = Vec::new();
    for send in expire.sends.iter().take(limit::SEND_BATCH) {
        let Some(before) = ledger.send(*send) else {
            continue;
        };
        let given_up = before.row.claim.is_some_and(|claim| {
            let former = expire.only_process.is_some_and(|own| own != claim.process);
            former || claim.at <= expire.claimed_before
        });
        if before.row.state != SendState::Claimed || !given_up {
            continue;
        }
        let mut after = before.clone();
        let unknown = Submission::Uncertain {
            reason: UNKNOWN.to_owned(),
        };
        settle(&mut after, &unknown, now);
        let status = after.status();
        let taken = ledger.put(&before, after);
        updates.push(SendUpdate {
            send: *send,
            status: Some(status),
            taken,
        });
    }
    ledger.finish(Outcome::SendsUpdated(updates))
}

/// A send of a mailbox that somebody asks about.
fn own_send(
    tenant: TenantId,
    identity: IdentityId,
    message: MessageId,
    otherwise: ErrorCode,
    ledger: &Ledger<'_>,
    state: &State,
) -> Result<Held, Refusal> {
    active_tenant(state, tenant)?;
    let own = |held: &Held| held.row.identity_id == identity;
    match ledger.send(SendRef { tenant, message }).filter(own) {
        Some(held) => Ok(held),
        None => {
            // A mail that came in was never sent.
            let inbound = state.messages.get(&message).is_some_and(|known| {
                known.row.tenant_id == tenant && known.row.identity_id == identity
            });
            Err(match inbound {
                true => otherwise.into(),
                false => ErrorCode::MessageNotFound.into(),
            })
        }
    }
}

pub(in crate::decide) fn cancel(
    tenant: TenantId,
    identity: IdentityId,
    message: MessageId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let ledger = Ledger::new(state, context.now);
    let otherwise = ErrorCode::NotCancelable;
    let before = own_send(tenant, identity, message, otherwise, &ledger, state)?;
    let untouched = before.deliveries.iter().all(|delivery| {
        matches!(
            delivery.status,
            DeliveryStatus::Queued | DeliveryStatus::Suppressed
        )
    });
    if before.row.state != SendState::Queued || !untouched {
        return Err(otherwise.into());
    }
    let mut after = before.clone();
    after.row.state = SendState::Canceled;
    after.row.next_attempt_at = None;
    after.row.reason = Some("canceled".to_owned());
    for delivery in &mut after.deliveries {
        if delivery.status == DeliveryStatus::Queued {
            delivery.status = DeliveryStatus::Failed;
            delivery.reason = Some("canceled".to_owned());
        }
    }
    Ok(one(SendRef { tenant, message }, &before, after, ledger))
}

pub(in crate::decide) fn resolve(
    resolve: &ResolveSend,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let ledger = Ledger::new(state, context.now);
    let (tenant, message) = (resolve.tenant, resolve.message);
    let otherwise = ErrorCode::NotUncertain;
    let before = own_send(tenant, resolve.identity, message, otherwise, &ledger, state)?;
    if before.row.state != SendState::Uncertain {
        return Err(otherwise.into());
    }
    let mut after = before.clone();
    let (status, reason) = match resolve.sent {
        true => (DeliveryStatus::Submitted, "resolved_sent"),
        false => (DeliveryStatus::Failed, "resolved_not_sent"),
    };
    for delivery in &mut after.deliveries {
        if delivery.status == DeliveryStatus::Uncertain {
            delivery.status = status;
            delivery.reason = Some(reason.to_owned());
        }
    }
    after.row.reason = Some(reason.to_owned());
    after.come_to_rest(context.now);
    Ok(one(SendRef { tenant, message }, &before, after, ledger))
}

fn one(send: SendRef, before: &Held, after: Held, mut ledger: Ledger<'_>) -> Decision {
    let status = after.status();
    let taken = ledger.put(before, after);
    ledger.finish(Outcome::SendsUpdated(vec![SendUpdate {
        send,
        status: Some(status),
        taken,
    }]))
}
