//! Connections with their settings asserted.

use crate::{
    StoreError,
    schema::open_error,
    sql::{Conn, Pool},
};
use postroom_types::Secret;
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{path::PathBuf, time::Duration};

/// The first SQLite whose write-ahead log is safe when two connections write and checkpoint at
/// once (earlier ones can corrupt the database).
const SQLITE_VERSION: (u32, u32, u32) = (3, 51, 3);
/// The first PostgreSQL that is supported.
const POSTGRES_VERSION: i64 = 150_000;
/// Prepared statements kept per connection.
const STATEMENTS: usize = 512;
/// How long a connection waits for another's lock.
const BUSY: Duration = Duration::from_secs(5);
/// How long a read waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(10);

/// Where the database is.
#[derive(Clone)]
pub(crate) enum Target {
    /// A file.
    Sqlite(PathBuf),
    /// A server.
    Postgres(Box<PgConnectOptions>),
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
        let url = url.expose();
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(StoreError::Configuration(
                "database_url: expected postgres://user@host/database; leave it out for SQLite"
                    .to_owned(),
            ));
        }
        // The parser's message may repeat the URL with its password.
        let options: PgConnectOptions = url.parse().map_err(|_| {
            StoreError::Configuration("database_url: not a PostgreSQL URL".to_owned())
        })?;
        let options = options
            .application_name("postroom")
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging();
        Ok(Self::Postgres(Box::new(options)))
    }

    fn sqlite_options(path: &std::path::Path) -> SqliteConnectOptions {
        SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(BUSY)
            .foreign_keys(true)
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging()
    }

    /// A connection that writes: every commit is on disk before it returns.
    pub(crate) async fn writer(&self) -> Result<Conn, StoreError> {
        match self {
            Self::Sqlite(path) => {
                let conn = Self::sqlite_options(path)
                    .create_if_missing(true)
                    .page_size(8_192)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .pragma("cache_size", "-32768")
                    .pragma("wal_autocheckpoint", "4096")
                    .pragma("journal_size_limit", "67108864")
                    .connect()
                    .await
                    .map_err(open_error)?;
                let mut conn = Conn::sqlite(conn);
                assert_sqlite(&mut conn).await?;
                Ok(conn)
            }
            Self::Postgres(options) => {
                let conn = PgConnection::connect_with(options)
                    .await
                    .map_err(open_error)?;
                let mut conn = Conn::postgres(conn);
                assert_postgres(&mut conn).await?;
                Ok(conn)
            }
        }
    }

    /// Connections that read.
    pub(crate) async fn readers(&self, count: u32) -> Result<Pool, StoreError> {
        let count = count.max(1);
        match self {
            Self::Sqlite(path) => SqlitePoolOptions::new()
                .max_connections(count)
                .acquire_timeout(ACQUIRE)
                .test_before_acquire(false)
                .connect_with(Self::sqlite_options(path).read_only(true))
                .await
                .map(Pool::Sqlite)
                .map_err(open_error),
            Self::Postgres(options) => PgPoolOptions::new()
                .max_connections(count)
                .acquire_timeout(ACQUIRE)
                .connect_with((**options).clone())
                .await
                .map(Pool::Postgres)
                .map_err(open_error),
        }
    }
}

/// The version and the durability in force, for `doctor`.
pub(crate) async fn describe(conn: &mut Conn) -> Result<(String, String), StoreError> {
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

async fn setting(conn: &mut Conn, sql: &'static str) -> Result<String, StoreError> {
    let rows = conn.fetch(sql, vec![]).await.map_err(open_error)?;
    let row = rows.first().ok_or(StoreError::Unavailable)?;
    row.text(0).map_err(open_error)
}

async fn number(conn: &mut Conn, sql: &'static str) -> Result<i64, StoreError> {
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

async fn assert_sqlite(conn: &mut Conn) -> Result<(), StoreError> {
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

async fn assert_postgres(conn: &mut Conn) -> Result<(), StoreError> {
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
