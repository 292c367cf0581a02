//! `mcp`: the protocol on standard input and output. Standard output carries nothing else.

use std::{process::ExitCode, sync::Arc};

use postroom_api::{McpCaller, RoomRegistry, RoomSource, bound_key};
use postroom_app::{Failure, Room, operation::Toolset};
use postroom_mcp::Server;
use postroom_mcp_transport::{bridge::Bridge, stdio};
use postroom_types::ErrorCode;
use serde_json::Value;

use super::{Done, tools};
use crate::{
    cli::{Mcp, trouble::Trouble},
    config::Config,
    connection::{
        Connection, client_trouble, holds_data, missing_folder, room_options, running_server,
    },
    folder::NoServer,
};

pub(super) async fn run(config: &Config, options: Mcp) -> Done {
    let toolsets = match &options.tools {
        Some(names) => Some(tools::toolsets(names)?),
        None => None,
    };
    let names: Option<Arc<[String]>> = toolsets.as_ref().map(|sets| {
        let mut names: Vec<String> = sets.iter().map(|set| set.as_str().to_owned()).collect();
        names.dedup();
        names.into()
    });
    if let Some(url) = &config.url {
        let key = config.key.as_deref().ok_or_else(|| {
            Trouble::usage(
                "There is no key for the server.",
                "Give --key, or set POSTROOM_KEY.",
            )
        })?;
        return bridged(url, key, names.as_deref()).await;
    }
    let absent = match running_server(&config.data).await {
        Ok(Connection::Server(client, tenant)) => {
            let (url, key) = (client.url().to_owned(), client.key().to_owned());
            let key = match &config.identity {
                Some(named) => bound(Connection::Server(client, tenant), &key, named).await?,
                None => key,
            };
            return bridged(&url, &key, names.as_deref()).await;
        }
        Ok(Connection::Folder(_)) => NoServer::Missing,
        Err(absent) => absent,
    };
    let absent = Arc::new(absent);
    let (options, known) = (room_options(config)?, config.clone());
    // The handshake and the lists need no data; the folder is opened by the first call that does.
    let source = RoomSource::on_demand(move || {
        let (options, config, absent) = (options.clone(), known.clone(), Arc::clone(&absent));
        async move {
            if !holds_data(&config) {
                let trouble = missing_folder(&config.data);
                return Err(Failure::new(ErrorCode::Misconfigured)
                    .saying(trouble.message)
                    .advising(trouble.fix));
            }
            let room = Room::open(options).await.map_err(|error| {
                tracing::error!(%error, "the data folder cannot be opened");
                let trouble = client_trouble(&error, &absent, &config.data);
                Failure::new(error.code())
                    .saying(trouble.message)
                    .advising(trouble.fix)
            })?;
            if let Some(named) = &config.identity
                && let Err(trouble) = Connection::Folder(Arc::clone(&room))
                    .finds_mailbox(named)
                    .await
            {
                tracing::error!(mailbox = %named, "there is no such mailbox");
                room.close().await;
                return Err(Failure::new(ErrorCode::IdentityNotFound)
                    .saying(trouble.message)
                    .advising(trouble.fix));
            }
            Ok(room)
        }
    });
    // Who asks for documents alone needs no folder, and is offered what works without one.
    let composes = |set: &Toolset| matches!(set, Toolset::Compose | Toolset::Authoring);
    let pure = !holds_data(config) && toolsets.is_some_and(|sets| sets.iter().all(composes));
    let registry = if pure {
        RoomRegistry::pure()
    } else {
        RoomRegistry::new(source)
    };
    let server = Server::new(registry);
    let caller = McpCaller::holder(config.identity.clone());
    let served = stdio::serve(
        Arc::clone(&server),
        caller,
        names,
        tokio::io::stdin(),
        tokio::io::stdout(),
    )
    .await;
    if let Some(room) = server.registry().source().opened() {
        room.close().await;
    }
    served.map_err(|error| {
        Trouble::io(
            format!("Standard input or output failed: {error}."),
            "Start it again.",
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The key of a session that acts as one mailbox: the server that holds the folder knows the session by it,
/// so that it reaches no further.
async fn bound(server: Connection, key: &str, named: &str) -> Result<String, Trouble> {
    let mailbox = server.finds_mailbox(named).await?;
    let id = mailbox.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| Trouble::io("The server gave no mailbox.", "Report this."))?;
    Ok(bound_key(key, id))
}

/// Passes messages on to a server.
async fn bridged(url: &str, key: &str, toolsets: Option<&[String]>) -> Done {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let query = toolsets
        .map(|names| format!("?tools={}", names.join(",")))
        .unwrap_or_default();
    // Both addresses that the server prints are taken: its own and its endpoint's.
    let base = url.trim_end_matches('/');
    let base = base.strip_suffix("/mcp").unwrap_or(base);
    let endpoint = format!("{base}/mcp{query}");
    let failed = |error: &dyn std::fmt::Display| {
        Trouble::io(
            format!("The server cannot be used: {error}."),
            "Start it with `postroom serve`, or correct --url and --key.",
        )
    };
    // Answers may stream for long: no total timeout.
    let http = reqwest::Client::builder()
        .no_proxy()
        .build()
        .map_err(|error| failed(&error))?;
    let bridge = Bridge::new(http, endpoint, Some(key)).map_err(|error| failed(&error))?;
    bridge
        .run(tokio::io::stdin(), tokio::io::stdout())
        .await
        .map_err(|error| failed(&error))?;
    Ok(ExitCode::SUCCESS)
}
