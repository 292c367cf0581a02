//! Tenants and domains.

use super::{Context, Tick};
use crate::{
    Change, CreateDomain, CreateTenant, Decision, DomainRow, Outcome, Refusal, State, TenantPatch,
    TenantRow, TenantStatus, row::FeedKind,
};
use postroom_types::{DomainId, ErrorCode, TenantId};

/// `^[a-z0-9][a-z0-9-]{1,31}$`
fn is_slug(text: &str) -> bool {
    let head = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (2..=32).contains(&text.len())
        && text.as_bytes().first().is_some_and(head)
        && text.bytes().all(|byte| head(&byte) || byte == b'-')
}

pub(super) fn create(
    create: &CreateTenant,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    if !is_slug(&create.slug) {
        return Err(Refusal::invalid(
            "slug",
            "2 to 32 of a-z, 0-9 and hyphen, not beginning with a hyphen",
        ));
    }
    if state.slugs.contains_key(&create.slug) {
        return Err(ErrorCode::SlugTaken.into());
    }
    if create.name.chars().count() > 78 || create.name.chars().any(char::is_control) {
        return Err(Refusal::invalid(
            "name",
            "at most 78 characters on one line",
        ));
    }
    let row = TenantRow {
        id: TenantId::from_parts(context.now.ulid_ms(), context.bits()),
        slug: create.slug.clone(),
        name: if create.name.is_empty() {
            create.slug.clone()
        } else {
            create.name.clone()
        },
        status: TenantStatus::Active,
        mode: create.mode,
        timezone: create.timezone.clone(),
        address_suffix: create
            .address_suffix
            .clone()
            .unwrap_or_else(|| format!(".{}", create.slug)),
        created_at: context.now,
        updated_at: context.now,
    };
    let mut deployment = Tick::deployment(state, context.now);
    let mut tick = Tick::new(state, row.id, context.now);
    let changes = vec![
        Change::Feed(deployment.next(FeedKind::TenantChanged, None, Some(row.id.bits()))),
        Change::Feed(tick.next(FeedKind::TenantChanged, None, Some(row.id.bits()))),
        Change::PutTenant(row.clone()),
    ];
    Ok(Decision {
        changes,
        outcome: Outcome::Tenant(row),
    })
}

pub(super) fn update(
    tenant: TenantId,
    patch: &TenantPatch,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known = state
        .tenants
        .get(&tenant)
        .ok_or(Refusal::new(ErrorCode::TenantNotFound))?;
    let mut row = known.clone();
    row.status = patch.status.unwrap_or(row.status);
    if let Some(name) = &patch.name {
        row.name.clone_from(name);
    }
    if let Some(timezone) = &patch.timezone {
        row.timezone.clone_from(timezone);
    }
    if row == *known {
        return Ok(Decision::unchanged(Outcome::Tenant(row)));
    }
    row.updated_at = context.now;
    let mut tick = Tick::new(state, tenant, context.now);
    Ok(Decision {
        changes: vec![
            Change::PutTenant(row.clone()),
            Change::Feed(tick.next(FeedKind::TenantChanged, None, Some(tenant.bits()))),
        ],
        outcome: Outcome::Tenant(row),
    })
}

pub(super) fn domain(
    create: &CreateDomain,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    if let Some(tenant) = create.tenant {
        super::active_tenant(state, tenant)?;
    }
    let key = (create.tenant, create.name.clone());
    let known = state.domains.get(&key);
    if let Some(known) = known.filter(|known| known.state == create.state) {
        return Ok(Decision::unchanged(Outcome::Domain(known.clone())));
    }
    let row = match known {
        Some(known) => DomainRow {
            state: create.state,
            ..known.clone()
        },
        None => DomainRow {
            id: DomainId::from_parts(context.now.ulid_ms(), context.bits()),
            tenant_id: create.tenant,
            name: create.name.clone(),
            state: create.state,
            created_at: context.now,
        },
    };
    let mut tick = match create.tenant {
        Some(tenant) => Tick::new(state, tenant, context.now),
        None => Tick::deployment(state, context.now),
    };
    let subject = create.tenant.map(TenantId::bits);
    Ok(Decision {
        changes: vec![
            Change::PutDomain(row.clone()),
            Change::Feed(tick.next(FeedKind::TenantChanged, None, subject)),
        ],
        outcome: Outcome::Domain(row),
    })
}
