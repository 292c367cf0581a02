//! What every request passes first: it gets an id, and its host and origin are looked at.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{
    HeaderMap, Method, Uri,
    header::{HOST, ORIGIN},
};
use postroom_app::{Failure, Room};
use postroom_types::{ErrorCode, RequestId};

use crate::{Surfaces, answer};

/// Names the request, refuses foreign hosts and origins, and puts the id on the answer.
pub(crate) async fn pass(
    State(surfaces): State<Arc<Surfaces>>,
    mut request: Request,
    next: Next,
) -> Response {
    let request_id = postroom_app::random::request_id(surfaces.room.now());
    let ours = host_allowed(request.headers(), request.uri(), &surfaces.config.hosts)
        && !changes_from_elsewhere(request.method(), request.headers());
    let response = if ours {
        request.extensions_mut().insert(request_id);
        next.run(request).await
    } else {
        answer::failure(&foreign(), request_id)
    };
    answer::with_request_id(response, request_id)
}

tokio::task_local! {
    /// The exchange of the protocol whose answer is being made.
    static EXCHANGE: RequestId;
}

/// Names an exchange of the protocol, which has a guard of its own, and puts the id on the answer.
pub(crate) async fn name(
    State(surfaces): State<Arc<Surfaces>>,
    request: Request,
    next: Next,
) -> Response {
    let request_id = postroom_app::random::request_id(surfaces.room.now());
    let response = EXCHANGE.scope(request_id, next.run(request)).await;
    answer::with_request_id(response, request_id)
}

/// The id of the exchange that is running; a fresh one on standard input, where there are none.
pub(crate) fn request_id(room: &Room) -> RequestId {
    EXCHANGE
        .try_with(|id| *id)
        .unwrap_or_else(|_| postroom_app::random::request_id(room.now()))
}

/// What a request under a foreign name hears.
fn foreign() -> Failure {
    Failure::new(ErrorCode::Forbidden)
        .saying("The host name or the origin of the request is not this server's own.")
        .advising("Use the address that the server printed; public_url and hostname add names.")
}

/// Whether the `Host` is one of ours and every `Origin` is that same host (protection against DNS
/// rebinding and against other sites' scripts).
fn host_allowed(headers: &HeaderMap, uri: &Uri, names: &[String]) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.or_else(|| uri.authority().map(|authority| authority.as_str())) else {
        return false;
    };
    let name = name_of(host);
    let ours = matches!(name, "localhost" | "127.0.0.1" | "[::1]")
        || names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let same = |origin: &http::HeaderValue| {
        let authority = origin
            .to_str()
            .ok()
            .and_then(|origin| origin.split_once("://"))
            .map(|(_, authority)| authority);
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    };
    ours && headers.get_all(ORIGIN).iter().all(same)
}

/// Whether a browser says that another site made it send something that may change what is kept. A
/// link from elsewhere is followed; a form that names no origin is not taken.
fn changes_from_elsewhere(method: &Method, headers: &HeaderMap) -> bool {
    !method.is_safe()
        && headers
            .get("sec-fetch-site")
            .is_some_and(|site| site == "cross-site" || site == "same-site")
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    if host.starts_with('[') {
        return host
            .find(']')
            .and_then(|end| host.get(..=end))
            .unwrap_or(host);
    }
    host.split_once(':').map_or(host, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn check(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).expect("valid"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).expect("valid"));
        }
        host_allowed(
            &headers,
            &Uri::from_static("/"),
            &["mail.example".to_owned()],
        )
    }

    #[test]
    fn only_our_own_host_and_origin_come_in() {
        for (host, origin) in [
            ("127.0.0.1:8025", None),
            ("localhost", None),
            ("[::1]:8025", None),
            ("MAIL.example:443", None),
            ("127.0.0.1:8025", Some("http://127.0.0.1:8025")),
        ] {
            assert!(check(host, origin), "{host} {origin:?}");
        }
        for (host, origin) in [
            ("evil.example", None),
            ("127.0.0.1:8025", Some("http://evil.example")),
            ("127.0.0.1:8025", Some("http://127.0.0.1:8026")),
            ("127.0.0.1:8025", Some("null")),
            ("evil.example", Some("http://evil.example")),
        ] {
            assert!(!check(host, origin), "{host} {origin:?}");
        }
    }

    #[test]
    fn a_request_without_a_host_is_refused() {
        assert!(!host_allowed(
            &HeaderMap::new(),
            &Uri::from_static("/"),
            &[]
        ));
    }

    #[test]
    fn another_site_follows_links_and_sends_nothing() {
        for (method, site, refused) in [
            (Method::GET, "cross-site", false),
            (Method::POST, "cross-site", true),
            (Method::POST, "same-site", true),
            (Method::DELETE, "cross-site", true),
            (Method::POST, "same-origin", false),
            (Method::POST, "none", false),
        ] {
            let headers = HeaderMap::from_iter([(
                http::HeaderName::from_static("sec-fetch-site"),
                HeaderValue::from_static(site),
            )]);
            assert_eq!(
                changes_from_elsewhere(&method, &headers),
                refused,
                "{method} {site}"
            );
        }
        assert!(!changes_from_elsewhere(&Method::POST, &HeaderMap::new()));
    }
}
