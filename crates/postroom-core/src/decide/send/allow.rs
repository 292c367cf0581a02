//! Who may be written to: the key's scope, then the filters that leave single recipients out.

use super::queue::Facts;
use crate::{
    Decision, Outcome, Refusal, SendDetail, SendRecipient, WouldSend,
    needs::list_keys,
    row::{DeliveryStatus, ListDirection, ListKind, SendOperation, SendScope, without_detail},
};
use postroom_types::ErrorCode;

/// A recipient, and why it is left out.
pub(super) struct Filtered<'a> {
    pub(super) recipient: &'a SendRecipient,
    pub(super) reason: Option<String>,
}

/// Refuses when a recipient is one of those.
pub(super) fn none_of(
    facts: &Facts<'_>,
    is_one: impl Fn(&SendRecipient) -> bool,
    code: ErrorCode,
    reason: &'static str,
) -> Result<(), Refusal> {
    let found: Vec<String> = facts
        .recipients
        .iter()
        .filter(|recipient| is_one(recipient))
        .map(|recipient| recipient.address.clone())
        .collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(Refusal::Send {
            code,
            reason,
            detail: SendDetail::Recipients(found),
        }),
    }
}

/// Whether the key may write to all of them. Where the answered mail asks for its answers takes part
/// in its thread; everybody else is looked for among those who do.
pub(super) fn scope(facts: &Facts<'_>) -> Result<(), Refusal> {
    let scope = facts.queue.scope;
    if scope == SendScope::Anyone {
        return Ok(());
    }
    let answers = is_answer(facts);
    let takes_part = |recipient: &SendRecipient| {
        if answers && recipient.asked {
            return true;
        }
        let base = without_detail(&recipient.address);
        facts.thread.is_some_and(|thread| {
            thread.participants.iter().any(|participant| {
                participant.address == recipient.address
                    || Some(&participant.address) == base.as_ref()
            })
        })
    };
    let stranger = |recipient: &SendRecipient| {
        let known = scope == SendScope::Known && is_known(facts, recipient);
        !known && !takes_part(recipient)
    };
    let reason = match scope {
        SendScope::Thread => "the key answers only those who take part in the thread",
        SendScope::Known | SendScope::Anyone => {
            "the key writes only to people the mailbox has exchanged mail with"
        }
    };
    none_of(facts, stranger, ErrorCode::PolicyDenied, reason)
}

/// Whether it answers a mail of the thread that it continues.
fn is_answer(facts: &Facts<'_>) -> bool {
    let answered = facts
        .queue
        .answers
        .and_then(|id| facts.state.messages.get(&id));
    facts.queue.operation == SendOperation::Reply
        && answered.zip(facts.thread).is_some_and(|(message, thread)| {
            facts.state.canonical(message.row.thread_id) == thread.id
        })
}

/// Whether the mailbox has exchanged mail with a recipient; an address with a detail is who it is
/// without.
fn is_known(facts: &Facts<'_>, recipient: &SendRecipient) -> bool {
    [
        Some(recipient.address.clone()),
        without_detail(&recipient.address),
    ]
    .into_iter()
    .flatten()
    .filter_map(|address| facts.state.contacts.get(&(facts.identity.id, address)))
    .any(|contact| contact.inbound_count + contact.outbound_count > 0)
}

/// Every recipient, with the reason why it is left out, if it is.
pub(super) fn filter<'a>(facts: &Facts<'a>) -> Vec<Filtered<'a>> {
    facts
        .recipients
        .iter()
        .map(|recipient| Filtered {
            recipient,
            reason: left_out(facts, recipient),
        })
        .collect()
}

fn left_out(facts: &Facts<'_>, recipient: &SendRecipient) -> Option<String> {
    let tenant = facts.tenant.id;
    let suppressed = facts.state.suppressions.get(&(tenant, recipient.hash));
    if let Some(row) = suppressed {
        return Some(format!("policy: suppression ({})", row.reason));
    }
    let keys = list_keys(&recipient.address);
    let listed = |kind: ListKind| {
        keys.iter().any(|key| {
            facts
                .state
                .is_listed(tenant, ListDirection::Send, kind, key)
        })
    };
    if listed(ListKind::Block) {
        return Some(BLOCKED.to_owned());
    }
    if facts.policy.send_allowlist_only && !listed(ListKind::Allow) {
        return Some("policy: not_on_allowlist".to_owned());
    }
    let stranger =
        facts.identity.send_policy.require_known_recipient && !is_known(facts, recipient);
    stranger.then(|| "policy: unknown_recipient".to_owned())
}

const BLOCKED: &str = "policy: send_block";

/// What would become of each recipient; a refusal when nobody would get it.
pub(super) fn foretell(filtered: &[Filtered<'_>]) -> Result<Decision, Refusal> {
    let told: Vec<WouldSend> = filtered
        .iter()
        .map(|one| WouldSend {
            address: one.recipient.address.clone(),
            field: one.recipient.field,
            status: status(one),
            reason: one.reason.clone(),
        })
        .collect();
    if filtered.iter().any(|one| one.reason.is_none()) {
        return Ok(Decision::unchanged(Outcome::WouldSend(told)));
    }
    let blocked = |one: &Filtered<'_>| one.reason.as_deref() == Some(BLOCKED);
    let code = match filtered.iter().all(blocked) {
        true => ErrorCode::RecipientBlocked,
        false => ErrorCode::AllRecipientsSuppressed,
    };
    Err(Refusal::Send {
        code,
        reason: "",
        detail: SendDetail::WouldSend(told),
    })
}

/// What a recipient's delivery begins as.
pub(super) fn status(one: &Filtered<'_>) -> DeliveryStatus {
    match one.reason {
        None => DeliveryStatus::Queued,
        Some(_) => DeliveryStatus::Suppressed,
    }
}
