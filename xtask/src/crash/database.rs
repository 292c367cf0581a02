//! The database seen from outside: Python's sqlite3 module and psql read it, not the product's code.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::process;

/// One recipient of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SendRow {
    /// The Message-ID without brackets.
    pub(crate) id: String,
    /// How far the send is.
    pub(crate) state: String,
    /// The recipient.
    pub(crate) address: String,
    /// What became of it for them.
    pub(crate) status: String,
}

/// One database under test.
pub(crate) enum Database {
    /// A file in the data folder.
    Sqlite(PathBuf),
    /// A database of its own in the cluster, by URL.
    Postgres(String),
}

impl Database {
    /// SQLite in `folder/data`, or a fresh database in the cluster of `postgres`.
    pub(crate) fn new(folder: &Path, postgres: Option<&str>) -> Result<Self> {
        let Some(cluster) = postgres else {
            return Ok(Self::Sqlite(folder.join("data").join("postroom.sqlite")));
        };
        let name = format!(
            "crash_{}",
            folder
                .file_name()
                .map(|name| name
                    .to_string_lossy()
                    .replace(['.', '-'], "_")
                    .to_lowercase())
                .unwrap_or_default()
        );
        process::check(Command::new("psql").args([
            "-q",
            cluster,
            "-c",
            &format!("CREATE DATABASE \"{name}\""),
        ]))?;
        let (server, _) = cluster.rsplit_once('/').unwrap_or((cluster, ""));
        Ok(Self::Postgres(format!("{server}/{name}")))
    }

    /// Its name for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "sqlite",
            Self::Postgres(_) => "postgresql",
        }
    }

    /// Points a command of the product at it.
    pub(crate) fn configure(&self, command: &mut Command) {
        if let Self::Postgres(url) = self {
            command.env("POSTROOM_DATABASE_URL", url);
        }
    }

    /// How often each content was stored, by the digest of its bytes in upper-case hexadecimal.
    pub(crate) fn contents(&self) -> Result<BTreeMap<String, usize>> {
        let digest = match self {
            Self::Sqlite(_) => "hex(sha256)",
            Self::Postgres(_) => "upper(encode(sha256, 'hex'))",
        };
        let rows = self.query(&format!(
            "SELECT {digest}, count(*) FROM events WHERE family = 'mail' GROUP BY sha256"
        ))?;
        Ok(rows
            .lines()
            .filter_map(|row| row.split_once('|'))
            .map(|(id, count)| (id.to_owned(), count.parse().unwrap_or(0)))
            .collect())
    }

    /// How often each signed delivery was stored, by the id that its sender gave it.
    pub(crate) fn deliveries(&self) -> Result<BTreeMap<String, usize>> {
        let rows = self.query(
            "SELECT external_key, count(*) FROM events WHERE provider = 'github' GROUP BY external_key",
        )?;
        Ok(rows
            .lines()
            .filter_map(|row| row.split_once('|'))
            .map(|(key, count)| {
                let id = key.rsplit(':').next().unwrap_or(key);
                (id.to_owned(), count.parse().unwrap_or(0))
            })
            .collect())
    }

    /// How many todos there are.
    pub(crate) fn todos(&self) -> Result<usize> {
        Ok(self.query("SELECT count(*) FROM todos")?.trim().parse()?)
    }

    /// How many todos are not done.
    pub(crate) fn todos_left(&self) -> Result<usize> {
        let count = self.query("SELECT count(*) FROM todos WHERE state <> 'done'")?;
        Ok(count.trim().parse()?)
    }

    /// How many attempts completed each todo that is done.
    pub(crate) fn completions(&self) -> Result<BTreeMap<String, usize>> {
        let id = match self {
            Self::Sqlite(_) => "hex(todos.id)",
            Self::Postgres(_) => "encode(todos.id, 'hex')",
        };
        let rows = self.query(&format!(
            "SELECT {id}, count(todo_attempts.seq) FROM todos LEFT JOIN todo_attempts ON \
             todo_attempts.tenant_id = todos.tenant_id AND todo_attempts.todo_id = todos.id AND \
             todo_attempts.outcome = 'completed' WHERE todos.state = 'done' GROUP BY todos.id"
        ))?;
        Ok(rows
            .lines()
            .filter_map(|row| row.split_once('|'))
            .map(|(id, count)| (id.to_owned(), count.parse().unwrap_or(0)))
            .collect())
    }

    /// The longest time that an attempt which nobody ended outlived its lease, milliseconds.
    pub(crate) fn longest_stuck_ms(&self) -> Result<i64> {
        let longest = self.query(
            "SELECT coalesce(max(ended_at - lease_expires_at), 0) FROM todo_attempts WHERE \
             outcome IN ('reaped', 'lease_expired')",
        )?;
        Ok(longest.trim().parse()?)
    }

    /// Every recipient of every send.
    pub(crate) fn sends(&self) -> Result<Vec<SendRow>> {
        let rows = self.query(
            "SELECT sends.rfc_message_id, sends.state, deliveries.address, deliveries.status FROM sends JOIN \
             deliveries ON deliveries.message_id = sends.message_id",
        )?;
        let read = |row: &str| {
            let mut columns = row.split('|').map(str::to_owned);
            let mut next = || columns.next().unwrap_or_default();
            SendRow {
                id: next(),
                state: next(),
                address: next(),
                status: next(),
            }
        };
        Ok(rows.lines().map(read).collect())
    }

    /// How many messages there are.
    pub(crate) fn messages(&self) -> Result<usize> {
        Ok(self
            .query("SELECT count(*) FROM messages")?
            .trim()
            .parse()?)
    }

    /// How many arrivals have not been read yet.
    pub(crate) fn pending(&self) -> Result<usize> {
        Ok(self
            .query("SELECT count(*) FROM events WHERE state = 'pending'")?
            .trim()
            .parse()?)
    }

    /// Rows as lines, columns parted by `|`.
    fn query(&self, sql: &str) -> Result<String> {
        match self {
            Self::Sqlite(path) => {
                const SCRIPT: &str = "import sqlite3,sys\nfor row in sqlite3.connect(sys.argv[1], timeout=20).execute(sys.argv[2]): print('|'.join(map(str, row)))";
                process::output(
                    Command::new("python3")
                        .args(["-c", SCRIPT])
                        .arg(path)
                        .arg(sql),
                )
            }
            Self::Postgres(url) => {
                process::output(Command::new("psql").args(["-At", url, "-c", sql]))
            }
        }
    }
}
