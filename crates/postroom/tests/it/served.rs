//! The executable as a server and as a command.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::Value;

/// The executable, told nothing by the environment of the tests.
pub(crate) fn postroom(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postroom"));
    let told =
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POSTROOM_"));
    for (name, _) in told {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// What a command answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answered {
    /// The last line of standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        let line = self.out.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a command to its end.
pub(crate) fn run(folder: &Path, words: &[&str]) -> Answered {
    let output = postroom(folder)
        .args(words)
        .output()
        .expect("the executable runs");
    Answered {
        exit: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn browser() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .expect("a client")
}

/// A running server in a folder of its own.
pub(crate) struct Served {
    child: Child,
    pub(crate) ready: Value,
    folder: tempfile::TempDir,
    database: Option<TestDatabase>,
    pub(crate) http: reqwest::Client,
}

/// Runs `test` on SQLite, and on PostgreSQL when the environment names a server.
pub(crate) fn on_both<F: Future<Output = ()>>(command: &str, test: impl Fn(Served) -> F) {
    on_both_told(command, "", test);
}

/// As [`on_both`], with a configuration file that says this.
pub(crate) fn on_both_told<F: Future<Output = ()>>(
    command: &str,
    file: &str,
    test: impl Fn(Served) -> F,
) {
    let told = |database| {
        let folder = tempfile::tempdir().expect("a folder");
        if !file.is_empty() {
            std::fs::write(folder.path().join("postroom.toml"), file).expect("written");
        }
        Served::start_in(folder, command, database)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("runtime");
    runtime.block_on(async {
        test(told(None)).await;
        // The demo brings its own database unless it is told of a folder.
        if let Some(url) = fresh_database().await {
            test(told(Some(url))).await;
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
    let name = format!(
        "postroom_it_{}_{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
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

impl Served {
    /// Follows the owner link; gives the session's cookie.
    pub(crate) async fn sign_in(&self) -> String {
        let entered = browser().get(self.text("owner_link")).send().await;
        let entered = entered.expect("an answer");
        let cookie = entered.headers()["set-cookie"].to_str().expect("text");
        cookie.split(';').next().expect("a pair").to_owned()
    }

    /// What a browser gets, with the cookie of a session or without: the status and the body. It
    /// follows nothing.
    pub(crate) async fn page(
        &self,
        cookie: Option<&str>,
        method: &str,
        path: &str,
    ) -> (u16, String) {
        let method = method.parse().expect("a method");
        let request = browser().request(method, format!("{}{path}", self.local_url()));
        // As a browser does for a form of our page, whose referrer policy lets it name its origin.
        let request = request.header("origin", self.local_url());
        let request = match cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        };
        let answer = request.send().await.expect("an answer");
        let policy = answer.headers().get("referrer-policy");
        assert!(
            policy.is_none_or(|policy| policy == "same-origin"),
            "{policy:?}"
        );
        let status = answer.status().as_u16();
        (status, answer.text().await.expect("a body"))
    }

    /// Starts `serve` or `demo` in a fresh folder.
    pub(crate) fn start(command: &str, database: Option<TestDatabase>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self::start_in(folder, command, database)
    }

    /// Starts `serve` in a fresh folder with this configuration file.
    pub(crate) fn configured(file: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("postroom.toml"), file).expect("written");
        Self::start_in(folder, "serve", None)
    }

    fn start_in(folder: tempfile::TempDir, command: &str, database: Option<TestDatabase>) -> Self {
        let (child, ready) = spawn(command, folder.path(), url_of(database.as_ref()));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        Self {
            child,
            ready,
            folder,
            database,
            http,
        }
    }

    /// The folder in which commands run; the data folder lies in it.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command that finds the server by the data folder.
    pub(crate) fn command(&self, words: &[&str]) -> Answered {
        run(self.folder(), words)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.ready
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("{name}: {}", self.ready))
    }

    /// An agent's key.
    pub(crate) fn key(&self) -> &str {
        self.text("key")
    }

    /// The tenant's key.
    pub(crate) fn admin(&self) -> &str {
        self.text("admin_key")
    }

    /// The address under which this machine reaches it, whatever its public one is.
    pub(crate) fn local_url(&self) -> String {
        let url = self.text("url");
        if url.starts_with("http://127.0.0.1:") {
            return url.to_owned();
        }
        let file = self.folder().join("postroom-data/server.json");
        let text = std::fs::read_to_string(file).expect("a running server");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        file["url"].as_str().expect("a URL").to_owned()
    }

    /// Sends a request with a key; gives status, headers and body.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: Option<Value>,
    ) -> Reply {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self
            .http
            .request(method, format!("{}{path}", self.local_url()));
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        Reply::of(request.send().await.expect("an answer")).await
    }

    /// Ends the server as a service manager does, and says whether it ended well.
    pub(crate) fn stop(&mut self) -> bool {
        signal(&self.child, "-TERM");
        self.child.wait().expect("an end").success()
    }

    /// Ends the server without a word.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again over the same data.
    pub(crate) fn start_again(&mut self) {
        let (child, ready) = spawn("serve", self.folder.path(), url_of(self.database.as_ref()));
        self.child = child;
        self.ready = ready;
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a child.
pub(crate) fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .arg(signal)
        .arg(child.id().to_string())
        .status();
    assert!(sent.is_ok_and(|status| status.success()));
}

fn url_of(database: Option<&TestDatabase>) -> Option<&str> {
    database.map(|database| database.url.as_str())
}

fn spawn(command: &str, folder: &Path, database: Option<&str>) -> (Child, Value) {
    let mut told = postroom(folder);
    told.args([
        command,
        "--data",
        "postroom-data",
        "--listen",
        "127.0.0.1:0",
        "--smtp",
        "127.0.0.1:0",
        "--json",
    ]);
    if let Some(url) = database {
        told.env("POSTROOM_DATABASE_URL", url);
    }
    let mut child = told
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the executable runs");
    let out = child.stdout.take().expect("standard output");
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).expect("a line");
    let ready = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (child, ready)
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) async fn of(response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.text().await.expect("a body"),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of an error, after a look at its envelope.
    pub(crate) fn code(&self) -> String {
        let body = self.json();
        let error = body
            .get("error")
            .unwrap_or_else(|| panic!("no error: {self:?}"));
        for name in ["code", "message", "fix", "request_id"] {
            assert!(error[name].is_string(), "{name}: {self:?}");
        }
        assert!(error["retryable"].is_boolean());
        assert_eq!(error["request_id"].as_str(), self.header("request-id"));
        error["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The body without what differs in every answer.
    pub(crate) fn without_request_id(&self) -> String {
        let mut body = self.json();
        if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
            error.remove("request_id");
        }
        body.to_string()
    }
}
