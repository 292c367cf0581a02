//! The surfaces over HTTP: REST, the Model Context Protocol, OpenAPI, the page, and the address at
//! which webhooks arrive.
//!
//! Every REST route and every MCP tool is derived from a row of [`postroom_app::operation::TABLE`];
//! nothing here knows an operation by name. A request passes through in this order: a request id is
//! made, host and origin are checked, the route finds its row, the key is authenticated and charged,
//! the body is read within its bound, path, query and body become arguments, and the row's function
//! runs in a task of its own that a client who goes away does not stop in the middle of a commit.
//!
//! This room holds no logic: it never decides, never reads the store, and never answers an error in
//! words that are not the catalogue's.

mod answer;
mod gate;
mod guard;
mod ingest;
mod page;
mod proxy;
mod registry;
mod rest;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use postroom_app::{Actor, Failure, Room};
use postroom_mcp::Server;
use postroom_mcp_transport::{Endpoint, Hosts, Streams};
use postroom_types::{Level, Secret};
use tokio_util::sync::CancellationToken;

pub use postroom_mcp_transport::serve_http;
pub use registry::{McpCaller, RoomRegistry, RoomSource};

/// What the surfaces are told.
#[derive(Debug, Clone)]
pub struct ApiConfig {
    /// The address under which clients reach this server, without a slash at the end.
    pub url: String,
    /// Whether the operator said that address: then it is what providers call and sign, whatever a
    /// proxy says.
    pub url_is_public: bool,
    /// Proxies whose word about a client counts.
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// Host names this server answers to besides the loopback names.
    pub hosts: Vec<String>,
    /// The data folder as the configuration block for local clients names it.
    pub data: String,
    /// A key that lives as long as the process, for commands on this machine that may read the data
    /// folder; it acts for the whole deployment.
    pub local_key: Option<Arc<Secret<String>>>,
    /// Ends streams and waits when it is cancelled.
    pub shutdown: CancellationToken,
}

/// Whoever presents `token`: the holder of a key, or of the data folder, who acts for the whole
/// deployment where `widest` says that this can be, and for the first tenant otherwise; or as an agent of
/// one mailbox ([`bound_key`]).
pub(crate) async fn authenticate(
    room: &Room,
    local_key: Option<&Secret<String>>,
    token: &str,
    widest: Level,
) -> Result<Actor, Failure> {
    let is_local = |token: &str| local_key.is_some_and(|key| key.matches(token.as_bytes()));
    if is_local(token) {
        return Ok(match widest {
            Level::Platform => Actor::local_platform(room.worker_scope().platform()),
            _ => Actor::local_tenant(room.default_tenant()),
        });
    }
    match token.rsplit_once(BOUND_TO) {
        Some((key, identity)) if is_local(key) => room.local_agent(identity).await,
        _ => room.authenticate(token).await,
    }
}

/// Stands between [`ApiConfig::local_key`] and the id of a mailbox in a token that acts as an agent of that
/// mailbox and no further.
const BOUND_TO: char = '.';

/// The token of an agent that acts as one mailbox, made by whoever may read the data folder.
pub fn bound_key(local_key: &str, identity: &str) -> String {
    format!("{local_key}{BOUND_TO}{identity}")
}

/// Everything that a handler works with.
#[derive(Debug)]
pub(crate) struct Surfaces {
    pub(crate) room: Arc<Room>,
    pub(crate) config: ApiConfig,
    /// Room for bodies of deliveries that are being taken in.
    pub(crate) held: ingest::Held,
}

/// All surfaces of a room.
pub fn router(room: Arc<Room>, config: ApiConfig) -> Router {
    let server = Server::new(RoomRegistry::new(RoomSource::ready(Arc::clone(&room))));
    let hosts = Hosts::Named(config.hosts.clone());
    let endpoint = Endpoint::new(
        server,
        gate::RoomGate::new(Arc::clone(&room), config.local_key.clone()),
        hosts,
        Arc::new(Streams::default()),
        config.shutdown.clone(),
    );
    let surfaces = Arc::new(Surfaces {
        room,
        config,
        held: ingest::Held::default(),
    });
    let ingest_surfaces = Arc::clone(&surfaces);
    let own = rest::routes()
        .route("/openapi.json", get(rest::openapi))
        .route("/healthz", get(rest::healthz))
        .route("/owner/{token}", get(page::enter))
        .route("/leave", post(page::leave))
        .route("/board", get(page::board::show))
        .route("/board/todos/{id}/{action}", post(page::board::act))
        .route("/board/queues/{queue}/{action}", post(page::board::hold))
        .route("/outbox", get(page::outbox::list))
        .route("/outbox/{identity}/{message}", get(page::outbox::mail))
        .route("/outbox/{identity}/{message}/html", get(page::outbox::html))
        .route("/", get(page::home))
        .fallback(rest::route_not_found)
        .layer(axum::middleware::from_fn_with_state(
            Arc::clone(&surfaces),
            guard::pass,
        ))
        .with_state(surfaces);
    let protocol = postroom_mcp_transport::mount("/mcp", endpoint).layer(
        axum::middleware::from_fn_with_state(Arc::clone(&ingest_surfaces), guard::name),
    );
    own.merge(ingest::routes(ingest_surfaces)).merge(protocol)
}
