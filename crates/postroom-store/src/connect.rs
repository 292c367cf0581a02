//! Connections with their settings asserted.

use crate::{
    StoreError,
    schema::open_error,
    sql::{Access, Conn, Pool, Server, Sqlite},
};
use postroom_types::Secret;
use std::path::PathBuf;

/// The first SQLite whose write-ahead log is safe when two connections write and checkpoint at
/// once (earlier ones can corrupt the database).
const SQLITE_VERSION: (u32, u32, u32) = (3, 51, 3);
/// The first PostgreSQL that is supported.
const POSTGRES_VERSION: i64 = 150_000;

/// Where the database is.
#[derive(Clone)]
pub(crate) enum Target {
    /// A file.
    Sqlite(PathBuf),
    /// A server.
    Postgres(Box<Server>),
}

impl Target {
    /// The file in the data folder, or the server of a URL.
    pub(crate) fn new(
        url: Option<&Secret<String>>,
        data_dir: &std::path::Path,
    ) -> Result<Self, StoreError> {
        let Some(url) = url else {
            return Ok(Self::Sqlite(data_dir.join("postroom.sqlite")));
        };
        let scheme = url.expose();
        if !scheme.starts_with("postgres://") && !scheme.starts_with("postgresql://") {
            return Err(StoreError::Configuration(
                "database_url: expected postgres://user@host/database; leave it out for SQLite"
                    .to_owned(),
            ));
        }
        let server = Server::parse(url)
            .map_err(|reason| StoreError::Configuration(format!("database_url: {reason}")))?;
        Ok(Self::Postgres(Box::new(server)))
    }

    /// A connection that writes: every commit is on disk before it returns. One to PostgreSQL is
    /// served by the runtime in which it is opened.
    pub(crate) async fn writer(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Sqlite(path) => {
                let conn = Sqlite::open(path, Access::Write).map_err(open_error)?;
                // The size of a page is settled before the log is.
                conn.batch(
                    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; \
                     PRAGMA synchronous = FULL; PRAGMA cache_size = -32768; \
                     PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 67108864",
                )
                .map_err(open_error)?;
                let conn = Conn::sqlite(conn);
                assert_sqlite(&conn).await?;
                Ok(conn)
            }
            Self::Postgres(server) => {
                let conn = Conn::postgres(server).await.map_err(open_error)?;
                assert_postgres(&conn).await?;
                // Every look-up of the writer has its index. Plans are made once, while tables are
                // small, and kept while they grow, so none may be made that reads a table whole. To
                // plan anew for each list of keys costs more than the statement.
                conn.batch(
                    "SET enable_seqscan TO off; SET enable_hashjoin TO off; \
                     SET enable_mergejoin TO off; SET jit TO off; \
                     SET plan_cache_mode TO force_generic_plan",
                )
                .await
                .map_err(open_error)?;
                Ok(conn)
            }
        }
    }

    /// Connections that read.
    pub(crate) async fn readers(&self, count: u32) -> Result<Pool, StoreError> {
        let count = count as usize;
        match self {
            Self::Sqlite(path) => Pool::sqlite(path, count),
            Self::Postgres(server) => Pool::postgres((**server).clone(), count).await,
        }
        .map_err(open_error)
    }
}

/// The version and the durability in force, for `doctor`.
pub(crate) async fn describe(conn: &Conn) -> Result<(String, String), StoreError> {
    if conn.is_postgres() {
        let version = setting(conn, "SHOW server_version").await?;
        let synced = setting(conn, "SHOW synchronous_commit").await?;
        let fsync = setting(conn, "SHOW fsync").await?;
        return Ok((
            version,
            format!("synchronous_commit={synced} fsync={fsync}"),
        ));
    }
    let version = setting(conn, "SELECT sqlite_version()").await?;
    Ok((version, "journal_mode=WAL synchronous=FULL".to_owned()))
}

async fn setting(conn: &Conn, sql: &'static str) -> Result<String, StoreError> {
    let rows = conn.fetch(sql, vec![]).await.map_err(open_error)?;
    let row = rows.first().ok_or(StoreError::Unavailable)?;
    row.text(0).map_err(open_error)
}

async fn number(conn: &Conn, sql: &'static str) -> Result<i64, StoreError> {
    let rows = conn.fetch(sql, vec![]).await.map_err(open_error)?;
    let row = rows.first().ok_or(StoreError::Unavailable)?;
    row.int(0).map_err(open_error)
}

fn unsafe_setting(what: &str) -> StoreError {
    StoreError::Open {
        what: "the database".to_owned(),
        reason: format!("{what}: what is acknowledged would not be safe"),
    }
}

async fn assert_sqlite(conn: &Conn) -> Result<(), StoreError> {
    let version = setting(conn, "SELECT sqlite_version()").await?;
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    if (next(), next(), next()) < SQLITE_VERSION {
        return Err(unsafe_setting("SQLite is older than 3.51.3"));
    }
    // 2 is FULL: the log is synced by every commit.
    if number(conn, "PRAGMA synchronous").await? != 2 {
        return Err(unsafe_setting("synchronous is not FULL"));
    }
    if setting(conn, "PRAGMA journal_mode").await? != "wal" {
        return Err(unsafe_setting("the journal is not a write-ahead log"));
    }
    if number(conn, "PRAGMA foreign_keys").await? != 1 {
        return Err(unsafe_setting("foreign keys are not checked"));
    }
    Ok(())
}

async fn assert_postgres(conn: &Conn) -> Result<(), StoreError> {
    let version = setting(conn, "SHOW server_version_num").await?;
    if version.parse().unwrap_or(0) < POSTGRES_VERSION {
        return Err(StoreError::Open {
            what: "the database".to_owned(),
            reason: "PostgreSQL is older than 15".to_owned(),
        });
    }
    if setting(conn, "SHOW synchronous_commit").await? == "off" {
        conn.batch("SET synchronous_commit TO on")
            .await
            .map_err(open_error)?;
    }
    if setting(conn, "SHOW synchronous_commit").await? == "off" {
        return Err(unsafe_setting("synchronous_commit is off"));
    }
    if setting(conn, "SHOW fsync").await? == "off" {
        tracing::warn!(
            "PostgreSQL runs with fsync off: a power cut can lose what was acknowledged"
        );
    }
    Ok(())
}
