//! What the operator allows beyond the rules.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    str::FromStr,
};

use ipnet::IpNet;

/// What the operator said. The default allows nothing beyond public addresses on port 443.
///
/// No tenant's word reaches this: it is read once, when the process starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressPolicy {
    /// Ranges of addresses that may be dialled although they are not public.
    pub allow_cidrs: Vec<Range>,
    /// Ports beside 443.
    pub allow_ports: Vec<Ports>,
    /// Certificates in PEM that TLS trusts beside the public ones.
    pub extra_ca: Option<PathBuf>,
    /// Whether `http` is taken beside `https`, with port 80.
    pub allow_http: bool,
    /// A file that answers instead of DNS.
    pub dns_file: Option<PathBuf>,
    /// Base addresses of providers' interfaces that are not the public ones.
    pub provider_base: BTreeMap<String, String>,
    /// Where this process listens: refused always.
    pub own_listeners: Vec<SocketAddr>,
    /// Host and port under which others reach this process, when that is not a listener.
    pub own_hosts: Vec<(String, u16)>,
}

/// A range of addresses, such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range(IpNet);

impl Range {
    /// The range.
    pub fn net(&self) -> &IpNet {
        &self.0
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What a range must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an address range without host bits such as 10.0.0.0/8 or fd00::/8, or one address such as 127.0.0.1"
)]
pub struct BadRange;

impl FromStr for Range {
    type Err = BadRange;

    fn from_str(text: &str) -> Result<Self, BadRange> {
        // The standard library reads the address: it takes no leading zeros.
        let address = text.split('/').next().unwrap_or_default();
        let address: IpAddr = address.parse().map_err(|_| BadRange)?;
        let net = if text.contains('/') {
            text.parse().map_err(|_| BadRange)?
        } else {
            IpNet::from(address)
        };
        // A slip such as 10.0.0.1/8 could mean one address or sixteen million. A mapped range
        // would never match: mapped addresses are refused as such.
        let mapped = matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some());
        if net.addr() != net.network() || mapped {
            return Err(BadRange);
        }
        Ok(Self(net))
    }
}

/// A port or a range of ports, such as `8443` or `8000-8999`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    first: u16,
    last: u16,
}

impl Ports {
    /// Whether a port is in it.
    pub fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl std::fmt::Display for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

/// What ports must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a port from 1 to 65535 or a range such as 8000-8999")]
pub struct BadPorts;

impl FromStr for Ports {
    type Err = BadPorts;

    fn from_str(text: &str) -> Result<Self, BadPorts> {
        let port = |text: &str| match text.parse::<u16>() {
            Ok(port) if port > 0 && !text.starts_with('+') => Ok(port),
            _ => Err(BadPorts),
        };
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (port(first)?, port(last)?),
            None => (port(text)?, port(text)?),
        };
        if first > last {
            return Err(BadPorts);
        }
        Ok(Self { first, last })
    }
}

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// More entries than are looked through for each request.
    #[error(
        "[egress] {key} has more than {} entries",
        postroom_types::limit::EGRESS_ALLOWANCES
    )]
    TooMany {
        /// The key.
        key: &'static str,
    },
    /// The certificates cannot be read.
    #[error("[egress] extra_ca: {path} cannot be read")]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The certificates are none.
    #[error("[egress] extra_ca: {path} holds no usable certificate in PEM")]
    CaPem {
        /// The file.
        path: PathBuf,
    },
    /// The DNS file cannot be read.
    #[error("[egress] dns_file: {path} cannot be read")]
    DnsFile {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The DNS file is not as it should be.
    #[error("[egress] dns_file: {path}: {source}")]
    DnsEntry {
        /// The file.
        path: PathBuf,
        /// Which entry.
        #[source]
        source: super::DnsFileError,
    },
    /// A provider's base address could never be dialled.
    #[error("[egress] provider_base.{provider} cannot be dialled: {reason}")]
    ProviderBase {
        /// The provider.
        provider: String,
        /// Why.
        reason: &'static str,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_exactly_or_not_at_all() {
        for (text, shown) in [
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("127.0.0.1", Some("127.0.0.1/32")),
            ("::1", Some("::1/128")),
            ("fd00::/8", Some("fd00::/8")),
            ("0.0.0.0/0", Some("0.0.0.0/0")),
            ("10.0.0.1/8", None),
            ("10.0.0.0/33", None),
            ("10.0.0/8", None),
            ("10.0.0.0/8 ", None),
            ("010.0.0.0/8", None),
            ("::ffff:10.0.0.0/104", None),
            ("localhost", None),
            ("*", None),
            ("", None),
        ] {
            let seen = text.parse::<Range>().ok().map(|range| range.to_string());
            assert_eq!(seen.as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn ports_are_one_or_a_range() {
        for (text, shown) in [
            ("8443", Some("8443")),
            ("1-65535", Some("1-65535")),
            ("80-80", Some("80")),
            ("0", None),
            ("65536", None),
            ("9-8", None),
            ("+80", None),
            ("", None),
            ("http", None),
        ] {
            let seen = text.parse::<Ports>().ok().map(|ports| ports.to_string());
            assert_eq!(seen.as_deref(), shown, "{text}");
        }
    }
}
