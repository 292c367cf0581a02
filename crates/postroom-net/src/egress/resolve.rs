//! From a host name to its addresses, once.

use std::{
    fmt,
    future::Future,
    net::{IpAddr, ToSocketAddrs as _},
    pin::Pin,
    sync::Arc,
};

use postroom_types::limit::EGRESS_LOOKUPS;
use tokio::sync::Semaphore;

/// The addresses of a name, or why there are none.
pub type Resolution = Result<Vec<IpAddr>, ResolveError>;

/// A resolution in progress.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = Resolution> + Send + 'a>>;

/// Why a name has no addresses. The text is the operator's, not the caller's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResolveError(pub String);

/// Who knows the addresses of names.
///
/// The caller bounds the time and checks every answer.
pub trait Resolver: Send + Sync + fmt::Debug {
    /// All addresses of `host`, which is a lower-case ASCII name without a trailing dot.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The resolver of the operating system.
#[derive(Debug)]
pub struct SystemResolver {
    /// A look-up goes on in its thread when nobody waits for it any more; it keeps its place.
    places: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(EGRESS_LOOKUPS)),
        }
    }
}

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            let failed = |error: &dyn fmt::Display| ResolveError(error.to_string());
            let place = Arc::clone(&self.places).acquire_owned().await;
            let place = place.map_err(|error| failed(&error))?;
            let host = host.to_owned();
            let looked_up = tokio::task::spawn_blocking(move || {
                let answers = (host.as_str(), 0_u16).to_socket_addrs();
                drop(place);
                answers.map(|answers| answers.map(|answer| answer.ip()).collect())
            });
            looked_up
                .await
                .map_err(|error| failed(&error))?
                .map_err(|error| failed(&error))
        })
    }
}
