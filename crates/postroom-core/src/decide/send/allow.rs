//! Who may be written to: the key's scope, then the filters that leave single recipients out.

use super::queue::Facts;
use crate::{
    AddressHash, ContactRow, Decision, Outcome, Policy, Refusal, SendDetail, SendRecipient, State,
    WouldSend,
    needs::list_keys,
    row::{
        DeliveryStatus, ListDirection, ListKind, Participant, SendOperation, SendScope,
        without_detail,
    },
};
use postroom_types::{ErrorCode, TenantId};

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

/// Whether the key may write to all of them; a draft goes to nobody whom one of those who wrote it may
/// not write to.
pub(super) fn scope(facts: &Facts<'_>) -> Result<(), Refusal> {
    let own = facts.queue.scope;
    let scope = facts.draft.map_or(own, |draft| draft.scope.min(own));
    if scope == SendScope::Anyone {
        return Ok(());
    }
    let stranger = |recipient: &SendRecipient| {
        let known = scope == SendScope::Known && was_written_to(facts, recipient);
        !known && !is_in_reach(facts, recipient)
    };
    let forwards = facts.queue.operation == SendOperation::Forward;
    let reason = match scope {
        _ if scope < own => {
            "a key that may not write to them saved the draft: read it, and save it with its etag to stand for it"
        }
        SendScope::Thread if forwards => {
            "only those whom the forwarded mail was to or from may be written to"
        }
        SendScope::Thread => "only those who take part in the thread may be written to",
        SendScope::Known | SendScope::Anyone => {
            "only people the mailbox has written to before, or who take part in the thread, may be written to"
        }
    };
    none_of(facts, stranger, ErrorCode::PolicyDenied, reason)
}

/// Whether a recipient is one to whom a mail goes without being known. A thread takes in whoever
/// refers to it, so that a mail of others in it is handed on only to those whom that mail was to or from.
/// Where the answered mail asks for its answers takes part in its thread; everybody else is looked for
/// among those who do.
fn is_in_reach(facts: &Facts<'_>, recipient: &SendRecipient) -> bool {
    if facts.queue.operation == SendOperation::Forward {
        return recipient.on_forwarded;
    }
    if is_answer(facts) && recipient.asked {
        return true;
    }
    let base = without_detail(&recipient.address);
    let is_them = |participant: &Participant| {
        participant.address == recipient.address || Some(&participant.address) == base.as_ref()
    };
    facts.thread.is_some_and(|thread| {
        let mut participants = thread.participants.iter();
        participants.any(|participant| participant.counts && is_them(participant))
    })
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

/// Whether the mailbox has written to a recipient. That mail came in from somebody says nothing: anybody
/// can send one in anybody's name.
fn was_written_to(facts: &Facts<'_>, recipient: &SendRecipient) -> bool {
    contacts(facts, recipient).any(|contact| contact.outbound_count > 0)
}

/// Whether there was mail from or to a recipient.
fn is_known(facts: &Facts<'_>, recipient: &SendRecipient) -> bool {
    contacts(facts, recipient).any(|contact| contact.inbound_count + contact.outbound_count > 0)
}

/// What the mailbox knows of a recipient; an address with a detail is who it is without.
fn contacts<'a>(
    facts: &Facts<'a>,
    recipient: &SendRecipient,
) -> impl Iterator<Item = &'a ContactRow> {
    let (state, identity) = (facts.state, facts.identity.id);
    [
        Some(recipient.address.clone()),
        without_detail(&recipient.address),
    ]
    .into_iter()
    .flatten()
    .filter_map(move |address| state.contacts.get(&(identity, address)))
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
    let target = Target {
        address: &recipient.address,
        hash: recipient.hash,
        base_hash: recipient.base_hash,
    };
    barred(facts.tenant.id, target, &facts.policy, facts.state).or_else(|| {
        let stranger =
            facts.identity.send_policy.require_known_recipient && !is_known(facts, recipient);
        stranger.then(|| "policy: unknown_recipient".to_owned())
    })
}

/// An address that lists and suppressions are asked about.
pub(super) struct Target<'a> {
    pub(super) address: &'a str,
    pub(super) hash: AddressHash,
    pub(super) base_hash: Option<AddressHash>,
}

/// Why nobody writes to an address whatever the mail is. An address with a detail is who it is without.
pub(super) fn barred(
    tenant: TenantId,
    target: Target<'_>,
    policy: &Policy,
    state: &State,
) -> Option<String> {
    let hashes = [Some(target.hash), target.base_hash];
    let mut rows = hashes
        .into_iter()
        .flatten()
        .filter_map(|hash| state.suppressions.get(&(tenant, hash)));
    if let Some(row) = rows.next() {
        return Some(format!("policy: suppression ({})", row.reason));
    }
    let keys = list_keys(target.address);
    let listed = |kind: ListKind| {
        keys.iter()
            .any(|key| state.is_listed(tenant, ListDirection::Send, kind, key))
    };
    if listed(ListKind::Block) {
        return Some(BLOCKED.to_owned());
    }
    let missing = policy.send_allowlist_only && !listed(ListKind::Allow);
    missing.then(|| "policy: not_on_allowlist".to_owned())
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
