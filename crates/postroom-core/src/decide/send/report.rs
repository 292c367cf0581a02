//! What status notifications and providers say of deliveries.

use super::{
    cut,
    ledger::{Held, Ledger},
};
use crate::{
    Decision, DeliveryEvent, DeliveryReport, DeliveryUpdate, Outcome, Reporter, SendRef, State,
    decide::Context,
    row::{BounceType, DeliveryRow, DeliveryStatus, SendState, SuppressionReason},
};
use postroom_types::{TenantId, Timestamp, limit};

pub(in crate::decide) fn report(
    reports: &[DeliveryReport],
    state: &State,
    context: &mut Context<'_>,
) -> Decision {
    let mut ledger = Ledger::new(state, context.now);
    let updates = reports
        .iter()
        .take(limit::SEND_BATCH)
        .map(|report| {
            let update = report_one(report, &mut ledger, state, context.now);
            if update.message_id.is_none() {
                ledger.keep_early(report);
            }
            update
        })
        .collect();
    ledger.finish(Outcome::DeliveriesRecorded(updates))
}

/// Takes over what a provider told of a send before its name was noted.
pub(super) fn early(
    send: SendRef,
    name: &(TenantId, String),
    ledger: &mut Ledger<'_>,
    state: &State,
    now: Timestamp,
) {
    let Some(kept) = state.early_reports.get(name) else {
        return;
    };
    for row in kept {
        report_one(&row.report_on(send.message), ledger, state, now);
    }
    ledger.end_early(name);
}

fn report_one(
    report: &DeliveryReport,
    ledger: &mut Ledger<'_>,
    state: &State,
    now: Timestamp,
) -> DeliveryUpdate {
    let known = state.send_of(report.tenant, &report.subject);
    let known = known.filter(|row| match report.reporter {
        Reporter::TransportOf(identity) => row.identity_id == identity,
        Reporter::Transport | Reporter::Mail => true,
    });
    let held = known.and_then(|row| {
        ledger.send(SendRef {
            tenant: report.tenant,
            message: row.message_id,
        })
    });
    let Some(before) = held else {
        return DeliveryUpdate {
            message_id: None,
            changed: false,
        };
    };
    let mut after = before.clone();
    let claimed = before.row.state == SendState::Claimed;
    // Everybody who got the mail knows its Message-ID. Only where one alone got it does a report that
    // nobody vouches for speak of nobody but its writer.
    let ends_writing = report.reporter != Reporter::Mail || before.deliveries.len() == 1;
    let mut reconciled = false;
    for delivery in &mut after.deliveries {
        let asked = report.recipient.as_deref();
        if asked.is_some_and(|address| !address.eq_ignore_ascii_case(&delivery.address)) {
            continue;
        }
        // What nobody took yet, or gave back for another try, cannot have come back.
        if delivery.status == DeliveryStatus::Queued && !claimed {
            continue;
        }
        // What was seen to arrive is not unsaid by a word that anybody who got the mail could write.
        if !ends_writing && delivery.status == DeliveryStatus::Delivered {
            continue;
        }
        let Some(status) = next(delivery.status, report.event) else {
            continue;
        };
        reconciled |= delivery.status == DeliveryStatus::Uncertain;
        take(delivery, status, report);
        if !ends_writing {
            unproven(delivery);
        }
        if let Some(reason) = suppression(report.event).filter(|_| ends_writing) {
            ledger.suppress(delivery, reason);
        }
    }
    after.row.reconciled |= reconciled;
    rest(&mut after, now);
    let changed = ledger.put(&before, after);
    DeliveryUpdate {
        message_id: Some(before.row.message_id),
        changed,
    }
}

/// A send that somebody has stays theirs until they say what came of it.
fn rest(held: &mut Held, now: Timestamp) {
    if matches!(held.row.state, SendState::Queued | SendState::Uncertain) {
        let next = held.row.next_attempt_at.unwrap_or(now);
        held.come_to_rest(next);
    }
}

fn take(delivery: &mut DeliveryRow, status: DeliveryStatus, report: &DeliveryReport) {
    delivery.status = status;
    delivery.smtp_code = report.smtp_code.or(delivery.smtp_code);
    if report.enhanced_code.is_some() {
        delivery.enhanced_code.clone_from(&report.enhanced_code);
    }
    delivery.reason = match report.event {
        DeliveryEvent::Submitted | DeliveryEvent::Delivered => None,
        DeliveryEvent::SuppressedByProvider => Some("recipient_suppressed_by_provider".to_owned()),
        _ => report.reason.as_deref().map(cut),
    };
    if let DeliveryEvent::Bounced(kind) = report.event {
        delivery.bounce_type = Some(kind);
    }
}

/// Says of what a delivery has become that nobody vouches for it.
fn unproven(delivery: &mut DeliveryRow) {
    if let Some(reason) = &delivery.reason {
        delivery.reason = Some(cut(&format!("{}: {reason}", DeliveryRow::UNPROVEN)));
    } else if delivery.status != DeliveryStatus::Delivered {
        delivery.reason = Some(DeliveryRow::UNPROVEN.to_owned());
    }
}

/// What an event makes of a delivery; `None` where it changes nothing. Nothing ever waits again,
/// and of what has ended only this changes: what was delivered may come back late, and what was
/// delivered or came back may be called spam.
fn next(status: DeliveryStatus, event: DeliveryEvent) -> Option<DeliveryStatus> {
    use DeliveryStatus as S;
    let told = match event {
        DeliveryEvent::Submitted => S::Submitted,
        DeliveryEvent::Delivered => S::Delivered,
        DeliveryEvent::Deferred => S::Deferred,
        DeliveryEvent::Bounced(_) => S::Bounced,
        DeliveryEvent::Complained => S::Complained,
        DeliveryEvent::Rejected => S::Rejected,
        DeliveryEvent::SuppressedByProvider => S::Failed,
    };
    let allowed = match status {
        S::Queued | S::Uncertain => true,
        S::Submitted => told != S::Submitted,
        S::Deferred => !matches!(told, S::Submitted | S::Deferred),
        S::Delivered => matches!(told, S::Bounced | S::Complained),
        S::Bounced => told == S::Complained,
        S::Suppressed | S::Complained | S::Rejected | S::Failed => false,
    };
    allowed.then_some(told)
}

/// Why an event ends writing to an address; a soft bounce never does.
fn suppression(event: DeliveryEvent) -> Option<SuppressionReason> {
    match event {
        DeliveryEvent::Bounced(BounceType::Hard) => Some(SuppressionReason::HardBounce),
        DeliveryEvent::Complained => Some(SuppressionReason::Complaint),
        DeliveryEvent::SuppressedByProvider => Some(SuppressionReason::Provider),
        DeliveryEvent::Submitted
        | DeliveryEvent::Delivered
        | DeliveryEvent::Deferred
        | DeliveryEvent::Bounced(BounceType::Soft)
        | DeliveryEvent::Rejected => None,
    }
}
