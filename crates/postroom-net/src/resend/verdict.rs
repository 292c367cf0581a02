//! What an answer of the interface comes to.

use postroom_types::{Tainted, limit::RELAY_ANSWER_CHARS};
use serde_json::Value;

use crate::{
    egress::{self, EgressError},
    smtp::send::{Answer, Fate, Fault, Outcome, Submission},
};

/// The outcome for all recipients together: the provider takes a mail for all of them or for none.
pub(super) fn of(recipients: usize, answered: Result<egress::Answer, EgressError>) -> Submission {
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => return unanswered(recipients, error),
    };
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let name = body["name"].as_str().unwrap_or_default();
    let id = body["id"].as_str().filter(|id| is_id(id));
    let (fate, fault) = judge(answer.status, name, id.is_some());
    let accepted = fate == Fate::Accepted;
    let outcome = Outcome {
        fate,
        answer: Some(Answer {
            code: answer.status,
            enhanced: None,
            text: words(name, &body),
        }),
    };
    Submission {
        recipients: vec![outcome; recipients],
        fault,
        handed_over: true,
        provider_message_id: id.filter(|_| accepted).map(str::to_owned),
    }
}

/// By status, and by the error's name where the status says too little.
fn judge(status: u16, name: &str, has_id: bool) -> (Fate, Option<Fault>) {
    match (status, name) {
        (200..300, _) if has_id => (Fate::Accepted, None),
        // Our key is wrong or may not send: the operator's to set right, and no mail's fault.
        (401, _) | (403, "invalid_api_key") => (Fate::Retry, Some(Fault::AuthRefused)),
        // The first try of this very key is still in work; the next one is told its outcome.
        (409, "concurrent_idempotent_requests") => (Fate::Retry, Some(Fault::Unavailable)),
        // This key brought another mail before: which one arrived is not known.
        (409, _) => (Fate::Uncertain, Some(Fault::OutcomeUnknown)),
        (408 | 429, _) => (Fate::Retry, Some(Fault::Unavailable)),
        (400..500, _) => (Fate::Refused, None),
        // The provider's own word that it did not take it; the key against doubles stands behind it.
        (500 | 503, _) => (Fate::Retry, Some(Fault::Unavailable)),
        // A gateway before it speaks, which does not know; or nothing that is an answer.
        _ => (Fate::Uncertain, Some(Fault::OutcomeUnknown)),
    }
}

fn unanswered(recipients: usize, error: EgressError) -> Submission {
    let fault = match error {
        EgressError::Refused(_) => Fault::NotAllowed,
        EgressError::NotResolved => Fault::NotResolved,
        EgressError::Header => Fault::Malformed,
        EgressError::Failed { sent: false } => Fault::Unreachable,
        EgressError::Failed { sent: true } => {
            let outcome = Outcome {
                fate: Fate::Uncertain,
                answer: None,
            };
            return Submission {
                recipients: vec![outcome; recipients],
                fault: Some(Fault::Timeout),
                handed_over: true,
                provider_message_id: None,
            };
        }
    };
    Submission::not_handed_over(recipients, fault)
}

fn is_id(id: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=128).contains(&id.len()) && id.bytes().all(known)
}

/// The error's name and message; an outsider's text.
fn words(name: &str, body: &Value) -> Tainted {
    let message = body["message"].as_str().unwrap_or_default();
    let both = match (name, message) {
        ("", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    };
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    let kept = both.chars().take(RELAY_ANSWER_CHARS).map(blank);
    Tainted::new(kept.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Class;

    fn answer(status: u16, body: &str) -> egress::Answer {
        egress::Answer {
            status,
            headers: http::HeaderMap::new(),
            body: body.to_owned().into(),
            complete: true,
        }
    }

    #[test]
    fn each_documented_answer_has_its_outcome() {
        let error = |name: &str| format!("{{\"name\":\"{name}\",\"message\":\"why\"}}");
        for (status, body, fate, fault) in [
            (
                200,
                "{\"id\":\"49a3999c-0ce1\"}".to_owned(),
                Fate::Accepted,
                None,
            ),
            (
                201,
                "{\"id\":\"49a3999c-0ce1\"}".to_owned(),
                Fate::Accepted,
                None,
            ),
            (
                200,
                "{\"id\":\"49a39".to_owned(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                200,
                "{\"id\":\"\"}".to_owned(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                200,
                "<html>".to_owned(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                204,
                String::new(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                302,
                String::new(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (400, error("validation_error"), Fate::Refused, None),
            (400, error("invalid_idempotency_key"), Fate::Refused, None),
            (
                401,
                error("missing_api_key"),
                Fate::Retry,
                Some(Fault::AuthRefused),
            ),
            (
                401,
                error("restricted_api_key"),
                Fate::Retry,
                Some(Fault::AuthRefused),
            ),
            (
                403,
                error("invalid_api_key"),
                Fate::Retry,
                Some(Fault::AuthRefused),
            ),
            (403, error("validation_error"), Fate::Refused, None),
            (408, String::new(), Fate::Retry, Some(Fault::Unavailable)),
            (
                409,
                error("concurrent_idempotent_requests"),
                Fate::Retry,
                Some(Fault::Unavailable),
            ),
            (
                409,
                error("invalid_idempotent_request"),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (413, String::new(), Fate::Refused, None),
            (422, error("invalid_from_address"), Fate::Refused, None),
            (
                429,
                error("rate_limit_exceeded"),
                Fate::Retry,
                Some(Fault::Unavailable),
            ),
            (
                429,
                error("daily_quota_exceeded"),
                Fate::Retry,
                Some(Fault::Unavailable),
            ),
            (451, error("security_error"), Fate::Refused, None),
            (
                500,
                error("application_error"),
                Fate::Retry,
                Some(Fault::Unavailable),
            ),
            (
                503,
                error("service_unavailable"),
                Fate::Retry,
                Some(Fault::Unavailable),
            ),
            (
                502,
                String::new(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                504,
                String::new(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
            (
                520,
                String::new(),
                Fate::Uncertain,
                Some(Fault::OutcomeUnknown),
            ),
        ] {
            let submission = of(2, Ok(answer(status, &body)));
            let fates: Vec<Fate> = submission.recipients.iter().map(|one| one.fate).collect();
            assert_eq!(fates, [fate; 2], "{status} {body}");
            assert_eq!(submission.fault, fault, "{status} {body}");
            let id = submission.provider_message_id.as_deref();
            let expected = (fate == Fate::Accepted).then_some("49a3999c-0ce1");
            assert_eq!(id, expected, "{status} {body}");
        }
    }

    #[test]
    fn no_answer_is_uncertain_only_where_the_request_may_have_left() {
        for (error, fate, fault) in [
            (
                EgressError::Failed { sent: true },
                Fate::Uncertain,
                Fault::Timeout,
            ),
            (
                EgressError::Failed { sent: false },
                Fate::Retry,
                Fault::Unreachable,
            ),
            (EgressError::NotResolved, Fate::Retry, Fault::NotResolved),
            (
                EgressError::Refused(Class::Port),
                Fate::Retry,
                Fault::NotAllowed,
            ),
            (EgressError::Header, Fate::Refused, Fault::Malformed),
        ] {
            let submission = of(1, Err(error));
            assert_eq!(submission.recipients[0].fate, fate, "{error:?}");
            assert_eq!(submission.fault, Some(fault), "{error:?}");
            assert_eq!(submission.handed_over, fate == Fate::Uncertain);
        }
    }

    #[test]
    fn words_are_cut_and_hold_no_control_characters() {
        let long = "x".repeat(RELAY_ANSWER_CHARS);
        let body = format!("{{\"name\":\"n\",\"message\":\"a\\u0007\\n{long}\"}}");
        let submission = of(1, Ok(answer(422, &body)));
        let kept = submission.recipients[0].answer.clone().expect("an answer");
        assert!(kept.text.expose().starts_with("n: a  xxx"));
        assert_eq!(kept.text.expose().chars().count(), RELAY_ANSWER_CHARS);
        assert_eq!(kept.code, 422);
    }
}
