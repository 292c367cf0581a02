//! An endpoint over the fixtures, and a way to ask it.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use jsonschema::Validator;
use postroom_mcp::{Registry, Revision, Server};
use postroom_mcp_transport::{Endpoint, Gate, Hosts, Streams, mount};
use postroom_testkit::conformance::{Fixtures, KeyGate};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) const JUNE: &str = "2025-06-18";
pub(crate) const NOVEMBER: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// An endpoint in this process.
pub(crate) struct World {
    router: Router,
    pub(crate) streams: Arc<Streams>,
    pub(crate) shutdown: CancellationToken,
}

impl World {
    /// The fixtures without a key.
    pub(crate) fn open() -> Self {
        Self::with_gate(KeyGate::new(None))
    }

    pub(crate) fn with_gate(gate: KeyGate) -> Self {
        Self::serving(Fixtures::default(), gate)
    }

    pub(crate) fn serving<R, G>(registry: R, gate: G) -> Self
    where
        R: Registry<Caller = G::Caller>,
        G: Gate,
    {
        let streams = Arc::new(Streams::default());
        let shutdown = CancellationToken::new();
        let hosts = Hosts::Named(vec!["mail.example".to_owned()]);
        let server = Server::new(registry);
        let endpoint = Endpoint::new(server, gate, hosts, Arc::clone(&streams), shutdown.clone());
        Self {
            router: mount("/mcp", endpoint),
            streams,
            shutdown,
        }
    }

    /// Sends a request and gives the answer with its body still coming.
    pub(crate) async fn open_answer(&self, ask: Ask) -> http::Response<Body> {
        let mut builder = Request::builder().method(ask.method).uri(ask.uri);
        for (name, value) in &ask.headers {
            builder = builder.header(name, value.as_slice());
        }
        let request = builder.body(Body::from(ask.body)).unwrap();
        let service = TowerToHyperService::new(self.router.clone());
        service.call(request).await.unwrap()
    }

    /// Sends a request and gives all of the answer, validated.
    pub(crate) async fn ask(&self, ask: Ask) -> Answer {
        let revision = ask.revision;
        let response = self.open_answer(ask).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let media = parts.headers.get("content-type");
        let streamed =
            media.is_some_and(|media| media.as_bytes().starts_with(b"text/event-stream"));
        let messages = if streamed {
            events(&text)
        } else {
            whole(&text)
        };
        for message in &messages {
            validate(revision, message);
        }
        Answer {
            status: parts.status,
            headers: parts.headers,
            messages,
            streamed,
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) messages: Vec<Value>,
    pub(crate) streamed: bool,
}

impl Answer {
    /// The last message: the response.
    pub(crate) fn message(&self) -> &Value {
        self.messages.last().unwrap()
    }

    pub(crate) fn code(&self) -> Option<i64> {
        self.messages.last()?["error"]["code"].as_i64()
    }

    pub(crate) fn result(&self) -> &Value {
        let result = &self.message()["result"];
        assert!(result.is_object(), "no result: {self:?}");
        result
    }
}

/// The messages of a stream, comments left out.
pub(crate) fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn whole(text: &str) -> Vec<Value> {
    if text.is_empty() {
        return Vec::new();
    }
    vec![serde_json::from_str(text).unwrap()]
}

/// A request to come.
#[derive(Clone)]
pub(crate) struct Ask {
    method: Method,
    uri: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    revision: Revision,
}

impl Ask {
    /// A POST with headers that are always right.
    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        let ask = Self {
            method: Method::POST,
            uri: "/mcp".to_owned(),
            headers: Vec::new(),
            body: body.into(),
            revision: Revision::November2025,
        };
        ask.with("host", "127.0.0.1:8025")
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
    }

    /// A request of the modern era, headers and `_meta` included.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_with(method, params, json!({}))
    }

    /// The same with capabilities of the client.
    pub(crate) fn modern_with(method: &str, mut params: Value, capabilities: Value) -> Self {
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let name = params["name"]
            .as_str()
            .or(params["uri"].as_str())
            .map(str::to_owned);
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let mut ask = Self::post(body.to_string())
            .with("mcp-protocol-version", MODERN)
            .with("mcp-method", method);
        if let Some(name) = name {
            ask = ask.with("mcp-name", &name);
        }
        ask.revision = Revision::July2026;
        ask
    }

    /// A request of a legacy revision, after its handshake.
    pub(crate) fn legacy(version: &str, method: &str, params: Value) -> Self {
        let body = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
        let mut ask = Self::post(body.to_string()).with("mcp-protocol-version", version);
        ask.revision = Revision::of(version).unwrap_or(Revision::November2025);
        ask
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub(crate) fn query(mut self, query: &str) -> Self {
        self.uri = format!("/mcp?{query}");
        self
    }

    pub(crate) fn validating(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Sets a header in place of those of its name.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value.as_bytes())
    }

    /// Adds a header beside those of its name.
    pub(crate) fn and(mut self, name: &str, value: &[u8]) -> Self {
        self.headers.push((name.to_owned(), value.to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }
}

/// Validates a message against the schema of a revision: as a message, and a result as the one
/// whose members it has.
pub(crate) fn validate(revision: Revision, message: &Value) {
    // The first revision requires an id where none is known; such errors follow the second one.
    let revision = match revision {
        Revision::June2025 if message.get("id").is_none() => Revision::November2025,
        other => other,
    };
    let schema = &SCHEMAS
        .iter()
        .find(|(known, _)| *known == revision)
        .unwrap()
        .1;
    schema.check("JSONRPCMessage", message);
    if let Some(definition) = message["method"].as_str().and_then(notification) {
        schema.check(definition, message);
    }
    let result = &message["result"];
    for (member, definition) in RESULTS {
        if result.get(member).is_some() && result["resultType"] != "input_required" {
            schema.check(definition, result);
        }
    }
    if result["resultType"] == "input_required" {
        schema.check("InputRequiredResult", result);
    }
}

const RESULTS: &[(&str, &str)] = &[
    ("completion", "CompleteResult"),
    ("content", "CallToolResult"),
    ("contents", "ReadResourceResult"),
    ("messages", "GetPromptResult"),
    ("prompts", "ListPromptsResult"),
    ("protocolVersion", "InitializeResult"),
    ("resourceTemplates", "ListResourceTemplatesResult"),
    ("resources", "ListResourcesResult"),
    ("supportedVersions", "DiscoverResult"),
    ("tools", "ListToolsResult"),
];

fn notification(method: &str) -> Option<&'static str> {
    Some(match method {
        "notifications/message" => "LoggingMessageNotification",
        "notifications/progress" => "ProgressNotification",
        "notifications/prompts/list_changed" => "PromptListChangedNotification",
        "notifications/resources/updated" => "ResourceUpdatedNotification",
        "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
        "notifications/tools/list_changed" => "ToolListChangedNotification",
        "elicitation/create" => "ElicitRequest",
        "sampling/createMessage" => "CreateMessageRequest",
        _ => return None,
    })
}

static SCHEMAS: LazyLock<Vec<(Revision, Schema)>> = LazyLock::new(|| {
    vec![
        (
            Revision::June2025,
            Schema::new(include_str!(
                "../../../postroom-mcp/test_data/schema/2025-06-18.json"
            )),
        ),
        (
            Revision::November2025,
            Schema::new(include_str!(
                "../../../postroom-mcp/test_data/schema/2025-11-25.json"
            )),
        ),
        (
            Revision::July2026,
            Schema::new(include_str!(
                "../../../postroom-mcp/test_data/schema/2026-07-28.json"
            )),
        ),
    ]
});

struct Schema {
    definitions: Vec<(String, Validator)>,
}

impl Schema {
    fn new(text: &str) -> Self {
        let schema: Value = serde_json::from_str(text).unwrap();
        let key = if schema.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        let wanted = RESULTS.iter().map(|(_, definition)| *definition).chain([
            "CreateMessageRequest",
            "ElicitRequest",
            "InputRequiredResult",
            "JSONRPCMessage",
            "LoggingMessageNotification",
            "ProgressNotification",
            "PromptListChangedNotification",
            "ResourceUpdatedNotification",
            "SubscriptionsAcknowledgedNotification",
            "ToolListChangedNotification",
        ]);
        let existing = wanted.filter(|name| schema[key].get(name).is_some());
        let definitions = existing.map(|name| {
            let mut rooted = schema.clone();
            rooted["$ref"] = json!(format!("#/{key}/{name}"));
            (name.to_owned(), jsonschema::validator_for(&rooted).unwrap())
        });
        Self {
            definitions: definitions.collect(),
        }
    }

    fn check(&self, definition: &str, value: &Value) {
        let known = self.definitions.iter().find(|(name, _)| name == definition);
        let Some((_, validator)) = known else {
            panic!("{definition} does not exist in this revision: {value}");
        };
        if let Err(error) = validator.validate(value) {
            panic!("not a {definition}: {error} in {value}");
        }
    }
}
