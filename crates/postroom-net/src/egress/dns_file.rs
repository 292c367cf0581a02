//! A file that answers instead of DNS: one JSON object, name to type to values.
//!
//! For tests and for networks that have no DNS. Names are lower case without a trailing dot; a
//! type is `A`, `AAAA`, `MX`, `TXT`, `CNAME`, `PTR`, `NS` or `*` for any type that is not listed;
//! the values are a list of records, or one of `SERVFAIL`, `TIMEOUT`, `REFUSED`, `NXDOMAIN`.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use serde_json::Value;

use super::resolve::{Resolution, ResolveError, Resolver, Resolving};

/// Aliases followed for one question.
const ALIASES: usize = 8;
/// Types that an entry may have.
const TYPES: &[&str] = &["A", "AAAA", "MX", "TXT", "CNAME", "PTR", "NS", "*"];

/// What the file says of one name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Records {
    /// The records, in answer order.
    Listed(Vec<String>),
    /// A temporary failure.
    Failure(String),
    /// There is no such name.
    NoName,
}

/// Answers out of a file.
#[derive(Debug, Clone, Default)]
pub struct DnsFile {
    names: BTreeMap<String, BTreeMap<String, Records>>,
}

/// An entry that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{entry}: expected {expected}")]
pub struct DnsFileError {
    /// The entry: name and type.
    pub entry: String,
    /// What would be valid.
    pub expected: &'static str,
}

impl DnsFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`DnsFileError`] names the first entry that cannot be used.
    pub fn parse(text: &str) -> Result<Self, DnsFileError> {
        let wrong = |entry: String, expected| DnsFileError { entry, expected };
        let Ok(Value::Object(file)) = serde_json::from_str(text) else {
            return Err(wrong("the file".to_owned(), "one JSON object"));
        };
        let mut names = BTreeMap::new();
        for (name, types) in file {
            let Value::Object(types) = types else {
                return Err(wrong(name, "an object of types"));
            };
            let lower_case = name.trim_end_matches('.').to_ascii_lowercase();
            if lower_case != name || !name.is_ascii() {
                return Err(wrong(
                    name,
                    "a name in lower-case ASCII without a trailing dot",
                ));
            }
            let mut read = BTreeMap::new();
            for (kind, values) in types {
                let entry = format!("{name} {kind}");
                if !TYPES.contains(&kind.as_str()) {
                    return Err(wrong(entry, "A, AAAA, MX, TXT, CNAME, PTR, NS or *"));
                }
                let records = records(&kind, &values).map_err(|expected| wrong(entry, expected))?;
                read.insert(kind, records);
            }
            names.insert(name, read);
        }
        Ok(Self { names })
    }

    /// The addresses of a name: both kinds, aliases followed.
    ///
    /// # Errors
    /// [`ResolveError`] when either question fails or the aliases go round in a circle.
    pub fn addresses(&self, host: &str) -> Resolution {
        let mut found = Vec::new();
        for kind in ["A", "AAAA"] {
            let texts = self.ask(host, kind)?;
            found.extend(texts.iter().filter_map(|text| text.parse::<IpAddr>().ok()));
        }
        Ok(found)
    }

    /// The records of a name and type.
    fn ask(&self, host: &str, kind: &str) -> Result<&[String], ResolveError> {
        let mut name = host.trim_end_matches('.').to_ascii_lowercase();
        for _ in 0..=ALIASES {
            let Some(types) = self.names.get(&name) else {
                return Ok(&[]);
            };
            let alias = types.get("CNAME").filter(|_| !types.contains_key(kind));
            match (types.get(kind), alias) {
                (Some(records), _) => return listed(records),
                (None, Some(Records::Listed(targets))) => {
                    let target = targets.first().map(String::as_str).unwrap_or_default();
                    name = target.trim_end_matches('.').to_ascii_lowercase();
                }
                (None, Some(records)) => return listed(records),
                (None, None) => return types.get("*").map_or(Ok(&[]), listed),
            }
        }
        Err(ResolveError("SERVFAIL: too many aliases".to_owned()))
    }
}

fn listed(records: &Records) -> Result<&[String], ResolveError> {
    match records {
        Records::Listed(records) => Ok(records),
        Records::NoName => Ok(&[]),
        Records::Failure(failure) => Err(ResolveError(failure.clone())),
    }
}

/// Reads the values of one type.
fn records(kind: &str, values: &Value) -> Result<Records, &'static str> {
    match values {
        Value::String(failure) if failure == "NXDOMAIN" => Ok(Records::NoName),
        Value::String(failure)
            if ["SERVFAIL", "TIMEOUT", "REFUSED"].contains(&failure.as_str()) =>
        {
            Ok(Records::Failure(failure.clone()))
        }
        Value::Array(values) if kind != "*" => values
            .iter()
            .map(|value| record(kind, value))
            .collect::<Result<_, _>>()
            .map(Records::Listed),
        _ => Err("a list of records, or SERVFAIL, TIMEOUT, REFUSED or NXDOMAIN"),
    }
}

fn record(kind: &str, value: &Value) -> Result<String, &'static str> {
    if let (Value::Array(strings), "TXT") = (value, kind) {
        let joined: Option<String> = strings.iter().map(Value::as_str).collect();
        return joined.ok_or("strings of one TXT record");
    }
    let text = value.as_str().ok_or("a string for each record")?;
    let valid = match kind {
        "A" => text.parse::<Ipv4Addr>().is_ok(),
        "AAAA" => text.parse::<Ipv6Addr>().is_ok(),
        "MX" => text.split_once(' ').is_some_and(|(preference, host)| {
            preference.parse::<u16>().is_ok() && !host.is_empty()
        }),
        "TXT" => true,
        _ => !text.is_empty() && !text.contains(char::is_whitespace),
    };
    let expected = match kind {
        "A" => "an IPv4 address",
        "AAAA" => "an IPv6 address",
        "MX" => "PREFERENCE HOST",
        _ => "a name",
    };
    valid.then(|| text.to_owned()).ok_or(expected)
}

impl Resolver for DnsFile {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(std::future::ready(self.addresses(host)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
        "a.example": {"A": ["192.0.2.7", "192.0.2.8"], "AAAA": ["2001:db8::1"]},
        "alias.example": {"CNAME": ["a.example"]},
        "circle.example": {"CNAME": ["circle.example"]},
        "slow.example": {"*": "TIMEOUT"},
        "half.example": {"A": ["192.0.2.7"], "AAAA": "SERVFAIL"},
        "mail.example": {"MX": ["10 mx.mail.example"], "TXT": [["v=spf1 ", "-all"], "x"]},
        "gone.example": {"A": "NXDOMAIN"}
    }"#;

    #[test]
    fn a_file_answers_as_dns_would() {
        let file = DnsFile::parse(FILE).expect("valid");
        let addresses = |host| file.addresses(host).map(|addresses| addresses.len());
        assert_eq!(addresses("a.example"), Ok(3));
        assert_eq!(addresses("A.Example."), Ok(3));
        assert_eq!(addresses("alias.example"), Ok(3));
        assert_eq!(addresses("mail.example"), Ok(0));
        assert_eq!(addresses("gone.example"), Ok(0));
        assert_eq!(addresses("nobody.example"), Ok(0));
        for failing in ["circle.example", "slow.example", "half.example"] {
            assert!(addresses(failing).is_err(), "{failing}");
        }
    }

    #[test]
    fn an_entry_that_is_wrong_is_named() {
        for (text, entry) in [
            ("[]", "the file"),
            ("{", "the file"),
            (r#"{"a.example": []}"#, "a.example"),
            (r#"{"A.example": {}}"#, "A.example"),
            (r#"{"a.example.": {}}"#, "a.example."),
            (r#"{"a.example": {"SRV": []}}"#, "a.example SRV"),
            (r#"{"a.example": {"A": ["::1"]}}"#, "a.example A"),
            (r#"{"a.example": {"A": "BROKEN"}}"#, "a.example A"),
            (r#"{"a.example": {"A": [1]}}"#, "a.example A"),
            (r#"{"a.example": {"MX": ["mx"]}}"#, "a.example MX"),
            (r#"{"a.example": {"*": []}}"#, "a.example *"),
            (r#"{"a.example": {"CNAME": [["a"]]}}"#, "a.example CNAME"),
        ] {
            assert_eq!(DnsFile::parse(text).expect_err("refused").entry, entry);
        }
    }
}
