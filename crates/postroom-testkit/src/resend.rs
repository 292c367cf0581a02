//! Resend's interface for sending, as far as its documentation goes: `POST /emails` with a key
//! against doubles. Written from the provider's side, it shares no code with who calls it.
//!
//! A recipient's local part says how a mail fares: `code-NNN-NAME` answers with that status and
//! error name, `cut-answer` takes the mail and closes without an answer, `no-answer` takes it and
//! waits, `half-answer` takes it and sends half of one. All may go on behind `+`. An answer that was not
//! given is given to the next request of the same key, and the mail is not taken again.

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A mail that the provider took.
#[derive(Debug, Clone, PartialEq)]
pub struct Email {
    /// The id that it was given.
    pub id: String,
    /// The key against doubles that came with it.
    pub key: String,
    /// The fields.
    pub fields: Value,
    /// How many requests of its key came.
    pub requests: usize,
}

/// The provider.
#[derive(Debug)]
pub struct Resend {
    api_key: String,
    taken: Mutex<BTreeMap<String, Email>>,
}

type Answer = Result<Response<Full<Bytes>>, io::Error>;

/// Starts the provider on a free port of this host; it ends with the runtime.
///
/// # Errors
/// When no socket can be bound.
pub async fn start(api_key: &str) -> io::Result<(SocketAddr, Arc<Resend>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let provider = Arc::new(Resend {
        api_key: api_key.to_owned(),
        taken: Mutex::default(),
    });
    let serving = Arc::clone(&provider);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let provider = Arc::clone(&serving);
            let service = service_fn(move |request| {
                let provider = Arc::clone(&provider);
                async move { provider.answer(request).await }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection);
        }
    });
    Ok((address, provider))
}

impl Resend {
    /// The mails that it took, by key.
    pub fn taken(&self) -> Vec<Email> {
        self.lock().values().cloned().collect()
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let header = |name: &str| {
            let value = request.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        if request.method() != Method::POST || request.uri().path() != "/emails" {
            return error(StatusCode::NOT_FOUND, "not_found");
        }
        if header("authorization") != Some(format!("Bearer {}", self.api_key)) {
            return error(StatusCode::FORBIDDEN, "invalid_api_key");
        }
        let Some(key) = header("idempotency-key").filter(|key| (1..=256).contains(&key.len()))
        else {
            return error(StatusCode::BAD_REQUEST, "invalid_idempotency_key");
        };
        let body = request
            .into_body()
            .collect()
            .await
            .map_err(io::Error::other)?;
        let Ok(fields) = serde_json::from_slice::<Value>(&body.to_bytes()) else {
            return error(StatusCode::UNPROCESSABLE_ENTITY, "validation_error");
        };
        let recipients = recipients(&fields);
        let complete = fields["from"].is_string() && fields["subject"].is_string();
        if !complete || fields["to"].as_array().is_none_or(Vec::is_empty) {
            return error(StatusCode::UNPROCESSABLE_ENTITY, "missing_required_field");
        }
        let asked = |word: &str| recipients.iter().any(|local| local == word);
        if let Some(told) = recipients.iter().find_map(|local| refusal(local)) {
            return error(told.0, told.1);
        }
        let (id, first) = match self.take(&key, fields) {
            Some(taken) => taken,
            None => return error(StatusCode::CONFLICT, "invalid_idempotent_request"),
        };
        match first {
            true if asked("cut-answer") => Err(io::ErrorKind::ConnectionAborted.into()),
            true if asked("no-answer") => std::future::pending().await,
            true if asked("half-answer") => body_of(StatusCode::OK, "{\"id\":\"".to_owned()),
            _ => body_of(StatusCode::OK, json!({ "id": id }).to_string()),
        }
    }

    /// The id of a mail, and whether it is new; `None` when its key brought another one before.
    fn take(&self, key: &str, fields: Value) -> Option<(String, bool)> {
        let mut taken = self.lock();
        let number = taken.len();
        let email = taken.entry(key.to_owned()).or_insert_with(|| Email {
            id: format!("re-{number}"),
            key: key.to_owned(),
            fields: fields.clone(),
            requests: 0,
        });
        email.requests += 1;
        (email.fields == fields).then(|| (email.id.clone(), email.requests == 1))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Email>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The local parts of all recipients, without what stands behind `+`.
fn recipients(fields: &Value) -> Vec<String> {
    ["to", "cc", "bcc"]
        .iter()
        .filter_map(|name| fields[*name].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .map(|shown| {
            let address = shown.rsplit('<').next().unwrap_or(shown);
            let local = address.split('@').next().unwrap_or_default();
            local.split('+').next().unwrap_or_default().to_owned()
        })
        .collect()
}

/// What `code-NNN-NAME` asks for.
fn refusal(local: &str) -> Option<(StatusCode, &str)> {
    let (code, name) = local.strip_prefix("code-")?.split_once('-')?;
    let status = StatusCode::from_bytes(code.as_bytes()).ok()?;
    Some((status, name))
}

fn error(status: StatusCode, name: &str) -> Answer {
    let body = json!({
        "statusCode": status.as_u16(),
        "name": name,
        "message": "as the fake has it",
    });
    body_of(status, body.to_string())
}

fn body_of(status: StatusCode, body: String) -> Answer {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Full::new(body.into()))
        .map_err(io::Error::other)
}
