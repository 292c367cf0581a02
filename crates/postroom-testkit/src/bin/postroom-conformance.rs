//! Serves the fixtures of the conformance suite.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use clap::Parser;
use postroom_mcp::Server;
use postroom_mcp_transport::{Endpoint, Hosts, Streams, mount, serve_http, stdio};
use postroom_testkit::conformance::{Fixtures, KeyGate, Visiting};
use postroom_testkit::proxy;
use postroom_types::limit::STREAMS_PER_PROCESS;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves the fixtures of the conformance suite of the Model Context Protocol.
#[derive(Debug, Parser)]
#[command(name = "postroom-conformance")]
struct Arguments {
    /// Address of the endpoint; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Print one line of JSON when ready.
    #[arg(long)]
    json: bool,
    /// The key that requests must carry; without it everybody may come in.
    #[arg(long)]
    key: Option<String>,
    /// Address of a proxy that adds the key to every request.
    #[arg(long, requires = "key")]
    proxy_listen: Option<SocketAddr>,
    /// Another server that the proxy goes to, as address and port.
    #[arg(long, requires = "proxy_listen")]
    proxy_to: Option<SocketAddr>,
    /// Serve standard input and output instead.
    #[arg(long)]
    stdio: bool,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let server = Server::new(Fixtures::default());
    if arguments.stdio {
        let caller = Visiting("stdio".to_owned());
        stdio::serve(
            server,
            caller,
            None,
            tokio::io::stdin(),
            tokio::io::stdout(),
        )
        .await?;
        return Ok(());
    }
    let shutdown = CancellationToken::new();
    // Without a key everybody is the same principal.
    let streams = match arguments.key {
        Some(_) => Streams::default(),
        None => Streams::new(STREAMS_PER_PROCESS),
    };
    let endpoint = Endpoint::new(
        server,
        KeyGate::new(arguments.key.clone()),
        Hosts::Named(Vec::new()),
        Arc::new(streams),
        shutdown.clone(),
    );
    let listener = TcpListener::bind(arguments.listen).await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(serve_http(
        listener,
        mount("/mcp", endpoint),
        shutdown.clone(),
    ));
    let mut ready =
        serde_json::json!({ "url": format!("http://{address}/mcp"), "key": arguments.key });
    if let (Some(listen), Some(key)) = (arguments.proxy_listen, &arguments.key) {
        let listener = TcpListener::bind(listen).await?;
        ready["proxy_url"] = format!("http://{}/mcp", listener.local_addr()?).into();
        tokio::spawn(serve_http(
            listener,
            proxy::router(arguments.proxy_to.unwrap_or(address), key)?,
            shutdown.clone(),
        ));
    }
    let mut out = std::io::stdout();
    if arguments.json {
        writeln!(out, "{ready}")?;
    } else {
        writeln!(out, "Listening on http://{address}/mcp")?;
    }
    out.flush()?;
    tokio::signal::ctrl_c().await?;
    shutdown.cancel();
    serving.await??;
    Ok(())
}
