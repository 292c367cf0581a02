//! The body of a streamed answer: server-sent events (WHATWG HTML section 9.2).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::http::Guard;
use crate::link::Parcel;

/// Silence after which a comment is sent, so that proxies keep the connection.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Messages, then the reply, then the end. Dropping the body tells the call that nobody listens.
pub(crate) struct EventBody {
    first: Option<Parcel>,
    parcels: mpsc::Receiver<Parcel>,
    keep_alive: Pin<Box<Sleep>>,
    finished: bool,
    guard: Option<Guard>,
}

impl EventBody {
    pub(crate) fn new(
        first: Option<Parcel>,
        parcels: mpsc::Receiver<Parcel>,
        guard: Guard,
    ) -> Self {
        Self {
            first,
            parcels,
            keep_alive: Box::pin(tokio::time::sleep(KEEP_ALIVE)),
            finished: false,
            guard: Some(guard),
        }
    }

    fn poll_parcel(&mut self, context: &mut Context<'_>) -> Poll<Option<Parcel>> {
        match self.first.take() {
            Some(parcel) => Poll::Ready(Some(parcel)),
            None => self.parcels.poll_recv(context),
        }
    }

    /// The end of the stream: the call is no longer watched.
    fn finish(&mut self) {
        self.finished = true;
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.finished {
            return Poll::Ready(None);
        }
        let text = match self.poll_parcel(context) {
            Poll::Ready(Some(Parcel::Message(message))) => event(&message),
            Poll::Ready(Some(Parcel::Reply(reply))) => {
                self.finish();
                event(&reply.body)
            }
            Poll::Ready(None) => {
                self.finish();
                return Poll::Ready(None);
            }
            Poll::Pending => {
                if self.keep_alive.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                Bytes::from_static(b": keep-alive\n\n")
            }
        };
        let next = Instant::now() + KEEP_ALIVE;
        self.keep_alive.as_mut().reset(next);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.finished
    }
}

/// One event. A JSON text has no raw line breaks once it is compact; should one come through from
/// raw parts, it is put on lines of its own.
fn event(message: &str) -> Bytes {
    let mut text = String::with_capacity(message.len() + 24);
    text.push_str("event: message\n");
    for line in message.split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    Bytes::from(text)
}
