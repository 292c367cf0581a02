//! `serve`: the room behind HTTP, SMTP and LMTP, until a signal ends it.

use std::{net::SocketAddr, process::ExitCode, sync::Arc};

use postroom_api::{ApiConfig, serve_http};
use postroom_app::{Actor, CallContext, Reply, Room, operation, operation::Surface};
use postroom_net::{
    smtp::{self, Protocol, SmtpOptions},
    tls,
};
use postroom_types::Secret;
use serde_json::{Map, Value, json};
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::Done;
use crate::{
    cli::{Serve, alias::used, terminal::Terminal, trouble::Trouble},
    config::{self, Config},
    connection::{open_trouble, room_options},
    folder::ServerFile,
};

/// How often server.json is looked at.
const RENEWAL: std::time::Duration = std::time::Duration::from_secs(2);

/// The configuration with the command's own options over it.
pub(super) fn listening(mut config: Config, options: &Serve) -> Result<Config, Trouble> {
    let wrong = |option: &str, expected: &str| {
        Trouble::usage(
            format!("{option} is not valid: expected {expected}."),
            format!("Give {expected}."),
        )
    };
    if let Some(listen) = &options.listen {
        config.listen = config::address(listen).map_err(|expected| wrong("--listen", expected))?;
    }
    if let Some(smtp) = &options.smtp {
        config.smtp = config::listener(smtp).map_err(|expected| wrong("--smtp", expected))?;
    }
    if let Some(lmtp) = &options.lmtp {
        config.lmtp = config::listener(lmtp).map_err(|expected| wrong("--lmtp", expected))?;
    }
    Ok(config)
}

/// Runs the server.
pub(super) async fn run(config: Config, terminal: Terminal) -> Done {
    let server = Server::open(&config).await?;
    let secrets = server.first_secrets().await?;
    server.serve(&secrets, terminal).await
}

/// An open room with bound listeners.
pub(super) struct Server {
    pub(super) room: Arc<Room>,
    config: Config,
    http: TcpListener,
    smtp: Option<TcpListener>,
    lmtp: Option<TcpListener>,
    certificate: Arc<rustls::ServerConfig>,
    url: String,
}

/// What a start shows once.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    /// An agent's key for the first identity.
    pub(super) key: Option<String>,
    /// A key over the tenant.
    pub(super) admin_key: Option<String>,
    /// The token of the owner link.
    pub(super) owner_link: Option<String>,
    /// Further lines for a person.
    pub(super) hello: Vec<String>,
    /// What the demo holds beside its mail.
    pub(super) demo: Option<Value>,
}

impl Server {
    /// Binds the listeners, then opens the room: a port in use is said before anything is made.
    pub(super) async fn open(config: &Config) -> Result<Self, Trouble> {
        // A file of `[egress]` that cannot be used is said now and not at the first replay.
        let mut options = room_options(config)?;
        options.hands_over = true;
        let http = bind(config.listen, "--listen").await?;
        let smtp = match config.smtp {
            Some(address) => Some(bind(address, "--smtp").await?),
            None => None,
        };
        let lmtp = match config.lmtp {
            Some(address) => Some(bind(address, "--lmtp").await?),
            None => None,
        };
        let url = config
            .public_url
            .clone()
            .unwrap_or_else(|| local_url(&http));
        options.url.clone_from(&url);
        if let Some(egress) = &options.egress {
            let listeners = [Some(&http), smtp.as_ref(), lmtp.as_ref()];
            for listener in listeners.into_iter().flatten() {
                if let Ok(address) = listener.local_addr() {
                    egress.listens_at(address);
                }
            }
        }
        let room = Room::open(options)
            .await
            .map_err(|error| open_trouble(&error, &config.data))?;
        // Before keys are made: they are shown once, by a start that succeeds.
        let certificate = match (&config.tls_certificate, &config.tls_key) {
            (Some(certificate), Some(key)) => tls::from_pem(certificate, key),
            _ => tls::self_made(&config.data, &config.hostname),
        };
        let certificate =
            certificate.map_err(|error| Trouble::io(with_cause(&error), tls_fix(config)))?;
        Ok(Self {
            room,
            config: config.clone(),
            http,
            smtp,
            lmtp,
            certificate,
            url,
        })
    }

    /// Keys and link of a first start; a first mailbox when there is none, so that there is
    /// something to act as.
    async fn first_secrets(&self) -> Result<Secrets, Trouble> {
        let mut secrets = self.owner_secrets().await?;
        if secrets.admin_key.is_some() {
            let identity = match self.first_identity().await? {
                Some(identity) => identity,
                None => {
                    let address = format!("agent@{}", self.config.hostname);
                    self.call(
                        used::CREATE_MAILBOX,
                        json!({"address": address, "display_name": "Agent"}),
                    )
                    .await?
                }
            };
            secrets.key = self.agent_key(&identity).await?;
        }
        Ok(secrets)
    }

    /// The tenant's key and the owner link.
    pub(super) async fn owner_secrets(&self) -> Result<Secrets, Trouble> {
        let first = self
            .room
            .first_start()
            .await
            .map_err(|error| open_trouble(&error, &self.config.data))?;
        let exposed = |secret: Option<Secret<String>>| secret.map(|secret| secret.expose().clone());
        Ok(Secrets {
            key: None,
            admin_key: exposed(first.admin_key),
            owner_link: exposed(first.owner_link),
            ..Secrets::default()
        })
    }

    async fn first_identity(&self) -> Result<Option<Value>, Trouble> {
        let listed = self.call(used::LIST_MAILBOXES, json!({"limit": 1})).await?;
        Ok(listed.pointer("/data/0").cloned())
    }

    /// A new agent's key for an identity.
    pub(super) async fn agent_key(&self, identity: &Value) -> Result<Option<String>, Trouble> {
        let arguments =
            json!({"name": "first agent", "level": "identity", "identity": identity.get("id")});
        let key = self.call(used::CREATE_KEY, arguments).await?;
        Ok(key.get("secret").and_then(Value::as_str).map(str::to_owned))
    }

    /// Calls an operation as the holder of the data folder, for the first tenant.
    pub(super) async fn call(
        &self,
        name: &'static str,
        arguments: Value,
    ) -> Result<Value, Trouble> {
        let row = operation::find(name).ok_or_else(|| {
            Trouble::usage(format!("There is no operation {name}."), "Report this.")
        })?;
        let actor = Actor::local_tenant(self.room.default_tenant());
        let now = self.room.now();
        let context = CallContext::new(Surface::Rest, postroom_app::random::request_id(now), now);
        match self.room.call(&actor, row, arguments, &context).await? {
            Reply::Json(value) => Ok(value),
            Reply::Bytes(_) => Ok(Value::Null),
        }
    }

    /// Serves until a signal; then lets running exchanges end and closes the room.
    pub(super) async fn serve(self, secrets: &Secrets, terminal: Terminal) -> Done {
        let stop = CancellationToken::new();
        let local_key = local_key()?;
        let written = ServerFile {
            url: local_url(&self.http),
            key: local_key.clone(),
            tenant_id: self.room.default_tenant(),
            pid: std::process::id(),
        };
        let file = written.write(&self.config.data).map_err(|error| {
            Trouble::io(
                format!("server.json cannot be written: {error}."),
                "Look at the permissions of the data folder.",
            )
        })?;
        let ready = self.ready(secrets);
        let room = Arc::clone(&self.room);
        let tasks = self.start(local_key, &stop)?;
        // Before anybody is told that it runs: a signal right after that ends it as any other.
        let mut signals = Signals::listen()?;
        if terminal.json {
            terminal.value(&ready);
        } else {
            terminal.line(&banner(terminal, &ready, &secrets.hello));
        }
        while tokio::time::timeout(RENEWAL, signals.next()).await.is_err() {
            file.renew(&written);
        }
        tracing::info!("stopping");
        stop.cancel();
        tasks.close();
        tasks.wait().await;
        room.close().await;
        drop(file);
        Ok(ExitCode::SUCCESS)
    }

    /// Starts the listeners.
    fn start(self, local_key: String, stop: &CancellationToken) -> Result<TaskTracker, Trouble> {
        let tasks = TaskTracker::new();
        let api = ApiConfig {
            hosts: hosts(&self.config, &self.url),
            url_is_public: self.config.public_url.is_some(),
            trusted_proxies: self
                .config
                .trusted_proxies
                .iter()
                .map(|range| *range.net())
                .collect(),
            url: self.url,
            data: self.config.data.display().to_string(),
            local_key: Some(Arc::new(Secret::new(local_key))),
            shutdown: stop.clone(),
        };
        let router = postroom_api::router(Arc::clone(&self.room), api);
        let (http, http_stop) = (self.http, stop.clone());
        tasks.spawn(async move {
            if let Err(error) = serve_http(http, router, http_stop).await {
                tracing::error!(%error, "HTTP ended");
            }
        });
        for (listener, protocol) in [(self.smtp, Protocol::Smtp), (self.lmtp, Protocol::Lmtp)] {
            let Some(listener) = listener else { continue };
            let mut options = SmtpOptions::new(self.config.hostname.clone(), protocol);
            options.tls = Some(Arc::clone(&self.certificate));
            let (sink, smtp_stop) = (Arc::clone(&self.room), stop.clone());
            tasks.spawn(async move {
                if let Err(error) = smtp::serve(listener, options, sink, smtp_stop).await {
                    tracing::error!(%error, "SMTP ended");
                }
            });
        }
        Ok(tasks)
    }

    /// The line that says the server is ready.
    fn ready(&self, secrets: &Secrets) -> Value {
        let data =
            std::fs::canonicalize(&self.config.data).unwrap_or_else(|_| self.config.data.clone());
        let mut ready = Map::new();
        let mut say = |name: &str, value: Value| ready.insert(name.to_owned(), value);
        say("url", self.url.as_str().into());
        say("mcp_url", format!("{}/mcp", self.url).into());
        say("key", secrets.key.clone().into());
        say("admin_key", secrets.admin_key.clone().into());
        say(
            "owner_link",
            secrets
                .owner_link
                .as_ref()
                .map(|token| format!("{}/owner/{token}", self.url))
                .into(),
        );
        say("smtp", address_of(self.smtp.as_ref()));
        say("data", data.display().to_string().into());
        say("database", self.room.database().kind.into());
        if let Some(demo) = &secrets.demo {
            say("demo", demo.clone());
        }
        if self.lmtp.is_some() {
            say("lmtp", address_of(self.lmtp.as_ref()));
        }
        Value::Object(ready)
    }
}

/// An error and what lies under it, as one sentence.
pub(super) fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}."),
        None => format!("{error}."),
    }
}

/// What to do about a certificate that cannot be used.
pub(super) fn tls_fix(config: &Config) -> String {
    match (&config.tls_certificate, &config.tls_key) {
        (Some(certificate), Some(key)) => format!(
            "Correct tls_certificate ({}) and tls_key ({}): PEM files that belong together.",
            certificate.display(),
            key.display()
        ),
        _ => {
            let [certificate, key] = tls::self_made_files(&config.data);
            format!(
                "Remove {} and {}; the next start of the server makes them anew.",
                certificate.display(),
                key.display()
            )
        }
    }
}

fn address_of(listener: Option<&TcpListener>) -> Value {
    listener
        .and_then(|listener| listener.local_addr().ok())
        .map(|address| address.to_string())
        .into()
}

async fn bind(address: SocketAddr, option: &str) -> Result<TcpListener, Trouble> {
    TcpListener::bind(address).await.map_err(|error| {
        Trouble::io(
            format!("{address} cannot be listened on: {error}."),
            format!(
                "Stop what uses it, or name another address with {option}; port 0 picks a free one."
            ),
        )
    })
}

/// The address under which this machine reaches the listener.
fn local_url(listener: &TcpListener) -> String {
    match listener.local_addr() {
        Ok(address) if address.ip().is_unspecified() => {
            format!("http://127.0.0.1:{}", address.port())
        }
        Ok(address) => format!("http://{address}"),
        Err(_) => "http://127.0.0.1".to_owned(),
    }
}

/// Host names that requests may name besides the loopback names.
fn hosts(config: &Config, url: &str) -> Vec<String> {
    let mut hosts = vec![config.hostname.clone()];
    let authority = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest)
        .split('/')
        .next()
        .unwrap_or_default();
    hosts.push(match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name.to_owned(),
        _ => authority.to_owned(),
    });
    hosts
}

/// A key for commands on this machine; it ends with the process.
fn local_key() -> Result<String, Trouble> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|_| Trouble::io("The system gives no randomness.", "Try again."))?;
    Ok(format!(
        "local_{}",
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    ))
}

/// The signals that end the server.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Trouble> {
        let failed = |error: std::io::Error| {
            Trouble::io(format!("Signals cannot be heard: {error}."), "Report this.")
        };
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// What a person reads when the server is ready.
fn banner(terminal: Terminal, ready: &Value, hello: &[String]) -> String {
    let text = |name: &str| ready.get(name).and_then(Value::as_str);
    let mut lines = vec![terminal.bold("Postroom is ready."), String::new()];
    let mut line = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            lines.push(format!(
                "  {} {value}",
                terminal.dim(&format!("{name:<11}"))
            ));
        }
    };
    line("page", text("url"));
    line("owner link", text("owner_link"));
    line("agent key", text("key"));
    line("admin key", text("admin_key"));
    line("smtp", text("smtp"));
    line("lmtp", text("lmtp"));
    line("data", text("data"));
    line("database", text("database"));
    lines.extend(hello.iter().map(|line| format!("  {line}")));
    if text("key").is_some() {
        lines.push(String::new());
        lines.push("  The owner link works once; the keys are not shown again.".to_owned());
    }
    let key = text("key").unwrap_or("YOUR_KEY");
    let block = json!({"mcpServers": {"postroom": {
        "type": "http",
        "url": text("mcp_url"),
        "headers": {"Authorization": format!("Bearer {key}")},
    }}});
    lines.push(String::new());
    lines.push("  Paste this into the configuration of an MCP client:".to_owned());
    lines.push(String::new());
    let block = serde_json::to_string_pretty(&block).unwrap_or_default();
    lines.extend(block.lines().map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.push("  Stop with Ctrl-C.".to_owned());
    lines.join("\n")
}
