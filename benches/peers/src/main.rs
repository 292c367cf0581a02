//! The official Rust SDK as a server with one small tool, stateless and answering in JSON: the peer of
//! `postroom-conformance` in `cargo xtask bench mcp`; and beside it a handler that only reads what is
//! posted to it. Prints `{"url": …}` when it listens.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool},
    service::RequestContext,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
};

#[derive(Clone)]
struct Peer;

fn tool() -> Tool {
    let schema = serde_json::json!({"type": "object", "properties": {}});
    Tool::new("test_simple_text", "Returns a simple text.", Arc::new(schema.as_object().cloned().unwrap_or_default()))
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![tool()]))
    }

    async fn call_tool(&self, _: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text("This is a simple text response for testing.")]).into())
    }
}

/// The bare handler of `cargo xtask bench ingest`: reads the body and says 202.
async fn take(body: axum::body::Bytes) -> (axum::http::StatusCode, String) {
    (axum::http::StatusCode::ACCEPTED, body.len().to_string())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let service = StreamableHttpService::new(|| Ok(Peer), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"url\":\"http://{}/mcp\"}}", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service).route("/in/{token}", axum::routing::post(take))).await
}
