//! Lines in, requests to an HTTP endpoint out: a server elsewhere as a local process.
//!
//! Every line becomes one POST with the headers its era wants, and whatever comes back (one JSON
//! body or a stream of events) becomes lines. The bridge understands no method but those it must:
//! `initialize`, whose answer names the legacy revision, and `notifications/cancelled`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use postroom_mcp::envelope::{Message, parse};
use postroom_mcp::{Rejection, code};
use postroom_types::limit::{REQUEST_BODY_BYTES, STDIO_CALLS, STREAM_QUEUE};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

use crate::stdio::{Line, read_line};

/// Time for open exchanges to end once the input has ended.
const GRACE: Duration = Duration::from_secs(5);
/// The largest event taken from the server, bytes.
const EVENT_BYTES: usize = 2 * REQUEST_BODY_BYTES;

/// A way to an endpoint.
#[derive(Debug, Clone)]
pub struct Bridge {
    client: reqwest::Client,
    url: String,
    authorization: Option<HeaderValue>,
    /// The legacy revision that `initialize` agreed on.
    revision: Arc<Mutex<Option<String>>>,
}

impl Bridge {
    /// A bridge to the endpoint at `url`. The client brings its own TLS settings; it should have no
    /// total timeout, because answers may stream for long.
    ///
    /// # Errors
    /// When the key cannot stand in a header.
    pub fn new(client: reqwest::Client, url: String, key: Option<&str>) -> io::Result<Self> {
        let header = |key: &str| {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| io::Error::other("the key cannot stand in a header"))?;
            value.set_sensitive(true);
            Ok::<_, io::Error>(value)
        };
        Ok(Self {
            client,
            url,
            authorization: key.map(header).transpose()?,
            revision: Arc::default(),
        })
    }

    /// Carries lines from `input` to the endpoint and what it answers to `output`, until the input
    /// ends.
    ///
    /// # Errors
    /// When the input cannot be read or the output cannot be written.
    pub async fn run(
        self,
        input: impl AsyncRead + Unpin + Send,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> io::Result<()> {
        let (lines, queue) = mpsc::channel(STREAM_QUEUE);
        let writing = tokio::spawn(write_lines(queue, output));
        let mut traffic = Traffic {
            bridge: self,
            lines,
            exchanges: JoinSet::new(),
            open: HashMap::new(),
            room: Arc::new(Semaphore::new(STDIO_CALLS)),
        };
        let mut input = BufReader::new(input);
        let mut line = Vec::new();
        loop {
            match read_line(&mut input, &mut line).await? {
                Line::End => break,
                Line::TooLong => {
                    let refusal = Rejection::invalid_request("The line is too long.");
                    traffic.say(refusal).await;
                }
                Line::Whole if line.iter().all(u8::is_ascii_whitespace) => {}
                Line::Whole => match Letter::read(&line) {
                    Ok(letter) => traffic.take(letter).await,
                    Err(rejection) => traffic.say(rejection).await,
                },
            }
        }
        traffic.finish().await;
        match tokio::time::timeout(GRACE, writing).await {
            Ok(written) => written.map_err(io::Error::other)?,
            Err(_) => Ok(()),
        }
    }

    fn session(&self) -> Option<String> {
        self.revision
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// One POST and everything it answers.
    async fn exchange(self, letter: Letter, lines: mpsc::Sender<String>, room: Arc<Semaphore>) {
        let Ok(_permit) = room.acquire_owned().await else {
            return;
        };
        let id = letter.id.clone();
        let handshake = letter.is_handshake;
        let relayed = match self.post(letter).await {
            Ok(response) => self.relay(response, id.as_deref(), handshake, &lines).await,
            Err(error) => Err(error),
        };
        let message = match relayed {
            Ok(None) => return,
            Ok(Some(why)) => why,
            Err(error) => format!("The server cannot be reached: {}", error.without_url()),
        };
        if let Some(id) = id {
            let rejection = Rejection::new(503, code::UNAVAILABLE, message).with_id(Some(&id));
            let _ = lines.send(rejection.to_message()).await;
        }
    }

    async fn post(&self, letter: Letter) -> reqwest::Result<reqwest::Response> {
        let mut headers = HeaderMap::new();
        let json = HeaderValue::from_static("application/json");
        headers.insert(CONTENT_TYPE, json);
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let modern = letter.version.is_some();
        let version = letter.version.or_else(|| self.session());
        if let Some(value) = version.and_then(|version| HeaderValue::from_str(&version).ok())
            && !letter.is_handshake
        {
            headers.insert("mcp-protocol-version", value);
        }
        if modern {
            if let Some(method) = letter.method.as_deref().and_then(header_text) {
                headers.insert("mcp-method", method);
            }
            if let Some(name) = letter.name.as_deref().and_then(header_text) {
                headers.insert("mcp-name", name);
            }
        }
        let request = self.client.post(&self.url).headers(headers);
        request.body(letter.body).send().await
    }

    /// Puts out the protocol's messages of what came back, and nothing else; keeps the revision that
    /// a handshake agreed on. Gives the reason when the request `id` has no answer among them.
    async fn relay(
        &self,
        response: reqwest::Response,
        id: Option<&RawValue>,
        handshake: bool,
        lines: &mpsc::Sender<String>,
    ) -> reqwest::Result<Option<String>> {
        let status = response.status();
        let media = response.headers().get(CONTENT_TYPE);
        let media = media
            .and_then(|media| media.to_str().ok())
            .unwrap_or_default();
        if !media.starts_with("text/event-stream") {
            let body = response.text().await?;
            let answered = match incoming(&body, id) {
                Some(message) => {
                    self.put(&message.text, handshake, lines).await;
                    message.answers
                }
                None => false,
            };
            return Ok((!answered).then(|| {
                format!(
                    "What answers at the given URL is no MCP endpoint (HTTP status {}).",
                    status.as_u16()
                )
            }));
        }
        let mut events = Events::default();
        let mut chunks = response.bytes_stream();
        let mut answered = false;
        while let Some(chunk) = chunks.next().await {
            for data in events.push(&chunk?) {
                if let Some(message) = incoming(&data, id) {
                    answered |= message.answers;
                    self.put(&message.text, handshake, lines).await;
                }
            }
        }
        Ok((!answered).then(|| "The server ended the stream without an answer.".to_owned()))
    }

    async fn put(&self, message: &str, handshake: bool, lines: &mpsc::Sender<String>) {
        if handshake && let Some(version) = agreed_version(message) {
            *self.revision.lock().unwrap_or_else(PoisonError::into_inner) = Some(version);
        }
        let line = message.replace(['\n', '\r'], " ");
        let _ = lines.send(line).await;
    }
}

/// What is under way between the two sides.
struct Traffic {
    bridge: Bridge,
    lines: mpsc::Sender<String>,
    exchanges: JoinSet<()>,
    /// Exchanges by the id of their request, as it was written.
    open: HashMap<String, AbortHandle>,
    room: Arc<Semaphore>,
}

impl Traffic {
    async fn take(&mut self, letter: Letter) {
        while self.exchanges.try_join_next().is_some() {}
        self.open.retain(|_, exchange| !exchange.is_finished());
        if let Some(exchange) = letter.cancels.as_ref().and_then(|id| self.open.remove(id)) {
            // Closing the stream is how the modern era cancels; only the legacy era sends the
            // notification over HTTP too.
            exchange.abort();
            if self.bridge.session().is_none() {
                return;
            }
        }
        let handshake = letter.is_handshake;
        let id = letter.id.as_ref().map(|id| id.get().to_owned());
        let room = Arc::clone(&self.room);
        let exchange = self
            .bridge
            .clone()
            .exchange(letter, self.lines.clone(), room);
        if handshake {
            // What follows depends on the revision that this answer names.
            exchange.await;
            return;
        }
        let exchange = self.exchanges.spawn(exchange);
        if let Some(id) = id {
            self.open.insert(id, exchange);
        }
    }

    async fn say(&self, rejection: Rejection) {
        let _ = self.lines.send(rejection.to_message()).await;
    }

    /// Lets open exchanges end, for a while.
    async fn finish(self) {
        let mut exchanges = self.exchanges;
        let ended = async { while exchanges.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GRACE, ended).await;
    }
}

/// One line, and what its headers need.
#[derive(Debug)]
struct Letter {
    body: Vec<u8>,
    id: Option<Box<RawValue>>,
    method: Option<String>,
    name: Option<String>,
    /// The version in `params._meta`.
    version: Option<String>,
    is_handshake: bool,
    /// The id of the request that this notification cancels.
    cancels: Option<String>,
}

impl Letter {
    fn read(line: &[u8]) -> Result<Self, Rejection> {
        #[derive(Debug, Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Params {
            #[serde(rename = "_meta")]
            meta: Option<serde_json::Value>,
            name: Option<serde_json::Value>,
            uri: Option<serde_json::Value>,
            request_id: Option<Box<RawValue>>,
        }
        let message = parse(line)?;
        let (id, method, params) = match &message {
            Message::Request(request) => (
                Some(request.id),
                Some(request.method.to_string()),
                request.params,
            ),
            Message::Notification { method, params } => (None, Some(method.to_string()), *params),
            Message::Response(_) => (None, None, None),
        };
        let params: Params = params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default();
        let text = |value: Option<serde_json::Value>| value?.as_str().map(str::to_owned);
        let method_name = method.as_deref().unwrap_or_default();
        let version = params.meta.and_then(|meta| {
            Some(
                meta.get("io.modelcontextprotocol/protocolVersion")?
                    .as_str()?
                    .to_owned(),
            )
        });
        let cancels = params
            .request_id
            .filter(|_| method_name == "notifications/cancelled");
        Ok(Self {
            name: match method_name {
                "tools/call" | "prompts/get" => text(params.name),
                "resources/read" => text(params.uri),
                _ => None,
            },
            is_handshake: method_name == "initialize" && version.is_none(),
            cancels: cancels.map(|id| id.get().to_owned()),
            id: id.map(RawValue::to_owned),
            version,
            method,
            body: line.to_vec(),
        })
    }
}

/// A header value: as it is when it is plain, else in the `=?base64?...?=` form.
fn header_text(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if plain {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))).ok()
}

/// A message of the protocol that came back.
struct Incoming<'a> {
    text: Cow<'a, str>,
    /// Whether it is the answer to the request that was sent.
    answers: bool,
}

/// Reads what came back; `None` when it is no JSON-RPC message. An error that names no request, as
/// servers send before they have read one, is the answer to the only request that was sent.
fn incoming<'a>(text: &'a str, sent: Option<&RawValue>) -> Option<Incoming<'a>> {
    #[derive(Deserialize)]
    struct Members<'a> {
        jsonrpc: String,
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        method: Option<String>,
        #[serde(borrow, default)]
        result: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
    }
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    if members.jsonrpc != "2.0" {
        return None;
    }
    let responds = members.result.is_some() || members.error.is_some();
    if members.method.is_some() == responds {
        return None;
    }
    if members.method.is_some() {
        return Some(Incoming {
            text: text.into(),
            answers: false,
        });
    }
    match (members.id, members.error, sent) {
        (Some(id), _, Some(sent)) => Some(Incoming {
            text: text.into(),
            answers: same_id(id, sent),
        }),
        (None, Some(error), Some(sent)) => Some(Incoming {
            text: format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#,
                sent.get(),
                error.get()
            )
            .into(),
            answers: true,
        }),
        (_, Some(_), None) => Some(Incoming {
            text: text.into(),
            answers: false,
        }),
        _ => None,
    }
}

/// Whether two ids are the same value, however they are written.
fn same_id(one: &RawValue, other: &RawValue) -> bool {
    let value = |id: &RawValue| serde_json::from_str::<serde_json::Value>(id.get()).ok();
    one.get() == other.get() || value(one) == value(other)
}

/// The version in the result of `initialize`.
fn agreed_version(message: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let version = message.get("result")?.get("protocolVersion")?.as_str()?;
    Some(version.to_owned())
}

/// Cuts a stream into events (WHATWG HTML section 9.2.6) and gives their data.
#[derive(Debug, Default)]
struct Events {
    rest: Vec<u8>,
    data: String,
}

impl Events {
    fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut messages = Vec::new();
        for byte in chunk {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.rest);
                    self.line(&line, &mut messages);
                }
                b'\r' => {}
                _ if self.rest.len() < EVENT_BYTES => self.rest.push(*byte),
                _ => {}
            }
        }
        messages
    }

    fn line(&mut self, line: &[u8], messages: &mut Vec<String>) {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            if !data.is_empty() {
                messages.push(data);
            }
            return;
        }
        let Some(value) = line.strip_prefix(b"data:") else {
            return;
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if self.data.len() + value.len() < EVENT_BYTES {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(&String::from_utf8_lossy(value));
        }
    }
}

async fn write_lines(
    mut queue: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    while let Some(mut line) = queue.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&str]) -> Vec<String> {
        let mut events = Events::default();
        chunks
            .iter()
            .flat_map(|chunk| events.push(chunk.as_bytes()))
            .collect()
    }

    #[test]
    fn events_are_cut_wherever_the_chunks_end() {
        let chunks = [
            ": keep",
            "-alive\n\ndata: {\"a\"",
            ":1}\n",
            "\nevent: message\r\ndata: 2\r\n\r\n",
        ];
        assert_eq!(events(&chunks), ["{\"a\":1}", "2"]);
        assert_eq!(events(&["data: a\ndata: b\n\n"]), ["a\nb"]);
        assert!(events(&["data: never ended"]).is_empty());
    }

    #[test]
    fn only_messages_of_the_protocol_come_through() {
        let sent = RawValue::from_string("7".to_owned()).unwrap();
        let check = |text: &str| {
            incoming(text, Some(&sent)).map(|message| (message.text.into_owned(), message.answers))
        };
        let whole = |text: &str, answers| Some((text.to_owned(), answers));
        for (text, answers) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, true),
            (
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
                true,
            ),
            (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, false),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
                false,
            ),
        ] {
            assert_eq!(check(text), whole(text, answers));
        }
        assert_eq!(
            check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#),
            whole(
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}"#,
                true
            )
        );
        for text in [
            "",
            "<html>",
            "[]",
            "7",
            r#"{"error":{"code":"route_not_found"}}"#,
            r#"{"jsonrpc":"2.0","id":7}"#,
            r#"{"jsonrpc":"1.0","id":7,"result":{}}"#,
        ] {
            assert_eq!(check(text), None, "{text}");
        }
    }

    #[test]
    fn names_outside_ascii_travel_encoded() {
        assert_eq!(header_text("mail_search").unwrap(), "mail_search");
        assert_eq!(
            header_text("zażółć").unwrap(),
            "=?base64?emHFvMOzxYLEhw==?="
        );
        assert_eq!(header_text(" x").unwrap(), "=?base64?IHg=?=");
        assert_eq!(header_text("=?base64?").unwrap(), "=?base64?PT9iYXNlNjQ/?=");
    }

    #[test]
    fn a_letter_knows_its_era() {
        let legacy = Letter::read(br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#).unwrap();
        assert!(legacy.is_handshake && legacy.version.is_none());
        let modern = Letter::read(br#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#).unwrap();
        assert_eq!(modern.version.as_deref(), Some("2026-07-28"));
        assert_eq!(modern.name.as_deref(), Some("t"));
    }
}
