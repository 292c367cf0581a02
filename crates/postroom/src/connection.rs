//! Where a command's operations run: in the server that holds the data folder, in a server that was
//! named, or in this process.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use postroom_app::{
    Actor, CallContext, Operation, Reply, Room,
    operation::{self, OWN_MAILBOX, ScopeRule, Surface},
    room::{OpenError, RoomOptions},
};
use postroom_store::{LOCK_FILE, StoreError};
use postroom_types::{ErrorCode, Level, Secret, TenantId};
use serde_json::{Map, Value, json};

use crate::{
    cli::{Global, alias::used, trouble::Trouble},
    client::{Answer, Client},
    config::{self, Config},
    folder::{NoServer, ServerFile},
};

/// A way to call operations.
#[derive(Debug)]
pub(crate) enum Connection {
    /// A server, and the tenant it means when none is named.
    Server(Client, Option<TenantId>),
    /// The data folder, held by this process.
    Folder(Arc<Room>),
}

/// How the room of a configuration is opened.
pub(crate) fn room_options(config: &Config) -> Result<RoomOptions, Trouble> {
    let mut options = RoomOptions::new(config.data.clone());
    options.database_url = config.database_url.clone().map(Secret::new);
    options.secret = config
        .secret_key
        .as_ref()
        .map(|text| Secret::new(crate::secret::from_text(text)));
    options.rates = config.rates;
    options.retention = config.retention;
    options.url = match &config.public_url {
        Some(url) => url.clone(),
        None => format!("http://{}", config.listen),
    };
    options.hostname.clone_from(&config.hostname);
    options.egress = Some(Arc::new(crate::command::egress::open(config)?));
    options.reply_tokens = config.transport.reply_tokens;
    // Only a server hands mail over: a command may have been told another way, or none.
    options.hands_over = false;
    options.transport = config::transport::options(config).map_err(|error| {
        Trouble::usage(
            format!("{error}."),
            "Correct `[transport]` in the configuration; without it nothing leaves.",
        )
    })?;
    Ok(options)
}

/// What a room that does not open says.
pub(crate) fn open_trouble(error: &OpenError, data: &Path) -> Trouble {
    // Only what passes by itself has a code that says so: a lock that another process lets go of, a
    // database server that comes back.
    let (code, fix) = match error {
        OpenError::Store(StoreError::Locked(_)) => (
            "unavailable",
            "Stop the other process, or name another folder with --data.",
        ),
        OpenError::Store(StoreError::Unreachable(_)) => (
            "unavailable",
            "Start the database, or correct database_url.",
        ),
        OpenError::Store(StoreError::Unavailable) => {
            ("unavailable", "Try again; the log says what failed.")
        }
        OpenError::Store(StoreError::NewerSchema { .. }) => {
            ("config", "Use the program that wrote it, or a newer one.")
        }
        OpenError::Store(StoreError::SecretMismatch) => (
            "config",
            "Restore secret.key, or set POSTROOM_SECRET_KEY to the secret it was made with.",
        ),
        OpenError::Store(StoreError::SecretMissing(_)) => (
            "config",
            "Restore secret.key from a backup, or set POSTROOM_SECRET_KEY to what stood in it. If it is lost for good, import the mail into a new folder.",
        ),
        OpenError::Store(StoreError::Configuration(_)) => (
            "config",
            "Correct the configuration; `postroom config` shows it.",
        ),
        OpenError::Store(StoreError::Damaged(_)) => {
            ("io", "Restore the data folder from a backup.")
        }
        OpenError::Store(StoreError::Open { what, .. }) if what == "the database" => (
            "io",
            "Look at database_url and what its server says; with SQLite at the folder, its permissions and the disk.",
        ),
        OpenError::Transport(_) => (
            "config",
            "Correct `[transport]` in the configuration; `postroom config` shows it.",
        ),
        OpenError::InUse => ("usage", "Use one room per process."),
        _ => ("io", "Look at the folder, its permissions and the disk."),
    };
    let message = match error {
        OpenError::Transport(why) => format!("Mail cannot leave as it is configured: {why}."),
        _ => format!(
            "The data folder {} cannot be opened: {error}.",
            data.display()
        ),
    };
    Trouble::new(code, message, fix, crate::cli::trouble::USAGE)
}

/// What is said of a folder that is not there, where making one would hide a mistake.
pub(crate) fn missing_folder(data: &Path) -> Trouble {
    Trouble::io(
        format!("There is no data folder at {}.", data.display()),
        "Name one with --data, or start with `postroom demo` or `postroom import`.",
    )
}

/// Whether a folder was ever opened by a room. One with other files in it was not: a command that
/// reads makes nothing in it. With a database elsewhere the folder may be new.
pub(crate) fn holds_data(config: &Config) -> bool {
    let kept = [LOCK_FILE, "postroom.sqlite"];
    let was_opened = kept.iter().any(|name| config.data.join(name).exists());
    was_opened || (config.database_url.is_some() && config.data.is_dir())
}

impl Connection {
    /// Finds the way: `--url`, then the server that `server.json` names, then the folder itself.
    /// Only a command that may make a folder does so when there is none.
    pub(crate) async fn open(config: &Config, make: bool) -> Result<Self, Trouble> {
        if let Some(url) = &config.url {
            let key = config.key.as_deref().ok_or_else(|| {
                Trouble::usage(
                    "There is no key for the server.",
                    "Give --key, or set POSTROOM_KEY.",
                )
            })?;
            return Ok(Self::Server(Client::new(url, key)?, None));
        }
        let absent = match running_server(&config.data).await {
            Ok(server) => return Ok(server),
            Err(absent) => absent,
        };
        if !make && !holds_data(config) {
            return Err(missing_folder(&config.data));
        }
        let room = Room::open(room_options(config)?)
            .await
            .map_err(|error| client_trouble(&error, &absent, &config.data))?;
        Ok(Self::Folder(room))
    }

    /// Calls an operation as the owner of this machine's data folder, or with the key that was given.
    pub(crate) async fn call(
        &self,
        operation: &'static Operation,
        mut arguments: Map<String, Value>,
        body: Option<Bytes>,
    ) -> Result<Answer, Trouble> {
        self.name_tenant(operation, &mut arguments);
        match self {
            Self::Server(client, _) => client.call(operation, &arguments, body).await,
            Self::Folder(room) => {
                let actor = match operation.levels.contains(&Level::Platform) {
                    true => Actor::local_platform(room.worker_scope().platform()),
                    false => Actor::local_tenant(room.default_tenant()),
                };
                let now = room.now();
                let context =
                    CallContext::new(Surface::Rest, postroom_app::random::request_id(now), now);
                let arguments = Value::Object(arguments);
                let reply = room
                    .call_with_body(
                        &actor,
                        operation,
                        arguments,
                        body.unwrap_or_default(),
                        &context,
                    )
                    .await?;
                Ok(match reply {
                    Reply::Json(value) => Answer::Json(value),
                    Reply::Bytes(body) => Answer::Bytes(body.bytes),
                })
            }
        }
    }

    /// As [`Connection::call`], for operations that answer JSON.
    pub(crate) async fn call_json(
        &self,
        name: &'static str,
        arguments: Map<String, Value>,
    ) -> Result<Value, Trouble> {
        let row = operation::find(name).ok_or_else(|| {
            Trouble::usage(
                format!("There is no operation {name}."),
                "See `postroom tools`.",
            )
        })?;
        match self.call(row, arguments, None).await? {
            Answer::Json(value) => Ok(value),
            Answer::Bytes(_) => Ok(Value::Null),
        }
    }

    /// The tenant that is meant when none is named; `None` when the key says it.
    fn tenant(&self) -> Option<TenantId> {
        match self {
            Self::Server(_, tenant) => *tenant,
            Self::Folder(room) => Some(room.default_tenant()),
        }
    }

    /// An owner reaches every tenant, so a call about one names it.
    fn name_tenant(&self, operation: &Operation, arguments: &mut Map<String, Value>) {
        let Some(tenant) = self.tenant() else {
            return;
        };
        let wide = match operation.scope {
            ScopeRule::Nothing | ScopeRule::Platform | ScopeRule::Identity => false,
            ScopeRule::IdentityOrTenant => arguments.get("scope") == Some(&json!("tenant")),
            ScopeRule::TenantOrPlatform => arguments.get("level") != Some(&json!("platform")),
            ScopeRule::Tenant | ScopeRule::TenantOrIdentity => true,
        };
        let takes = operation
            .input_schema()
            .pointer("/properties/tenant_id")
            .is_some();
        if wide && takes && !arguments.contains_key("tenant_id") {
            arguments.insert("tenant_id".to_owned(), tenant.to_string().into());
        }
    }

    /// Fills in the mailbox: the one that was named, else the only one there is. Where there are
    /// several, an operation that can range over the whole tenant does so, and for one that names a
    /// thing by its id the mailboxes to try are given back.
    pub(crate) async fn mailboxes_for(
        &self,
        operation: &Operation,
        global: &Global,
        arguments: &mut Map<String, Value>,
    ) -> Result<Vec<String>, Trouble> {
        let schema = operation.input_schema();
        if schema.pointer("/properties/identity").is_none() || arguments.contains_key("identity") {
            return Ok(Vec::new());
        }
        if let Some(named) = &global.identity {
            arguments.insert("identity".to_owned(), named.as_str().into());
            return Ok(Vec::new());
        }
        if !matches!(
            operation.scope,
            ScopeRule::Identity | ScopeRule::IdentityOrTenant
        ) || arguments.get("scope") == Some(&json!("tenant"))
        {
            return Ok(Vec::new());
        }
        let mailboxes = match self.mailboxes().await {
            Ok(mailboxes) => mailboxes,
            // Whoever may not look around has one mailbox, if any.
            Err(trouble) if &*trouble.code == ErrorCode::PermissionDenied.as_str() => {
                arguments.insert("identity".to_owned(), OWN_MAILBOX.into());
                return Ok(Vec::new());
            }
            Err(trouble) => return Err(trouble),
        };
        match mailboxes.as_slice() {
            [(only, _)] => {
                arguments.insert("identity".to_owned(), only.as_str().into());
                Ok(Vec::new())
            }
            [] => Err(Trouble::new(
                "identity_not_found",
                "There is no mailbox yet.",
                "Create one with `postroom identity create`, or import mail into one.",
                crate::cli::trouble::PROBLEMS,
            )),
            _ if schema.pointer("/properties/scope").is_some() => {
                arguments.insert("scope".to_owned(), "tenant".into());
                Ok(Vec::new())
            }
            several if arguments.values().any(names_a_thing) => {
                Ok(several.iter().map(|(id, _)| id.clone()).collect())
            }
            several => Err(Trouble::usage(
                "There are several mailboxes.",
                format!("Name one with --as: {}.", addresses(several)),
            )),
        }
    }

    /// The mailboxes that the caller reaches: id and first address.
    async fn mailboxes(&self) -> Result<Vec<(String, String)>, Trouble> {
        let listed = self.call_json(used::LIST_MAILBOXES, Map::new()).await?;
        let text = |one: &Value, key: &str| one.get(key)?.as_str().map(str::to_owned);
        Ok(listed
            .get("data")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|one| {
                let address = text(one, "primary_address").unwrap_or_else(|| "-".to_owned());
                Some((text(one, "id")?, address))
            })
            .collect())
    }

    /// What is said when no mailbox is called `named`: which there are, where the caller may know.
    pub(crate) async fn no_mailbox(&self, named: &str, trouble: Trouble) -> Trouble {
        let Ok(mailboxes) = self.mailboxes().await else {
            return trouble;
        };
        let fix = if mailboxes.is_empty() {
            "Create it with `postroom identity create`, or import mail into it.".to_owned()
        } else {
            format!("Name one with --as: {}.", addresses(&mailboxes))
        };
        Trouble {
            message: format!(
                "There is no mailbox {}.",
                crate::cli::terminal::plain(named)
            ),
            fix,
            ..trouble
        }
    }

    /// Whether the mailbox that a command acts as is there.
    pub(crate) async fn finds_mailbox(&self, named: &str) -> Result<Value, Trouble> {
        let mut arguments = Map::new();
        arguments.insert("identity".to_owned(), named.into());
        match self.call_json(used::SHOW_MAILBOX, arguments).await {
            Err(trouble) if &*trouble.code == ErrorCode::IdentityNotFound.as_str() => {
                Err(self.no_mailbox(named, trouble).await)
            }
            other => other,
        }
    }

    /// Whether a running server answers; else this process holds the folder itself.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Self::Server(..))
    }

    /// Lets go of the data folder.
    pub(crate) async fn close(self) {
        if let Self::Folder(room) = self {
            room.close().await;
        }
    }
}

fn addresses(mailboxes: &[(String, String)]) -> String {
    let addresses: Vec<&str> = mailboxes
        .iter()
        .map(|(_, address)| address.as_str())
        .collect();
    addresses.join(", ")
}

/// Whether an argument is the id of something in one mailbox.
fn names_a_thing(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        ["msg_", "thr_", "att_"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
    })
}

/// The server that holds the folder, when one answers, or why there is none to talk to. A file that
/// a killed server left is no server.
pub(crate) async fn running_server(data: &Path) -> Result<Connection, NoServer> {
    let file = ServerFile::read(data)?;
    let client = Client::new(&file.url, &file.key)
        .map_err(|_| NoServer::Damaged("its url is none".to_owned()))?;
    match client.answers().await {
        true => Ok(Connection::Server(client, Some(file.tenant_id))),
        false => Err(NoServer::Silent(file.url)),
    }
}

/// What a command says that found no server and cannot open the folder itself.
pub(crate) fn client_trouble(error: &OpenError, absent: &NoServer, data: &Path) -> Trouble {
    match error {
        OpenError::Store(StoreError::Locked(_)) => held_trouble(absent, data),
        error => open_trouble(error, data),
    }
}

/// What is said when another process holds the folder and `server.json` leads to none.
fn held_trouble(absent: &NoServer, data: &Path) -> Trouble {
    let fix = match absent {
        NoServer::Missing => {
            "If a server runs there, wait: it writes server.json anew within seconds. Another command, such as an import, must end first."
        }
        NoServer::Damaged(_) => {
            "If a server runs there, wait: it writes server.json anew within seconds. Else look at the file and its permissions, or remove it and start the server again."
        }
        NoServer::Silent(_) => "Wait for the server, or stop its process and start it again.",
    };
    Trouble::new(
        "unavailable",
        format!(
            "The data folder {} is in use by another process, and {absent}.",
            data.display()
        ),
        fix,
        crate::cli::trouble::USAGE,
    )
}
