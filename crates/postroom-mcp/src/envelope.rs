//! One JSON-RPC 2.0 message, borrowed from its bytes.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;

use crate::Rejection;

/// What a client sent.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request that wants a reply.
    Request(RequestMessage<'a>),
    /// A notification.
    Notification {
        /// The method.
        method: Cow<'a, str>,
        /// The parameters, an object.
        params: Option<&'a RawValue>,
    },
    /// The answer to a request of ours.
    Response(ResponseMessage<'a>),
}

/// A request.
#[derive(Debug)]
pub struct RequestMessage<'a> {
    /// A string or an integer, exactly as sent.
    pub id: &'a RawValue,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters, an object.
    pub params: Option<&'a RawValue>,
}

/// An answer to a request of ours.
#[derive(Debug)]
pub struct ResponseMessage<'a> {
    /// The id we gave.
    pub id: &'a RawValue,
    /// The result, or the error object.
    pub outcome: Result<&'a RawValue, &'a RawValue>,
}

impl<'a> Message<'a> {
    /// The id to echo, when the message is a request.
    pub fn request_id(&self) -> Option<&'a RawValue> {
        match self {
            Self::Request(request) => Some(request.id),
            _ => None,
        }
    }
}

/// The members of any message. A member that is `null` is kept apart from one that is missing.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one message.
///
/// # Errors
/// [`Rejection::parse_error`] when the bytes are no JSON, [`Rejection::invalid_request`] when the
/// JSON is no single message: a batch, no object, an id that is neither a string nor a 64-bit
/// integer, parameters that are no object.
pub fn parse(bytes: &[u8]) -> Result<Message<'_>, Rejection> {
    let text = std::str::from_utf8(bytes).map_err(|_| Rejection::parse_error())?;
    if !text.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<&RawValue>(text) {
            Ok(value) if value.get().starts_with('[') => {
                Rejection::invalid_request("Batches are not supported; send one message.")
            }
            Ok(_) => Rejection::invalid_request("A message is a JSON object."),
            Err(_) => Rejection::parse_error(),
        });
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Rejection::invalid_request("This is not a JSON-RPC 2.0 message.")
        } else {
            Rejection::parse_error()
        }
    })?;
    classify(members)
}

fn classify(members: Members<'_>) -> Result<Message<'_>, Rejection> {
    if members.jsonrpc.as_deref() != Some("2.0") {
        return Err(Rejection::invalid_request("jsonrpc must be \"2.0\"."));
    }
    if members.id.is_some_and(|id| !is_id(id)) {
        return Err(Rejection::invalid_request(
            "id must be a string or a 64-bit integer.",
        ));
    }
    let Some(method) = members.method else {
        return response(&members);
    };
    let method: Cow<'_, str> = borrow_str(method).ok_or_else(|| {
        Rejection::invalid_request("method must be a string.").with_id(members.id)
    })?;
    if members.result.is_some() || members.error.is_some() {
        let refusal = Rejection::invalid_request("A request has neither result nor error.");
        return Err(refusal.with_id(members.id));
    }
    if members.params.is_some_and(|params| !is_object(params)) {
        let refusal = Rejection::invalid_request("params must be an object.");
        return Err(refusal.with_id(members.id));
    }
    let params = members.params;
    Ok(match members.id {
        Some(id) => Message::Request(RequestMessage { id, method, params }),
        None => Message::Notification { method, params },
    })
}

fn response<'a>(members: &Members<'a>) -> Result<Message<'a>, Rejection> {
    let outcome = match (members.result, members.error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => {
            return Err(Rejection::invalid_request("method is missing.").with_id(members.id));
        }
    };
    let id = members
        .id
        .ok_or_else(|| Rejection::invalid_request("A response names the id it answers."))?;
    Ok(Message::Response(ResponseMessage { id, outcome }))
}

/// A string, or an integer of 64 bits.
fn is_id(id: &RawValue) -> bool {
    id.get().starts_with('"') || id.get().parse::<i64>().is_ok()
}

/// Whether a value is an object.
pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// The string a value holds, without a copy when it has no escapes.
pub(crate) fn borrow_str(value: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(value.get())
        .ok()
        .map(|text| text.0)
}
