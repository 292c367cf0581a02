//! The argument that makes a call repeatable, and the codes that are its own.

use postroom_types::ErrorCode;
use serde_json::Value;

use super::Operation;
use crate::Failure;

/// The argument.
pub const ARGUMENT: &str = "idempotency_key";

impl Operation {
    /// Whether every call of it carries a key that makes it repeatable.
    pub fn needs_idempotency_key(&self) -> bool {
        let required = self
            .input_schema()
            .get("required")
            .and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == ARGUMENT))
    }
}

/// A key that is missing or malformed has codes of its own, so that a client learns it apart from
/// other faults of its arguments.
pub(super) fn named(operation: &Operation, arguments: &Value, failure: Failure) -> Failure {
    if !operation.needs_idempotency_key() {
        return failure;
    }
    let is_key = |text: &str| {
        (1..=255).contains(&text.len()) && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
    };
    match arguments.get(ARGUMENT) {
        None | Some(Value::Null) => ErrorCode::IdempotencyKeyRequired.into(),
        Some(Value::String(text)) if is_key(text) => failure,
        Some(_) => ErrorCode::InvalidIdempotencyKey.into(),
    }
}
