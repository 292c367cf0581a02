//! One message per line over standard input and output.
//!
//! The era is decided for each line; after `initialize` the process speaks the legacy revision that
//! was agreed. Only `notifications/cancelled` cancels. The end of the input ends the process, after
//! running calls had a moment to answer.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use postroom_mcp::envelope::{Message, RequestMessage, parse};
use postroom_mcp::{
    End, Latch, Link, Registry, Rejection, Reply, Revision, Server, Visitor, Wire, code,
};
use postroom_types::limit::{STDIO_CALLS, STDIO_LINE_BYTES, STREAM_QUEUE};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::answer::answering;
use crate::link::{Parcel, QueueLink, fresh_id};

/// Time for running calls to end once the input has ended.
const GRACE: Duration = Duration::from_secs(5);

/// Answers lines from `input` on `output` until the input ends.
///
/// `toolsets` is what `?tools=` is over HTTP.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub async fn serve<R: Registry<Caller: Clone>>(
    server: Arc<Server<R>>,
    caller: R::Caller,
    toolsets: Option<Arc<[String]>>,
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let (sender, parcels) = mpsc::channel(STREAM_QUEUE);
    let writing = tokio::spawn(write_lines(parcels, output));
    let mut session = Session {
        server,
        visitor: Visitor { caller, toolsets },
        revision: None,
        running: Arc::default(),
        tasks: TaskTracker::new(),
        sender,
        since: Instant::now(),
    };
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line).await? {
            Line::End => break,
            Line::TooLong => {
                let refusal = Rejection::invalid_request("The line is too long.");
                session.say(refusal.into()).await;
            }
            Line::Whole if line.iter().all(u8::is_ascii_whitespace) => {}
            Line::Whole => session.take(&line).await,
        }
    }
    session.finish().await;
    match tokio::time::timeout(GRACE, writing).await {
        Ok(written) => written.map_err(io::Error::other)?,
        Err(_) => Ok(()),
    }
}

/// Calls in progress, by the id their client gave.
type Running = Arc<Mutex<HashMap<String, InProgress>>>;

struct InProgress {
    end: Latch<End>,
    /// A subscription: it would never end by itself.
    endless: bool,
}

struct Session<R: Registry> {
    server: Arc<Server<R>>,
    visitor: Visitor<R::Caller>,
    revision: Option<Revision>,
    running: Running,
    tasks: TaskTracker,
    sender: mpsc::Sender<Parcel>,
    since: Instant,
}

impl<R: Registry<Caller: Clone>> Session<R> {
    async fn take(&mut self, line: &[u8]) {
        match parse(line) {
            Err(rejection) => self.say(rejection.into()).await,
            Ok(Message::Request(message)) => {
                if let Err(rejection) = self.begin(&message) {
                    self.say(rejection.with_id(Some(message.id)).into()).await;
                }
            }
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancel(params);
                }
            }
            Ok(Message::Response(response)) => {
                let principal = self.server.registry().principal(&self.visitor.caller);
                self.server.deliver(&response, principal);
            }
        }
    }

    /// Starts a call in a task of its own.
    fn begin(&mut self, message: &RequestMessage<'_>) -> Result<(), Rejection> {
        let request = self.server.prepare(message, &Wire::Stdio(self.revision))?;
        let id = message.id.get().to_owned();
        let link = QueueLink::new(&self.sender, true, self.since);
        {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.len() >= STDIO_CALLS {
                let message = "Too many calls are in progress.";
                return Err(Rejection::new(429, code::RATE_LIMITED, message));
            }
            if running.contains_key(&id) {
                return Err(Rejection::invalid_request("This id is in use."));
            }
            let in_progress = InProgress {
                end: link.end().clone(),
                endless: request.needs_stream(),
            };
            running.insert(id.clone(), in_progress);
        }
        self.revision = request.handshake().or(self.revision);
        let end = link.end().clone();
        let visitor = self.visitor.clone();
        let answering = answering(Arc::clone(&self.server), request, visitor, link, fresh_id);
        let running = Arc::clone(&self.running);
        let sender = self.sender.clone();
        self.tasks.spawn(async move {
            let reply = answering.await;
            running
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id);
            if end.value() != Some(End::Cancelled) {
                let _ = sender.send(Parcel::Reply(reply)).await;
            }
        });
        Ok(())
    }

    fn cancel(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        let Some(params) = params else { return };
        let Ok(cancelled) = serde_json::from_str::<Cancelled<'_>>(params.get()) else {
            return;
        };
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = running.get(cancelled.request_id.get()) {
            call.end.set(End::Cancelled);
        }
    }

    async fn say(&self, reply: Reply) {
        let _ = self.sender.send(Parcel::Reply(reply)).await;
    }

    /// Lets running calls come to their reply, then tells the rest to end.
    async fn finish(self) {
        self.tasks.close();
        self.end_calls(|call| call.endless);
        if tokio::time::timeout(GRACE, self.tasks.wait())
            .await
            .is_err()
        {
            self.end_calls(|_| true);
            let _ = tokio::time::timeout(GRACE, self.tasks.wait()).await;
        }
    }

    fn end_calls(&self, which: impl Fn(&InProgress) -> bool) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for call in running.values().filter(|call| which(call)) {
            call.end.set(End::Shutdown);
        }
    }
}

async fn write_lines(
    mut parcels: mpsc::Receiver<Parcel>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(parcel) = parcels.recv().await {
        let mut text = parcel.into_text();
        // A raw part may carry line breaks between its tokens; inside strings they are escaped.
        if text.contains(['\n', '\r']) {
            text = text.replace(['\n', '\r'], " ");
        }
        text.push('\n');
        output.write_all(text.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end.
    Whole,
    /// A line past the limit; it was skipped to its end.
    TooLong,
    /// No more lines.
    End,
}

/// Reads one line of at most [`STDIO_LINE_BYTES`].
pub(crate) async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Line> {
    line.clear();
    let mut kept = Line::Whole;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            let nothing = line.is_empty() && kept == Line::Whole;
            return Ok(if nothing { Line::End } else { kept });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = end.map_or(available, |end| available.get(..end).unwrap_or_default());
        if line.len() + part.len() > STDIO_LINE_BYTES {
            kept = Line::TooLong;
            line.clear();
        } else if kept == Line::Whole {
            line.extend_from_slice(part);
        }
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            return Ok(kept);
        }
    }
}
