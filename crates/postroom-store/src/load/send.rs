//! Sends with their deliveries, keys against doubles, and what rules sending.

use super::{Shared, Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::{Conn, Value},
};
use postroom_core::{Awaiting, Needs};
use postroom_types::{IdentityId, Timestamp, limit};
use std::collections::BTreeSet;

pub(super) async fn load_sends(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(send),
                " FROM sends WHERE message_id IN ({})"
            ),
            1,
            bits(needs.sends.iter().map(|id| id.bits())),
        )
        .await?;
    let names = needs
        .provider_ids
        .iter()
        .flat_map(|(tenant, name)| [Value::from(tenant.bits()), name.as_str().into()])
        .collect();
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(send),
                " FROM (VALUES {}) AS want CROSS JOIN sends WHERE sends.tenant_id = \
                 want.column1 AND sends.provider_message_id = want.column2"
            ),
            2,
            names,
        )
        .await?,
    );
    let mut messages = BTreeSet::new();
    for row in all(&found, rows::send)? {
        messages.insert(row.message_id);
        state.borrow_mut().load_send(row);
    }
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(delivery),
                " FROM deliveries WHERE message_id IN ({})"
            ),
            1,
            bits(messages.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::delivery)? {
        state.borrow_mut().load_delivery(row);
    }
    load_early_reports(conn, needs, state).await
}

/// Reports on mails that were not known, and whether such a mail may become known.
async fn load_early_reports(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let names = needs
        .early_reports
        .iter()
        .flat_map(|(tenant, name)| [Value::from(tenant.bits()), name.as_str().into()])
        .collect();
    let found = conn
        .fetch_in(
            "SELECT tenant_id, provider_message_id, identity_id, recipient, event, smtp_code, \
             enhanced_code, reason, at FROM (VALUES {}) AS want CROSS JOIN early_reports WHERE \
             early_reports.tenant_id = want.column1 AND early_reports.provider_message_id = \
             want.column2 ORDER BY at",
            2,
            names,
        )
        .await?;
    for row in all(&found, rows::early_report)? {
        state.borrow_mut().load_early_report(row);
    }
    if needs.awaiting.is_empty() {
        return Ok(());
    }
    // Through the index of open claims, which are few.
    let sql = "SELECT tenant_id FROM sends WHERE claim_open IS NOT NULL \
               ORDER BY claim_open DESC LIMIT $1";
    let most = crate::select::rows(limit::SEND_BATCH);
    let found = conn.fetch(sql, vec![most]).await?;
    let claiming = all(&found, |row| rows::tenant_id(row, 0))?;
    for tenant in &needs.awaiting {
        let sql = "SELECT COUNT(*) FROM early_reports WHERE tenant_id = $1";
        let found = conn.fetch(sql, vec![tenant.bits().into()]).await?;
        let awaiting = Awaiting {
            claims: claiming.contains(tenant),
            reports: found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?,
        };
        state.borrow_mut().awaiting.insert(*tenant, awaiting);
    }
    Ok(())
}

fn digests<'a, T: Copy + 'a, const N: usize>(
    digests: impl IntoIterator<Item = &'a (T, [u8; N])>,
    bits: impl Fn(T) -> u128,
) -> Vec<Value> {
    digests
        .into_iter()
        .flat_map(|(owner, digest)| [Value::from(bits(*owner)), digest.as_slice().into()])
        .collect()
}

/// Keys against doubles, counters, policies, suppressions, lists.
pub(super) async fn load_rules(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(idempotency),
                " FROM (VALUES {}) AS want CROSS JOIN idempotency WHERE \
                 idempotency.identity_id = want.column1 AND idempotency.hash = want.column2"
            ),
            2,
            digests(&needs.idempotency, |id| id.bits()),
        )
        .await?;
    for row in all(&found, rows::idempotency)? {
        state
            .borrow_mut()
            .idempotency
            .insert((row.identity_id, row.key), row);
    }
    load_usage(conn, needs, state).await?;
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(policy),
                " FROM policies WHERE tenant_id IN ({})"
            ),
            1,
            bits(needs.policies.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::policy)? {
        state.borrow_mut().policies.insert(row.tenant_id, row);
    }
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(suppression),
                " FROM (VALUES {}) AS want CROSS JOIN suppressions WHERE \
                 suppressions.tenant_id = want.column1 AND suppressions.hash = want.column2"
            ),
            2,
            digests(&needs.suppressions, |id| id.bits()),
        )
        .await?;
    for row in all(&found, rows::suppression)? {
        state
            .borrow_mut()
            .suppressions
            .insert((row.tenant_id, row.hash), row);
    }
    load_lists(conn, needs, state).await
}

async fn load_usage(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let days = needs
        .usage
        .iter()
        .flat_map(|(tenant, identity, day)| {
            [
                Value::from(tenant.bits()),
                rows::usage_identity(*identity).into(),
                day.as_str().into(),
            ]
        })
        .collect();
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(usage),
                " FROM (VALUES {}) AS want CROSS JOIN usage_days WHERE usage_days.tenant_id = \
                 want.column1 AND usage_days.identity_id = want.column2 AND usage_days.day = \
                 want.column3"
            ),
            3,
            days,
        )
        .await?;
    for row in all(&found, rows::usage)? {
        let key = (row.tenant_id, row.identity_id, row.day.clone());
        state.borrow_mut().usage.insert(key, row);
    }
    Ok(())
}

async fn load_lists(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let entries = needs
        .list_entries
        .iter()
        .flat_map(|(tenant, direction, entry)| {
            [
                Value::from(tenant.bits()),
                direction.as_str().into(),
                entry.as_str().into(),
            ]
        })
        .collect();
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(list_entry),
                " FROM (VALUES {}) AS want CROSS JOIN list_entries WHERE \
                 list_entries.tenant_id = want.column1 AND list_entries.direction = \
                 want.column2 AND list_entries.entry = want.column3"
            ),
            3,
            entries,
        )
        .await?;
    for row in all(&found, rows::list_entry)? {
        let key = (row.tenant_id, row.direction, row.entry);
        let mut state = state.borrow_mut();
        let kinds = state.list_entries.entry(key).or_default();
        kinds.insert(row.kind, row.at);
    }
    for tenant in &needs.list_counts {
        let found = conn
            .fetch(
                "SELECT COUNT(*) FROM list_entries WHERE tenant_id = $1",
                vec![tenant.bits().into()],
            )
            .await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.borrow_mut().list_counts.insert(*tenant, count);
    }
    Ok(())
}

/// Drafts, and how many drafts and uploads there are at `now`.
pub(super) async fn load_drafts(
    conn: &Conn,
    needs: &Needs,
    state: Shared<'_>,
    now: Timestamp,
) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!("SELECT ", columns!(draft), " FROM drafts WHERE id IN ({})"),
            1,
            bits(needs.drafts.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::draft)? {
        state.borrow_mut().drafts.insert(row.id, row);
    }
    for identity in &needs.draft_counts {
        let sql = "SELECT COUNT(*) FROM drafts WHERE identity_id = $1";
        let count = count(conn, sql, *identity, None).await?;
        state.borrow_mut().draft_counts.insert(*identity, count);
    }
    for identity in &needs.upload_counts {
        let sql = "SELECT COUNT(*) FROM uploads WHERE identity_id = $1 AND expires_at > $2";
        let count = count(conn, sql, *identity, Some(now)).await?;
        state.borrow_mut().upload_counts.insert(*identity, count);
    }
    Ok(())
}

async fn count(
    conn: &Conn,
    sql: &'static str,
    identity: IdentityId,
    now: Option<Timestamp>,
) -> Sql<u64> {
    let mut values = vec![Value::from(identity.bits())];
    values.extend(now.map(|now| Value::from(now.ms())));
    let found = conn.fetch(sql, values).await?;
    Ok(found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?)
}
