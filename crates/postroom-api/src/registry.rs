//! The room as the protocol's registry: tools from the operation table, prompts, resources.

mod caller;
mod source;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock},
};

use postroom_app::{
    CallContext, Failure, Operation, Reply,
    operation::{self, Receipt, Surface, TABLE, Toolset},
    prompt::{self, PROMPTS},
    resource::{self, RESOURCES},
    watch::ResourceWatch,
};
use postroom_mcp::{
    Call, Capabilities, Change, Changes, Completion, CompletionRequest, Content, Fault, Filter,
    LocalFuture, Outcome, PromptMessage, PromptResult, ReadResult, Reference, Registry,
    ResourceContents, Revision, Role, ServerInfo, Subscription, ToolResult, Visitor,
};
use postroom_types::{ErrorCode, json::JsonFault};
use serde_json::{Value, json, value::RawValue};

use crate::guard;

pub use caller::McpCaller;
pub use source::RoomSource;

/// The registry.
#[derive(Debug)]
pub struct RoomRegistry {
    source: RoomSource,
    info: ServerInfo,
    /// Whether there is no room at all: only what needs none is offered.
    pure: bool,
}

/// The wire form of every tool, made once.
static TOOLS: LazyLock<HashMap<&'static str, Box<RawValue>>> = LazyLock::new(|| {
    TABLE
        .iter()
        .filter(|row| row.is_tool())
        .filter_map(|row| Some((row.name, raw(&tool(row))?)))
        .collect()
});
static PROMPT_LIST: LazyLock<Vec<Option<Box<RawValue>>>> =
    LazyLock::new(|| PROMPTS.iter().map(|row| raw(&prompt_of(row))).collect());
static TEMPLATES: LazyLock<Vec<Option<Box<RawValue>>>> =
    LazyLock::new(|| RESOURCES.iter().map(|row| raw(&resource_of(row))).collect());

fn raw(value: &Value) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}

fn tool(row: &Operation) -> Value {
    let hints = row.annotations;
    json!({
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "inputSchema": row.input_schema(),
        "outputSchema": row.output_schema(),
        "annotations": {
            "title": row.title,
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    })
}

fn prompt_of(row: &prompt::Prompt) -> Value {
    let arguments: Vec<Value> = row
        .arguments
        .iter()
        .map(|(name, about)| json!({"name": name, "description": about, "required": false}))
        .collect();
    json!({"name": row.name, "title": row.title, "description": row.description, "arguments": arguments})
}

fn resource_of(row: &resource::Resource) -> Value {
    let address = if row.is_template() {
        "uriTemplate"
    } else {
        "uri"
    };
    json!({
        address: row.uri,
        "name": row.name,
        "title": row.title,
        "description": row.description,
        "mimeType": "application/json",
    })
}

impl RoomRegistry {
    /// A registry over a room.
    pub fn new(source: RoomSource) -> Self {
        let info = ServerInfo {
            name: "postroom".to_owned(),
            title: Some("Postroom".to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Self {
            source,
            info,
            pure: false,
        }
    }

    /// A registry without a room: it offers what needs none, and nothing else.
    pub fn pure() -> Self {
        let none = || async {
            Err(Failure::new(ErrorCode::Misconfigured).saying("There is no data folder."))
        };
        Self {
            pure: true,
            ..Self::new(RoomSource::on_demand(none))
        }
    }

    /// The resources that a visitor may read, or the families of them.
    fn described<'a>(&'a self, visitor: &Visitor<McpCaller>, templates: bool) -> Vec<&'a RawValue> {
        let actor = visitor.caller.actor();
        let rows = RESOURCES.iter().zip(TEMPLATES.iter());
        rows.filter(|(row, _)| row.is_template() == templates)
            .filter(|(row, _)| row.operation_for(actor).is_some_and(|row| self.offers(row)))
            .filter_map(|(_, wire)| wire.as_deref())
            .collect()
    }

    fn offers(&self, row: &Operation) -> bool {
        !self.pure || matches!(row.handler, operation::Handler::Pure(_))
    }

    /// The room's source.
    pub fn source(&self) -> &RoomSource {
        &self.source
    }

    /// Runs an operation for a call, with progress and cancellation of that call.
    async fn run(
        &self,
        call: &Call<McpCaller>,
        operation: &'static Operation,
        arguments: Value,
    ) -> Result<Result<Value, (Failure, String)>, Fault> {
        if self.source.opened().is_none()
            && let Some(answer) = operation::pure(operation, &arguments)
        {
            // Whoever speaks on standard input needs no data folder for these.
            return Ok(answer.map_err(|failure| (failure, String::new())));
        }
        let room = match self.source.room().await {
            Ok(room) => Arc::clone(room),
            Err(failure) => return Ok(Err((failure, String::new()))),
        };
        let request_id = guard::request_id(&room);
        let (steps, mut reported) = tokio::sync::mpsc::channel(16);
        let mut context = CallContext::new(Surface::Tool, request_id, room.now());
        let cancel = context.cancel.clone();
        let receipt = Receipt::new(&room);
        context.receipt = Some(receipt.clone());
        if call.wants_progress() {
            // A step that finds the queue full is dropped: the next one says more.
            context.progress = Some(Arc::new(move |step| drop(steps.try_send(step))));
        }
        let caller = call.caller().clone();
        let mut task = tokio::spawn(async move {
            let actor = caller.acting(&room).await?;
            room.call(actor, operation, arguments, &context).await
        });
        let _gone = cancel.clone().drop_guard();
        let mut ended = std::pin::pin!(call.ended());
        let mut told = false;
        let answer = loop {
            tokio::select! {
                answer = &mut task => break answer,
                Some(step) = reported.recv() => {
                    let step: operation::Progress = step;
                    call.report(step.progress, step.total, step.message.as_deref());
                }
                _ = &mut ended, if !told => {
                    told = true;
                    cancel.cancel();
                }
            }
        };
        match answer {
            Ok(Ok(Reply::Json(value))) => {
                if !call.is_gone() {
                    receipt.delivered();
                }
                Ok(Ok(value))
            }
            Ok(Err(failure)) => Ok(Err((failure, request_id.to_string()))),
            Ok(Ok(Reply::Bytes(_))) | Err(_) => {
                tracing::error!(%request_id, operation = operation.name, "a call failed inside");
                Err(Fault::Internal {
                    request_id: request_id.to_string(),
                })
            }
        }
    }

    async fn tool_result(
        &self,
        call: &Call<McpCaller>,
        row: &'static Operation,
        arguments: Value,
    ) -> Result<ToolResult, Fault> {
        Ok(match self.run(call, row, arguments).await? {
            Ok(value) => match raw(&value) {
                Some(json) => ToolResult::structured(json),
                None => ToolResult::error(ErrorCode::InternalError.message()),
            },
            Err((failure, request_id)) => {
                let id = request_id
                    .parse()
                    .unwrap_or_else(|_| postroom_types::RequestId::from_parts(0, 0));
                ToolResult::error(failure.tool_envelope(id).to_string())
            }
        })
    }
}

/// The toolsets that a visitor sees.
fn toolsets(visitor: &Visitor<McpCaller>) -> Vec<Toolset> {
    sets_named(visitor.toolsets.as_deref())
}

fn sets_named(names: Option<&[String]>) -> Vec<Toolset> {
    match names {
        Some(names) => names.iter().flat_map(|name| Toolset::named(name)).collect(),
        None => Toolset::ALL
            .iter()
            .copied()
            .filter(|set| set.by_default())
            .collect(),
    }
}

/// The row of a tool that the visitor may call.
fn permitted(visitor: &Visitor<McpCaller>, name: &str) -> Option<&'static Operation> {
    let sets = toolsets(visitor);
    operation::find(name).filter(|row| {
        row.is_tool() && sets.contains(&row.toolset) && visitor.caller.actor().may_call(row)
    })
}

impl Registry for RoomRegistry {
    type Caller = McpCaller;

    fn server_info(&self) -> &ServerInfo {
        &self.info
    }

    fn capabilities(&self, revision: Revision) -> Capabilities {
        Capabilities {
            tools: Some(false),
            prompts: Some(false),
            resources: Some(false),
            // The legacy era has no stream on which an update could be pushed.
            resource_updates: revision.is_modern(),
            completions: true,
            logging: false,
        }
    }

    fn principal<'a>(&self, caller: &'a McpCaller) -> &'a str {
        caller.principal()
    }

    fn instructions(&self, toolsets: Option<&[String]>) -> Option<String> {
        Some(prompt::instructions(&sets_named(toolsets)))
    }

    fn has_toolset(&self, name: &str) -> bool {
        Toolset::named(name).next().is_some()
    }

    fn is_long(&self, tool: &str) -> bool {
        operation::find(tool).is_some_and(|row| row.streams)
    }

    fn list_tools<'a>(&'a self, visitor: &Visitor<McpCaller>) -> Vec<&'a RawValue> {
        let sets = toolsets(visitor);
        operation::listed(visitor.caller.actor(), &sets)
            .filter(|row| self.offers(row))
            .filter_map(|row| TOOLS.get(row.name).map(|tool| &**tool))
            .collect()
    }

    async fn call_tool(
        &self,
        call: &Call<McpCaller>,
        name: &str,
        arguments: &RawValue,
    ) -> Result<Outcome<ToolResult>, Fault> {
        let row = permitted(call.visitor(), name)
            .filter(|row| self.offers(row))
            .ok_or_else(|| Fault::UnknownTool(name.to_owned()))?;
        match postroom_types::json::parse(arguments.get().as_bytes()) {
            Ok(arguments) => Ok(self.tool_result(call, row, arguments).await?.into()),
            Err(JsonFault::Malformed) => {
                Err(Fault::InvalidParams("arguments cannot be read: no JSON object, nested too deep, or half of a surrogate pair"
                    .to_owned()))
            }
            Err(fault) => {
                let failure = Failure::json(row.dialect, &fault);
                let request_id = match self.source.room().await {
                    Ok(room) => guard::request_id(room),
                    Err(_) => postroom_types::RequestId::from_parts(0, 0),
                };
                let envelope = failure.tool_envelope(request_id);
                Ok(ToolResult::error(envelope.to_string()).into())
            }
        }
    }

    fn list_prompts<'a>(&'a self, visitor: &Visitor<McpCaller>) -> Vec<&'a RawValue> {
        let (actor, sets) = (visitor.caller.actor(), toolsets(visitor));
        let rows = PROMPTS.iter().zip(PROMPT_LIST.iter());
        rows.filter(|(row, _)| row.is_for(actor, &sets))
            .filter_map(|(_, wire)| wire.as_deref())
            .collect()
    }

    async fn get_prompt(
        &self,
        call: &Call<McpCaller>,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Outcome<PromptResult>, Fault> {
        let row = PROMPTS
            .iter()
            .find(|row| {
                row.name == name && row.is_for(call.caller().actor(), &toolsets(call.visitor()))
            })
            .ok_or_else(|| Fault::UnknownPrompt(name.to_owned()))?;
        let text = row.text(|name| arguments.get(name).map(String::as_str));
        Ok(PromptResult {
            description: Some(row.description.to_owned()),
            messages: vec![PromptMessage {
                role: Role::User,
                content: Content::text(text),
            }],
        }
        .into())
    }

    async fn list_resources(
        &self,
        visitor: &Visitor<McpCaller>,
    ) -> Result<Vec<Box<RawValue>>, Fault> {
        Ok(self
            .described(visitor, false)
            .into_iter()
            .map(RawValue::to_owned)
            .collect())
    }

    fn list_resource_templates<'a>(&'a self, visitor: &Visitor<McpCaller>) -> Vec<&'a RawValue> {
        self.described(visitor, true)
    }

    async fn read_resource(
        &self,
        call: &Call<McpCaller>,
        uri: &str,
    ) -> Result<Outcome<ReadResult>, Fault> {
        let missing = || Fault::UnknownResource(uri.to_owned());
        let located = resource::locate(uri).ok_or_else(missing)?;
        let row = located
            .resource
            .operation_for(call.caller().actor())
            .ok_or_else(missing)?;
        match self.run(call, row, located.arguments()).await? {
            Ok(value) => Ok(ReadResult::fresh(ResourceContents::text(
                uri,
                "application/json",
                located.resource.body(value).to_string(),
            ))
            .into()),
            Err((failure, id)) if failure.code == ErrorCode::RateLimited => {
                let id = id
                    .parse()
                    .unwrap_or_else(|_| postroom_types::RequestId::from_parts(0, 0));
                Err(Fault::RateLimited(failure.envelope(id)))
            }
            Err((failure, id)) if failure.code.http_status() >= 500 => {
                Err(Fault::Internal { request_id: id })
            }
            Err(_) => Err(missing()),
        }
    }

    async fn complete(
        &self,
        call: &Call<McpCaller>,
        request: &CompletionRequest,
    ) -> Result<Completion, Fault> {
        match &request.reference {
            Reference::Prompt { name } => {
                let row = PROMPTS.iter().find(|row| {
                    row.name == name && row.is_for(call.caller().actor(), &toolsets(call.visitor()))
                });
                let row = row.ok_or_else(|| Fault::UnknownPrompt(name.clone()))?;
                if row
                    .arguments
                    .iter()
                    .any(|(name, _)| *name == request.argument.name)
                {
                    return Ok(Completion::default());
                }
            }
            Reference::Resource { uri } => {
                let actor = call.caller().actor();
                let row = RESOURCES
                    .iter()
                    .find(|row| row.uri == uri && row.operation_for(actor).is_some());
                let row = row.ok_or_else(|| Fault::UnknownResource(uri.clone()))?;
                let argument = &request.argument;
                if row.uri.contains(&format!("{{{}}}", argument.name)) {
                    return self
                        .completions(call, &argument.name, &argument.value)
                        .await;
                }
            }
        }
        Err(Fault::InvalidParams("there is no such argument".to_owned()))
    }

    async fn subscribe(
        &self,
        call: &Call<McpCaller>,
        wanted: &Filter,
    ) -> Result<Subscription, Fault> {
        let refused = |failure: Failure| match failure.code {
            ErrorCode::InvalidRequest => {
                Fault::InvalidParams("resourceSubscriptions names too many resources".to_owned())
            }
            _ => Fault::Internal {
                request_id: String::new(),
            },
        };
        let room = self.source.room().await.map_err(refused)?;
        let actor = call.caller().acting(room).await.map_err(refused)?;
        let watch = room
            .watch(actor, &wanted.resource_subscriptions)
            .await
            .map_err(refused)?;
        let accepted = Filter {
            resource_subscriptions: watch.accepted().to_vec(),
            ..Filter::default()
        };
        if accepted.resource_subscriptions.is_empty() {
            return Ok(Subscription::silent());
        }
        Ok(Subscription {
            accepted,
            changes: Box::new(Watching(watch)),
        })
    }
}

impl RoomRegistry {
    /// What an argument of a resource may be and begins with what was typed.
    async fn completions(
        &self,
        call: &Call<McpCaller>,
        argument: &str,
        typed: &str,
    ) -> Result<Completion, Fault> {
        let room = self.source.room().await.map_err(|_| Fault::Internal {
            request_id: String::new(),
        })?;
        let actor = call
            .caller()
            .acting(room)
            .await
            .map_err(|_| Fault::Internal {
                request_id: String::new(),
            })?;
        let values = room
            .completions(actor, argument, typed)
            .await
            .unwrap_or_default();
        Ok(Completion { values })
    }
}

/// The wire form of the resources (or templates) that a visitor may read.
struct Watching(ResourceWatch);

impl Changes for Watching {
    fn next(&mut self) -> LocalFuture<'_, Option<Change>> {
        Box::pin(async { self.0.next().await.map(Change::Resource) })
    }
}
