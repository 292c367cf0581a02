//! One call while a registry works on it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::pending::Pending;
use crate::{End, Fault, Link, Revision, write};

/// Progress closer together than this is left out, milliseconds.
const PROGRESS_INTERVAL_MS: u64 = 20;

/// Who asks, and for which part of the server.
#[derive(Debug, Clone)]
pub struct Visitor<C> {
    /// The caller.
    pub caller: C,
    /// The toolsets named by `?tools=`; `None` for the default ones.
    pub toolsets: Option<Arc<[String]>>,
}

/// One call: who makes it, what the client can do, and the way back to it.
pub struct Call<C> {
    pub(crate) visitor: Visitor<C>,
    pub(crate) principal: String,
    pub(crate) revision: Revision,
    pub(crate) capabilities: Option<Box<RawValue>>,
    pub(crate) progress_token: Option<Box<RawValue>>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) input_responses: Option<Box<RawValue>>,
    pub(crate) request_state: Option<String>,
    pub(crate) link: Arc<dyn Link>,
    pub(crate) pending: Arc<Pending>,
    pub(crate) progress: Mutex<Option<Progress>>,
}

/// The last progress that was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    value: f64,
    at_ms: u64,
}

impl<C> std::fmt::Debug for Call<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("principal", &self.principal)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl<C> Call<C> {
    /// The caller.
    pub fn caller(&self) -> &C {
        &self.visitor.caller
    }

    /// The caller and the toolsets it chose.
    pub fn visitor(&self) -> &Visitor<C> {
        &self.visitor
    }

    /// The revision of this request.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether anything said before the reply can reach the client.
    pub fn streams(&self) -> bool {
        self.link.streams()
    }

    /// Set when the work should end early: waits and reads look at it, commits never do.
    pub fn end(&self) -> Option<End> {
        self.link.end().value()
    }

    /// Whether an answer given now would reach nobody: the client cancelled, or went away.
    pub fn is_gone(&self) -> bool {
        self.link.is_gone()
    }

    /// Waits until the work should end early.
    pub fn ended(&self) -> impl Future<Output = End> + Send + '_ {
        self.link.end().wait()
    }

    /// Whether the client asked for progress.
    pub fn wants_progress(&self) -> bool {
        self.progress_token.is_some() && self.link.streams()
    }

    /// Reports progress. A value that is not above the last one, or comes within 20 ms of it, is
    /// left out: progress strictly increases, and a fast loop does not flood the client.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            progress_token: &'a RawValue,
            progress: Number,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<Number>,
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<&'a str>,
        }
        let Some(token) = self.progress_token.as_deref().filter(|_| self.streams()) else {
            return;
        };
        if !progress.is_finite() {
            return;
        }
        let now = self.link.now_ms();
        let mut last = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| {
            progress > last.value && now.saturating_sub(last.at_ms) >= PROGRESS_INTERVAL_MS
        });
        if !due {
            return;
        }
        let params = Params {
            progress_token: token,
            progress: Number(progress),
            total: total.filter(|total| total.is_finite()).map(Number),
            message,
        };
        let sent = self
            .link
            .send(write::notification("notifications/progress", &params));
        if sent {
            *last = Some(Progress {
                value: progress,
                at_ms: now,
            });
        }
    }

    /// Sends a log message, when the client wants messages of this level. A modern client says so
    /// with the request; a legacy client is sent everything.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: &Value) {
        #[derive(Serialize)]
        struct Params<'a> {
            level: LogLevel,
            #[serde(skip_serializing_if = "Option::is_none")]
            logger: Option<&'a str>,
            data: &'a Value,
        }
        if self.log_level.is_none_or(|least| level < least) || !self.streams() {
            return;
        }
        let params = Params {
            level,
            logger,
            data,
        };
        self.link
            .send(write::notification("notifications/message", &params));
    }

    /// Whether the client declared a capability, such as `sampling`. A legacy client declares its
    /// capabilities at the handshake, which is not kept; it counts as having them all.
    pub fn supports(&self, capability: &str) -> bool {
        match &self.capabilities {
            None => !self.revision.is_modern(),
            Some(declared) => serde_json::from_str::<Map<String, Value>>(declared.get())
                .is_ok_and(|declared| declared.contains_key(capability)),
        }
    }

    /// Requires a capability of the client.
    ///
    /// # Errors
    /// [`Fault::MissingCapability`] when the client did not declare it.
    pub fn require(&self, capability: &str) -> Result<(), Fault> {
        if self.supports(capability) {
            return Ok(());
        }
        let mut required = Map::new();
        required.insert(capability.to_owned(), Value::Object(Map::new()));
        Err(Fault::MissingCapability(Value::Object(required)))
    }

    /// The client's answer to an input request of an earlier round, by its key.
    pub fn input_response(&self, key: &str) -> Option<Value> {
        let responses = self.input_responses.as_deref()?;
        serde_json::from_str::<Map<String, Value>>(responses.get())
            .ok()?
            .remove(key)
    }

    /// The state of an earlier round, as the client returned it: anything may have become of it.
    pub fn request_state(&self) -> Option<&str> {
        self.request_state.as_deref()
    }

    /// Asks a legacy client and waits for its answer (`sampling/createMessage`,
    /// `elicitation/create`, `roots/list`). The modern era has [`crate::InputRequired`] instead.
    ///
    /// # Errors
    /// [`AskError`] when the client cannot be asked, is gone, or answers with an error.
    pub async fn ask(&self, method: &str, params: &Value) -> Result<Value, AskError> {
        if self.revision.is_modern() || !self.streams() {
            return Err(AskError::NotPossible);
        }
        let id = self.link.fresh_id();
        if id.is_empty() {
            return Err(AskError::NotPossible);
        }
        let answer = self
            .pending
            .open(id.clone(), &self.principal)
            .ok_or(AskError::TooMany)?;
        let _closing = Closing {
            pending: &self.pending,
            id: &id,
        };
        if !self.link.send(write::request(&id, method, params)) {
            return Err(AskError::Gone);
        }
        let answer = pin!(answer.wait());
        let ended = pin!(self.ended());
        match first(answer, ended).await {
            Some(Ok(result)) => {
                serde_json::from_str(result.get()).map_err(|_| AskError::Refused(Value::Null))
            }
            Some(Err(error)) => Err(AskError::Refused(
                serde_json::from_str(error.get()).unwrap_or(Value::Null),
            )),
            None => Err(AskError::Gone),
        }
    }
}

/// Forgets a question however its wait ends.
struct Closing<'a> {
    pending: &'a Pending,
    id: &'a str,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.pending.close(self.id);
    }
}

/// The first future's value, unless the second is ready before it.
pub(crate) async fn first<A, B>(
    mut wanted: std::pin::Pin<&mut impl Future<Output = A>>,
    mut stop: std::pin::Pin<&mut impl Future<Output = B>>,
) -> Option<A> {
    poll_fn(|context| {
        if let Poll::Ready(value) = wanted.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        stop.as_mut().poll(context).map(|_| None)
    })
    .await
}

/// Why a legacy client did not answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    /// The request does not stream, or is of the modern era.
    #[error("this client cannot be asked")]
    NotPossible,
    /// Too many questions are open.
    #[error("too many questions are open")]
    TooMany,
    /// The client is gone or the server stops.
    #[error("the client is gone")]
    Gone,
    /// The client answered with an error, or with something that is no JSON value we can hold.
    #[error("the client refused")]
    Refused(Value),
}

/// Severity of a log message (RFC 5424).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Detail for finding faults.
    Debug,
    /// What happens.
    Info,
    /// Normal but significant.
    Notice,
    /// May become an error.
    Warning,
    /// Failed.
    Error,
    /// A component failed.
    Critical,
    /// Act at once.
    Alert,
    /// Unusable.
    Emergency,
}

/// A number that is written without a fraction when it has none.
struct Number(f64);

impl Serialize for Number {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the branch is taken for whole numbers within 53 bits only"
    )]
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < 9_007_199_254_740_992.0 {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
