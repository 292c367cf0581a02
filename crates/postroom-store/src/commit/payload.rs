//! Payloads of the todos that a batch claims, read along with its commit: asked for one by one they
//! would be a round trip for each claimant.

use super::Answers;
use crate::{
    StoreError, rows,
    sql::{self, Asked, Conn, Row, Value},
};
use postroom_core::{Claimed, Outcome};
use postroom_types::{TenantId, TodoId};
use std::collections::HashMap;

/// Asks for the payloads of what was claimed. Those of events are left to the claimants: whether
/// they may be seen is not the store's to say.
pub(super) async fn ask(conn: &Conn, answers: &Answers) -> Result<Asked, sql::Error> {
    let keys = answers.iter().filter_map(|answer| {
        let Ok(Outcome::Claimed(claimed)) = answer else {
            return None;
        };
        has_own(claimed).then(|| [key(claimed).0.bits().into(), key(claimed).1.bits().into()])
    });
    let keys: Vec<Value> = keys.flatten().collect();
    conn.ask_in(
        "SELECT tenant_id, todo_id, payload FROM (VALUES {}) AS want CROSS JOIN todo_payloads \
         WHERE todo_payloads.tenant_id = want.column1 AND todo_payloads.todo_id = want.column2",
        2,
        keys,
    )
    .await
}

/// Gives each claim its payload.
pub(super) fn give(answers: &mut Answers, found: &[Row]) -> Result<(), StoreError> {
    let mut payloads: HashMap<(TenantId, TodoId), String> = HashMap::with_capacity(found.len());
    for row in found {
        let key = (rows::tenant_id(row, 0)?, rows::todo_id(row, 1)?);
        payloads.insert(key, row.text(2)?);
    }
    for answer in answers {
        if let Ok(Outcome::Claimed(claimed)) = answer {
            claimed.payload = payloads.remove(&key(claimed));
        }
    }
    Ok(())
}

fn has_own(claimed: &Claimed) -> bool {
    claimed.row.payload_size > 0 && claimed.row.event_id.is_none()
}

fn key(claimed: &Claimed) -> (TenantId, TodoId) {
    (claimed.row.tenant_id, claimed.row.id)
}
