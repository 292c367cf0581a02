//! PostgreSQL, with several statements under way at once.

mod readers;

pub(crate) use readers::Readers;

use super::{Error, Result, Row, STATEMENTS, Server, lock, value::Param};
use bytes::BytesMut;
use futures_util::{StreamExt as _, TryStreamExt as _};
use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};
use tokio::{sync::watch, task::JoinHandle};
use tokio_postgres::{
    AsyncMessage, Client, Statement,
    types::{IsNull, ToSql, Type, to_sql_checked},
};

/// How long the server may take to see that a connection ends.
const GOODBYE: Duration = Duration::from_secs(1);

/// A future that has been looked at once, so that what it sends stands behind what was sent before.
pub(super) enum Begun<T> {
    Done(Result<T>),
    Waiting(Pin<Box<dyn Future<Output = Result<T>> + Send>>),
}

impl<T> Begun<T> {
    fn new(future: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let mut future = Box::pin(future);
        // Whoever waits for it looks again, with a waker of its own.
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(done) => Self::Done(done),
            Poll::Pending => Self::Waiting(future),
        }
    }

    pub(super) async fn done(self) -> Result<T> {
        match self {
            Self::Done(done) => done,
            Self::Waiting(future) => future.await,
        }
    }
}

impl Param {
    fn kind(&self) -> Type {
        match self {
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::BytesList(_) => Type::BYTEA_ARRAY,
        }
    }
}

impl ToSql for Param {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Int(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Bytes(value) => value.to_sql(kind, out),
            Self::Ints(list) => list.to_sql(kind, out),
            Self::Texts(list) => list.to_sql(kind, out),
            Self::BytesList(list) => list.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::INT8
                | Type::TEXT
                | Type::BYTEA
                | Type::INT8_ARRAY
                | Type::TEXT_ARRAY
                | Type::BYTEA_ARRAY
        )
    }

    to_sql_checked!();
}

/// One connection.
pub(super) struct Postgres {
    client: Arc<Client>,
    /// Moves bytes; ends with the connection.
    driver: JoinHandle<()>,
    prepared: Mutex<HashMap<Arc<str>, Statement>>,
    /// Writes that were sent and whose answers nobody has waited for.
    sent: Mutex<Vec<Begun<()>>>,
}

impl Postgres {
    /// Connects; the connection is served by the runtime in which this is called.
    pub(super) async fn connect(server: &Server) -> Result<Self> {
        let (client, connection) = server.connect().await?;
        let driver = tokio::spawn(async move {
            // Whoever waits for an answer hears of the error.
            let _ended = connection.await;
        });
        Ok(Self {
            client: Arc::new(client),
            driver,
            prepared: Mutex::default(),
            sent: Mutex::default(),
        })
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    async fn statement(&self, sql: &str, kinds: &[Type]) -> Result<Statement> {
        let known = lock(&self.prepared).get(sql).cloned();
        if let Some(statement) = known.filter(|statement| statement.params() == kinds) {
            return Ok(statement);
        }
        let statement = self.client.prepare_typed(sql, kinds).await;
        let statement = match statement {
            Ok(statement) => statement,
            Err(error) => {
                // After a statement that failed no other is taken: the first error is the one that
                // matters.
                self.finish().await?;
                return Err(error.into());
            }
        };
        let mut prepared = lock(&self.prepared);
        if prepared.len() >= STATEMENTS {
            prepared.clear();
        }
        prepared.insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// Sends a write; [`Self::finish`] gives its error.
    pub(super) async fn send(&self, sql: &str, params: Vec<Param>) -> Result<()> {
        let kinds: Vec<Type> = params.iter().map(Param::kind).collect();
        let statement = self.statement(sql, &kinds).await?;
        let client = Arc::clone(&self.client);
        self.put(async move {
            client.execute_raw(&statement, params).await?;
            Ok(())
        });
        Ok(())
    }

    /// Sends statements without values; [`Self::finish`] gives their error.
    pub(super) fn send_text(&self, sql: &str) {
        let client = Arc::clone(&self.client);
        let sql = sql.to_owned();
        self.put(async move { Ok(client.batch_execute(&sql).await?) });
    }

    fn put(&self, write: impl Future<Output = Result<()>> + Send + 'static) {
        lock(&self.sent).push(Begun::new(write));
    }

    /// Waits for everything that was sent, and gives the first error.
    pub(super) async fn finish(&self) -> Result<()> {
        let sent = std::mem::take(&mut *lock(&self.sent));
        let mut first = Ok(());
        for write in sent {
            let done = write.done().await;
            first = first.and(done);
        }
        first
    }

    /// Sends a read.
    pub(super) async fn ask(&self, sql: &str, params: Vec<Param>) -> Result<Begun<Vec<Row>>> {
        let kinds: Vec<Type> = params.iter().map(Param::kind).collect();
        let statement = self.statement(sql, &kinds).await?;
        let client = Arc::clone(&self.client);
        Ok(Begun::new(async move {
            let rows = client.query_raw(&statement, params).await?;
            let rows = rows.map_ok(|row| Row::Postgres(Arc::new(row)));
            Ok(rows.try_collect().await?)
        }))
    }

    /// Says goodbye, so that the server has no session left when this returns.
    pub(super) async fn close(self) {
        let Self {
            client,
            driver,
            prepared,
            sent,
        } = self;
        drop((client, prepared, sent));
        // A server that does not answer is left to notice by itself.
        let _ended = tokio::time::timeout(GOODBYE, driver).await;
    }
}

/// A connection that hears notifications.
pub(crate) struct Listener {
    // The connection lives as long as its client.
    _client: Client,
    heard: watch::Receiver<()>,
}

impl Listener {
    /// Listens on a channel to all nodes but the one called `own`.
    pub(crate) async fn open(server: &Server, channel: &str, own: String) -> Result<Self> {
        let (client, mut connection) = server.connect().await?;
        let (sender, heard) = watch::channel(());
        tokio::spawn(async move {
            let mut messages =
                futures_util::stream::poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                let others =
                    matches!(&message, AsyncMessage::Notification(it) if it.payload() != own);
                if others {
                    sender.send_replace(());
                }
            }
        });
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        Ok(Self {
            _client: client,
            heard,
        })
    }

    /// Waits for the next notifications; an error when the connection has ended.
    pub(crate) async fn heard(&mut self) -> Result<()> {
        self.heard.changed().await.map_err(|_| Error::Closed)
    }
}
