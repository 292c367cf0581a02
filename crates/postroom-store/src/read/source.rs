//! Sources.

use crate::{
    Store, StoreError,
    rows::{self, columns},
    select::{self, Select},
    sql::Row,
};
use postroom_core::{EventRow, SourceRow, SourceStats};
use postroom_types::{IdentityId, SourceId, TenantScope};

/// A source with what came through it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The source.
    pub row: SourceRow,
    /// What came through it.
    pub stats: SourceStats,
}

const SELECT: &str = concat!(
    "SELECT ",
    columns!(source),
    ", deliveries, redeliveries, last_delivery_at FROM sources LEFT JOIN source_stats ON \
     source_stats.source_id = sources.id WHERE "
);

fn read(row: &Row) -> Result<Source, StoreError> {
    Ok(Source {
        row: rows::source(row)?,
        stats: rows::source_stats(row, 20)?,
    })
}

/// Sources by id, oldest first.
pub async fn sources(
    store: &Store,
    scope: &TenantScope,
    after: Option<SourceId>,
    limit: usize,
) -> Result<Vec<Source>, StoreError> {
    Select::new(SELECT)
        .scope(scope)
        .filter(" AND id > ", after.map(SourceId::bits))
        .text(" ORDER BY id LIMIT ")
        .value(select::rows(limit))
        .all(store, read)
        .await
}

/// One source.
pub async fn source(
    store: &Store,
    scope: &TenantScope,
    id: SourceId,
) -> Result<Option<Source>, StoreError> {
    Select::new(SELECT)
        .text("id = ")
        .value(id.bits())
        .text(" AND ")
        .scope(scope)
        .first(store, read)
        .await
}

/// The source whose address carries `token`, in whatever tenant.
///
/// The one read of a source without a scope: a delivery proves itself by this token and then by
/// its signature, and learns nothing of the source from the answer.
pub async fn source_by_token(store: &Store, token: &str) -> Result<Option<SourceRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(source),
        " FROM sources WHERE token_hash = "
    ))
    .value(store.hash_token(token).as_slice())
    .first(store, rows::source)
    .await
}

/// The last events of a source, newest first, for trying rules on.
pub async fn events_of_source(
    store: &Store,
    scope: &TenantScope,
    source: SourceId,
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(event),
        " FROM events WHERE source_id = "
    ))
    .value(source.bits())
    .text(" AND source_id IS NOT NULL AND ")
    .scope(scope)
    .text(" ORDER BY events.id DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::event)
    .await
}

/// The last mails that came in by some ways, newest first, of one mailbox or of all: for trying the rules
/// of a source of mail on.
pub async fn mails_by(
    store: &Store,
    scope: &TenantScope,
    identity: Option<IdentityId>,
    ways: &[&str],
    limit: usize,
) -> Result<Vec<EventRow>, StoreError> {
    Select::new(concat!(
        "SELECT ",
        columns!(event),
        " FROM events WHERE family = 'mail' AND "
    ))
    .scope(scope)
    .text(" AND provider IN ")
    .list(ways.iter().map(|way| (*way).into()))
    .filter(" AND identity_id = ", identity.map(IdentityId::bits))
    .text(" ORDER BY events.id DESC LIMIT ")
    .value(select::rows(limit))
    .all(store, rows::event)
    .await
}
