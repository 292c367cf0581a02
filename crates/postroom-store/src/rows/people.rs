//! Tenants, domains, identities, addresses, keys, people who sign in.

use super::{
    Result, address_id, array, at, damaged, domain_id, identity_id, json, json_text, key_id, ms,
    opt_at, opt_bits, opt_id, opt_ms, opt_text, opt_word, tenant_id, word,
};
use crate::sql::{Row, Value};
use postroom_core::{
    AddressRow, DomainRow, IdentityRow, KeyGrants, KeyRow, KeySecretRow, OwnerLinkRow, SendPolicy,
    SessionRow, TenantRow, deployment,
};
use postroom_types::{IdentityId, TenantId};

pub(crate) fn tenant(row: &Row) -> Result<TenantRow> {
    Ok(TenantRow {
        id: tenant_id(row, 0)?,
        slug: row.text(1)?,
        name: row.text(2)?,
        status: word(row, 3)?,
        mode: word(row, 4)?,
        timezone: row.text(5)?,
        address_suffix: row.text(6)?,
        created_at: at(row, 7)?,
        updated_at: at(row, 8)?,
    })
}

pub(crate) fn tenant_values(row: &TenantRow) -> [Value; 9] {
    [
        row.id.bits().into(),
        row.slug.as_str().into(),
        row.name.as_str().into(),
        row.status.as_str().into(),
        row.mode.as_str().into(),
        row.timezone.as_str().into(),
        row.address_suffix.as_str().into(),
        ms(row.created_at),
        ms(row.updated_at),
    ]
}

pub(crate) fn domain(row: &Row) -> Result<DomainRow> {
    let tenant = tenant_id(row, 1)?;
    Ok(DomainRow {
        id: domain_id(row, 0)?,
        tenant_id: (tenant != deployment()).then_some(tenant),
        name: row.text(2)?,
        state: word(row, 3)?,
        created_at: at(row, 4)?,
    })
}

pub(crate) fn domain_values(row: &DomainRow) -> [Value; 5] {
    [
        row.id.bits().into(),
        row.tenant_id.unwrap_or(deployment()).bits().into(),
        row.name.as_str().into(),
        row.state.as_str().into(),
        ms(row.created_at),
    ]
}

pub(crate) fn identity(row: &Row) -> Result<IdentityRow> {
    let digest = row.opt_blob(10)?;
    Ok(IdentityRow {
        id: identity_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        username: row.text(2)?,
        display_name: row.text(3)?,
        purpose: row.opt_text(4)?,
        status: word(row, 5)?,
        pause_reason: opt_word(row, 6)?,
        owner: row.opt_str(7)?.map(json).transpose()?,
        metadata: json(row.str(8)?)?,
        client_id: row.opt_text(9)?,
        client_digest: digest.as_deref().map(array).transpose()?,
        created_at: at(row, 11)?,
        updated_at: at(row, 12)?,
        signature: row.opt_text(13)?.as_deref().map(json).transpose()?,
        send_policy: row
            .opt_text(14)?
            .as_deref()
            .map(json)
            .transpose()?
            .unwrap_or_default(),
        resumed_at: opt_at(row, 15)?,
    })
}

pub(crate) fn identity_values(row: &IdentityRow) -> [Value; 16] {
    let send_policy =
        (row.send_policy != SendPolicy::default()).then(|| json_text(&row.send_policy));
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.username.as_str().into(),
        row.display_name.as_str().into(),
        opt_text(&row.purpose),
        row.status.as_str().into(),
        Value::OptText(row.pause_reason.map(|reason| reason.as_str().to_owned())),
        Value::OptText(row.owner.as_ref().map(json_text)),
        Value::Text(json_text(&row.metadata)),
        opt_text(&row.client_id),
        Value::OptBlob(row.client_digest.map(|digest| digest.to_vec())),
        ms(row.created_at),
        ms(row.updated_at),
        Value::OptText(row.signature.as_ref().map(json_text)),
        Value::OptText(send_policy),
        opt_ms(row.resumed_at),
    ]
}

pub(crate) fn address(row: &Row) -> Result<AddressRow> {
    Ok(AddressRow {
        id: address_id(row, 0)?,
        tenant_id: tenant_id(row, 1)?,
        identity_id: identity_id(row, 2)?,
        address: row.text(3)?,
        domain_id: domain_id(row, 4)?,
        role: word(row, 5)?,
        status: word(row, 6)?,
        retire_at: opt_at(row, 7)?,
        retired_at: opt_at(row, 8)?,
        created_at: at(row, 9)?,
    })
}

pub(crate) fn address_values(row: &AddressRow) -> [Value; 10] {
    [
        row.id.bits().into(),
        row.tenant_id.bits().into(),
        row.identity_id.bits().into(),
        row.address.as_str().into(),
        row.domain_id.bits().into(),
        row.role.as_str().into(),
        row.status.as_str().into(),
        opt_ms(row.retire_at),
        opt_ms(row.retired_at),
        ms(row.created_at),
    ]
}

pub(crate) fn key(row: &Row) -> Result<KeyRow> {
    let permissions = row.text(6)?;
    let permissions = permissions
        .split(' ')
        .map(|name| name.parse().map_err(|_| damaged("a permission")))
        .collect::<Result<Vec<_>>>()?;
    Ok(KeyRow {
        id: key_id(row, 0)?,
        name: row.text(1)?,
        level: word(row, 2)?,
        mode: word(row, 3)?,
        tenant_id: opt_id(row, 4, TenantId::from_parts)?,
        identity_id: opt_id(row, 5, IdentityId::from_parts)?,
        permissions,
        grants: row
            .opt_text(11)?
            .as_deref()
            .map(json)
            .transpose()?
            .unwrap_or_default(),
        expires_at: opt_at(row, 7)?,
        revoked_at: opt_at(row, 8)?,
        last_used_at: opt_at(row, 9)?,
        created_at: at(row, 10)?,
    })
}

pub(crate) fn key_values(row: &KeyRow) -> [Value; 12] {
    let grants = (row.grants != KeyGrants::default()).then(|| json_text(&row.grants));
    let permissions: Vec<&str> = row.permissions.iter().map(|p| p.as_str()).collect();
    [
        row.id.bits().into(),
        row.name.as_str().into(),
        row.level.as_str().into(),
        row.mode.as_str().into(),
        opt_bits(row.tenant_id.map(TenantId::bits)),
        opt_bits(row.identity_id.map(IdentityId::bits)),
        Value::Text(permissions.join(" ")),
        opt_ms(row.expires_at),
        opt_ms(row.revoked_at),
        opt_ms(row.last_used_at),
        ms(row.created_at),
        Value::OptText(grants),
    ]
}

pub(crate) fn secret(row: &Row) -> Result<KeySecretRow> {
    Ok(KeySecretRow {
        lookup: row.text(0)?,
        key_id: key_id(row, 1)?,
        hash: array(row.bytes(2)?)?,
        valid_until: opt_at(row, 3)?,
        created_at: at(row, 4)?,
    })
}

pub(crate) fn secret_values(row: &KeySecretRow) -> [Value; 5] {
    [
        row.lookup.as_str().into(),
        row.key_id.bits().into(),
        row.hash.as_slice().into(),
        opt_ms(row.valid_until),
        ms(row.created_at),
    ]
}

pub(crate) fn owner_link(row: &Row) -> Result<OwnerLinkRow> {
    Ok(OwnerLinkRow {
        hash: array(row.bytes(0)?)?,
        created_at: at(row, 1)?,
        expires_at: at(row, 2)?,
        used_at: opt_at(row, 3)?,
    })
}

pub(crate) fn owner_link_values(row: &OwnerLinkRow) -> [Value; 4] {
    [
        row.hash.as_slice().into(),
        ms(row.created_at),
        ms(row.expires_at),
        opt_ms(row.used_at),
    ]
}

pub(crate) fn session(row: &Row) -> Result<SessionRow> {
    Ok(SessionRow {
        hash: array(row.bytes(0)?)?,
        created_at: at(row, 1)?,
        expires_at: at(row, 2)?,
    })
}

pub(crate) fn session_values(row: &SessionRow) -> [Value; 3] {
    [
        row.hash.as_slice().into(),
        ms(row.created_at),
        ms(row.expires_at),
    ]
}
