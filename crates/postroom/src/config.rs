//! Configuration: defaults, then `postroom.toml`, then `POSTROOM_*` variables, then options.
//!
//! One table names every key; the file, the variables and `postroom config` are read from it. A key
//! that is not in the table stops the start and the nearest known one is named. This is the only
//! place that reads the environment.

pub(crate) mod egress;
mod error;
pub(crate) mod transport;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

pub(crate) use error::ConfigError;
use postroom_app::{rate::RateLimits, room::Retention};
use postroom_net::egress::{EgressPolicy, Range};

/// The file read when no other is named and it exists.
pub(crate) const FILE: &str = "postroom.toml";

/// The tables of the file.
const TABLES: &[&str] = &[egress::TABLE, transport::TABLE];

/// The prefix of variables.
const PREFIX: &str = "POSTROOM_";

/// Variables with the prefix that are not configuration: where the file is, and what the test
/// suite is told.
const APART: &[&str] = &["POSTROOM_CONFIG", "POSTROOM_CORPORA", "POSTROOM_VECTORS"];
const TEST_PREFIX: &str = "POSTROOM_TEST_";

/// The largest rate that can be set.
const RATE_MOST: u32 = 1_000_000;

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// What the process was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// The data folder.
    pub(crate) data: PathBuf,
    /// HTTP: REST, MCP and the page.
    pub(crate) listen: SocketAddr,
    /// SMTP; `None` when switched off.
    pub(crate) smtp: Option<SocketAddr>,
    /// LMTP; off unless given.
    pub(crate) lmtp: Option<SocketAddr>,
    /// PostgreSQL instead of SQLite in the data folder.
    pub(crate) database_url: Option<String>,
    /// The name that SMTP answers with and the domain of the first identity.
    pub(crate) hostname: String,
    /// The address under which clients reach HTTP, when it is not the listener's.
    pub(crate) public_url: Option<String>,
    /// Certificate chain in PEM for STARTTLS.
    pub(crate) tls_certificate: Option<PathBuf>,
    /// Its private key in PEM.
    pub(crate) tls_key: Option<PathBuf>,
    /// 32 or more characters from which subkeys are made, instead of `secret.key`.
    pub(crate) secret_key: Option<String>,
    /// Requests per minute that callers may make.
    pub(crate) rates: RateLimits,
    /// What given URLs may lead to beyond public addresses; see [`egress::policy`].
    pub(crate) egress: EgressPolicy,
    /// How long deliveries are kept.
    pub(crate) retention: Retention,
    /// By which way sent mail leaves; see [`transport::options`].
    pub(crate) transport: transport::Transport,
    /// Proxies whose word about who called, and at which address, counts.
    pub(crate) trusted_proxies: Vec<Range>,
    /// A server that client commands talk to.
    pub(crate) url: Option<String>,
    /// The key that client commands show to it.
    pub(crate) key: Option<String>,
    /// The identity that commands act as.
    pub(crate) identity: Option<String>,
    /// A filter of the `tracing` kind; servers log from `info` and other commands from `warn`
    /// without one.
    pub(crate) log_level: Option<String>,
    /// How log lines are written.
    pub(crate) log_format: LogFormat,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: PathBuf::from("./postroom-data"),
            listen: SocketAddr::from(([127, 0, 0, 1], 8025)),
            smtp: Some(SocketAddr::from(([127, 0, 0, 1], 2525))),
            lmtp: None,
            database_url: None,
            hostname: "localhost".to_owned(),
            public_url: None,
            tls_certificate: None,
            tls_key: None,
            secret_key: None,
            rates: RateLimits::default(),
            egress: EgressPolicy::default(),
            retention: Retention::default(),
            transport: transport::Transport::default(),
            trusted_proxies: Vec::new(),
            url: None,
            key: None,
            identity: None,
            log_level: None,
            log_format: LogFormat::Text,
        }
    }
}

/// One key of the table.
struct Key {
    name: &'static str,
    about: &'static str,
    secret: bool,
    set: fn(&mut Config, &str) -> Result<(), &'static str>,
    show: fn(&Config) -> Option<String>,
}

/// Every key outside of tables, sorted.
const KEYS: &[Key] = &[
    Key {
        name: "as",
        about: "identity that commands act as",
        secret: false,
        set: |c, v| {
            c.identity = text(v);
            Ok(())
        },
        show: |c| c.identity.clone(),
    },
    Key {
        name: "data",
        about: "data folder",
        secret: false,
        set: |c, v| {
            c.data = PathBuf::from(v);
            Ok(())
        },
        show: |c| Some(c.data.display().to_string()),
    },
    Key {
        name: "database_url",
        about: "PostgreSQL, as postgres://user:password@host/name",
        secret: true,
        set: database_url,
        show: |c| c.database_url.clone(),
    },
    Key {
        name: "event_days",
        about: "days that deliveries are kept, 0 for ever; mail is kept for ever",
        secret: false,
        set: |c, v| {
            let days: u64 = v.parse().map_err(|_| "a number of days, or 0")?;
            c.retention.event_days = (days > 0).then_some(days);
            Ok(())
        },
        show: |c| Some(c.retention.event_days.unwrap_or(0).to_string()),
    },
    Key {
        name: "events_kept",
        about: "deliveries of one tenant that are kept, the newest, 0 for all",
        secret: false,
        set: |c, v| {
            let kept: usize = v.parse().map_err(|_| "a number of deliveries, or 0")?;
            c.retention.events = (kept > 0).then_some(kept);
            Ok(())
        },
        show: |c| Some(c.retention.events.unwrap_or(0).to_string()),
    },
    Key {
        name: "hostname",
        about: "name that SMTP answers with",
        secret: false,
        set: hostname,
        show: |c| Some(c.hostname.clone()),
    },
    Key {
        name: "key",
        about: "key that client commands show",
        secret: true,
        set: |c, v| {
            c.key = text(v);
            Ok(())
        },
        show: |c| c.key.clone(),
    },
    Key {
        name: "listen",
        about: "address and port of HTTP",
        secret: false,
        set: |c, v| {
            c.listen = address(v)?;
            Ok(())
        },
        show: |c| Some(c.listen.to_string()),
    },
    Key {
        name: "lmtp",
        about: "address and port of LMTP, or off",
        secret: false,
        set: |c, v| {
            c.lmtp = listener(v)?;
            Ok(())
        },
        show: |c| Some(shown(c.lmtp)),
    },
    Key {
        name: "log_format",
        about: "text or json",
        secret: false,
        set: log_format,
        show: |c| {
            Some(
                if c.log_format == LogFormat::Json {
                    "json"
                } else {
                    "text"
                }
                .to_owned(),
            )
        },
    },
    Key {
        name: "log_level",
        about: "error, warn, info, debug, trace, or a filter",
        secret: false,
        set: |c, v| {
            c.log_level = text(v);
            Ok(())
        },
        show: |c| c.log_level.clone(),
    },
    Key {
        name: "public_url",
        about: "address under which clients reach HTTP",
        secret: false,
        set: public_url,
        show: |c| c.public_url.clone(),
    },
    Key {
        name: "rate_ingest",
        about: "raw mails that one key may put in per minute",
        secret: false,
        set: |c, v| rate(&mut c.rates.ingest, v),
        show: |c| Some(c.rates.ingest.to_string()),
    },
    Key {
        name: "rate_key",
        about: "requests of one key per minute; the command line on this machine is not counted",
        secret: false,
        set: |c, v| rate(&mut c.rates.key, v),
        show: |c| Some(c.rates.key.to_string()),
    },
    Key {
        name: "rate_replay",
        about: "replays of one key per second; four times as many at once",
        secret: false,
        set: |c, v| rate(&mut c.rates.replay, v),
        show: |c| Some(c.rates.replay.to_string()),
    },
    Key {
        name: "rate_search",
        about: "searches of one key per minute",
        secret: false,
        set: |c, v| rate(&mut c.rates.search, v),
        show: |c| Some(c.rates.search.to_string()),
    },
    Key {
        name: "rate_send",
        about: "mails that one mailbox may send per minute",
        secret: false,
        set: |c, v| rate(&mut c.rates.send, v),
        show: |c| Some(c.rates.send.to_string()),
    },
    Key {
        name: "rate_source",
        about: "deliveries of one webhook source per second; twice as many at once",
        secret: false,
        set: |c, v| rate(&mut c.rates.source, v),
        show: |c| Some(c.rates.source.to_string()),
    },
    Key {
        name: "rate_tenant",
        about: "requests of all keys of one tenant per minute",
        secret: false,
        set: |c, v| rate(&mut c.rates.tenant, v),
        show: |c| Some(c.rates.tenant.to_string()),
    },
    Key {
        name: "secret_key",
        about: "secret from which subkeys are made, instead of secret.key",
        secret: true,
        set: secret_key,
        show: |c| c.secret_key.clone(),
    },
    Key {
        name: "smtp",
        about: "address and port of SMTP, or off",
        secret: false,
        set: |c, v| {
            c.smtp = listener(v)?;
            Ok(())
        },
        show: |c| Some(shown(c.smtp)),
    },
    Key {
        name: "tls_certificate",
        about: "certificate chain in PEM for STARTTLS",
        secret: false,
        set: |c, v| {
            c.tls_certificate = path(v);
            Ok(())
        },
        show: |c| {
            c.tls_certificate
                .as_ref()
                .map(|path| path.display().to_string())
        },
    },
    Key {
        name: "tls_key",
        about: "its private key in PEM",
        secret: false,
        set: |c, v| {
            c.tls_key = path(v);
            Ok(())
        },
        show: |c| c.tls_key.as_ref().map(|path| path.display().to_string()),
    },
    Key {
        name: "trusted_proxies",
        about: "addresses of proxies whose X-Forwarded headers count, such as 10.0.0.0/8",
        secret: false,
        set: |c, v| {
            c.trusted_proxies = egress::ranges(v)?;
            Ok(())
        },
        show: |c| egress::joined(&c.trusted_proxies),
    },
    Key {
        name: "url",
        about: "server that client commands talk to",
        secret: false,
        set: |c, v| {
            c.url = text(v);
            Ok(())
        },
        show: |c| c.url.clone(),
    },
];

/// Reads the file and the environment of this process.
///
/// # Errors
/// [`ConfigError`] for an unknown key, a bad value or an unreadable file.
pub(crate) fn load(file: Option<&Path>) -> Result<Config, ConfigError> {
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(PREFIX))
        .collect();
    let named = file
        .map(Path::to_owned)
        .or_else(|| variables.get("POSTROOM_CONFIG").map(PathBuf::from));
    let text = match &named {
        Some(path) => Some((path.clone(), read(path)?)),
        None if Path::new(FILE).exists() => Some((PathBuf::from(FILE), read(Path::new(FILE))?)),
        None => None,
    };
    let text = text
        .as_ref()
        .map(|(path, text)| (path.display().to_string(), text.as_str()));
    assemble(
        text.as_ref().map(|(name, text)| (name.as_str(), *text)),
        &variables,
    )
}

/// Whether the environment asks for output without colours (<https://no-color.org>).
pub(crate) fn no_color() -> bool {
    std::env::vars_os().any(|(name, value)| name == "NO_COLOR" && !value.is_empty())
}

fn read(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        file: path.display().to_string(),
        source,
    })
}

/// Defaults, then the file, then the variables.
fn assemble(
    file: Option<(&str, &str)>,
    variables: &BTreeMap<String, String>,
) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    if let Some((name, text)) = file {
        let table: toml::Table =
            text.parse()
                .map_err(|error: toml::de::Error| ConfigError::NotToml {
                    file: name.to_owned(),
                    message: error.to_string().trim().replace('\n', " "),
                })?;
        for (key, value) in &table {
            match value {
                toml::Value::Table(inner) if TABLES.contains(&key.as_str()) => {
                    for (inside, value) in inner {
                        let key = format!("{key}.{inside}");
                        set_from_file(&mut config, name, &key, egress::flat(value))?;
                    }
                }
                value => set_from_file(&mut config, name, key, scalar(value))?,
            }
        }
    }
    for (variable, value) in variables {
        if APART.contains(&variable.as_str()) || variable.starts_with(TEST_PREFIX) {
            continue;
        }
        let key = variable
            .strip_prefix(PREFIX)
            .unwrap_or(variable)
            .to_lowercase();
        let row = keys()
            .find(|row| row.name.replace('.', "_") == key)
            .ok_or_else(|| ConfigError::UnknownVariable {
                variable: variable.clone(),
                nearest: format!("{PREFIX}{}", nearest(&key).replace('.', "_").to_uppercase()),
            })?;
        set(&mut config, row, variable.clone(), value)?;
    }
    if config.tls_certificate.is_some() != config.tls_key.is_some() {
        return Err(ConfigError::HalfTls);
    }
    Ok(config)
}

/// Sets a key as the file has it.
fn set_from_file(
    config: &mut Config,
    file: &str,
    key: &str,
    value: Option<String>,
) -> Result<(), ConfigError> {
    let row = keys()
        .find(|row| row.name == key)
        .ok_or_else(|| ConfigError::UnknownKey {
            file: file.to_owned(),
            key: key.to_owned(),
            nearest: nearest(key),
        })?;
    let place = format!("`{key}` in {file}");
    match value {
        Some(value) => set(config, row, place, &value),
        None => Err(ConfigError::BadValue {
            place,
            expected: "a string",
        }),
    }
}

/// Sets a key. Of a list the entry that is wrong is named.
fn set(config: &mut Config, row: &Key, place: String, value: &str) -> Result<(), ConfigError> {
    (row.set)(config, value).map_err(|expected| {
        let mut aside = Config::default();
        let wrong = egress::entries(value)
            .filter(|_| TABLES.iter().any(|table| row.name.starts_with(table)))
            .find(|entry| (row.set)(&mut aside, entry).is_err());
        let place = match wrong {
            Some(entry) => format!("`{entry}` of {place}"),
            None => place,
        };
        ConfigError::BadValue { place, expected }
    })
}

/// Every key, those of tables behind the others.
fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(egress::KEYS).chain(transport::KEYS)
}

/// The keys with what they mean and their value now, secrets hidden.
pub(crate) fn rows(config: &Config) -> Vec<(&'static str, String, &'static str)> {
    keys()
        .map(|key| {
            let value = (key.show)(config).unwrap_or_else(|| "-".to_owned());
            let value = if key.secret && value != "-" {
                "(set)".to_owned()
            } else {
                value
            };
            (key.name, value, key.about)
        })
        .collect()
}

/// The keys that differ from their defaults.
pub(crate) fn changed(config: &Config) -> Vec<&'static str> {
    let defaults = Config::default();
    keys()
        .filter(|key| (key.show)(config) != (key.show)(&defaults))
        .map(|key| key.name)
        .collect()
}

/// The known key that is most like `name`.
fn nearest(name: &str) -> &'static str {
    let most_like = |names: &mut dyn Iterator<Item = &'static str>, name: &str| {
        names.max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)))
    };
    // The name of a table is a key's first part; what is most like the whole may be of another.
    let whole = keys().map(|key| key.name);
    let tables = TABLES.iter().copied();
    let found = match name.split_once('.') {
        Some((table, _)) => {
            let table = most_like(&mut tables.clone(), table).unwrap_or_default();
            let inside = |key: &&'static str| key.starts_with(table) && key.contains('.');
            most_like(&mut whole.filter(inside), name)
        }
        None => most_like(&mut whole.chain(tables), name),
    };
    found.unwrap_or("data")
}

fn scalar(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

fn path(value: &str) -> Option<PathBuf> {
    (!value.is_empty()).then(|| PathBuf::from(value))
}

/// Reads an address with a port; a bare port means the loopback address.
pub(crate) fn address(value: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(port) = value.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    value
        .replace("localhost:", "127.0.0.1:")
        .parse()
        .map_err(|_| "an address with a port, such as 127.0.0.1:8025")
}

/// Reads a listener's address, or `off`.
pub(crate) fn listener(value: &str) -> Result<Option<SocketAddr>, &'static str> {
    match value {
        "off" | "none" | "" => Ok(None),
        _ => address(value)
            .map(Some)
            .map_err(|_| "an address with a port, such as 127.0.0.1:2525, or off"),
    }
}

fn shown(listener: Option<SocketAddr>) -> String {
    listener.map_or_else(|| "off".to_owned(), |address| address.to_string())
}

fn database_url(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.database_url = text(value);
    match &config.database_url {
        Some(url) if !url.starts_with("postgres://") && !url.starts_with("postgresql://") => {
            Err("a URL that begins with postgres://; leave it out for SQLite in the data folder")
        }
        _ => Ok(()),
    }
}

fn hostname(config: &mut Config, value: &str) -> Result<(), &'static str> {
    // Checked here, because a listener that cannot say its name ends only after the start.
    if !postroom_mail::smtp::is_hostname(value) {
        return Err("a domain name such as mx.example.com");
    }
    value.clone_into(&mut config.hostname);
    Ok(())
}

/// The address stands in links and is the base of every path, so nothing but scheme, host, port and
/// a path may be in it. Kept without a slash at its end.
fn public_url(config: &mut Config, value: &str) -> Result<(), &'static str> {
    const EXPECTED: &str = "an absolute http or https URL such as https://mail.example.com, without user, query or fragment";
    let Some(given) = text(value) else {
        config.public_url = None;
        return Ok(());
    };
    // The parser takes `https:host` and `https:///host` too; a person who wrote that erred.
    let (scheme, rest) = given.split_once("://").ok_or(EXPECTED)?;
    let known = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let url = reqwest::Url::parse(&given).map_err(|_| EXPECTED)?;
    let plain = known
        && !rest.starts_with('/')
        && !given.contains(['@', '?', '#', '\\'])
        && !given.contains(|c: char| c.is_whitespace() || c.is_control())
        && url.host_str().is_some_and(|host| !host.is_empty())
        && url.port() != Some(0);
    if !plain {
        return Err(EXPECTED);
    }
    config.public_url = Some(url.as_str().trim_end_matches('/').to_owned());
    Ok(())
}

fn rate(slot: &mut u32, value: &str) -> Result<(), &'static str> {
    match value.parse() {
        Ok(rate @ 1..=RATE_MOST) => *slot = rate,
        _ => return Err("a whole number from 1 to 1000000"),
    }
    Ok(())
}

fn secret_key(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.secret_key = text(value);
    match &config.secret_key {
        Some(secret) if secret.len() < 32 => Err("at least 32 characters"),
        _ => Ok(()),
    }
}

fn log_format(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.log_format = match value {
        "text" => LogFormat::Text,
        "json" => LogFormat::Json,
        _ => return Err("text or json"),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        assemble(Some(("postroom.toml", file)), &variables).map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_wins_over_the_file_and_the_file_over_the_default() {
        let config = check(
            "listen = \"0.0.0.0:80\"\nsmtp = 26\n",
            &[("POSTROOM_LISTEN", "127.0.0.1:0")],
        )
        .expect("valid");
        assert_eq!(config.listen, SocketAddr::from(([127, 0, 0, 1], 0)));
        assert_eq!(config.smtp, Some(SocketAddr::from(([127, 0, 0, 1], 26))));
        assert_eq!(config.data, Config::default().data);
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let refusals = [
            (check("lisen = \"x\"", &[]), "`listen`"),
            (check("data_base_url = \"x\"", &[]), "`database_url`"),
            (
                check("", &[("POSTROOM_HOST_NAME", "x")]),
                "POSTROOM_HOSTNAME",
            ),
            (check("[http]\nlisten = 1", &[]), "unknown key `http`"),
            (check("[transprt]\nkind = \"smtp\"", &[]), "`transport`"),
            (
                check("[transport]\nknd = \"smtp\"", &[]),
                "`transport.kind`",
            ),
        ];
        for (refusal, expected) in refusals {
            let message = refusal.expect_err("refused");
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn a_bad_value_says_what_would_be_valid() {
        for (file, expected) in [
            ("listen = \"nowhere\"", "an address with a port"),
            ("database_url = \"mysql://x\"", "postgres://"),
            ("secret_key = \"short\"", "32 characters"),
            ("log_format = \"xml\"", "text or json"),
            ("hostname = \"a b\"", "a domain name"),
            ("data = [1]", "a string"),
            ("tls_key = \"k.pem\"", "belong together"),
            ("= 1", "not valid TOML"),
        ] {
            let message = check(file, &[]).expect_err("refused");
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn rates_are_whole_numbers_from_one_to_a_million() {
        let config = check(
            "rate_key = 1\nrate_tenant = 1000000\nrate_send = 9\n",
            &[("POSTROOM_RATE_SEARCH", "7"), ("POSTROOM_RATE_INGEST", "8")],
        )
        .expect("valid");
        let rates = config.rates;
        assert_eq!(
            (
                rates.key,
                rates.tenant,
                rates.search,
                rates.ingest,
                rates.send
            ),
            (1, 1_000_000, 7, 8, 9)
        );
        for value in ["0", "1000001", "-1", "\"many\"", "1.5"] {
            let message = check(&format!("rate_key = {value}"), &[]).expect_err("refused");
            assert!(
                message.contains("rate_key") || message.contains("string"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_public_url_is_absolute_with_nothing_behind_its_path() {
        for (given, kept) in [
            ("https://mail.example.com", "https://mail.example.com"),
            ("HTTPS://Mail.Example.com/", "https://mail.example.com"),
            ("http://10.0.0.1:8025/room/", "http://10.0.0.1:8025/room"),
            ("http://[2001:db8::1]:8025", "http://[2001:db8::1]:8025"),
        ] {
            let config = check(&format!("public_url = \"{given}\""), &[]).expect("valid");
            assert_eq!(config.public_url.as_deref(), Some(kept));
        }
        for given in [
            "mail.example.com",
            "/room",
            "ftp://mail.example.com",
            "javascript:alert(1)",
            "https:mail.example.com",
            "https://",
            "https:///room",
            "https://user@mail.example.com",
            "https://user:word@mail.example.com",
            "https://mail.example.com/?a=b",
            "https://mail.example.com/#top",
            "https://mail.example.com:0",
            "https://mail.example.com:99999",
            "https://mail example.com",
            " https://mail.example.com",
        ] {
            let message = check("", &[("POSTROOM_PUBLIC_URL", given)]).expect_err("refused");
            assert!(message.contains("PUBLIC_URL"), "{message}");
        }
        assert_eq!(
            check("public_url = \"\"", &[]).expect("valid").public_url,
            None
        );
    }

    #[test]
    fn what_may_be_dialled_is_a_table_of_lists() {
        let file = "smtp = \"off\"\n[egress]\nallow_cidrs = [\"10.0.0.0/8\", \"127.0.0.1\"]\n\
                    allow_ports = [8443, \"8000-8999\"]\nallow_http = true\n\
                    extra_ca = \"ca.pem\"\ndns_file = \"dns.json\"\n\
                    provider_base = { resend = \"https://relay.example.com\" }\n";
        let config = check(file, &[("POSTROOM_EGRESS_ALLOW_HTTP", "false")]).expect("valid");
        let policy = egress::policy(&config);
        assert_eq!(policy.allow_cidrs.len(), 2);
        assert_eq!(policy.allow_ports.len(), 2);
        assert!(!policy.allow_http);
        assert_eq!(policy.extra_ca, Some(PathBuf::from("ca.pem")));
        assert_eq!(policy.dns_file, Some(PathBuf::from("dns.json")));
        assert_eq!(
            policy.provider_base.get("resend").map(String::as_str),
            Some("https://relay.example.com")
        );
        assert_eq!(policy.own_listeners, [config.listen]);
        let config = check(
            "public_url = \"https://room.example.com/x\"",
            &[("POSTROOM_EGRESS_ALLOW_CIDRS", "10.0.0.0/8, ::1")],
        )
        .expect("valid");
        let policy = egress::policy(&config);
        assert_eq!(policy.own_hosts, [("room.example.com".to_owned(), 443)]);
        assert_eq!(policy.allow_cidrs.len(), 2);
    }

    #[test]
    fn an_allowance_that_is_written_wrong_is_named() {
        for (file, expected) in [
            (
                "[egress]\nallow_cidrs = [\"::1\", \"10.0.0.0/33\"]",
                "`10.0.0.0/33` of `egress.allow_cidrs`",
            ),
            (
                "[egress]\nallow_cidrs = [\"10.0.0.1/8\"]",
                "without host bits",
            ),
            ("[egress]\nallow_cidrs = [[1]]", "a string"),
            ("[egress]\nallow_ports = [0]", "1 to 65535"),
            ("[egress]\nallow_http = \"maybe\"", "true or false"),
            (
                "[egress]\nprovider_base = [\"resend\"]",
                "a provider and an absolute URL",
            ),
            (
                "[egress]\nprovider_base = { resent = \"https://relay.example.com\" }",
                "did you mean resend?",
            ),
            ("event_days = -1", "a number of days, or 0"),
            ("events_kept = \"many\"", "a number of deliveries, or 0"),
            ("[egress]\nallow_cidr = []", "`egress.allow_cidrs`"),
            ("egress = 1", "unknown key"),
        ] {
            let message = check(file, &[]).expect_err("refused");
            assert!(message.contains(expected), "{message}");
        }
        let message = check("", &[("POSTROOM_EGRESS_ALLOW_CIDR", "x")]).expect_err("refused");
        assert!(message.contains("POSTROOM_EGRESS_ALLOW_CIDRS"), "{message}");
    }

    #[test]
    fn how_mail_leaves_is_a_table() {
        let file = "[transport]\nkind = \"smtp\"\nhost = \"relay.example.com\"\nport = 465\n\
                    domains = [\"Example.com\", \"mail.example.com\"]\nusername = \"room\"\n";
        let config = check(file, &[("POSTROOM_TRANSPORT_PASSWORD", "sesame")]).expect("valid");
        let postroom_app::transport::TransportOptions::Relay { relay, domains } =
            transport::options(&config).expect("a relay")
        else {
            panic!("not a relay");
        };
        assert_eq!(
            (relay.host.as_str(), relay.port),
            ("relay.example.com", 465)
        );
        assert_eq!(domains, ["example.com", "mail.example.com"]);
        assert!(relay.credentials.is_some());
        let shown = rows(&config);
        assert!(shown.iter().all(|(_, value, _)| !value.contains("sesame")));
        assert!(matches!(
            transport::options(&Config::default()).expect("a sandbox"),
            postroom_app::transport::TransportOptions::Sandbox
        ));
    }

    #[test]
    fn a_transport_that_lacks_something_says_what() {
        for (file, expected) in [
            ("kind = \"smtp\"", "needs domains"),
            ("kind = \"smtp\"\ndomains = [\"d.example\"]", "needs host"),
            (
                "kind = \"smtp\"\ndomains = [\"d.example\"]\nhost = \"r.example\"\nusername = \"u\"",
                "needs password",
            ),
            (
                "kind = \"smtp\"\ndomains = [\"d.example\"]\nhost = \"r.example\"\npassword = \"p\"",
                "needs username",
            ),
            (
                "kind = \"resend\"\ndomains = [\"d.example\"]",
                "needs api_key",
            ),
            (
                "kind = \"resend\"\ndomains = [\"d.example\"]\napi_key_file = \"/nowhere/at/all\"",
                "api_key_file",
            ),
        ] {
            let config = check(&format!("[transport]\n{file}"), &[]).expect("valid keys");
            let refused = transport::options(&config)
                .expect_err("refused")
                .to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        for (file, expected) in [
            ("kind = \"pigeon\"", "sandbox, smtp or resend"),
            ("port = 0", "1 to 65535"),
            ("security = \"none\"", "tls, starttls or plain"),
            (
                "domains = [\"example.com\", \"not a domain\"]",
                "`not a domain` of `transport.domains`",
            ),
            ("hosts = \"x\"", "`transport.host`"),
        ] {
            let message = check(&format!("[transport]\n{file}"), &[]).expect_err("refused");
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn what_the_test_suite_is_told_is_no_configuration() {
        assert!(
            check(
                "",
                &[
                    ("POSTROOM_CORPORA", "/x"),
                    ("POSTROOM_VECTORS", "/x"),
                    ("POSTROOM_TEST_DATABASE_URL", "x"),
                    ("POSTROOM_CONFIG", "x")
                ]
            )
            .is_ok()
        );
    }

    #[test]
    fn secrets_are_hidden_and_keys_are_sorted() {
        let config = Config {
            key: Some("prk_live_x".to_owned()),
            ..Config::default()
        };
        assert!(
            rows(&config)
                .iter()
                .all(|(_, value, _)| !value.contains("prk_"))
        );
        assert!(KEYS.is_sorted_by_key(|key| key.name));
        assert!(egress::KEYS.is_sorted_by_key(|key| key.name));
        assert!(transport::KEYS.is_sorted_by_key(|key| key.name));
    }
}
