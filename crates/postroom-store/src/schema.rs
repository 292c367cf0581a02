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
}
