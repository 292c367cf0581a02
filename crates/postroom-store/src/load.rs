//! Loading the slice of state that a batch of commands names, set-based: one statement per kind,
//! however many commands wait.

use crate::{
    StoreError,
    rows::{self, columns},
    sql::{Conn, Row, Value},
};
use postroom_core::{Counter, LoadedMessage, Needs, State, deployment};
use postroom_types::{IdentityId, TenantId, ThreadId};
use std::collections::{BTreeSet, HashMap};

type Result<T> = std::result::Result<T, StoreError>;
/// The writer looks at what kind of error it was, so loading keeps the database's own.
type Sql<T> = std::result::Result<T, LoadError>;

/// An error of the database, or a row that cannot be read.
#[derive(Debug)]
pub(crate) enum LoadError {
    Sql(sqlx::Error),
    Store(StoreError),
}

impl From<sqlx::Error> for LoadError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for LoadError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T>) -> Sql<Vec<T>> {
    Ok(rows.iter().map(read).collect::<Result<Vec<T>>>()?)
}

fn bits(values: impl IntoIterator<Item = u128>) -> Vec<Value> {
    values.into_iter().map(Value::from).collect()
}

/// Locks the counters of `tenants`, creating those that are missing, and loads them. Held until
/// the transaction ends: of two nodes that write to one tenant the second waits here, and reads
/// what the first has committed.
pub(crate) async fn lock_counters(
    conn: &mut Conn,
    tenants: &BTreeSet<TenantId>,
    state: &mut State,
) -> Sql<()> {
    if conn.is_postgres() {
        let missing: Vec<Value> = tenants
            .iter()
            .flat_map(|id| [Value::from(id.bits()), Value::Int(0), Value::Int(0)])
            .collect();
        conn.insert(
            "INSERT INTO counters (tenant_id, position, last_at) VALUES {} ON CONFLICT \
             (tenant_id) DO NOTHING",
            3,
            missing,
        )
        .await?;
    }
    let sql = if conn.is_postgres() {
        "SELECT tenant_id, position, last_at FROM counters WHERE tenant_id IN ({}) ORDER BY \
         tenant_id FOR UPDATE"
    } else {
        "SELECT tenant_id, position, last_at FROM counters WHERE tenant_id IN ({})"
    };
    let rows = conn
        .fetch_in(sql, 1, bits(tenants.iter().map(|id| id.bits())))
        .await?;
    for row in &rows {
        let counter = Counter {
            position: rows::unsigned(row, 1)?,
            last_at: rows::at(row, 2)?,
        };
        state.counters.insert(rows::tenant_id(row, 0)?, counter);
    }
    Ok(())
}

/// Loads what `needs` names into `state`.
pub(crate) async fn load(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
    load_tenants(conn, needs, state).await?;
    load_identities(conn, needs, state).await?;
    load_addresses(conn, needs, state).await?;
    load_keys(conn, needs, state).await?;
    load_events(conn, needs, state).await?;
    load_threads(conn, needs, state).await?;
    load_messages(conn, needs, state).await?;
    load_contacts(conn, needs, state).await
}

async fn load_tenants(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
        state.slugs.insert(row.slug.clone(), row.id);
        state.tenants.insert(row.id, row);
    }
    let domains = needs
        .domains
        .iter()
        .flat_map(|(tenant, name)| {
            let tenant = tenant.unwrap_or(deployment());
            [Value::from(tenant.bits()), name.as_str().into()]
        })
        .collect();
    let found = conn
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
    for row in all(&found, rows::domain)? {
        state.domains.insert((row.tenant_id, row.name.clone()), row);
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
async fn load_identities(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
            .usernames
            .insert((tenant, row.username.clone()), row.id);
        if let Some(client_id) = &row.client_id {
            state.client_ids.insert((tenant, client_id.clone()), row.id);
        }
        state.identities.insert(row.id, row);
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
        state.put_address(row);
    }
    Ok(())
}

/// Addresses by text and id. Their identity's other addresses may be missing; only commands that
/// name the identity need those.
async fn load_addresses(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
        state.put_address(row);
    }
    Ok(())
}

async fn load_keys(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
    let keys = bits(needs.keys.iter().map(|id| id.bits()));
    let found = conn
        .fetch_in(
            concat!("SELECT ", columns!(key), " FROM api_keys WHERE id IN ({})"),
            1,
            keys.clone(),
        )
        .await?;
    for row in all(&found, rows::key)? {
        state.keys.insert(row.id, row);
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
        state.secrets.entry(row.key_id).or_default().push(row);
    }
    for tenant in &needs.key_counts {
        let found = conn
            .fetch(
                "SELECT COUNT(*) FROM api_keys WHERE tenant_id = $1 AND revoked_at IS NULL",
                vec![tenant.bits().into()],
            )
            .await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.key_counts.insert(*tenant, count);
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
        state.owner_links.insert(row.hash, row);
    }
    Ok(())
}

fn digests<'a, const N: usize>(
    digests: impl IntoIterator<Item = &'a (IdentityId, [u8; N])>,
) -> Vec<Value> {
    digests
        .into_iter()
        .flat_map(|(identity, digest)| [Value::from(identity.bits()), digest.as_slice().into()])
        .collect()
}

async fn load_events(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
                .event_digests
                .insert((identity, row.sha256), (row.tenant_id, row.id));
        }
        state.events.insert((row.tenant_id, row.id), row);
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
            .import_failures
            .insert((rows::identity_id(row, 0)?, sha256));
    }
    Ok(())
}

/// Thread keys, then the threads that keys and commands name, through their aliases.
async fn load_threads(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
        state.thread_keys.insert((row.identity_id, row.key), row);
    }
    load_threads_of(conn, &ids, state).await
}

async fn load_threads_of(conn: &mut Conn, ids: &BTreeSet<ThreadId>, state: &mut State) -> Sql<()> {
    let aliases = conn
        .fetch_in(
            "SELECT alias, thread_id FROM thread_aliases WHERE alias IN ({})",
            1,
            bits(ids.iter().map(|id| id.bits())),
        )
        .await?;
    for row in &aliases {
        state
            .aliases
            .insert(rows::thread_id(row, 0)?, rows::thread_id(row, 1)?);
    }
    let own: BTreeSet<ThreadId> = ids.iter().map(|id| state.canonical(*id)).collect();
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
        state.threads.insert(row.id, row);
    }
    Ok(())
}

async fn load_messages(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
        .map(|id| state.canonical(*id))
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
        state.messages.insert(loaded.row.id, loaded);
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
        let message = by_num.get(&key).and_then(|id| state.messages.get_mut(id));
        if let Some(message) = message {
            message.labels.insert(row.text(2)?);
        }
    }
    state.whole_threads.extend(whole);
    threads.retain(|id| !state.threads.contains_key(id));
    load_threads_of(conn, &threads, state).await
}

async fn load_contacts(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
            .contacts
            .insert((row.identity_id, row.address.clone()), row);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connect::Target, schema};
    use postroom_types::{AddressId, KeyId, MessageId, Timestamp};

    /// One of everything that can be named.
    fn everything() -> Needs {
        let tenant = TenantId::from_parts(1, 1);
        let identity = IdentityId::from_parts(1, 1);
        let thread = ThreadId::from_parts(1, 1);
        let name = || (tenant, "x".to_owned());
        Needs {
            counters: [tenant].into(),
            tenants: [tenant].into(),
            slugs: ["x".to_owned()].into(),
            domains: [(None, "x".to_owned())].into(),
            identities: [identity].into(),
            usernames: [name()].into(),
            client_ids: [name()].into(),
            addresses: ["x".to_owned()].into(),
            address_ids: [AddressId::from_parts(1, 1)].into(),
            keys: [KeyId::from_parts(1, 1)].into(),
            key_counts: [tenant].into(),
            owner_links: [[0; 32]].into(),
            events: [(tenant, 1)].into(),
            event_digests: [(identity, [0; 32])].into(),
            thread_keys: [(identity, [0; 16])].into(),
            messages: [MessageId::from_parts(1, 1)].into(),
            threads: [thread].into(),
            whole_threads: [thread].into(),
            contacts: [(identity, "x".to_owned())].into(),
            import_failures: [(identity, [0; 32])].into(),
        }
    }

    #[tokio::test]
    async fn no_look_up_of_the_writer_scans_a_table() {
        let dir = tempfile::tempdir().expect("dir");
        let target = Target::new(None, dir.path()).expect("SQLite");
        let mut conn = target.writer().await.expect("opens");
        schema::migrate(&mut conn, Timestamp::from_ms(0))
            .await
            .expect("migrates");
        let mut state = State::default();
        let needs = everything();
        lock_counters(&mut conn, &needs.counters, &mut state)
            .await
            .expect("locks");
        load(&mut conn, &needs, &mut state).await.expect("loads");
        let texts = conn.texts();
        assert!(texts.len() >= 15, "{}", texts.len());
        for text in texts {
            let plan = conn
                .fetch(format!("EXPLAIN QUERY PLAN {text}"), vec![])
                .await
                .expect("explains");
            for row in &plan {
                let step = row.text(3).expect("a step");
                let listed = step.contains("CONSTANT ROW") || step == "SCAN want";
                assert!(!step.starts_with("SCAN") || listed, "{step}: {text}");
            }
        }
    }
}
