//! Sources: created, changed, deleted.

use super::{Context, Tick, active_tenant, known_identity};
use crate::{
    Change, CreateSource, Decision, Outcome, Refusal, RotateSource, SealedSecret, SecretOrigin,
    SetSourceRules, SetSourceSecret, SourcePatch, SourceRow, SourceSecret, SourceState, State,
    TrustMode, is_queue_name,
    row::{FeedKind, QUARANTINE_QUEUE},
};
use postroom_types::{ErrorCode, Reach, SourceId, TenantId, TenantScope, Timestamp, limit};

pub(super) fn create(
    create: &CreateSource,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, create.tenant)?;
    if let Some(identity) = create.identity {
        known_identity(state, create.tenant, identity)?;
    }
    let name = if create.name.is_empty() {
        &create.provider
    } else {
        &create.name
    };
    check_name(name)?;
    check_queue(&create.queue)?;
    check_documents([&create.rules, &create.options, &create.trusted_actors])?;
    let count = state.source_counts.get(&create.tenant).copied();
    if count.unwrap_or(0) >= limit::SOURCES_PER_TENANT as u64 {
        return Err(ErrorCode::CeilingExceeded.into());
    }
    if create.secret_origin == SecretOrigin::Minted && create.secret.is_none() {
        return Err(Refusal::argument("secret", "is made with the source"));
    }
    let secrets: Vec<SourceSecret> = create
        .secret
        .iter()
        .map(|secret| current(secret, context.now))
        .collect();
    let mut row = SourceRow {
        id: SourceId::from_parts(context.now.ulid_ms(), context.bits()),
        tenant_id: create.tenant,
        identity_id: create.identity,
        provider: create.provider.clone(),
        name: name.clone(),
        token_hash: create.token.hash,
        sealed_token: create.token.sealed.clone(),
        state: SourceState::Active,
        trust_mode: create.trust_mode,
        secret_origin: create.secret_origin,
        secrets,
        queue: create.queue.clone(),
        rules: create.rules.clone(),
        rules_version: 1,
        options: create.options.clone(),
        trusted_actors: create.trusted_actors.clone(),
        version: 1,
        created_at: context.now,
        rotated_at: None,
        handshake_at: None,
    };
    row.state = enabled_state(&row);
    Ok(put(row, state, context))
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let count = name.chars().count();
    if !(1..=78).contains(&count) || name.chars().any(char::is_control) {
        return Err(Refusal::argument("name", "1 to 78 characters on one line"));
    }
    Ok(())
}

pub(super) fn check_queue(queue: &str) -> Result<(), Refusal> {
    if !is_queue_name(queue) {
        return Err(Refusal::argument(
            "queue",
            "1 to 64 of a-z, 0-9, ., _ and -, beginning with a letter or digit",
        ));
    }
    if queue == QUARANTINE_QUEUE {
        return Err(Refusal::argument("queue", "this name is reserved"));
    }
    Ok(())
}

fn check_documents(documents: [&Option<String>; 3]) -> Result<(), Refusal> {
    let paths = ["rules", "options", "trusted_actors"];
    for (document, path) in documents.into_iter().zip(paths) {
        let size = document.as_ref().map_or(0, String::len);
        if size > limit::SOURCE_DOCUMENT_BYTES {
            return Err(Refusal::argument(path, "at most 256 KiB of JSON"));
        }
    }
    Ok(())
}

fn current(secret: &SealedSecret, now: Timestamp) -> SourceSecret {
    SourceSecret {
        sealed: secret.sealed.clone(),
        fingerprint: secret.fingerprint.clone(),
        set_at: now,
        valid_until: None,
    }
}

/// How far a source vouches once somebody learned or gave what its deliveries are verified with. What an
/// agent knew of it once it may have told others, so that nothing but a new source vouches again.
fn trust_mode(known: &SourceRow, by_agent: bool) -> TrustMode {
    match by_agent {
        true => TrustMode::Agent,
        false => known.trust_mode,
    }
}

/// The state of a source that is on.
fn enabled_state(row: &SourceRow) -> SourceState {
    let awaits = row.secret_origin == SecretOrigin::Provider && row.current_secret().is_none();
    if awaits {
        SourceState::AwaitingSecret
    } else {
        SourceState::Active
    }
}

/// A source as it becomes, told by the feed.
fn put(row: SourceRow, state: &State, context: &Context<'_>) -> Decision {
    let mut tick = Tick::new(state, row.tenant_id, context.now);
    let feed = tick.next(
        FeedKind::SourceChanged,
        row.identity_id,
        Some(row.id.bits()),
    );
    let row = Box::new(row);
    Decision {
        changes: vec![Change::PutSource(row.clone()), Change::Feed(feed)],
        outcome: Outcome::Source(row),
    }
}

/// A source that the scope reaches; others do not exist for it.
fn known(state: &State, scope: TenantScope, id: SourceId) -> Result<&SourceRow, Refusal> {
    state
        .sources
        .get(&id)
        .filter(|row| row.tenant_id == scope.tenant())
        .filter(|row| match scope.reach() {
            Reach::Tenant => true,
            Reach::Identity(own) => row.identity_id == Some(own),
        })
        .ok_or(Refusal::new(ErrorCode::NotFound))
}

pub(super) fn rotate(
    rotate: &RotateSource,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, rotate.scope, rotate.source)?;
    let mut row = SourceRow {
        token_hash: rotate.token.hash,
        sealed_token: rotate.token.sealed.clone(),
        version: known.version + 1,
        rotated_at: Some(context.now),
        trust_mode: trust_mode(known, rotate.by_agent),
        ..known.clone()
    };
    if let Some(secret) = &rotate.secret {
        if row.secret_origin != SecretOrigin::Minted {
            return Err(Refusal::argument("secret", "its provider makes the secret"));
        }
        row.secrets = vec![current(secret, context.now)];
    }
    Ok(put(row, state, context))
}

pub(super) fn delete(
    scope: TenantScope,
    source: SourceId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, scope, source)?;
    let mut tick = Tick::new(state, known.tenant_id, context.now);
    let feed = tick.next(
        FeedKind::SourceChanged,
        known.identity_id,
        Some(source.bits()),
    );
    Ok(Decision {
        changes: vec![
            Change::RemoveSource {
                tenant_id: known.tenant_id,
                id: source,
            },
            Change::Feed(feed),
        ],
        outcome: Outcome::Done,
    })
}

pub(super) fn set_secret(
    set: &SetSourceSecret,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, set.scope, set.source)?;
    if known.secret_origin != SecretOrigin::Provider {
        return Err(Refusal::argument(
            "secret",
            "only a provider that issues its own secret takes one",
        ));
    }
    if set.keep_previous_ms > limit::SECRET_OVERLAP_MS {
        return Err(Refusal::argument("keep_previous_for", "at most 24 hours"));
    }
    let now = context.now;
    let same = known
        .current_secret()
        .is_some_and(|current| current.fingerprint == set.secret.fingerprint);
    let mut row = known.clone();
    row.version += 1;
    row.trust_mode = trust_mode(known, set.by_agent);
    if same {
        // The same again changes nothing of it, and ends what went on beside it unless told to.
        if set.keep_previous_ms > 0 && row.trust_mode == known.trust_mode {
            return Ok(Decision::unchanged(Outcome::Source(Box::new(
                known.clone(),
            ))));
        }
        row.secrets.retain(|secret| secret.valid_until.is_none());
        return Ok(put(row, state, context));
    }
    let keep = i64::try_from(set.keep_previous_ms).unwrap_or(0);
    let end = now.plus_ms(keep);
    for secret in &mut row.secrets {
        secret.valid_until = Some(secret.valid_until.map_or(end, |until| until.min(end)));
    }
    row.secrets.insert(0, current(&set.secret, now));
    row.secrets
        .retain(|secret| secret.valid_until.is_none_or(|until| now < until));
    row.secrets.truncate(limit::SOURCE_SECRETS);
    if row.state == SourceState::AwaitingSecret {
        row.state = SourceState::Active;
    }
    Ok(put(row, state, context))
}

pub(super) fn set_rules(
    set: &SetSourceRules,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, set.scope, set.source)?;
    check_documents([&set.rules, &None, &None])?;
    if known.rules_version != set.expected_version {
        return Err(Refusal::because(
            ErrorCode::Conflict,
            "somebody else saved the rules since",
        ));
    }
    let row = SourceRow {
        rules: set.rules.clone(),
        rules_version: known.rules_version + 1,
        version: known.version + 1,
        ..known.clone()
    };
    Ok(put(row, state, context))
}

pub(super) fn set_state(
    scope: TenantScope,
    source: SourceId,
    enabled: bool,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, scope, source)?;
    let becomes = if enabled {
        enabled_state(known)
    } else {
        SourceState::Disabled
    };
    if known.state == becomes {
        return Ok(Decision::unchanged(Outcome::Source(Box::new(
            known.clone(),
        ))));
    }
    let row = SourceRow {
        state: becomes,
        version: known.version + 1,
        ..known.clone()
    };
    Ok(put(row, state, context))
}

pub(super) fn update(
    scope: TenantScope,
    source: SourceId,
    patch: &SourcePatch,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, scope, source)?;
    let mut row = known.clone();
    if let Some(name) = &patch.name {
        check_name(name)?;
        row.name.clone_from(name);
    }
    if let Some(queue) = &patch.queue {
        check_queue(queue)?;
        row.queue.clone_from(queue);
    }
    if let Some(options) = &patch.options {
        row.options.clone_from(options);
    }
    if let Some(actors) = &patch.trusted_actors {
        row.trusted_actors.clone_from(actors);
    }
    check_documents([&None, &row.options, &row.trusted_actors])?;
    if row == *known {
        return Ok(Decision::unchanged(Outcome::Source(Box::new(row))));
    }
    row.version += 1;
    Ok(put(row, state, context))
}

/// A handshake tells the person who connects the source that its address is right; a provider that
/// shakes hands all the time is noted once per minute.
pub(super) fn note_handshake(
    tenant: TenantId,
    source: SourceId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, TenantScope::granted(tenant, Reach::Tenant), source)?;
    let recent = known
        .handshake_at
        .is_some_and(|at| context.now < at.plus_ms(60_000));
    if recent {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let row = SourceRow {
        handshake_at: Some(context.now),
        ..known.clone()
    };
    Ok(Decision {
        outcome: Outcome::Done,
        ..put(row, state, context)
    })
}
