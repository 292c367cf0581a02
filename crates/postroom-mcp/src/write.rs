//! Messages for the wire, written without an intermediate tree.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Rejection;

/// A response with a result that is already JSON.
pub(crate) fn response(id: &RawValue, result: &str) -> String {
    let mut text = String::with_capacity(result.len() + id.get().len() + 40);
    text.push_str(r#"{"jsonrpc":"2.0","id":"#);
    text.push_str(id.get());
    text.push_str(r#","result":"#);
    text.push_str(result);
    text.push('}');
    text
}

/// An error response; `id` is left out when it is not known.
pub(crate) fn error(rejection: &Rejection) -> String {
    #[derive(Serialize)]
    struct Wire<'a> {
        jsonrpc: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        error: Body<'a>,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        code: i32,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a Value>,
    }
    json(&Wire {
        jsonrpc: "2.0",
        id: rejection.id.as_deref(),
        error: Body {
            code: rejection.code,
            message: &rejection.message,
            data: rejection.data.as_ref(),
        },
    })
}

/// A notification.
pub(crate) fn notification<P: Serialize>(method: &str, params: &P) -> String {
    #[derive(Serialize)]
    struct Wire<'a, P> {
        jsonrpc: &'a str,
        method: &'a str,
        params: &'a P,
    }
    json(&Wire {
        jsonrpc: "2.0",
        method,
        params,
    })
}

/// A request of ours.
pub(crate) fn request<P: Serialize>(id: &str, method: &str, params: &P) -> String {
    #[derive(Serialize)]
    struct Wire<'a, P> {
        jsonrpc: &'a str,
        id: &'a str,
        method: &'a str,
        params: &'a P,
    }
    json(&Wire {
        jsonrpc: "2.0",
        id,
        method,
        params,
    })
}

/// A value as JSON. What is written here has string keys only, so that writing cannot fail; an
/// empty object stands for the impossible.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}
