//! The decision.

mod arrival;
mod arrive;
mod document;
mod identity;
mod ingest;
mod key;
mod label;
mod send;
mod source;
mod tenant;
mod todo;

use crate::{
    Change, Command, Decision, Outcome, Refusal, State, TenantRow, TenantStatus, deployment,
    row::{FeedKind, FeedRow, IdentityRow, IdentityStatus, ImportFailureRow},
};
use postroom_types::{ErrorCode, IdentityId, TenantId, Timestamp};

/// The instant and the randomness of one round.
pub struct Context<'a> {
    /// Now.
    pub now: Timestamp,
    /// Fresh random bits.
    pub random: &'a mut dyn FnMut() -> u128,
}

impl Context<'_> {
    fn bits(&mut self) -> u128 {
        (self.random)()
    }
}

/// Decides one command.
///
/// # Errors
/// [`Refusal`]: nothing changes.
pub fn decide(
    command: &Command,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    match command {
        Command::CreateTenant(create) => tenant::create(create, state, context),
        Command::UpdateTenant { tenant, patch } => tenant::update(*tenant, patch, state, context),
        Command::CreateDomain(create) => tenant::domain(create, state, context),
        Command::CreateIdentity(create) => identity::create(create, state, context),
        Command::UpdateIdentity(update) => identity::update(update, state, context),
        Command::AddAddress {
            tenant,
            identity,
            address,
            role,
        } => identity::add_address(*tenant, *identity, address, *role, state, context),
        Command::RetireAddress {
            tenant,
            address,
            at,
        } => identity::retire_address(*tenant, *address, *at, state, context),
        Command::CreateKey(create) => key::create(create, state, context),
        Command::RotateKey(rotate) => key::rotate(rotate, state, context),
        Command::RevokeKey { tenant, key } => key::revoke(*tenant, *key, state, context),
        Command::TouchKey { tenant, key } => key::touch(*tenant, *key, state, context),
        Command::CreateOwnerLink(row) => key::create_owner_link(row, state, context),
        Command::UseOwnerLink { link, session } => {
            key::use_owner_link(link, session, state, context)
        }
        Command::CloseSession { session } => key::close_session(session, state, context),
        Command::Receive(receive) => arrival::receive(receive, state, context),
        Command::FailEvent(fail) => arrival::fail(fail, state, context),
        Command::Ingest(ingest) => ingest::ingest(ingest, state, context),
        Command::Import(import) => ingest::import(import, state, context),
        Command::UpdateLabels(update) => label::update(update, state, context),
        Command::ArchiveThread(archive) => label::archive(archive, state, context),
        Command::KeepResultSet(keep) => Ok(Decision {
            changes: vec![
                Change::PruneResultSets(context.now),
                Change::PutResultSet(keep.row.clone()),
            ],
            outcome: Outcome::Done,
        }),
        Command::RecordImportFailure(failure) => record_failure(failure, state, context),
        Command::SetKeyGrants {
            tenant,
            key,
            grants,
        } => key::set_grants(*tenant, *key, grants, state, context),
        work => decide_work(work, state, context),
    }
}

/// Decides commands on sources, deliveries and todos.
fn decide_work(
    command: &Command,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    match command {
        Command::CreateSource(create) => source::create(create, state, context),
        Command::RotateSource(rotate) => source::rotate(rotate, state, context),
        Command::DeleteSource { scope, source } => source::delete(*scope, *source, state, context),
        Command::SetSourceSecret(set) => source::set_secret(set, state, context),
        Command::SetSourceRules(set) => source::set_rules(set, state, context),
        Command::SetSourceState {
            scope,
            source,
            enabled,
        } => source::set_state(*scope, *source, *enabled, state, context),
        Command::UpdateSource {
            scope,
            source,
            patch,
        } => source::update(*scope, *source, patch, state, context),
        Command::NoteHandshake { tenant, source } => {
            source::note_handshake(*tenant, *source, state, context)
        }
        Command::Arrive(arrive) => arrive::arrive(arrive, state, context),
        Command::SettleEvent(settle) => arrive::settle(settle, state, context),
        Command::PostponeEvent(postpone) => arrive::postpone(postpone, state, context),
        Command::CreateTodo(create) => todo::create(create, state, context),
        Command::ClaimTodo(claim) => todo::claim(claim, state, context),
        Command::ClaimNextTodo(claim) => todo::claim_next(claim, state, context),
        Command::HeartbeatTodo(beat) => todo::heartbeat(beat, state, context),
        Command::CompleteTodo(end) => todo::end(todo::End::Complete, end, state, context),
        Command::FailTodo(end) => todo::end(todo::End::Fail, end, state, context),
        Command::ReleaseTodo(end) => todo::end(todo::End::Release, end, state, context),
        Command::UndoClaim(undo) => todo::undo(undo, state, context),
        Command::RetryTodo(retry) => todo::retry(retry, state, context),
        Command::SweepTodos { tenant, limit } => todo::sweep(*tenant, *limit, state, context),
        Command::PruneTodos {
            tenant,
            todos,
            ended_before,
        } => Ok(todo::remove_ended(*tenant, todos, *ended_before, state)),
        Command::PruneEvents {
            tenant,
            events,
            received_before,
            seen,
        } => Ok(arrive::remove_old(
            *tenant,
            events,
            (*received_before, *seen),
            state,
            context,
        )),
        Command::SetQueue(set) => todo::set_queue(set, state, context),
        sending => decide_sending(sending, state, context),
    }
}

/// Decides commands on mail that is sent, and on what rules it.
fn decide_sending(
    command: &Command,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    match command {
        Command::QueueMessage(queue) => send::queue(queue, state, context),
        Command::ClaimSends(claim) => Ok(send::claim(claim, state, context)),
        Command::RecordOutcomes(outcomes) => Ok(send::record(outcomes, state, context)),
        Command::ExpireClaims(expire) => Ok(send::expire(expire, state, context)),
        Command::CancelSend {
            tenant,
            identity,
            message,
        } => send::cancel(*tenant, *identity, *message, state, context),
        Command::ResolveSend(resolve) => send::resolve(resolve, state, context),
        Command::RecordDeliveries(reports) => Ok(send::report(reports, state, context)),
        Command::PutDocument(put) => document::put(put, state, context),
        Command::PutDraft(put) => send::put_draft(put, state, context),
        Command::RemoveDraft {
            tenant,
            identity,
            draft,
        } => send::remove_draft(*tenant, *identity, *draft, state, context),
        Command::PutUpload(put) => send::put_upload(put, state, context),
        Command::SetPolicy(set) => send::set_policy(set, state, context),
        Command::PutSuppression(put) => send::put_suppression(put, state, context),
        Command::RemoveSuppression(remove) => send::remove_suppression(remove, state, context),
        Command::PutListEntry(entry) => send::put_list_entry(entry, state, context),
        Command::RemoveListEntry(entry) => send::remove_list_entry(entry, state, context),
        Command::PruneSending => Ok(send::prune(context.now)),
        // Every other command was decided before this was asked.
        _ => Err(ErrorCode::InternalError.into()),
    }
}

/// The counter of one tenant as one decision goes on with it: every position it gives out has a
/// row of the feed.
struct Tick {
    tenant: TenantId,
    position: u64,
    at: Timestamp,
}

impl Tick {
    fn new(state: &State, tenant: TenantId, now: Timestamp) -> Self {
        let counter = state.counters.get(&tenant).copied().unwrap_or_default();
        Self {
            tenant,
            position: counter.position,
            // The clock may go back; what was received later never looks earlier.
            at: counter.last_at.max(now),
        }
    }

    /// The counter that orders what belongs to no tenant.
    fn deployment(state: &State, now: Timestamp) -> Self {
        Self::new(state, deployment(), now)
    }

    /// The next position, with its row of the feed.
    fn next(
        &mut self,
        kind: FeedKind,
        identity: Option<IdentityId>,
        subject: Option<u128>,
    ) -> FeedRow {
        self.position += 1;
        FeedRow {
            tenant_id: self.tenant,
            position: self.position,
            kind,
            identity_id: identity,
            subject,
            num: None,
            at: self.at,
        }
    }

    /// The next position, which is also the number of what it tells.
    fn next_numbered(
        &mut self,
        kind: FeedKind,
        identity: Option<IdentityId>,
        subject: Option<u128>,
    ) -> FeedRow {
        let row = self.next(kind, identity, subject);
        FeedRow {
            num: Some(row.position),
            ..row
        }
    }
}

/// The tenant, if it works.
fn active_tenant(state: &State, id: TenantId) -> Result<&TenantRow, Refusal> {
    let tenant = state
        .tenants
        .get(&id)
        .ok_or(Refusal::new(ErrorCode::TenantNotFound))?;
    match tenant.status {
        TenantStatus::Active => Ok(tenant),
        TenantStatus::Suspended => Err(ErrorCode::TenantSuspended.into()),
    }
}

/// The identity, if it is the tenant's and not gone.
fn known_identity(
    state: &State,
    tenant: TenantId,
    id: IdentityId,
) -> Result<&IdentityRow, Refusal> {
    state
        .identities
        .get(&id)
        .filter(|row| row.tenant_id == tenant)
        .filter(|row| matches!(row.status, IdentityStatus::Active | IdentityStatus::Paused))
        .ok_or(Refusal::new(ErrorCode::IdentityNotFound))
}

fn record_failure(
    failure: &crate::RecordImportFailure,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    known_identity(state, failure.tenant, failure.identity)?;
    let sha256 = failure.raw.as_ref().map(|raw| raw.sha256);
    let repeated = match sha256 {
        Some(sha) => state.import_failures.contains(&(failure.identity, sha)),
        None => state.import_places.contains(&failure.place()),
    };
    if repeated {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let mut tick = Tick::new(state, failure.tenant, context.now);
    let feed = tick.next_numbered(FeedKind::ImportFailed, Some(failure.identity), None);
    let mut changes = Vec::new();
    if let Some(raw) = &failure.raw {
        changes.push(Change::AddBlob {
            tenant_id: failure.tenant,
            sha256: raw.sha256,
            size: raw.size,
        });
    }
    changes.push(Change::PutImportFailure(ImportFailureRow {
        tenant_id: failure.tenant,
        identity_id: failure.identity,
        id: feed.position,
        location: failure.location.clone(),
        reason: failure.reason.clone(),
        sha256,
        size: failure.raw.as_ref().map_or(0, |raw| raw.size),
        at: tick.at,
    }));
    changes.push(Change::Feed(feed));
    Ok(Decision {
        changes,
        outcome: Outcome::Done,
    })
}
