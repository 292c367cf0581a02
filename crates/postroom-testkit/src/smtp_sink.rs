//! A mail server that takes mail, remembers it, and misbehaves when asked to.
//!
//! It shares no code with the product's own SMTP, so that a fault of the product is no fault of
//! both. What it took stands in a log of one line for each recipient, `MESSAGE-ID RECIPIENT`, synced
//! before its answer: whoever counts there counts what left, whatever the sender believes. How it
//! behaves is said by flags or by the local parts of recipients, see [`Manner`].

mod ledger;
mod manner;
mod session;
mod stage;

pub use ledger::{Ledger, Taken, read};
pub use manner::{Manner, Turn};
pub use stage::{Stage, Stops};

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use rustls::ServerConfig;
use tokio::net::TcpListener;

/// What a sink offers and how it behaves.
#[derive(Debug)]
pub struct Sink {
    /// What it has taken.
    pub ledger: Ledger,
    /// How it treats mail whose recipients say nothing.
    pub manner: Manner,
    /// It behaves so at every message of this number, and well at all others; 1 is always.
    pub every: u64,
    /// How long it waits where its manner is to wait.
    pub delay: Duration,
    /// User name and password that it asks for, after TLS.
    pub credentials: Option<(String, String)>,
    /// With a certificate, STARTTLS is offered.
    pub tls: Option<Arc<ServerConfig>>,
    /// Whether TLS comes with the first byte instead.
    pub tls_first: bool,
    /// Where it stops and says so.
    pub stops: Option<Stops>,
}

impl Sink {
    /// A sink that behaves well and offers no TLS.
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            manner: Manner::Well,
            every: 1,
            delay: Duration::from_secs(1),
            credentials: None,
            tls: None,
            tls_first: false,
            stops: None,
        }
    }
}

/// Serves connections until the future is dropped.
///
/// # Errors
/// When the socket fails.
pub async fn serve(listener: TcpListener, sink: Arc<Sink>) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let sink = Arc::clone(&sink);
        // A client that breaks off is none of the others' business.
        tokio::spawn(async move { session::run(stream, &sink).await });
    }
}

/// Starts a sink on a free port of this host; for tests. It ends with the runtime.
///
/// # Errors
/// When no socket can be bound.
pub async fn start(sink: Sink) -> std::io::Result<(SocketAddr, Arc<Sink>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let sink = Arc::new(sink);
    tokio::spawn(serve(listener, Arc::clone(&sink)));
    Ok((address, sink))
}

/// A certificate for `localhost` that nobody vouches for; it is written to `file` in PEM for those
/// who shall trust it.
///
/// # Errors
/// When it cannot be made or written.
pub fn self_made(file: &Path) -> anyhow::Result<Arc<ServerConfig>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    std::fs::write(file, made.cert.pem())?;
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    Ok(Arc::new(config))
}
