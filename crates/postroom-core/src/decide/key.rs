//! Keys, owner links, sessions.

use super::{Context, Tick, active_tenant, known_identity};
use crate::{
    Change, CreateKey, Credential, Decision, KeyRow, KeySecretRow, Mode, Outcome, OwnerLinkRow,
    Refusal, RotateKey, SessionRow, State, is_queue_name,
    row::{FeedKind, KeyGrants},
};
use postroom_types::{ErrorCode, KeyId, Level, TenantId, Timestamp, limit};

/// A use is noted at most once in this time.
const TOUCH_MS: i64 = 60_000;

pub(super) fn create(
    create: &CreateKey,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    check_level(create, state)?;
    let name = create.name.trim();
    if name.is_empty() || name.chars().count() > 78 || name.chars().any(char::is_control) {
        return Err(Refusal::invalid("name", "1 to 78 characters on one line"));
    }
    let mut permissions = create.permissions.clone();
    permissions.sort_unstable();
    permissions.dedup();
    if permissions.is_empty() {
        return Err(Refusal::invalid("permissions", "at least one permission"));
    }
    if permissions
        .iter()
        .any(|permission| permission.narrowest_level() > create.level)
    {
        return Err(Refusal::invalid(
            "permissions",
            "permission_not_allowed_for_level",
        ));
    }
    check_grants(&create.grants)?;
    if create.expires_at.is_some_and(|at| at <= context.now) {
        return Err(Refusal::invalid("expires_at", "an instant in the future"));
    }
    let active = create
        .tenant
        .and_then(|tenant| state.key_counts.get(&tenant))
        .copied()
        .unwrap_or(0);
    if create.tenant.is_some() && active >= limit::KEYS_PER_TENANT as u64 {
        return Err(ErrorCode::KeyLimitReached.into());
    }
    let row = KeyRow {
        id: KeyId::from_parts(context.now.ulid_ms(), context.bits()),
        name: name.to_owned(),
        level: create.level,
        mode: create.mode,
        tenant_id: create.tenant,
        identity_id: create.identity,
        permissions,
        grants: create.grants.clone(),
        expires_at: create.expires_at,
        revoked_at: None,
        last_used_at: None,
        created_at: context.now,
    };
    let secret = secret(row.id, &create.credential, context.now);
    let changes = vec![
        Change::PutKey(row.clone()),
        Change::PutSecret(secret),
        feed(&row, state, context),
    ];
    Ok(Decision {
        changes,
        outcome: Outcome::Key(row),
    })
}

/// Names of queues, and whole https addresses; what an address leads to is checked at each call.
fn check_grants(grants: &KeyGrants) -> Result<(), Refusal> {
    let queues = grants.queues.as_deref().unwrap_or_default();
    if queues.len() > limit::QUEUES_PER_KEY || !queues.iter().all(|name| is_queue_name(name)) {
        return Err(Refusal::invalid(
            "queues",
            "at most 64 names of a-z, 0-9, ., _ and -, each of 1 to 64 characters",
        ));
    }
    let is_target = |url: &String| url.starts_with("https://") && url.len() <= limit::URL_BYTES;
    let targets = &grants.replay_targets;
    if targets.len() > limit::REPLAY_TARGETS_PER_KEY || !targets.iter().all(is_target) {
        return Err(Refusal::invalid(
            "replay_targets",
            "at most 16 https addresses of at most 2048 bytes",
        ));
    }
    Ok(())
}

/// Replaces what a key is granted.
pub(super) fn set_grants(
    tenant: TenantId,
    key: KeyId,
    grants: &KeyGrants,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, Some(tenant), key)?;
    check_grants(grants)?;
    if known.revoked_at.is_some() {
        return Err(ErrorCode::KeyRevoked.into());
    }
    if known.grants == *grants {
        return Ok(Decision::unchanged(Outcome::Key(known.clone())));
    }
    let row = KeyRow {
        grants: grants.clone(),
        ..known.clone()
    };
    let changes = vec![Change::PutKey(row.clone()), feed(&row, state, context)];
    Ok(Decision {
        changes,
        outcome: Outcome::Key(row),
    })
}

fn check_level(create: &CreateKey, state: &State) -> Result<(), Refusal> {
    match (create.level, create.tenant, create.identity) {
        (Level::Platform, None, None) => match create.mode {
            Mode::Live => Ok(()),
            Mode::Test => Err(Refusal::invalid("mode", "a platform key is live")),
        },
        (Level::Tenant, Some(tenant), None) => active_tenant(state, tenant).map(|_| ()),
        (Level::Identity, Some(tenant), Some(identity)) => {
            active_tenant(state, tenant)?;
            known_identity(state, tenant, identity).map(|_| ())
        }
        _ => Err(Refusal::invalid(
            "level",
            "platform without tenant, tenant with one, identity with tenant and identity",
        )),
    }
}

fn secret(key: KeyId, credential: &Credential, now: Timestamp) -> KeySecretRow {
    KeySecretRow {
        lookup: credential.lookup.clone(),
        key_id: key,
        hash: credential.hash,
        valid_until: None,
        created_at: now,
    }
}

fn feed(row: &KeyRow, state: &State, context: &Context<'_>) -> Change {
    let mut tick = match row.tenant_id {
        Some(tenant) => Tick::new(state, tenant, context.now),
        None => Tick::deployment(state, context.now),
    };
    Change::Feed(tick.next(FeedKind::KeyChanged, row.identity_id, Some(row.id.bits())))
}

fn known(state: &State, tenant: Option<TenantId>, key: KeyId) -> Result<&KeyRow, Refusal> {
    state
        .keys
        .get(&key)
        .filter(|row| row.tenant_id == tenant)
        .ok_or(Refusal::new(ErrorCode::KeyNotFound))
}

pub(super) fn rotate(
    rotate: &RotateKey,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let row = known(state, rotate.tenant, rotate.key)?;
    if rotate.overlap_hours > limit::KEY_OVERLAP_HOURS {
        return Err(Refusal::invalid("overlap_hours", "0 to 168"));
    }
    if row.revoked_at.is_some() {
        return Err(ErrorCode::KeyRevoked.into());
    }
    if row.expires_at.is_some_and(|at| at <= context.now) {
        return Err(ErrorCode::KeyExpired.into());
    }
    let hours = i64::try_from(rotate.overlap_hours).unwrap_or(0);
    let until = context.now.plus_ms(hours * 3_600_000);
    let mut changes = Vec::new();
    for known in state.secrets.get(&row.id).into_iter().flatten() {
        // At most two secrets: the current one goes on for the overlap, an older one ends now.
        changes.push(if known.valid_until.is_none() && rotate.overlap_hours > 0 {
            Change::PutSecret(KeySecretRow {
                valid_until: Some(until),
                ..known.clone()
            })
        } else {
            Change::RemoveSecret {
                key_id: row.id,
                lookup: known.lookup.clone(),
            }
        });
    }
    changes.push(Change::PutSecret(secret(
        row.id,
        &rotate.credential,
        context.now,
    )));
    changes.push(feed(row, state, context));
    Ok(Decision {
        changes,
        outcome: Outcome::Key(row.clone()),
    })
}

pub(super) fn revoke(
    tenant: Option<TenantId>,
    key: KeyId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, tenant, key)?;
    if known.revoked_at.is_some() {
        return Ok(Decision::unchanged(Outcome::Key(known.clone())));
    }
    let row = KeyRow {
        revoked_at: Some(context.now),
        ..known.clone()
    };
    let changes = vec![Change::PutKey(row.clone()), feed(&row, state, context)];
    Ok(Decision {
        changes,
        outcome: Outcome::Key(row),
    })
}

pub(super) fn touch(
    tenant: Option<TenantId>,
    key: KeyId,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = known(state, tenant, key)?;
    let recent = known
        .last_used_at
        .is_some_and(|at| context.now < at.plus_ms(TOUCH_MS));
    if recent {
        return Ok(Decision::unchanged(Outcome::Done));
    }
    let row = KeyRow {
        last_used_at: Some(context.now),
        ..known.clone()
    };
    // No row of the feed: nobody waits for it, and it would wake every reader each minute.
    Ok(Decision {
        changes: vec![Change::PutKey(row)],
        outcome: Outcome::Done,
    })
}

fn access_feed(state: &State, context: &Context<'_>) -> Change {
    let mut tick = Tick::deployment(state, context.now);
    Change::Feed(tick.next(FeedKind::AccessChanged, None, None))
}

pub(super) fn create_owner_link(
    row: &OwnerLinkRow,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    Ok(Decision {
        changes: vec![
            Change::EndUnusedOwnerLinks(context.now),
            Change::PutOwnerLink(row.clone()),
            access_feed(state, context),
        ],
        outcome: Outcome::Done,
    })
}

pub(super) fn use_owner_link(
    link: &[u8; 32],
    session: &SessionRow,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = state
        .owner_links
        .get(link)
        .filter(|row| row.used_at.is_none() && context.now < row.expires_at)
        .ok_or(Refusal::new(ErrorCode::Unauthenticated))?;
    Ok(Decision {
        changes: vec![
            Change::PutOwnerLink(OwnerLinkRow {
                used_at: Some(context.now),
                ..known.clone()
            }),
            Change::PutSession(session.clone()),
            access_feed(state, context),
        ],
        outcome: Outcome::Done,
    })
}

pub(super) fn close_session(
    session: &[u8; 32],
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    Ok(Decision {
        changes: vec![Change::RemoveSession(*session), access_feed(state, context)],
        outcome: Outcome::Done,
    })
}
