//! Sources, what came through them before, todos, and what claimants would take.

use super::{Shared, Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::{Asked, Conn, Row, Value},
};
use postroom_core::{ClaimSpec, Needs};
use postroom_types::{KeyId, TenantId, Timestamp, TodoId, limit};
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn load_sources(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let sources = conn
        .ask_in(
            concat!(
                "SELECT ",
                columns!(source),
                " FROM sources WHERE id IN ({})"
            ),
            1,
            bits(needs.sources.iter().map(|id| id.bits())),
        )
        .await?;
    let keys = needs
        .event_keys
        .iter()
        .flat_map(|(source, key)| [Value::from(source.bits()), key.as_str().into()])
        .collect();
    let events = conn
        .ask_in(
            concat!(
                "SELECT ",
                columns!(event),
                " FROM (VALUES {}) AS want CROSS JOIN events WHERE events.source_id = \
                 want.column1 AND events.external_key = want.column2 AND events.source_id IS NOT \
                 NULL"
            ),
            2,
            keys,
        )
        .await?;
    let keys = needs
        .once_keys
        .iter()
        .flat_map(|(source, key)| [Value::from(source.bits()), (*key).into()])
        .collect();
    let once = conn
        .ask_in(
            "SELECT source_id, hash FROM (VALUES {}) AS want CROSS JOIN source_once WHERE \
             source_once.source_id = want.column1 AND source_once.hash = want.column2",
            2,
            keys,
        )
        .await?;
    for row in all(&sources.rows().await?, rows::source)? {
        state.borrow_mut().sources.insert(row.id, row);
    }
    for row in all(&events.rows().await?, rows::event)? {
        let mut state = state.borrow_mut();
        if let (Some(source), Some(key)) = (row.source_id, &row.external_key) {
            state
                .event_keys
                .insert((source, key.clone()), (row.tenant_id, row.id));
        }
        state.events.insert((row.tenant_id, row.id), row);
    }
    for row in &once.rows().await? {
        let key = (rows::source_id(row, 0)?, rows::array(row.bytes(1)?)?);
        state.borrow_mut().once_keys.insert(key);
    }
    for tenant in &needs.source_counts {
        let found = conn
            .fetch(
                "SELECT COUNT(*) FROM sources WHERE tenant_id = $1",
                vec![tenant.bits().into()],
            )
            .await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.borrow_mut().source_counts.insert(*tenant, count);
    }
    Ok(())
}

fn ids(ids: &BTreeSet<(TenantId, TodoId)>) -> Vec<Value> {
    ids.iter()
        .flat_map(|(tenant, id)| [Value::from(tenant.bits()), id.bits().into()])
        .collect()
}

fn hashes(hashes: &BTreeSet<(TenantId, [u8; 16])>) -> Vec<Value> {
    hashes
        .iter()
        .flat_map(|(tenant, hash)| [Value::from(tenant.bits()), (*hash).into()])
        .collect()
}

pub(super) async fn load_todos(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let looked_up = [
        (
            concat!(
                "SELECT ",
                columns!(todo),
                " FROM (VALUES {}) AS want CROSS JOIN todos WHERE todos.tenant_id = want.column1 \
                 AND todos.id = want.column2"
            ),
            ids(&needs.todos),
        ),
        (
            concat!(
                "SELECT ",
                columns!(todo),
                " FROM (SELECT open_todos.tenant_id AS of_tenant, open_todos.id AS of_todo \
                 FROM (VALUES {}) AS want CROSS JOIN open_todos WHERE open_todos.tenant_id = \
                 want.column1 AND open_todos.dedup = want.column2 AND open_todos.dedup IS NOT \
                 NULL) AS open CROSS JOIN todos WHERE todos.tenant_id = of_tenant AND todos.id = \
                 of_todo"
            ),
            hashes(&needs.todo_keys),
        ),
        (
            concat!(
                "SELECT ",
                columns!(todo),
                " FROM (SELECT open_todos.tenant_id AS of_tenant, open_todos.id AS of_todo \
                 FROM (VALUES {}) AS want CROSS JOIN open_todos WHERE open_todos.tenant_id = \
                 want.column1 AND open_todos.subject = want.column2 AND open_todos.subject IS NOT \
                 NULL) AS open CROSS JOIN todos WHERE todos.tenant_id = of_tenant AND todos.id = \
                 of_todo"
            ),
            hashes(&needs.subjects),
        ),
    ];
    let mut todos = Vec::new();
    for (sql, keys) in looked_up {
        todos.push(conn.ask_in(sql, 2, keys).await?);
    }
    let attempts = conn
        .ask_in(
            concat!(
                "SELECT ",
                columns!(attempt),
                " FROM (VALUES {}) AS want CROSS JOIN todo_attempts WHERE \
                 todo_attempts.tenant_id = want.column1 AND todo_attempts.todo_id = want.column2"
            ),
            2,
            ids(&needs.attempts),
        )
        .await?;
    for asked in todos {
        offer(&asked.rows().await?, state)?;
    }
    for row in all(&attempts.rows().await?, rows::attempt)? {
        state.borrow_mut().load_attempt(row);
    }
    Ok(())
}

fn offer(found: &[Row], state: Shared<'_>) -> Sql<()> {
    for row in all(found, rows::todo)? {
        state.borrow_mut().load_todo(row);
    }
    Ok(())
}

/// Settings of queues; in those with a bound, what is in flight is counted.
pub(super) async fn load_queues(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(queue),
                " FROM queues WHERE tenant_id IN ({})"
            ),
            1,
            bits(needs.queues.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::queue)? {
        let key = (row.tenant_id, row.name.clone());
        if row.max_in_flight.is_some() {
            let found = conn
                .fetch(
                    "SELECT COUNT(*) FROM open_todos WHERE tenant_id = $1 AND state = 'claimed' \
                     AND queue = $2",
                    vec![row.tenant_id.bits().into(), row.name.as_str().into()],
                )
                .await?;
            let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
            state.borrow_mut().in_flight.insert(key.clone(), count);
        }
        state.borrow_mut().queues.insert(key, row);
    }
    Ok(())
}

fn most(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Todos found by what stands of them in the table of open ones; in no order.
macro_rules! open {
    ($found:expr) => {
        concat!(
            "SELECT ",
            columns!(todo),
            " FROM (SELECT tenant_id AS of_tenant, id AS of_todo FROM open_todos WHERE ",
            $found,
            ") AS open CROSS JOIN todos WHERE todos.tenant_id = of_tenant AND todos.id = of_todo"
        )
    };
}

const WAITING: &str = open!(
    "tenant_id = $1 AND queue = $2 AND state = 'pending' AND assignee IS NULL ORDER BY rank, num \
     LIMIT $3"
);
const WAITING_OF_IDENTITY: &str = open!(
    "identity_id = $1 AND queue = $2 AND state = 'pending' AND assignee IS NULL AND identity_id IS \
     NOT NULL ORDER BY rank, num LIMIT $3"
);
const ASSIGNED: &str = open!(
    "assignee = $1 AND state = 'pending' AND assignee IS NOT NULL ORDER BY assignee, queue, rank, \
     num LIMIT $2"
);
const SWEEP: &str =
    open!("tenant_id = $1 AND due_at <= $2 AND due_at IS NOT NULL ORDER BY due_at LIMIT $3");

/// For each kind of claimant, as many todos as there are claims of its tenant: whatever the others
/// take, one is left for each if there is one. No row is locked: the tenant's counter is, and with it
/// all that other nodes could take.
pub(super) async fn load_claims(
    conn: &Conn,
    needs: &Needs,
    state: Shared<'_>,
    now: Timestamp,
) -> Sql<()> {
    if needs.claims.is_empty() {
        return Ok(());
    }
    // Claimants that differ in their key alone would take the same, save what is assigned.
    let mut kinds: BTreeMap<ClaimSpec, Vec<&ClaimSpec>> = BTreeMap::new();
    for spec in &needs.claims {
        let kind = ClaimSpec {
            key: None,
            ..spec.clone()
        };
        kinds.entry(kind).or_default().push(spec);
    }
    let owners = ask_owners(conn, needs).await?;
    let mut wholes = Vec::new();
    for (kind, specs) in kinds {
        let want = needs.claimants.get(&kind.tenant).copied().unwrap_or(1);
        let overdue = ask_overdue(conn, &kind, want, now).await?;
        let mut whole = load_waiting(conn, &kind, want, state).await?;
        let overdue = overdue.rows().await?;
        whole &= overdue.len() < want;
        offer(&overdue, state)?;
        wholes.push((specs, want, whole));
    }
    let owners: BTreeSet<Vec<u8>> = owners
        .rows()
        .await?
        .iter()
        .map(|row| row.blob(0))
        .collect::<std::result::Result<_, _>>()?;
    for (specs, want, whole) in wholes {
        for spec in specs {
            let owner = spec.key.map(|key| KeyId::bits(key).to_be_bytes());
            let whole = match owner.filter(|owner| owners.contains(owner.as_slice())) {
                Some(owner) => whole & load_assigned(conn, owner, want, state).await?,
                None => whole,
            };
            state.borrow_mut().claims.insert(spec.clone(), whole);
        }
    }
    Ok(())
}

/// Whether all that waits is here.
async fn load_waiting(conn: &Conn, kind: &ClaimSpec, want: usize, state: Shared<'_>) -> Sql<bool> {
    let (owner, sql) = match kind.identity {
        None => (kind.tenant.bits(), WAITING),
        Some(identity) => (identity.bits(), WAITING_OF_IDENTITY),
    };
    let mut asked = Vec::new();
    for queue in waiting_queues(conn, kind, owner).await? {
        let values = vec![owner.into(), queue.as_str().into(), most(want)];
        asked.push(conn.ask(sql, values).await?);
    }
    let mut whole = true;
    for asked in asked {
        let found = asked.rows().await?;
        whole &= found.len() < want;
        offer(&found, state)?;
    }
    Ok(whole)
}

/// More named queues than this are compared with those that have work.
const FEW_QUEUES: usize = 4;

/// The queues to look into: the named ones, or those that have work waiting.
async fn waiting_queues(conn: &Conn, kind: &ClaimSpec, owner: u128) -> Sql<Vec<String>> {
    if let Some(only) = kind.only.as_ref().filter(|only| only.len() <= FEW_QUEUES) {
        return Ok(only.clone());
    }
    let found = conn
        .fetch(
            &queues_with_work(kind.identity.is_some()),
            vec![owner.into()],
        )
        .await?;
    let names: Vec<String> = found
        .iter()
        .map(|row| row.text(0))
        .collect::<Result<_, _>>()?;
    Ok(names
        .into_iter()
        .filter(|name| kind.takes_queue(name))
        .collect())
}

/// The queues in which something waits: one look into the index for each, however much waits.
fn queues_with_work(of_identity: bool) -> String {
    let owned = if of_identity {
        "identity_id = $1 AND identity_id IS NOT NULL"
    } else {
        "tenant_id = $1"
    };
    // In the order of the index of what waits: by the name alone, another index would do, which
    // finished todos fill.
    let first = |more: &str| {
        format!(
            "(SELECT queue FROM open_todos WHERE {owned} AND state = 'pending' AND assignee IS NULL \
             {more} ORDER BY queue, rank, num LIMIT 1)"
        )
    };
    format!(
        "WITH RECURSIVE seen (queue) AS (SELECT {} UNION ALL SELECT {} FROM seen WHERE seen.queue \
         IS NOT NULL) SELECT queue FROM seen WHERE queue IS NOT NULL LIMIT {}",
        first(""),
        first("AND queue > seen.queue"),
        4 * limit::QUEUES_PER_TENANT
    )
}

/// What may be taken over: leases that ended with tries left, tries that began.
async fn ask_overdue(conn: &Conn, kind: &ClaimSpec, want: usize, now: Timestamp) -> Sql<Asked> {
    let mut values: Vec<Value> = vec![kind.tenant.bits().into(), now.ms().into()];
    // "Is true" keeps databases from looking by these in another index than that of what is due.
    let mut more = String::new();
    if let Some(identity) = kind.identity {
        values.push(identity.bits().into());
        more.push_str(&format!(" AND (identity_id = ${}) IS TRUE", values.len()));
    }
    let (word, names) = match &kind.only {
        Some(only) => ("IN", only),
        None => ("NOT IN", &kind.except),
    };
    if !names.is_empty() {
        let mut places = Vec::new();
        for name in names {
            values.push(name.as_str().into());
            places.push(format!("${}", values.len()));
        }
        let places = places.join(", ");
        more.push_str(&format!(" AND (queue {word} ({places})) IS TRUE"));
    }
    values.push(most(want));
    Ok(conn.ask(&overdue(&more, values.len()), values).await?)
}

/// What is overdue and may be taken, oldest first: of the tenant `$1`, at the instant `$2`, with more
/// that is asked of the table of open ones, and the place of the number of rows.
fn overdue(more: &str, rows: usize) -> String {
    format!(
        "SELECT {} FROM (SELECT tenant_id AS of_tenant, id AS of_todo, due_at AS of_due FROM \
         open_todos WHERE tenant_id = $1 AND due_at <= $2 AND due_at IS NOT NULL{more}) AS open \
         CROSS JOIN todos WHERE todos.tenant_id = of_tenant AND todos.id = of_todo AND (state = \
         'failed' OR attempt < max_attempts) ORDER BY of_due LIMIT ${rows}",
        columns!(todo)
    )
}

/// The keys of claimants to which something is assigned: most have nothing.
async fn ask_owners(conn: &Conn, needs: &Needs) -> Sql<Asked> {
    let keys: BTreeSet<KeyId> = needs.claims.iter().filter_map(|spec| spec.key).collect();
    let asked = conn.ask_in(
        "SELECT column1 FROM (VALUES {}) AS want WHERE EXISTS (SELECT 1 FROM open_todos WHERE \
         assignee = want.column1 AND state = 'pending' AND assignee IS NOT NULL)",
        1,
        bits(keys.into_iter().map(KeyId::bits)),
    );
    Ok(asked.await?)
}

/// What is assigned to a claimant's key. Whether all of it is here.
async fn load_assigned(conn: &Conn, owner: [u8; 16], want: usize, state: Shared<'_>) -> Sql<bool> {
    let values = vec![owner.into(), most(want.max(limit::QUEUES_PER_KEY))];
    let found = conn.fetch(ASSIGNED, values).await?;
    offer(&found, state)?;
    Ok(found.len() < want)
}

/// What is overdue, for sweeps.
pub(super) async fn load_sweeps(
    conn: &Conn,
    needs: &Needs,
    state: Shared<'_>,
    now: Timestamp,
) -> Sql<()> {
    for (tenant, count) in &needs.sweeps {
        let values = vec![tenant.bits().into(), now.ms().into(), most(*count)];
        let found = conn.fetch(SWEEP, values).await?;
        offer(&found, state)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connect::Target, schema};

    /// Nulls for all placeholders.
    fn unbound(sql: &str) -> Vec<Value> {
        let last = (1..9).rev().find(|n| sql.contains(&format!("${n}")));
        vec![Value::OptInt(None); last.unwrap_or(0)]
    }

    #[tokio::test]
    async fn what_claims_and_sweeps_read_stands_in_an_index_without_finished_todos() {
        let dir = tempfile::tempdir().expect("dir");
        let target = Target::new(None, dir.path()).expect("SQLite");
        let conn = target.writer().await.expect("opens");
        schema::migrate(&conn, Timestamp::from_ms(0))
            .await
            .expect("migrates");
        let due = overdue(" AND (queue IN ($3)) IS TRUE", 4);
        for (sql, index) in [
            (WAITING.to_owned(), "open_todos_waiting"),
            (
                WAITING_OF_IDENTITY.to_owned(),
                "open_todos_waiting_of_identity",
            ),
            (ASSIGNED.to_owned(), "open_todos_assigned"),
            (queues_with_work(false), "open_todos_waiting"),
            (queues_with_work(true), "open_todos_waiting_of_identity"),
            (due, "open_todos_due"),
            (SWEEP.to_owned(), "open_todos_due"),
        ] {
            let plan = conn
                .fetch(&format!("EXPLAIN QUERY PLAN {sql}"), unbound(&sql))
                .await
                .expect("explains");
            let steps: Vec<String> = plan
                .iter()
                .map(|row| row.text(3).expect("a step"))
                .collect();
            let found = |step: &&String| step.contains(&format!("INDEX {index} "));
            assert!(steps.iter().any(|step| found(&step)), "{steps:?}: {sql}");
            let whole = |step: &&String| step.starts_with("SCAN") && step.contains("todos");
            assert!(!steps.iter().any(|step| whole(&step)), "{steps:?}: {sql}");
            assert!(
                !steps.iter().any(|step| step.contains("TEMP B-TREE")),
                "{steps:?}"
            );
        }
    }
}
