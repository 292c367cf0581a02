//! The keys of the table `[transport]`: by which way sent mail leaves. No tenant can say any of it.

use std::path::{Path, PathBuf};

use postroom_app::transport::{ResendOptions, TransportOptions};
use postroom_net::smtp::send::{Credentials, RelayOptions, Security};
use postroom_types::Secret;

use super::{Config, Key, egress, path, text};

/// The name of the table, and the beginning of its keys.
pub(super) const TABLE: &str = "transport";

/// By which way mail leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// Not at all: it is kept and shown.
    #[default]
    Sandbox,
    /// Through the operator's relay.
    Smtp,
    /// Through Resend.
    Resend,
}

impl Kind {
    /// The word of the configuration.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Smtp => "smtp",
            Self::Resend => "resend",
        }
    }
}

/// What the table says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Transport {
    /// By which way.
    pub(crate) kind: Kind,
    /// Domains that mail may leave from.
    pub(crate) domains: Vec<String>,
    /// Whether reply addresses carry the token of their thread.
    pub(crate) reply_tokens: bool,
    /// The relay's host.
    pub(crate) host: Option<String>,
    /// Its port.
    pub(crate) port: Option<u16>,
    /// How the connection to it is protected, when the port does not say it.
    pub(crate) security: Option<Security>,
    /// Who we are to it.
    pub(crate) username: Option<String>,
    /// The password.
    pub(crate) password: Option<String>,
    /// A file whose first line is the password.
    pub(crate) password_file: Option<PathBuf>,
    /// The provider's key.
    pub(crate) api_key: Option<String>,
    /// A file whose first line is the provider's key.
    pub(crate) api_key_file: Option<PathBuf>,
}

/// The keys, sorted.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "transport.api_key",
        about: "key of the provider, with kind resend",
        secret: true,
        set: |c, v| {
            c.transport.api_key = text(v);
            Ok(())
        },
        show: |c| c.transport.api_key.clone(),
    },
    Key {
        name: "transport.api_key_file",
        about: "file that holds the provider's key",
        secret: false,
        set: |c, v| {
            c.transport.api_key_file = path(v);
            Ok(())
        },
        show: |c| shown(c.transport.api_key_file.as_deref()),
    },
    Key {
        name: "transport.domains",
        about: "domains that mail may leave from, such as example.com, mail.example.com",
        secret: false,
        set: domains,
        show: |c| egress::joined(&c.transport.domains),
    },
    Key {
        name: "transport.host",
        about: "the relay, with kind smtp",
        secret: false,
        set: |c, v| {
            c.transport.host = text(v);
            Ok(())
        },
        show: |c| c.transport.host.clone(),
    },
    Key {
        name: "transport.kind",
        about: "sandbox (nothing leaves), smtp (through a relay) or resend",
        secret: false,
        set: kind,
        show: |c| Some(c.transport.kind.as_str().to_owned()),
    },
    Key {
        name: "transport.password",
        about: "password at the relay",
        secret: true,
        set: |c, v| {
            c.transport.password = text(v);
            Ok(())
        },
        show: |c| c.transport.password.clone(),
    },
    Key {
        name: "transport.password_file",
        about: "file that holds the password at the relay",
        secret: false,
        set: |c, v| {
            c.transport.password_file = path(v);
            Ok(())
        },
        show: |c| shown(c.transport.password_file.as_deref()),
    },
    Key {
        name: "transport.port",
        about: "port of the relay: 465, 587, or one that egress.allow_ports names",
        secret: false,
        set: port,
        show: |c| c.transport.port.map(|port| port.to_string()),
    },
    Key {
        name: "transport.reply_tokens",
        about: "true puts a tag that names the thread into reply addresses; the domain has to take local+tag",
        secret: false,
        set: |c, v| {
            c.transport.reply_tokens = v.parse().map_err(|_| "true or false")?;
            Ok(())
        },
        show: |c| Some(c.transport.reply_tokens.to_string()),
    },
    Key {
        name: "transport.security",
        about: "tls, starttls or plain; tls on port 465 and starttls on others without it",
        secret: false,
        set: security,
        show: |c| c.transport.security.map(|found| word(found).to_owned()),
    },
    Key {
        name: "transport.username",
        about: "user name at the relay",
        secret: false,
        set: |c, v| {
            c.transport.username = text(v);
            Ok(())
        },
        show: |c| c.transport.username.clone(),
    },
];

fn kind(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.transport.kind = match value {
        "sandbox" => Kind::Sandbox,
        "smtp" => Kind::Smtp,
        "resend" => Kind::Resend,
        _ => return Err("sandbox, smtp or resend"),
    };
    Ok(())
}

fn domains(config: &mut Config, value: &str) -> Result<(), &'static str> {
    let mut domains = Vec::new();
    for entry in egress::entries(value) {
        let address = postroom_types::Address::parse(&format!("any@{entry}"));
        let address = address.map_err(|_| "domain names, such as example.com")?;
        domains.push(address.domain().to_owned());
    }
    config.transport.domains = domains;
    Ok(())
}

fn port(config: &mut Config, value: &str) -> Result<(), &'static str> {
    let port = value.parse::<u16>().ok().filter(|port| *port != 0);
    config.transport.port = Some(port.ok_or("a port from 1 to 65535")?);
    Ok(())
}

fn security(config: &mut Config, value: &str) -> Result<(), &'static str> {
    config.transport.security = Some(match value {
        "tls" => Security::Tls,
        "starttls" => Security::StartTls,
        "plain" => Security::Plain,
        _ => return Err("tls, starttls or plain"),
    });
    Ok(())
}

fn word(security: Security) -> &'static str {
    match security {
        Security::Tls => "tls",
        Security::StartTls => "starttls",
        Security::Plain => "plain",
    }
}

fn shown(path: Option<&Path>) -> Option<String> {
    path.map(|path| path.display().to_string())
}

/// Why there is no transport.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransportError {
    /// A key that its kind needs is missing.
    #[error("[transport] kind {kind} needs {key}")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A file of a secret cannot be read, or says nothing.
    #[error("the file of transport.{key} cannot be used: {reason}")]
    Unreadable {
        /// The key.
        key: &'static str,
        /// Why.
        reason: String,
    },
}

/// The transport of a process that is configured like this.
///
/// # Errors
/// [`TransportError`] when a key is missing or a file cannot be read.
pub(crate) fn options(config: &Config) -> Result<TransportOptions, TransportError> {
    let told = &config.transport;
    let missing = |key| TransportError::Missing {
        kind: told.kind.as_str(),
        key,
    };
    match told.kind {
        Kind::Sandbox => Ok(TransportOptions::Sandbox),
        Kind::Smtp | Kind::Resend if told.domains.is_empty() => Err(missing("domains")),
        Kind::Smtp => {
            let host = told.host.clone().ok_or_else(|| missing("host"))?;
            let port = told.port.unwrap_or(587);
            let mut relay = RelayOptions::new(host, port, config.hostname.clone());
            if let Some(security) = told.security {
                relay.security = security;
            }
            let password = secret(
                "password_file",
                told.password.as_ref(),
                told.password_file.as_deref(),
            )?;
            relay.credentials = match (told.username.clone(), password) {
                (Some(username), Some(password)) => Some(Credentials { username, password }),
                (Some(_), None) => return Err(missing("password or password_file")),
                (None, Some(_)) => return Err(missing("username")),
                (None, None) => None,
            };
            Ok(TransportOptions::Relay {
                relay,
                domains: told.domains.clone(),
            })
        }
        Kind::Resend => {
            let api_key = secret(
                "api_key_file",
                told.api_key.as_ref(),
                told.api_key_file.as_deref(),
            )?;
            Ok(TransportOptions::Resend(ResendOptions {
                api_key: api_key.ok_or_else(|| missing("api_key or api_key_file"))?,
                domains: told.domains.clone(),
            }))
        }
    }
}

/// A secret that stands in the configuration or is the first line of a file.
fn secret(
    key: &'static str,
    told: Option<&String>,
    file: Option<&Path>,
) -> Result<Option<Secret<String>>, TransportError> {
    if let Some(told) = told {
        return Ok(Some(Secret::new(told.clone())));
    }
    let Some(file) = file else { return Ok(None) };
    let unreadable = |reason: String| TransportError::Unreadable { key, reason };
    let whole = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    match whole.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => Ok(Some(Secret::new(line.to_owned()))),
        _ => Err(unreadable("its first line is empty".to_owned())),
    }
}
