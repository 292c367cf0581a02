//! Sources, what came through them before, todos, and what claimants would take.

use super::{Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::{Conn, Row, Value},
};
use postroom_core::{ClaimSpec, Needs, State};
use postroom_types::{KeyId, TenantId, Timestamp, limit};
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn load_sources(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(source),
                " FROM sources WHERE id IN ({})"
            ),
            1,
            bits(needs.sources.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::source)? {
        state.sources.insert(row.id, row);
    }
    for tenant in &needs.source_counts {
        let found = conn
            .fetch(
                "SELECT COUNT(*) FROM sources WHERE tenant_id = $1",
                vec![tenant.bits().into()],
            )
            .await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.source_counts.insert(*tenant, count);
    }
    let keys = needs
        .event_keys
        .iter()
        .flat_map(|(source, key)| [Value::from(source.bits()), key.as_str().into()])
        .collect();
    let found = conn
        .fetch_in(
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
    for row in all(&found, rows::event)? {
        if let (Some(source), Some(key)) = (row.source_id, &row.external_key) {
            state
                .event_keys
                .insert((source, key.clone()), (row.tenant_id, row.id));
        }
        state.events.insert((row.tenant_id, row.id), row);
    }
    let keys = needs
        .once_keys
        .iter()
        .flat_map(|(source, key)| [Value::from(source.bits()), key.as_slice().into()])
        .collect();
    let found = conn
        .fetch_in(
            "SELECT source_id, hash FROM (VALUES {}) AS want CROSS JOIN source_once WHERE \
             source_once.source_id = want.column1 AND source_once.hash = want.column2",
            2,
            keys,
        )
        .await?;
    for row in &found {
        let key = rows::array(&row.blob(1)?)?;
        state.once_keys.insert((rows::source_id(row, 0)?, key));
    }
    Ok(())
}

pub(super) async fn load_todos(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
    let ids = |ids: &BTreeSet<(TenantId, postroom_types::TodoId)>| {
        ids.iter()
            .flat_map(|(tenant, id)| [Value::from(tenant.bits()), id.bits().into()])
            .collect::<Vec<Value>>()
    };
    let hashes = |hashes: &BTreeSet<(TenantId, [u8; 16])>| {
        hashes
            .iter()
            .flat_map(|(tenant, hash)| [Value::from(tenant.bits()), hash.as_slice().into()])
            .collect::<Vec<Value>>()
    };
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
                " FROM (VALUES {}) AS want CROSS JOIN todos WHERE todos.tenant_id = want.column1 \
                 AND todos.dedup = want.column2 AND todos.dedup IS NOT NULL"
            ),
            hashes(&needs.todo_keys),
        ),
        (
            concat!(
                "SELECT ",
                columns!(todo),
                " FROM (VALUES {}) AS want CROSS JOIN todos WHERE todos.tenant_id = want.column1 \
                 AND todos.subject = want.column2 AND todos.subject IS NOT NULL"
            ),
            hashes(&needs.subjects),
        ),
    ];
    for (sql, keys) in looked_up {
        let found = conn.fetch_in(sql, 2, keys).await?;
        offer(&found, state)?;
    }
    let found = conn
        .fetch_in(
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
    for row in all(&found, rows::attempt)? {
        state.load_attempt(row);
    }
    load_queues(conn, needs, state).await
}

fn offer(found: &[Row], state: &mut State) -> Sql<()> {
    for row in all(found, rows::todo)? {
        state.load_todo(row);
    }
    Ok(())
}

/// Settings of queues; in those with a bound, what is in flight is counted.
async fn load_queues(conn: &mut Conn, needs: &Needs, state: &mut State) -> Sql<()> {
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
                    "SELECT COUNT(*) FROM todos WHERE tenant_id = $1 AND state = 'claimed' AND \
                     state <> 'done' AND queue = $2",
                    vec![row.tenant_id.bits().into(), row.name.as_str().into()],
                )
                .await?;
            let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
            state.in_flight.insert(key.clone(), count);
        }
        state.queues.insert(key, row);
    }
    Ok(())
}

/// Of two nodes that claim, each skips what the other holds; SQLite has one writer.
fn locked(conn: &Conn, sql: &str) -> String {
    if conn.is_postgres() {
        format!("{sql} FOR UPDATE SKIP LOCKED")
    } else {
        sql.to_owned()
    }
}

fn most(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

const WAITING: &str = concat!(
    "SELECT ",
    columns!(todo),
    " FROM todos WHERE tenant_id = $1 AND queue = $2 AND state = 'pending' AND assignee IS NULL \
     ORDER BY rank, num LIMIT $3"
);
const WAITING_OF_IDENTITY: &str = concat!(
    "SELECT ",
    columns!(todo),
    " FROM todos WHERE identity_id = $1 AND queue = $2 AND state = 'pending' AND assignee IS NULL \
     AND identity_id IS NOT NULL ORDER BY rank, num LIMIT $3"
);
const ASSIGNED: &str = concat!(
    "SELECT ",
    columns!(todo),
    " FROM todos WHERE assignee = $1 AND state = 'pending' AND assignee IS NOT NULL \
     ORDER BY assignee, queue, rank, num LIMIT $2"
);
const OVERDUE: &str = concat!(
    "SELECT ",
    columns!(todo),
    " FROM todos WHERE tenant_id = $1 AND due_at <= $2 AND due_at IS NOT NULL"
);

/// For each kind of claimant, as many todos as there are claims of its tenant: whatever the others
/// take, one is left for each if there is one.
pub(super) async fn load_claims(
    conn: &mut Conn,
    needs: &Needs,
    state: &mut State,
    now: Timestamp,
) -> Sql<()> {
    // Claimants that differ in their key alone would take the same, save what is assigned.
    let mut kinds: BTreeMap<ClaimSpec, Vec<&ClaimSpec>> = BTreeMap::new();
    for spec in &needs.claims {
        let kind = ClaimSpec {
            key: None,
            ..spec.clone()
        };
        kinds.entry(kind).or_default().push(spec);
    }
    for (kind, specs) in kinds {
        let want = needs.claimants.get(&kind.tenant).copied().unwrap_or(1);
        let mut whole = load_waiting(conn, &kind, want, state).await?;
        whole &= load_overdue(conn, &kind, want, now, state).await?;
        for spec in specs {
            let whole = whole & load_assigned(conn, spec, want, state).await?;
            state.claims.insert(spec.clone(), whole);
        }
    }
    Ok(())
}

/// Whether all that waits is here.
async fn load_waiting(
    conn: &mut Conn,
    kind: &ClaimSpec,
    want: usize,
    state: &mut State,
) -> Sql<bool> {
    let (owner, sql) = match kind.identity {
        None => (kind.tenant.bits(), WAITING),
        Some(identity) => (identity.bits(), WAITING_OF_IDENTITY),
    };
    let sql = locked(conn, sql);
    let mut whole = true;
    for queue in waiting_queues(conn, kind, owner).await? {
        let values = vec![owner.into(), queue.as_str().into(), most(want)];
        let found = conn.fetch(sql.as_str(), values).await?;
        whole &= found.len() < want;
        offer(&found, state)?;
    }
    Ok(whole)
}

/// More named queues than this are compared with those that have work.
const FEW_QUEUES: usize = 4;

/// The queues to look into: the named ones, or those that have work waiting.
async fn waiting_queues(conn: &mut Conn, kind: &ClaimSpec, owner: u128) -> Sql<Vec<String>> {
    if let Some(only) = kind.only.as_ref().filter(|only| only.len() <= FEW_QUEUES) {
        return Ok(only.clone());
    }
    let found = conn
        .fetch(
            queues_with_work(kind.identity.is_some()),
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
            "(SELECT queue FROM todos WHERE {owned} AND state = 'pending' AND assignee IS NULL \
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

/// What may be taken over: leases that ended with tries left, tries that began. Whether all of it
/// is here.
async fn load_overdue(
    conn: &mut Conn,
    kind: &ClaimSpec,
    want: usize,
    now: Timestamp,
    state: &mut State,
) -> Sql<bool> {
    let mut sql = format!("{OVERDUE} AND (state = 'failed' OR attempt < max_attempts)");
    let mut values: Vec<Value> = vec![kind.tenant.bits().into(), now.ms().into()];
    if let Some(identity) = kind.identity {
        values.push(identity.bits().into());
        sql.push_str(&format!(" AND identity_id = ${}", values.len()));
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
        sql.push_str(&format!(" AND queue {word} ({})", places.join(", ")));
    }
    values.push(most(want));
    sql.push_str(&format!(" ORDER BY due_at LIMIT ${}", values.len()));
    let sql = locked(conn, &sql);
    let found = conn.fetch(sql, values).await?;
    offer(&found, state)?;
    Ok(found.len() < want)
}

/// What is assigned to a claimant's key. Whether all of it is here.
async fn load_assigned(
    conn: &mut Conn,
    spec: &ClaimSpec,
    want: usize,
    state: &mut State,
) -> Sql<bool> {
    let Some(key) = spec.key else {
        return Ok(true);
    };
    // Most keys have nothing assigned: one look into the index.
    let sql = locked(conn, ASSIGNED);
    let values = vec![
        KeyId::bits(key).into(),
        most(want.max(limit::QUEUES_PER_KEY)),
    ];
    let found = conn.fetch(sql, values).await?;
    offer(&found, state)?;
    Ok(found.len() < want)
}

/// What is overdue, for sweeps.
pub(super) async fn load_sweeps(
    conn: &mut Conn,
    needs: &Needs,
    state: &mut State,
    now: Timestamp,
) -> Sql<()> {
    let sql = locked(conn, &format!("{OVERDUE} ORDER BY due_at LIMIT $3"));
    for (tenant, count) in &needs.sweeps {
        let values = vec![tenant.bits().into(), now.ms().into(), most(*count)];
        let found = conn.fetch(sql.as_str(), values).await?;
        offer(&found, state)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connect::Target, schema};

    #[tokio::test]
    async fn what_claims_and_sweeps_read_stands_in_an_index_without_finished_todos() {
        let dir = tempfile::tempdir().expect("dir");
        let target = Target::new(None, dir.path()).expect("SQLite");
        let mut conn = target.writer().await.expect("opens");
        schema::migrate(&mut conn, Timestamp::from_ms(0))
            .await
            .expect("migrates");
        let due = format!("{OVERDUE} AND queue IN ($3) ORDER BY due_at LIMIT $4");
        let sweep = format!("{OVERDUE} ORDER BY due_at LIMIT $3");
        for (sql, index) in [
            (WAITING.to_owned(), "todos_waiting"),
            (WAITING_OF_IDENTITY.to_owned(), "todos_waiting_of_identity"),
            (ASSIGNED.to_owned(), "todos_assigned"),
            (queues_with_work(false), "todos_waiting"),
            (queues_with_work(true), "todos_waiting_of_identity"),
            (due, "todos_due"),
            (sweep, "todos_due"),
        ] {
            let plan = conn
                .fetch(format!("EXPLAIN QUERY PLAN {sql}"), vec![])
                .await
                .expect("explains");
            let steps: Vec<String> = plan
                .iter()
                .map(|row| row.text(3).expect("a step"))
                .collect();
            let looks: Vec<&String> = steps.iter().filter(|step| step.contains("todos")).collect();
            assert!(!looks.is_empty());
            for step in looks {
                let fits = step.starts_with("SEARCH") && step.contains(&format!("INDEX {index} "));
                assert!(fits, "{step}: {sql}");
            }
            assert!(
                !steps.iter().any(|step| step.contains("TEMP B-TREE")),
                "{steps:?}"
            );
        }
    }
}
