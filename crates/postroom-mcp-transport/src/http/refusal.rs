//! Answers that are no result.

use ::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderMap, HeaderValue, StatusCode};
use axum::body::Body;
use axum::response::Response;
use postroom_mcp::{Rejection, Reply, code};
use serde_json::value::RawValue;

use crate::Denial;

/// A protocol error with its headers.
#[derive(Debug)]
pub(crate) struct Refusal {
    rejection: Rejection,
    headers: Box<HeaderMap>,
}

impl Refusal {
    pub(crate) fn method_not_allowed() -> Self {
        let rejection = Rejection::new(405, code::METHOD_NOT_ALLOWED, "Use POST.");
        let mut refusal = Self::from(rejection);
        refusal
            .headers
            .insert(ALLOW, HeaderValue::from_static("POST"));
        refusal
    }

    pub(crate) fn forbidden(message: &str) -> Self {
        Rejection::new(403, code::FORBIDDEN, message).into()
    }

    pub(crate) fn with_id(mut self, id: Option<&RawValue>) -> Self {
        self.rejection = self.rejection.with_id(id);
        self
    }

    pub(crate) fn into_response(self) -> Response {
        let mut response = json(self.rejection.into());
        response.headers_mut().extend(*self.headers);
        response
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Self {
            rejection,
            headers: Box::default(),
        }
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        let status = denial.code.http_status();
        let envelope = denial.envelope();
        let mut headers = denial.headers;
        if status == 401 {
            let challenge = denial.challenge.as_deref().unwrap_or(Denial::CHALLENGE);
            if let Ok(challenge) = HeaderValue::from_str(challenge) {
                headers.insert(WWW_AUTHENTICATE, challenge);
            }
        }
        if let Some(seconds) = denial.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        Self {
            rejection: Rejection::new(status, code::of_status(status), denial.code.message())
                .with_data(envelope),
            headers,
        }
    }
}

/// A reply as one JSON body.
pub(crate) fn json(reply: Reply) -> Response {
    let mut response = Response::new(Body::from(reply.body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a notification.
pub(crate) fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

/// The answer to OPTIONS: allowed methods, and nothing for other origins.
pub(crate) fn options() -> Response {
    let mut response = empty(StatusCode::NO_CONTENT);
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
