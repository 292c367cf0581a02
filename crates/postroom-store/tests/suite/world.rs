//! A store of its own for each test, on each database.

use postroom_core::{
    Command, CreateIdentity, CreateTenant, Draft, Import, ImportOutcome, Mode, NewAddress, Outcome,
    RawMail, Recipient, Refusal,
};
use postroom_store::{Clock, Store, StoreError, StoreOptions, WorkerScope};
use postroom_types::{
    Address, ErrorCode, IdentityId, Reach, Secret, TenantId, TenantScope, Timestamp,
};
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

/// 2026-11-30T12:00:00Z
pub(crate) const NOON: i64 = 1_796_040_000_000;

/// A tenant with one identity, and a clock that the test moves.
pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) options: StoreOptions,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) tenant: TenantId,
    pub(crate) identity: IdentityId,
    pub(crate) worker: WorkerScope,
    dir: Arc<tempfile::TempDir>,
}

/// Runs `test` on SQLite, and on PostgreSQL when there is a server.
pub(crate) fn on_both<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("runtime");
    runtime.block_on(async {
        run(&test, World::open(None).await).await;
        if let Some((server, name)) = fresh_schema().await {
            let and = if server.contains('?') { '&' } else { '?' };
            let url = format!("{server}{and}options=-c%20search_path%3D{name}");
            run(&test, World::open(Some(url)).await).await;
            administer(&server, &format!("DROP SCHEMA {name} CASCADE")).await;
        }
    });
}

/// Keeps the folder until the test is over, whatever parts of the world the test takes.
async fn run<F: Future<Output = ()>>(test: impl Fn(World) -> F, world: World) {
    let dir = Arc::clone(&world.dir);
    test(world).await;
    drop(dir);
}

async fn administer(server: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(server, tokio_postgres::NoTls)
        .await
        .expect("the test server answers");
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.expect("done");
    drop(client);
    connection.await.expect("ends").expect("closes");
}

/// The test server, and the name of a new schema in its database, which stands for a database of
/// the test's own.
async fn fresh_schema() -> Option<(String, String)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are told of a server this way"
    )]
    let server = std::env::var("POSTROOM_TEST_DATABASE_URL").ok()?;
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!(
        "postroom_test_{}_{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    administer(&server, &format!("DROP SCHEMA IF EXISTS {name} CASCADE")).await;
    administer(&server, &format!("CREATE SCHEMA {name}")).await;
    Some((server, name))
}

impl World {
    pub(crate) async fn open(url: Option<String>) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("dir"));
        let clock = Arc::new(AtomicI64::new(NOON));
        let options = options(dir.path(), url, &clock);
        let store = Store::open(options.clone()).await.expect("opens");
        let worker = store.take_worker_scope().expect("first");
        let tenant = create_tenant(&store, "acme").await;
        let identity = create_identity(&store, tenant, "agent@acme.example").await;
        Self {
            store,
            options,
            clock,
            tenant,
            identity,
            worker,
            dir,
        }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopen(self) -> Self {
        let Self {
            store,
            options,
            clock,
            tenant,
            identity,
            dir,
            ..
        } = self;
        store.close().await;
        drop(store);
        let store = Store::open(options.clone()).await.expect("opens again");
        let worker = store.take_worker_scope().expect("first");
        Self {
            store,
            options,
            clock,
            tenant,
            identity,
            worker,
            dir,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn advance(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.clock.load(Ordering::Relaxed))
    }

    pub(crate) fn tenant_scope(&self) -> TenantScope {
        TenantScope::granted(self.tenant, Reach::Tenant)
    }

    pub(crate) fn scope(&self) -> TenantScope {
        TenantScope::granted(self.tenant, Reach::Identity(self.identity))
    }

    pub(crate) fn recipient(&self) -> Recipient {
        Recipient {
            tenant: self.tenant,
            identity: self.identity,
            delivered_to: Some("agent+x@acme.example".to_owned()),
        }
    }

    pub(crate) fn import_command(&self, mail: &str) -> Command {
        import_command(self.recipient(), mail)
    }

    /// Imports mails in one call.
    pub(crate) async fn import(&self, mails: &[String]) -> Vec<ImportOutcome> {
        let commands = mails.iter().map(|mail| self.import_command(mail)).collect();
        let answers = self.store.transact_all(commands).await.expect("commits");
        answers
            .into_iter()
            .map(|answer| match answer {
                Ok(Outcome::Imported(outcome)) => outcome,
                other => panic!("{other:?}"),
            })
            .collect()
    }
}

pub(crate) fn options(dir: &Path, url: Option<String>, clock: &Arc<AtomicI64>) -> StoreOptions {
    let reading = Arc::clone(clock);
    let clock: Clock = Arc::new(move || Timestamp::from_ms(reading.load(Ordering::Relaxed)));
    StoreOptions {
        data_dir: dir.to_owned(),
        database_url: url.map(Secret::new),
        secret: None,
        clock,
        readers: 2,
    }
}

pub(crate) async fn create_tenant(store: &Store, slug: &str) -> TenantId {
    let command = Command::CreateTenant(CreateTenant {
        slug: slug.to_owned(),
        name: String::new(),
        mode: Mode::Live,
        timezone: "UTC".to_owned(),
        address_suffix: None,
    });
    match store.transact(command).await.expect("created") {
        Outcome::Tenant(row) => row.id,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn new_identity(tenant: TenantId, address: &str) -> CreateIdentity {
    CreateIdentity {
        tenant,
        address: NewAddress::Address(Address::parse(address).expect("an address")),
        display_name: String::new(),
        purpose: None,
        owner: None,
        metadata: std::collections::BTreeMap::new(),
        client_id: None,
    }
}

pub(crate) async fn create_identity(store: &Store, tenant: TenantId, address: &str) -> IdentityId {
    let command = Command::CreateIdentity(new_identity(tenant, address));
    match store.transact(command).await.expect("created") {
        Outcome::Identity { row, created, .. } => {
            assert!(created);
            row.id
        }
        other => panic!("{other:?}"),
    }
}

/// A made-up mail; `refs` are In-Reply-To and References.
pub(crate) fn mail(id: &str, refs: &[&str], from: &str, subject: &str) -> String {
    let mut out = format!(
        "From: {from}\r\nTo: agent@acme.example\r\nSubject: {subject}\r\n\
         Date: Mon, 30 Nov 2026 11:00:00 +0000\r\nMessage-ID: <{id}>\r\n"
    );
    if !refs.is_empty() {
        let refs: Vec<String> = refs.iter().map(|id| format!("<{id}>")).collect();
        out.push_str(&format!("References: {}\r\n", refs.join(" ")));
    }
    out.push_str(&format!("\r\nThe body of {id}.\r\n"));
    out
}

pub(crate) fn draft(raw: &str) -> Draft {
    Draft::read(raw.as_bytes(), None)
}

pub(crate) fn import_command(recipient: Recipient, raw: &str) -> Command {
    Command::Import(Box::new(Import {
        recipient,
        draft: draft(raw),
        raw: RawMail::new(raw.as_bytes().to_vec()),
        provider: "import".to_owned(),
        file_time: None,
        unread: true,
        labels: Vec::new(),
    }))
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, StoreError>) -> ErrorCode {
    match result.expect_err("refused") {
        StoreError::Refused(refusal) => refusal.code(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn refused(answer: &Result<Outcome, Refusal>) -> ErrorCode {
    answer.as_ref().expect_err("refused").code()
}
