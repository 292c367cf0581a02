//! What a server offers, and to whom.

use std::collections::BTreeMap;
use std::future::{Future, ready};

use serde_json::value::RawValue;

use crate::{
    Call, Capabilities, Completion, CompletionRequest, Fault, Filter, Outcome, PromptResult,
    ReadResult, Revision, ServerInfo, Subscription, ToolResult, Visitor,
};

/// The tools, prompts and resources of a server.
///
/// Everything a method gives depends on the caller: what a caller may not use is not listed, and
/// using it answers exactly as a name that does not exist ([`Fault::UnknownTool`],
/// [`Fault::UnknownPrompt`], [`Fault::UnknownResource`]).
///
/// Implementations write the asynchronous methods as plain `async fn`.
pub trait Registry: Send + Sync + 'static {
    /// Who calls, as the transport's authentication made it.
    type Caller: Send + Sync + 'static;

    /// Name and version of the server.
    fn server_info(&self) -> &ServerInfo;

    /// What is advertised to clients of a revision.
    fn capabilities(&self, revision: Revision) -> Capabilities;

    /// A stable name of the caller's credential. Pending requests to a legacy client are bound to
    /// it, and transports count open streams by it.
    fn principal<'a>(&self, caller: &'a Self::Caller) -> &'a str;

    /// Guidance for the model, the same for every caller who named these toolsets.
    fn instructions(&self, toolsets: Option<&[String]>) -> Option<String> {
        let _ = toolsets;
        None
    }

    /// Whether `?tools=` may name this toolset.
    fn has_toolset(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The tools this visitor may use, each a `Tool` object of the protocol, in a fixed order.
    fn list_tools<'a>(&'a self, visitor: &Visitor<Self::Caller>) -> Vec<&'a RawValue>;

    /// Whether a tool may take long. Such a call counts as an open stream of its caller, and is
    /// refused before it begins when there are too many.
    fn is_long(&self, tool: &str) -> bool {
        let _ = tool;
        false
    }

    /// Input properties of a tool that clients also send as `Mcp-Param-*` headers
    /// (`x-mcp-header`): pairs of property and header suffix.
    fn parameter_headers(&self, tool: &str) -> &[(&'static str, &'static str)] {
        let _ = tool;
        &[]
    }

    /// Calls a tool. `arguments` is a JSON object, `{}` when the client sent none; it is not yet
    /// checked against the tool's schema.
    ///
    /// # Errors
    /// [`Fault::UnknownTool`] for a name that is missing or not permitted. What goes wrong inside
    /// a tool is no fault but a [`ToolResult`] with `is_error`.
    fn call_tool(
        &self,
        call: &Call<Self::Caller>,
        name: &str,
        arguments: &RawValue,
    ) -> impl Future<Output = Result<Outcome<ToolResult>, Fault>> + Send;

    /// The prompts this visitor may use, each a `Prompt` object of the protocol.
    fn list_prompts<'a>(&'a self, visitor: &Visitor<Self::Caller>) -> Vec<&'a RawValue> {
        let _ = visitor;
        Vec::new()
    }

    /// Fills in a prompt.
    ///
    /// # Errors
    /// [`Fault::UnknownPrompt`] for a name that is missing or not permitted,
    /// [`Fault::InvalidParams`] for bad arguments.
    fn get_prompt(
        &self,
        call: &Call<Self::Caller>,
        name: &str,
        arguments: BTreeMap<String, String>,
    ) -> impl Future<Output = Result<Outcome<PromptResult>, Fault>> + Send {
        let (_, _) = (call, arguments);
        ready(Err(Fault::UnknownPrompt(name.to_owned())))
    }

    /// The resources this visitor may read, each a `Resource` object of the protocol.
    ///
    /// # Errors
    /// [`Fault::Internal`] when the list cannot be made.
    fn list_resources(
        &self,
        visitor: &Visitor<Self::Caller>,
    ) -> impl Future<Output = Result<Vec<Box<RawValue>>, Fault>> + Send {
        let _ = visitor;
        ready(Ok(Vec::new()))
    }

    /// The resource templates this visitor may use, each a `ResourceTemplate` object.
    fn list_resource_templates<'a>(&'a self, visitor: &Visitor<Self::Caller>) -> Vec<&'a RawValue> {
        let _ = visitor;
        Vec::new()
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// [`Fault::UnknownResource`] for a URI that is missing or not permitted.
    fn read_resource(
        &self,
        call: &Call<Self::Caller>,
        uri: &str,
    ) -> impl Future<Output = Result<Outcome<ReadResult>, Fault>> + Send {
        let _ = call;
        ready(Err(Fault::UnknownResource(uri.to_owned())))
    }

    /// Suggests values for an argument of a prompt or a resource template.
    ///
    /// # Errors
    /// [`Fault::InvalidParams`] when there is no such prompt, template or argument.
    fn complete(
        &self,
        call: &Call<Self::Caller>,
        request: &CompletionRequest,
    ) -> impl Future<Output = Result<Completion, Fault>> + Send {
        let (_, _) = (call, request);
        ready(Ok(Completion::default()))
    }

    /// Opens a subscription and says which part of the filter it serves. What the visitor may not
    /// see is left out of the accepted part without a word.
    ///
    /// # Errors
    /// [`Fault::InvalidParams`] for a filter past a bound.
    fn subscribe(
        &self,
        call: &Call<Self::Caller>,
        wanted: &Filter,
    ) -> impl Future<Output = Result<Subscription, Fault>> + Send {
        let (_, _) = (call, wanted);
        ready(Ok(Subscription::silent()))
    }
}
