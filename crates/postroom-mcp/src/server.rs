//! Dispatch: a request in, a reply out.

mod finish;
mod request;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::json;
use serde_json::value::RawValue;

use crate::envelope::{RequestMessage, ResponseMessage};
use crate::pending::Pending;
use crate::{
    CacheScope, Call, Completion, CompletionRequest, Fault, Filter, Link, Registry, Rejection,
    Revision, Visitor, Wire, listen, write,
};

use finish::{entries, splice};
pub use request::Request;
use request::{Method, Params, empty_object};

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
            Method::Initialize => return Ok(self.initialize(revision, &visitor)),
            Method::Discover => return Ok(self.discover(&visitor)),
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
        let subject = Subject {
            arguments: params.arguments.take().unwrap_or_else(empty_object),
            name: params.name.take().unwrap_or_default(),
            uri: params.uri.take().unwrap_or_default(),
        };
        let filter = params.filter.take();
        let call = self.call(revision, params, visitor, link);
        match method {
            Method::Listen => self.listen(&call, id, filter).await,
            _ => self.use_feature(method, &call, subject).await,
        }
    }

    /// Methods that use one tool, prompt or resource.
    async fn use_feature(
        &self,
        method: Method,
        call: &Call<R::Caller>,
        subject: Subject,
    ) -> Result<String, Rejection> {
        let revision = call.revision;
        let fault = |fault: Fault| fault.rejection(revision);
        let Subject {
            arguments,
            name,
            uri,
        } = subject;
        match method {
            Method::ToolsCall => {
                let outcome = self.registry.call_tool(call, &name, &arguments).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    (write::json(&result), None)
                })
            }
            Method::PromptsGet => {
                let arguments = prompt_arguments(&arguments)?;
                let outcome = self.registry.get_prompt(call, &name, arguments).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    (write::json(&result), None)
                })
            }
            Method::ResourcesRead => {
                let outcome = self.registry.read_resource(call, &uri).await;
                self.outcome(revision, outcome.map_err(fault)?, |result| {
                    let cache = (result.ttl_ms, result.cache_scope);
                    let body = write::json(&json!({ "contents": result.contents }));
                    (body, Some(cache))
                })
            }
            _ => {
                let request: CompletionRequest = serde_json::from_str(arguments.get())
                    .map_err(|_| Rejection::invalid_params("ref and argument are required."))?;
                let completion = self.registry.complete(call, &request).await;
                Ok(self.completion(revision, completion.map_err(fault)?))
            }
        }
    }

    fn completion(&self, revision: Revision, mut completion: Completion) -> String {
        let total = completion.values.len();
        completion.values.truncate(COMPLETIONS);
        let body = json!({ "completion": {
            "values": completion.values, "total": total, "hasMore": total > COMPLETIONS,
        } });
        self.finish(revision, &write::json(&body), None)
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

    fn initialize(&self, revision: Revision, visitor: &Visitor<R::Caller>) -> String {
        let mut body = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.registry.capabilities(revision).to_json(),
            "serverInfo": self.registry.server_info(),
        });
        if let Some(instructions) = self.registry.instructions(visitor.toolsets.as_deref()) {
            body["instructions"] = json!(instructions);
        }
        write::json(&body)
    }

    fn discover(&self, visitor: &Visitor<R::Caller>) -> String {
        let versions: Vec<_> = Revision::ALL.iter().map(|known| known.as_str()).collect();
        let mut body = json!({
            "supportedVersions": versions,
            "capabilities": self.registry.capabilities(Revision::July2026).to_json(),
        });
        if let Some(instructions) = self.registry.instructions(visitor.toolsets.as_deref()) {
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
}

/// What a call is about.
struct Subject {
    arguments: Box<RawValue>,
    name: String,
    uri: String,
}

/// Prompt arguments are strings.
fn prompt_arguments(arguments: &RawValue) -> Result<BTreeMap<String, String>, Rejection> {
    serde_json::from_str(arguments.get())
        .map_err(|_| Rejection::invalid_params("Prompt arguments must be strings."))
}
