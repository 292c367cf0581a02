//! What a provider is answered.

use postroom_core::{ArriveOutcome, Disposition, SourceRow, TrustMode};
use postroom_webhook::{Answer, Provider, Reason, Rejection};
use serde_json::{Value, json};

/// Seconds after which a provider may try again what we could not store.
const RETRY_SECONDS: u64 = 5;

fn json_answer(status: u16, body: &Value) -> Answer {
    Answer {
        status,
        ..Answer::json(body)
    }
}

fn error(status: u16, words: &str, code: &str) -> Answer {
    json_answer(status, &json!({ "error": words, "code": code }))
}

fn retrying(mut answer: Answer, seconds: u64) -> Answer {
    answer.headers.push(("retry-after", seconds.to_string()));
    answer
}

pub(super) fn unknown() -> Answer {
    error(404, "unknown webhook", "unknown_webhook")
}

pub(super) fn unavailable() -> Answer {
    retrying(
        error(503, "the delivery cannot be stored now", "unavailable"),
        RETRY_SECONDS,
    )
}

pub(super) fn awaiting_secret() -> Answer {
    error(503, "webhook awaiting signing secret", "awaiting_secret")
}

pub(super) fn slow_down(seconds: u64) -> Answer {
    retrying(error(429, "too many deliveries", "rate_limited"), seconds)
}

pub(super) fn too_large() -> Answer {
    error(413, "the body is too large", "payload_too_large")
}

pub(super) fn unreadable() -> Answer {
    error(
        400,
        "the body is not compressed as its header says",
        "unreadable",
    )
}

/// A source that was turned off: the status with which its provider stops sending for good.
pub(super) fn disabled(provider: &Provider) -> Answer {
    let status = provider.stop_status.unwrap_or(410);
    error(status, "this webhook is turned off", "disabled")
}

/// A refusal says that it is one and never which part failed.
pub(super) fn rejected(provider: &Provider, rejection: &Rejection) -> Answer {
    match rejection.reason.http_status() {
        401 => error(401, "the delivery is not verified", "unauthenticated"),
        503 if rejection.reason == Reason::NotConfigured => {
            let status = provider.retry_status;
            error(status, "webhook awaiting signing secret", "awaiting_secret")
        }
        503 => retrying(
            error(
                provider.retry_status,
                "the delivery cannot be verified now",
                "unavailable",
            ),
            RETRY_SECONDS,
        ),
        413 => too_large(),
        405 => {
            let mut answer = error(405, "not a request of this webhook", "method_not_allowed");
            answer.headers.push(("allow", provider.methods.join(", ")));
            answer
        }
        _ => error(400, "the delivery cannot be read", "malformed"),
    }
}

/// The delivery is stored: what the provider takes for that, else what became of it.
pub(super) fn accepted(
    row: &SourceRow,
    provider: &Provider,
    trust: (TrustMode, bool),
    outcomes: &[ArriveOutcome],
) -> Answer {
    let accepted = provider.accepted;
    if accepted.status != 202 {
        return match accepted.body {
            Some((content_type, body)) => Answer {
                status: accepted.status,
                content_type: Some(content_type),
                headers: Vec::new(),
                body: body.as_bytes().to_vec(),
            },
            None => Answer::empty(accepted.status),
        };
    }
    json_answer(202, &summary(row, trust, outcomes))
}

/// What became of a delivery, without a word about how it was judged.
fn summary(
    row: &SourceRow,
    (trust_mode, verified): (TrustMode, bool),
    outcomes: &[ArriveOutcome],
) -> Value {
    let owner = match row.identity_id {
        Some(identity) => identity.to_string(),
        None => row.tenant_id.to_string(),
    };
    let todos: Vec<Value> = outcomes
        .iter()
        .filter_map(|outcome| outcome.todo.as_ref())
        .map(|todo| {
            json!({
                "id": todo.id,
                "endpoint_id": owner,
                "queue": todo.queue,
                "created": todo.created,
            })
        })
        .collect();
    let created = todos.iter().filter(|todo| todo["created"] == true).count();
    let mut body = json!({
        "created": created,
        "verified": verified,
        "trust_mode": trust_mode.as_str(),
    });
    if let Some(first) = todos.first() {
        body["id"] = first["id"].clone();
        body["queue"] = first["queue"].clone();
    }
    body["todos"] = todos.into();
    let all = |is: fn(&ArriveOutcome) -> bool| !outcomes.is_empty() && outcomes.iter().all(is);
    if all(|outcome| outcome.disposition == Disposition::Dropped) {
        body["dropped"] = true.into();
    }
    if all(|outcome| outcome.once_repeat) {
        body["repeat"] = true.into();
    }
    if all(|outcome| outcome.duplicate) {
        body["duplicate"] = true.into();
    }
    body
}
