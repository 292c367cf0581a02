//! Connections to PostgreSQL that read.

use super::Postgres;
use crate::sql::{Error, Result, Row, Server, Value, lock, value::Param};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::{Semaphore, oneshot};

/// How long a read waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(10);

/// Connections that read.
pub(crate) struct Readers {
    server: Server,
    free: Mutex<Vec<Postgres>>,
    /// One for each connection that may be open.
    room: Semaphore,
    under_way: UnderWay,
}

/// A connection in use; it goes back when it is dropped, unless it is closed.
struct Taken<'a> {
    readers: &'a Readers,
    conn: Option<Postgres>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let usable = |conn: &Postgres| !conn.is_closed() && !self.readers.room.is_closed();
        if let Some(conn) = self.conn.take().filter(usable) {
            lock(&self.readers.free).push(conn);
        }
    }
}

impl Readers {
    pub(in crate::sql) async fn open(server: Server, count: usize) -> Result<Self> {
        let first = Postgres::connect(&server).await?;
        Ok(Self {
            server,
            free: Mutex::new(vec![first]),
            room: Semaphore::new(count.max(1)),
            under_way: UnderWay::default(),
        })
    }

    /// Rows as they are after this call. Of many that ask for the same at once one reads, and then
    /// one more for all the others.
    pub(in crate::sql) async fn fetch(
        self: &Arc<Self>,
        sql: &str,
        values: Vec<Value>,
    ) -> Result<Vec<Row>> {
        let question = Arc::new(Question {
            sql: sql.to_owned(),
            values,
        });
        let Some(answer) = self.under_way.join(&question) else {
            let _turn = Turn {
                readers: Arc::clone(self),
                question: Arc::clone(&question),
            };
            return self.read(&question).await;
        };
        match answer.await {
            Ok(rows) => Ok(rows),
            // The read for all failed, or was never begun; each finds out for itself.
            Err(_) => self.read(&question).await,
        }
    }

    async fn read(&self, question: &Question) -> Result<Vec<Row>> {
        let Question { sql, values } = question;
        let _room = tokio::time::timeout(ACQUIRE, self.room.acquire())
            .await
            .map_err(|_| Error::TimedOut)?
            .map_err(|_| Error::Closed)?;
        let free = self.free();
        if let Some(conn) = free {
            let params = values.iter().cloned().map(Into::into).collect();
            let found = self.read_by(conn, sql, params).await;
            // The server may have gone and come back since the connection was used.
            if !found.as_ref().is_err_and(Error::is_lost) {
                return found;
            }
        }
        let conn = Postgres::connect(&self.server).await?;
        let params = values.iter().cloned().map(Into::into).collect();
        self.read_by(conn, sql, params).await
    }

    fn free(&self) -> Option<Postgres> {
        let mut free = lock(&self.free);
        free.retain(|conn| !conn.is_closed());
        free.pop()
    }

    async fn read_by(&self, conn: Postgres, sql: &str, params: Vec<Param>) -> Result<Vec<Row>> {
        let taken = Taken {
            readers: self,
            conn: Some(conn),
        };
        let Some(conn) = &taken.conn else {
            return Err(Error::Closed);
        };
        conn.ask(sql, params).await?.done().await
    }

    pub(in crate::sql) fn close(&self) {
        self.room.close();
        lock(&self.free).clear();
    }
}

/// What is asked for.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    sql: String,
    values: Vec<Value>,
}

/// Reads under way, each with those that came too late for it: their rows must be as new as their
/// call.
#[derive(Default)]
struct UnderWay(Mutex<HashMap<Arc<Question>, Waiting>>);

/// Those who get the rows of a read.
type Waiting = Vec<oneshot::Sender<Vec<Row>>>;

impl UnderWay {
    /// Joins those that wait for the read behind the one under way; `None` when there is none, and
    /// the caller is to read, under a [`Turn`].
    fn join(&self, question: &Arc<Question>) -> Option<oneshot::Receiver<Vec<Row>>> {
        let mut under_way = lock(&self.0);
        match under_way.get_mut(question) {
            Some(waiting) => {
                let (sender, answer) = oneshot::channel();
                waiting.push(sender);
                Some(answer)
            }
            None => {
                under_way.insert(Arc::clone(question), Vec::new());
                None
            }
        }
    }

    /// Ends a read and gives those that wait for the next, which then is under way.
    fn next(&self, question: &Question) -> Waiting {
        let mut under_way = lock(&self.0);
        let waiting = under_way.get_mut(question).map(std::mem::take);
        let waiting = waiting.unwrap_or_default();
        if waiting.is_empty() {
            under_way.remove(question);
        }
        waiting
    }
}

/// A read under way. When it ends, also because nobody waits for it any more, the next begins.
struct Turn {
    readers: Arc<Readers>,
    question: Arc<Question>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let waiting = self.readers.under_way.next(&self.question);
        if waiting.is_empty() {
            return;
        }
        let turn = Self {
            readers: Arc::clone(&self.readers),
            question: Arc::clone(&self.question),
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(turn.read_for(waiting))),
            // Those that wait read for themselves, and there is nobody to begin the next.
            Err(_) => drop(waiting),
        }
    }
}

impl Turn {
    async fn read_for(self, waiting: Waiting) {
        if let Ok(rows) = self.readers.read(&self.question).await {
            for waiting in waiting {
                let _gone = waiting.send(rows.clone());
            }
        }
    }
}
