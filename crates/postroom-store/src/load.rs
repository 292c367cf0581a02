//! Loading the slice of state that a batch of commands names, set-based: one statement per kind,
//! however many commands wait.

mod mail;
mod people;
mod send;
mod work;

use crate::{
    StoreError, rows,
    sql::{Conn, Row, Value},
};
use postroom_core::{Counter, Needs, State};
use postroom_types::{TenantId, Timestamp};
use std::collections::BTreeSet;

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

/// Loads what `needs` names into `state`, as it is at `now`.
pub(crate) async fn load(
    conn: &mut Conn,
    needs: &Needs,
    state: &mut State,
    now: Timestamp,
) -> Sql<()> {
    people::load_tenants(conn, needs, state).await?;
    people::load_identities(conn, needs, state).await?;
    people::load_addresses(conn, needs, state).await?;
    people::load_keys(conn, needs, state).await?;
    mail::load_events(conn, needs, state).await?;
    mail::load_threads(conn, needs, state).await?;
    mail::load_messages(conn, needs, state).await?;
    mail::load_contacts(conn, needs, state).await?;
    work::load_sources(conn, needs, state).await?;
    work::load_todos(conn, needs, state).await?;
    work::load_claims(conn, needs, state, now).await?;
    work::load_sweeps(conn, needs, state, now).await?;
    send::load_sends(conn, needs, state).await?;
    send::load_rules(conn, needs, state).await?;
    send::load_drafts(conn, needs, state, now).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connect::Target, schema};
    use postroom_core::{ClaimSpec, ListDirection};
    use postroom_types::{
        AddressId, DraftId, IdentityId, KeyId, MessageId, SourceId, ThreadId, Timestamp, TodoId,
    };

    /// Claimants of each kind.
    fn claims(tenant: TenantId, identity: IdentityId) -> BTreeSet<ClaimSpec> {
        let any = ClaimSpec {
            tenant,
            identity: None,
            only: None,
            except: vec!["quarantine".to_owned()],
            key: Some(KeyId::from_parts(1, 1)),
        };
        let named = ClaimSpec {
            only: Some(vec!["x".to_owned()]),
            except: vec![],
            ..any.clone()
        };
        let own = |spec: &ClaimSpec| ClaimSpec {
            identity: Some(identity),
            ..spec.clone()
        };
        [own(&any), own(&named), any, named].into()
    }

    /// One of everything that can be named.
    fn everything() -> Needs {
        let tenant = TenantId::from_parts(1, 1);
        let identity = IdentityId::from_parts(1, 1);
        let thread = ThreadId::from_parts(1, 1);
        let source = SourceId::from_parts(1, 1);
        let todo = TodoId::from_parts(1, 1);
        let name = || (tenant, "x".to_owned());
        Needs {
            counters: [tenant].into(),
            tenants: [tenant].into(),
            slugs: ["x".to_owned()].into(),
            domains: [(None, "x".to_owned())].into(),
            domain_names: ["x".to_owned()].into(),
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
            import_places: [(identity, "x".to_owned(), "x".to_owned())].into(),
            sources: [source].into(),
            source_counts: [tenant].into(),
            event_keys: [(source, "x".to_owned())].into(),
            once_keys: [(source, [0; 16])].into(),
            todos: [(tenant, todo)].into(),
            todo_keys: [(tenant, [0; 16])].into(),
            subjects: [(tenant, [0; 16])].into(),
            attempts: [(tenant, todo)].into(),
            queues: [tenant].into(),
            claims: claims(tenant, identity),
            claimants: [(tenant, 3)].into(),
            sweeps: [(tenant, 10)].into(),
            sends: [MessageId::from_parts(1, 1)].into(),
            provider_ids: [name()].into(),
            idempotency: [(identity, [0; 32])].into(),
            suppressions: [(tenant, [0; 16])].into(),
            list_entries: [(tenant, ListDirection::Send, "x".to_owned())].into(),
            list_counts: [tenant].into(),
            policies: [tenant].into(),
            usage: [(tenant, Some(identity), "x".to_owned())].into(),
            drafts: [DraftId::from_parts(1, 1)].into(),
            draft_counts: [identity].into(),
            upload_counts: [identity].into(),
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
        load(&mut conn, &needs, &mut state, Timestamp::from_ms(0))
            .await
            .expect("loads");
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
