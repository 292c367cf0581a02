//! Surfaces: REST, MCP over HTTP, OpenAPI and the web page.
