//! What was found wrong while a mail was written, kept until the writer has said whether anything
//! that goes before it is wrong too.

use postroom_core::{Refusal, SendFault, SendStep};
use postroom_mail::compose::ComposeError;
use postroom_store::StoreError;
use postroom_types::ErrorCode;

use crate::Failure;

/// Marks a refusal that was found here, so that its whole words can be given back.
const HERE: &str = "found while the mail was written";

/// Faults by step.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<(SendStep, Failure)>);

impl Faults {
    /// Notes one.
    pub(super) fn put(&mut self, step: SendStep, failure: impl Into<Failure>) {
        self.0.push((step, failure.into()));
    }

    /// Notes a bad argument.
    pub(super) fn argument(&mut self, step: SendStep, path: &str, words: &str) {
        self.put(step, Failure::invalid(path, words));
    }

    /// Notes what the composer refused.
    pub(super) fn compose(&mut self, error: &ComposeError) {
        let (step, code) = match error {
            ComposeError::AddressInvalid { .. } => {
                (SendStep::Recipients, ErrorCode::AddressInvalid)
            }
            ComposeError::AddressUnsupported { .. } => {
                (SendStep::Recipients, ErrorCode::AddressUnsupported)
            }
            ComposeError::UnsubscribeUrl => {
                (SendStep::Marketing, ErrorCode::MarketingRequirementsMissing)
            }
            ComposeError::HeaderNotAllowed { .. } => {
                (SendStep::Headers, ErrorCode::HeaderNotAllowed)
            }
            ComposeError::TooLarge { .. } => (SendStep::Size, ErrorCode::MessageTooLarge),
            ComposeError::Invalid { path, .. } if path.starts_with("headers") => {
                (SendStep::Headers, ErrorCode::InvalidRequest)
            }
            ComposeError::Invalid { path, .. } if names_recipient(path) => {
                (SendStep::Recipients, ErrorCode::InvalidRequest)
            }
            ComposeError::Invalid { .. } => (SendStep::Content, ErrorCode::InvalidRequest),
        };
        let mut failure = Failure::new(code);
        if let Some(path) = error.path() {
            let words = match error {
                ComposeError::Invalid { fault, .. } => fault.to_string(),
                _ => code.message().to_owned(),
            };
            failure = failure.with(
                "errors",
                serde_json::json!([{"path": path, "message": words}]),
            );
        }
        if let ComposeError::TooLarge { max_bytes, .. } = error {
            failure = Failure::too_large(*max_bytes as u64);
        }
        self.put(step, failure);
    }

    /// Whether any was found.
    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    /// As the command takes them.
    pub(super) fn refusals(&self) -> Vec<SendFault> {
        let refusal = |failure: &Failure| Refusal::Code {
            code: failure.code,
            reason: HERE,
            path: None,
        };
        self.0
            .iter()
            .map(|(step, failure)| SendFault {
                step: *step,
                refusal: refusal(failure),
            })
            .collect()
    }

    /// What is answered for a refusal: the whole words of the first fault where it is one of these.
    pub(super) fn name(self, error: StoreError) -> Failure {
        let is_here = matches!(
            &error,
            StoreError::Refused(Refusal::Code { reason, .. }) if *reason == HERE
        );
        // Faults of one step stand in the order in which they were found.
        let first = self.0.into_iter().min_by_key(|(step, _)| *step);
        match first {
            Some((_, failure)) if is_here => failure,
            _ => error.into(),
        }
    }
}

fn names_recipient(path: &str) -> bool {
    ["to[", "cc[", "bcc["]
        .iter()
        .any(|list| path.starts_with(list))
}
