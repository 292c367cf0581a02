//! Operations over HTTP: the routes of the operation table from the caller's side.

use std::time::Duration;

use bytes::Bytes;
use postroom_app::{
    Operation,
    operation::{Handler, Route},
};
use reqwest::{Method, StatusCode, header};
use serde_json::{Map, Value};

use crate::cli::trouble::Trouble;

/// How long a server may take to accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long an answer may take: the longest wait of an operation and some.
const ANSWER_TIME: Duration = Duration::from_secs(120);
/// How often a call that was limited is repeated.
const TRIES: u32 = 20;

/// A server and the key to show to it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    url: String,
    key: String,
    http: reqwest::Client,
}

/// What an operation answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A JSON object.
    Json(Value),
    /// Bytes.
    Bytes(Bytes),
}

impl Client {
    /// A client of the server at `url`.
    ///
    /// # Errors
    /// Usage trouble for a URL that is none.
    pub(crate) fn new(url: &str, key: &str) -> Result<Self, Trouble> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Trouble::usage(
                format!("`{url}` is no address of a server."),
                "Give a URL such as http://127.0.0.1:8025.",
            ));
        }
        let http = Self::builder()
            .timeout(ANSWER_TIME)
            .build()
            .map_err(|error| {
                Trouble::io(
                    format!("No HTTP client can be made: {error}."),
                    "Report this.",
                )
            })?;
        Ok(Self {
            url: url.to_owned(),
            key: key.to_owned(),
            http,
        })
    }

    /// What every connection of the command line has in common: this machine's own way out, no proxy
    /// of the environment, and little patience with what does not answer.
    pub(crate) fn builder() -> reqwest::ClientBuilder {
        // A second call finds a provider installed already; that is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .connect_timeout(CONNECT_TIME)
            .no_proxy()
    }

    /// The server's address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The key that is shown to it.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Whether a server answers.
    pub(crate) async fn answers(&self) -> bool {
        let asked = self
            .http
            .get(format!("{}/healthz", self.url))
            .timeout(CONNECT_TIME)
            .send()
            .await;
        asked.is_ok_and(|response| response.status().is_success())
    }

    /// Calls an operation by the route that fits the arguments best.
    ///
    /// # Errors
    /// The server's error envelope, or I/O trouble when it does not answer.
    pub(crate) async fn call(
        &self,
        operation: &Operation,
        arguments: &Map<String, Value>,
        body: Option<Bytes>,
    ) -> Result<Answer, Trouble> {
        let asked = Asked::new(operation, arguments)?;
        let mut tries = 0;
        loop {
            let response = self.send(&asked, body.clone()).await?;
            let status = response.status();
            let wait = response
                .headers()
                .get(header::RETRY_AFTER)
                .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
            if status == StatusCode::TOO_MANY_REQUESTS && tries < TRIES {
                tries += 1;
                tokio::time::sleep(Duration::from_secs(wait.unwrap_or(1).clamp(1, 60))).await;
                continue;
            }
            let bytes = response
                .bytes()
                .await
                .map_err(|error| self.silent(&error))?;
            return match (status.is_success(), &operation.handler) {
                (true, Handler::BytesOut(_)) => Ok(Answer::Bytes(bytes)),
                (true, _) => serde_json::from_slice(&bytes)
                    .map(Answer::Json)
                    .map_err(|_| self.foreign(status)),
                (false, _) => Err(serde_json::from_slice(&bytes)
                    .ok()
                    .and_then(|envelope| Trouble::from_envelope(&envelope))
                    .unwrap_or_else(|| self.foreign(status))),
            };
        }
    }

    async fn send(&self, asked: &Asked, body: Option<Bytes>) -> Result<reqwest::Response, Trouble> {
        let url = format!("{}{}", self.url, asked.path);
        let mut request = self
            .http
            .request(asked.method.clone(), url)
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key));
        request = match (body, &asked.json) {
            (Some(bytes), _) => request
                .header(header::CONTENT_TYPE, "message/rfc822")
                .body(bytes),
            (None, Some(json)) => request
                .header(header::CONTENT_TYPE, "application/json")
                .body(json.clone()),
            (None, None) => request,
        };
        request.send().await.map_err(|error| self.silent(&error))
    }

    fn silent(&self, error: &reqwest::Error) -> Trouble {
        let why = if error.is_timeout() {
            "does not answer in time"
        } else {
            "cannot be reached"
        };
        Trouble::io(
            format!("The server at {} {why}.", self.url),
            "Start it with `postroom serve`, or correct --url.",
        )
    }

    fn foreign(&self, status: StatusCode) -> Trouble {
        Trouble::io(
            format!(
                "What answers at {} is no Postroom (status {}).",
                self.url,
                status.as_u16()
            ),
            "Correct --url.",
        )
    }
}

/// A call as a request.
struct Asked {
    method: Method,
    path: String,
    json: Option<String>,
}

impl Asked {
    fn new(operation: &Operation, arguments: &Map<String, Value>) -> Result<Self, Trouble> {
        let route = operation
            .routes
            .iter()
            .filter(|route| fits(route, arguments))
            .max_by_key(|route| (route.binds.len(), std::cmp::Reverse(route.path.len())))
            .ok_or_else(|| missing(operation, arguments))?;
        let method = Method::from_bytes(route.method.as_bytes())
            .map_err(|_| Trouble::usage("The operation has no method.", "Report this."))?;
        let mut rest = arguments.clone();
        for (bound, _) in route.binds {
            rest.remove(*bound);
        }
        let path = fill(route, &mut rest);
        let takes_bytes = matches!(operation.handler, Handler::BytesIn(_) | Handler::FileIn(_));
        if takes_bytes || method == Method::GET || method == Method::DELETE {
            let query = query(&rest);
            let path = if query.is_empty() {
                path
            } else {
                format!("{path}?{query}")
            };
            return Ok(Self {
                method,
                path,
                json: None,
            });
        }
        Ok(Self {
            method,
            path,
            json: Some(Value::Object(rest).to_string()),
        })
    }
}

/// Whether the arguments fill the route's path and agree with what it sets itself.
fn fits(route: &Route, arguments: &Map<String, Value>) -> bool {
    let bound = |(name, text): &(&str, &str)| {
        let value: Option<Value> = serde_json::from_str(text).ok();
        arguments.get(*name) == value.as_ref()
    };
    parameters(route.path).all(|name| {
        arguments
            .get(route.argument(name))
            .is_some_and(|value| !value.is_null())
    }) && route.binds.iter().all(bound)
}

/// The names between braces.
fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The path with its parameters filled in; what it takes is removed from the arguments.
fn fill(route: &Route, arguments: &mut Map<String, Value>) -> String {
    let parts = route.path.split('/').map(|part| {
        match part
            .strip_prefix('{')
            .and_then(|part| part.strip_suffix('}'))
        {
            Some(name) => arguments
                .remove(route.argument(name))
                .map(|value| escaped(&plain(&value)))
                .unwrap_or_default(),
            None => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The arguments as a query string; a list repeats its name.
fn query(arguments: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in arguments {
        match value {
            Value::Array(items) => pairs.extend(
                items
                    .iter()
                    .map(|item| format!("{}={}", escaped(name), escaped(&plain(item)))),
            ),
            Value::Null => {}
            value => pairs.push(format!("{}={}", escaped(name), escaped(&plain(value)))),
        }
    }
    pairs.join("&")
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Percent escapes for a path segment or a query value.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn missing(operation: &Operation, arguments: &Map<String, Value>) -> Trouble {
    let absent = operation.routes.first().map(|route| {
        let names = parameters(route.path).map(|name| route.argument(name));
        names
            .filter(|name| !arguments.contains_key(*name))
            .collect::<Vec<_>>()
            .join(", ")
    });
    let absent = absent
        .filter(|names| !names.is_empty())
        .unwrap_or_else(|| "an argument".to_owned());
    let fix = if absent.contains("identity") {
        "Name the mailbox with --as ADDRESS.".to_owned()
    } else {
        format!("Give {absent}.")
    };
    Trouble::new(
        "invalid_request",
        format!("{} needs {absent}.", operation.name),
        fix,
        crate::cli::trouble::USAGE,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(operation: &str, arguments: Value) -> Result<(String, String, Option<Value>), String> {
        let row = postroom_app::operation::find(operation).expect("in the table");
        let arguments = arguments.as_object().cloned().expect("an object");
        let asked = Asked::new(row, &arguments).map_err(|trouble| trouble.message)?;
        Ok((
            asked.method.to_string(),
            asked.path,
            asked
                .json
                .map(|text| serde_json::from_str(&text).expect("json")),
        ))
    }

    #[test]
    fn every_row_can_be_called_by_its_own_route() {
        for row in postroom_app::operation::TABLE {
            let route = row.route().expect("a route");
            let filled: Map<String, Value> = parameters(route.path)
                .map(|name| (route.argument(name).to_owned(), json!("x")))
                .chain(route.binds.iter().map(|(name, text)| {
                    (
                        (*name).to_owned(),
                        serde_json::from_str(text).expect("json"),
                    )
                }))
                .collect();
            let asked = Asked::new(row, &filled)
                .unwrap_or_else(|trouble| panic!("{}: {}", row.name, trouble.message));
            assert!(!asked.path.contains('{'), "{}", asked.path);
        }
    }

    #[test]
    fn a_read_carries_its_arguments_in_path_and_query() {
        assert_eq!(
            check(
                "mail_list_identities",
                json!({"limit": 3, "purpose": "a b&c"})
            ),
            Ok((
                "GET".to_owned(),
                "/v1/identities?limit=3&purpose=a%20b%26c".to_owned(),
                None
            ))
        );
    }
}
