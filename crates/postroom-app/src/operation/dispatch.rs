//! The way of every call through the room.

use std::time::Duration;

use bytes::Bytes;
use postroom_types::{ErrorCode, limit};
use serde_json::Value;

use super::{Call, CallContext, Handler, Operation, Reply, Surface, idempotency};
use crate::{Actor, Failure, Room, authorise, clock, finding, log, view};

/// How often the key of a call that waits is looked at.
const RECHECK: Duration = Duration::from_secs(1);

impl Room {
    /// Calls an operation that takes no body of bytes.
    ///
    /// # Errors
    /// Whatever the operation's row and the rules before it say; see [`Failure`].
    pub async fn call(
        &self,
        actor: &Actor,
        operation: &'static Operation,
        arguments: Value,
        context: &CallContext,
    ) -> Result<Reply, Failure> {
        self.call_with_body(actor, operation, arguments, Bytes::new(), context)
            .await
    }

    /// Calls an operation with a body of bytes; `body` is ignored where the row takes none.
    ///
    /// # Errors
    /// As [`Room::call`].
    pub async fn call_with_body(
        &self,
        actor: &Actor,
        operation: &'static Operation,
        arguments: Value,
        body: Bytes,
        context: &CallContext,
    ) -> Result<Reply, Failure> {
        let began = clock::monotonic();
        let mut entry = log::Entry::new(self, actor, operation, &arguments, context);
        let reply =
            Box::pin(self.run(actor, operation, arguments, body, context, &mut entry)).await;
        entry.write(began.elapsed(), reply.as_ref().err());
        reply
    }

    async fn run(
        &self,
        actor: &Actor,
        operation: &'static Operation,
        arguments: Value,
        body: Bytes,
        context: &CallContext,
        entry: &mut log::Entry,
    ) -> Result<Reply, Failure> {
        actor.check_may_call(operation)?;
        authorise::check_tenant_is_active(self, actor).await?;
        let checker = operation.checker().ok_or(ErrorCode::InternalError)?;
        checker
            .check(&arguments, operation.dialect)
            .map_err(|failure| idempotency::named(operation, &arguments, failure))
            .map_err(|failure| finding::unreadable(operation, &arguments, failure))?;
        let granted = authorise::authorise(self, actor, operation, &arguments).await?;
        entry.identity = granted.identity;
        if let Some(bucket) = operation.bucket {
            let identity = granted.identity;
            self.rates()
                .charge_as(actor, identity, bucket, context.now)?;
        }
        let call = Call {
            room: self,
            actor,
            operation,
            scope: granted.scope,
            identity: granted.identity,
            context,
        };
        let answer = answer(operation, &call, arguments, body);
        if !operation.annotations.read_only {
            return answer.await;
        }
        // Nobody waits for a read that was cancelled; a change runs to its commit.
        let answer = async {
            let reply = answer.await?;
            if operation.streams {
                // The key may have been revoked while the call waited; what came in meanwhile is not
                // its holder's any more.
                self.check_still_holds(actor).await?;
            }
            Ok(reply)
        };
        tokio::select! {
            biased;
            reply = answer => reply,
            () = context.cancel.cancelled() => {
                // A revoked key cancels what waits; its holder is told that, not to try again.
                self.check_still_holds(actor).await?;
                Err(Failure::new(ErrorCode::Unavailable).saying("The call was cancelled."))
            }
            lost = self.lost(actor), if operation.streams => Err(lost),
        }
    }

    /// Comes to an end when a caller's key does, or its tenant is suspended.
    async fn lost(&self, actor: &Actor) -> Failure {
        loop {
            tokio::time::sleep(RECHECK).await;
            match self.check_still_holds(actor).await {
                // A store that cannot answer for a moment ends no call.
                Err(failure) if failure.code != ErrorCode::Unavailable => return failure,
                _ => {}
            }
        }
    }
}

/// Calls an operation that needs no room; `None` when it does need one.
pub fn pure(operation: &Operation, arguments: &Value) -> Option<Result<Value, Failure>> {
    let Handler::Pure(run) = operation.handler else {
        return None;
    };
    let checked = match operation.checker() {
        Some(checker) => checker.check(arguments, operation.dialect),
        None => Err(ErrorCode::InternalError.into()),
    };
    Some(checked.and_then(|()| run(arguments.clone())))
}

async fn answer(
    operation: &Operation,
    call: &Call<'_>,
    arguments: Value,
    body: Bytes,
) -> Result<Reply, Failure> {
    let mut answer = match operation.handler {
        // What a document becomes is given whole or not at all: it is bounded by the document.
        Handler::Pure(run) => return run(arguments).map(Reply::Json),
        Handler::Json(run) => run(call, arguments).await?,
        Handler::BytesIn(run) | Handler::FileIn(run) => run(call, arguments, body).await?,
        Handler::BytesOut(run) => return run(call, arguments).await.map(Reply::Bytes),
    };
    if call.context.surface == Surface::Tool {
        view::shrink(&mut answer, limit::TOOL_RESULT_BYTES);
    }
    Ok(Reply::Json(answer))
}
