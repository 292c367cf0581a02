//! Counts for a state page, and kept results.

use crate::{PlatformScope, Store, StoreError, WorkerScope, rows, select::Select};
use postroom_types::{KeyId, TenantScope};

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counts {
    /// Tenants; 1 for a tenant's own counts.
    pub tenants: u64,
    /// Identities that are not deleted.
    pub identities: u64,
    /// Messages.
    pub messages: u64,
    /// Unread messages.
    pub unread: u64,
    /// Threads.
    pub threads: u64,
    /// Events.
    pub events: u64,
    /// Events not worked off yet.
    pub pending_events: u64,
    /// Events that could not be worked off.
    pub failed_events: u64,
    /// Mails that imports could not take in.
    pub import_failures: u64,
}

/// Counts of what the scope reaches.
pub async fn counts(store: &Store, scope: &TenantScope) -> Result<Counts, StoreError> {
    let threads = Select::new(THREAD_COUNTS).text(" WHERE ").scope(scope);
    let identities = Select::new(IDENTITY_COUNT)
        .text(" AND ")
        .scope_by(scope, "tenant_id", "id");
    let events = Select::new(EVENT_COUNTS)
        .text(" WHERE ")
        .scope(scope)
        .text(" GROUP BY state");
    let failures = Select::new(FAILURE_COUNT).text(" WHERE ").scope(scope);
    gather(store, 1, identities, threads, events, failures).await
}

/// Counts of the deployment.
pub async fn deployment_counts(store: &Store, scope: &PlatformScope) -> Result<Counts, StoreError> {
    let PlatformScope(()) = scope;
    let tenants = one(store, Select::new("SELECT COUNT(*) FROM tenants")).await?;
    gather(
        store,
        tenants,
        Select::new(IDENTITY_COUNT),
        Select::new(THREAD_COUNTS),
        Select::new(EVENT_COUNTS).text(" GROUP BY state"),
        Select::new(FAILURE_COUNT),
    )
    .await
}

/// Kept results by the name their cursor carries; only for the key that searched, and not past
/// their end.
pub async fn result_set(
    store: &Store,
    scope: &TenantScope,
    key: Option<KeyId>,
    id: &str,
) -> Result<Option<Vec<u8>>, StoreError> {
    let select = Select::new("SELECT payload FROM result_sets WHERE id = ")
        .value(id)
        .text(" AND tenant_id = ")
        .value(scope.tenant().bits())
        .text(" AND expires_at > ")
        .value(store.now().ms());
    let select = match key {
        Some(key) => select.text(" AND key_id = ").value(key.bits()),
        None => select.text(" AND key_id IS NULL"),
    };
    select.first(store, |row| Ok(row.blob(0)?)).await
}

const IDENTITY_COUNT: &str = "SELECT COUNT(*) FROM identities WHERE status IN ('active', 'paused')";
const THREAD_COUNTS: &str = "SELECT COUNT(*), COALESCE(CAST(SUM(message_count) AS BIGINT), 0), \
     COALESCE(CAST(SUM(unread_count) AS BIGINT), 0) FROM threads";
const EVENT_COUNTS: &str = "SELECT state, COUNT(*) FROM events";
const FAILURE_COUNT: &str = "SELECT COUNT(*) FROM import_failures";

async fn one(store: &Store, select: Select) -> Result<u64, StoreError> {
    let found = select
        .scans()
        .first(store, |row| rows::unsigned(row, 0))
        .await?;
    Ok(found.unwrap_or(0))
}

async fn gather(
    store: &Store,
    tenants: u64,
    identities: Select,
    threads: Select,
    events: Select,
    failures: Select,
) -> Result<Counts, StoreError> {
    let sums = threads
        .scans()
        .first(store, |row| {
            Ok([
                rows::unsigned(row, 0)?,
                rows::unsigned(row, 1)?,
                rows::unsigned(row, 2)?,
            ])
        })
        .await?;
    let [threads, messages, unread] = sums.unwrap_or_default();
    let mut counts = Counts {
        tenants,
        identities: one(store, identities).await?,
        messages,
        unread,
        threads,
        import_failures: one(store, failures).await?,
        ..Counts::default()
    };
    for (state, count) in events
        .scans()
        .all(store, |row| Ok((row.text(0)?, rows::unsigned(row, 1)?)))
        .await?
    {
        counts.events += count;
        match state.as_str() {
            "pending" => counts.pending_events = count,
            "failed" => counts.failed_events = count,
            _ => {}
        }
    }
    Ok(counts)
}

/// What SQLite finds wrong in its file, at most a hundred lines; nothing when it is sound. On
/// PostgreSQL nothing is looked at. Reads the whole file.
pub async fn quick_check(store: &Store, scope: &WorkerScope) -> Result<Vec<String>, StoreError> {
    let WorkerScope(()) = scope;
    if store.database().kind != crate::DatabaseKind::Sqlite {
        return Ok(Vec::new());
    }
    let mut found = Select::new("PRAGMA quick_check(100)")
        .all(store, |row| Ok(row.text(0)?))
        .await?;
    found.retain(|line| line != "ok");
    Ok(found)
}
