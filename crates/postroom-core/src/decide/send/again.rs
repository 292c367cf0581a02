//! Whether a mail that waited still goes to those whom it waited for: who was suppressed or blocked
//! meanwhile gets none of it.

use super::{
    allow::{Target, barred},
    ledger::{Held, Ledger},
    policy,
};
use crate::{State, row::DeliveryStatus};
use postroom_types::Timestamp;

/// Leaves out whoever may not be written to by now. Gives what is left to be sent, if anything is.
pub(super) fn ask(
    before: Held,
    ledger: &mut Ledger<'_>,
    state: &State,
    now: Timestamp,
) -> Option<Held> {
    let tenant = before.row.tenant_id;
    let policy = policy(tenant, state);
    let mut after = before.clone();
    let mut why = None;
    let waiting = after
        .deliveries
        .iter_mut()
        .filter(|delivery| delivery.status == DeliveryStatus::Queued);
    for delivery in waiting {
        let target = Target {
            address: &delivery.address,
            hash: delivery.hash,
            base_hash: delivery.base_hash,
        };
        if let Some(reason) = barred(tenant, target, &policy, state) {
            delivery.status = DeliveryStatus::Suppressed;
            why = Some(reason.clone());
            delivery.reason = Some(reason);
        }
    }
    if why.is_none() {
        return Some(before);
    }
    if !after.any(DeliveryStatus::Queued) {
        after.row.reason = why;
    }
    after.come_to_rest(now);
    let left = after.any(DeliveryStatus::Queued).then(|| after.clone());
    ledger.put(&before, after);
    left
}
