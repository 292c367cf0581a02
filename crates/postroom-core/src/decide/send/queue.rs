//! Taking a composed mail in: the checks in their order, then everything at once.

use super::{
    SAVED_SINCE,
    allow::{self, Filtered},
    make, policy,
};
use crate::{
    Change, Decision, IdentityRow, Kind, Outcome, Policy, QueueMessage, RecipientRoute, Refusal,
    SendDetail, SendRecipient, SendStep, SendThread, SentOutcome, State, TenantRow, ThreadRow,
    decide::label::LABEL_FORM,
    decide::{Context, Tick},
    is_label,
    row::{
        AddressStatus, AutoReplyRule, CapKind, Direction, DomainState, DraftRow, FeedKind,
        IdentityStatus, Mode, SendKind, SendOperation, TenantStatus, ThreadHold,
    },
};
use postroom_types::{ErrorCode, MessageId, Timestamp, limit};

/// What a send is decided on, once it is known to be there.
pub(super) struct Facts<'a> {
    pub(super) queue: &'a QueueMessage,
    pub(super) state: &'a State,
    pub(super) now: Timestamp,
    pub(super) tenant: &'a TenantRow,
    pub(super) identity: &'a IdentityRow,
    pub(super) policy: Policy,
    /// The draft it was, as it is now.
    pub(super) draft: Option<&'a DraftRow>,
    /// The thread it continues.
    pub(super) thread: Option<&'a ThreadRow>,
    /// Whom it is for, each address once.
    pub(super) recipients: Vec<&'a SendRecipient>,
}

pub(in crate::decide) fn queue(
    queue: &QueueMessage,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let identity = state
        .identities
        .get(&queue.identity)
        .filter(|row| row.tenant_id == queue.tenant)
        .filter(|row| matches!(row.status, IdentityStatus::Active | IdentityStatus::Paused));
    let tenant = state.tenants.get(&queue.tenant);
    let (Some(identity), Some(tenant)) = (identity, tenant) else {
        return Err(ErrorCode::IdentityNotFound.into());
    };
    if !queue.dry_run
        && let Some(answer) = repeated(queue, state, context.now)
    {
        return answer;
    }
    let facts = Facts {
        queue,
        state,
        now: context.now,
        tenant,
        identity,
        policy: policy(queue.tenant, state),
        draft: draft(queue, state),
        thread: thread(queue, state),
        recipients: once(&queue.recipients),
    };
    let filtered = match check(&facts) {
        Ok(filtered) => filtered,
        Err(refusal) => return refuse(refusal, &facts),
    };
    if queue.dry_run {
        return allow::foretell(&filtered);
    }
    allowance(&facts, &filtered)?;
    make::make(&facts, &filtered)
}

/// The answer to a call whose key was used: the first one's, or that the key is another mail's.
/// It comes before every rule, so that a repeat is answered even where a rule would now refuse.
fn repeated(
    queue: &QueueMessage,
    state: &State,
    now: Timestamp,
) -> Option<Result<Decision, Refusal>> {
    let known = state
        .idempotency
        .get(&(queue.identity, queue.idempotency.key))
        .filter(|row| row.counts(now))?;
    if known.fingerprint == queue.idempotency.fingerprint {
        return Some(Ok(Decision::unchanged(Outcome::Sent(SentOutcome {
            message_id: known.message_id,
            deduplicated: true,
        }))));
    }
    Some(Err(Refusal::Send {
        code: ErrorCode::IdempotencyConflict,
        reason: "",
        detail: SendDetail::Original(known.message_id),
    }))
}

/// Recipients, each address where it is first.
fn once(recipients: &[SendRecipient]) -> Vec<&SendRecipient> {
    let mut out: Vec<&SendRecipient> = Vec::with_capacity(recipients.len());
    for recipient in recipients.iter().take(limit::SENT_RECIPIENTS * 4) {
        if !out.iter().any(|known| known.address == recipient.address) {
            out.push(recipient);
        }
    }
    out
}

fn draft<'a>(queue: &QueueMessage, state: &'a State) -> Option<&'a DraftRow> {
    let known = state.drafts.get(&queue.draft?.id);
    known.filter(|row| row.identity_id == queue.identity)
}

fn thread<'a>(queue: &QueueMessage, state: &'a State) -> Option<&'a ThreadRow> {
    match queue.thread {
        SendThread::New(_) => None,
        SendThread::Existing(id) => state
            .threads
            .get(&state.canonical(id))
            .filter(|row| row.identity_id == queue.identity),
    }
}

/// Every step but the last, which holds what others may have left.
fn check<'a>(facts: &Facts<'a>) -> Result<Vec<Filtered<'a>>, Refusal> {
    use SendStep as Step;
    let at = |step: Step, own: Result<(), Refusal>| {
        own?;
        let fault = facts.queue.faults.iter().find(|fault| fault.step == step);
        fault.map_or(Ok(()), |fault| Err(fault.refusal.clone()))
    };
    at(Step::Identity, Ok(()))?;
    at(Step::Tenant, tenant(facts))?;
    at(Step::Paused, paused(facts))?;
    at(Step::Owner, owner(facts))?;
    at(Step::Target, target(facts))?;
    at(Step::Recipients, recipients(facts))?;
    at(Step::Count, count(facts))?;
    at(Step::TestMode, test_mode(facts))?;
    at(Step::Scope, allow::scope(facts))?;
    at(Step::Marketing, Ok(()))?;
    at(Step::AutoReply, auto_reply(facts))?;
    at(Step::Hops, hops(facts))?;
    at(Step::Headers, Ok(()))?;
    at(Step::Content, content(facts))?;
    at(Step::From, from(facts))?;
    at(Step::Domain, domain(facts))?;
    at(Step::Transport, Ok(()))?;
    let filtered = allow::filter(facts);
    at(Step::Filters, Ok(()))?;
    at(Step::Size, size(facts))?;
    at(Step::Allowance, Ok(()))?;
    Ok(filtered)
}

fn tenant(facts: &Facts<'_>) -> Result<(), Refusal> {
    match facts.tenant.status {
        TenantStatus::Active => Ok(()),
        TenantStatus::Suspended => Err(ErrorCode::TenantSuspended.into()),
    }
}

fn paused(facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.identity.status != IdentityStatus::Paused {
        return Ok(());
    }
    Err(match facts.identity.pause_reason {
        Some(reason) => Refusal::Send {
            code: ErrorCode::IdentityPaused,
            reason: "",
            detail: SendDetail::Paused(reason),
        },
        None => ErrorCode::IdentityPaused.into(),
    })
}

fn owner(facts: &Facts<'_>) -> Result<(), Refusal> {
    let owner = facts.identity.owner.as_ref();
    let answers =
        owner.is_some_and(|owner| !owner.name.trim().is_empty() && !owner.email.trim().is_empty());
    match answers {
        true => Ok(()),
        false => Err(ErrorCode::IdentityOwnerRequired.into()),
    }
}

/// What it was written from is there, and as it was then: who sends a draft sends what they know of it.
fn target(facts: &Facts<'_>) -> Result<(), Refusal> {
    if let Some(sent) = facts.queue.draft {
        let known = facts.draft.ok_or(Refusal::new(ErrorCode::DraftNotFound))?;
        if known.version != sent.version {
            return Err(Refusal::because(ErrorCode::Conflict, SAVED_SINCE));
        }
    }
    if let Some(id) = facts.queue.answers {
        answered(facts, id).ok_or(Refusal::new(ErrorCode::MessageNotFound))?;
    }
    let continues = matches!(facts.queue.thread, SendThread::Existing(_));
    match continues && facts.thread.is_none() {
        true => Err(ErrorCode::ThreadNotFound.into()),
        false => Ok(()),
    }
}

/// The message that is answered or handed on, if it is one of the mailbox.
fn answered<'a>(facts: &Facts<'a>, id: MessageId) -> Option<&'a crate::MessageRow> {
    let known = facts.state.messages.get(&id)?;
    (known.row.identity_id == facts.identity.id).then_some(&known.row)
}

fn recipients(facts: &Facts<'_>) -> Result<(), Refusal> {
    match facts.recipients.is_empty() && facts.queue.faults.is_empty() {
        true => Err(Refusal::invalid("to", "at least one recipient")),
        false => Ok(()),
    }
}

fn count(facts: &Facts<'_>) -> Result<(), Refusal> {
    let most = facts
        .policy
        .max_recipients
        .min(limit::SENT_RECIPIENTS as u64);
    match facts.recipients.len() as u64 > most {
        true => Err(Refusal::Send {
            code: ErrorCode::TooManyRecipients,
            reason: "",
            detail: SendDetail::Most(most),
        }),
        false => Ok(()),
    }
}

fn test_mode(facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.tenant.mode != Mode::Test && !facts.queue.test {
        return Ok(());
    }
    let outside = |recipient: &SendRecipient| recipient.route == RecipientRoute::Outside;
    allow::none_of(facts, outside, ErrorCode::TestModeRecipient, "")
}

fn auto_reply(facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.queue.kind != SendKind::AutoReply {
        return Ok(());
    }
    let refused = |reason| Err(Refusal::because(ErrorCode::AutoReplyNotAllowed, reason));
    let answered = facts.queue.answers.and_then(|id| answered(facts, id));
    let answers = facts.queue.operation == SendOperation::Reply;
    let Some(answered) = answered.filter(|_| answers) else {
        return refused("only a reply can be automatic");
    };
    let by_hand = matches!(answered.kind, Kind::Normal | Kind::Calendar);
    if answered.direction != Direction::Inbound || !by_hand {
        return refused("it would answer a mail that a program wrote");
    }
    let is_program = |address: &str| {
        let (local, _) = address.rsplit_once('@').unwrap_or((address, ""));
        postroom_mail::is_program(local)
    };
    let mut reached = facts.recipients.iter().map(|one| one.address.as_str());
    if reached.any(is_program) || answered.from_address.as_deref().is_some_and(is_program) {
        return refused("it would go to an address that programs write from");
    }
    if !facts.policy.auto_reply.allowed {
        return refused("the tenant's policy allows none");
    }
    if facts.identity.send_policy.auto_reply == AutoReplyRule::Denied {
        return refused("the mailbox may not answer automatically");
    }
    let Some(thread) = facts.thread else {
        return refused("only a reply can be automatic");
    };
    if thread.hold.is_some() {
        return refused(HELD);
    }
    if !facts.state.whole_threads.contains(&thread.id) {
        return Err(Refusal::Deferred);
    }
    let messages = facts.state.messages_of(thread.id);
    let ours = messages
        .iter()
        .rev()
        .filter(|message| message.row.direction == Direction::Outbound);
    let exchanges = ours
        .take_while(|message| message.row.kind == Kind::AutoReply)
        .count() as u64;
    match exchanges < facts.policy.auto_reply.max_automatic_exchanges {
        true => Ok(()),
        false => Err(limited(thread)),
    }
}

/// Why an automatic answer is refused in a thread that has had enough of them.
const HELD: &str = "the thread waits for a person";

fn limited(thread: &ThreadRow) -> Refusal {
    Refusal::Send {
        code: ErrorCode::AutoReplyNotAllowed,
        reason: "the thread has had as many automatic answers in a row as it may have",
        detail: SendDetail::Thread(thread.id),
    }
}

fn hops(facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.queue.hop < limit::SENT_HOPS {
        return Ok(());
    }
    let reason = "too many mails in a row answered each other";
    Err(match facts.thread {
        Some(thread) => Refusal::Send {
            code: ErrorCode::LoopDetected,
            reason,
            detail: SendDetail::Thread(thread.id),
        },
        None => Refusal::because(ErrorCode::LoopDetected, reason),
    })
}

fn content(facts: &Facts<'_>) -> Result<(), Refusal> {
    let queue = facts.queue;
    if queue.labels.len() > limit::LABELS_PER_MESSAGE {
        return Err(Refusal::invalid("labels", "at most 64 labels"));
    }
    if !queue.labels.iter().all(|label| is_label(label)) {
        return Err(Refusal::invalid("labels", LABEL_FORM));
    }
    let large = |(name, value): (&String, &String)| {
        name.is_empty() || name.len().max(value.len()) > limit::METADATA_VALUE_BYTES
    };
    if queue.metadata.len() > limit::METADATA_ENTRIES || queue.metadata.iter().any(large) {
        return Err(Refusal::invalid(
            "metadata",
            "at most 16 values of 512 bytes",
        ));
    }
    Ok(())
}

fn from(facts: &Facts<'_>) -> Result<(), Refusal> {
    let own = facts
        .state
        .address_ids
        .get(&facts.queue.from)
        .and_then(|id| facts.state.addresses.get(id))
        .filter(|row| row.identity_id == facts.identity.id);
    let sends = own.is_some_and(|row| match row.status {
        AddressStatus::Active => true,
        AddressStatus::Retiring => row.receives(facts.now) && facts.queue.thread_uses_from,
        AddressStatus::Pending | AddressStatus::Retired => false,
    });
    match sends {
        true => Ok(()),
        false => Err(Refusal::invalid(
            "from_address",
            "an active address of the mailbox",
        )),
    }
}

/// A domain that nobody verified receives, and its mail stays inside of the deployment.
fn domain(facts: &Facts<'_>) -> Result<(), Refusal> {
    let queue = facts.queue;
    let outside = |recipient: &&SendRecipient| recipient.route == RecipientRoute::Outside;
    if !queue.leaves || !facts.recipients.iter().any(outside) {
        return Ok(());
    }
    let (_, name) = queue.from.rsplit_once('@').unwrap_or_default();
    let domains = &facts.state.domains;
    let ready = [Some(queue.tenant), None].iter().any(|owner| {
        domains
            .get(&(*owner, name.to_owned()))
            .is_some_and(|row| row.state != DomainState::Local)
    });
    match ready {
        true => Ok(()),
        false => Err(ErrorCode::DomainNotReady.into()),
    }
}

fn size(facts: &Facts<'_>) -> Result<(), Refusal> {
    let most = limit::SENT_MAIL_BYTES as u64;
    match &facts.queue.mail {
        Some(mail) if mail.raw.size > most => Err(Refusal::Send {
            code: ErrorCode::MessageTooLarge,
            reason: "",
            detail: SendDetail::Most(most),
        }),
        Some(_) => Ok(()),
        // Whoever could not compose it says why, at this step or a later one.
        None if !facts.queue.faults.is_empty() => Ok(()),
        None => Err(ErrorCode::InternalError.into()),
    }
}

/// What is left of today's caps. It is asked and taken in one decision, so that two sends never
/// both get the last of it.
fn allowance(facts: &Facts<'_>, filtered: &[Filtered<'_>]) -> Result<(), Refusal> {
    let units = filtered.iter().filter(|one| one.reason.is_none()).count() as u64;
    let day = &facts.queue.day;
    let own_cap = facts.identity.send_policy.daily_cap;
    let identity_cap = facts
        .policy
        .identity_daily_send_cap
        .min(own_cap.unwrap_or(u64::MAX));
    for (cap, identity, most) in [
        (CapKind::Identity, Some(facts.identity.id), identity_cap),
        (CapKind::Tenant, None, facts.policy.tenant_daily_send_cap),
    ] {
        let key = (facts.tenant.id, identity, day.date.clone());
        let used = super::ledger::usage_of(facts.state, &key).used();
        if units > 0 && used.saturating_add(units) > most {
            return Err(Refusal::Send {
                code: ErrorCode::DailyCapReached,
                reason: "",
                detail: SendDetail::Cap {
                    cap,
                    most,
                    resets_at: day.ends_at,
                },
            });
        }
    }
    Ok(())
}

/// A refusal as the answer. One that stops mails which answer each other is written into the thread,
/// so that whoever reads it sees why nobody answers.
fn refuse(refusal: Refusal, facts: &Facts<'_>) -> Result<Decision, Refusal> {
    let reason = match (&refusal, refusal.code()) {
        (Refusal::Send { .. }, ErrorCode::LoopDetected) => "loop_detected",
        (Refusal::Send { .. }, ErrorCode::AutoReplyNotAllowed) => "automatic_exchanges",
        _ => return Err(refusal),
    };
    let Some(thread) = facts.thread.filter(|thread| thread.hold.is_none()) else {
        return Err(refusal);
    };
    if facts.queue.dry_run {
        return Err(refusal);
    }
    let mut tick = Tick::new(facts.state, facts.tenant.id, facts.now);
    let feed = tick.next(
        FeedKind::ThreadChanged,
        Some(thread.identity_id),
        Some(thread.id.bits()),
    );
    let mut held = thread.clone();
    held.hold = Some(ThreadHold {
        reason: reason.to_owned(),
        set_at: tick.at,
    });
    Ok(Decision {
        changes: vec![Change::PutThread(held), Change::Feed(feed)],
        outcome: Outcome::Recorded(refusal),
    })
}
