//! Events, threads and their keys, messages and their labels, contacts.

use super::{Shared, Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::{Conn, Value},
};
use postroom_core::{LoadedMessage, Needs};
use postroom_types::{IdentityId, ThreadId};
use std::collections::{BTreeSet, HashMap};

fn digests<'a, const N: usize>(
    digests: impl IntoIterator<Item = &'a (IdentityId, [u8; N])>,
) -> Vec<Value> {
    digests
        .into_iter()
        .flat_map(|(identity, digest)| [Value::from(identity.bits()), digest.as_slice().into()])
        .collect()
}

pub(super) async fn load_events(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let ids = needs
        .events
        .iter()
        .flat_map(|(tenant, id)| [Value::from(tenant.bits()), (*id).into()])
        .collect();
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(event),
                " FROM (VALUES {}) AS want CROSS JOIN events WHERE events.tenant_id = \
                 want.column1 AND events.id = want.column2"
            ),
            2,
            ids,
        )
        .await?;
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(event),
                " FROM (VALUES {}) AS want CROSS JOIN events WHERE family = 'mail' AND \
                 events.identity_id = want.column1 AND events.sha256 = want.column2"
            ),
            2,
            digests(&needs.event_digests),
        )
        .await?,
    );
    for row in all(&found, rows::event)? {
        if let Some(identity) = row.identity_id {
            state
                .borrow_mut()
                .event_digests
                .insert((identity, row.sha256), (row.tenant_id, row.id));
        }
        state
            .borrow_mut()
            .events
            .insert((row.tenant_id, row.id), row);
    }
    let found = conn
        .fetch_in(
            "SELECT identity_id, sha256 FROM (VALUES {}) AS want CROSS JOIN import_failures \
             WHERE import_failures.identity_id = want.column1 AND import_failures.sha256 = \
             want.column2",
            2,
            digests(&needs.import_failures),
        )
        .await?;
    for row in &found {
        let sha256 = rows::array(&row.blob(1)?)?;
        state
            .borrow_mut()
            .import_failures
            .insert((rows::identity_id(row, 0)?, sha256));
    }
    load_import_places(conn, needs, state).await
}

/// Failed imports of which there are no bytes.
async fn load_import_places(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let places = needs.import_places.iter();
    let values = places.flat_map(|(identity, location, reason)| {
        [
            Value::from(identity.bits()),
            location.as_str().into(),
            reason.as_str().into(),
        ]
    });
    let found = conn
        .fetch_in(
            "SELECT identity_id, location, reason FROM (VALUES {}) AS want CROSS JOIN \
             import_failures WHERE import_failures.identity_id = want.column1 AND \
             import_failures.sha256 IS NULL AND import_failures.location = want.column2 AND \
             import_failures.reason = want.column3",
            3,
            values.collect(),
        )
        .await?;
    for row in &found {
        let place = (rows::identity_id(row, 0)?, row.text(1)?, row.text(2)?);
        state.borrow_mut().import_places.insert(place);
    }
    Ok(())
}

/// Thread keys, then the threads that keys and commands name, through their aliases.
pub(super) async fn load_threads(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(thread_key),
                " FROM (VALUES {}) AS want CROSS JOIN thread_keys WHERE thread_keys.identity_id \
                 = want.column1 AND thread_keys.hash = want.column2"
            ),
            2,
            digests(&needs.thread_keys),
        )
        .await?;
    let mut ids: BTreeSet<ThreadId> = needs.threads.clone();
    ids.extend(&needs.whole_threads);
    for row in all(&found, rows::thread_key)? {
        ids.insert(row.thread_id);
        state
            .borrow_mut()
            .thread_keys
            .insert((row.identity_id, row.key), row);
    }
    load_threads_of(conn, &ids, state).await
}

async fn load_threads_of(conn: &Conn, ids: &BTreeSet<ThreadId>, state: Shared<'_>) -> Sql<()> {
    let aliases = conn
        .fetch_in(
            "SELECT alias, thread_id FROM thread_aliases WHERE alias IN ({})",
            1,
            bits(ids.iter().map(|id| id.bits())),
        )
        .await?;
    for row in &aliases {
        state
            .borrow_mut()
            .aliases
            .insert(rows::thread_id(row, 0)?, rows::thread_id(row, 1)?);
    }
    let own: BTreeSet<ThreadId> = ids.iter().map(|id| state.borrow().canonical(*id)).collect();
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(thread),
                " FROM threads WHERE id IN ({})"
            ),
            1,
            bits(own.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::thread)? {
        state.borrow_mut().threads.insert(row.id, row);
    }
    Ok(())
}

pub(super) async fn load_messages(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let mut found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(message),
                " FROM messages WHERE id IN ({})"
            ),
            1,
            bits(needs.messages.iter().map(|id| id.bits())),
        )
        .await?;
    let whole: BTreeSet<ThreadId> = needs
        .whole_threads
        .iter()
        .map(|id| state.borrow().canonical(*id))
        .collect();
    found.extend(
        conn.fetch_in(
            concat!(
                "SELECT ",
                columns!(message),
                " FROM messages WHERE thread_id IN ({})"
            ),
            1,
            bits(whole.iter().map(|id| id.bits())),
        )
        .await?,
    );
    let mut threads: BTreeSet<ThreadId> = BTreeSet::new();
    let mut by_num = HashMap::new();
    for row in all(&found, rows::message)? {
        threads.insert(row.thread_id);
        by_num.insert((row.tenant_id, row.num), row.id);
        let loaded = LoadedMessage {
            row,
            labels: BTreeSet::new(),
        };
        state.borrow_mut().messages.insert(loaded.row.id, loaded);
    }
    let nums = by_num
        .keys()
        .flat_map(|(tenant, num)| [Value::from(tenant.bits()), (*num).into()])
        .collect();
    let labels = conn
        .fetch_in(
            "SELECT tenant_id, num, label FROM (VALUES {}) AS want CROSS JOIN message_labels \
             WHERE message_labels.tenant_id = want.column1 AND message_labels.num = want.column2",
            2,
            nums,
        )
        .await?;
    for row in &labels {
        let key = (rows::tenant_id(row, 0)?, rows::unsigned(row, 1)?);
        let label = row.text(2)?;
        let mut state = state.borrow_mut();
        let message = by_num.get(&key).and_then(|id| state.messages.get_mut(id));
        if let Some(message) = message {
            message.labels.insert(label);
        }
    }
    state.borrow_mut().whole_threads.extend(whole);
    threads.retain(|id| !state.borrow().threads.contains_key(id));
    load_threads_of(conn, &threads, state).await
}

pub(super) async fn load_contacts(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let keys = needs
        .contacts
        .iter()
        .flat_map(|(identity, address)| [Value::from(identity.bits()), address.as_str().into()])
        .collect();
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(contact),
                " FROM (VALUES {}) AS want CROSS JOIN contacts WHERE contacts.identity_id = \
                 want.column1 AND contacts.address = want.column2"
            ),
            2,
            keys,
        )
        .await?;
    for row in all(&found, rows::contact)? {
        state
            .borrow_mut()
            .contacts
            .insert((row.identity_id, row.address.clone()), row);
    }
    Ok(())
}
