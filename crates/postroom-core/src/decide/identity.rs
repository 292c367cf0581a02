//! Identities and their addresses.

use super::{Context, Tick, active_tenant, known_identity};
use crate::{
    AddressRole, AddressRow, AddressStatus, Change, CreateIdentity, Decision, DomainRow,
    DomainState, IdentityPatch, IdentityRow, IdentityStatus, NewAddress, Outcome, Owner,
    PauseReason, Refusal, State, TenantRow, UpdateIdentity, check_username, row::FeedKind,
};
use postroom_types::{
    Address, AddressId, DomainId, ErrorCode, IdentityId, TenantId, Timestamp, limit,
};
use sha2::Digest as _;
use std::collections::BTreeMap;

pub(super) fn create(
    create: &CreateIdentity,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let tenant = active_tenant(state, create.tenant)?;
    let digest = create.client_id.as_ref().map(|_| client_digest(create));
    if let Some(known) = known_client(create, state) {
        if known.client_digest != digest {
            return Err(ErrorCode::ClientIdConflict.into());
        }
        return Ok(Decision::unchanged(outcome(known, state, false)));
    }
    check_fields(create)?;
    let (address, given) = first_address(create, tenant)?;
    let (domain, domain_change) = domain_of(&address, tenant, state, context)?;
    let username = username(create, &address, given, &domain, state)?;
    if given {
        check_share(&address, &domain, tenant)?;
    }
    if state.address_ids.contains_key(address.base()) {
        return Err(ErrorCode::AddressTaken.into());
    }
    let row = IdentityRow {
        id: IdentityId::from_parts(context.now.ulid_ms(), context.bits()),
        tenant_id: create.tenant,
        display_name: match create.display_name.trim() {
            "" => username.chars().take(78).collect(),
            name => name.to_owned(),
        },
        username,
        purpose: create.purpose.clone(),
        status: IdentityStatus::Active,
        pause_reason: None,
        owner: create.owner.clone(),
        metadata: create.metadata.clone(),
        client_id: create.client_id.clone(),
        client_digest: digest,
        signature: None,
        send_policy: Default::default(),
        resumed_at: None,
        created_at: context.now,
        updated_at: context.now,
    };
    let address = new_address(&row, &address, domain.id, AddressRole::Primary, context);
    let mut tick = Tick::new(state, create.tenant, context.now);
    let mut changes: Vec<Change> = domain_change.into_iter().collect();
    changes.push(Change::PutIdentity(row.clone()));
    changes.push(Change::PutAddress(address.clone()));
    changes.push(Change::Feed(tick.next(
        FeedKind::IdentityChanged,
        Some(row.id),
        Some(row.id.bits()),
    )));
    let outcome = Outcome::Identity {
        row,
        addresses: vec![address],
        created: true,
    };
    Ok(Decision { changes, outcome })
}

fn known_client<'a>(create: &CreateIdentity, state: &'a State) -> Option<&'a IdentityRow> {
    let client_id = create.client_id.clone()?;
    let id = state.client_ids.get(&(create.tenant, client_id))?;
    state.identities.get(id)
}

/// What the identity is now, with all its addresses.
fn outcome(row: &IdentityRow, state: &State, created: bool) -> Outcome {
    let ids = state.addresses_of.get(&row.id).into_iter().flatten();
    let addresses = ids
        .filter_map(|id| state.addresses.get(id).cloned())
        .collect();
    Outcome::Identity {
        row: row.clone(),
        addresses,
        created,
    }
}

/// Digest of everything a create says, in one canonical form.
fn client_digest(create: &CreateIdentity) -> [u8; 32] {
    let address = match &create.address {
        NewAddress::Username { username, domain } => format!("u:{username}@{domain}"),
        NewAddress::Address(address) => format!("a:{}", address.base()),
    };
    let owner = create.owner.as_ref().map(|o| (&o.name, &o.email));
    let values = (
        address,
        &create.display_name,
        &create.purpose,
        owner,
        &create.metadata,
    );
    let text = serde_json::to_vec(&values).unwrap_or_default();
    sha2::Sha256::digest(text).into()
}

fn check_fields(create: &CreateIdentity) -> Result<(), Refusal> {
    check_display_name(&create.display_name)?;
    check_purpose(create.purpose.as_deref())?;
    check_owner(create.owner.as_ref())?;
    check_metadata(&create.metadata)?;
    let bad_client_id = create
        .client_id
        .as_ref()
        .is_some_and(|id| id.is_empty() || id.len() > 128 || id.chars().any(char::is_control));
    if bad_client_id {
        return Err(Refusal::invalid("client_id", "1 to 128 bytes on one line"));
    }
    Ok(())
}

fn check_display_name(name: &str) -> Result<(), Refusal> {
    if name.chars().count() > 78 || name.chars().any(char::is_control) {
        return Err(Refusal::invalid(
            "display_name",
            "at most 78 characters on one line",
        ));
    }
    Ok(())
}

fn check_purpose(purpose: Option<&str>) -> Result<(), Refusal> {
    if purpose.is_some_and(|text| text.chars().count() > 64 || text.chars().any(char::is_control)) {
        return Err(Refusal::invalid(
            "purpose",
            "at most 64 characters on one line",
        ));
    }
    Ok(())
}

fn check_owner(owner: Option<&Owner>) -> Result<(), Refusal> {
    let Some(owner) = owner else { return Ok(()) };
    let bad_name = owner.name.trim().is_empty()
        || owner.name.chars().count() > 78
        || owner.name.chars().any(char::is_control);
    if bad_name || Address::parse(&owner.email).is_err() {
        return Err(Refusal::invalid("owner", "a name and an address"));
    }
    Ok(())
}

fn check_metadata(metadata: &BTreeMap<String, String>) -> Result<(), Refusal> {
    let fits = metadata.len() <= limit::METADATA_ENTRIES
        && metadata.iter().all(|(name, value)| {
            !name.is_empty() && name.len() <= 64 && value.len() <= limit::METADATA_VALUE_BYTES
        });
    if !fits {
        return Err(Refusal::invalid(
            "metadata",
            "at most 16 values of 512 bytes, names of 1 to 64 bytes",
        ));
    }
    Ok(())
}

/// The address, and whether it was given whole.
fn first_address(create: &CreateIdentity, tenant: &TenantRow) -> Result<(Address, bool), Refusal> {
    match &create.address {
        NewAddress::Address(address) => Ok((address.clone(), true)),
        NewAddress::Username { username, domain } => {
            check_username(username, &tenant.address_suffix)?;
            let text = format!("{username}{}@{domain}", tenant.address_suffix);
            let address =
                Address::parse(&text).map_err(|_| Refusal::new(ErrorCode::AddressInvalid))?;
            Ok((address, false))
        }
    }
}

/// The domain as the tenant or the deployment has it; one that nobody has becomes the tenant's,
/// in state `local`. A domain of another tenant is refused before anything under it is looked at,
/// so that the answer says nothing of the addresses there.
fn domain_of(
    address: &Address,
    tenant: &TenantRow,
    state: &State,
    context: &mut Context<'_>,
) -> Result<(DomainRow, Option<Change>), Refusal> {
    let name = address.domain().to_owned();
    let own = state.domains.get(&(Some(tenant.id), name.clone()));
    if let Some(own) = own.filter(|own| own.state != DomainState::Local) {
        return Ok((own.clone(), None));
    }
    if let Some(shared) = state.domains.get(&(None, name.clone())) {
        return Ok((own.unwrap_or(shared).clone(), None));
    }
    let first = state
        .domains
        .values()
        .filter(|row| row.name == name)
        .min_by_key(|row| (row.created_at, row.id));
    match (first, own) {
        (Some(first), _) if first.tenant_id != Some(tenant.id) => {
            Err(ErrorCode::DomainUnavailable.into())
        }
        (_, Some(own)) => Ok((own.clone(), None)),
        (_, None) => {
            let row = DomainRow {
                id: DomainId::from_parts(context.now.ulid_ms(), context.bits()),
                tenant_id: Some(tenant.id),
                name,
                state: DomainState::Local,
                created_at: context.now,
            };
            Ok((row.clone(), Some(Change::PutDomain(row))))
        }
    }
}

/// Under a domain of the deployment, which all tenants share, a tenant has the local parts that end
/// with its suffix; whether another one is in use is not its business.
fn check_share(address: &Address, domain: &DomainRow, tenant: &TenantRow) -> Result<(), Refusal> {
    let shared = domain.tenant_id.is_none();
    if shared && !address.local().ends_with(&tenant.address_suffix) {
        return Err(ErrorCode::AddressReserved.into());
    }
    Ok(())
}

fn username(
    create: &CreateIdentity,
    address: &Address,
    given: bool,
    domain: &DomainRow,
    state: &State,
) -> Result<String, Refusal> {
    let taken = |name: &str| {
        state
            .usernames
            .contains_key(&(create.tenant, name.to_owned()))
    };
    if let NewAddress::Username { username, .. } = &create.address {
        return match taken(username) {
            true => Err(ErrorCode::UsernameTaken.into()),
            false => Ok(username.clone()),
        };
    }
    if given && domain.state != DomainState::Local {
        check_username(address.local(), "")?;
    }
    let local = address.local();
    // Two mailboxes may share a local part under different domains; the second goes by its whole
    // address.
    Ok(if taken(local) {
        address.base().to_owned()
    } else {
        local.to_owned()
    })
}

fn new_address(
    identity: &IdentityRow,
    address: &Address,
    domain: DomainId,
    role: AddressRole,
    context: &mut Context<'_>,
) -> AddressRow {
    AddressRow {
        id: AddressId::from_parts(context.now.ulid_ms(), context.bits()),
        tenant_id: identity.tenant_id,
        identity_id: identity.id,
        address: address.base().to_owned(),
        domain_id: domain,
        role,
        status: AddressStatus::Active,
        retire_at: None,
        retired_at: None,
        created_at: context.now,
    }
}

pub(super) fn update(
    update: &UpdateIdentity,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, update.tenant)?;
    let known = known_identity(state, update.tenant, update.identity)?;
    let mut row = known.clone();
    let patch = &update.patch;
    match patch.status {
        None => {}
        Some(IdentityStatus::Active) => {
            if row.status == IdentityStatus::Paused {
                row.resumed_at = Some(context.now);
            }
            row.status = IdentityStatus::Active;
            row.pause_reason = None;
        }
        Some(IdentityStatus::Paused) => {
            row.status = IdentityStatus::Paused;
            row.pause_reason = row
                .pause_reason
                .or(patch.pause_reason)
                .or(Some(PauseReason::Manual));
        }
        Some(IdentityStatus::Deleting | IdentityStatus::Deleted) => {
            return Err(Refusal::invalid("status", "active or paused"));
        }
    }
    if let Some(name) = &patch.display_name {
        check_display_name(name)?;
        if name.trim().is_empty() {
            return Err(Refusal::invalid("display_name", "at least one character"));
        }
        row.display_name = name.trim().to_owned();
    }
    if let Some(purpose) = &patch.purpose {
        check_purpose(purpose.as_deref())?;
        row.purpose.clone_from(purpose);
    }
    if let Some(owner) = &patch.owner {
        check_owner(owner.as_ref())?;
        row.owner.clone_from(owner);
    }
    if let Some(metadata) = &patch.metadata {
        check_metadata(metadata)?;
        row.metadata.clone_from(metadata);
    }
    update_sending(&mut row, patch)?;
    if row == *known {
        return Ok(Decision::unchanged(outcome(known, state, false)));
    }
    row.updated_at = context.now;
    let mut tick = Tick::new(state, update.tenant, context.now);
    let outcome = outcome(&row, state, false);
    let feed = tick.next(FeedKind::IdentityChanged, Some(row.id), Some(row.id.bits()));
    Ok(Decision {
        changes: vec![Change::PutIdentity(row), Change::Feed(feed)],
        outcome,
    })
}

/// Takes over what a mailbox puts under its mails, and what it may send.
fn update_sending(row: &mut IdentityRow, patch: &IdentityPatch) -> Result<(), Refusal> {
    if let Some(signature) = &patch.signature {
        let parts = signature.iter().flat_map(|own| [&own.text, &own.html]);
        let most = parts.flatten().map(String::len).max();
        if most.is_some_and(|len| len > limit::SIGNATURE_BYTES) {
            return Err(Refusal::invalid("signature", "at most 16 KiB of each"));
        }
        row.signature.clone_from(signature);
    }
    if let Some(policy) = &patch.send_policy {
        let cap = policy.daily_cap;
        if cap.is_some_and(|cap| cap > limit::SENT_PER_DAY) {
            return Err(Refusal::invalid("send_policy", "daily_cap is 0 to 1000000"));
        }
        row.send_policy.clone_from(policy);
    }
    Ok(())
}

pub(super) fn add_address(
    tenant: TenantId,
    identity: IdentityId,
    address: &Address,
    role: AddressRole,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    let known_tenant = active_tenant(state, tenant)?;
    let row = known_identity(state, tenant, identity)?;
    let own: Vec<&AddressRow> = state
        .addresses_of
        .get(&identity)
        .into_iter()
        .flatten()
        .filter_map(|id| state.addresses.get(id))
        .filter(|known| known.status != AddressStatus::Retired)
        .collect();
    if own.len() >= limit::ADDRESSES_PER_IDENTITY {
        return Err(ErrorCode::AddressLimitReached.into());
    }
    let (domain, domain_change) = domain_of(address, known_tenant, state, context)?;
    if domain.state != DomainState::Local {
        check_username(address.local(), "")?;
    }
    check_share(address, &domain, known_tenant)?;
    if state.address_ids.contains_key(address.base()) {
        return Err(ErrorCode::AddressTaken.into());
    }
    let mut changes: Vec<Change> = domain_change.into_iter().collect();
    if role == AddressRole::Primary {
        for known in own.iter().filter(|a| a.role == AddressRole::Primary) {
            changes.push(Change::PutAddress(AddressRow {
                role: AddressRole::Alias,
                ..(*known).clone()
            }));
        }
    }
    let added = new_address(row, address, domain.id, role, context);
    let mut tick = Tick::new(state, tenant, context.now);
    changes.push(Change::PutAddress(added.clone()));
    changes.push(Change::Feed(tick.next(
        FeedKind::IdentityChanged,
        Some(identity),
        Some(identity.bits()),
    )));
    Ok(Decision {
        changes,
        outcome: Outcome::Address(added),
    })
}

pub(super) fn retire_address(
    tenant: TenantId,
    address: AddressId,
    at: Option<Timestamp>,
    state: &State,
    context: &mut Context<'_>,
) -> Result<Decision, Refusal> {
    active_tenant(state, tenant)?;
    let known = state
        .addresses
        .get(&address)
        .filter(|known| known.tenant_id == tenant)
        .ok_or(Refusal::new(ErrorCode::IdentityNotFound))?;
    if known.role == AddressRole::Primary {
        return Err(Refusal::invalid(
            "address_id",
            "the primary address cannot be retired: make another one primary first",
        ));
    }
    if known.status == AddressStatus::Retired {
        return Ok(Decision::unchanged(Outcome::Address(known.clone())));
    }
    let later = at.filter(|at| *at > context.now);
    let row = AddressRow {
        status: match later {
            Some(_) => AddressStatus::Retiring,
            None => AddressStatus::Retired,
        },
        retire_at: later,
        retired_at: later.is_none().then_some(context.now),
        ..known.clone()
    };
    let mut tick = Tick::new(state, tenant, context.now);
    let feed = tick.next(
        FeedKind::IdentityChanged,
        Some(row.identity_id),
        Some(row.identity_id.bits()),
    );
    Ok(Decision {
        changes: vec![Change::PutAddress(row.clone()), Change::Feed(feed)],
        outcome: Outcome::Address(row),
    })
}
