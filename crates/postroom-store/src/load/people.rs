//! Tenants, domains, identities, addresses, keys, owner links.

use super::{Shared, Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::{Conn, Value},
};
use postroom_core::{Needs, deployment};
use postroom_types::{IdentityId, TenantId};
use std::collections::{BTreeSet, HashMap};

pub(super) async fn load_tenants(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(tenant),
                " FROM tenants WHERE id IN ({})"
            ),
            1,
            bits(needs.tenants.iter().map(|id| id.bits())),
        )
        .await?;
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(tenant),
                " FROM tenants WHERE slug IN ({})"
            ),
            1,
            needs
                .slugs
                .iter()
                .map(|slug| slug.as_str().into())
                .collect(),
        )
        .await?,
    );
    for row in all(&found, rows::tenant)? {
        state.borrow_mut().slugs.insert(row.slug.clone(), row.id);
        state.borrow_mut().tenants.insert(row.id, row);
    }
    let domains = needs
        .domains
        .iter()
        .flat_map(|(tenant, name)| {
            let tenant = tenant.unwrap_or(deployment());
            [Value::from(tenant.bits()), name.as_str().into()]
        })
        .collect();
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(domain),
                " FROM (VALUES {}) AS want CROSS JOIN domains WHERE domains.tenant_id = \
                 want.column1 AND domains.name = want.column2"
            ),
            2,
            domains,
        )
        .await?;
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(domain),
                " FROM domains WHERE name IN ({})"
            ),
            1,
            needs
                .domain_names
                .iter()
                .map(|name| name.as_str().into())
                .collect(),
        )
        .await?,
    );
    for row in all(&found, rows::domain)? {
        state
            .borrow_mut()
            .domains
            .insert((row.tenant_id, row.name.clone()), row);
    }
    Ok(())
}

fn names<'a>(names: impl IntoIterator<Item = &'a (TenantId, String)>) -> Vec<Value> {
    names
        .into_iter()
        .flat_map(|(tenant, name)| [Value::from(tenant.bits()), name.as_str().into()])
        .collect()
}

/// Identities by id, username and the caller's own id, each with all its addresses.
pub(super) async fn load_identities(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(identity),
                " FROM identities WHERE id IN ({})"
            ),
            1,
            bits(needs.identities.iter().map(|id| id.bits())),
        )
        .await?;
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(identity),
                " FROM (VALUES {}) AS want CROSS JOIN identities WHERE identities.tenant_id = \
                 want.column1 AND identities.username = want.column2"
            ),
            2,
            names(&needs.usernames),
        )
        .await?,
    );
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(identity),
                " FROM (VALUES {}) AS want CROSS JOIN identities WHERE identities.tenant_id = \
                 want.column1 AND identities.client_id = want.column2"
            ),
            2,
            names(&needs.client_ids),
        )
        .await?,
    );
    let mut ids: BTreeSet<IdentityId> = BTreeSet::new();
    for row in all(&found, rows::identity)? {
        ids.insert(row.id);
        let tenant = row.tenant_id;
        state
            .borrow_mut()
            .usernames
            .insert((tenant, row.username.clone()), row.id);
        if let Some(client_id) = &row.client_id {
            state
                .borrow_mut()
                .client_ids
                .insert((tenant, client_id.clone()), row.id);
        }
        state.borrow_mut().identities.insert(row.id, row);
    }
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(address),
                " FROM addresses WHERE identity_id IN ({})"
            ),
            1,
            bits(ids.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::address)? {
        state.borrow_mut().put_address(row);
    }
    Ok(())
}

/// Addresses by text and id. Their identity's other addresses may be missing; only commands that
/// name the identity need those.
pub(super) async fn load_addresses(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(address),
                " FROM addresses WHERE address IN ({})"
            ),
            1,
            needs
                .addresses
                .iter()
                .map(|address| address.as_str().into())
                .collect(),
        )
        .await?;
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(address),
                " FROM addresses WHERE id IN ({})"
            ),
            1,
            bits(needs.address_ids.iter().map(|id| id.bits())),
        )
        .await?,
    );
    for row in all(&found, rows::address)? {
        state.borrow_mut().put_address(row);
    }
    Ok(())
}

pub(super) async fn load_keys(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let keys = bits(needs.keys.iter().map(|id| id.bits()));
    let found = conn
        .fetch_in(
            concat!("SELECT ", columns!(key), " FROM api_keys WHERE id IN ({})"),
            1,
            keys.clone(),
        )
        .await?;
    for row in all(&found, rows::key)? {
        state.borrow_mut().keys.insert(row.id, row);
    }
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(secret),
                " FROM key_secrets WHERE key_id IN ({})"
            ),
            1,
            keys,
        )
        .await?;
    let secrets: HashMap<String, _> = all(&found, rows::secret)?
        .into_iter()
        .map(|row| (row.lookup.clone(), row))
        .collect();
    for row in secrets.into_values() {
        state
            .borrow_mut()
            .secrets
            .entry(row.key_id)
            .or_default()
            .push(row);
    }
    for tenant in &needs.key_counts {
        let found = conn
            .fetch(
                "SELECT COUNT(*) FROM api_keys WHERE tenant_id = $1 AND revoked_at IS NULL",
                vec![tenant.bits().into()],
            )
            .await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.borrow_mut().key_counts.insert(*tenant, count);
    }
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(owner_link),
                " FROM owner_links WHERE hash IN ({})"
            ),
            1,
            needs
                .owner_links
                .iter()
                .map(|hash| hash.as_slice().into())
                .collect(),
        )
        .await?;
    for row in all(&found, rows::owner_link)? {
        state.borrow_mut().owner_links.insert(row.hash, row);
    }
    Ok(())
}
