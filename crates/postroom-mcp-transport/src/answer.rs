//! A call as one future that always comes to a reply.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use postroom_mcp::{Link, Registry, Rejection, Reply, Request, Server, Visitor, code};

/// A call in progress.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// The call, a panic inside included: a fault in one call must not take others with it.
/// `request_id` makes the id under which such a fault is reported.
pub(crate) fn answering<R: Registry>(
    server: Arc<Server<R>>,
    request: Request,
    visitor: Visitor<R::Caller>,
    link: Arc<dyn Link>,
    request_id: impl FnOnce() -> String + Send + 'static,
) -> Answering {
    let id = request.id().to_owned();
    Box::pin(async move {
        let answer = AssertUnwindSafe(server.answer(request, visitor, link));
        match answer.catch_unwind().await {
            Ok(reply) => reply,
            Err(_) => failed(&request_id()).with_id(Some(&id)).into(),
        }
    })
}

/// Something failed inside.
pub(crate) fn failed(request_id: &str) -> Rejection {
    Rejection::new(500, code::INTERNAL, "Internal error.")
        .with_data(serde_json::json!({ "request_id": request_id }))
}
