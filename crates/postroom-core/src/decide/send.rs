//! Mail that is sent: taken in once, claimed by one, never sent again while its fate is unknown.

mod again;
mod allow;
mod ledger;
mod make;
mod outcome;
mod queue;
mod report;
mod rule;

pub(super) use outcome::{cancel, claim, expire, record, resolve};
pub(super) use queue::queue;
pub(super) use report::report;
pub(super) use rule::{
    prune, put_draft, put_list_entry, put_suppression, put_upload, remove_draft, remove_list_entry,
    remove_suppression, set_policy,
};

use crate::{
    MessageStatus, Policy, State,
    row::{DeliveryRow, FeedKind},
};
use postroom_types::{TenantId, Timestamp, limit};

/// Why what was written from an older version of a draft is refused.
const SAVED_SINCE: &str = "the draft was saved since";

/// The policy of a tenant that is in force.
fn policy(tenant: TenantId, state: &State) -> Policy {
    match state.policies.get(&tenant) {
        Some(row) => row.own.effective(),
        None => Policy::default(),
    }
}

/// The event that tells a new status of a message of ours.
fn kind_of(status: MessageStatus) -> FeedKind {
    match status {
        MessageStatus::Submitted => FeedKind::MessageSent,
        MessageStatus::Delivered => FeedKind::MessageDelivered,
        MessageStatus::Deferred => FeedKind::MessageDeferred,
        MessageStatus::Bounced => FeedKind::MessageBounced,
        MessageStatus::Complained => FeedKind::MessageComplained,
        MessageStatus::Rejected => FeedKind::MessageRejected,
        MessageStatus::Failed => FeedKind::MessageFailed,
        MessageStatus::Uncertain => FeedKind::MessageUncertain,
        MessageStatus::Suppressed => FeedKind::MessageSuppressed,
        MessageStatus::Canceled => FeedKind::MessageCanceled,
        MessageStatus::Queued | MessageStatus::Received | MessageStatus::Quarantined => {
            FeedKind::SendChanged
        }
    }
}

/// When a send is tried again after `attempt` attempts: after 1, 5, 15 and 60 minutes, then each
/// hour.
fn retry_at(attempt: u64, now: Timestamp) -> Timestamp {
    let minutes = match attempt {
        0 | 1 => 1,
        2 => 5,
        3 => 15,
        _ => 60,
    };
    now.plus_ms(minutes * 60_000)
}

/// Until when a send that was put off is tried.
fn given_up_at(queued_at: Timestamp) -> Timestamp {
    queued_at.plus_ms(i64::try_from(limit::SEND_RETRY_MS).unwrap_or(i64::MAX))
}

/// A transport's words, cut to what is kept.
fn cut(reason: &str) -> String {
    reason.chars().take(limit::SEND_REASON_CHARS).collect()
}

fn statuses(
    deliveries: &[DeliveryRow],
) -> impl Iterator<Item = crate::row::DeliveryStatus> + Clone + '_ {
    deliveries.iter().map(|delivery| delivery.status)
}
