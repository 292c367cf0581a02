//! SQLite, called where it is needed.
//!
//! A statement that an index serves takes microseconds, less than handing it to another thread.

use super::{
    Error, Result, Row, STATEMENTS, Value, lock,
    row::{Cell, SqliteRow},
    value::without_nul,
};
use rusqlite::{
    CachedStatement, Connection, OpenFlags, ToSql,
    config::DbConfig,
    types::{ToSqlOutput, ValueRef},
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::Semaphore;

/// How long a connection waits for another's lock.
const BUSY: Duration = Duration::from_secs(5);
/// How long a read waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(10);

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads and writes; a file that is missing is made.
    Write,
    /// Reads.
    Read,
}

/// One connection.
pub(crate) struct Sqlite {
    conn: Mutex<Connection>,
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = |text: &'_ String| -> ToSqlOutput<'static> {
            ToSqlOutput::Owned(without_nul(text.clone()).into())
        };
        Ok(match self {
            Self::Int(value) | Self::OptInt(Some(value)) => {
                ToSqlOutput::Borrowed(ValueRef::Integer(*value))
            }
            Self::Text(value) | Self::OptText(Some(value)) if value.contains('\0') => text(value),
            Self::Text(value) | Self::OptText(Some(value)) => {
                ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes()))
            }
            Self::Id(value) | Self::OptId(Some(value)) => {
                ToSqlOutput::Borrowed(ValueRef::Blob(value))
            }
            Self::Blob(value) | Self::OptBlob(Some(value)) => {
                ToSqlOutput::Borrowed(ValueRef::Blob(value))
            }
            Self::OptInt(None) | Self::OptText(None) | Self::OptId(None) | Self::OptBlob(None) => {
                ToSqlOutput::Borrowed(ValueRef::Null)
            }
        })
    }
}

impl Sqlite {
    pub(crate) fn open(path: &Path, access: Access) -> Result<Self> {
        let flags = match access {
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        };
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags)?;
        conn.busy_timeout(BUSY)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        conn.execute_batch("PRAGMA foreign_keys = ON")?;
        // Without it every new value of a placeholder that no index serves has its statement prepared
        // anew, to guess better. Ours have their indexes whatever the value is.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let conn = Mutex::new(conn);
        Ok(Self { conn })
    }

    pub(super) fn is_in_transaction(&self) -> bool {
        !lock(&self.conn).is_autocommit()
    }

    /// Runs statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<()> {
        Ok(lock(&self.conn).execute_batch(sql)?)
    }

    pub(super) fn execute(&self, sql: &str, values: &[Value]) -> Result<()> {
        let conn = lock(&self.conn);
        let mut statement = conn.prepare_cached(&numbered(sql))?;
        bind(&mut statement, values)?;
        Ok(statement.raw_execute().map(drop)?)
    }

    /// Runs a statement for each `width` values.
    pub(super) fn execute_each(&self, sql: &str, width: usize, values: &[Value]) -> Result<()> {
        let conn = lock(&self.conn);
        let mut statement = conn.prepare_cached(sql)?;
        for values in values.chunks(width) {
            bind(&mut statement, values)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    pub(super) fn fetch(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let conn = lock(&self.conn);
        let mut statement = conn.prepare_cached(&numbered(sql))?;
        let mut out = Vec::new();
        read(&mut statement, values, &mut out)?;
        Ok(out)
    }

    /// The rows of a statement that is run for each `width` values.
    pub(super) fn fetch_each(&self, sql: &str, width: usize, keys: &[Value]) -> Result<Vec<Row>> {
        let conn = lock(&self.conn);
        let mut statement = conn.prepare_cached(sql)?;
        let mut out = Vec::new();
        for key in keys.chunks(width) {
            read(&mut statement, key, &mut out)?;
        }
        Ok(out)
    }
}

/// SQLite numbers `?1`; a `$1` would be a name to it, numbered by where it comes first.
fn numbered(sql: &str) -> Cow<'_, str> {
    if sql.contains('$') {
        Cow::Owned(sql.replace('$', "?"))
    } else {
        Cow::Borrowed(sql)
    }
}

fn bind(statement: &mut CachedStatement<'_>, values: &[Value]) -> Result<()> {
    let wanted = statement.parameter_count();
    if wanted != values.len() {
        return Err(rusqlite::Error::InvalidParameterCount(values.len(), wanted).into());
    }
    for (place, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(place + 1, value)?;
    }
    Ok(())
}

fn read(statement: &mut CachedStatement<'_>, values: &[Value], out: &mut Vec<Row>) -> Result<()> {
    bind(statement, values)?;
    let width = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let mut cells = Vec::with_capacity(width);
        let mut bytes = Vec::new();
        for place in 0..width {
            cells.push(match row.get_ref(place)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(value) => Cell::Int(value),
                ValueRef::Text(value) | ValueRef::Blob(value) => {
                    let begin = bytes.len();
                    bytes.extend_from_slice(value);
                    Cell::Bytes(begin..bytes.len())
                }
                // No column of ours holds one.
                ValueRef::Real(_) => return Err(Error::Column),
            });
        }
        out.push(Row::Sqlite(SqliteRow { cells, bytes }));
    }
    Ok(())
}

/// Connections that read.
pub(crate) struct Readers {
    path: PathBuf,
    free: Mutex<Vec<Sqlite>>,
    /// One for each connection that may be open.
    room: Semaphore,
}

impl Readers {
    pub(super) fn open(path: &Path, count: usize) -> Result<Self> {
        let first = Sqlite::open(path, Access::Read)?;
        Ok(Self {
            path: path.to_owned(),
            free: Mutex::new(vec![first]),
            room: Semaphore::new(count.max(1)),
        })
    }

    pub(super) async fn fetch(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let _room = match self.room.try_acquire() {
            Ok(room) => room,
            Err(_) => tokio::time::timeout(ACQUIRE, self.room.acquire())
                .await
                .map_err(|_| Error::TimedOut)?
                .map_err(|_| Error::Closed)?,
        };
        self.run(sql, values)
    }

    pub(super) async fn scan(self: Arc<Self>, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        let room = tokio::time::timeout(ACQUIRE, self.room.acquire());
        let _room = room
            .await
            .map_err(|_| Error::TimedOut)?
            .map_err(|_| Error::Closed)?;
        let readers = Arc::clone(&self);
        tokio::task::spawn_blocking(move || readers.run(&sql, &values))
            .await
            .map_err(|_| Error::Closed)?
    }

    /// Reads on a connection that is free, or on a new one.
    fn run(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let free = lock(&self.free).pop();
        let conn = match free {
            Some(conn) => conn,
            None => Sqlite::open(&self.path, Access::Read)?,
        };
        let rows = conn.fetch(sql, values);
        if !self.room.is_closed() {
            lock(&self.free).push(conn);
        }
        rows
    }

    pub(super) fn close(&self) {
        self.room.close();
        lock(&self.free).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn placeholders_go_by_their_number() {
        let conn = Sqlite::open(Path::new(":memory:"), Access::Write).expect("opens");
        let rows = conn
            .fetch("SELECT $2, $1, $2", &[Value::Int(1), Value::Int(2)])
            .expect("reads");
        let ints: Vec<i64> = (0..3)
            .map(|place| rows[0].int(place).expect("an int"))
            .collect();
        assert_eq!(ints, [2, 1, 2]);
        assert!(conn.fetch("SELECT $2", &[Value::Int(1)]).is_err());
    }

    #[test]
    fn a_statement_is_prepared_once_whatever_its_values_are() {
        let conn = Sqlite::open(Path::new(":memory:"), Access::Write).expect("opens");
        conn.batch("CREATE TABLE t (id INTEGER PRIMARY KEY, owner INTEGER, place INTEGER)")
            .expect("a table");
        let sql = "SELECT id FROM t WHERE id = ?1 AND owner = ?2 ORDER BY place LIMIT ?3";
        for value in 0..4 {
            conn.fetch(sql, &[value, value, value].map(Value::Int))
                .expect("reads");
        }
        let conn = lock(&conn.conn);
        let statement = conn.prepare_cached(sql).expect("prepared");
        assert_eq!(statement.get_status(StatementStatus::Run), 4);
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn values_come_back_and_a_wrong_type_is_an_error() {
        let conn = Sqlite::open(Path::new(":memory:"), Access::Write).expect("opens");
        let values = [
            Value::OptText(Some("Gr\0üße".to_owned())),
            Value::Id([7; 16]),
            Value::OptInt(None),
            Value::Int(-3),
        ];
        let rows = conn.fetch("SELECT $1, $2, $3, $4", &values).expect("reads");
        assert_eq!(rows[0].str(0).expect("text"), "Grüße");
        assert_eq!(rows[0].bytes(1).expect("bytes"), [7; 16]);
        assert_eq!(rows[0].opt_int(2).expect("null"), None);
        assert_eq!(rows[0].int(3).expect("an int"), -3);
        assert!(rows[0].int(0).is_err() && rows[0].int(2).is_err() && rows[0].str(4).is_err());
    }
}
