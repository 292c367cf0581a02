//! What stands between a client and this process: whose word counts about who called, and what.

use std::net::IpAddr;

use http::HeaderMap;

use crate::ApiConfig;

/// Hops of a forwarded request that are looked at.
const HOPS: usize = 16;

/// How a request came here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Via {
    /// The client's address.
    pub(crate) client: Option<IpAddr>,
    /// The address that it called, without a slash at the end.
    pub(crate) base: String,
}

impl Via {
    /// Reads the headers of proxies that the operator trusts, and of nobody else. The address that
    /// the operator made public is the one that providers sign, whatever a proxy says.
    pub(crate) fn of(config: &ApiConfig, peer: Option<IpAddr>, headers: &HeaderMap) -> Self {
        let peer = peer.map(|peer| peer.to_canonical());
        let trusted = |address: IpAddr| {
            config
                .trusted_proxies
                .iter()
                .any(|range| range.contains(&address))
        };
        let Some(proxy) = peer.filter(|peer| trusted(*peer)) else {
            return Self {
                client: peer,
                base: config.url.clone(),
            };
        };
        let mut client = proxy;
        for hop in hops(headers) {
            let Some(address) = hop else { break };
            client = address;
            if !trusted(address) {
                break;
            }
        }
        let forwarded = forwarded_base(headers).filter(|_| !config.url_is_public);
        Self {
            client: Some(client),
            base: forwarded.unwrap_or_else(|| config.url.clone()),
        }
    }
}

/// The addresses of `X-Forwarded-For`, the nearest first; none for one that is no address.
fn hops(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    let lines: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .collect();
    let hops: Vec<Option<IpAddr>> = lines
        .iter()
        .rev()
        .take(HOPS)
        .map(|hop| {
            let address: Option<IpAddr> = hop.trim().parse().ok();
            address.map(|address| address.to_canonical())
        })
        .collect();
    hops.into_iter()
}

/// Scheme and host that a proxy says were called.
fn forwarded_base(headers: &HeaderMap) -> Option<String> {
    let one = |name: &str| {
        let mut lines = headers.get_all(name).iter();
        let line = lines.next()?.to_str().ok()?.trim();
        lines.next().is_none().then_some(line)
    };
    let scheme = one("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme))?;
    let host = one("x-forwarded-host")?;
    let is_host = !host.is_empty()
        && host.len() <= 255
        && host.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']')
        });
    is_host.then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use tokio_util::sync::CancellationToken;

    fn via(url_is_public: bool, peer: &str, headers: &[(&'static str, &'static str)]) -> Via {
        let config = ApiConfig {
            url: "https://mail.example".to_owned(),
            url_is_public,
            trusted_proxies: vec!["10.0.0.0/8".parse().expect("a range")],
            hosts: Vec::new(),
            data: String::new(),
            local_key: None,
            shutdown: CancellationToken::new(),
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        Via::of(&config, peer.parse().ok(), &map)
    }

    #[track_caller]
    fn check(seen: Via, client: &str, base: &str) {
        let expected = Via {
            client: client.parse().ok(),
            base: base.to_owned(),
        };
        assert_eq!(seen, expected);
    }

    const FORWARDED: &[(&str, &str)] = &[
        ("x-forwarded-for", "203.0.113.9, 198.51.100.7"),
        ("x-forwarded-for", "10.1.1.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "hooks.example:8443"),
    ];

    #[test]
    fn only_a_trusted_proxy_speaks_for_a_client() {
        check(
            via(false, "192.0.2.1", FORWARDED),
            "192.0.2.1",
            "https://mail.example",
        );
        check(
            via(false, "10.9.9.9", FORWARDED),
            "198.51.100.7",
            "https://hooks.example:8443",
        );
        check(
            via(false, "::ffff:10.9.9.9", FORWARDED),
            "198.51.100.7",
            "https://hooks.example:8443",
        );
    }

    #[test]
    fn the_public_address_is_the_one_that_is_signed() {
        check(
            via(true, "10.9.9.9", FORWARDED),
            "198.51.100.7",
            "https://mail.example",
        );
    }

    #[test]
    fn what_is_no_address_or_host_is_not_taken() {
        let odd = &[
            ("x-forwarded-for", "nonsense, 10.1.1.1"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "a.example/in/x?y="),
        ];
        check(
            via(false, "10.9.9.9", odd),
            "10.1.1.1",
            "https://mail.example",
        );
        check(
            via(false, "10.9.9.9", &[]),
            "10.9.9.9",
            "https://mail.example",
        );
    }
}
