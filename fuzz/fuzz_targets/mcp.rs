//! Any bytes as a request over stdin: an envelope or a rejection, and a rejection is a JSON object.
#![no_main]

use std::sync::{Arc, LazyLock};

use postroom_mcp::{Call, Capabilities, Fault, Outcome, Registry, Revision, Server, ServerInfo, ToolResult, Visitor, Wire, envelope};
use serde_json::value::RawValue;

struct Empty(ServerInfo);

impl Registry for Empty {
    type Caller = ();

    fn server_info(&self) -> &ServerInfo {
        &self.0
    }

    fn capabilities(&self, _: Revision) -> Capabilities {
        Capabilities::default()
    }

    fn principal<'a>(&self, (): &'a ()) -> &'a str {
        "nobody"
    }

    fn list_tools<'a>(&'a self, _: &Visitor<()>) -> Vec<&'a RawValue> {
        Vec::new()
    }

    async fn call_tool(&self, _: &Call<()>, name: &str, _: &RawValue) -> Result<Outcome<ToolResult>, Fault> {
        Err(Fault::UnknownTool(name.to_owned()))
    }
}

static SERVER: LazyLock<Arc<Server<Empty>>> = LazyLock::new(|| Server::new(Empty(ServerInfo { name: "fuzz".to_owned(), title: None, version: "0".to_owned() })));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match envelope::parse(bytes) {
        Ok(envelope::Message::Request(request)) => {
            for legacy in [None, Some(Revision::November2025)] {
                let _ = SERVER.prepare(&request, &Wire::Stdio(legacy));
            }
        }
        Ok(_) => {}
        Err(rejection) => assert!(rejection.to_message().starts_with('{')),
    }
});
