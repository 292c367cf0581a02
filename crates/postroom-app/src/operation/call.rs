//! One call on its way through the room.

use std::sync::Arc;

use postroom_types::{IdentityId, RequestId, TenantScope, Timestamp};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{BytesBody, Operation, Receipt};
use crate::{Actor, Room};

/// Which surface a call came by; the view cuts by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// An MCP tool call: the budgets for agents hold.
    Tool,
    /// A REST call or a command: texts are whole, answers have their own caps.
    Rest,
}

/// One step of a long call.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far it is; strictly rising within a call.
    pub progress: f64,
    /// How far it will go, when that is known.
    pub total: Option<f64>,
    /// Our own words about the step.
    pub message: Option<String>,
}

/// Takes the steps of a long call; must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// What a surface hands in with a call.
#[derive(Clone)]
pub struct CallContext {
    /// Fires when nobody waits for the answer any more; waits and reads look at it, commits never.
    pub cancel: CancellationToken,
    /// Where progress goes, when the caller asked for it.
    pub progress: Option<ProgressSink>,
    /// Names the request in its answer and in the log.
    pub request_id: RequestId,
    /// When the call began.
    pub now: Timestamp,
    /// The surface.
    pub surface: Surface,
    /// Values of the REST parameter `include`, such as `html`.
    pub include: Vec<String>,
    /// Set by a surface whose clients can go away before their answer.
    pub receipt: Option<Receipt>,
}

impl CallContext {
    /// A context without progress that nobody cancels.
    pub fn new(surface: Surface, request_id: RequestId, now: Timestamp) -> Self {
        Self {
            cancel: CancellationToken::new(),
            progress: None,
            request_id,
            now,
            surface,
            include: Vec::new(),
            receipt: None,
        }
    }

    /// Whether the REST parameter `include` names `value`.
    pub fn includes(&self, value: &str) -> bool {
        self.include.iter().any(|named| named == value)
    }

    /// Tells a waiting caller how far the call is.
    pub fn report(&self, progress: f64, total: Option<f64>, message: &str) {
        if let Some(sink) = &self.progress {
            sink(Progress {
                progress,
                total,
                message: Some(message.to_owned()),
            });
        }
    }
}

impl std::fmt::Debug for CallContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext")
            .field("request_id", &self.request_id)
            .field("surface", &self.surface)
            .finish_non_exhaustive()
    }
}

/// A call that was let in: what an operation's function works with.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The room.
    pub room: &'a Room,
    /// Who calls.
    pub actor: &'a Actor,
    /// What is called.
    pub operation: &'static Operation,
    /// What may be read; `None` for operations on the deployment itself.
    pub(crate) scope: Option<TenantScope>,
    /// The one identity the call acts as, when it acts as one.
    pub(crate) identity: Option<IdentityId>,
    /// Request id, time, cancel token, progress.
    pub context: &'a CallContext,
}

impl Call<'_> {
    /// What may be read.
    ///
    /// # Errors
    /// `internal_error` when the operation's row asks for no scope: a fault of the row.
    pub fn scope(&self) -> Result<&TenantScope, crate::Failure> {
        self.scope
            .as_ref()
            .ok_or_else(|| postroom_types::ErrorCode::InternalError.into())
    }

    /// What may be read, or `None` in a call on the deployment itself.
    pub fn scope_if_any(&self) -> Option<&TenantScope> {
        self.scope.as_ref()
    }

    /// The one identity the call acts as.
    ///
    /// # Errors
    /// `internal_error` when the operation's row asks for none: a fault of the row.
    pub fn identity(&self) -> Result<IdentityId, crate::Failure> {
        self.identity
            .ok_or_else(|| postroom_types::ErrorCode::InternalError.into())
    }

    /// The identity, or `None` in a call over the whole tenant.
    pub fn identity_if_any(&self) -> Option<IdentityId> {
        self.identity
    }

    /// When the call began.
    pub fn now(&self) -> Timestamp {
        self.context.now
    }

    /// Says how to take back what the answer gives away, for when it reaches nobody.
    pub(crate) fn unless_delivered<F>(&self, undoing: impl FnOnce(postroom_store::Store) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(receipt) = &self.context.receipt {
            receipt.unless_delivered(undoing(self.room.store().clone()));
        }
    }

    /// Whether texts are cut to an agent's budgets.
    pub fn for_agent(&self) -> bool {
        self.context.surface == Surface::Tool
    }
}

/// What a call gives back.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A JSON object that validates against the output schema.
    Json(Value),
    /// Bytes.
    Bytes(BytesBody),
}
