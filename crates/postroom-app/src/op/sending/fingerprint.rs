//! What tells one request from another that carries the same key.

use postroom_core::SendOperation;
use postroom_types::MessageId;
use serde::Serialize;
use serde_json::Value;

use crate::{Failure, operation::Call, schema};

/// Arguments that are no part of what is asked for: the key itself, and those that name the target.
const APART: &[&str] = &["idempotency_key", "identity", "message_id"];

/// The fingerprint of a request, over its arguments with their defaults filled in, so that a tool
/// call and its REST call are the same.
pub(in crate::op) fn fingerprint(
    call: &Call<'_>,
    operation: SendOperation,
    target: Option<MessageId>,
    input: &impl Serialize,
) -> Result<[u8; 32], Failure> {
    let mut body = schema::write(input)?;
    if let Value::Object(body) = &mut body {
        body.retain(|name, value| !APART.contains(&name.as_str()) && !value.is_null());
    }
    let identity = call.identity()?;
    let target = match target {
        Some(message) => format!("{identity}/{message}"),
        None => identity.to_string(),
    };
    Ok(postroom_core::fingerprint(
        operation.as_str(),
        &target,
        &body,
    ))
}
