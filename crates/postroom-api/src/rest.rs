//! REST: every route is a route of a row of the operation table.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Extension, Router,
    body::Body,
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    response::Response,
    routing::{MethodFilter, MethodRouter, on},
};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
    header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body_util::BodyExt as _;
use postroom_app::rate::Bucket;
use postroom_app::{
    Actor, CallContext, Failure, Operation, Reply,
    operation::{DRY_RUN, Handler, IDEMPOTENCY_KEY, Receipt, RestRequest, Route, Surface, TABLE},
};
use postroom_types::{ErrorCode, Level, RequestId, limit};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use postroom_mcp_transport::{bearer, says_utf8};

use crate::{Surfaces, answer};

/// What clients say that know no type of what they send.
const FORM: &str = "application/x-www-form-urlencoded";
/// The header that may carry the key of a repeatable call.
const IDEMPOTENCY_KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Says of an answer that it is that of an earlier call with the same key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// Bytes past the bound of a body that are read and thrown away.
const DISCARDED_BYTES: usize = 8 * 1024 * 1024;
/// Time for a client to send its body.
const BODY_TIME: std::time::Duration = std::time::Duration::from_secs(60);

type Shared = State<Arc<Surfaces>>;

/// One router entry for each path of the table; other methods on it get 405 with `Allow`.
pub(crate) fn routes() -> Router<Arc<Surfaces>> {
    let mut paths: BTreeMap<&'static str, Vec<(&'static Operation, &'static Route)>> =
        BTreeMap::new();
    for operation in TABLE {
        for route in operation.routes {
            paths
                .entry(route.path)
                .or_default()
                .push((operation, route));
        }
    }
    paths
        .into_iter()
        .fold(Router::new(), |router, (path, rows)| {
            router.route(path, methods(&rows))
        })
}

fn methods(rows: &[(&'static Operation, &'static Route)]) -> MethodRouter<Arc<Surfaces>> {
    let mut allowed: Vec<&str> = rows.iter().map(|(_, route)| route.method).collect();
    allowed.sort_unstable();
    allowed.dedup();
    let allow = allowed.join(", ");
    let mut router = MethodRouter::new();
    for method in allowed {
        let Some(filter) = filter(method) else {
            continue;
        };
        let rows: Vec<_> = rows
            .iter()
            .copied()
            .filter(|(_, route)| route.method == method)
            .collect();
        router = router.merge(on(
            filter,
            move |state: Shared,
                  id: Extension<RequestId>,
                  path: Result<RawPathParams, RawPathParamsRejection>,
                  request: Request| {
                let rows = rows.clone();
                async move {
                    match path {
                        Ok(path) => handle(state, id, path, request, rows).await,
                        // A path that is no UTF-8 names nothing here.
                        Err(_) => answer::refuse(ErrorCode::RouteNotFound, id.0),
                    }
                }
            },
        ));
    }
    router.fallback(move |Extension(request_id): Extension<RequestId>| {
        let allow = allow.clone();
        async move {
            let mut response = answer::refuse(ErrorCode::MethodNotAllowed, request_id);
            if let Ok(value) = HeaderValue::from_str(&allow) {
                response.headers_mut().insert(ALLOW, value);
            }
            response
        }
    })
}

fn filter(method: &str) -> Option<MethodFilter> {
    Method::from_bytes(method.as_bytes())
        .ok()
        .and_then(|method| MethodFilter::try_from(method).ok())
}

/// One request on a route. Where several rows share a method and path, the caller's permissions and
/// the arguments that a route binds decide; the first row is the default.
async fn handle(
    State(surfaces): Shared,
    Extension(request_id): Extension<RequestId>,
    path: RawPathParams,
    request: Request,
    rows: Vec<(&'static Operation, &'static Route)>,
) -> Response {
    let (parts, body) = request.into_parts();
    let Some((operation, route)) = rows.first().copied() else {
        return answer::refuse(ErrorCode::RouteNotFound, request_id);
    };
    let widest = operation
        .levels
        .iter()
        .copied()
        .max()
        .unwrap_or(Level::Identity);
    let Some(token) = bearer(&parts.headers) else {
        return answer::refuse(ErrorCode::Unauthenticated, request_id);
    };
    let actor = match crate::authenticate(
        &surfaces.room,
        surfaces.config.local_key.as_deref(),
        token,
        widest,
    )
    .await
    {
        Ok(actor) => Arc::new(actor),
        Err(failure) => return answer::failure(&failure, request_id),
    };
    let takes_mail = matches!(operation.handler, Handler::BytesIn(_));
    let (charged, bucket) = match takes_mail {
        true => (surfaces.room.charge_ingest(&actor), Bucket::Ingest),
        false => (surfaces.room.charge(&actor), Bucket::Key),
    };
    let per_minute = surfaces.room.rates().per_minute(bucket);
    if let Err(failure) = charged {
        return answer::with_limit(answer::failure(&failure, request_id), per_minute);
    }
    let reading = Reading {
        operation,
        route,
        headers: &parts.headers,
        query: parts.uri.query(),
        path: &path,
    };
    let response = match reading.call(body).await {
        Ok((arguments, include, bytes)) => {
            // What a dry run answers is not the thing itself.
            let status = match include.iter().any(|value| value == DRY_RUN) {
                true => StatusCode::OK.as_u16(),
                false => route.status,
            };
            let context = CallContext {
                include,
                ..CallContext::new(Surface::Rest, request_id, surfaces.room.now())
            };
            run(&surfaces, actor, operation, arguments, bytes, context)
                .await
                .map(|reply| reply_response(status, reply))
                .unwrap_or_else(|failure| answer::failure(&failure, request_id))
        }
        Err(failure) => answer::failure(&failure, request_id),
    };
    answer::with_limit(response, per_minute)
}

/// Runs a call as a task of its own: a client that goes away cancels waits and reads, and never a
/// commit; a fault inside is logged and answered as `internal_error`.
async fn run(
    surfaces: &Surfaces,
    actor: Arc<Actor>,
    operation: &'static Operation,
    arguments: Value,
    body: Option<Bytes>,
    mut context: CallContext,
) -> Result<Reply, Failure> {
    let room = Arc::clone(&surfaces.room);
    let cancel = surfaces.config.shutdown.child_token();
    context.cancel = cancel.clone();
    let _gone = CancelOnDrop(cancel);
    // Taken back with what the answer gave away when the client goes before it gets it.
    let receipt = Receipt::new(&room);
    context.receipt = Some(receipt.clone());
    let request_id = context.request_id;
    let body = body.unwrap_or_default();
    let call = async move {
        room.call_with_body(&actor, operation, arguments, body, &context)
            .await
    };
    let task = tokio::spawn(std::panic::AssertUnwindSafe(call).catch_unwind());
    match task.await {
        Ok(Ok(result)) => {
            receipt.delivered();
            result
        }
        _ => {
            tracing::error!(%request_id, operation = operation.name, "a call panicked");
            Err(ErrorCode::InternalError.into())
        }
    }
}

/// Cancels when the client's request is dropped.
struct CancelOnDrop(CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn reply_response(status: u16, reply: Reply) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    match reply {
        Reply::Json(value) => {
            let mut response = answer::json(status, &value);
            if value.get("deduplicated") == Some(&Value::Bool(true)) {
                let headers = response.headers_mut();
                headers.insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Reply::Bytes(body) => answer::bytes(status, body),
    }
}

/// A request that is being read.
struct Reading<'a> {
    operation: &'static Operation,
    route: &'static Route,
    headers: &'a HeaderMap,
    query: Option<&'a str>,
    path: &'a RawPathParams,
}

impl Reading<'_> {
    /// The arguments, the `include` values, and for rows that take bytes the body.
    async fn call(&self, body: Body) -> Result<(Value, Vec<String>, Option<Bytes>), Failure> {
        let (most, too_large) = match self.operation.handler {
            Handler::BytesIn(_) => (limit::RAW_MAIL_BYTES, ErrorCode::MessageTooLarge),
            Handler::FileIn(_) => (file_bytes(), ErrorCode::PayloadTooLarge),
            _ => (limit::REQUEST_BODY_BYTES, ErrorCode::PayloadTooLarge),
        };
        let takes_bytes = self.takes_bytes();
        let bytes =
            collect(self.headers, body, most, too_large)
                .await
                .map_err(|failure| match (failure.code, &self.operation.handler) {
                    (ErrorCode::MessageTooLarge, _) => Failure::too_large(most as u64),
                    (ErrorCode::PayloadTooLarge, Handler::FileIn(_)) => {
                        failure.advising(format!("Send a file of at most {most} bytes."))
                    }
                    _ => failure,
                })?;
        self.check_content_type(&bytes)?;
        let (json, raw) = match takes_bytes {
            true => (None, Some(bytes)),
            false if bytes.is_empty() => (None, None),
            false => {
                let value = postroom_types::json::parse(&bytes)
                    .map_err(|fault| Failure::json(self.operation.dialect, &fault))?;
                (Some(value), None)
            }
        };
        let request = RestRequest {
            path: self
                .path
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            query: pairs(self.query.unwrap_or_default()),
            body: json,
        };
        let mut call = self.operation.rest_arguments(self.route, request)?;
        self.fill_from_headers(&mut call.arguments)?;
        Ok((call.arguments, call.include, raw))
    }

    /// The media type of the body without parameters.
    fn content_type(&self) -> Option<String> {
        let given = self.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let kind = given.split(';').next().unwrap_or_default();
        Some(kind.trim().to_ascii_lowercase())
    }

    fn takes_bytes(&self) -> bool {
        matches!(
            self.operation.handler,
            Handler::BytesIn(_) | Handler::FileIn(_)
        )
    }

    /// What HTTP says in a header and the arguments do not say: the key that makes a call repeatable,
    /// and the type of a file.
    fn fill_from_headers(&self, arguments: &mut Value) -> Result<(), Failure> {
        let Some(arguments) = arguments.as_object_mut() else {
            return Ok(());
        };
        let text = |name: HeaderName| {
            let value = self.headers.get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        if self.operation.needs_idempotency_key()
            && let Some(key) = text(IDEMPOTENCY_KEY_HEADER)
        {
            let given = arguments
                .entry(IDEMPOTENCY_KEY)
                .or_insert_with(|| Value::String(key.clone()));
            if *given != Value::String(key) {
                let words = "differs from the header Idempotency-Key";
                return Err(Failure::argument(
                    self.operation.dialect,
                    IDEMPOTENCY_KEY,
                    words,
                ));
            }
        }
        // Clients that know no better say that a file is a form: that tells nothing of its type.
        if matches!(self.operation.handler, Handler::FileIn(_))
            && let Some(kind) = text(CONTENT_TYPE)
            && self.content_type().as_deref() != Some(FORM)
        {
            arguments
                .entry("content_type")
                .or_insert(Value::String(kind));
        }
        Ok(())
    }

    fn check_content_type(&self, body: &Bytes) -> Result<(), Failure> {
        let given = self.content_type();
        if matches!(self.operation.handler, Handler::FileIn(_)) {
            // The wrapping of a form would become a part of the file.
            let wrapped = given.is_some_and(|kind| kind.starts_with("multipart/"));
            return match wrapped {
                true => Err(Failure::new(ErrorCode::UnsupportedMediaType)
                    .with("expected", "the file's own type")
                    .advising(
                        "Send the file itself as the body, not a form: with curl, --data-binary @FILE instead of -F.",
                    )),
                false => Ok(()),
            };
        }
        let takes_bytes = self.takes_bytes();
        let fits = match given.as_deref() {
            Some(kind) if takes_bytes => matches!(
                kind,
                "message/rfc822" | "message/global" | "application/octet-stream" | "text/plain"
            ),
            Some(kind) => {
                let is_json = kind == "application/json" || kind.ends_with("+json");
                body.is_empty() || (is_json && says_utf8(self.headers))
            }
            None => takes_bytes || body.is_empty(),
        };
        if fits {
            return Ok(());
        }
        let wanted = if takes_bytes {
            "message/rfc822"
        } else {
            "application/json"
        };
        Err(Failure::new(ErrorCode::UnsupportedMediaType).with("expected", wanted))
    }
}

/// Reads a body of at most `most` bytes. What is larger is read on and thrown away, up to a bound:
/// a client that still writes would not see the refusal.
async fn collect(
    headers: &HeaderMap,
    mut body: Body,
    most: usize,
    too_large: ErrorCode,
) -> Result<Bytes, Failure> {
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > (most + DISCARDED_BYTES) as u64) {
        return Err(too_large.into());
    }
    let broken = || Failure::invalid("", "the body did not arrive whole");
    let reading = async {
        let mut kept = BytesMut::new();
        let mut read = 0;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else {
                continue;
            };
            read += data.len();
            if read <= most {
                kept.extend_from_slice(&data);
            } else if read > most + DISCARDED_BYTES {
                break;
            }
        }
        if read > most {
            return Err(too_large.into());
        }
        Ok(kept.freeze())
    };
    tokio::time::timeout(BODY_TIME, reading)
        .await
        .unwrap_or_else(|_| Err(broken()))
}

/// The largest file as a body.
fn file_bytes() -> usize {
    usize::try_from(limit::UPLOAD_BYTES).unwrap_or(usize::MAX)
}

/// The pairs of a query string, decoded as forms are.
fn pairs(query: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect()
}

/// No route of the table.
pub(crate) async fn route_not_found(Extension(request_id): Extension<RequestId>) -> Response {
    answer::refuse(ErrorCode::RouteNotFound, request_id)
}

/// The OpenAPI document.
pub(crate) async fn openapi(State(surfaces): Shared) -> Response {
    answer::json(StatusCode::OK, &postroom_app::openapi(&surfaces.config.url))
}

/// Whether the process answers.
pub(crate) async fn healthz() -> Response {
    answer::json(StatusCode::OK, &json!({ "status": "ok" }))
}
