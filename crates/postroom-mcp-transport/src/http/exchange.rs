//! One request being answered: at once, as JSON later, or as a stream.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ::http::HeaderValue;
use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::body::Body;
use axum::response::Response;
use postroom_mcp::{End, Latch, Link, Registry, Reply, Request, Visitor};
use postroom_types::ErrorCode;
use postroom_types::limit::{STREAM_LIFE_MS, STREAM_QUEUE};
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, sleep_until, timeout};

use super::Endpoint;
use super::refusal::{Refusal, json};
use crate::answer::{Answering, answering, failed};
use crate::link::{Parcel, QueueLink};
use crate::sse::EventBody;
use crate::{Denial, Gate, StreamPermit};

/// After this time without an answer the stream is opened, so that keep-alives can flow.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the credential of an open exchange is asked about.
const RECHECK: Duration = Duration::from_secs(5);
/// How long a call that was told to end may take to do so.
const GRACE: Duration = Duration::from_secs(5);

/// Tells a call that its client has gone, when dropped. A legacy client that disconnects has not
/// cancelled anything, so its calls run on.
#[derive(Debug)]
pub(crate) struct Guard(Option<Latch<End>>);

impl Guard {
    /// The call is over.
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(end) = &self.0 {
            end.set(End::Cancelled);
        }
    }
}

/// Answers a request that passed every check.
pub(super) async fn run<R, G>(
    endpoint: &Arc<Endpoint<R, G>>,
    request: Request,
    visitor: Visitor<G::Caller>,
    streams: bool,
) -> Result<Response, Refusal>
where
    R: Registry<Caller = G::Caller>,
    G: Gate,
{
    let mut permit = long_permit(endpoint, &request, &visitor.caller)?;
    let (sender, parcels) = mpsc::channel(STREAM_QUEUE);
    let link = QueueLink::new(&sender, streams, endpoint.since);
    let guard = Guard(request.revision().is_modern().then(|| link.end().clone()));
    let caller = visitor.caller.clone();
    let naming = Arc::clone(endpoint);
    let mut answering = answering(
        Arc::clone(&endpoint.server),
        request,
        visitor,
        Arc::clone(&link) as Arc<dyn Link>,
        move || naming.gate.request_id(),
    );

    // Most calls are ready at once: they need neither a task nor a stream.
    let first = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await;
    match first {
        Poll::Ready(reply) if parcels.is_empty() => {
            guard.disarm();
            return Ok(json(reply));
        }
        Poll::Ready(reply) => {
            tokio::spawn(async move { sender.send(Parcel::Reply(reply)).await });
        }
        Poll::Pending => {
            let watched = Watched {
                endpoint: Arc::clone(endpoint),
                caller,
                link,
                sender,
                permit: permit.take(),
            };
            tokio::spawn(watched.finish(answering));
        }
    }
    Ok(if streams {
        respond(parcels, guard).await
    } else {
        whole(parcels, guard).await
    })
}

/// A call that may take long counts as an open stream from its beginning, and is refused before it
/// has done anything.
fn long_permit<R, G>(
    endpoint: &Endpoint<R, G>,
    request: &Request,
    caller: &G::Caller,
) -> Result<Option<StreamPermit>, Refusal>
where
    R: Registry<Caller = G::Caller>,
    G: Gate,
{
    let registry = endpoint.server.registry();
    let long = request.needs_stream() || request.tool().is_some_and(|tool| registry.is_long(tool));
    if !long {
        return Ok(None);
    }
    if let Some(permit) = endpoint.streams.open(registry.principal(caller)) {
        return Ok(Some(permit));
    }
    let denial = Denial {
        retry_after_s: Some(1),
        ..Denial::new(ErrorCode::RateLimited, endpoint.gate.request_id())
    };
    Err(Refusal::from(denial).with_id(Some(request.id())))
}

/// A call that goes on in a task of its own.
struct Watched<R: Registry, G: Gate> {
    endpoint: Arc<Endpoint<R, G>>,
    caller: G::Caller,
    link: Arc<QueueLink>,
    sender: mpsc::Sender<Parcel>,
    /// Held for as long as the call runs.
    permit: Option<StreamPermit>,
}

impl<R, G> Watched<R, G>
where
    R: Registry<Caller = G::Caller>,
    G: Gate,
{
    async fn finish(self, answering: Answering) {
        if let Some(reply) = self.watch(answering).await {
            let _ = self.sender.send(Parcel::Reply(reply)).await;
        }
        drop(self.permit);
    }

    /// Waits for the reply, and tells the call to end when its time has come. `None` when it was
    /// told and did not end.
    async fn watch(&self, mut answering: Answering) -> Option<Reply> {
        let start = Instant::now();
        let mut recheck = interval_at(start + RECHECK, RECHECK);
        let mut life = pin!(sleep_until(start + Duration::from_millis(STREAM_LIFE_MS)));
        let reason = loop {
            tokio::select! {
                biased;
                reply = &mut answering => return Some(reply),
                reason = self.link.end().wait() => break reason,
                () = self.endpoint.shutdown.cancelled() => break End::Shutdown,
                () = &mut life => break End::Expired,
                _ = recheck.tick() => {
                    if !self.endpoint.gate.still_holds(&self.caller).await {
                        break End::Revoked;
                    }
                }
            }
        };
        self.link.end().set(reason);
        timeout(GRACE, answering).await.ok()
    }
}

/// The answer of a call that was not ready at once: JSON when the reply comes soon and first, a
/// stream otherwise.
async fn respond(mut parcels: mpsc::Receiver<Parcel>, guard: Guard) -> Response {
    let first = match timeout(PATIENCE, parcels.recv()).await {
        Ok(Some(Parcel::Reply(reply))) => {
            guard.disarm();
            return json(reply);
        }
        Ok(None) => return json(failed("").into()),
        Ok(message) => message,
        Err(_) => None,
    };
    events(EventBody::new(first, parcels, guard))
}

/// Waits for the reply; what is said before it has nowhere to go.
async fn whole(mut parcels: mpsc::Receiver<Parcel>, guard: Guard) -> Response {
    while let Some(parcel) = parcels.recv().await {
        if let Parcel::Reply(reply) = parcel {
            guard.disarm();
            return json(reply);
        }
    }
    json(failed("").into())
}

fn events(body: EventBody) -> Response {
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    let media = HeaderValue::from_static("text/event-stream; charset=utf-8");
    headers.insert(CONTENT_TYPE, media);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let name = HeaderName::from_static("x-accel-buffering");
    headers.insert(name, HeaderValue::from_static("no"));
    response
}
