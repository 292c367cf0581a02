//! A room in a temporary folder, with one mailbox and the contract's checks on every answer.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use postroom_app::{
    Actor, CallContext, Failure, Reply, Room,
    import::{self, ImportOptions, ImportReport},
    operation::{Surface, find},
    room::{Arrival, Received, RecipientVerdict, RoomOptions, Via},
};
use postroom_types::{Address, IdentityId, RequestId, Secret, TenantId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The mailbox of every world.
pub(crate) const MAILBOX: &str = "desk@harbour.example";
/// Longer than any test has to wait for a worker.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) room: Arc<Room>,
    pub(crate) folder: TempDir,
    pub(crate) identity: IdentityId,
    database: Option<TestDatabase>,
}

/// Runs `test` on SQLite, and on PostgreSQL when the environment names a server.
pub(crate) fn on_both(test: impl AsyncFn(World)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        test(World::new(None).await).await;
        if let Some(url) = fresh_database().await {
            test(World::new(Some(url)).await).await;
        }
    });
}

/// A new database on the test server.
async fn fresh_database() -> Option<TestDatabase> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told of a server this way"
    )]
    let server = std::env::var("POSTROOM_TEST_DATABASE_URL").ok()?;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("postroom_room_{}_{count}", std::process::id());
    let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls)
        .await
        .expect("the test server answers");
    tokio::spawn(connection);
    for sql in [
        format!("DROP DATABASE IF EXISTS {name}"),
        format!("CREATE DATABASE {name}"),
    ] {
        client
            .batch_execute(&sql)
            .await
            .expect("a database is made");
    }
    let (base, _) = server.rsplit_once('/').expect("a URL with a database");
    let url = format!("{base}/{name}");
    Some(TestDatabase { server, name, url })
}

/// A database of one test; it goes with it.
pub(crate) struct TestDatabase {
    server: String,
    name: String,
    url: String,
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (server, name) = (self.server.clone(), self.name.clone());
        // Drop cannot wait in the test's own runtime.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let connected = tokio_postgres::connect(&server, tokio_postgres::NoTls).await;
                // A server that has gone has no database to drop.
                if let Ok((client, connection)) = connected {
                    tokio::spawn(connection);
                    let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                    let _ = client.batch_execute(&sql).await;
                }
            });
        });
        let _ = dropping.join();
    }
}

async fn open(folder: &Path, database: Option<&TestDatabase>) -> Arc<Room> {
    let options = RoomOptions {
        database_url: database.map(|database| Secret::new(database.url.clone())),
        readers: 2,
        ..RoomOptions::new(folder.join("data"))
    };
    Room::open(options).await.expect("the room opens")
}

impl World {
    async fn new(database: Option<TestDatabase>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let room = open(folder.path(), database.as_ref()).await;
        let address = Address::parse(MAILBOX).expect("an address");
        let identity = room
            .mailbox(room.default_tenant(), &address)
            .await
            .expect("a mailbox");
        Self {
            room,
            folder,
            identity,
            database,
        }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.room.default_tenant()
    }

    /// Closes the room and opens it again on the same folder.
    pub(crate) async fn reopened(self) -> Self {
        self.room.close().await;
        drop(self.room);
        Self {
            room: open(self.folder.path(), self.database.as_ref()).await,
            ..self
        }
    }

    pub(crate) fn options(&self) -> ImportOptions {
        ImportOptions {
            tenant: self.tenant(),
            identity: self.identity,
            cancel: CancellationToken::new(),
        }
    }

    /// Imports files with these texts, named by their place.
    pub(crate) async fn import(&self, mails: &[String]) -> ImportReport {
        let folder = self.folder.path().join("mails");
        std::fs::create_dir_all(&folder).expect("a folder");
        for (place, mail) in mails.iter().enumerate() {
            std::fs::write(folder.join(format!("{place:05}.eml")), mail).expect("a file");
        }
        let report = import::run(&self.room, vec![folder], self.options(), |_| {}).await;
        assert!(report.stopped.is_none(), "{report:?}");
        self.indexed().await;
        report
    }

    pub(crate) async fn indexed(&self) {
        let indexed = self
            .room
            .indexed(self.tenant(), PATIENCE)
            .await
            .expect("a position");
        assert!(indexed, "the index never came up with the feed");
    }

    /// Receives by SMTP for the mailbox.
    pub(crate) async fn receive(&self, mail: &str) -> Received {
        self.receive_for(MAILBOX, mail).await
    }

    pub(crate) async fn receive_for(&self, recipient: &str, mail: &str) -> Received {
        let address = Address::parse(recipient).expect("an address");
        let RecipientVerdict::Accept(recipient) = self.room.recipient(&address).await else {
            panic!("the mailbox takes mail");
        };
        let arrival = Arrival {
            raw: mail.as_bytes().to_vec(),
            recipients: vec![recipient],
            via: Via::Smtp,
            source_ip: Some("192.0.2.1".to_owned()),
            mail_from: Some("ann@shore.example".to_owned()),
            headers: BTreeMap::new(),
        };
        self.room.receive(arrival).await.expect("it is kept")[0]
    }

    /// Calls as the tenant's holder acting for the mailbox; the answer fits the published schema.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        match self.try_call(name, arguments).await {
            Ok(answer) => answer,
            Err(failure) => panic!("{name}: {failure} {:?}", failure.details),
        }
    }

    pub(crate) async fn try_call(&self, name: &str, arguments: Value) -> Result<Value, Failure> {
        let context = self.context(Surface::Tool);
        self.call_in(name, arguments, &context).await
    }

    pub(crate) fn context(&self, surface: Surface) -> CallContext {
        CallContext::new(surface, RequestId::from_parts(1, 1), self.room.now())
    }

    pub(crate) async fn call_in(
        &self,
        name: &str,
        mut arguments: Value,
        context: &CallContext,
    ) -> Result<Value, Failure> {
        let operation = find(name).expect("an operation");
        if arguments.get("scope").is_none() {
            arguments["identity"] = json!(self.identity.to_string());
        }
        let actor = Actor::local_tenant(self.tenant());
        let reply = self
            .room
            .call(&actor, operation, arguments, context)
            .await?;
        let Reply::Json(answer) = reply else {
            panic!("{name} answers JSON")
        };
        let schema = jsonschema::validator_for(operation.output_schema()).expect("a schema");
        let errors: Vec<String> = schema
            .iter_errors(&answer)
            .map(|error| error.to_string())
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?} in {answer:#}");
        Ok(answer)
    }

    pub(crate) async fn search(&self, q: &str) -> Value {
        self.call("mail_search", json!({"q": q})).await
    }
}

/// A mail from Ann, with further header lines.
pub(crate) fn mail(number: usize, subject: &str, body: &str, more: &str) -> String {
    format!(
        "Received: from shore.example by harbour.example; Tue, 3 Nov 2026 10:{:02}:{:02} +0000\r\n\
         Message-ID: <m{number}@shore.example>\r\n\
         From: Ann Lee <ann@shore.example>\r\nTo: Desk <{MAILBOX}>\r\n\
         Date: Tue, 3 Nov 2026 09:{:02}:{:02} +0000\r\n\
         Subject: {subject}\r\n{more}\r\n{body}\r\n",
        number / 60 % 60,
        number % 60,
        number / 60 % 60,
        number % 60,
    )
}

/// The subjects of a search's hits, in order.
pub(crate) fn subjects(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().expect("hits");
    hits.iter()
        .map(|hit| hit["subject"].as_str().expect("a subject"))
        .collect()
}
