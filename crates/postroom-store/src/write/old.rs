//! Old deliveries that go, and the bytes that nothing names any more.

use crate::{load::LoadError, sql::Conn};
use postroom_core::Sha256Bytes;
use postroom_types::{TenantId, Timestamp, TodoId};
use std::collections::BTreeMap;

/// How far back todos are looked at that may name an event that goes: far longer than the time
/// between finding it and here, and than clocks of nodes are apart.
const LOOK_BACK_MS: i64 = 60 * 60 * 1_000;

/// Digest of a payload, and the feed position until which nothing else was seen to name it.
type Payload = (Sha256Bytes, u64);

/// Events that go, with the digest of bytes that were seen to be theirs alone, and until which feed
/// position that was seen.
#[derive(Default)]
pub(super) struct Events(BTreeMap<(TenantId, u64), (Option<Payload>, Timestamp)>);

impl Events {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, event: (TenantId, u64), bytes: Option<Payload>, at: Timestamp) {
        self.0.insert(event, (bytes, at));
    }

    /// Removes the rows; one for which a todo was opened since it was found stays.
    pub(super) async fn remove(&self, conn: &Conn) -> Result<(), LoadError> {
        for ((tenant, id), (_, at)) in &self.0 {
            let newest = TodoId::from_parts(at.plus_ms(-LOOK_BACK_MS).ulid_ms(), 0);
            conn.execute(
                "DELETE FROM events WHERE tenant_id = $1 AND id = $2 AND NOT EXISTS (SELECT 1 \
                 FROM todos WHERE todos.tenant_id = $1 AND todos.id >= $3 AND \
                 (todos.event_id = $2 OR todos.last_event_id = $2))",
                vec![tenant.bits().into(), (*id).into(), newest.bits().into()],
            )
            .await?;
        }
        Ok(())
    }

    /// Removes bytes whose event is gone and that nothing newer names. Numbers of messages, sends
    /// and failures are feed positions, so what was written since stands behind the one seen.
    pub(super) async fn remove_bytes(&self, conn: &Conn) -> Result<(), LoadError> {
        for ((tenant, id), (bytes, _)) in &self.0 {
            let Some((sha256, seen)) = bytes else {
                continue;
            };
            conn.execute(
                "DELETE FROM blobs WHERE tenant_id = $1 AND sha256 = $2 \
                 AND NOT EXISTS (SELECT 1 FROM events WHERE tenant_id = $1 AND id = $3) \
                 AND NOT EXISTS (SELECT 1 FROM events WHERE tenant_id = $1 AND id > $4 \
                 AND sha256 = $2) \
                 AND NOT EXISTS (SELECT 1 FROM messages WHERE tenant_id = $1 AND num > $4 \
                 AND sha256 = $2) \
                 AND NOT EXISTS (SELECT 1 FROM sends WHERE tenant_id = $1 AND num > $4 \
                 AND sha256 = $2) \
                 AND NOT EXISTS (SELECT 1 FROM import_failures WHERE tenant_id = $1 AND id > $4 \
                 AND sha256 = $2)",
                vec![
                    tenant.bits().into(),
                    sha256.as_slice().into(),
                    (*id).into(),
                    (*seen).into(),
                ],
            )
            .await?;
        }
        Ok(())
    }
}
