//! Migrations: numbered, each in a transaction, applied once, never by an older program.

use crate::{
    StoreError,
    sql::{self, Conn, Value},
};
use postroom_types::Timestamp;

struct Migration {
    number: i64,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "rooms",
        text: include_str!("../migrations/0001_rooms.sql"),
    },
    Migration {
        number: 2,
        name: "domains by name",
        text: include_str!("../migrations/0002_domains_by_name.sql"),
    },
    Migration {
        number: 3,
        name: "sources and todos",
        text: include_str!("../migrations/0003_sources_todos.sql"),
    },
    Migration {
        number: 4,
        name: "blob files by digest",
        text: include_str!("../migrations/0004_blob_files.sql"),
    },
    Migration {
        number: 5,
        name: "sending",
        text: include_str!("../migrations/0005_sending.sql"),
    },
    Migration {
        number: 6,
        name: "documents",
        text: include_str!("../migrations/0006_documents.sql"),
    },
    Migration {
        number: 7,
        name: "early reports",
        text: include_str!("../migrations/0007_early_reports.sql"),
    },
    Migration {
        number: 8,
        name: "todos of a queue",
        text: include_str!("../migrations/0008_todos_of_queue.sql"),
    },
    Migration {
        number: 9,
        name: "who wrote a draft",
        text: include_str!("../migrations/0009_who_wrote_a_draft.sql"),
    },
    Migration {
        number: 10,
        name: "open todos",
        text: include_str!("../migrations/0010_open_todos.sql"),
    },
    Migration {
        number: 11,
        name: "when a mailbox was resumed",
        text: include_str!("../migrations/0011_when_a_mailbox_was_resumed.sql"),
    },
];

/// The newest schema this program knows.
pub(crate) fn newest() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.number)
}

/// Replaces what differs between the databases.
fn text_for(text: &str, postgres: bool) -> String {
    let (blob, clustered, of_postgres) = if postgres {
        ("BYTEA", "", "")
    } else {
        // The rest of the line is a comment to SQLite.
        ("BLOB", "WITHOUT ROWID", "-- ")
    };
    text.replace("{BLOB}", blob)
        .replace(" {CLUSTERED}", &format!(" {clustered}"))
        .replace("{POSTGRES}", of_postgres)
}

/// Brings the database up to date; tells whether it was empty.
pub(crate) async fn migrate(conn: &Conn, now: Timestamp) -> Result<bool, StoreError> {
    let mut created = false;
    loop {
        conn.begin().map_err(open_error)?;
        match step(conn, now).await {
            Ok(Step::Applied(number)) => {
                conn.commit().await.map_err(open_error)?;
                created |= number == 1;
            }
            Ok(Step::UpToDate) => {
                conn.commit().await.map_err(open_error)?;
                return Ok(created);
            }
            Err(error) => {
                // The error that matters is the first one; the transaction ends with the
                // connection in any case.
                let _ended = conn.rollback().await;
                return Err(error);
            }
        }
    }
}

enum Step {
    Applied(i64),
    UpToDate,
}

/// Applies the next migration inside the transaction that is open. Two nodes that start together
/// meet at the lock: SQLite's write lock, or an advisory lock of PostgreSQL that ends with the
/// transaction.
async fn step(conn: &Conn, now: Timestamp) -> Result<Step, StoreError> {
    if conn.is_postgres() {
        conn.fetch("SELECT pg_advisory_xact_lock(7240312650981)", vec![])
            .await
            .map_err(open_error)?;
    }
    conn.batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number BIGINT NOT NULL PRIMARY KEY,
             name TEXT NOT NULL,
             applied_at BIGINT NOT NULL
         )",
    )
    .await
    .map_err(open_error)?;
    let rows = conn
        .fetch(
            "SELECT COALESCE(MAX(number), 0) FROM schema_migrations",
            vec![],
        )
        .await
        .map_err(open_error)?;
    let found = match rows.first() {
        Some(row) => row.int(0).map_err(open_error)?,
        None => 0,
    };
    if found > newest() {
        return Err(StoreError::NewerSchema {
            found,
            known: newest(),
        });
    }
    let Some(next) = MIGRATIONS.iter().find(|m| m.number > found) else {
        return Ok(Step::UpToDate);
    };
    let text = text_for(next.text, conn.is_postgres());
    conn.batch(&text).await.map_err(open_error)?;
    conn.execute(
        "INSERT INTO schema_migrations (number, name, applied_at) VALUES ($1, $2, $3)",
        vec![next.number.into(), next.name.into(), Value::Int(now.ms())],
    )
    .await
    .map_err(open_error)?;
    Ok(Step::Applied(next.number))
}

/// Whether the database was used with a secret key before. Reads only: what a start without its key
/// finds is left as it is.
pub(crate) async fn has_fingerprint(conn: &Conn) -> Result<bool, StoreError> {
    let tables = if conn.is_postgres() {
        "SELECT COUNT(*) FROM information_schema.tables \
         WHERE table_name = 'meta' AND table_schema = ANY (current_schemas(false))"
    } else {
        "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name = 'meta'"
    };
    let known = "SELECT COUNT(*) FROM meta WHERE name = 'secret_fingerprint'";
    for counting in [tables, known] {
        let rows = conn.fetch(counting, vec![]).await.map_err(open_error)?;
        let count = rows.first().map_or(Ok(0), |row| row.int(0));
        if count.map_err(open_error)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// SQLSTATEs of a server that is there and lets nobody in for now (PostgreSQL, appendix A).
const BUSY: &[&str] = &["53300", "57P03"];

pub(crate) fn open_error(error: sql::Error) -> StoreError {
    let code = error.code();
    let busy = code.is_some_and(|code| BUSY.contains(&code.as_str()));
    if busy || error.is_unreachable() {
        return StoreError::Unreachable(error.told());
    }
    StoreError::Open {
        what: "the database".to_owned(),
        reason: error.told(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_up_by_one_and_nothing_is_left_to_replace() {
        for (place, migration) in MIGRATIONS.iter().enumerate() {
            assert_eq!(migration.number, place as i64 + 1);
            for postgres in [false, true] {
                assert!(!text_for(migration.text, postgres).contains(['{', '}']));
            }
        }
    }

    /// What a migration makes of rows that the version before it wrote.
    struct Kept {
        number: i64,
        before: &'static str,
        asked: &'static str,
        found: &'static [&'static str],
    }

    /// Migrations that move rows or fill columns.
    const KEPT: &[Kept] = &[
        Kept {
            number: 10,
            before: "INSERT INTO todos (tenant_id, id, num, queue, title, event_count, payload_size,
                    rank, max_attempts, created_at, state, attempt, attempts_total, updated_at,
                    due_at, dedup)
                VALUES ({x01}, {x01}, 1, 'mail', 'waits', 0, 0, -5, 5, 1, 'pending', 0, 0, 1, NULL, {x0a}),
                    ({x01}, {x02}, 2, 'mail', 'held', 0, 0, 0, 5, 1, 'claimed', 1, 1, 1, 77, NULL),
                    ({x01}, {x03}, 3, 'mail', 'over', 0, 0, 0, 5, 1, 'done', 1, 1, 1, NULL, NULL),
                    ({x01}, {x04}, 4, 'bills', 'dead', 0, 0, 0, 5, 1, 'failed', 5, 5, 1, NULL, NULL)",
            asked: "SELECT t.title || ' ' || o.queue || ' ' || o.rank || ' ' || o.state || ' ' ||
                    COALESCE(o.due_at, 0) || CASE WHEN o.dedup IS NULL THEN '' ELSE ' once' END
                FROM todos t JOIN open_todos o ON o.tenant_id = t.tenant_id AND o.id = t.id
                ORDER BY o.num",
            found: &[
                "waits mail -5 pending 0 once",
                "held mail 0 claimed 77",
                "dead bills 0 failed 0",
            ],
        },
        Kept {
            number: 10,
            before: "INSERT INTO todos (tenant_id, id, num, queue, title, event_count, payload_size,
                    rank, max_attempts, created_at, state, attempt, attempts_total, updated_at)
                VALUES ({x01}, {x03}, 3, 'mail', 'over', 0, 0, 0, 5, 1, 'done', 1, 1, 1)",
            asked: "SELECT title || ' ' || state FROM todos",
            found: &["over done"],
        },
        Kept {
            number: 11,
            before: "INSERT INTO tenants (id, slug, name, status, mode, timezone, address_suffix,
                        created_at, updated_at)
                    VALUES ({x01}, 'one', 'One', 'active', 'live', 'UTC', '', 1, 1);
                INSERT INTO identities (id, tenant_id, username, display_name, status, pause_reason,
                    metadata, created_at, updated_at)
                    VALUES ({x02}, {x01}, 'agent', 'Agent', 'sending_paused', 'abuse', '{}', 1, 1)",
            asked: "SELECT username || ' ' || status || ' ' || COALESCE(resumed_at, 0) FROM identities",
            found: &["agent sending_paused 0"],
        },
    ];

    /// Applies what comes before `number`.
    async fn up_to(conn: &Conn, number: i64) {
        loop {
            conn.begin().expect("begins");
            let applied = match step(conn, Timestamp::from_ms(0)).await.expect("applies") {
                Step::Applied(applied) => applied,
                Step::UpToDate => panic!("there is no migration {number}"),
            };
            conn.commit().await.expect("commits");
            if applied + 1 == number {
                return;
            }
        }
    }

    /// `{x01}` as a value of bytes.
    fn bytes_for(text: &str, postgres: bool) -> String {
        let mut written = text.to_owned();
        for byte in ["01", "02", "03", "04", "0a"] {
            let value = if postgres {
                format!("'\\x{byte}'::bytea")
            } else {
                format!("x'{byte}'")
            };
            written = written.replace(&format!("{{x{byte}}}"), &value);
        }
        written
    }

    async fn keeps(conn: &Conn, kept: &Kept) {
        up_to(conn, kept.number).await;
        let before = bytes_for(kept.before, conn.is_postgres());
        conn.batch(&before)
            .await
            .expect("rows of the version before");
        migrate(conn, Timestamp::from_ms(0))
            .await
            .expect("migrates");
        let rows = conn.fetch(kept.asked, vec![]).await.expect("asks");
        let found: Vec<String> = rows.iter().map(|row| row.text(0).expect("text")).collect();
        assert_eq!(found, kept.found, "{}", kept.number);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the test command names the server of tests in the environment"
    )]
    #[tokio::test]
    async fn rows_of_the_version_before_are_kept() {
        for kept in KEPT {
            let dir = tempfile::tempdir().expect("dir");
            let target = crate::connect::Target::new(None, dir.path()).expect("SQLite");
            keeps(&target.writer().await.expect("opens"), kept).await;
        }
        let Ok(url) = std::env::var("POSTROOM_TEST_DATABASE_URL") else {
            return;
        };
        for (place, kept) in KEPT.iter().enumerate() {
            let dir = tempfile::tempdir().expect("dir");
            let url = postroom_types::Secret::new(url.clone());
            let target = crate::connect::Target::new(Some(&url), dir.path()).expect("PostgreSQL");
            let conn = target.writer().await.expect("opens");
            // A schema of its own, as the tables of this test are in nobody's database.
            let schema = format!("kept_{}_{place}", std::process::id());
            conn.batch(&format!(
                "CREATE SCHEMA {schema}; SET search_path TO {schema}"
            ))
            .await
            .expect("a schema");
            keeps(&conn, kept).await;
            conn.batch(&format!("DROP SCHEMA {schema} CASCADE"))
                .await
                .expect("dropped");
        }
    }
}
