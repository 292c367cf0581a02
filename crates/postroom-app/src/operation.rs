//! The operation table: one row per thing a caller can do.

mod call;
mod cursor;
mod dispatch;
mod idempotency;
mod published;
mod receipt;
mod rest;
mod table;

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use postroom_types::{Dialect, ErrorCode, Level, Permission};
use serde_json::Value;

use crate::{Failure, rate::Bucket};

pub use call::{Call, CallContext, Progress, ProgressSink, Reply, Surface};
pub use dispatch::pure;
pub use idempotency::ARGUMENT as IDEMPOTENCY_KEY;
pub use receipt::Receipt;
pub use rest::{DRY_RUN, RestCall, RestRequest};
pub use table::{TABLE, find, listed};

/// What stands for its own mailbox in a path or argument of a key that has one.
pub const OWN_MAILBOX: &str = "me";

/// What an operation's function gives back, boxed so that rows of one table can hold it.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// One operation, declared once; every surface is derived from it.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name on every surface, also the MCP tool's name.
    pub name: &'static str,
    /// A few words for a list.
    pub title: &'static str,
    /// What it does and when to use it, for an agent.
    pub description: &'static str,
    /// The group that selects it.
    pub toolset: Toolset,
    /// The permission that a caller must hold.
    pub permission: Permission,
    /// The levels whose keys may call it.
    pub levels: &'static [Level],
    /// Which scope its arguments ask for.
    pub scope: ScopeRule,
    /// The rate bucket beyond the key's and the tenant's.
    pub bucket: Option<Bucket>,
    /// HTTP routes: the main one first, then those that pre-bind arguments.
    pub routes: &'static [Route],
    /// Values that the REST parameter `include` may name; never part of the MCP input.
    pub include: &'static [&'static str],
    /// The MCP hints.
    pub annotations: Annotations,
    /// Whether the answer may take long enough to stream progress.
    pub streams: bool,
    /// How a bad argument and a missing thing are named.
    pub dialect: Dialect,
    /// Codes it may answer beyond those every operation may answer.
    pub errors: &'static [ErrorCode],
    /// Input schema as declared by its type; published through [`Operation::input_schema`].
    pub input: fn() -> Value,
    /// Output schema as declared by its type; published through [`Operation::output_schema`].
    pub output: fn() -> Value,
    /// Its function, by the kind of body.
    pub handler: Handler,
}

/// A named group of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// Mailboxes: read, search, label.
    Mail,
    /// The event log.
    Events,
    /// Work: todos, claimed under leases.
    Work,
    /// Ways in: webhook sources, their secrets and rules.
    Sources,
    /// E-mail documents: described, checked, repaired, compiled.
    Compose,
    /// The rest of what is done with documents; `?tools=compose` names it too.
    Authoring,
    /// Tenants, identities, addresses, keys, raw mail.
    Admin,
}

impl Toolset {
    /// Every toolset.
    pub const ALL: &'static [Self] = &[
        Self::Mail,
        Self::Events,
        Self::Work,
        Self::Sources,
        Self::Compose,
        Self::Authoring,
        Self::Admin,
    ];

    /// The name in `?tools=`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Events => "events",
            Self::Work => "work",
            Self::Sources => "sources",
            Self::Compose | Self::Authoring => "compose",
            Self::Admin => "admin",
        }
    }

    /// Every name in `?tools=`, once.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let mut named: Vec<&str> = Self::ALL.iter().map(|set| set.as_str()).collect();
        named.dedup();
        named.into_iter()
    }

    /// The toolsets of that name; none when nothing is called so.
    pub fn named(name: &str) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |set| set.as_str() == name)
    }

    /// Whether `/mcp` lists it without being asked.
    pub fn by_default(self) -> bool {
        !matches!(self, Self::Sources | Self::Authoring | Self::Admin)
    }
}

/// Which scope an operation's arguments ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeRule {
    /// None: what is asked for depends on its arguments alone.
    Nothing,
    /// No tenant: the deployment's own things.
    Platform,
    /// The caller's tenant; a platform key names it in `tenant_id`, others may repeat their own.
    Tenant,
    /// As `Tenant`, but an identity key sees only its own identity.
    TenantOrIdentity,
    /// As `Tenant`, but a platform key that names no tenant means the deployment's own things.
    TenantOrPlatform,
    /// One identity, named by the argument `identity`, or the key's own.
    Identity,
    /// As `Identity`, or the whole tenant when the argument `scope` is `tenant`.
    IdentityOrTenant,
}

/// One HTTP route.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The method, upper case.
    pub method: &'static str,
    /// The path with `{parameters}`.
    pub path: &'static str,
    /// Path parameter to argument, where the names differ.
    pub renames: &'static [(&'static str, &'static str)],
    /// Arguments that the route sets itself: name and JSON text of the value.
    pub binds: &'static [(&'static str, &'static str)],
    /// Status of a success.
    pub status: u16,
}

/// The four MCP hints, always all set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may overwrite or remove.
    pub destructive: bool,
    /// Repeating it changes nothing more.
    pub idempotent: bool,
    /// It reaches outside the deployment.
    pub open_world: bool,
}

impl Annotations {
    /// A read.
    pub const READ: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// A change that adds and can be repeated without a further effect.
    pub const ADD: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// A change that makes something new each time.
    pub const CREATE: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: false,
    };
    /// A change that overwrites or removes and can be repeated.
    pub const CHANGE: Self = Self {
        read_only: false,
        destructive: true,
        idempotent: true,
        open_world: false,
    };
}

/// An operation's function. Only JSON rows are MCP tools.
#[derive(Clone, Copy)]
pub enum Handler {
    /// Arguments in, a JSON object out, by its arguments alone: no room, key or network is needed.
    Pure(fn(Value) -> Result<Value, Failure>),
    /// Arguments in, a JSON object out.
    Json(for<'a> fn(&'a Call<'a>, Value) -> Answer<'a, Value>),
    /// Arguments and a raw mail as the body in, a JSON object out.
    BytesIn(for<'a> fn(&'a Call<'a>, Value, Bytes) -> Answer<'a, Value>),
    /// Arguments and a file of any type as the body in, a JSON object out. The request's content type
    /// fills the argument `content_type` when it has none.
    FileIn(for<'a> fn(&'a Call<'a>, Value, Bytes) -> Answer<'a, Value>),
    /// Arguments in, bytes out.
    BytesOut(for<'a> fn(&'a Call<'a>, Value) -> Answer<'a, BytesBody>),
}

/// Bytes as an answer.
#[derive(Debug, Clone)]
pub struct BytesBody {
    /// The bytes.
    pub bytes: Bytes,
    /// Their media type.
    pub content_type: &'static str,
    /// A file name of ours, for a download.
    pub filename: String,
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pure(_) => "Pure",
            Self::Json(_) => "Json",
            Self::BytesIn(_) => "BytesIn",
            Self::FileIn(_) => "FileIn",
            Self::BytesOut(_) => "BytesOut",
        })
    }
}

impl Operation {
    /// Whether it is an MCP tool.
    pub fn is_tool(&self) -> bool {
        matches!(self.handler, Handler::Pure(_) | Handler::Json(_))
    }

    /// The main route.
    pub fn route(&self) -> Option<&'static Route> {
        self.routes.first()
    }
}

/// Wraps `async fn run(&Call<'_>, Input) -> Result<Output, Failure>` as a row's handler.
macro_rules! json_handler {
    ($run:path) => {{
        fn handle<'a>(
            call: &'a $crate::operation::Call<'a>,
            arguments: serde_json::Value,
        ) -> $crate::operation::Answer<'a, serde_json::Value> {
            Box::pin(async move {
                let input = $crate::schema::read(arguments)?;
                let output = $run(call, input).await?;
                $crate::schema::write(&output)
            })
        }
        $crate::operation::Handler::Json(handle)
    }};
}

/// Wraps `fn run(Input) -> Result<Output, Failure>` of an operation that needs no room.
macro_rules! pure_handler {
    ($run:path) => {{
        fn handle(arguments: serde_json::Value) -> Result<serde_json::Value, $crate::Failure> {
            let input = $crate::schema::read(arguments)?;
            $crate::schema::write(&$run(input)?)
        }
        $crate::operation::Handler::Pure(handle)
    }};
}

/// Wraps `async fn run(&Call<'_>, Input, Bytes) -> Result<Output, Failure>`.
macro_rules! bytes_in_handler {
    ($run:path) => {{
        fn handle<'a>(
            call: &'a $crate::operation::Call<'a>,
            arguments: serde_json::Value,
            body: bytes::Bytes,
        ) -> $crate::operation::Answer<'a, serde_json::Value> {
            Box::pin(async move {
                let input = $crate::schema::read(arguments)?;
                let output = $run(call, input, body).await?;
                $crate::schema::write(&output)
            })
        }
        $crate::operation::Handler::BytesIn(handle)
    }};
}

/// As `bytes_in_handler`, for a body that is a file.
macro_rules! file_in_handler {
    ($run:path) => {{
        fn handle<'a>(
            call: &'a $crate::operation::Call<'a>,
            arguments: serde_json::Value,
            body: bytes::Bytes,
        ) -> $crate::operation::Answer<'a, serde_json::Value> {
            Box::pin(async move {
                let input = $crate::schema::read(arguments)?;
                let output = $run(call, input, body).await?;
                $crate::schema::write(&output)
            })
        }
        $crate::operation::Handler::FileIn(handle)
    }};
}

/// Wraps `async fn run(&Call<'_>, Input) -> Result<BytesBody, Failure>`.
macro_rules! bytes_out_handler {
    ($run:path) => {{
        fn handle<'a>(
            call: &'a $crate::operation::Call<'a>,
            arguments: serde_json::Value,
        ) -> $crate::operation::Answer<'a, $crate::operation::BytesBody> {
            Box::pin(async move {
                let input = $crate::schema::read(arguments)?;
                $run(call, input).await
            })
        }
        $crate::operation::Handler::BytesOut(handle)
    }};
}

pub(crate) use {bytes_in_handler, bytes_out_handler, file_in_handler, json_handler, pure_handler};

impl Route {
    const fn new(method: &'static str, path: &'static str, status: u16) -> Self {
        Self {
            method,
            path,
            renames: &[("identity_id", "identity")],
            binds: &[],
            status,
        }
    }

    /// A read. The path parameter `identity_id` becomes the argument `identity`.
    pub const fn get(path: &'static str) -> Self {
        Self::new("GET", path, 200)
    }

    /// A call with a body.
    pub const fn post(path: &'static str) -> Self {
        Self::new("POST", path, 200)
    }

    /// A partial change.
    pub const fn patch(path: &'static str) -> Self {
        Self::new("PATCH", path, 200)
    }

    /// A removal.
    pub const fn delete(path: &'static str) -> Self {
        Self::new("DELETE", path, 200)
    }

    /// The same route answering `status` on success.
    #[must_use]
    pub const fn answering(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same route setting arguments itself (name, JSON text of the value).
    #[must_use]
    pub const fn binding(mut self, binds: &'static [(&'static str, &'static str)]) -> Self {
        self.binds = binds;
        self
    }
}
