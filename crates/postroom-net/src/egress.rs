//! The only dialler for URLs that somebody gave us.
//!
//! For: replays, bodies fetched from a provider, certificates and confirmations, outgoing hooks.
//!
//! Never: no redirect is followed, no proxy of the environment is used, no connection is used
//! twice, nothing is decompressed. A caller learns the [`Class`] of a refusal and never an address
//! or what a resolver said; those go to the operator's log with the host and without the path,
//! which may hold a token.
//!
//! How a request passes through: the URL keeps the rules of [`target`], its name is resolved once
//! inside a time budget, every answer is classified by the one classifier of [`address`] and one
//! bad answer refuses them all; then one of exactly these addresses is dialled, which is checked
//! again beside the socket; TLS asks for the certificate of the name. What the operator allows
//! ([`EgressPolicy`]) widens which addresses and ports are good and lifts no other rule.

mod address;
mod class;
mod dns_file;
mod exchange;
mod headers;
mod policy;
mod relay;
mod request;
mod resolve;
mod target;
mod trust;

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use postroom_types::limit::{
    EGRESS_ADDRESSES, EGRESS_ADDRESSES_TRIED, EGRESS_ALLOWANCES, EGRESS_EXCHANGES,
    EGRESS_RESOLVE_MS,
};
use tokio::{
    net::TcpStream,
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};

pub use class::Class;
pub use dns_file::{DnsFile, DnsFileError};
pub use headers::{REDACTED, replay_headers};
pub use policy::{BadPorts, BadRange, EgressPolicy, PolicyError, Ports, Range};
pub use request::{Answer, EgressError, Limits, Purpose, Request, Verdict};
pub use resolve::{Resolution, ResolveError, Resolver, Resolving, SystemResolver};

use exchange::{Exchange, Fault};
use target::Target;

/// The dialler.
#[derive(Debug)]
pub struct Egress {
    policy: EgressPolicy,
    resolver: Box<dyn Resolver>,
    tls: Arc<rustls::ClientConfig>,
    own: RwLock<Vec<SocketAddr>>,
    places: Semaphore,
}

/// A target whose addresses are all good, and as what.
struct Checked {
    target: Target,
    addresses: Vec<IpAddr>,
    class: Class,
}

impl Egress {
    /// The dialler under a policy, with the system's resolver or the policy's DNS file.
    ///
    /// # Errors
    /// [`PolicyError`] when a file that the policy names cannot be used, or a provider's base
    /// address could never be dialled.
    pub fn new(policy: EgressPolicy) -> Result<Self, PolicyError> {
        let resolver: Box<dyn Resolver> = match &policy.dns_file {
            Some(path) => Box::new(trust::dns_file(path)?),
            None => Box::new(SystemResolver::default()),
        };
        Self::with_resolver(policy, resolver)
    }

    /// The dialler under a policy, with this resolver.
    ///
    /// # Errors
    /// As [`Egress::new`].
    pub fn with_resolver(
        policy: EgressPolicy,
        resolver: Box<dyn Resolver>,
    ) -> Result<Self, PolicyError> {
        for (key, entries) in [
            ("allow_cidrs", policy.allow_cidrs.len()),
            ("allow_ports", policy.allow_ports.len()),
        ] {
            if entries > EGRESS_ALLOWANCES {
                return Err(PolicyError::TooMany { key });
            }
        }
        let egress = Self {
            tls: trust::client(policy.extra_ca.as_deref())?,
            own: RwLock::new(policy.own_listeners.clone()),
            places: Semaphore::new(EGRESS_EXCHANGES),
            policy,
            resolver,
        };
        egress.check_bases()?;
        Ok(egress)
    }

    /// Adds an address at which this process listens, when that is known only after the start.
    pub fn listens_at(&self, listener: SocketAddr) {
        self.own
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(listener);
    }

    /// The operator's base address of a provider's interface, without a slash at its end.
    pub fn provider_base(&self, provider: &str) -> Option<&str> {
        let base = self.policy.provider_base.get(provider)?;
        Some(base.trim_end_matches('/'))
    }

    /// The rules that need no resolution, under this dialler's policy: for refusing a URL when it is saved.
    /// A URL that passes may still be refused when it is dialled.
    ///
    /// # Errors
    /// The class for which it is refused.
    pub fn screen(&self, url: &str) -> Result<Screened, Class> {
        let screened = screen(url, &self.policy)?;
        let is_own = |address| self.is_own(address, screened.port);
        if self.is_own_host(&screened.host, screened.port) || screened.address.is_some_and(is_own) {
            return Err(Class::OwnListener);
        }
        Ok(screened)
    }

    /// What [`Egress::send`] would say to this URL now. Dials nothing.
    pub async fn check(&self, url: &str, purpose: Purpose) -> Verdict {
        let checked = self.approve(url, purpose).await;
        Verdict::of(checked.map(|checked| checked.class))
    }

    /// Sends a request and reads its answer, whatever the status is.
    ///
    /// # Errors
    /// [`EgressError::Refused`] when the guard refuses, [`EgressError::NotResolved`] when the host
    /// has no addresses now, [`EgressError::Header`] when a header may not be given, and
    /// [`EgressError::Failed`] for everything that goes wrong from there on: connection, TLS,
    /// time, protocol alike, so that an answer tells nothing about a network.
    pub async fn send(&self, request: Request) -> Result<Answer, EgressError> {
        let limits = request.limits;
        let purpose = request.purpose;
        let deadline = Instant::now() + limits.total;
        let failed = |sent| EgressError::Failed { sent };
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(failed(false));
        };
        let approving = self.approve(&request.url, purpose);
        let checked = timeout_at(deadline, approving)
            .await
            .map_err(|_| EgressError::NotResolved)?
            .map_err(EgressError::of)?;
        let target = &checked.target;
        let request = exchange::assemble(target, request).ok_or(EgressError::Header)?;
        let mut sent = false;
        let exchanging = async {
            let connected = Instant::now() + limits.connect;
            let stream = self.dial(&checked, connected.min(deadline)).await?;
            let exchange = Exchange {
                target,
                tls: &self.tls,
                request,
                response_bytes: limits.response_bytes,
                deadline,
            };
            exchange.run(stream, &mut sent).await
        };
        let outcome = Box::pin(exchanging).await;
        let (purpose, host) = (purpose.as_str(), target.host.as_str());
        match outcome {
            Ok(answer) => {
                tracing::info!(purpose, host, status = answer.status, "exchanged");
                Ok(answer)
            }
            Err(fault) => {
                tracing::warn!(purpose, host, %fault, "not exchanged");
                Err(failed(sent))
            }
        }
    }

    /// Reads the URL, resolves its name once, and checks every answer.
    async fn approve(&self, url: &str, purpose: Purpose) -> Result<Checked, Class> {
        let purpose = purpose.as_str();
        let target = Target::read(url, &self.policy).inspect_err(|class| {
            tracing::warn!(purpose, class = class.as_str(), "refused to dial a URL");
        })?;
        let refuse = |class: Class, detail: &dyn std::fmt::Display| {
            tracing::warn!(purpose, host = %target.host, class = class.as_str(), %detail,
                "refused to dial");
            class
        };
        if self.is_own_host(&target.host, target.port) {
            return Err(refuse(Class::OwnListener, &"the public address"));
        }
        let addresses = match target.literal {
            Some(address) => vec![address],
            None => self
                .resolve(&target.host)
                .await
                .map_err(|error| refuse(Class::DnsError, &error))?,
        };
        let mut worst = Class::Public;
        for address in &addresses {
            let admitted = self
                .admit(*address, target.port)
                .map_err(|class| refuse(class, address))?;
            if admitted == Class::Operator {
                worst = admitted;
            }
        }
        Ok(Checked {
            target,
            addresses,
            class: worst,
        })
    }

    /// The addresses of a name: some, and not more than can be looked at.
    async fn resolve(&self, host: &str) -> Resolution {
        let budget = Duration::from_millis(EGRESS_RESOLVE_MS);
        let mut addresses = timeout(budget, self.resolver.resolve(host))
            .await
            .map_err(|_| ResolveError("timeout".to_owned()))??;
        addresses.dedup();
        match addresses.len() {
            0 => Err(ResolveError("no addresses".to_owned())),
            many if many > EGRESS_ADDRESSES => Err(ResolveError(format!("{many} addresses"))),
            _ => Ok(addresses),
        }
    }

    /// The one question of every address, before the dial and at it.
    fn admit(&self, address: IpAddr, port: u16) -> Result<Class, Class> {
        let class = address::admit(address, &self.policy.allow_cidrs)?;
        if self.is_own(address, port) {
            return Err(Class::OwnListener);
        }
        Ok(class)
    }

    /// Whether a host and port are this server's public address.
    fn is_own_host(&self, host: &str, port: u16) -> bool {
        let own = |known: &(String, u16)| known.0 == host && known.1 == port;
        self.policy.own_hosts.iter().any(own)
    }

    /// Whether this process listens there.
    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.iter()
            .filter(|listener| listener.port() == port)
            .any(|listener| {
                let at = address::unmapped(listener.ip());
                at == address || (at.is_unspecified() && is_of_this_host(address))
            })
    }

    /// Connects to one of the addresses that were checked, and to nothing else.
    async fn dial(&self, checked: &Checked, deadline: Instant) -> Result<TcpStream, Fault> {
        let port = checked.target.port;
        let tried = checked.addresses.len().min(EGRESS_ADDRESSES_TRIED);
        let mut last = Fault::Timeout;
        for (at, address) in checked.addresses.iter().take(tried).enumerate() {
            if let Err(class) = self.admit(*address, port) {
                return Err(refused_now(class));
            }
            // Each address that is left has its share of the time.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(tried - at).unwrap_or(1);
            match timeout(share, TcpStream::connect((*address, port))).await {
                Ok(Ok(stream)) => {
                    let peer = stream.peer_addr().map_err(Fault::Connect)?;
                    if address::unmapped(peer.ip()) != *address {
                        return Err(refused_now(Class::Reserved));
                    }
                    return Ok(stream);
                }
                Ok(Err(error)) => last = Fault::Connect(error),
                Err(_) => last = Fault::Timeout,
            }
        }
        Err(last)
    }

    /// A base address that the rules refuse would fail later, at some fetch in the night.
    fn check_bases(&self) -> Result<(), PolicyError> {
        for (provider, base) in &self.policy.provider_base {
            let wrong = |class: Class| PolicyError::ProviderBase {
                provider: provider.clone(),
                reason: class.message(),
            };
            let target = Target::read(base, &self.policy).map_err(wrong)?;
            if target.url.query().is_some() {
                return Err(wrong(Class::NotAUrl));
            }
            if let Some(address) = target.literal {
                self.admit(address, target.port).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

/// A URL that keeps every rule that needs no resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screened {
    /// The host: a name in lower-case ASCII, or an address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address, when the host is one.
    pub address: Option<IpAddr>,
}

/// The rules that need no resolution: for refusing a URL when it is saved. A URL that passes may
/// still be refused when its host is resolved.
///
/// # Errors
/// The class for which it is refused.
pub fn screen(url: &str, policy: &EgressPolicy) -> Result<Screened, Class> {
    let target = Target::read(url, policy)?;
    if let Some(address) = target.literal {
        address::admit(address, &policy.allow_cidrs)?;
    }
    Ok(Screened {
        host: target.host,
        port: target.port,
        address: target.literal,
    })
}

fn refused_now(class: Class) -> Fault {
    Fault::Connect(io::Error::new(
        io::ErrorKind::PermissionDenied,
        class.as_str(),
    ))
}

/// Whether an address belongs to an interface of this host: only then a socket can be bound to it.
/// Nothing is sent.
fn is_of_this_host(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified() || UdpSocket::bind((address, 0)).is_ok()
}
