//! The rest of a body that nobody read.
//!
//! Most refusals are decided before the body is read. A connection that is closed while its client
//! still writes is reset, and the client sees a broken pipe instead of the refusal (RFC 9112
//! section 9.6). So what is left is read and thrown away, within bounds, before the answer goes out.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use postroom_types::limit::RAW_MAIL_BYTES;

/// Bytes that are thrown away: the largest body that any route takes.
const MOST_BYTES: u64 = RAW_MAIL_BYTES as u64;
/// Time for a client to send them.
const TIME: Duration = Duration::from_secs(20);

/// Where a body goes that was dropped before its end.
#[derive(Debug)]
pub(crate) struct Rest<B>(Arc<Mutex<Option<B>>>);

impl<B: Body<Data = Bytes> + Unpin> Rest<B> {
    /// A body that comes back here when it is dropped unread.
    pub(crate) fn of(body: B) -> (Returning<B>, Self) {
        let slot = Arc::new(Mutex::new(None));
        let returning = Returning {
            body: Some(body),
            slot: Arc::clone(&slot),
        };
        (returning, Self(slot))
    }

    /// Reads what is left, if the body came back; says whether nothing is on its way any more.
    pub(crate) async fn discard(self) -> bool {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left else { return true };
        if body.size_hint().lower() > MOST_BYTES {
            return false;
        }
        let reading = async {
            let mut read = 0;
            while let Some(frame) = body.frame().await {
                let Ok(frame) = frame else { return false };
                read += frame.data_ref().map_or(0, |data| data.len() as u64);
                if read > MOST_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(TIME, reading).await.unwrap_or(false)
    }
}

/// A body that is handed back when it is dropped before its end.
#[derive(Debug)]
pub(crate) struct Returning<B: Body> {
    body: Option<B>,
    slot: Arc<Mutex<Option<B>>>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Returning<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.body.as_mut() {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B: Body> Drop for Returning<B> {
    fn drop(&mut self) {
        let left = self.body.take().filter(|body| !body.is_end_stream());
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }
}
