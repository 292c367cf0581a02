//! The rules a URL must keep before anything is resolved.

use std::net::IpAddr;

use postroom_types::limit::URL_BYTES;
use url::{Host, Url};

use super::{Class, EgressPolicy};

/// Names that mean this host or the network it stands in (RFC 6761, RFC 6762, RFC 8375, and the
/// private-use name `internal`).
const LOCAL_NAMES: &[&str] = &["localhost", "localdomain", "local", "internal", "home.arpa"];

/// A URL that may be resolved.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The URL as it is asked for.
    pub(super) url: Url,
    /// Whether TLS is spoken.
    pub(super) tls: bool,
    /// The host without brackets.
    pub(super) host: String,
    /// The address, when the host is one.
    pub(super) literal: Option<IpAddr>,
    /// The port.
    pub(super) port: u16,
}

impl Target {
    /// Reads a URL.
    ///
    /// # Errors
    /// The class for which it is refused.
    pub(super) fn read(text: &str, policy: &EgressPolicy) -> Result<Self, Class> {
        if text.len() > URL_BYTES {
            return Err(Class::TooLong);
        }
        // The parser drops control characters and takes backslashes for slashes, as browsers do;
        // a URL that needs this was written to be read in two ways.
        let odd = |char: char| char.is_control() || char.is_whitespace() || char == '\\';
        if text.contains(odd) {
            return Err(Class::NotAUrl);
        }
        let (scheme, rest) = text.split_once(':').ok_or(Class::NotAUrl)?;
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" if policy.allow_http => false,
            _ => return Err(Class::Scheme),
        };
        if !rest.starts_with("//") || rest.starts_with("///") {
            return Err(Class::NotAUrl);
        }
        let url = Url::parse(text).map_err(|_| Class::NotAUrl)?;
        // An empty name before the @ is dropped by the parser.
        let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next();
        if authority.is_none_or(|authority| authority.contains('@')) {
            return Err(Class::Userinfo);
        }
        if url.fragment().is_some() {
            return Err(Class::Fragment);
        }
        let port = url.port_or_known_default().ok_or(Class::Port)?;
        let (host, literal) = match url.host().ok_or(Class::NotAUrl)? {
            Host::Ipv4(v4) => (v4.to_string(), Some(IpAddr::V4(v4))),
            Host::Ipv6(v6) => (v6.to_string(), Some(IpAddr::V6(v6))),
            Host::Domain(name) => {
                check_name(name)?;
                (name.to_owned(), None)
            }
        };
        let target = Self {
            tls,
            host,
            literal,
            port,
            url,
        };
        target.check_port(policy)?;
        Ok(target)
    }

    fn check_port(&self, policy: &EgressPolicy) -> Result<(), Class> {
        let usual = if self.tls { 443 } else { 80 };
        if self.port == usual
            || policy
                .allow_ports
                .iter()
                .any(|ports| ports.contains(self.port))
        {
            return Ok(());
        }
        Err(Class::Port)
    }

    /// The value of the Host header.
    pub(super) fn host_header(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        match self.url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Path and query, as they go into the request line.
    pub(super) fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }
}

/// A name of the public DNS: several labels of letters, digits, hyphens and underscores.
fn check_name(name: &str) -> Result<(), Class> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let local = |suffix: &str| {
        bare.strip_suffix(suffix)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if LOCAL_NAMES.iter().any(|suffix| local(suffix)) {
        return Err(Class::LocalName);
    }
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let labels = bare.split('.').count();
    let numeric = bare
        .rsplit('.')
        .next()
        .is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
    if bare.len() != name.len() || labels < 2 || bare.len() > 253 || numeric {
        return Err(Class::Name);
    }
    bare.split('.').all(label).then_some(()).ok_or(Class::Name)
}
