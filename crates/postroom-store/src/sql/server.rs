//! Which server of PostgreSQL, out of a URL, with the words that libpq has for it.

use super::{
    Result,
    tls::{self, Files},
};
use postroom_types::Secret;
use std::{borrow::Cow, net::IpAddr, path::Path};
use tokio_postgres::{Client, Config, Connection, Socket, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Where the server's socket may be when the URL names no host.
const SOCKET_FOLDERS: [&str; 3] = ["/run/postgresql", "/var/run/postgresql", "/tmp"];

/// A server, and how to reach it.
#[derive(Clone)]
pub(crate) struct Server {
    config: Config,
    tls: MakeRustlsConnect,
}

type Stream = <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<Socket>>::Stream;

impl Server {
    /// Reads a URL. The reason why it cannot be read never repeats a value of it.
    pub(crate) fn parse(url: &Secret<String>) -> std::result::Result<Self, String> {
        let url = url.expose();
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut config: Config = base
            .parse()
            .map_err(|_| "not a PostgreSQL URL".to_owned())?;
        config.application_name("postroom");
        let mut files = Files::default();
        let mut mode = "prefer".to_owned();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match key.as_ref() {
                "sslmode" | "ssl-mode" => mode = value.into_owned(),
                "sslrootcert" | "ssl-root-cert" | "ssl-ca" => {
                    files.roots = Some(value.as_ref().into())
                }
                "sslcert" | "ssl-cert" => files.cert = Some(value.as_ref().into()),
                "sslkey" | "ssl-key" => files.key = Some(value.as_ref().into()),
                key => set(&mut config, key, value)?,
            }
        }
        let (tls_mode, check) = match mode.as_str() {
            "disable" | "allow" => (SslMode::Disable, tls::Check::Nothing),
            "prefer" => (SslMode::Prefer, tls::Check::Nothing),
            "require" => (SslMode::Require, tls::Check::Nothing),
            "verify-ca" => (SslMode::Require, tls::Check::Chain),
            "verify-full" => (SslMode::Require, tls::Check::ChainAndName),
            _ => return Err("no such sslmode".to_owned()),
        };
        config.ssl_mode(tls_mode);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host(local_host(config.get_ports().first().copied()));
        }
        let tls = MakeRustlsConnect::new(tls::config(check, &files)?);
        Ok(Self { config, tls })
    }

    /// Connects; the connection is to be polled.
    pub(super) async fn connect(&self) -> Result<(Client, Connection<Socket, Stream>)> {
        Ok(self.config.connect(self.tls.clone()).await?)
    }
}

/// Sets what a parameter of the URL asks for.
fn set(config: &mut Config, key: &str, value: Cow<'_, str>) -> std::result::Result<(), String> {
    let wrong = || format!("{key} cannot be read");
    match key {
        "host" => config.host(value),
        "hostaddr" => config.hostaddr(value.parse::<IpAddr>().map_err(|_| wrong())?),
        "port" => config.port(value.parse().map_err(|_| wrong())?),
        "dbname" => config.dbname(value),
        "user" => config.user(value),
        "password" => config.password(value.as_bytes()),
        "connect_timeout" => {
            let seconds = value.parse().map_err(|_| wrong())?;
            config.connect_timeout(std::time::Duration::from_secs(seconds))
        }
        "options" => {
            let given = config.get_options().map(|known| format!("{known} {value}"));
            config.options(given.unwrap_or_else(|| value.into_owned()))
        }
        _ => {
            if let Some(name) = key
                .strip_prefix("options[")
                .and_then(|key| key.strip_suffix(']'))
            {
                let option = format!("-c {name}={value}");
                let given = config
                    .get_options()
                    .map(|known| format!("{known} {option}"));
                config.options(given.unwrap_or(option));
            } else if !matches!(key, "application_name" | "statement-cache-capacity") {
                tracing::warn!(key, "database_url has a parameter that is not known");
            }
            config
        }
    };
    Ok(())
}

fn local_host(port: Option<u16>) -> String {
    let name = format!(".s.PGSQL.{}", port.unwrap_or(5_432));
    let found = SOCKET_FOLDERS
        .into_iter()
        .find(|folder| Path::new(folder).join(&name).exists());
    found.unwrap_or("localhost").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::Host;

    fn parse(url: &str) -> Server {
        Server::parse(&Secret::new(url.to_owned())).expect("a server")
    }

    #[test]
    fn parts_and_parameters_of_a_url_are_read() {
        let server = parse(
            "postgres://me:p%40ss@db.example:6000/mail?sslmode=require&options=-c%20a%3Db&options[c]=d\
             &application_name=x&statement-cache-capacity=9",
        );
        let config = &server.config;
        assert_eq!(config.get_hosts(), [Host::Tcp("db.example".to_owned())]);
        assert_eq!(config.get_ports(), [6000]);
        assert_eq!(config.get_user(), Some("me"));
        assert_eq!(config.get_password(), Some(b"p@ss".as_slice()));
        assert_eq!(config.get_dbname(), Some("mail"));
        assert_eq!(config.get_options(), Some("-c a=b -c c=d"));
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        assert_eq!(config.get_application_name(), Some("postroom"));
    }

    #[test]
    fn tls_is_preferred_and_each_word_of_libpq_is_known() {
        assert_eq!(
            parse("postgresql://me@h/d").config.get_ssl_mode(),
            SslMode::Prefer
        );
        for (word, mode) in [
            ("disable", SslMode::Disable),
            ("allow", SslMode::Disable),
            ("prefer", SslMode::Prefer),
            ("require", SslMode::Require),
            ("verify-ca", SslMode::Require),
            ("verify-full", SslMode::Require),
        ] {
            let server = parse(&format!("postgres://me@h/d?sslmode={word}"));
            assert_eq!(server.config.get_ssl_mode(), mode, "{word}");
        }
    }

    #[test]
    fn a_socket_is_a_host_that_begins_with_a_slash() {
        for url in [
            "postgres://me@%2Fsockets/d",
            "postgres://me@/d?host=/sockets",
            "postgres:///d?host=/sockets&user=me",
        ] {
            let hosts = parse(url).config.get_hosts().to_vec();
            assert_eq!(hosts, [Host::Unix("/sockets".into())], "{url}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_without_its_value() {
        for (url, reason) in [
            ("postgres://me@h:port/d", "not a PostgreSQL URL"),
            ("postgres://me@h/d?sslmode=secret", "no such sslmode"),
            ("postgres://me@h/d?port=secret", "port cannot be read"),
            (
                "postgres://me@h/d?hostaddr=secret",
                "hostaddr cannot be read",
            ),
            (
                "postgres://me@h/d?sslmode=verify-full&sslrootcert=/nowhere/secret",
                "sslrootcert cannot be read",
            ),
            (
                "postgres://me@h/d?sslmode=require&sslcert=/nowhere/secret",
                "sslcert and sslkey go together",
            ),
        ] {
            let told = Server::parse(&Secret::new(url.to_owned())).err();
            assert_eq!(told.as_deref(), Some(reason), "{url}");
        }
    }
}
