//! One connection type over both databases.
//!
//! Text of statements is shared: `$1` placeholders, 64-bit integers, text and bytes mean the same
//! on both. Nulls are typed by the variant they come in, which PostgreSQL needs. This layer knows
//! no table.
//!
//! A statement of SQLite runs where it is called and is over when the call returns. To PostgreSQL
//! statements are sent one behind the other without waiting for answers; it runs them in that
//! order. A read is waited for when its rows are needed, a write when the transaction commits.

mod error;
mod postgres;
mod row;
mod server;
mod sqlite;
mod tls;
mod value;

pub(crate) use error::{Error, Fault};
pub(crate) use postgres::Listener;
pub(crate) use row::Row;
pub(crate) use server::Server;
pub(crate) use sqlite::{Access, Sqlite};
pub(crate) use value::{Value, signed};

use postgres::{Begun, Postgres};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{collections::HashMap, sync::Arc};

type Result<T> = std::result::Result<T, Error>;

/// Prepared statements kept per connection.
const STATEMENTS: usize = 512;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Raw {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// One connection: the writer's, or that of a migration.
pub(crate) struct Conn {
    raw: Raw,
    /// Statements as they are sent, by their shared text.
    built: Mutex<HashMap<&'static str, Arc<str>>>,
}

/// Rows of `width` values each, for a statement that has `VALUES {}` where they go.
pub(crate) struct Rows {
    pub(crate) sql: &'static str,
    pub(crate) width: usize,
    pub(crate) values: Vec<Value>,
}

/// Rows that were asked for.
pub(crate) struct Asked(AskedRows);

enum AskedRows {
    Here(Vec<Row>),
    Sent(Begun<Vec<Row>>),
}

impl Asked {
    /// Waits for the rows.
    pub(crate) async fn rows(self) -> Result<Vec<Row>> {
        match self.0 {
            AskedRows::Here(rows) => Ok(rows),
            AskedRows::Sent(begun) => begun.done().await,
        }
    }
}

impl Conn {
    pub(crate) fn sqlite(conn: Sqlite) -> Self {
        Self::new(Raw::Sqlite(conn))
    }

    /// Opens a connection to a server, served by the runtime it is opened in.
    pub(crate) async fn postgres(server: &Server) -> Result<Self> {
        let conn = Postgres::connect(server).await?;
        Ok(Self::new(Raw::Postgres(conn)))
    }

    fn new(raw: Raw) -> Self {
        Self {
            raw,
            built: Mutex::default(),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.raw, Raw::Postgres(_))
    }

    /// Runs statements without values, and all that was sent before.
    pub(crate) async fn batch(&self, sql: &str) -> Result<()> {
        match &self.raw {
            Raw::Sqlite(conn) => conn.batch(sql),
            Raw::Postgres(conn) => {
                conn.send_text(sql);
                conn.finish().await
            }
        }
    }

    /// Begins a transaction that may write.
    pub(crate) fn begin(&self) -> Result<()> {
        match &self.raw {
            Raw::Sqlite(conn) => conn.execute("BEGIN IMMEDIATE", &[]),
            Raw::Postgres(conn) => {
                conn.send_text("BEGIN");
                Ok(())
            }
        }
    }

    /// Commits, and gives the first error of a write that nobody waited for: a transaction in which
    /// a statement failed is rolled back by its `COMMIT`.
    pub(crate) async fn commit(&self) -> Result<()> {
        match &self.raw {
            Raw::Sqlite(conn) => conn.execute("COMMIT", &[]),
            Raw::Postgres(conn) => {
                conn.send_text("COMMIT");
                conn.finish().await
            }
        }
    }

    pub(crate) async fn rollback(&self) -> Result<()> {
        match &self.raw {
            // Some errors have rolled back already.
            Raw::Sqlite(conn) if !conn.is_in_transaction() => Ok(()),
            Raw::Sqlite(conn) => conn.execute("ROLLBACK", &[]),
            Raw::Postgres(conn) => {
                // Their errors are why it is rolled back.
                let _known = conn.finish().await;
                conn.send_text("ROLLBACK");
                conn.finish().await
            }
        }
    }

    /// Waits for all writes that were sent, and gives their first error.
    pub(crate) async fn settle(&self) -> Result<()> {
        match &self.raw {
            Raw::Sqlite(_) => Ok(()),
            Raw::Postgres(conn) => conn.finish().await,
        }
    }

    /// A write. On PostgreSQL it is sent, and its error comes with the commit.
    pub(crate) async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<()> {
        match &self.raw {
            Raw::Sqlite(conn) => conn.execute(sql, &values),
            Raw::Postgres(conn) => {
                conn.send(sql, values.into_iter().map(Into::into).collect())
                    .await
            }
        }
    }

    pub(crate) async fn fetch(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>> {
        self.ask(sql, values).await?.rows().await
    }

    /// Asks for rows: what is sent after this call is run after it.
    pub(crate) async fn ask(&self, sql: &str, values: Vec<Value>) -> Result<Asked> {
        let rows = match &self.raw {
            Raw::Sqlite(conn) => AskedRows::Here(conn.fetch(sql, &values)?),
            Raw::Postgres(conn) => {
                let params = values.into_iter().map(Into::into).collect();
                AskedRows::Sent(conn.ask(sql, params).await?)
            }
        };
        Ok(Asked(rows))
    }

    pub(crate) async fn fetch_in(
        &self,
        sql: &'static str,
        width: usize,
        keys: Vec<Value>,
    ) -> Result<Vec<Row>> {
        self.ask_in(sql, width, keys).await?.rows().await
    }

    /// Asks for the rows of a list of keys of `width` values each; `sql` has `{}` where the list
    /// goes, as in `id IN ({})` or, for keys of several values, `FROM (VALUES {}) AS want CROSS
    /// JOIN t WHERE t.a = want.column1 AND t.b = want.column2`.
    ///
    /// SQLite looks up one key after the other; PostgreSQL gets all of them as one array for each
    /// column. So one statement serves every number of keys.
    pub(crate) async fn ask_in(
        &self,
        sql: &'static str,
        width: usize,
        keys: Vec<Value>,
    ) -> Result<Asked> {
        if keys.is_empty() {
            return Ok(Asked(AskedRows::Here(Vec::new())));
        }
        let text = self.built(sql, width);
        let rows = match &self.raw {
            Raw::Sqlite(conn) => AskedRows::Here(conn.fetch_each(&text, width, &keys)?),
            Raw::Postgres(conn) => {
                AskedRows::Sent(conn.ask(&text, value::columns(width, keys)).await?)
            }
        };
        Ok(Asked(rows))
    }

    /// Writes rows of `width` values each; `sql` has `VALUES {}` where the rows go.
    pub(crate) async fn insert(
        &self,
        sql: &'static str,
        width: usize,
        rows: Vec<Value>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let text = self.built(sql, width);
        match &self.raw {
            Raw::Sqlite(conn) => conn.execute_each(&text, width, &rows),
            Raw::Postgres(conn) => conn.send(&text, value::columns(width, rows)).await,
        }
    }

    /// Writes rows of several statements, none of which looks at what another writes. PostgreSQL gets
    /// them as one: what it costs to send and to answer a statement is more than most rows cost.
    pub(crate) async fn insert_together(&self, mut parts: Vec<Rows>) -> Result<()> {
        parts.retain(|part| !part.values.is_empty());
        match &self.raw {
            Raw::Sqlite(_) => {
                for part in parts {
                    self.insert(part.sql, part.width, part.values).await?;
                }
                Ok(())
            }
            Raw::Postgres(_) if parts.is_empty() => Ok(()),
            Raw::Postgres(conn) => {
                let text = together(&parts);
                let params = parts
                    .into_iter()
                    .flat_map(|part| value::columns(part.width, part.values));
                conn.send(&text, params.collect()).await
            }
        }
    }

    fn built(&self, sql: &'static str, width: usize) -> Arc<str> {
        let mut built = lock(&self.built);
        let text = built.entry(sql).or_insert_with(|| {
            let text = match self.raw {
                Raw::Sqlite(_) => one_row(sql, width),
                Raw::Postgres(_) => arrays(sql, width, 1),
            };
            text.into()
        });
        Arc::clone(text)
    }

    /// Statements that were built so far.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<Arc<str>> {
        lock(&self.built).values().cloned().collect()
    }

    pub(crate) async fn close(self) {
        match self.raw {
            Raw::Sqlite(conn) => drop(conn),
            Raw::Postgres(conn) => conn.close().await,
        }
    }
}

/// One row, or one key, in the place of `{}`.
fn one_row(sql: &str, width: usize) -> String {
    let row = vec!["?"; width].join(", ");
    if sql.contains("({})") {
        return sql.replace("{}", &row);
    }
    sql.replace("{}", &format!("({row})"))
}

/// Arrays in the place of `{}`, one for each column, in the placeholders from `first` on. The columns
/// have the names that both databases give to those of a list of rows.
fn arrays(sql: &str, width: usize, first: usize) -> String {
    let list = |word: &str, first: usize| {
        let names: Vec<String> = (first..first + width)
            .map(|n| format!("{word}{n}"))
            .collect();
        names.join(", ")
    };
    if sql.contains("IN ({})") {
        return sql.replace("IN ({})", &format!("= ANY (${first})"));
    }
    let rows = format!("unnest({})", list("$", first));
    for name in ["want", "new"] {
        let listed = format!("(VALUES {{}}) AS {name}");
        if sql.contains(&listed) {
            let named = format!("{rows} AS {name} ({})", list("column", 1));
            return sql.replace(&listed, &named);
        }
    }
    sql.replace("VALUES {}", &format!("SELECT * FROM {rows}"))
}

/// One statement of several: all but the last stand in its `WITH`.
fn together(parts: &[Rows]) -> String {
    let mut first = 1;
    let mut texts = Vec::with_capacity(parts.len());
    for part in parts {
        texts.push(arrays(part.sql, part.width, first));
        first += part.width;
    }
    let last = texts.pop().unwrap_or_default();
    if texts.is_empty() {
        return last;
    }
    let before: Vec<String> = (1..)
        .zip(&texts)
        .map(|(n, text)| format!("part{n} AS ({text})"))
        .collect();
    format!("WITH {} {last}", before.join(", "))
}

/// Connections for reading.
#[derive(Clone)]
pub(crate) enum Pool {
    Sqlite(Arc<sqlite::Readers>),
    Postgres(Arc<postgres::Readers>),
}

impl Pool {
    /// At most `count` connections to a file; the first is opened now.
    pub(crate) fn sqlite(path: &std::path::Path, count: usize) -> Result<Self> {
        let readers = sqlite::Readers::open(path, count)?;
        Ok(Self::Sqlite(Arc::new(readers)))
    }

    /// At most `count` connections to a server; the first is opened now.
    pub(crate) async fn postgres(server: Server, count: usize) -> Result<Self> {
        let readers = postgres::Readers::open(server, count).await?;
        Ok(Self::Postgres(Arc::new(readers)))
    }

    /// Rows that an index finds: SQLite reads them where it is called.
    pub(crate) async fn fetch(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite(readers) => readers.fetch(sql, &values).await,
            Self::Postgres(readers) => readers.fetch(sql, values).await,
        }
    }

    /// Rows for which many others are looked at: SQLite reads them on a thread that may take its
    /// time.
    pub(crate) async fn scan(&self, sql: String, values: Vec<Value>) -> Result<Vec<Row>> {
        match self {
            Self::Sqlite(readers) => Arc::clone(readers).scan(sql, values).await,
            Self::Postgres(readers) => readers.fetch(&sql, values).await,
        }
    }

    pub(crate) fn close(&self) {
        match self {
            Self::Sqlite(readers) => readers.close(),
            Self::Postgres(readers) => readers.close(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_row_or_an_array_for_each_column() {
        let keys = "SELECT a FROM t WHERE id IN ({})";
        assert_eq!(one_row(keys, 1), "SELECT a FROM t WHERE id IN (?)");
        assert_eq!(arrays(keys, 1, 1), "SELECT a FROM t WHERE id = ANY ($1)");
        let pairs = "SELECT a FROM (VALUES {}) AS want CROSS JOIN t WHERE t.b = want.column2";
        assert_eq!(
            one_row(pairs, 2),
            "SELECT a FROM (VALUES (?, ?)) AS want CROSS JOIN t WHERE t.b = want.column2"
        );
        assert_eq!(
            arrays(pairs, 2, 1),
            "SELECT a FROM unnest($1, $2) AS want (column1, column2) CROSS JOIN t WHERE t.b = \
             want.column2"
        );
        let rows = "INSERT INTO t (a, b) VALUES {} ON CONFLICT (a) DO NOTHING";
        assert_eq!(
            one_row(rows, 2),
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT (a) DO NOTHING"
        );
        assert_eq!(
            arrays(rows, 2, 1),
            "INSERT INTO t (a, b) SELECT * FROM unnest($1, $2) ON CONFLICT (a) DO NOTHING"
        );
    }

    #[test]
    fn statements_that_do_not_look_at_each_other_become_one() {
        let part = |sql, width| Rows {
            sql,
            width,
            values: Vec::new(),
        };
        let insert = part("INSERT INTO t (a, b) VALUES {}", 2);
        let update = part(
            "UPDATE u SET a = new.column2 FROM (VALUES {}) AS new WHERE u.b = new.column1",
            2,
        );
        assert_eq!(
            together(&[insert, update]),
            "WITH part1 AS (INSERT INTO t (a, b) SELECT * FROM unnest($1, $2)) UPDATE u SET a = \
             new.column2 FROM unnest($3, $4) AS new (column1, column2) WHERE u.b = new.column1"
        );
        let alone = part("INSERT INTO t (a) VALUES {}", 1);
        assert_eq!(
            together(&[alone]),
            "INSERT INTO t (a) SELECT * FROM unnest($1)"
        );
    }
}
