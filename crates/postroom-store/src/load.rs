//! Loading the slice of state that a batch of commands names, set-based: one statement per kind,
//! however many commands wait.

mod document;
mod mail;
mod people;
mod send;
mod work;

use crate::{
    StoreError, rows,
    sql::{self, Asked, Conn, Row, Value},
};
use postroom_core::{Counter, Needs, State};
use postroom_types::{TenantId, Timestamp};
use std::{cell::RefCell, collections::BTreeSet};

type Result<T> = std::result::Result<T, StoreError>;
/// The writer looks at what kind of error it was, so loading keeps the database's own.
type Sql<T> = std::result::Result<T, LoadError>;

/// An error of the database, or a row that cannot be read.
#[derive(Debug)]
pub(crate) enum LoadError {
    Sql(sql::Error),
    Store(StoreError),
}

impl From<sql::Error> for LoadError {
    fn from(error: sql::Error) -> Self {
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

/// State that several look-ups fill, each when its rows come.
type Shared<'a> = &'a RefCell<State>;

/// Locks the counters of what `needs` names, and loads all of it as it is then, at `now`.
///
/// PostgreSQL is asked for everything at once: it answers in order, so what is read behind the lock
/// is read under it.
pub(crate) async fn locked(
    conn: &Conn,
    needs: &Needs,
    state: &mut State,
    now: Timestamp,
) -> Sql<()> {
    load_locked(conn, needs, state, now).await?;
    let missing = |tenant: &&TenantId| !state.counters.contains_key(tenant);
    if conn.is_postgres() && needs.counters.iter().any(|tenant| missing(&tenant)) {
        // A tenant writes for the first time: what was read stood behind no lock.
        make_counters(conn, &needs.counters).await?;
        *state = State::default();
        load_locked(conn, needs, state, now).await?;
    }
    Ok(())
}

async fn load_locked(conn: &Conn, needs: &Needs, state: &mut State, now: Timestamp) -> Sql<()> {
    let counters = ask_counters(conn, &needs.counters).await?;
    let shared = RefCell::new(std::mem::take(state));
    let locking = async { put_counters(&counters.rows().await?, &shared) };
    // All look-ups at once are a large future; the writer's own stays small.
    let loading = Box::pin(load_into(conn, needs, &shared, now));
    let (locked, loaded) = tokio::join!(locking, loading);
    *state = shared.into_inner();
    match telling([locked, loaded]) {
        // What failed before was sent without waiting for it.
        Err(LoadError::Sql(error)) if error.is_aftermath() => {
            conn.settle().await?;
            Err(error.into())
        }
        done => done,
    }
}

/// Locks the counters of `tenants`, creating those that are missing, and loads them. Held until
/// the transaction ends: of two nodes that write to one tenant the second waits here, and reads
/// what the first has committed.
pub(crate) async fn lock_counters(
    conn: &Conn,
    tenants: &BTreeSet<TenantId>,
    state: &mut State,
) -> Sql<()> {
    if conn.is_postgres() {
        make_counters(conn, tenants).await?;
    }
    let counters = ask_counters(conn, tenants).await?.rows().await?;
    let shared = RefCell::new(std::mem::take(state));
    let put = put_counters(&counters, &shared);
    *state = shared.into_inner();
    put
}

/// A counter that is not there cannot be locked.
async fn make_counters(conn: &Conn, tenants: &BTreeSet<TenantId>) -> Sql<()> {
    let missing: Vec<Value> = tenants
        .iter()
        .flat_map(|id| [Value::from(id.bits()), Value::Int(0), Value::Int(0)])
        .collect();
    let sql = "INSERT INTO counters (tenant_id, position, last_at) VALUES {} ON CONFLICT \
               (tenant_id) DO NOTHING";
    Ok(conn.insert(sql, 3, missing).await?)
}

async fn ask_counters(conn: &Conn, tenants: &BTreeSet<TenantId>) -> Sql<Asked> {
    let sql = if conn.is_postgres() {
        "SELECT tenant_id, position, last_at FROM counters WHERE tenant_id IN ({}) ORDER BY \
         tenant_id FOR UPDATE"
    } else {
        "SELECT tenant_id, position, last_at FROM counters WHERE tenant_id IN ({})"
    };
    let ids = bits(tenants.iter().map(|id| id.bits()));
    Ok(conn.ask_in(sql, 1, ids).await?)
}

fn put_counters(found: &[Row], state: Shared<'_>) -> Sql<()> {
    for row in found {
        let counter = Counter {
            position: rows::unsigned(row, 1)?,
            last_at: rows::at(row, 2)?,
        };
        let tenant = rows::tenant_id(row, 0)?;
        state.borrow_mut().counters.insert(tenant, counter);
    }
    Ok(())
}

/// Loads what `needs` names into `state`, as it is at `now`.
pub(crate) async fn load(conn: &Conn, needs: &Needs, state: &mut State, now: Timestamp) -> Sql<()> {
    let shared = RefCell::new(std::mem::take(state));
    let loaded = Box::pin(load_into(conn, needs, &shared, now)).await;
    *state = shared.into_inner();
    loaded
}

async fn load_into(conn: &Conn, needs: &Needs, state: Shared<'_>, now: Timestamp) -> Sql<()> {
    // Messages want to know which threads are there.
    let mail = async {
        mail::load_threads(conn, needs, state).await?;
        mail::load_messages(conn, needs, state).await
    };
    let people = async {
        let (tenants, identities, addresses, keys) = tokio::join!(
            people::load_tenants(conn, needs, state),
            people::load_identities(conn, needs, state),
            people::load_addresses(conn, needs, state),
            people::load_keys(conn, needs, state),
        );
        telling([tenants, identities, addresses, keys])
    };
    let work = async {
        let (sources, todos, queues, claims, sweeps) = tokio::join!(
            work::load_sources(conn, needs, state),
            work::load_todos(conn, needs, state),
            work::load_queues(conn, needs, state),
            work::load_claims(conn, needs, state, now),
            work::load_sweeps(conn, needs, state, now),
        );
        telling([sources, todos, queues, claims, sweeps])
    };
    let sending = async {
        let (sends, rules, drafts, documents) = tokio::join!(
            send::load_sends(conn, needs, state),
            send::load_rules(conn, needs, state),
            send::load_drafts(conn, needs, state, now),
            document::load_documents(conn, needs, state),
        );
        telling([sends, rules, drafts, documents])
    };
    let (people, events, mail, contacts, work, sending) = tokio::join!(
        people,
        mail::load_events(conn, needs, state),
        mail,
        mail::load_contacts(conn, needs, state),
        work,
        sending,
    );
    telling([people, events, mail, contacts, work, sending])
}

/// The error that says most: what only says that something failed before gives way to another.
fn telling<const N: usize>(results: [Sql<()>; N]) -> Sql<()> {
    let mut told = Ok(());
    for error in results.into_iter().filter_map(std::result::Result::err) {
        let aftermath = matches!(&error, LoadError::Sql(error) if error.is_aftermath());
        let known = matches!(&told, Err(LoadError::Sql(known)) if known.is_aftermath());
        if told.is_ok() || (known && !aftermath) {
            told = Err(error);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connect::Target, schema};
    use postroom_core::{ClaimSpec, ListDirection};
    use postroom_types::{
        AddressId, DocumentSessionId, DraftId, IdentityId, KeyId, MessageId, SourceId, ThreadId,
        Timestamp, TodoId,
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
            early_reports: [name()].into(),
            awaiting: [tenant].into(),
            idempotency: [(identity, [0; 32])].into(),
            suppressions: [(tenant, [0; 16])].into(),
            list_entries: [(tenant, ListDirection::Send, "x".to_owned())].into(),
            list_counts: [tenant].into(),
            policies: [tenant].into(),
            usage: [(tenant, Some(identity), "x".to_owned())].into(),
            drafts: [DraftId::from_parts(1, 1)].into(),
            draft_counts: [identity].into(),
            documents: [DocumentSessionId::from_parts(1, 1)].into(),
            document_counts: [tenant].into(),
            upload_counts: [identity].into(),
        }
    }

    /// Nulls for all placeholders.
    fn unbound(text: &str) -> Vec<Value> {
        vec![Value::OptInt(None); text.matches('?').count()]
    }

    #[tokio::test]
    async fn no_look_up_of_the_writer_scans_a_table() {
        let dir = tempfile::tempdir().expect("dir");
        let target = Target::new(None, dir.path()).expect("SQLite");
        let conn = target.writer().await.expect("opens");
        schema::migrate(&conn, Timestamp::from_ms(0))
            .await
            .expect("migrates");
        let mut state = State::default();
        let needs = everything();
        lock_counters(&conn, &needs.counters, &mut state)
            .await
            .expect("locks");
        load(&conn, &needs, &mut state, Timestamp::from_ms(0))
            .await
            .expect("loads");
        let texts = conn.texts();
        assert!(texts.len() >= 15, "{}", texts.len());
        for text in texts {
            let plan = conn
                .fetch(&format!("EXPLAIN QUERY PLAN {text}"), unbound(&text))
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
