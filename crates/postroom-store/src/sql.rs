//! One connection type over both databases.
//!
//! Text of statements is shared: `$1` placeholders, 64-bit integers, text and bytes mean the same
//! on both. Nulls are typed by the variant they come in, which PostgreSQL needs. This layer knows
//! no table.

use sqlx::{
    AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _, SqliteConnection, SqlitePool,
    postgres::{PgArguments, PgRow},
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};
use std::{collections::HashMap, sync::Arc};

/// One value bound to a statement.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// An integer, an instant or a flag.
    Int(i64),
    /// The same, or null.
    OptInt(Option<i64>),
    /// Text.
    Text(String),
    /// Text, or null.
    OptText(Option<String>),
    /// Bytes.
    Blob(Vec<u8>),
    /// Bytes, or null.
    OptBlob(Option<Vec<u8>>),
}

impl Value {
    /// Nothing, of the same type.
    fn emptied(&self) -> Self {
        match self {
            Self::Int(_) => Self::Int(0),
            Self::OptInt(_) => Self::OptInt(None),
            Self::Text(_) => Self::Text(String::new()),
            Self::OptText(_) => Self::OptText(None),
            Self::Blob(_) => Self::Blob(Vec::new()),
            Self::OptBlob(_) => Self::OptBlob(None),
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(signed(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<u128> for Value {
    fn from(value: u128) -> Self {
        Self::Blob(value.to_be_bytes().to_vec())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}

/// Numbers of rows and positions never reach 2^63.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

macro_rules! bind_all {
    ($query:expr, $values:expr) => {{
        let mut query = $query;
        for value in $values {
            query = match value {
                Value::Int(value) => query.bind(value),
                Value::OptInt(value) => query.bind(value),
                Value::Text(value) => query.bind(without_nul(value)),
                Value::OptText(value) => query.bind(value.map(without_nul)),
                Value::Blob(value) => query.bind(value),
                Value::OptBlob(value) => query.bind(value),
            };
        }
        query
    }};
}

/// PostgreSQL has no NUL in text, and SQLite's functions stop at one: neither gets any.
fn without_nul(text: String) -> String {
    if text.contains('\0') {
        text.replace('\0', "")
    } else {
        text
    }
}

fn sqlite_query<'q>(sql: Arc<str>, values: Vec<Value>) -> Query<'q, sqlx::Sqlite, SqliteArguments> {
    bind_all!(sqlx::query(AssertSqlSafe(sql)), values)
}

fn postgres_query<'q>(sql: Arc<str>, values: Vec<Value>) -> Query<'q, sqlx::Postgres, PgArguments> {
    bind_all!(sqlx::query(AssertSqlSafe(sql)), values)
}

/// One row of an answer; columns go by their place.
pub(crate) enum Row {
    /// Of SQLite.
    Sqlite(SqliteRow),
    /// Of PostgreSQL.
    Postgres(PgRow),
}

macro_rules! column {
    ($self:expr, $place:expr) => {
        match $self {
            Row::Sqlite(row) => row.try_get_unchecked($place),
            Row::Postgres(row) => row.try_get_unchecked($place),
        }
    };
}

impl Row {
    pub(crate) fn int(&self, place: usize) -> Result<i64, sqlx::Error> {
        column!(self, place)
    }

    pub(crate) fn opt_int(&self, place: usize) -> Result<Option<i64>, sqlx::Error> {
        column!(self, place)
    }

    pub(crate) fn text(&self, place: usize) -> Result<String, sqlx::Error> {
        column!(self, place)
    }

    pub(crate) fn opt_text(&self, place: usize) -> Result<Option<String>, sqlx::Error> {
        column!(self, place)
    }

    pub(crate) fn blob(&self, place: usize) -> Result<Vec<u8>, sqlx::Error> {
        column!(self, place)
    }

    pub(crate) fn opt_blob(&self, place: usize) -> Result<Option<Vec<u8>>, sqlx::Error> {
        column!(self, place)
    }
}

enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// Statements that wait to be run in one go, and their values in order.
#[derive(Default)]
struct Script {
    text: String,
    values: Vec<Value>,
    /// Whether it is of a shape that hardly comes again, so that its prepared form is not kept.
    rare: bool,
}

/// Values of a script from which on it is run before more is added.
const SCRIPT_VALUES: usize = 4_096;

/// One connection: the writer's, or that of a migration.
pub(crate) struct Conn {
    raw: Raw,
    /// On SQLite, writes that have not run yet: each statement that runs alone costs two turns
    /// between threads, which is more than most of them cost themselves.
    script: Script,
    /// Statements that were built for a number of rows, so that they are built once and found in
    /// the connection's cache of prepared statements.
    built: HashMap<(&'static str, usize), Arc<str>>,
}

/// Row counts for which statements are built: few, so that their prepared forms stay cached.
const CHUNKS: [usize; 4] = [64, 16, 4, 1];

impl Conn {
    pub(crate) fn sqlite(conn: SqliteConnection) -> Self {
        Self {
            raw: Raw::Sqlite(conn),
            script: Script::default(),
            built: HashMap::new(),
        }
    }

    pub(crate) fn postgres(conn: PgConnection) -> Self {
        Self {
            raw: Raw::Postgres(conn),
            script: Script::default(),
            built: HashMap::new(),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.raw, Raw::Postgres(_))
    }

    /// Runs statements without values.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), sqlx::Error> {
        self.flush().await?;
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match &mut self.raw {
            Raw::Sqlite(conn) => sql.execute(conn).await.map(drop),
            Raw::Postgres(conn) => sql.execute(conn).await.map(drop),
        }
    }

    /// Begins a transaction that may write.
    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        let sql = if self.is_postgres() {
            "BEGIN"
        } else {
            "BEGIN IMMEDIATE"
        };
        self.batch(sql).await
    }

    /// Runs what waits, and commits.
    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        if self.script.text.is_empty() {
            return self.batch("COMMIT").await;
        }
        self.script.text.push_str("COMMIT;");
        self.flush().await
    }

    pub(crate) async fn rollback(&mut self) -> Result<(), sqlx::Error> {
        self.script = Script::default();
        self.batch("ROLLBACK").await
    }

    /// A write whose count of rows nobody asks for: on SQLite it runs with the others, at the
    /// latest when the transaction commits, which then gives its error.
    pub(crate) async fn queue(&mut self, sql: &str, values: Vec<Value>) -> Result<(), sqlx::Error> {
        if self.is_postgres() {
            return self.execute(sql, values).await.map(drop);
        }
        if self.script.values.len() >= SCRIPT_VALUES {
            self.flush().await?;
        }
        self.script.rare = true;
        // Placeholders of a script are taken in order, so each gets a value of its own.
        let mut parts = sql.split('$');
        self.script.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            let (number, rest) = part.split_at(end);
            let place: usize = number.parse().unwrap_or(0);
            let value = place.checked_sub(1).and_then(|place| values.get(place));
            let Some(value) = value.cloned() else {
                return Err(sqlx::Error::Protocol(format!("no value for ${number}")));
            };
            self.script.values.push(value);
            self.script.text.push('?');
            self.script.text.push_str(rest);
        }
        self.script.text.push(';');
        Ok(())
    }

    /// Runs the writes that wait.
    async fn flush(&mut self) -> Result<(), sqlx::Error> {
        let Script { text, values, rare } = std::mem::take(&mut self.script);
        match &mut self.raw {
            Raw::Sqlite(conn) if !text.is_empty() => sqlite_query(text.into(), values)
                .persistent(!rare)
                .execute(conn)
                .await
                .map(drop),
            _ => Ok(()),
        }
    }

    pub(crate) async fn execute(
        &mut self,
        sql: impl Into<Arc<str>>,
        values: Vec<Value>,
    ) -> Result<u64, sqlx::Error> {
        self.flush().await?;
        let sql = sql.into();
        match &mut self.raw {
            Raw::Sqlite(conn) => sqlite_query(sql, values)
                .execute(conn)
                .await
                .map(|done| done.rows_affected()),
            Raw::Postgres(conn) => postgres_query(sql, values)
                .execute(conn)
                .await
                .map(|done| done.rows_affected()),
        }
    }

    pub(crate) async fn fetch(
        &mut self,
        sql: impl Into<Arc<str>>,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        self.flush().await?;
        let sql = sql.into();
        match &mut self.raw {
            Raw::Sqlite(conn) => sqlite_query(sql, values)
                .fetch_all(conn)
                .await
                .map(|rows| rows.into_iter().map(Row::Sqlite).collect()),
            Raw::Postgres(conn) => postgres_query(sql, values)
                .fetch_all(conn)
                .await
                .map(|rows| rows.into_iter().map(Row::Postgres).collect()),
        }
    }

    /// Fetches for a list of keys of `width` values each; `sql` has `{}` where the list goes, as in
    /// `id IN ({})` or, for keys of two values, `FROM (VALUES {}) AS want CROSS JOIN t WHERE
    /// t.a = want.column1 AND t.b = want.column2`: both databases name the columns so, and
    /// SQLite, which would scan the table for `(a, b) IN (VALUES {})`, looks each key up. A row may
    /// come more than once.
    pub(crate) async fn fetch_in(
        &mut self,
        sql: &'static str,
        width: usize,
        mut keys: Vec<Value>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        let mut out = Vec::new();
        while !keys.is_empty() {
            let rest = keys.split_off(keys.len().min(64 * width));
            let count = keys.len() / width.max(1);
            // Padded with the last key, so that few statements serve every number of keys.
            let padded = CHUNKS.into_iter().rev().find(|n| *n >= count).unwrap_or(64);
            let last = keys.len().saturating_sub(width);
            let last: Vec<Value> = keys.get(last..).unwrap_or_default().to_vec();
            for _ in count..padded {
                keys.extend(last.iter().cloned());
            }
            let numbered = self.is_postgres();
            let text = self.built(sql, padded, |sql| {
                sql.replace("{}", &placeholders(padded, width, numbered))
            });
            out.extend(self.fetch(text, keys).await?);
            keys = rest;
        }
        Ok(out)
    }

    /// Inserts rows of `width` values each; `sql` has `VALUES {}` where the rows go.
    ///
    /// Each statement costs a turn of the thread or the server that runs it, so a number of rows
    /// that no statement is built for is filled up with empty ones, which the statement leaves out.
    pub(crate) async fn insert(
        &mut self,
        sql: &'static str,
        width: usize,
        mut rows: Vec<Value>,
    ) -> Result<(), sqlx::Error> {
        while !rows.is_empty() {
            let rest = rows.split_off(rows.len().min(64 * width));
            let count = rows.len() / width.max(1);
            let chunk = CHUNKS.into_iter().rev().find(|n| *n >= count).unwrap_or(64);
            let empty: Vec<Value> = rows.iter().take(width).map(Value::emptied).collect();
            for _ in count..chunk {
                rows.extend(empty.iter().cloned());
            }
            let numbered = self.is_postgres();
            let text = if chunk == 1 {
                self.built(sql, chunk, |sql| {
                    sql.replace("{}", &row_placeholders(chunk, width, numbered))
                })
            } else {
                rows.push(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)));
                self.built(sql, chunk, |sql| {
                    let listed = row_placeholders(chunk, width, numbered);
                    let limit = placeholder(chunk * width + 1, numbered);
                    let some = format!("SELECT * FROM (VALUES {listed}) AS given LIMIT {limit}");
                    sql.replace("VALUES {}", &some)
                })
            };
            if numbered || chunk == 64 || self.script.values.len() >= SCRIPT_VALUES {
                self.execute(text, rows).await?;
            } else {
                self.script.text.push_str(&text);
                self.script.text.push(';');
                self.script.values.append(&mut rows);
            }
            rows = rest;
        }
        Ok(())
    }

    fn built(
        &mut self,
        sql: &'static str,
        count: usize,
        build: impl FnOnce(&str) -> String,
    ) -> Arc<str> {
        Arc::clone(
            self.built
                .entry((sql, count))
                .or_insert_with(|| build(sql).into()),
        )
    }

    /// Statements that were built so far.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<Arc<str>> {
        self.built.values().cloned().collect()
    }

    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self.raw {
            Raw::Sqlite(conn) => conn.close().await,
            Raw::Postgres(conn) => conn.close().await,
        }
    }
}

/// `$1, $2` for single values, `($1, $2), ($3, $4)` for rows; on SQLite `?` instead, because the
/// name of a parameter is found there by going through all of them.
fn placeholders(count: usize, width: usize, numbered: bool) -> String {
    if width == 1 {
        let list: Vec<String> = (1..=count).map(|n| placeholder(n, numbered)).collect();
        return list.join(", ");
    }
    row_placeholders(count, width, numbered)
}

fn placeholder(n: usize, numbered: bool) -> String {
    if numbered {
        format!("${n}")
    } else {
        "?".to_owned()
    }
}

fn row_placeholders(count: usize, width: usize, numbered: bool) -> String {
    let rows: Vec<String> = (0..count)
        .map(|row| {
            let list: Vec<String> = (1..=width)
                .map(|n| placeholder(row * width + n, numbered))
                .collect();
            format!("({})", list.join(", "))
        })
        .collect();
    rows.join(", ")
}

/// Connections for reading.
#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Pool {
    pub(crate) async fn fetch(
        &self,
        sql: impl Into<Arc<str>>,
        values: Vec<Value>,
    ) -> Result<Vec<Row>, sqlx::Error> {
        let sql = sql.into();
        match self {
            Self::Sqlite(pool) => sqlite_query(sql, values)
                .fetch_all(pool)
                .await
                .map(|rows| rows.into_iter().map(Row::Sqlite).collect()),
            Self::Postgres(pool) => postgres_query(sql, values)
                .fetch_all(pool)
                .await
                .map(|rows| rows.into_iter().map(Row::Postgres).collect()),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// What an error means for the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A constraint refused a row: one command is at fault, the others are not.
    Constraint,
    /// Two nodes met: the same again may work.
    Serialization,
    /// Anything else.
    Other,
}

pub(crate) fn fault(error: &sqlx::Error) -> Fault {
    let Some(error) = error.as_database_error() else {
        return Fault::Other;
    };
    if !matches!(error.kind(), sqlx::error::ErrorKind::Other) {
        return Fault::Constraint;
    }
    match error.code().as_deref() {
        // serialization_failure and deadlock_detected
        Some("40001" | "40P01") => Fault::Serialization,
        // Class 22, data exceptions: a value that the database does not take.
        Some(code) if code.len() == 5 && code.starts_with("22") => Fault::Constraint,
        _ => Fault::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_rows_are_numbered_through() {
        assert_eq!(placeholders(3, 1, true), "$1, $2, $3");
        assert_eq!(placeholders(2, 2, true), "($1, $2), ($3, $4)");
        assert_eq!(row_placeholders(2, 1, true), "($1), ($2)");
        assert_eq!(row_placeholders(2, 2, false), "(?, ?), (?, ?)");
    }
}
