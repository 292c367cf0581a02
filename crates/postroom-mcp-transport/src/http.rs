//! The endpoint over HTTP.
//!
//! The order of checks is fixed: method, host and origin, content type, size, JSON, credential,
//! limits, era and headers, dispatch. Every refusal is a JSON-RPC error.

mod exchange;
mod refusal;

use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, ORIGIN};
use ::http::request::Parts;
use ::http::{HeaderMap, Method, StatusCode};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use postroom_mcp::envelope::{Message, RequestMessage, parse};
use postroom_mcp::{Field, Head, Registry, Rejection, Revision, Server, Visitor, Wire, code};
use postroom_types::ErrorCode;
use postroom_types::limit::REQUEST_BODY_BYTES;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use exchange::Guard;
use refusal::Refusal;

use crate::{Denial, Gate, Streams};

/// Bytes past the limit of a body that are read and thrown away.
const DISCARDED_BYTES: usize = 8 * 1024 * 1024;
/// Time for a client to send its body.
const BODY_TIME: Duration = Duration::from_secs(60);

/// Which hosts the endpoint answers to (protection against DNS rebinding).
#[derive(Debug, Clone)]
pub enum Hosts {
    /// Any `Host`; an `Origin` must still name the same host.
    Any,
    /// These host names, without port; loopback names always count.
    Named(Vec<String>),
}

/// An endpoint: a server, its gate, and what its exchanges share.
pub struct Endpoint<R: Registry, G> {
    pub(crate) server: Arc<Server<R>>,
    pub(crate) gate: G,
    hosts: Hosts,
    pub(crate) streams: Arc<Streams>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) since: Instant,
}

impl<R: Registry, G> std::fmt::Debug for Endpoint<R, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

impl<R, G> Endpoint<R, G>
where
    R: Registry<Caller = G::Caller>,
    G: Gate,
{
    /// An endpoint. When `shutdown` is cancelled, open subscriptions end gracefully and running
    /// calls are told to.
    pub fn new(
        server: Arc<Server<R>>,
        gate: G,
        hosts: Hosts,
        streams: Arc<Streams>,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            server,
            gate,
            hosts,
            streams,
            shutdown,
            since: Instant::now(),
        }
    }

    async fn exchange(self: &Arc<Self>, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        match parts.method {
            Method::POST => {}
            Method::OPTIONS => return Ok(refusal::options()),
            _ => return Err(Refusal::method_not_allowed()),
        }
        self.check_host(&parts)?;
        check_content_type(&parts.headers)?;
        let body = self.collect(&parts, body).await?;
        let message = parse(&body)?;
        self.admit(&parts, message).await
    }

    /// From here on the message is known, and so is the id to echo.
    async fn admit(
        self: &Arc<Self>,
        parts: &Parts,
        message: Message<'_>,
    ) -> Result<Response, Refusal> {
        let id = message.request_id();
        let denied = |denial: Denial| Refusal::from(denial).with_id(id);
        let caller = self
            .gate
            .admit(bearer(&parts.headers))
            .await
            .map_err(denied)?;
        let limits = self.gate.charge(&caller).map_err(denied)?;
        let mut response = match message {
            Message::Request(message) => self.request(parts, &message, caller).await,
            // A legacy cancellation names an id that two clients of one key may both have given;
            // without sessions it could end another's call, and so it ends none.
            Message::Notification { .. } => Ok(refusal::accepted()),
            Message::Response(response) => {
                if version(&parts.headers) == Some(Revision::July2026) {
                    let refusal = Rejection::invalid_request("Answers go into inputResponses.");
                    return Err(refusal.into());
                }
                let principal = self.server.registry().principal(&caller);
                self.server.deliver(&response, principal);
                Ok(refusal::accepted())
            }
        }
        .unwrap_or_else(Refusal::into_response);
        response.headers_mut().extend(limits);
        Ok(response)
    }

    async fn request(
        self: &Arc<Self>,
        parts: &Parts,
        message: &RequestMessage<'_>,
        caller: G::Caller,
    ) -> Result<Response, Refusal> {
        let headers = &parts.headers;
        let parameter = |suffix: &str| field(headers, &format!("mcp-param-{suffix}"));
        let wire = Wire::Http(Head {
            version: field(headers, "mcp-protocol-version"),
            method: field(headers, "mcp-method"),
            name: field(headers, "mcp-name"),
            parameter: &parameter,
        });
        let request = self.server.prepare(message, &wire)?;
        let with_id = |rejection: Rejection| rejection.with_id(Some(message.id));
        let toolsets = match toolsets(parts.uri.query()) {
            Some(names) => Some(self.server.select(&names).map_err(with_id)?),
            None => None,
        };
        let streams = accepts_events(headers);
        if request.needs_stream() && !streams {
            let rejection = Rejection::new(
                406,
                code::NOT_ACCEPTABLE,
                "This method answers as text/event-stream; accept it.",
            );
            return Err(with_id(rejection).into());
        }
        let visitor = Visitor { caller, toolsets };
        exchange::run(self, request, visitor, streams).await
    }

    /// Reads the body, up to its limit. What is larger is read on and thrown away, up to a bound: a
    /// client that still writes would not see the refusal.
    async fn collect(&self, parts: &Parts, mut body: Body) -> Result<Bytes, Refusal> {
        let too_large = || {
            Refusal::from(Denial::new(
                ErrorCode::PayloadTooLarge,
                self.gate.request_id(),
            ))
        };
        let announced = parts.headers.get(CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let most_read = REQUEST_BODY_BYTES + DISCARDED_BYTES;
        if announced.is_some_and(|length| length > most_read as u64) {
            return Err(too_large());
        }
        let broken = || Rejection::invalid_request("The body did not arrive whole.").into();
        let reading = async {
            let mut kept = BytesMut::new();
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                let Ok(data) = frame.map_err(|_| broken())?.into_data() else {
                    continue;
                };
                read += data.len();
                if read <= REQUEST_BODY_BYTES {
                    kept.extend_from_slice(&data);
                } else if read > most_read {
                    break;
                }
            }
            if read > REQUEST_BODY_BYTES {
                return Err(too_large());
            }
            Ok(kept.freeze())
        };
        tokio::time::timeout(BODY_TIME, reading)
            .await
            .unwrap_or_else(|_| Err(broken()))
    }

    /// The `Host` must be one of ours, and an `Origin` must be the same host.
    fn check_host(&self, parts: &Parts) -> Result<(), Refusal> {
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.authority().map(|authority| authority.as_str()));
        if let Hosts::Named(names) = &self.hosts {
            let known = host.map(host_name).is_some_and(|name| {
                is_loopback(name) || names.iter().any(|known| known.eq_ignore_ascii_case(name))
            });
            if !known {
                return Err(Refusal::forbidden(
                    "The Host is not one this server answers to.",
                ));
            }
        }
        let mut origins = parts.headers.get_all(ORIGIN).iter();
        let same = |origin: &::http::HeaderValue| {
            let origin = origin.to_str().ok().and_then(authority_of_origin);
            origin
                .zip(host)
                .is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host))
        };
        if origins.all(same) {
            Ok(())
        } else {
            Err(Refusal::forbidden("The Origin is not this server's own."))
        }
    }
}

/// Serves an endpoint at `path`.
pub fn mount<R, G>(path: &str, endpoint: Endpoint<R, G>) -> Router
where
    R: Registry<Caller = G::Caller>,
    G: Gate,
{
    let handler = async |State(endpoint): State<Arc<Endpoint<R, G>>>, request: Request| {
        let answer = endpoint.exchange(request).await;
        answer.unwrap_or_else(Refusal::into_response)
    };
    Router::new()
        .route(path, any(handler))
        .with_state(Arc::new(endpoint))
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media = value.map(|value| value.split(';').next().unwrap_or_default().trim());
    let is_json = media.is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    if is_json && says_utf8(headers) {
        return Ok(());
    }
    Err(Rejection::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16(),
        code::INVALID_REQUEST,
        "Content-Type must be application/json, and its charset utf-8.",
    )
    .into())
}

/// Whether the content type leaves the charset of a body open or says UTF-8, the only one that JSON
/// travels in (RFC 8259 section 8.1).
pub fn says_utf8(headers: &HeaderMap) -> bool {
    headers
        .get_all(CONTENT_TYPE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';').skip(1))
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))
        .map(|(_, value)| value.trim().trim_matches('"'))
        .all(|charset| {
            charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
        })
}

/// The credential of `Authorization: Bearer` (RFC 6750, section 2.1).
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credential) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| credential.trim())
}

/// Whether the client names `text/event-stream`; a wildcard does not count, because who sends one
/// rarely reads events.
fn accepts_events(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|media| media.split(';').next())
        .any(|media| media.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The value of `tools` in a query string; an empty one chooses nothing and counts as absent.
fn toolsets(query: Option<&str>) -> Option<String> {
    query?
        .split('&')
        .find_map(|pair| pair.strip_prefix("tools="))
        .filter(|value| !value.is_empty())
        .map(|value| {
            value
                .replace("%2C", ",")
                .replace("%2c", ",")
                .replace('+', " ")
        })
}

fn version(headers: &HeaderMap) -> Option<Revision> {
    let value = headers.get("mcp-protocol-version")?;
    Revision::of(value.to_str().ok()?.trim())
}

/// A header as the era rule wants it.
fn field<'a>(headers: &'a HeaderMap, name: &str) -> Field<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Field::Absent,
        (Some(value), None) => Field::Value(value.as_bytes()),
        (Some(_), Some(_)) => Field::Repeated,
    }
}

/// Host and port of an origin, without the port that its scheme implies.
fn authority_of_origin(origin: &str) -> Option<&str> {
    let (scheme, authority) = origin.split_once("://")?;
    let implied = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    Some(authority.strip_suffix(implied).unwrap_or(authority))
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    matches!(name, "127.0.0.1" | "[::1]") || name.eq_ignore_ascii_case("localhost")
}
