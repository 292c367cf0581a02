//! The call log: one line per call, never an argument.

use std::time::Duration;

use postroom_types::{IdentityId, KeyId, RequestId};
use serde_json::Value;

use crate::{Actor, CallContext, Failure, Operation, Room, operation::Surface};

/// What the log says about one call.
#[derive(Debug)]
pub(crate) struct Entry {
    request_id: RequestId,
    surface: Surface,
    operation: &'static str,
    key: Option<KeyId>,
    /// The identity that the call acts as, once that is known.
    pub(crate) identity: Option<IdentityId>,
    query_hash: Option<String>,
}

impl Entry {
    pub(crate) fn new(
        room: &Room,
        actor: &Actor,
        operation: &Operation,
        arguments: &Value,
        context: &CallContext,
    ) -> Self {
        Self {
            request_id: context.request_id,
            surface: context.surface,
            operation: operation.name,
            key: actor.key,
            identity: actor.identity,
            // Keyed, so that nobody without the key can try words against the log.
            query_hash: arguments
                .get("q")
                .and_then(Value::as_str)
                .map(|query| room.store().keys().query_hash(query)),
        }
    }

    pub(crate) fn write(&self, took: Duration, failure: Option<&Failure>) {
        let method = match self.surface {
            Surface::Tool => "tools/call",
            Surface::Rest => "rest",
        };
        tracing::info!(
            target: "postroom::call",
            request_id = %self.request_id,
            method,
            operation = self.operation,
            key = self.key.map(|key| key.to_string()),
            identity = self.identity.map(|identity| identity.to_string()),
            query_hash = self.query_hash,
            duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            outcome = if failure.is_some() { "error" } else { "ok" },
            code = failure.map(|failure| failure.code.as_str()),
        );
    }
}
