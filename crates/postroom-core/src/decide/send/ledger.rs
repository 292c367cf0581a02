//! What one command does to many sends: each send as it is by now, the counters of its day, and
//! the changes in order.

use super::{kind_of, statuses};
use crate::{
    Change, Decision, DeliveryReport, MessageStatus, Outcome, SendRef, State,
    decide::Tick,
    row::{
        DeliveryRow, DeliveryStatus, EarlyReportRow, FeedKind, SendRow, SendState,
        SuppressionReason, SuppressionRow, UsageRow, masked, roll_up,
    },
};
use postroom_types::{IdentityId, MessageId, TenantId, Timestamp, limit};
use std::collections::{BTreeMap, BTreeSet};

/// The domain whose addresses play a fate: what they play says nothing about anybody.
const SIMULATOR: &str = "@simulator.invalid";

/// A send with its recipients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) row: SendRow,
    pub(super) deliveries: Vec<DeliveryRow>,
}

impl Held {
    pub(super) fn status(&self) -> MessageStatus {
        roll_up(
            self.row.state == SendState::Canceled,
            statuses(&self.deliveries),
        )
    }

    pub(super) fn any(&self, status: DeliveryStatus) -> bool {
        statuses(&self.deliveries).any(|known| known == status)
    }

    /// What the send itself is once nobody has it: it waits for who is still queued, or is over.
    pub(super) fn come_to_rest(&mut self, next_attempt_at: Timestamp) {
        if self.any(DeliveryStatus::Queued) {
            self.row.state = SendState::Queued;
            self.row.next_attempt_at = Some(next_attempt_at);
            return;
        }
        self.row.next_attempt_at = None;
        self.row.state = if self.any(DeliveryStatus::Uncertain) {
            SendState::Uncertain
        } else {
            SendState::Done
        };
    }
}

type UsageKey = (TenantId, Option<IdentityId>, String);

pub(super) struct Ledger<'a> {
    state: &'a State,
    now: Timestamp,
    ticks: BTreeMap<TenantId, Tick>,
    sends: BTreeMap<MessageId, Held>,
    usage: BTreeMap<UsageKey, UsageRow>,
    suppressed: BTreeSet<(TenantId, [u8; 16])>,
    /// Reports on mails that are not known.
    early: u64,
    changes: Vec<Change>,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(state: &'a State, now: Timestamp) -> Self {
        Self {
            state,
            now,
            ticks: BTreeMap::new(),
            sends: BTreeMap::new(),
            usage: BTreeMap::new(),
            suppressed: BTreeSet::new(),
            early: 0,
            changes: Vec::new(),
        }
    }

    /// A send as it is by now.
    pub(super) fn send(&self, send: SendRef) -> Option<Held> {
        let known = match self.sends.get(&send.message) {
            Some(held) => held.clone(),
            None => {
                let deliveries = self.state.deliveries.get(&send.message);
                let mut deliveries = deliveries.cloned().unwrap_or_default();
                deliveries.sort_unstable_by_key(|delivery| delivery.seq);
                Held {
                    row: self.state.sends.get(&send.message)?.clone(),
                    deliveries,
                }
            }
        };
        (known.row.tenant_id == send.tenant).then_some(known)
    }

    /// Puts a send that was claimed: nothing of it that anybody sees has changed.
    pub(super) fn claimed(&mut self, after: Held) {
        self.changes
            .push(Change::PutSend(Box::new(after.row.clone())));
        self.sends.insert(after.row.message_id, after);
    }

    /// Puts a send as it has become, with what follows: the message's status, the counters, and a
    /// position of the feed. Gives whether anything changed.
    pub(super) fn put(&mut self, before: &Held, mut after: Held) -> bool {
        if *before == after {
            return false;
        }
        after.row.updated_at = self.now;
        for (new, known) in after.deliveries.iter_mut().zip(&before.deliveries) {
            if new != known {
                new.updated_at = self.now;
                self.changes
                    .push(Change::PutDelivery(Box::new(new.clone())));
            }
        }
        self.count(before, &after);
        let status = after.status();
        if status != before.status() {
            self.changes.push(Change::SetStatus {
                tenant_id: after.row.tenant_id,
                num: after.row.num,
                status,
            });
            self.tell(kind_of(status), &after.row);
        } else {
            self.tell(FeedKind::SendChanged, &after.row);
        }
        if after.row.reconciled && !before.row.reconciled {
            self.tell(FeedKind::MessageReconciled, &after.row);
        }
        self.changes
            .push(Change::PutSend(Box::new(after.row.clone())));
        self.sends.insert(after.row.message_id, after);
        true
    }

    fn tick(&mut self, tenant: TenantId) -> &mut Tick {
        let (state, now) = (self.state, self.now);
        self.ticks
            .entry(tenant)
            .or_insert_with(|| Tick::new(state, tenant, now))
    }

    fn tell(&mut self, kind: FeedKind, row: &SendRow) {
        let mut feed =
            self.tick(row.tenant_id)
                .next(kind, Some(row.identity_id), Some(row.message_id.bits()));
        feed.num = Some(row.num);
        self.changes.push(Change::Feed(feed));
    }

    /// Settles what was held: a recipient counts as held while it waits, and as sent once a
    /// transport took it or may have.
    fn count(&mut self, before: &Held, after: &Held) {
        let count = |held: &Held, counts: fn(DeliveryStatus) -> bool| {
            statuses(&held.deliveries)
                .filter(|status| counts(*status))
                .count() as u64
        };
        let held = (count(before, is_held), count(after, is_held));
        let sent = (count(before, is_sent), count(after, is_sent));
        if held.0 == held.1 && sent.0 == sent.1 {
            return;
        }
        let row = &after.row;
        for identity in [Some(row.identity_id), None] {
            let key = (row.tenant_id, identity, row.day.clone());
            let known = match self.usage.get(&key) {
                Some(known) => known.clone(),
                None => usage_of(self.state, &key),
            };
            let settled = UsageRow {
                held: known.held.saturating_sub(held.0).saturating_add(held.1),
                sends: known.sends.saturating_sub(sent.0).saturating_add(sent.1),
                ..known
            };
            self.changes.push(Change::PutUsage(settled.clone()));
            self.usage.insert(key, settled);
        }
    }

    /// Writes to an address no more. A complaint stays a complaint.
    pub(super) fn suppress(&mut self, delivery: &DeliveryRow, reason: SuppressionReason) {
        let key = (delivery.tenant_id, delivery.hash);
        let known = self.state.suppressions.get(&key);
        let complained = known.is_some_and(|row| row.reason == SuppressionReason::Complaint);
        let repeated = known.is_some() || self.suppressed.contains(&key);
        let worse = reason == SuppressionReason::Complaint && !complained;
        if delivery.address.ends_with(SIMULATOR) || (repeated && !worse) {
            return;
        }
        self.suppressed.insert(key);
        self.changes.push(Change::PutSuppression(SuppressionRow {
            tenant_id: delivery.tenant_id,
            hash: delivery.hash,
            hint: masked(&delivery.address),
            reason,
            at: self.now,
        }));
        let feed = self
            .tick(delivery.tenant_id)
            .next(FeedKind::PolicyChanged, None, None);
        self.changes.push(Change::Feed(feed));
    }

    /// Keeps a report on a mail that is not known, while one may become known by the name.
    pub(super) fn keep_early(&mut self, report: &DeliveryReport) {
        let kept = self.state.awaiting.get(&report.tenant);
        let full = kept.map_or(0, |kept| kept.reports) + self.early >= limit::EARLY_REPORTS as u64;
        let row = EarlyReportRow::of(report, self.now);
        if let Some(row) = row.filter(|_| !full && self.state.awaits_names(report.tenant)) {
            self.early += 1;
            self.changes.push(Change::PutEarlyReport(Box::new(row)));
        }
    }

    /// Lets go of the reports on a mail that is known now.
    pub(super) fn end_early(&mut self, (tenant, name): &(TenantId, String)) {
        self.changes.push(Change::RemoveEarlyReports {
            tenant_id: *tenant,
            provider_message_id: name.clone(),
        });
    }

    pub(super) fn finish(self, outcome: Outcome) -> Decision {
        Decision {
            changes: self.changes,
            outcome,
        }
    }
}

/// The counters of a day as they are.
pub(super) fn usage_of(state: &State, key: &UsageKey) -> UsageRow {
    let known = state.usage.get(key).cloned();
    known.unwrap_or_else(|| UsageRow {
        tenant_id: key.0,
        identity_id: key.1,
        day: key.2.clone(),
        sends: 0,
        held: 0,
    })
}

fn is_held(status: DeliveryStatus) -> bool {
    status == DeliveryStatus::Queued
}

fn is_sent(status: DeliveryStatus) -> bool {
    match status {
        DeliveryStatus::Submitted
        | DeliveryStatus::Delivered
        | DeliveryStatus::Deferred
        | DeliveryStatus::Bounced
        | DeliveryStatus::Complained
        | DeliveryStatus::Uncertain => true,
        DeliveryStatus::Queued
        | DeliveryStatus::Suppressed
        | DeliveryStatus::Rejected
        | DeliveryStatus::Failed => false,
    }
}
