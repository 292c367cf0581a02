//! Answers of REST: JSON, bytes and the error envelope.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use postroom_app::{Failure, operation::BytesBody};
use postroom_types::{ErrorCode, RequestId};
use serde_json::Value;

/// The header that names a request; it stands on every answer.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
const NO_SNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// A JSON value with a status.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_SNIFF, HeaderValue::from_static("nosniff"));
    response
}

/// Bytes as a download: a browser never shows them as a page of ours.
pub(crate) fn bytes(status: StatusCode, body: BytesBody) -> Response {
    let mut response = Response::new(Body::from(body.bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(body.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_SNIFF, HeaderValue::from_static("nosniff"));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", body.filename))
    {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    response
}

/// The error envelope with its status and headers.
pub(crate) fn failure(failure: &Failure, request_id: RequestId) -> Response {
    let status = StatusCode::from_u16(failure.code.http_status())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, &failure.envelope(request_id));
    let headers = response.headers_mut();
    if let Some(seconds) = failure.retry_after_seconds {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        headers.insert(RESET, HeaderValue::from(seconds));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(
            WWW_AUTHENTICATE,
            HeaderValue::from_static(r#"Bearer realm="postroom", error="invalid_token""#),
        );
    }
    response
}

/// A failure in the catalogue's words.
pub(crate) fn refuse(code: ErrorCode, request_id: RequestId) -> Response {
    failure(&Failure::new(code), request_id)
}

/// Puts the key's limit on an authenticated answer.
pub(crate) fn with_limit(mut response: Response, per_minute: u32) -> Response {
    response
        .headers_mut()
        .insert(LIMIT, HeaderValue::from(per_minute));
    response
}

/// Puts the request id on an answer.
pub(crate) fn with_request_id(mut response: Response, request_id: RequestId) -> Response {
    if let Ok(value) = HeaderValue::from_str(&request_id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// A page with the headers that keep a browser from doing more than showing it.
pub(crate) fn page(status: StatusCode, html: String) -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let mut response = (status, html).into_response();
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(NO_SNIFF, HeaderValue::from_static("nosniff"));
    headers.insert(
        http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(policy),
    );
    headers.insert(
        http::header::REFERRER_POLICY,
        // Without a referrer a browser sends forms as of nobody's origin, which are refused.
        HeaderValue::from_static("same-origin"),
    );
    response
}
