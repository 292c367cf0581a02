//! `/in/{token}`: where providers deliver.
//!
//! No key, no cookie, no redirect: the token in the address finds the source and the signature
//! proves the sender. The body is read only once the source is known, and no further than it takes.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{ConnectInfo, Path, Request, State, rejection::PathRejection},
    response::Response,
    routing::any,
};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{
        CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
        X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
    },
};
use http_body_util::BodyExt as _;
use postroom_app::room::{Door, IngestAnswer, WebhookRequest};
use postroom_types::{
    SourceId,
    limit::{WEBHOOK_HELD_BYTES, WEBHOOK_SOURCE_HELD_BYTES},
};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Surfaces, answer, proxy};

/// Time for a provider to send its body; the largest one at a slow pace.
const BODY_TIME: Duration = Duration::from_secs(30);

/// The route, outside of the checks for browsers: a provider calls whatever name leads here.
pub(crate) fn routes(surfaces: Arc<Surfaces>) -> Router {
    Router::new()
        .route("/in/{token}", any(deliver))
        .with_state(surfaces)
}

async fn deliver(
    State(surfaces): State<Arc<Surfaces>>,
    peer: Option<Extension<ConnectInfo<std::net::SocketAddr>>>,
    token: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    // A token that is no UTF-8 is of no source, like any other that nobody has.
    let token = token.map(|Path(token)| token).unwrap_or_default();
    let request_id = postroom_app::random::request_id(surfaces.room.now());
    let peer = peer.map(|Extension(ConnectInfo(peer))| peer.ip());
    let delivering = take(surfaces, peer, token, request);
    // In a task of its own: a provider that goes away stops nothing in the middle.
    let task = tokio::spawn(std::panic::AssertUnwindSafe(delivering).catch_unwind());
    let answered = match task.await {
        Ok(Ok(answered)) => answered,
        _ => {
            tracing::error!(%request_id, "taking a delivery failed inside");
            plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal error",
                "internal_error",
            )
        }
    };
    answer::with_request_id(guarded(answered), request_id)
}

async fn take(
    surfaces: Arc<Surfaces>,
    peer: Option<IpAddr>,
    token: String,
    request: Request,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
        let mut refused = plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "not a request of a webhook",
            "method_not_allowed",
        );
        let allow = HeaderValue::from_static("GET, HEAD, POST");
        refused.headers_mut().insert(http::header::ALLOW, allow);
        return refused;
    }
    let door = match surfaces.room.knock(&token).await {
        Ok(door) => door,
        Err(refused) => return response(refused),
    };
    let (parts, body) = request.into_parts();
    let via = proxy::Via::of(&surfaces.config, peer, &parts.headers);
    let source_ip = via.client.map(|client| client.to_string());
    let most = door.body_limit();
    let Some(_held) = surfaces.held.take(door.source(), &parts.headers, most) else {
        return response(surfaces.room.try_again());
    };
    let body = match collect(&parts.headers, body, most, BODY_TIME).await {
        Ok(body) => body,
        Err(Unread::TooLarge) => {
            return response(surfaces.room.too_large(&door, source_ip.as_deref()));
        }
        Err(Unread::Broken) => {
            return plain(
                StatusCode::BAD_REQUEST,
                "the body did not arrive whole",
                "unreadable",
            );
        }
    };
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let delivery = WebhookRequest {
        method: parts.method.as_str().to_owned(),
        url: format!("{}{path}", via.base),
        headers: lines(&parts.headers),
        body,
        source_ip,
    };
    arrive(&surfaces, door, delivery).await
}

async fn arrive(surfaces: &Surfaces, door: Door, delivery: WebhookRequest) -> Response {
    response(Box::pin(surfaces.room.arrive(door, delivery)).await)
}

/// Every header line, values as they came.
fn lines(headers: &HeaderMap) -> Vec<(String, Vec<u8>)> {
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
        .collect()
}

/// The length that a body is announced with.
fn announced(headers: &HeaderMap) -> Option<u64> {
    let value = headers.get(CONTENT_LENGTH)?;
    value.to_str().ok()?.parse().ok()
}

/// Room for bodies, in kibibytes: what is being read and judged is bounded for the whole process,
/// however many send at once, and for each source, so that one that announces and never sends keeps
/// nobody else out.
#[derive(Debug)]
pub(crate) struct Held {
    room: Arc<Semaphore>,
    shares: Shares,
}

/// What each source holds; one that holds nothing is not there.
type Shares = Arc<Mutex<HashMap<SourceId, u32>>>;

const HELD_UNIT: usize = 1_024;
const SHARE: u32 = (WEBHOOK_SOURCE_HELD_BYTES / HELD_UNIT) as u32;

impl Default for Held {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(WEBHOOK_HELD_BYTES / HELD_UNIT)),
            shares: Shares::default(),
        }
    }
}

impl Held {
    /// Room for one body: as much as it announces, or as it may have. It is given back when the
    /// delivery is answered.
    fn take(&self, source: SourceId, headers: &HeaderMap, most: usize) -> Option<Place> {
        let most = most as u64;
        let bytes = announced(headers).map_or(most, |length| length.min(most));
        let units = u32::try_from(bytes / HELD_UNIT as u64 + 1).ok()?;
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let held = shares.get(&source).copied().unwrap_or(0);
        let held = held.checked_add(units).filter(|held| *held <= SHARE)?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(units).ok()?;
        shares.insert(source, held);
        Some(Place {
            _room: room,
            shares: Arc::clone(&self.shares),
            source,
            units,
        })
    }
}

/// Room that one body has.
#[derive(Debug)]
struct Place {
    _room: OwnedSemaphorePermit,
    shares: Shares,
    source: SourceId,
    units: u32,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let held = shares.get(&self.source).copied().unwrap_or(0);
        match held.saturating_sub(self.units) {
            0 => shares.remove(&self.source),
            rest => shares.insert(self.source, rest),
        };
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Unread {
    TooLarge,
    Broken,
}

/// Bytes past the bound of a body that are read and thrown away: a client that still writes would
/// not see the refusal.
const DISCARDED_BYTES: usize = 8 * 1024 * 1024;

/// Reads a body of at most `most` bytes that comes within `time`; nothing past them is kept, and one
/// that announces far more is not begun.
async fn collect(
    headers: &HeaderMap,
    mut body: Body,
    most: usize,
    time: Duration,
) -> Result<Bytes, Unread> {
    let announced = announced(headers);
    if announced.is_some_and(|length| length > (most + DISCARDED_BYTES) as u64) {
        return Err(Unread::TooLarge);
    }
    let reading = async {
        let mut kept = BytesMut::new();
        let mut read = 0;
        let over = announced.is_some_and(|length| length > most as u64);
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
                continue;
            };
            read += data.len();
            if read > most + DISCARDED_BYTES {
                return Err(Unread::TooLarge);
            }
            if over || read > most {
                kept = BytesMut::new();
            } else {
                kept.extend_from_slice(&data);
            }
        }
        if over || read > most {
            return Err(Unread::TooLarge);
        }
        Ok(kept.freeze())
    };
    tokio::time::timeout(time, reading)
        .await
        .unwrap_or(Err(Unread::Broken))
}

fn response(answered: IngestAnswer) -> Response {
    let mut response = Response::new(Body::from(answered.body));
    *response.status_mut() =
        StatusCode::from_u16(answered.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(content_type) = answered.content_type {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in answered.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}

fn plain(status: StatusCode, words: &str, code: &str) -> Response {
    answer::json(status, &json!({ "error": words, "code": code }))
}

/// The headers with which a browser makes nothing of an answer.
fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 25 * 1024 * 1024;

    fn source(n: u128) -> SourceId {
        SourceId::from_parts(1, n)
    }

    #[test]
    fn bodies_past_the_bound_of_the_process_wait_for_room() {
        let held = Held::default();
        let none = HeaderMap::new();
        // Two of the largest bodies are what one source may have.
        let sources = (WEBHOOK_HELD_BYTES / MOST) as u128;
        let mut taken: Vec<_> = (0..sources)
            .filter_map(|n| held.take(source(n / 2), &none, MOST))
            .collect();
        let full = taken.len();
        while let Some(more) = held.take(source(1_000 + taken.len() as u128), &none, MOST) {
            taken.push(more);
        }
        assert!((full..=full + 1).contains(&taken.len()));
        // A small one that says so has its place all the same.
        let mut small = HeaderMap::new();
        small.insert(CONTENT_LENGTH, HeaderValue::from_static("100"));
        assert!(held.take(source(0), &small, MOST).is_some());
        taken.pop();
        assert!(
            held.take(source(2_000), &none, MOST).is_some(),
            "given back"
        );
    }

    #[test]
    fn one_source_that_announces_and_never_sends_keeps_no_other_out() {
        let held = Held::default();
        let none = HeaderMap::new();
        let mut idle = Vec::new();
        for _ in 0..21 {
            idle.extend(held.take(source(1), &none, MOST));
        }
        assert_eq!(idle.len(), WEBHOOK_SOURCE_HELD_BYTES / MOST);
        assert!(held.take(source(2), &none, MOST).is_some());
        idle.pop();
        assert!(held.take(source(1), &none, MOST).is_some(), "given back");
        idle.clear();
        let shares = held.shares.lock().expect("whole");
        assert!(shares.is_empty(), "what holds nothing is not remembered");
    }

    #[test]
    fn a_share_is_had_to_its_last_byte() {
        let held = Held::default();
        let of = |bytes: usize| {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::from_str(&bytes.to_string()).expect("digits");
            headers.insert(CONTENT_LENGTH, value);
            headers
        };
        // A unit is taken for what is begun of it.
        let all = of(WEBHOOK_SOURCE_HELD_BYTES - 1);
        let place = held.take(source(1), &all, WEBHOOK_SOURCE_HELD_BYTES);
        assert!(place.is_some());
        assert!(held.take(source(1), &of(0), MOST).is_none());
        drop(place);
        let more = of(WEBHOOK_SOURCE_HELD_BYTES);
        let place = held.take(source(1), &more, WEBHOOK_SOURCE_HELD_BYTES);
        assert!(place.is_none());
    }

    #[tokio::test]
    async fn a_body_that_does_not_come_is_given_up() {
        let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let body = Body::from_stream(never);
        let read = collect(&HeaderMap::new(), body, MOST, Duration::ZERO).await;
        assert_eq!(read, Err(Unread::Broken));
    }
}
