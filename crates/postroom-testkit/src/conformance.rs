//! The registry of the conformance suite.
//!
//! Names, texts and shapes are fixed by the suite; tools that only one era can use answer the
//! other era with an error result.

mod ask;
mod catalogue;
mod gate;
mod prompt;
mod resource;
mod rounds;
mod tool;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use postroom_mcp::{
    Call, Capabilities, Change, Changes, Completion, CompletionRequest, Fault, Filter, LocalFuture,
    Outcome, PromptResult, ReadResult, Reference, Registry, Revision, ServerInfo, Subscription,
    ToolResult, Visitor,
};
use serde_json::value::RawValue;
use tokio::sync::broadcast;

pub use gate::KeyGate;

/// Changes that a slow subscriber may be behind.
const CHANGES: usize = 64;

/// The name of whoever holds the key.
#[derive(Debug, Clone)]
pub struct Visiting(pub String);

/// The fixtures.
#[derive(Debug)]
pub struct Fixtures {
    info: ServerInfo,
    tools: Vec<Box<RawValue>>,
    prompts: Vec<Box<RawValue>>,
    resources: Vec<Box<RawValue>>,
    templates: Vec<Box<RawValue>>,
    changes: broadcast::Sender<Change>,
    /// Keys the seal of request states; a new one for each process.
    seal: RandomState,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self {
            info: ServerInfo {
                name: "postroom-conformance".to_owned(),
                title: Some("Postroom conformance fixtures".to_owned()),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            tools: catalogue::tools(),
            prompts: catalogue::prompts(),
            resources: catalogue::resources(),
            templates: catalogue::templates(),
            changes: broadcast::channel(CHANGES).0,
            seal: RandomState::new(),
        }
    }
}

impl Fixtures {
    /// Announces a change to every subscriber.
    fn announce(&self, change: Change) {
        // No subscriber is no error.
        let _ = self.changes.send(change);
    }

    /// Seals a round of a call for one caller, so that no other caller, call or round passes.
    fn sealed(&self, call: &Call<Visiting>, name: &str, round: u8) -> String {
        let mark = self.seal.hash_one((&call.caller().0, name, round));
        format!("{round}.{mark:016x}")
    }

    /// The round a state was sealed for; 0 without a state.
    fn round(&self, call: &Call<Visiting>, name: &str) -> Result<u8, Fault> {
        let Some(state) = call.request_state() else {
            return Ok(0);
        };
        (1..=2)
            .find(|round| self.sealed(call, name, *round) == state)
            .ok_or_else(|| Fault::InvalidParams("requestState is not one of ours.".to_owned()))
    }
}

impl Registry for Fixtures {
    type Caller = Visiting;

    fn server_info(&self) -> &ServerInfo {
        &self.info
    }

    fn capabilities(&self, _revision: Revision) -> Capabilities {
        Capabilities {
            tools: Some(true),
            prompts: Some(true),
            resources: Some(true),
            resource_updates: true,
            completions: true,
            logging: true,
        }
    }

    fn principal<'a>(&self, caller: &'a Visiting) -> &'a str {
        &caller.0
    }

    fn instructions(&self, _: Option<&[String]>) -> Option<String> {
        Some("Fixtures of the conformance suite; nothing here does anything.".to_owned())
    }

    fn has_toolset(&self, name: &str) -> bool {
        name == "simple"
    }

    fn list_tools<'a>(&'a self, visitor: &Visitor<Visiting>) -> Vec<&'a RawValue> {
        let all = self.tools.iter().map(|tool| &**tool);
        match visitor.toolsets {
            None => all.collect(),
            Some(_) => all.take(1).collect(),
        }
    }

    fn is_long(&self, tool: &str) -> bool {
        tool == "test_wait"
    }

    fn parameter_headers(&self, tool: &str) -> &[(&'static str, &'static str)] {
        match tool {
            "test_custom_header" => catalogue::CUSTOM_HEADERS,
            _ => &[],
        }
    }

    async fn call_tool(
        &self,
        call: &Call<Visiting>,
        name: &str,
        arguments: &RawValue,
    ) -> Result<Outcome<ToolResult>, Fault> {
        tool::run(self, call, name, arguments).await
    }

    fn list_prompts<'a>(&'a self, _visitor: &Visitor<Visiting>) -> Vec<&'a RawValue> {
        self.prompts.iter().map(|prompt| &**prompt).collect()
    }

    async fn get_prompt(
        &self,
        call: &Call<Visiting>,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<Outcome<PromptResult>, Fault> {
        prompt::fill(call, name, &arguments)
    }

    async fn list_resources(
        &self,
        _visitor: &Visitor<Visiting>,
    ) -> Result<Vec<Box<RawValue>>, Fault> {
        Ok(self.resources.clone())
    }

    fn list_resource_templates<'a>(&'a self, _visitor: &Visitor<Visiting>) -> Vec<&'a RawValue> {
        self.templates.iter().map(|template| &**template).collect()
    }

    async fn read_resource(
        &self,
        _call: &Call<Visiting>,
        uri: &str,
    ) -> Result<Outcome<ReadResult>, Fault> {
        resource::read(uri).map(Outcome::Complete)
    }

    async fn complete(
        &self,
        _call: &Call<Visiting>,
        request: &CompletionRequest,
    ) -> Result<Completion, Fault> {
        let known: &[&str] = match &request.reference {
            Reference::Prompt { name } if name == "test_prompt_with_arguments" => {
                &["test", "testing", "other"]
            }
            Reference::Resource { uri } if uri == resource::TEMPLATE => &["123", "124"],
            _ => return Err(Fault::InvalidParams("Nothing completes this.".to_owned())),
        };
        let typed = &request.argument.value;
        let fitting = known
            .iter()
            .filter(|value| value.starts_with(typed.as_str()));
        Ok(Completion {
            values: fitting.map(|value| (*value).to_owned()).collect(),
        })
    }

    async fn subscribe(
        &self,
        _call: &Call<Visiting>,
        wanted: &Filter,
    ) -> Result<Subscription, Fault> {
        let mut accepted = wanted.clone();
        accepted
            .resource_subscriptions
            .retain(|uri| resource::read(uri).is_ok());
        Ok(Subscription {
            accepted,
            changes: Box::new(Announced(self.changes.subscribe())),
        })
    }
}

/// Changes as they are announced; those missed by a slow subscriber are skipped.
struct Announced(broadcast::Receiver<Change>);

impl Changes for Announced {
    fn next(&mut self) -> LocalFuture<'_, Option<Change>> {
        Box::pin(async {
            loop {
                match self.0.recv().await {
                    Ok(change) => return Some(change),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        })
    }
}
