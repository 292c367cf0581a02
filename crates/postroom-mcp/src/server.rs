//! Dispatch: a request in, a reply out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::envelope::{RequestMessage, ResponseMessage, borrow_str, is_object};
use crate::era::{Claim, Meta, check_parameters, decide};
use crate::pending::Pending;
use crate::{
    CacheScope, Call, CompletionRequest, Fault, Filter, Link, LogLevel, Outcome, Registry,
    Rejection, Revision, Visitor, Wire, listen, write,
};

/// How long clients may keep `server/discover`, milliseconds.
const DISCOVER_TTL_MS: u64 = 3_600_000;
/// How long clients may keep a list, milliseconds.
const LIST_TTL_MS: u64 = 300_000;
/// Suggestions of one completion.
const COMPLETIONS: usize = 100;

/// Answers the protocol for a registry.
#[derive(Debug)]
pub struct Server<R> {
    registry: R,
    pending: Arc<Pending>,
    /// `"_meta":{...serverInfo...}`, the same on every modern result.
    meta: String,
}

/// A message for the client with the HTTP status it goes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// One JSON-RPC message.
    pub body: String,
}

impl From<Rejection> for Reply {
    fn from(rejection: Rejection) -> Self {
        Self {
            status: rejection.status,
            body: rejection.to_message(),
        }
    }
}

/// A request that passed the era rule and the header rules. It owns what it needs.
#[derive(Debug)]
pub struct Request {
    revision: Revision,
    id: Box<RawValue>,
    method: Method,
    params: Params,
}

impl Request {
    /// The revision it speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The id to echo.
    pub fn id(&self) -> &RawValue {
        &self.id
    }

    /// Whether this request can only be answered as a stream.
    pub fn needs_stream(&self) -> bool {
        self.method == Method::Listen
    }

    /// The tool that is called.
    pub fn tool(&self) -> Option<&str> {
        let name = self.params.name.as_deref();
        name.filter(|_| self.method == Method::ToolsCall)
    }

    /// The revision an `initialize` agreed on.
    pub fn handshake(&self) -> Option<Revision> {
        (self.method == Method::Initialize).then_some(self.revision)
    }
}

/// The methods of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Initialize,
    Discover,
    Ping,
    ToolsList,
    ToolsCall,
    PromptsList,
    PromptsGet,
    ResourcesList,
    TemplatesList,
    ResourcesRead,
    ResourcesSubscribe,
    Complete,
    SetLevel,
    Listen,
}

impl Method {
    /// The method of a name, where the revision has it.
    fn of(name: &str, revision: Revision) -> Option<Self> {
        let modern = revision.is_modern();
        Some(match name {
            "initialize" if !modern => Self::Initialize,
            "ping" if !modern => Self::Ping,
            "logging/setLevel" if !modern => Self::SetLevel,
            "resources/subscribe" | "resources/unsubscribe" if !modern => Self::ResourcesSubscribe,
            "server/discover" if modern => Self::Discover,
            "subscriptions/listen" if modern => Self::Listen,
            "tools/list" => Self::ToolsList,
            "tools/call" => Self::ToolsCall,
            "prompts/list" => Self::PromptsList,
            "prompts/get" => Self::PromptsGet,
            "resources/list" => Self::ResourcesList,
            "resources/templates/list" => Self::TemplatesList,
            "resources/read" => Self::ResourcesRead,
            "completion/complete" => Self::Complete,
            _ => return None,
        })
    }
}

/// The members of `params` that any method reads, as they were sent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawParams<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    level: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    request_state: Option<&'a RawValue>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
}

/// The parameters that a request keeps.
#[derive(Debug, Default)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    /// `arguments`, or for a completion all of `params`.
    arguments: Option<Box<RawValue>>,
    has_cursor: bool,
    level: Option<LogLevel>,
    filter: Option<Box<RawValue>>,
    input_responses: Option<Box<RawValue>>,
    request_state: Option<String>,
    progress_token: Option<Box<RawValue>>,
    log_level: Option<LogLevel>,
    capabilities: Option<Box<RawValue>>,
}

impl<R: Registry> Server<R> {
    /// A server for a registry.
    pub fn new(registry: R) -> Arc<Self> {
        let meta = format!(
            r#""_meta":{{"io.modelcontextprotocol/serverInfo":{}}}"#,
            write::json(registry.server_info())
        );
        Arc::new(Self {
            registry,
            pending: Arc::default(),
            meta,
        })
    }

    /// The registry.
    pub fn registry(&self) -> &R {
        &self.registry
    }

    /// Reads `?tools=`: names separated by commas.
    ///
    /// # Errors
    /// A rejection that names the first toolset there is not.
    pub fn select(&self, names: &str) -> Result<Arc<[String]>, Rejection> {
        let mut selected: Vec<String> = Vec::new();
        for name in names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            if !self.registry.has_toolset(name) {
                let shown: String = name.chars().take(100).collect();
                return Err(Rejection::new(
                    400,
                    crate::code::INVALID_REQUEST,
                    format!("Unknown toolset in ?tools=: {shown}"),
                ));
            }
            if !selected.iter().any(|known| known == name) {
                selected.push(name.to_owned());
            }
        }
        Ok(selected.into())
    }

    /// Hands a legacy client's answer to the call that asked. `false` when nobody of this
    /// principal asked.
    pub fn deliver(&self, response: &ResponseMessage<'_>, principal: &str) -> bool {
        self.pending.deliver(response, principal)
    }

    /// Applies the era rule and the header rules.
    ///
    /// # Errors
    /// The rejection of the protocol's error table, with the request's id.
    pub fn prepare(
        &self,
        message: &RequestMessage<'_>,
        wire: &Wire<'_>,
    ) -> Result<Request, Rejection> {
        self.read(message, wire)
            .map_err(|rejection| rejection.with_id(Some(message.id)))
    }

    fn read(&self, message: &RequestMessage<'_>, wire: &Wire<'_>) -> Result<Request, Rejection> {
        let raw: RawParams<'_> = match message.params {
            None => RawParams::default(),
            Some(params) => serde_json::from_str(params.get())
                .map_err(|_| Rejection::bad_meta("params repeat a member."))?,
        };
        let meta: Meta<'_> = match raw.meta {
            None => Meta::default(),
            Some(meta) => serde_json::from_str(meta.get())
                .map_err(|_| Rejection::bad_meta("params._meta must be an object."))?,
        };
        let name = raw.name.and_then(borrow_str);
        let uri = raw.uri.and_then(borrow_str);
        let handshake = raw.protocol_version.and_then(borrow_str);
        let mirrored = match &*message.method {
            "tools/call" | "prompts/get" => name.as_deref(),
            "resources/read" => uri.as_deref(),
            _ => None,
        };
        let claim = Claim {
            method: &message.method,
            handshake: handshake.as_deref(),
            meta: &meta,
            name: mirrored,
        };
        let revision = decide(&claim, wire)?;
        let method = Method::of(&message.method, revision)
            .ok_or_else(|| Rejection::method_not_found(revision, &message.method))?;
        self.offers(method, revision, &message.method)?;
        let params = self.keep(method, revision, message, &raw, &meta, name, uri)?;
        if let (Wire::Http(head), Method::ToolsCall, true) = (wire, method, revision.is_modern())
            && let (Some(tool), Some(arguments)) = (&params.name, &params.arguments)
        {
            check_parameters(head, self.registry.parameter_headers(tool), arguments)?;
        }
        Ok(Request {
            revision,
            id: message.id.to_owned(),
            method,
            params,
        })
    }
}

impl<R: Registry> Server<R> {
    /// Methods of a feature that is not advertised do not exist.
    fn offers(&self, method: Method, revision: Revision, name: &str) -> Result<(), Rejection> {
        let offered = self.registry.capabilities(revision);
        let exists = match method {
            Method::Initialize | Method::Discover | Method::Ping => true,
            Method::ToolsList | Method::ToolsCall => offered.tools.is_some(),
            Method::PromptsList | Method::PromptsGet => offered.prompts.is_some(),
            Method::ResourcesList | Method::TemplatesList | Method::ResourcesRead => {
                offered.resources.is_some()
            }
            Method::ResourcesSubscribe => offered.resource_updates,
            Method::Complete => offered.completions,
            Method::SetLevel => offered.logging,
            Method::Listen => offered.announces(),
        };
        if exists {
            Ok(())
        } else {
            Err(Rejection::method_not_found(revision, name))
        }
    }

    /// Checks and keeps the parameters that the method reads.
    #[expect(
        clippy::too_many_arguments,
        reason = "all that was read of one message"
    )]
    fn keep(
        &self,
        method: Method,
        revision: Revision,
        message: &RequestMessage<'_>,
        raw: &RawParams<'_>,
        meta: &Meta<'_>,
        name: Option<Cow<'_, str>>,
        uri: Option<Cow<'_, str>>,
    ) -> Result<Params, Rejection> {
        let logging = self.registry.capabilities(revision).logging;
        let mut params = Params {
            name: name.map(Cow::into_owned),
            uri: uri.map(Cow::into_owned),
            has_cursor: raw.cursor.is_some_and(|cursor| cursor.get() != "null"),
            progress_token: progress_token(meta)?,
            log_level: log_level(meta, revision, logging)?,
            ..Params::default()
        };
        if revision.is_modern() {
            params.capabilities = meta.capabilities.map(RawValue::to_owned);
            params.input_responses = raw
                .input_responses
                .filter(|it| is_object(it))
                .map(RawValue::to_owned);
            params.request_state = raw.request_state.and_then(borrow_str).map(Cow::into_owned);
        }
        match method {
            Method::ToolsCall | Method::PromptsGet => {
                if params.name.is_none() {
                    return Err(Rejection::invalid_params("params.name must be a string."));
                }
                if raw.arguments.is_some_and(|arguments| !is_object(arguments)) {
                    return Err(Rejection::invalid_params(
                        "params.arguments must be an object.",
                    ));
                }
                params.arguments = Some(match raw.arguments {
                    Some(arguments) => arguments.to_owned(),
                    None => empty_object(),
                });
            }
            Method::ResourcesRead | Method::ResourcesSubscribe if params.uri.is_none() => {
                return Err(Rejection::invalid_params("params.uri must be a string."));
            }
            Method::Complete => params.arguments = message.params.map(RawValue::to_owned),
            Method::Listen => {
                params.filter = raw.notifications.map(RawValue::to_owned);
            }
            Method::SetLevel => {
                let level = raw
                    .level
                    .and_then(|level| serde_json::from_str(level.get()).ok());
                params.level = Some(level.ok_or_else(|| {
                    Rejection::invalid_params("params.level must be a level of RFC 5424.")
                })?);
            }
            _ => {}
        }
        Ok(params)
    }

    /// Answers a request. The future may be dropped at any await; work that must not stop half way
    /// is the registry's to protect.
    pub async fn answer(
        self: Arc<Self>,
        request: Request,
        visitor: Visitor<R::Caller>,
        link: Arc<dyn Link>,
    ) -> Reply {
        let Request {
            revision,
            id,
            method,
            params,
        } = request;
        let body = self
            .dispatch(revision, &id, method, params, visitor, link)
            .await;
        match body {
            Ok(result) => Reply {
                status: 200,
                body: write::response(&id, &result),
            },
            Err(rejection) => rejection.with_id(Some(&id)).into(),
        }
    }

    async fn dispatch(
        &self,
        revision: Revision,
        id: &RawValue,
        method: Method,
        mut params: Params,
        visitor: Visitor<R::Caller>,
        link: Arc<dyn Link>,
    ) -> Result<String, Rejection> {
        match method {
            Method::Initialize => return Ok(self.initialize(revision)),
            Method::Discover => return Ok(self.discover()),
            Method::Ping | Method::SetLevel | Method::ResourcesSubscribe => {
                return Ok(self.finish(revision, "{}", None));
            }
            Method::ToolsList
            | Method::PromptsList
            | Method::ResourcesList
            | Method::TemplatesList => {
                return self.list(revision, method, &params, &visitor).await;
            }
            _ => {}
        }
        let arguments = params.arguments.take().unwrap_or_else(empty_object);
        let name = params.name.take().unwrap_or_default();
        let uri = params.uri.take().unwrap_or_default();
        let filter = params.filter.take();
        let call = self.call(revision, params, visitor, link);
        let fault = |fault: Fault| fault.rejection(revision);
        match method {
            Method::ToolsCall => {
                let outcome = self.registry.call_tool(&call, &name, &arguments).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    (write::json(&result), None)
                })
            }
            Method::PromptsGet => {
                let arguments = prompt_arguments(&arguments)?;
                let outcome = self.registry.get_prompt(&call, &name, arguments).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    (write::json(&result), None)
                })
            }
            Method::ResourcesRead => {
                let outcome = self.registry.read_resource(&call, &uri).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    let cache = (result.ttl_ms, result.cache_scope);
                    (
                        write::json(&json!({ "contents": result.contents })),
                        Some(cache),
                    )
                })
            }
            Method::Complete => {
                let request: CompletionRequest = serde_json::from_str(arguments.get())
                    .map_err(|_| Rejection::invalid_params("ref and argument are required."))?;
                let mut completion = self
                    .registry
                    .complete(&call, &request)
                    .await
                    .map_err(fault)?;
                let total = completion.values.len();
                completion.values.truncate(COMPLETIONS);
                let body = json!({ "completion": {
                    "values": completion.values, "total": total, "hasMore": total > COMPLETIONS,
                } });
                Ok(self.finish(revision, &write::json(&body), None))
            }
            _ => self.listen(&call, id, filter).await,
        }
    }

    fn call(
        &self,
        revision: Revision,
        params: Params,
        visitor: Visitor<R::Caller>,
        link: Arc<dyn Link>,
    ) -> Call<R::Caller> {
        Call {
            principal: self.registry.principal(&visitor.caller).to_owned(),
            visitor,
            revision,
            capabilities: params.capabilities,
            progress_token: params.progress_token,
            log_level: params.log_level,
            input_responses: params.input_responses,
            request_state: params.request_state,
            link,
            pending: Arc::clone(&self.pending),
            progress: Mutex::new(None),
        }
    }

    fn initialize(&self, revision: Revision) -> String {
        let mut body = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.registry.capabilities(revision).to_json(),
            "serverInfo": self.registry.server_info(),
        });
        if let Some(instructions) = self.registry.instructions() {
            body["instructions"] = json!(instructions);
        }
        write::json(&body)
    }

    fn discover(&self) -> String {
        let versions: Vec<_> = Revision::ALL.iter().map(|known| known.as_str()).collect();
        let mut body = json!({
            "supportedVersions": versions,
            "capabilities": self.registry.capabilities(Revision::July2026).to_json(),
        });
        if let Some(instructions) = self.registry.instructions() {
            body["instructions"] = json!(instructions);
        }
        let cache = (DISCOVER_TTL_MS, CacheScope::Public);
        self.finish(Revision::July2026, &write::json(&body), Some(cache))
    }

    /// A list is one page; a cursor is therefore never one of ours.
    async fn list(
        &self,
        revision: Revision,
        method: Method,
        params: &Params,
        visitor: &Visitor<R::Caller>,
    ) -> Result<String, Rejection> {
        if params.has_cursor {
            return Err(Rejection::invalid_params("The cursor is not valid."));
        }
        let body = match method {
            Method::ToolsList => entries("tools", &self.registry.list_tools(visitor)),
            Method::PromptsList => entries("prompts", &self.registry.list_prompts(visitor)),
            Method::TemplatesList => {
                let templates = self.registry.list_resource_templates(visitor);
                entries("resourceTemplates", &templates)
            }
            _ => {
                let resources = self.registry.list_resources(visitor).await;
                let resources = resources.map_err(|fault| fault.rejection(revision))?;
                let borrowed: Vec<&RawValue> = resources.iter().map(|entry| &**entry).collect();
                entries("resources", &borrowed)
            }
        };
        let cache = (LIST_TTL_MS, CacheScope::Private);
        Ok(self.finish(revision, &body, Some(cache)))
    }

    async fn listen(
        &self,
        call: &Call<R::Caller>,
        id: &RawValue,
        filter: Option<Box<RawValue>>,
    ) -> Result<String, Rejection> {
        let bad =
            || Rejection::invalid_params("params.notifications must be a subscription filter.");
        let filter = filter.ok_or_else(bad)?;
        let wanted: Filter = serde_json::from_str(filter.get()).map_err(|_| bad())?;
        let subscription = self.registry.subscribe(call, &wanted).await;
        let subscription = subscription.map_err(|fault| fault.rejection(call.revision))?;
        listen::run(call, id, subscription).await;
        let meta = json!({ listen::SUBSCRIPTION_ID: id });
        let mut result = self.finish(call.revision, "{}", None);
        splice(&mut result, &meta);
        Ok(result)
    }

    /// Writes what a call came to.
    fn outcome<T>(
        &self,
        revision: Revision,
        outcome: Outcome<T>,
        write: impl FnOnce(T) -> (String, Option<(u64, CacheScope)>),
    ) -> Result<String, Rejection> {
        match outcome {
            Outcome::Complete(result) => {
                let (body, cache) = write(result);
                Ok(self.finish(revision, &body, cache))
            }
            Outcome::InputRequired(wish) if revision.is_modern() => {
                let body = write::json(&wish);
                Ok(self.close(&body, "\"resultType\":\"input_required\""))
            }
            Outcome::InputRequired(_) => Err(Rejection::new(
                200,
                crate::code::INTERNAL,
                "This call needs input that a client of this revision cannot be asked for.",
            )),
        }
    }

    /// Adds to a result object what a modern result must say; a legacy result stays as it is.
    fn finish(&self, revision: Revision, object: &str, cache: Option<(u64, CacheScope)>) -> String {
        if !revision.is_modern() {
            return object.to_owned();
        }
        let Some((ttl_ms, scope)) = cache else {
            return self.close(object, r#""resultType":"complete""#);
        };
        let scope = match scope {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        };
        let members = format!(r#""resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{scope}""#);
        self.close(object, &members)
    }

    /// Puts members and the server's `_meta` at the end of an object.
    fn close(&self, object: &str, members: &str) -> String {
        let open = object.strip_suffix('}').unwrap_or("{");
        let mut text = String::with_capacity(open.len() + members.len() + self.meta.len() + 3);
        text.push_str(open);
        if !open.ends_with('{') {
            text.push(',');
        }
        text.push_str(members);
        text.push(',');
        text.push_str(&self.meta);
        text.push('}');
        text
    }
}

/// Adds entries to the `_meta` that [`Server::close`] put at the end of a result.
fn splice(result: &mut String, meta: &Value) {
    let addition = write::json(meta);
    let Some(members) = addition.strip_prefix('{') else {
        return;
    };
    if result.ends_with("}}") {
        result.truncate(result.len() - 2);
        result.push(',');
        result.push_str(members);
        result.push('}');
    }
}

fn progress_token(meta: &Meta<'_>) -> Result<Option<Box<RawValue>>, Rejection> {
    let Some(token) = meta.progress_token else {
        return Ok(None);
    };
    if token.get().starts_with('"') || token.get().parse::<i64>().is_ok() {
        return Ok(Some(token.to_owned()));
    }
    Err(Rejection::bad_meta(
        "progressToken must be a string or an integer.",
    ))
}

fn log_level(
    meta: &Meta<'_>,
    revision: Revision,
    logging: bool,
) -> Result<Option<LogLevel>, Rejection> {
    if !revision.is_modern() {
        return Ok(logging.then_some(LogLevel::Debug));
    }
    meta.log_level
        .map(|level| {
            serde_json::from_str(level.get())
                .map_err(|_| Rejection::bad_meta("logLevel must be a level of RFC 5424."))
        })
        .transpose()
}

/// Prompt arguments are strings.
fn prompt_arguments(arguments: &RawValue) -> Result<BTreeMap<String, String>, Rejection> {
    serde_json::from_str(arguments.get())
        .map_err(|_| Rejection::invalid_params("Prompt arguments must be strings."))
}

fn entries(name: &str, entries: &[&RawValue]) -> String {
    let size = entries
        .iter()
        .map(|entry| entry.get().len() + 1)
        .sum::<usize>();
    let mut text = String::with_capacity(size + name.len() + 8);
    text.push_str("{\"");
    text.push_str(name);
    text.push_str("\":[");
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(entry.get());
    }
    text.push_str("]}");
    text
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
