//! The keys of the table `[egress]`: what the operator allows this process to dial beyond public
//! addresses on port 443. No tenant can say any of it.

use std::collections::BTreeMap;

use postroom_net::egress::{BadPorts, BadRange, EgressPolicy, Ports, Range};

use super::{Config, Key, path, text};

/// The name of the table, and the beginning of its keys.
pub(super) const TABLE: &str = "egress";

/// The keys, sorted. A list stands in one text, separated by commas.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "egress.allow_cidrs",
        about: "private ranges that given URLs may lead to, such as 10.0.0.0/8",
        secret: false,
        set: allow_cidrs,
        show: |c| joined(&c.egress.allow_cidrs),
    },
    Key {
        name: "egress.allow_http",
        about: "true takes http beside https for given URLs",
        secret: false,
        set: allow_http,
        show: |c| Some(c.egress.allow_http.to_string()),
    },
    Key {
        name: "egress.allow_ports",
        about: "ports beside 443 that given URLs may use, such as 8443 or 8000-8999",
        secret: false,
        set: allow_ports,
        show: |c| joined(&c.egress.allow_ports),
    },
    Key {
        name: "egress.dns_file",
        about: "JSON file that answers instead of DNS",
        secret: false,
        set: |c, v| {
            c.egress.dns_file = path(v);
            Ok(())
        },
        show: |c| shown(c.egress.dns_file.as_deref()),
    },
    Key {
        name: "egress.extra_ca",
        about: "certificates in PEM that TLS to given URLs trusts beside the public ones",
        secret: false,
        set: |c, v| {
            c.egress.extra_ca = path(v);
            Ok(())
        },
        show: |c| shown(c.egress.extra_ca.as_deref()),
    },
    Key {
        name: "egress.provider_base",
        about: "other base addresses of providers, as resend=https://relay.example.com",
        secret: false,
        set: provider_base,
        show: |c| {
            let bases = c.egress.provider_base.iter();
            let bases: Vec<String> = bases.map(|(name, base)| format!("{name}={base}")).collect();
            joined(&bases)
        },
    },
];

/// The entries of a list that is one text.
pub(super) fn entries(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
}

/// A value of the table as one text: a scalar, a list of scalars, or a table of names and values.
pub(super) fn flat(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(super::scalar).collect();
            Some(items?.join(","))
        }
        toml::Value::Table(names) => {
            let named = names
                .iter()
                .map(|(name, value)| Some(format!("{name}={}", super::scalar(value)?)));
            let named: Option<Vec<String>> = named.collect();
            Some(named?.join(","))
        }
        other => super::scalar(other),
    }
}

fn allow_cidrs(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.egress.allow_cidrs = ranges(value)?;
    Ok(())
}

/// Ranges of addresses, separated by commas.
pub(super) fn ranges(value: &str) -> Result<Vec<Range>, &'static str> {
    let ranges: Result<Vec<Range>, BadRange> = entries(value).map(str::parse).collect();
    ranges.map_err(|_| {
        "an address range without host bits such as 10.0.0.0/8 or fd00::/8, or one address such as 127.0.0.1"
    })
}

fn allow_ports(config: &mut Config, value: &str) -> Result<(), &'static str> {
    let ports: Result<Vec<Ports>, BadPorts> = entries(value).map(str::parse).collect();
    config.egress.allow_ports =
        ports.map_err(|_| "a port from 1 to 65535 or a range such as 8000-8999")?;
    Ok(())
}

fn allow_http(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.egress.allow_http = value.parse().map_err(|_| "true or false")?;
    Ok(())
}

/// Providers that something is fetched from, so that another base means something.
const PROVIDERS: &[&str] = &["resend"];
/// What is said of every other: there is one to be near to.
const UNKNOWN_PROVIDER: &str = "resend and an absolute URL: nothing is fetched from a provider of another name; did you mean resend?";

fn provider_base(config: &mut Config, value: &str) -> Result<(), &'static str> {
    const EXPECTED: &str =
        "a provider and an absolute URL, such as resend=https://relay.example.com";
    let mut bases = BTreeMap::new();
    for entry in entries(value) {
        let (name, base) = entry.split_once('=').ok_or(EXPECTED)?;
        let name_is_one = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let base = text(base)
            .filter(|base| base.contains("://"))
            .ok_or(EXPECTED)?;
        if !name_is_one {
            return Err(EXPECTED);
        }
        if !PROVIDERS.contains(&name) {
            return Err(UNKNOWN_PROVIDER);
        }
        bases.insert(name.to_owned(), base);
    }
    config.egress.provider_base = bases;
    Ok(())
}

pub(super) fn joined<T: ToString>(items: &[T]) -> Option<String> {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    (!items.is_empty()).then(|| items.join(", "))
}

fn shown(path: Option<&std::path::Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}

/// The policy of a process that is configured like this: its own listeners belong to it.
pub(crate) fn policy(config: &Config) -> EgressPolicy {
    let listeners = [Some(config.listen), config.smtp, config.lmtp];
    let public = config.public_url.as_deref().and_then(|url| {
        let url = reqwest::Url::parse(url).ok()?;
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        Some((host, url.port_or_known_default()?))
    });
    EgressPolicy {
        own_listeners: listeners
            .into_iter()
            .flatten()
            .filter(|listener| listener.port() != 0)
            .collect(),
        own_hosts: public.into_iter().collect(),
        ..config.egress.clone()
    }
}
